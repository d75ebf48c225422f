"""Two writers on one thing: whenever the other one comes, one of them wins, and the history holds that and no more."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from crashes.derived import with_a_goal
from crashes.evidence import fresh_talk, talked
from crashes.invariants import check
from crashes.remembering import QUOTES, quoted, remembered
from crashes.store import Stored, stored_in
from crashes.world import Prepared, World, local_plan
from crashes.wrapping import Fault, Kind, Side, Ticket
from embedded.setting import ANNA
from recollect.core.errors import Conflict, NotFound, VersionMismatch
from recollect.memories.memory import MemoryDraft
from recollect.summaries.goals import GoalStatus
from recollect.timeline.record import EventDraft

Write = Callable[[World, str], object]


@dataclass(frozen=True, slots=True)
class Raced:
    """What is there after a race, once all is reconciled; `outcomes` are what each heard, None for what went well."""

    world: World
    stored: Stored
    outcomes: tuple[str | None, str | None]


def races(folder: Path, prepare: Callable[[World], object], first: Write, second: Write) -> Iterator[Raced]:
    """The other one comes before each call of the first and after the last one, wherever no transaction is open."""
    prepared = Prepared(folder, prepare, partial(local_plan, says=QUOTES))
    prepared.now += timedelta(hours=1)
    for place in _places(prepared, first):
        with prepared.opened(Ticket()) as other:
            world = prepared.beside(other.home, Ticket(place))
            outcomes = _outcomes(world, first, other, second)
            world.reconcile()
            stored = stored_in(world.home)
            check(stored)
            yield Raced(world, stored, outcomes)
            world.close()


def _outcomes(world: World, first: Write, other: World, second: Write) -> tuple[str | None, str | None]:
    heard: list[str | None] = []
    world.ticket.meanwhile = lambda: heard.append(_heard(second, other, "second"))
    world.ticket.armed = True
    own = _heard(first, world, "first")
    world.ticket.armed = False
    (others,) = heard
    return own, others


def _places(prepared: Prepared, first: Write) -> list[Fault]:
    with prepared.opened(Ticket()) as world:
        world.ticket.armed = True
        first(world, "first")
    before = [Fault(call, nth, Side.BEFORE, Kind.AWAY) for call, nth in world.ticket.open]
    return [*before, *(Fault(call, nth, Side.AFTER, Kind.AWAY) for call, nth in world.ticket.made_so_far[-1:])]


def _heard(write: Write, world: World, who: str) -> str | None:
    try:
        write(world, who)
    except (VersionMismatch, NotFound, Conflict) as error:
        return type(error).__name__
    return None


def patch(world: World, who: str) -> None:
    world.patch(world.known["promoted"], content=f"I am allergic to nuts, says the {who}.")


def forget(world: World, who: str) -> None:
    world.forget(world.known["promoted"])


def save(world: World, who: str) -> None:
    draft = MemoryDraft(content="I collect stamps.", metadata={"who": who})
    world.save(draft)


def ingest(world: World, who: str) -> None:
    world.say(EventDraft(content="The dog barks.", timestamp=world.now))


def reconcile(world: World, who: str) -> None:
    world.project()


def patch_goal(world: World, who: str) -> None:
    status = GoalStatus.COMPLETED if who == "first" else GoalStatus.ABANDONED
    world.app.summaries.goals.patch(
        ANNA, world.known["goal"], {"status": status}, lambda version: version == 1, world.now
    )


def audited(stored: Stored, action: str) -> int:
    return sum(row.value["action"] == action for row in stored.of("audit"))


@pytest.mark.spec("P-9")
def test_of_two_patches_one_wins_and_the_other_gets_a_version_mismatch(tmp_path: Path) -> None:
    winners = Counter[str]()
    for race in races(tmp_path, quoted, patch, patch):
        assert sorted(map(str, race.outcomes)) == ["None", "VersionMismatch"]
        winner = ("first", "second")[race.outcomes.index(None)]
        winners[winner] += 1
        memories, promoted = race.world.app.memories, race.world.known["promoted"]
        memory = memories.store.one(ANNA, promoted, race.world.now)
        history = [(one.memory.version, one.memory.content) for one in memories.versions.read(ANNA, memory)]
        assert history == [(1, "I am allergic to nuts."), (2, f"I am allergic to nuts, says the {winner}.")]
        assert audited(race.stored, "patch") == 1
    assert winners.keys() == {"first", "second"}


@pytest.mark.spec("P-22")
@pytest.mark.parametrize("turns", [(patch, forget), (forget, patch)])
def test_what_is_patched_while_it_is_deleted_stays_deleted(tmp_path: Path, turns: tuple[Write, Write]) -> None:
    for race in races(tmp_path, quoted, *turns):
        assert race.outcomes[turns.index(forget)] is None
        assert ("acme", "anna", race.world.known["promoted"]) not in race.stored.events
        assert not any("allergic" in str(row.value) for row in race.stored.items if row.collection != "audit")
        assert audited(race.stored, "delete") == 1


@pytest.mark.spec("A-21", "P-20")
@pytest.mark.parametrize(
    ("prepare", "write", "content"), [(remembered, save, "I collect stamps."), (talked, ingest, "The dog barks.")]
)
def test_what_two_store_at_once_is_there_once(
    tmp_path: Path, prepare: Callable[[World], object], write: Write, content: str
) -> None:
    for race in races(tmp_path, prepare, write, write):
        assert [event["content"] for event in race.stored.events.values()].count(content) == 1
        assert race.outcomes == (None, None)


@pytest.mark.spec("P-25")
@pytest.mark.parametrize("meanwhile", [reconcile, forget, patch, ingest])
def test_a_projection_is_overtaken(tmp_path: Path, meanwhile: Write) -> None:
    def prepare(world: World) -> None:
        quoted(world)
        fresh_talk(world)
        world.app.parts.projections.mark(ANNA, [event.ref for event in world.app.parts.timeline.newest(ANNA, 100)])

    assert [race.outcomes for race in races(tmp_path, prepare, reconcile, meanwhile)]


def test_of_two_who_patch_a_goal_one_wins(tmp_path: Path) -> None:
    for race in races(tmp_path, with_a_goal, patch_goal, patch_goal):
        assert sorted(map(str, race.outcomes)) == ["None", "VersionMismatch"]
        wanted = (GoalStatus.COMPLETED, GoalStatus.ABANDONED)[race.outcomes.index(None)]
        assert [goal.status for goal in race.world.app.summaries.goals.listed(ANNA)] == [wanted]
