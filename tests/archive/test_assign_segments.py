"""An event is counted first and placed after: whoever ends between the two leaves nothing that is counted twice."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, cast

import pytest

from embedded.archiving import all_events, assigned, remarks
from embedded.setting import ANNA, Memory, with_parts
from embedded.standing import Before
from recollect.archive.segment_places import AssignSegments
from recollect.archive.segments import COUNTER, PLACES, ROLL_EVENTS, SEGMENT_EVENTS, counter_in, place_key
from recollect.core.errors import Unavailable
from recollect.core.event import Event
from recollect.core.items import ABSENT, ItemKey, ItemPath, ItemWrite
from recollect.core.scope import Scope
from recollect.core.time import iso
from recollect.ports import Items, Projections
from recollect.timeline.timeline import Projection


class Watched(Before):
    """Items that keep what is written in one step, and end after that many steps."""

    def __init__(self, items: Items, steps: float = float("inf")) -> None:
        super().__init__(items)
        self._left = steps
        self.steps: list[list[Any]] = []

    def write(self, owner: Scope, writes: Sequence[ItemWrite], now: datetime) -> Any:
        self.begin([write.key for write in writes])
        return self.part.write(owner, writes, now)

    def begin(self, written: list[Any]) -> None:
        if len(self.steps) >= self._left:
            raise Unavailable("the process is gone")
        self.steps.append(written)


class Placing(Before):
    """Projections whose writes are steps of the same."""

    def __init__(self, projections: Projections, watched: Watched) -> None:
        super().__init__(projections)
        self._watched = watched

    def save(self, scope: Scope, projections: Sequence[Projection], known: Any = None) -> None:
        self._watched.begin([one.ref.id for one in projections])
        self.part.save(scope, projections, known)

    def place(self, scope: Scope, event: Event, segment: int) -> None:
        self._watched.begin([event.id])
        self.part.place(scope, event, segment)


def assign(memory: Memory, events: Sequence[Event], steps: float = float("inf")) -> list[list[Any]]:
    """Assigns them, or as many as that many writes allow; what was written in each."""
    parts = memory.app.parts
    watched = Watched(parts.items, steps)
    placing = cast(Projections, Placing(parts.projections, watched))
    try:
        assigned(memory.app, events, memory.now, cast(Items, watched), placing)
    except Unavailable:
        assert len(watched.steps) == steps
    return watched.steps


def rolls(memory: Memory) -> list[list[str]]:
    """The ids in each roll, of all segments."""
    items = memory.app.parts.items.page(ANNA, ItemPath("segment_rolls"), 100, None).items
    return [list(item.value["ids"]) for item in items]


def listed(memory: Memory) -> list[str]:
    counter = memory.app.parts.items.get(ANNA, [COUNTER]).get(COUNTER)
    waiting = counter_in(counter.value).ids if counter else ()
    return [*(own for roll in rolls(memory) for own in roll), *waiting]


def placed(memory: Memory) -> dict[str, int]:
    """The number of the segment by event id."""
    known = memory.app.projection.steps.segments.known(ANNA, memory.ids)
    return {event_id: int(name) for event_id, name in known.items()}


def batches(events: Sequence[Event]) -> Iterator[Sequence[Event]]:
    """As a stream brings them: few at a time."""
    for start in range(0, len(events), 3):
        yield events[start : start + 3]


@pytest.mark.parametrize("size", [1, 10, ROLL_EVENTS])
def test_a_batch_takes_one_write_beside_its_vectors(memory: Memory, size: int) -> None:
    remarks(memory, 2 * size)
    events = all_events(memory)
    first, second = events[:size], events[size:]
    assert assign(memory, first) == [[COUNTER], [event.id for event in first]]
    steps = assign(memory, second)
    assert steps[-2:] == [[COUNTER], [event.id for event in second]]
    assert len(steps) == (2 if 2 * size <= ROLL_EVENTS else 3)
    assert assign(memory, events) == []


@pytest.mark.spec("A-59", "P-25")
@pytest.mark.parametrize("size", [1, 3, 4, 22, 60])
@pytest.mark.parametrize("steps", range(6))
def test_a_crash_at_any_write_counts_nothing_twice(memory: Memory, size: int, steps: int) -> None:
    remarks(memory, size + 120)
    events = all_events(memory)
    assign(memory, events[:size], steps)
    for batch in batches(events[size:]):
        assign(memory, batch)
    assign(memory, events[:size])
    assert Counter(listed(memory)) == Counter(event.id for event in events)
    assert placed(memory) == {event.id: 1 for event in events}


@pytest.mark.spec("A-53", "A-59", "P-25")
@pytest.mark.parametrize("steps", range(24))
def test_a_crash_at_the_end_of_a_segment_counts_nothing_twice(memory: Memory, steps: int) -> None:
    """20 before the end, in a batch of 30: those that end it are placed, and their ids put into a roll, at once."""
    remarks(memory, SEGMENT_EVENTS + 20)
    events = all_events(memory)
    assign(memory, events[: SEGMENT_EVENTS - 20])
    assign(memory, events[SEGMENT_EVENTS - 20 : SEGMENT_EVENTS + 10], steps)
    assign(memory, events[SEGMENT_EVENTS + 10 :])
    assign(memory, events)
    assert Counter(listed(memory)) == Counter(event.id for event in events)
    assert placed(memory).keys() == {event.id for event in events}
    assert sorted(placed(memory).values()) == [1] * SEGMENT_EVENTS + [2] * 20
    assert sum(map(len, rolls(memory))) >= SEGMENT_EVENTS
    assert max(map(len, rolls(memory))) <= ROLL_EVENTS


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


@pytest.mark.spec("A-59", "P-25")
def test_what_was_rolled_in_the_middle_of_a_batch_is_not_counted_again_by_its_end(memory: Memory) -> None:
    """Its process ended before it was placed; the next batch puts its id into a roll, and then comes to it itself."""
    remarks(memory, 2 * ROLL_EVENTS)
    events = all_events(memory)
    assign(memory, events[-1:], steps=1)
    memory.project()
    assert Counter(listed(memory)) == Counter(event.id for event in events)
    assert [len(roll) for roll in rolls(memory)] == [1, ROLL_EVENTS]
    assert placed(memory) == {event.id: 1 for event in events}


@pytest.mark.spec("A-59", "P-25")
def test_what_another_process_counts_and_rolls_meanwhile_is_not_counted_again(memory: Memory) -> None:
    """After the projections were read, so that the counter must have been read before."""
    remarks(memory, 3)

    class Overtaken(Before):
        def vectors(self, scope: Scope, event_ids: Sequence[str]) -> Any:
            found = self.part.vectors(scope, event_ids)
            if not listed(memory):
                assign(memory, all_events(memory))
                memory.app.segments.compaction.close(ANNA, memory.now)
            return found

    with_parts(memory, projections=Overtaken(memory.app.parts.projections)).project()
    assert Counter(listed(memory)) == Counter(memory.ids)
    assert placed(memory) == dict.fromkeys(memory.ids, 1)
    assert memory.app.parts.projections.pending(10, None).markers == ()


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
    memory.app.segments.compaction.close(ANNA, memory.now)
    assert [ref.id for ref in memory.app.segments.compaction.refs(ANNA, 1)] == [event.id for event in events[1:]]


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
    remarks(memory, 3)
    events = all_events(memory)
    assign(memory, events[:1], steps=1)
    assign(memory, events[1:])
    parts, forgetting = memory.app.parts, cast(Any, _Forgets(memory))
    AssignSegments(parts.items, forgetting, parts.projections).close(ANNA, memory.now)
    assert set(placed(memory)) == {event.id for event in events[1:]}
    assert events[0].id in listed(memory)


class TestAfterAReleaseOfBefore:
    """It wrote a counter without `older_until`, and the place of each event as an item of its own."""

    def before(self, memory: Memory, events: Sequence[Event], *, counted: int | None = None) -> None:
        """`counted` of them are in the counter; the others in a roll."""
        ids = [event.id for event in events]
        split = len(ids) if counted is None else len(ids) - counted
        value = {"number": 3, "rolled": split, "ids": ids[split:], "written": 0}
        roll = ItemKey(ItemPath("segment_rolls", ("00000003",)), "00")
        writes = [ItemWrite(COUNTER, value, ABSENT), ItemWrite(roll, {"ids": ids[:split]}, ABSENT)]
        writes += [ItemWrite(place_key(e.id), {"n": 3, "t": iso(e.timestamp)}, ABSENT) for e in events]
        memory.app.parts.items.write(ANNA, writes, memory.now)

    def items(self, memory: Memory) -> list[str]:
        return [item.key.key for item in memory.app.parts.items.page(ANNA, PLACES, 100, None).items]

    @pytest.mark.parametrize("projected", [False, True])
    @pytest.mark.parametrize("counted", [0, 2])
    def test_its_events_stay_where_they_are(self, memory: Memory, counted: int, projected: bool) -> None:
        """Also one whose projection had not been written when it ended."""
        remarks(memory, 5)
        events = all_events(memory)
        self.before(memory, events[:3], counted=counted)
        if projected:
            memory.app.parts.projections.save(ANNA, [Projection(event.ref, None, None) for event in events[:3]])
        memory.project()
        assert placed(memory) == {event.id: 3 for event in events}
        assert Counter(listed(memory)) == Counter(event.id for event in events)
        memory.now += timedelta(days=1)
        more = remarks(memory, ROLL_EVENTS)
        memory.project()
        memory.app.projection.events.project(self.markers(memory), memory.now)
        assert Counter(listed(memory)) == Counter(event.id for event in all_events(memory))
        assert set(more).isdisjoint(self.items(memory))
        memory.app.segments.compaction.close(ANNA, memory.now)
        assert len(memory.app.segments.compaction.refs(ANNA, 3)) == 5 + ROLL_EVENTS

    def markers(self, memory: Memory) -> list[Any]:
        memory.app.parts.projections.mark(ANNA, [event.ref for event in all_events(memory)])
        return list(memory.app.parts.projections.pending(100, None).markers)

    def test_of_what_was_recorded_later_no_item_is_looked_for(self, memory: Memory) -> None:
        remarks(memory, 2)
        first, second = all_events(memory)
        self.before(memory, [first])
        memory.project()
        items, asked = memory.app.parts.items, list[ItemKey]()

        class Asked(Before):
            def get(self, owner: Scope, keys: Sequence[ItemKey]) -> Any:
                asked.extend(keys)
                return self.part.get(owner, keys)

        memory.now += timedelta(hours=2)
        (late,) = remarks(memory, 1)
        assigned(memory.app, all_events(memory), memory.now, cast(Items, Asked(items)))
        assert place_key(late) not in asked
        assert place_key(first.id) in asked
        assert placed(memory).keys() == {first.id, second.id, late}

    @pytest.mark.spec("P-22")
    def test_a_deletion_reaches_its_segment_and_its_items(self, memory: Memory) -> None:
        remarks(memory, 3)
        events = all_events(memory)
        self.before(memory, events[:2])
        memory.project()
        compaction = memory.app.segments.compaction
        compaction.close(ANNA, memory.now)
        memory.app.parts.items.write(ANNA, [self.written(memory)], memory.now)
        assert compaction.compact(ANNA, memory.now).events == 3
        for event in events[1:]:
            memory.app.deletion.events.forget(ANNA, event_id=event.id, now=memory.now)
        memory.project()
        assert [line.event.id for line in memory.app.segments.contents.read(ANNA)] == [events[0].id]
        assert self.items(memory) == [events[0].id]
        assert placed(memory) == {events[0].id: 3}

    def written(self, memory: Memory) -> ItemWrite:
        """Its first two segments are in the archive."""
        item = memory.app.parts.items.get(ANNA, [COUNTER])[COUNTER]
        return ItemWrite(COUNTER, {**item.value, "written": 2}, item.version, item.due)
