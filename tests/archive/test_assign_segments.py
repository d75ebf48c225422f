"""An event is counted first and placed after: whoever ends between the two leaves nothing that is counted twice."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

import pytest

from embedded.archiving import all_events, remarks
from embedded.setting import ANNA, Memory
from embedded.standing import Before
from recollect.archive.segment_archive import AssignSegments
from recollect.archive.segments import COUNTER, PLACES, ROLL_EVENTS, SEGMENT_EVENTS, counter_in
from recollect.core.errors import Unavailable
from recollect.core.event import Event
from recollect.core.items import ItemKey, ItemPath, ItemWrite
from recollect.core.scope import Scope
from recollect.ports import Items


class Watched(Before):
    """Items that keep what is written in one step, and end after that many steps."""

    def __init__(self, items: Items, steps: float = float("inf")) -> None:
        super().__init__(items)
        self._left = steps
        self.steps: list[list[ItemKey]] = []

    def write(self, owner: Scope, writes: Sequence[ItemWrite], now: datetime) -> Any:
        if len(self.steps) >= self._left:
            raise Unavailable("the process is gone")
        self.steps.append([write.key for write in writes])
        return self.part.write(owner, writes, now)


def assign(memory: Memory, events: Sequence[Event], steps: float = float("inf")) -> Watched:
    """Assigns them, or as many as that many writes allow."""
    watched = Watched(memory.app.parts.items, steps)
    try:
        AssignSegments(cast(Items, watched), memory.app.parts.timeline).assign(ANNA, events, memory.now)
    except Unavailable:
        assert len(watched.steps) == steps
    return watched


def listed(memory: Memory) -> list[str]:
    items = memory.app.parts.items
    rolls = items.page(ANNA, ItemPath("segment_rolls"), 100, None).items
    counter = items.get(ANNA, [COUNTER]).get(COUNTER)
    waiting = counter_in(counter.value).ids if counter else ()
    return [*(own for roll in rolls for own in roll.value["ids"]), *waiting]


def placed(memory: Memory) -> dict[str, int]:
    """The number of the segment by event id."""
    return {item.key.key: item.value["n"] for item in memory.app.parts.items.page(ANNA, PLACES, 2000, None).items}


def batches(events: Sequence[Event]) -> Iterator[Sequence[Event]]:
    """As a stream brings them: few at a time."""
    for start in range(0, len(events), 3):
        yield events[start : start + 3]


def test_one_event_takes_two_writes_of_one_item_each(memory: Memory) -> None:
    remarks(memory, 2)
    first, second = all_events(memory)
    assert [len(step) for step in assign(memory, [first]).steps] == [1, 1]
    assert [len(step) for step in assign(memory, [second]).steps] == [1, 1]
    assert assign(memory, [first, second]).steps == []


@pytest.mark.spec("A-59", "P-25")
@pytest.mark.parametrize("size", [1, 3, 4, 5, 22, 60])
@pytest.mark.parametrize("steps", range(5))
def test_a_crash_at_any_write_counts_nothing_twice(memory: Memory, size: int, steps: int) -> None:
    remarks(memory, size + 120)
    events = all_events(memory)
    assign(memory, events[:size], steps)
    for batch in batches(events[size:]):
        assign(memory, batch)
    assign(memory, events[:size])
    assert Counter(listed(memory)) == Counter(event.id for event in events)
    assert placed(memory) == {event.id: 1 for event in events}


@pytest.mark.spec("A-53", "A-59")
def test_what_was_counted_is_placed_before_its_segment_closes(memory: Memory) -> None:
    remarks(memory, SEGMENT_EVENTS + 10)
    events = all_events(memory)
    late = events[SEGMENT_EVENTS - 1]
    for start in range(0, SEGMENT_EVENTS - 20, 20):
        assign(memory, events[start : start + 20])
    assign(memory, [late], steps=1)
    assert late.id not in placed(memory)
    for batch in batches([event for event in events[SEGMENT_EVENTS - 20 :] if event is not late]):
        assign(memory, batch)
    assert placed(memory)[late.id] == 1
    assign(memory, [late])
    assert sorted(placed(memory).values()) == [1] * SEGMENT_EVENTS + [2] * 10
    assert max(Counter(listed(memory)).values()) == 1


@pytest.mark.spec("A-59")
def test_what_was_counted_is_placed_before_a_segment_is_closed_by_word(memory: Memory) -> None:
    remarks(memory, 2)
    first, second = all_events(memory)
    assign(memory, [first])
    assign(memory, [second], steps=1)
    memory.app.segments.compaction.close(ANNA, memory.now)
    assert memory.app.segments.compaction.compact(ANNA, memory.now).events == 2
    assign(memory, [second])
    assert placed(memory) == {first.id: 1, second.id: 1}
    assert memory.app.projection.steps.segments.count(ANNA) == 2


@pytest.mark.spec("P-22")
def test_what_was_counted_and_then_deleted_gets_no_place(memory: Memory) -> None:
    remarks(memory, ROLL_EVENTS + 1)
    events = all_events(memory)
    assign(memory, events[:1], steps=1)
    memory.app.deletion.events.forget(ANNA, now=memory.now, event_id=events[0].id)
    for batch in batches(events[1:]):
        assign(memory, batch)
    assert events[0].id not in placed(memory)
    assert len(placed(memory)) == ROLL_EVENTS
    assert [ref.id for ref in memory.app.segments.compaction.refs(ANNA, 1)] == [e.id for e in events[1:ROLL_EVENTS]]


@dataclass
class _Forgets:
    """A timeline in which the event is deleted right after it was found."""

    memory: Memory

    def find(self, scope: Scope, event_id: str) -> Event | None:
        found = self.memory.app.parts.timeline.find(scope, event_id)
        if found is not None:
            self.memory.app.deletion.events.forget(scope, now=self.memory.now, event_id=event_id)
            self.memory.project()
        return found


@pytest.mark.spec("P-22")
def test_what_is_deleted_while_it_is_placed_keeps_no_place(memory: Memory) -> None:
    remarks(memory, ROLL_EVENTS)
    events = all_events(memory)
    assign(memory, events[:1], steps=1)
    for batch in batches(events[1 : ROLL_EVENTS - 1]):
        assign(memory, batch)
    forgetting: Any = _Forgets(memory)
    AssignSegments(memory.app.parts.items, forgetting).assign(ANNA, events[-1:], memory.now)
    assert set(placed(memory)) == {event.id for event in events[1:]}
