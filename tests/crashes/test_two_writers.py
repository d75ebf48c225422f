"""Two writers on one thing: whenever the other one comes, one of them wins, and the history holds that and no more."""

import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from crashes.evidence import fresh_talk, talked
from crashes.invariants import check
from crashes.remembering import QUOTES, USER, quoted, remembered
from crashes.store import Stored, stored_in
from crashes.world import World, local_plan
from crashes.wrapping import Fault, Kind, Side, Ticket
from embedded.setting import ANNA
from recollect.core.errors import Conflict, NotFound, VersionMismatch
from recollect.memories.memory import MemoryDraft
from recollect.memories.save import MemoryChange
from recollect.summaries.goals import GoalStatus
from recollect.timeline.record import EventDraft

Write = Callable[[World, str], object]


@dataclass(slots=True)
class Race:
    """Two writers on what was prepared; `outcomes` tells what each heard, None for what went well."""

    folder: Path
    prepare: Callable[[World], object]
    first: Write
    second: Write
    known: dict[str, Any] = field(default_factory=dict)
    outcomes: list[str | None] = field(default_factory=list)

    def __post_init__(self) -> None:
        world = World(local_plan(self.folder / "prepared", QUOTES))
        self.prepare(world)
        self.known, now = world.known, world.now
        world.close()
        self.known["now"] = now

    def __iter__(self) -> Iterator[tuple[World, Stored]]:
        """The world after each race, and what it holds once all is reconciled: the other one at every call."""
        for place in self._places():
            with self._copied() as home:
                yield self._run(home, place)

    def _places(self) -> list[Fault]:
        with self._copied() as home:
            world = self._opened(home, Ticket())
            world.ticket.armed = True
            self.first(world, "first")
            world.close()
        calls = world.ticket.made_so_far
        before = [Fault(call, nth, Side.BEFORE, Kind.AWAY) for call, nth in calls]
        return [*before, *(Fault(call, nth, Side.AFTER, Kind.AWAY) for call, nth in calls[-1:])]

    def _run(self, home: Path, place: Fault) -> tuple[World, Stored]:
        other = self._opened(home, Ticket())
        heard: list[str | None] = []
        ticket = Ticket(place, meanwhile=lambda: heard.append(_heard(self.second, other, "second")))
        world = self._opened(home, ticket)
        ticket.armed = True
        own = _heard(self.first, world, "first")
        ticket.armed = False
        other.close()
        self.outcomes = [own, *heard]
        world.reconcile()
        stored = stored_in(home)
        check(stored)
        return world, stored

    def _opened(self, home: Path, ticket: Ticket) -> World:
        ticket.armed = False
        return World(local_plan(home, QUOTES), ticket, self.known["now"] + timedelta(hours=1), dict(self.known))

    @contextmanager
    def _copied(self) -> Iterator[Path]:
        home = self.folder / "run"
        shutil.copytree(self.folder / "prepared", home)
        try:
            yield home
        finally:
            shutil.rmtree(home)


def _heard(write: Write, world: World, who: str) -> str | None:
    try:
        write(world, who)
    except (VersionMismatch, NotFound, Conflict) as error:
        return type(error).__name__
    return None


def patch(world: World, who: str) -> None:
    change = MemoryChange({"content": f"I am allergic to nuts, says the {who}."}, USER, lambda version: version == 1)
    world.app.memories.store.patch(ANNA, world.known["promoted"], change, world.now)


def forget(world: World, who: str) -> None:
    world.app.deletion.events.forget(ANNA, event_id=world.known["promoted"], now=world.now)


def save(world: World, who: str) -> None:
    draft = MemoryDraft(content="I collect stamps.", metadata={"who": who})
    saved = world.app.memories.store.save(ANNA, draft, world.seed(2), world.now, USER, world.app.rules.resolved("acme"))
    world.known["created"] = saved.created


def ingest(world: World, who: str) -> None:
    world.say(EventDraft(content="The dog barks.", timestamp=world.now))


def reconcile(world: World, who: str) -> None:
    world.app.projection.reconciliation.run(world.now)


def patch_goal(world: World, who: str) -> None:
    status = GoalStatus.COMPLETED if who == "first" else GoalStatus.ABANDONED
    goal = world.app.summaries.goals.listed(ANNA)[0]
    world.app.summaries.goals.patch(
        ANNA, goal.id, {"status": status}, lambda version: version == world.known["goal"], world.now
    )


def with_a_goal(world: World) -> None:
    world.known["goal"] = world.app.summaries.goals.track(ANNA, "Meditate", GoalStatus.ACTIVE, None, world.now).version


def audited(stored: Stored, action: str) -> int:
    return sum(row.value["action"] == action for row in stored.of("audit"))


@pytest.mark.spec("P-9")
def test_of_two_patches_one_wins_and_the_other_gets_a_version_mismatch(tmp_path: Path) -> None:
    race, winners = Race(tmp_path, quoted, patch, patch), Counter[str]()
    for world, stored in race:
        assert sorted(map(str, race.outcomes)) == ["None", "VersionMismatch"]
        winner = ("first", "second")[race.outcomes.index(None)]
        winners[winner] += 1
        memory = world.app.memories.store.one(ANNA, world.known["promoted"], world.now)
        history = [(one.memory.version, one.memory.content) for one in world.app.memories.versions.read(ANNA, memory)]
        world.close()
        assert history == [(1, "I am allergic to nuts."), (2, f"I am allergic to nuts, says the {winner}.")]
        assert audited(stored, "patch") == 1
    assert winners.keys() == {"first", "second"}


@pytest.mark.spec("P-22")
@pytest.mark.parametrize("turns", [(patch, forget), (forget, patch)])
def test_what_is_patched_while_it_is_deleted_stays_deleted(tmp_path: Path, turns: tuple[Write, Write]) -> None:
    race = Race(tmp_path, quoted, *turns)
    for world, stored in race:
        deletion = race.outcomes[turns.index(forget)]
        assert deletion is None
        place = ("acme", "anna", world.known["promoted"])
        assert place not in stored.events
        assert not any("allergic" in str(row.value) for row in stored.items if row.collection != "audit")
        assert audited(stored, "delete") == 1
        world.close()


@pytest.mark.spec("A-21")
def test_of_two_that_save_the_same_there_is_one(tmp_path: Path) -> None:
    for world, stored in Race(tmp_path, remembered, save, save):
        assert [event["content"] for event in stored.events.values()].count("I collect stamps.") == 1
        assert world.known["created"] is not None
        world.close()


@pytest.mark.spec("P-20")
def test_an_event_that_two_send_is_there_once(tmp_path: Path) -> None:
    for world, stored in Race(tmp_path, talked, ingest, ingest):
        assert [event["content"] for event in stored.events.values()].count("The dog barks.") == 1
        world.close()


@pytest.mark.spec("P-25")
@pytest.mark.parametrize("meanwhile", [reconcile, forget, patch, ingest])
def test_a_projection_is_overtaken(tmp_path: Path, meanwhile: Write) -> None:
    def prepare(world: World) -> None:
        quoted(world)
        fresh_talk(world)
        world.app.parts.projections.mark(ANNA, [event.ref for event in world.app.parts.timeline.newest(ANNA, 100)])

    for world, _ in Race(tmp_path, prepare, reconcile, meanwhile):
        world.close()


def test_of_two_who_patch_a_goal_one_wins(tmp_path: Path) -> None:
    race = Race(tmp_path, with_a_goal, patch_goal, patch_goal)
    for world, _ in race:
        assert sorted(map(str, race.outcomes)) == ["None", "VersionMismatch"]
        wanted = (GoalStatus.COMPLETED, GoalStatus.ABANDONED)[race.outcomes.index(None)]
        assert [goal.status for goal in world.app.summaries.goals.listed(ANNA)] == [wanted]
        world.close()
