"""Scenarios of what is made from evidence: summaries and goals; and of what users and tenants set."""

from datetime import timedelta
from typing import Any

from crashes.evidence import talked
from crashes.scenario import scenario
from crashes.world import World
from embedded.setting import ANNA
from embedded.summarizing import answer
from recollect.core.errors import NotFound, VersionMismatch
from recollect.core.event import EventRef
from recollect.core.ids import IdSeed
from recollect.core.items import ABSENT
from recollect.rules.groups import SummaryRules
from recollect.summaries.goals import CheckIn, CheckInStatus, GoalStatus, own_goal
from recollect.summaries.run import LostWords
from recollect.summaries.summarize import IDS, SummaryMade, SummaryOrder

AFTER = answer("My sister paints. The cat sleeps.", {"goal": "Meditate daily"}, {"goal": "Learn Spanish"})
RULES = {"scoring": {"boost": 0}}
COST = "No, by 'cost' I mean the 'total_amount' field"


def counted(world: World) -> None:
    """Sixty messages that no summary covers, and a goal."""
    talked(world)
    world.say(*(f"This is number {n}." for n in range(60)))
    with_a_goal(world)
    world.reconcile()


def summarized(world: World) -> None:
    """A summary that quotes messages, one of which is deleted without anything having been derived from that yet."""
    counted(world)
    world.now += timedelta(hours=1)
    made_summary(world, world.seed(IDS))
    event = world.app.timeline.listing.one(ANNA, world.known["ids"][1], world.now)
    world.known["refs"] = [event.ref]


def with_a_goal(world: World) -> None:
    goal = world.app.summaries.goals.track(ANNA, "Meditate daily", GoalStatus.ACTIVE, None, world.now)
    world.known["goal"] = goal.id


def taught(world: World) -> None:
    world.app.knowledge.put("acme", "notes", "zebra", {"size": 1}, world.now)
    world.app.knowledge.learn("acme", COST, "shop", world.now)
    world.app.rules.replace("acme", RULES, world.now, None)


def made_summary(world: World, seed: IdSeed, *, force: bool = False) -> str:
    order = SummaryOrder(now=world.now, rules=SummaryRules(), seed=seed, remaining_seconds=lambda: 60.0, force=force)
    made = world.app.summaries.conversations.summarize(ANNA, order)
    assert isinstance(made, SummaryMade)
    return made.summary.text


@scenario(prepare=counted, says=AFTER)
def summarize(world: World) -> Any:
    """A summary that is due, with a goal that is new."""
    return world.once("summarize", IDS, lambda seed, _: {"text": made_summary(world, seed)})


@scenario(prepare=counted, says=AFTER)
def run_summaries(world: World) -> None:
    world.app.summaries.rounds.run(lambda: world.now, lambda: 600.0)


@scenario(prepare=summarized, says=AFTER)
def redact_summaries(world: World) -> None:
    world.app.summaries.redaction.redact(ANNA, world.known["refs"], world.now)


@scenario(prepare=summarized, says=AFTER)
def keep_summaries_up(world: World) -> None:
    gone: list[EventRef] = world.known["refs"]
    there = [event for event in world.app.parts.timeline.newest(ANNA, 5) if event.ref not in gone]
    world.app.summaries.messages.note(ANNA, there, SummaryRules(), world.now)
    world.app.summaries.lost_words.follow(ANNA, LostWords(gone, gone), world.now)


@scenario(prepare=with_a_goal, done_already=(VersionMismatch,))
def goals_patch(world: World) -> str:
    """A person's word on the version that was read."""
    changes = {"status": GoalStatus.COMPLETED}
    goal = world.app.summaries.goals.patch(ANNA, world.known["goal"], changes, lambda version: version == 1, world.now)
    return goal.status.value


@scenario(prepare=with_a_goal)
def goals_check_in(world: World) -> Any:
    entry, goals = CheckIn("2024-05-01", CheckInStatus.COMPLETED), world.app.summaries.goals

    def checked() -> int:
        return len(goals.check_in(ANNA, world.known["goal"], entry, world.now).history)

    return world.once("check-in", 1, lambda *_: {"checked": checked()})


@scenario(prepare=with_a_goal)
def goals_track(world: World) -> list[str]:
    """A goal that there is, and a new one."""

    track = world.app.summaries.goals.track
    wanted = ("Meditate daily", "Learn Spanish")
    return [track(ANNA, text, GoalStatus.ACTIVE, "daily", world.now).goal for text in wanted]


@scenario(prepare=with_a_goal)
def goals_add(world: World) -> list[str]:
    """As a person does."""
    goals, wanted = world.app.summaries.goals, ("Meditate daily", "Learn Spanish")
    own = [own_goal(world.app.ids.fresh(), text, "daily", None) for text in wanted]
    return [goals.add(ANNA, one, world.now).goal.goal for one in own]


@scenario(prepare=taught, done_already=(VersionMismatch,))
def knowledge_put(world: World) -> None:
    """An entry that must not exist yet, and one that may."""
    world.app.knowledge.put("acme", "notes", "zebra", {"size": 2}, world.now)
    world.app.knowledge.put("acme", "notes", "ant", {"size": 3}, world.now, expected=ABSENT)


@scenario(prepare=taught, done_already=(NotFound,))
def knowledge_delete(world: World) -> None:
    world.app.knowledge.delete("acme", "notes", "zebra", world.now, expected=1)


@scenario(prepare=talked)
def knowledge_learn(world: World) -> Any:
    def work(seed: IdSeed, again: bool) -> dict[str, Any]:
        lesson = world.app.knowledge.learn("acme", COST, "shop", world.now)
        assert lesson is not None
        return {"confirmation": lesson.confirmation}

    return world.once("learn", 1, work)


@scenario(prepare=taught, done_already=(VersionMismatch,))
def keep_rules_replace(world: World) -> None:
    version = world.known.setdefault("version", world.rules.version)
    world.app.rules.replace("acme", {"scoring": {"boost": 0.25}}, world.now, version)
