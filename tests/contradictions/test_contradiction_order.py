"""Whatever the order in which contradicting statements come and are projected, the same memories stand (P-24)."""

import os
from collections.abc import Callable, Iterator, Sequence
from itertools import permutations
from typing import Any, TypeAlias, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crashes.wrapping import Apart, Ticket, WrappedParts
from embedded.contradicting import Telling, on
from embedded.setting import Memory, open_memory
from recollect.app import App
from recollect.composition.deployment import Parts
from recollect.core.scope import Scope
from recollect.memories.memory import MemoryStatus
from recollect.memories.reading import ReadMemories, StoredMemory
from recollect.timeline.record import EventDraft

Story: TypeAlias = tuple[EventDraft, ...]

PARIS, LYON, ROME = "I live in Paris.", "I moved to Lyon.", "I moved to Rome."
MEAT, NO_MEAT = "I eat meat every day.", "I no longer eat meat."
SISTER, NO_SISTER = "I have a sister.", "I misspoke, I have no sister."
NOT_LYON, BOUNDED = "I misspoke, I never moved to Lyon.", "I live in Lyon until Friday."
MEETING, LATER = "The meeting is on Tuesday at 3pm", "The meeting is still Tuesday but at 4pm now"

STORIES: dict[str, Story] = {
    "replaced": (on(0, PARIS), on(2, LYON)),
    "replaced twice": (on(0, PARIS), on(2, LYON), on(4, ROME)),
    "replaced thrice": (on(0, PARIS), on(2, LYON), on(4, ROME), on(6, "I moved to Oslo.")),
    "replaced at one instant": (on(0, PARIS), on(2, LYON), on(2, "I like tea.")),
    "ended": (on(0, MEAT), on(2, NO_MEAT)),
    "ended, then again": (on(0, MEAT), on(2, NO_MEAT), on(4, "I eat meat again.")),
    "taken back": (on(0, SISTER), on(2, NO_SISTER)),
    "taken back twice": (on(0, SISTER), on(2, NO_SISTER), on(3, "I misspoke, I do not have a sister.")),
    "a replacement taken back": (on(0, PARIS), on(2, LYON), on(3, NOT_LYON)),
    "a replacement taken back after another": (on(0, PARIS), on(2, LYON), on(3, ROME), on(4, NOT_LYON)),
    "a part": (on(0, MEETING), on(2, LATER)),
    "a part, then another": (on(0, MEETING), on(2, LATER), on(4, "The meeting is still Tuesday but at 5pm now")),
    "a part of what was replaced": (on(0, "The meeting is on Monday at 3pm"), on(1, MEETING), on(2, LATER)),
    "bounded": (on(0, PARIS), on(1, BOUNDED)),
    "bounded, then replaced": (on(0, PARIS), on(1, BOUNDED), on(3, ROME)),
    "bounded, and replaced after its bound": (on(0, PARIS), on(1, BOUNDED), on(8, ROME)),
    "bounded twice": (on(0, PARIS), on(1, BOUNDED), on(2, "I live in Oslo until Thursday.")),
    "bounded, and replaced twice after its bound": (on(1, BOUNDED), on(7, ROME), on(8, "I moved to Oslo.")),
    "bounded and ended": (on(0, MEAT), on(1, NO_MEAT), on(2, "I like tea.")),
    "a part that is bounded over": (
        on(0, MEETING),
        on(2, LATER),
        on(3, "The meeting is on Monday at 9am until Friday."),
    ),
    "a part, then replaced": (on(0, MEETING), on(2, LATER), on(5, "The meeting is on Friday at 9am")),
    "a job's title": (
        on(0, "I work at Acme as an engineer."),
        on(2, "Same job, new title: I'm a manager now."),
        on(4, "I quit my job at Acme."),
    ),
    "a key": (on(0, "Paris", "home"), on(2, "Lyon", "home"), on(4, "Rome", "home")),
    "a key, bounded": (on(0, PARIS, "home"), on(1, BOUNDED, "home"), on(3, ROME, "home")),
    "a key, bounded twice to one end": (
        on(0, PARIS, "home"),
        on(1, BOUNDED, "home"),
        on(2, "I live in Oslo until Friday.", "home"),
    ),
    "a key, bounded for longer": (on(1, BOUNDED, "home"), on(2, "I live in Oslo until Sunday.", "home")),
    "a key before a cue": (on(0, PARIS, "home"), on(1, "I live in Nice.", "home"), on(2, LYON)),
    "one of two clauses": (on(0, "I live in Paris. My grandmother bakes lemon cakes."), on(2, LYON), on(4, ROME)),
    "keyed and not": (on(0, PARIS, "home"), on(2, LYON), on(4, ROME, "home")),
}


EVERY = os.environ.get("RECOLLECT_TEST_EVERY_FAULT") == "1"
STRIDE = 1 if EVERY else 3
"""Every so many calls of a projection another one comes in between."""
AT_ONCE = ("a key", "replaced", "ended", "taken back", "a replacement taken back", "a part", "bounded", "keyed and not")


class Overtaking:
    """Stands where a ticket does: lets somebody else do all of his work once, before the call of a number."""

    def __init__(self, number: int, meanwhile: Callable[[], None]) -> None:
        self._left, self._meanwhile = number, meanwhile
        self.fired = False

    def made(self, name: str, call: Callable[[], Any]) -> Any:
        if not self.fired and self._left == 0:
            self.fired = True
            self._meanwhile()
        self._left -= 1
        return call()


class Told(Telling):
    """With what stands at the end."""

    def prepare(self, *last: int) -> None:
        """All arrive; these two are not projected yet."""
        before = [place for place in range(len(self.story)) if place not in last]
        for place in before:
            self.arrive(place)
        self.drain()
        self.arrive(*sorted(last))

    def versions(self) -> dict[str, int]:
        found = ReadMemories(self.memory.app.parts.items).stored(self.scope, self.ids.values())
        return {record_id: kept.memory.version for record_id, kept in found.items()}

    def outcome(self) -> list[object]:
        """Of each statement what became of it, by which other, and when.

        Of several that take one thing back the one that arrived first is named: that is another one in each order.
        """
        found = ReadMemories(self.memory.app.parts.items).stored(self.scope, self.ids.values())
        return [self._stands(found.get(self.ids[place]), self.places) for place in sorted(self.ids)]

    def _stands(self, stored: StoredMemory | None, places: dict[str, int]) -> object:
        if stored is None:
            return None
        one = stored.memory
        lapses = [(places[x.by], x.start, x.end, x.since, x.until) for x in one.lapses]
        by = None if one.superseded_by is None else places[one.superseded_by]
        by = None if one.status is MemoryStatus.RETRACTED else by
        return (one.status.value, by, one.valid_to, sorted(lapses), one.content)


Tell: TypeAlias = Callable[[str], Told]
Expected: TypeAlias = Callable[[str], list[object]]


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """One store for all; each telling has a user of its own."""
    real = open_memory(tmp_path_factory.mktemp("order"))
    app = App(real.app.settings, cast(Parts, Apart(real.app.parts)))
    yield Memory(app, real.now)
    real.app.parts.close()


@pytest.fixture(scope="module")
def tell(memory: Memory) -> Tell:
    users = iter(range(1_000_000))

    def told(name: str) -> Told:
        return Told(memory, Scope("acme", f"user{next(users)}"), STORIES[name])

    return told


@pytest.fixture(scope="module")
def expected(tell: Tell) -> Expected:
    """What stands when each statement came and was projected in its turn."""
    known: dict[str, list[object]] = {}

    def outcome(name: str) -> list[object]:
        if name not in known:
            told = tell(name)
            for place in range(len(told.story)):
                told.arrive(place)
                told.drain()
            known[name] = told.outcome()
        return known[name]

    return outcome


def _differing(outcomes: dict[Any, list[object]], wanted: list[object]) -> dict[Any, list[object]]:
    return {how: found for how, found in outcomes.items() if found != wanted}


@pytest.mark.spec("P-24", "P-25")
@pytest.mark.parametrize("at_once", [False, True])
@pytest.mark.parametrize("name", STORIES)
def test_every_order_of_arrival_ends_the_same(name: str, at_once: bool, tell: Tell, expected: Expected) -> None:
    """One after the other, or all of them before anything is projected."""
    outcomes = {}
    for order in permutations(range(len(STORIES[name]))):
        told = tell(name)
        for places in (order,) if at_once else [(place,) for place in order]:
            told.arrive(*places)
            told.drain()
        outcomes[order] = told.outcome()
    assert _differing(outcomes, expected(name)) == {}


@pytest.mark.spec("P-24", "P-25")
@settings(max_examples=300 if EVERY else 80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_projected_in_any_groups_twice_and_late(data: st.DataObject, tell: Tell, expected: Expected) -> None:
    name = data.draw(st.sampled_from(sorted(STORIES)))
    told = tell(name)
    waiting = list(data.draw(st.permutations(range(len(told.story)))))
    while waiting:
        for place in waiting[: data.draw(st.integers(1, len(waiting)))]:
            told.arrive(place)
            waiting.remove(place)
        for _ in range(data.draw(st.integers(0, 2))):
            told.project(data.draw(st.lists(st.sampled_from(sorted(told.ids)), min_size=1, unique=True)))
    told.drain()
    assert told.outcome() == expected(name)


@pytest.mark.spec("P-24", "P-25")
@pytest.mark.parametrize("first", [(1,), (2,), (1, 2), (2, 1)])
def test_what_took_up_a_later_one_keeps_its_words(first: Sequence[int], tell: Tell, expected: Expected) -> None:
    """The oldest comes last, and the newest is projected before it."""
    name = "a part of what was replaced"
    told = tell(name)
    told.arrive(1, 2)
    told.project(first)
    told.arrive(0)
    told.project((2,))
    told.drain()
    assert told.outcome() == expected(name)


@pytest.mark.spec("P-24", "P-25")
@pytest.mark.parametrize("name", STORIES)
def test_projected_again_all_of_it_changes_nothing(name: str, tell: Tell) -> None:
    told = tell(name)
    told.arrive(*range(len(told.story)))
    told.drain()
    before = told.versions()
    told.project(range(len(told.story)))
    told.drain()
    assert told.versions() == before


@pytest.mark.spec("P-24", "P-25")
@pytest.mark.parametrize("name", STORIES if EVERY else AT_ONCE)
def test_two_that_project_at_once_end_as_one(name: str, memory: Memory, tell: Tell, expected: Expected) -> None:
    """Whichever of the last two, the other one is projected whole between two calls of its projection."""
    outcomes = {}
    last, other = len(STORIES[name]) - 1, len(STORIES[name]) - 2
    for first, second in ((last, other), (other, last)):
        number, more = sum(map(ord, name)) % STRIDE, True
        while more:
            told = tell(name)
            told.prepare(first, second)
            more = _overtaken(memory, told, first, second, number)
            told.drain()
            outcomes[(first, second, number)] = told.outcome()
            number += STRIDE
    assert len(outcomes) * STRIDE > 40
    assert _differing(outcomes, expected(name)) == {}


def _overtaken(memory: Memory, told: Told, first: int, second: int, number: int) -> bool:
    """Projects the first, and after so many calls the second in between; whether there were as many."""
    calls = Overtaking(number, lambda: told.project([second]))
    parts = Apart(WrappedParts(memory.app.parts, cast(Ticket, calls)))
    app = App(memory.app.settings, cast(Parts, parts), ids=memory.app.ids)
    told.project([first], app)
    return calls.fired
