"""Assigns events to the segments of their user's timeline, once and for good (A-53, A-59).

A part of `project`, which may run twice, late and beside itself. An event is counted first, by its id in the counter,
on condition that nobody else moved it, and then gets its place: two writes by themselves cost half of what one step
of both would. An id leaves the counter for a roll only when it has its place, so what has none and is not in the
counter was never counted.
"""

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime

from recollect.domain.bus import SegmentPlace
from recollect.domain.errors import Conflict, VersionMismatch
from recollect.domain.event import Event
from recollect.domain.items import ABSENT, Due, Item, ItemWrite
from recollect.domain.scope import Scope
from recollect.domain.segments import (
    COUNTER,
    QUEUE,
    SegmentCounter,
    counter_in,
    counter_value,
    place_key,
    place_value,
    roll_key,
    segment_id,
)
from recollect.ports import Items, Timeline

_AT_ONCE = 22  # of 25 writes: the counter and a full roll go with them
_ONE_BY_ONE = 4  # more than these are written in one step: twice the units, but one call
_TRIES = 30


class AssignSegments:
    """One small item for each event, and one counter for each batch of them."""

    def __init__(self, items: Items, timeline: Timeline) -> None:
        self._items = items
        self._timeline = timeline

    def __call__(self, scope: Scope, events: Sequence[Event], now: datetime) -> dict[str, SegmentPlace]:
        """The segment of each event, by its id. Raises Conflict where the counter moves all the time."""
        places: dict[str, SegmentPlace] = {}
        distinct = list({event.id: event for event in events}.values())
        for start in range(0, len(distinct), _AT_ONCE):
            places |= self._assigned(scope, distinct[start : start + _AT_ONCE], now)
        return places

    def known(self, scope: Scope, event_ids: Sequence[str]) -> dict[str, str]:
        """The segments of those that have one."""
        found = self._items.get(scope.user, [place_key(event_id) for event_id in event_ids])
        return {key.key: segment_id(item.value["n"]) for key, item in found.items()}

    def count(self, scope: Scope) -> int:
        """How many segments the user has, the open one with them (A-61)."""
        item = self._items.get(scope.user, [COUNTER]).get(COUNTER)
        return counter_in(item.value).number if item else 0

    def _assigned(self, scope: Scope, events: Sequence[Event], now: datetime) -> dict[str, SegmentPlace]:
        for _ in range(_TRIES):
            try:
                return self._try(scope, events, now)
            except VersionMismatch:
                continue
        raise Conflict("the segments of a user change all the time")

    def _try(self, scope: Scope, events: Sequence[Event], now: datetime) -> dict[str, SegmentPlace]:
        found = self._items.get(scope.user, [COUNTER, *(place_key(event.id) for event in events)])
        item = found.pop(COUNTER, None)
        numbers = {key.key: int(place.value["n"]) for key, place in found.items()}
        counter = counter_in(item.value) if item else SegmentCounter()
        unplaced = [event for event in events if event.id not in numbers]
        counted = [_place(event, counter.number) for event in unplaced if event.id in counter.ids]
        self._each(scope, counted, now)
        moved, rolls, places = _moved(counter, [event for event in unplaced if event.id not in counter.ids])
        if places:
            self._count(scope, counter, [*rolls, counter_write(item, moved, now)], places, now)
        numbers |= {write.key.key: int(write.value["n"]) for write in (*counted, *places) if write.value is not None}
        return {event_id: SegmentPlace(segment_id(n), moved.number) for event_id, n in numbers.items()}

    def _count(
        self, scope: Scope, before: SegmentCounter, counts: list[ItemWrite], places: list[ItemWrite], now: datetime
    ) -> None:
        """`counts` are the counter, and rolls where some are full: those that go into them are placed before."""
        if len(counts) > 1:
            place_counted(self._items, self._timeline, scope, before, now)
        if len(counts) > 1 or len(places) > _ONE_BY_ONE:
            self._items.write(scope.user, [*places, *counts], now)
            return
        self._items.write(scope.user, counts, now)
        self._each(scope, places, now)

    def _each(self, scope: Scope, places: Sequence[ItemWrite], now: datetime) -> None:
        for place in places:
            with suppress(VersionMismatch):  # somebody else was faster, and wrote the same
                self._items.write(scope.user, [place], now)


def place_counted(items: Items, timeline: Timeline, scope: Scope, counter: SegmentCounter, now: datetime) -> None:
    """Places what was counted by somebody who ended before its place was written; before it goes into a roll.

    Whoever does it, and however late: while an id is in the counter its segment is known, and it is that for good.
    """
    placed = items.get(scope.user, [place_key(event_id) for event_id in counter.ids]) if counter.ids else {}
    for event_id in (one for one in counter.ids if place_key(one) not in placed):
        event = timeline.find(scope.user, event_id)
        if event is None:
            continue  # a roll may list what is gone
        with suppress(VersionMismatch):  # as above
            items.write(scope.user, [_place(event, counter.number)], now)
        if timeline.find(scope.user, event_id) is None:  # removed meanwhile, perhaps before it could be seen here
            items.write(scope.user, [ItemWrite(place_key(event_id), None)], now)


def counter_write(item: Item | None, counter: SegmentCounter, now: datetime) -> ItemWrite:
    """The counter as it is now; due where a closed segment waits, since when the first one does."""
    since = item.due if item and item.due else Due(QUEUE, now)
    due = since if counter.waiting else None
    return ItemWrite(COUNTER, counter_value(counter), item.version if item else ABSENT, due)


def _place(event: Event, number: int) -> ItemWrite:
    return ItemWrite(place_key(event.id), place_value(number, event.ref), ABSENT)


def _moved(counter: SegmentCounter, events: Sequence[Event]) -> tuple[SegmentCounter, list[ItemWrite], list[ItemWrite]]:
    """The counter after these events, the rolls that are full then, and the events' places."""
    rolls: list[ItemWrite] = []
    places: list[ItemWrite] = []
    for event in events:
        places.append(_place(event, counter.number))
        counter = counter.with_event(event.id)
        if counter.roll_full:
            rolls.append(ItemWrite(roll_key(counter.number, counter.roll), {"ids": list(counter.ids)}, ABSENT))
            counter = counter.put_by()
    return counter, rolls, places
