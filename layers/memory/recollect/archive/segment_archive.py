"""The objects of segments: written whole, replaced only as they were read, listed in a manifest (A-52, A-53).

A lost race raises VersionMismatch, and whoever lost it reads again and goes on: nobody waits for anybody.

Reads the archive of a timeline back: what is whole is served, of the rest a warning tells (A-55).

Assigns events to the segments of their user's timeline, once and for good (A-53, A-59).

A part of `project`, which may run twice, late and beside itself. An event is counted first, by its id in the counter,
on condition that nobody else moved it, and then gets its place: two writes by themselves cost half of what one step
of both would. An id leaves the counter for a roll only when it has its place, so what has none and is not in the
counter was never counted.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeAlias

from recollect.archive.record_line import RecordLine, line_text, read_line
from recollect.archive.segments import (
    COUNTER,
    QUEUE,
    SegmentCounter,
    SegmentManifest,
    counter_in,
    counter_value,
    manifest_in,
    manifest_name,
    pack_segment,
    place_key,
    place_value,
    raw_bytes,
    roll_key,
    segment_id,
    segment_name,
    unpack_segment,
)
from recollect.core.errors import Conflict, StoredDataError, VersionMismatch
from recollect.core.event import Event
from recollect.core.items import ABSENT, Due, Item, ItemWrite
from recollect.core.scope import Scope
from recollect.ports import Items, SnapshotStore, Timeline
from recollect.timeline.bus import SegmentPlace

WarnOf: TypeAlias = Callable[[Scope, str, int], None]
"""Told of an object of a user's that is not whole: its name, and how many places in it are wrong."""

_TRIES = 8


@dataclass(frozen=True, slots=True)
class PackedSegment:
    """A segment's object as it was written."""

    lines: int
    data: bytes
    raw_bytes: int


def no_warning(_scope: Scope, _name: str, _faults: int) -> None:
    """Nobody is told."""


class SegmentArchive:
    """Segment objects of one deployment's store."""

    def __init__(self, store: SnapshotStore, warn: WarnOf = no_warning) -> None:
        self._store = store
        self._warn = warn

    def write(self, scope: Scope, name: str, lines: Iterable[RecordLine]) -> PackedSegment:
        """Writes the object, or replaces the one that a try before left. Raises VersionMismatch in a lost race."""
        texts = [line_text(line) for line in lines]
        data = pack_segment(texts)
        found = self._store.get(scope.tenant, name)
        if found is None:
            self._store.put_if_absent(scope.tenant, name, data)
        elif found[0] != data:
            self._store.put_if_match(scope.tenant, name, data, found[1])
        return PackedSegment(len(texts), data, raw_bytes(texts))

    def read(self, scope: Scope, name: str) -> list[RecordLine]:
        """What is whole of it, in order; of the rest the warning tells. Nothing where the object is not there."""
        found = self._store.get(scope.tenant, name)
        if found is None:
            self._warn(scope, name, 1)
            return []
        content = unpack_segment(found[0])
        lines = [line for line in map(_read, content.lines) if line is not None]
        faults = content.faults + len(content.lines) - len(lines)
        if faults:
            self._warn(scope, name, faults)
        return lines

    def remove(self, scope: Scope, name: str, event_ids: AbstractSet[str]) -> PackedSegment | None:
        """Rewrites the object without these records, and purges what it held before; None where it has none of them.

        What is broken in it is left out too: nobody can tell what it says. One that loses all is deleted.
        """
        for _ in range(_TRIES):
            found = self._store.get(scope.tenant, name)
            if found is None:
                self._store.purge(scope.tenant, name)
                return None
            content = unpack_segment(found[0])
            kept = [text for text in content.lines if not _names(text, event_ids)]
            if kept and len(kept) == len(content.lines) and not content.faults:
                self._store.purge(scope.tenant, name)  # a try before may have ended between the two
                return None
            try:
                return self._replaced(scope, name, kept, found[1])
            except VersionMismatch:
                continue
        raise Conflict("a segment changes all the time")

    def supersede(self, scope: Scope, name: str, event: Event) -> tuple[bool, PackedSegment | None]:
        """Whether the object has this record, and the object as it was rewritten, where the record was a slot's value.

        The record says then what the event says of its successor; else nothing of it is changed.
        """
        for _ in range(_TRIES):
            found = self._store.get(scope.tenant, name)
            lines = unpack_segment(found[0]).lines if found else ()
            there = next((line for line in map(_read, lines) if line and line.event.id == event.id), None)
            if found is None or there is None or there.event.superseded_by is not None:
                return there is not None, None
            try:
                return True, self._replaced(scope, name, [_superseded(text, event) for text in lines], found[1])
            except VersionMismatch:
                continue
        raise Conflict("a segment changes all the time")

    def erase(self, scope: Scope, name: str) -> None:
        """Takes the object away with all that it ever held; until that is done it is still listed."""
        for _ in range(_TRIES):
            found = self._store.get(scope.tenant, name)
            if found is None:
                self._store.purge(scope.tenant, name)
                return
            try:
                self._replaced(scope, name, (), found[1])
            except VersionMismatch:
                continue
            return
        raise Conflict("an object changes all the time")

    def _replaced(self, scope: Scope, name: str, kept: Sequence[str], tag: str) -> PackedSegment:
        """One without a line is emptied before it goes: so it is there to be found until nothing of before is kept."""
        data = pack_segment(kept)
        self._store.put_if_match(scope.tenant, name, data, tag)
        self._store.purge(scope.tenant, name)
        if not kept:
            self._store.delete(scope.tenant, name)
            self._store.purge(scope.tenant, name)
        return PackedSegment(len(kept), data, raw_bytes(kept))


def _read(text: str) -> RecordLine | None:
    try:
        return read_line(text)
    except StoredDataError:
        return None


def _superseded(text: str, event: Event) -> str:
    """The line; where it is the event's, with what supersedes that now."""
    line = _read(text)
    if line is None or line.event.id != event.id:
        return text
    told = replace(line.event, superseded_by=event.superseded_by, superseded_at=event.superseded_at)
    return line_text(replace(line, event=told))


def _names(text: str, event_ids: AbstractSet[str]) -> bool:
    """Whether it is the line of one of these; a line that cannot be read is, since it may be."""
    line = _read(text)
    return line is None or line.event.id in event_ids


_FOLDER, _MANIFEST = "timeline/", "/manifest.json"


class ReadSegments:
    """The segments that are written; the open one is in the table alone."""

    def __init__(self, store: SnapshotStore, archive: SegmentArchive) -> None:
        self._store = store
        self._archive = archive

    def __call__(self, scope: Scope) -> Iterator[RecordLine]:
        """Every record of the user's archive, segment by segment."""
        for entry in self.manifest(scope).segments:
            yield from self.segment(scope, entry.id)

    def manifest(self, scope: Scope) -> SegmentManifest:
        """The user's manifest; an empty one where there is none. Raises StoredDataError."""
        found = self._store.get(scope.tenant, manifest_name(scope.user_id))
        return manifest_in(found[0]) if found else SegmentManifest(scope.user_id)

    def segment(self, scope: Scope, segment: str) -> list[RecordLine]:
        """What is whole of a segment."""
        return self._archive.read(scope, segment_name(scope.user_id, segment))

    def manifests(self, tenant: str, after: str | None) -> Iterator[tuple[str, SegmentManifest]]:
        """The manifests of the tenant's users with their names, from after that one on; broken ones are left out."""
        for name in self._store.names(tenant, _FOLDER):
            found = self._store.get(tenant, name) if name.endswith(_MANIFEST) and name > (after or "") else None
            if found is not None:
                try:
                    yield name, manifest_in(found[0])
                except StoredDataError:
                    continue


_AT_ONCE = 22  # of 25 writes: the counter and a full roll go with them
_ONE_BY_ONE = 4  # more than these are written in one step: twice the units, but one call
_COUNTER_TRIES = 30


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
        for _ in range(_COUNTER_TRIES):
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
