"""Which segment an event is in: assigned once, at its first projection, and read (A-59).

`AssignSegments` is a step of the projection, which may run twice, late and concurrently. It counts events by their ids
in one item of the user's, the counter, on its version; who projects them writes the number of the segment into the
projection, which is written anyway. So an event costs no write of its own. An id leaves the counter for a roll only
when its number is stored. So whoever reads the counter first and the numbers after it knows: an event that is not in
the counter and has no number was never counted.

Releases of before wrote the place of each event as an item of its own; those are read, and removed, where they are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from recollect.archive.segments import (
    COUNTER,
    QUEUE,
    SegmentCounter,
    counter_in,
    place_key,
    placed_in,
    roll_key,
    segment_id,
)
from recollect.core.event import Event
from recollect.core.idempotency import retry_on_conflict
from recollect.core.items import ABSENT, Due, Item, ItemWrite, document_of, write_all
from recollect.core.scope import Scope
from recollect.ports import Items, Projections, Timeline
from recollect.timeline.bus import SegmentPlace
from recollect.timeline.timeline import PlacedEvent

_COUNTER_TRIES = 30


@dataclass(frozen=True, slots=True)
class Counting:
    """The counter of a user as it is stored; without an item nothing was counted."""

    item: Item | None
    counter: SegmentCounter

    @classmethod
    def of(cls, item: Item | None) -> "Counting":
        return cls(item, counter_in(item.value) if item else SegmentCounter())

    def write(self, counter: SegmentCounter, now: datetime) -> ItemWrite:
        """The counter's next version; due while a closed segment waits, since the first one does."""
        since = self.item.due if self.item and self.item.due else Due(QUEUE, now)
        due = since if counter.waiting else None
        return ItemWrite(COUNTER, document_of(counter), self.item.version if self.item else ABSENT, due)


NOTHING_COUNTED = Counting.of(None)


@dataclass(frozen=True, slots=True)
class Assigned:
    """The segments of some events, by their ids.

    `numbers` are for their projections: of those whose number is no item of a release of before; and of what was put
    into a roll meanwhile. `counting` is the counter afterwards.
    """

    places: Mapping[str, SegmentPlace]
    numbers: Mapping[str, int]
    counting: Counting


class SegmentPlaces:
    """Reads the segments of events, deleted ones too until all that is derived of them is removed."""

    def __init__(self, items: Items, projections: Projections) -> None:
        self._items = items
        self._projections = projections

    def of(self, scope: Scope, event_ids: Sequence[str], *, consistent: bool = True) -> dict[str, PlacedEvent]:
        """By the events' ids; of one that was never projected nothing. `consistent` as in `Projections.places`."""
        found = self._projections.places(scope, event_ids, consistent=consistent) if event_ids else {}
        return found | self.older(scope, [event_id for event_id in event_ids if event_id not in found])

    def older(self, scope: Scope, event_ids: Sequence[str]) -> dict[str, PlacedEvent]:
        """Those that a release of before wrote."""
        found = self._items.get(scope.user, [place_key(event_id) for event_id in event_ids]) if event_ids else {}
        return {key.key: placed_in(key.key, item.value) for key, item in found.items()}

    def forget_older(self, scope: Scope, event_ids: Sequence[str], now: datetime) -> None:
        """Removes what a release of before wrote of deleted events; all else goes with the projections."""
        writes = [ItemWrite(place_key(event_id), None) for event_id in self.older(scope, event_ids)]
        write_all(self._items.write, scope.user, writes, now)


class AssignSegments:
    """Writes one counter for each batch, and now and then a roll of its ids."""

    def __init__(self, items: Items, timeline: Timeline, projections: Projections) -> None:
        self._items = items
        self._timeline = timeline
        self._projections = projections
        self._places = SegmentPlaces(items, projections)

    def counting(self, scope: Scope) -> Counting:
        """The counter, which is to be read before the projections."""
        return Counting.of(self._items.get(scope.user, [COUNTER]).get(COUNTER))

    def assign(
        self,
        scope: Scope,
        events: Sequence[Event],
        now: datetime,
        counting: Counting,
        stored: Mapping[str, int | None],
    ) -> Assigned:
        """The segments of up to 50 events; of more at once it is dearer. Raises Conflict.

        `stored` are the numbers in the projections, None in one without, as read after `counting`; for the next events
        of a batch with the `numbers` before, which are written by then, and with the counter afterwards.
        """
        distinct = list({event.id: event for event in events}.values())
        given = [(counting, stored)]

        def assign() -> Assigned:
            return self._assign(scope, distinct, now, *(given.pop() if given else self._read(scope, distinct)))

        return retry_on_conflict(assign, "the segment counter of a user", _COUNTER_TRIES)

    def known(self, scope: Scope, event_ids: Sequence[str]) -> dict[str, str]:
        """The names of the events' segments."""
        return {event_id: segment_id(one.segment) for event_id, one in self._places.of(scope, event_ids).items()}

    def count(self, scope: Scope) -> int:
        """The number of the user's segments, including the open one (A-61)."""
        found = self.counting(scope)
        return found.counter.number if found.item else 0

    def _read(self, scope: Scope, events: Sequence[Event]) -> tuple[Counting, Mapping[str, int | None]]:
        counting = self.counting(scope)
        found = self._projections.vectors(scope, [event.id for event in events])
        return counting, {event_id: one.segment for event_id, one in found.items()}

    def _assign(
        self,
        scope: Scope,
        events: Sequence[Event],
        now: datetime,
        counting: Counting,
        stored: Mapping[str, int | None],
    ) -> Assigned:
        numbers = {e.id: number for e in events if (number := stored.get(e.id)) is not None}
        until = counting.counter.older_until
        doubtful = [e.id for e in events if e.id not in numbers and (e.id in stored or e.recorded_at <= until)]
        older = {event_id: one.segment for event_id, one in self._places.older(scope, doubtful).items()}
        unplaced = [event.id for event in events if event.id not in numbers and event.id not in older]
        counted = counting.counter.ids
        numbers |= {event_id: counting.counter.number for event_id in unplaced if event_id in counted}
        after, new = self._count(scope, counting, [one for one in unplaced if one not in counted], now)
        numbers |= new
        count = after.counter.number
        places = {event_id: SegmentPlace(segment_id(n), count) for event_id, n in (numbers | older).items()}
        return Assigned(places, numbers, after)

    def _count(
        self, scope: Scope, counting: Counting, event_ids: Sequence[str], now: datetime
    ) -> tuple[Counting, dict[str, int]]:
        """The counter with these events in it; the segment of each, and of those that went into a roll meanwhile."""
        numbers: dict[str, int] = {}
        left = list(event_ids)
        while left or counting.counter.full:
            counter = counting.counter
            if counter.overflows(len(left)):
                numbers |= dict.fromkeys(counter.ids, counter.number)
                counting = self._roll(scope, counting, now)
                continue
            part, left = left[: counter.room], left[counter.room :]
            numbers |= dict.fromkeys(part, counter.number)
            write = counting.write(counter.with_events(part, now), now)
            counting = Counting.of(*self._items.write(scope.user, [write], now))
        return counting, numbers

    def _roll(self, scope: Scope, counting: Counting, now: datetime) -> Counting:
        self.place_counted(scope, counting.counter)
        roll = ItemWrite(roll_key(counting.counter), {"ids": list(counting.counter.ids)}, ABSENT)
        write = counting.write(counting.counter.put_by(), now)
        _, item = self._items.write(scope.user, [roll, write], now)
        return Counting.of(item)

    def close(self, scope: Scope, now: datetime) -> None:
        """Closes the open segment before it is full; an empty one stays open. Raises Conflict."""
        retry_on_conflict(lambda: self._close(scope, now), "the segment counter of a user")

    def _close(self, scope: Scope, now: datetime) -> None:
        counting = self.counting(scope)
        counter = counting.counter
        if not counter.count:
            return
        self.place_counted(scope, counter)
        roll = [ItemWrite(roll_key(counter), {"ids": list(counter.ids)}, ABSENT)] if counter.ids else []
        self._items.write(scope.user, [counting.write(counter.closed(), now), *roll], now)

    def place_counted(self, scope: Scope, counter: SegmentCounter) -> None:
        """Writes the numbers of counted events which nobody has written yet; before their ids go into a roll.

        Safe at any time: while an id is in the counter its segment is known and final. A roll may list deleted events.
        One that was placed a moment ago may be placed again, which changes nothing.
        """
        placed = self._places.of(scope, counter.ids, consistent=False)
        for event_id in (one for one in counter.ids if one not in placed):
            event = self._timeline.find(scope.user, event_id)
            if event is not None:
                self._projections.place(scope.user, event, counter.number)

    def mark_written(self, scope: Scope, number: int, now: datetime) -> None:
        """The segment is in the archive. Raises Conflict."""
        retry_on_conflict(lambda: self._mark_written(scope, number, now), "the segment counter of a user")

    def _mark_written(self, scope: Scope, number: int, now: datetime) -> None:
        counting = self.counting(scope)
        if counting.item is not None and counting.counter.written < number:
            write = counting.write(replace(counting.counter, written=number), now)
            self._items.write(scope.user, [write], now)
