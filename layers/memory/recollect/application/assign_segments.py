"""Assigns events to the segments of their user's timeline, once and for good (A-53, A-59).

A part of `project`, which may run twice, late and beside itself: the place of an event and the counter that it moves
are written in one step, on condition that nobody else moved it.
"""

from collections.abc import Sequence
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
from recollect.ports import Items

_AT_ONCE = 22  # of 25 writes: the counter and a full roll go with them
_TRIES = 8


class AssignSegments:
    """One small item for each event, and one counter for each batch of them."""

    def __init__(self, items: Items) -> None:
        self._items = items

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
        writes: list[ItemWrite] = []
        for event in (event for event in events if event.id not in numbers):
            numbers[event.id] = counter.number
            writes.append(ItemWrite(place_key(event.id), place_value(counter.number, event.ref), ABSENT))
            counter = _moved(counter.with_event(event.id), writes)
        if writes:
            self._items.write(scope.user, [*writes, counter_write(item, counter, now)], now)
        return {event_id: SegmentPlace(segment_id(n), counter.number) for event_id, n in numbers.items()}


def counter_write(item: Item | None, counter: SegmentCounter, now: datetime) -> ItemWrite:
    """The counter as it is now; due where a closed segment waits, since when the first one does."""
    since = item.due if item and item.due else Due(QUEUE, now)
    due = since if counter.waiting else None
    return ItemWrite(COUNTER, counter_value(counter), item.version if item else ABSENT, due)


def _moved(counter: SegmentCounter, writes: list[ItemWrite]) -> SegmentCounter:
    """The counter after an event; a full roll is put by."""
    if not counter.roll_full:
        return counter
    writes.append(ItemWrite(roll_key(counter.number, counter.roll), {"ids": list(counter.ids)}, ABSENT))
    return counter.put_by()
