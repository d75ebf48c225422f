"""Segments in the store: their objects written and read back, and each event assigned to its segment (A-52 to A-59).

Objects are written whole, replaced only on the version that was read, and listed in a manifest; a lost race raises
VersionMismatch. Readers get the lines that are intact; a warning reports the rest (A-55).

`AssignSegments` is a step of the projection, which may run twice, late and concurrently. It counts an event by its id
in the counter, on the counter's version, and then writes the event's place: two writes cost half of one transaction
of both. An id leaves the counter for a roll only when it has its place, so an event that has no place and is not in
the counter was never counted.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TypeAlias

from recollect.archive.record_line import RecordLine, line_text, read_line
from recollect.archive.segments import (
    COUNTER,
    QUEUE,
    PackedSegment,
    SegmentCounter,
    SegmentManifest,
    counter_in,
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
from recollect.core.errors import StoredDataError, VersionMismatch
from recollect.core.event import Event
from recollect.core.idempotency import retry_on_conflict
from recollect.core.items import ABSENT, Due, Item, ItemWrite, document_of, in_parts
from recollect.core.scope import Scope
from recollect.ports import Items, SnapshotStore, Timeline
from recollect.timeline.bus import SegmentPlace

WarnOf: TypeAlias = Callable[[Scope, str, int], None]
"""Reports a damaged object of a user: its name, and the number of faults in it."""

_FOLDER, _MANIFEST = "timeline/", "/manifest.json"
_AT_ONCE = 22  # of 25 writes: the counter and a full roll go with them
_ONE_BY_ONE = 4  # more than these are one transaction: twice the units, but one call
_COUNTER_TRIES = 30


class SegmentArchive:
    """Segment objects of one deployment's store."""

    def __init__(self, store: SnapshotStore, warn: WarnOf) -> None:
        self._store = store
        self._warn = warn

    def write(self, scope: Scope, name: str, lines: Iterable[RecordLine]) -> PackedSegment:
        """Writes the object, or replaces what an earlier try left. Raises VersionMismatch."""
        texts = [line_text(line) for line in lines]
        data = pack_segment(texts)
        self.put(scope, name, data)
        return PackedSegment(len(texts), data, raw_bytes(texts))

    def put(self, scope: Scope, name: str, data: bytes) -> None:
        """Writes an object, over what an earlier try left. Raises VersionMismatch."""
        found = self._store.get(scope.tenant, name)
        if found is None:
            self._store.put_if_absent(scope.tenant, name, data)
        elif found[0] != data:
            self._store.put_if_match(scope.tenant, name, data, found[1])

    def read(self, scope: Scope, name: str) -> list[RecordLine]:
        """The intact lines, in order; none where the object does not exist. Faults are reported."""
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
        """Rewrites the object without these records and purges earlier versions; None where it has none of them.

        Broken lines are removed too, since they may be theirs. An object that loses all lines is deleted. Raises
        Conflict.
        """

        def remove() -> PackedSegment | None:
            found = self._store.get(scope.tenant, name)
            content = unpack_segment(found[0] if found else b"")
            kept = [text for text in content.lines if not _names(text, event_ids)]
            if found is None or (kept and len(kept) == len(content.lines) and not content.faults):
                self._store.purge(scope.tenant, name)  # an earlier try may have ended before its purge
                return None
            return self._replaced(scope, name, kept, found[1])

        return retry_on_conflict(remove, "a segment")

    def supersede(self, scope: Scope, name: str, event: Event) -> tuple[bool, PackedSegment | None]:
        """Copies the event's successor to the object's line of that event, where the line is still a slot's current
        value.

        Answers whether the object has the record, and the object where it was rewritten. Raises Conflict.
        """

        def supersede() -> tuple[bool, PackedSegment | None]:
            found = self._store.get(scope.tenant, name)
            lines = unpack_segment(found[0]).lines if found else ()
            own = next((line for line in map(_read, lines) if line and line.event.id == event.id), None)
            if found is None or own is None or own.event.superseded_by is not None:
                return own is not None, None
            return True, self._replaced(scope, name, [_superseded(text, event) for text in lines], found[1])

        return retry_on_conflict(supersede, "a segment")

    def erase(self, scope: Scope, name: str) -> None:
        """Deletes the object with all earlier versions; until that is done it is still listed. Raises Conflict."""

        def erase() -> None:
            found = self._store.get(scope.tenant, name)
            if found is None:
                self._store.purge(scope.tenant, name)
            else:
                self._replaced(scope, name, (), found[1])

        retry_on_conflict(erase, "an object of the archive")

    def _replaced(self, scope: Scope, name: str, kept: Sequence[str], tag: str) -> PackedSegment:
        """An object without lines is emptied first: it stays listed until no earlier version is left."""
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
    line = _read(text)
    if line is None or line.event.id != event.id:
        return text
    superseded = replace(line.event, superseded_by=event.superseded_by, superseded_at=event.superseded_at)
    return line_text(replace(line, event=superseded))


def _names(text: str, event_ids: AbstractSet[str]) -> bool:
    """Whether the line is one of these records'; an unreadable one counts, since it may be."""
    line = _read(text)
    return line is None or line.event.id in event_ids


class ReadSegments:
    """Reads written segments; the open one is in the table alone."""

    def __init__(self, store: SnapshotStore, archive: SegmentArchive) -> None:
        self._store = store
        self._archive = archive

    def read(self, scope: Scope) -> Iterator[RecordLine]:
        """Every record of the user's archive, segment by segment."""
        for entry in self.manifest(scope).segments:
            yield from self.segment(scope, entry.id)

    def manifest(self, scope: Scope) -> SegmentManifest:
        """The user's manifest; an empty one where there is none. Raises StoredDataError."""
        found = self._store.get(scope.tenant, manifest_name(scope.user_id))
        return manifest_in(found[0]) if found else SegmentManifest(scope.user_id)

    def segment(self, scope: Scope, segment: str) -> list[RecordLine]:
        """The intact lines of a segment."""
        return self._archive.read(scope, segment_name(scope.user_id, segment))

    def manifests(self, tenant: str, after: str | None) -> Iterator[tuple[str, SegmentManifest]]:
        """The manifests of the tenant's users with their names, after that name; broken ones are skipped."""
        for name in self._store.names(tenant, _FOLDER):
            found = self._store.get(tenant, name) if name.endswith(_MANIFEST) and name > (after or "") else None
            if found is not None:
                try:
                    yield name, manifest_in(found[0])
                except StoredDataError:
                    continue


class AssignSegments:
    """Writes one small item for each event, and one counter for each batch."""

    def __init__(self, items: Items, timeline: Timeline) -> None:
        self._items = items
        self._timeline = timeline

    def assign(self, scope: Scope, events: Sequence[Event], now: datetime) -> dict[str, SegmentPlace]:
        """The segment of each event, by its id. Raises Conflict."""
        places: dict[str, SegmentPlace] = {}
        distinct = list({event.id: event for event in events}.values())
        for part in in_parts(distinct, _AT_ONCE):
            assign = partial(self._assign, scope, part, now)
            places |= retry_on_conflict(assign, "the segment counter of a user", _COUNTER_TRIES)
        return places

    def known(self, scope: Scope, event_ids: Sequence[str]) -> dict[str, str]:
        found = self._items.get(scope.user, [place_key(event_id) for event_id in event_ids])
        return {key.key: segment_id(item.value["n"]) for key, item in found.items()}

    def count(self, scope: Scope) -> int:
        """The number of the user's segments, including the open one (A-61)."""
        item = self._items.get(scope.user, [COUNTER]).get(COUNTER)
        return counter_in(item.value).number if item else 0

    def _assign(self, scope: Scope, events: Sequence[Event], now: datetime) -> dict[str, SegmentPlace]:
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
        """`counts` are the counter and the full rolls; the ids of those are placed first."""
        if len(counts) > 1:
            place_counted(self._items, self._timeline, scope, before, now)
        if len(counts) > 1 or len(places) > _ONE_BY_ONE:
            self._items.write(scope.user, [*places, *counts], now)
            return
        self._items.write(scope.user, counts, now)
        self._each(scope, places, now)

    def _each(self, scope: Scope, places: Sequence[ItemWrite], now: datetime) -> None:
        for place in places:
            with suppress(VersionMismatch):  # another process wrote the same
                self._items.write(scope.user, [place], now)


def place_counted(items: Items, timeline: Timeline, scope: Scope, counter: SegmentCounter, now: datetime) -> None:
    """Writes the places of counted events whose writer ended in between; before their ids go into a roll.

    Safe at any time: while an id is in the counter its segment is known and final.
    """
    placed = items.get(scope.user, [place_key(event_id) for event_id in counter.ids]) if counter.ids else {}
    for event_id in (one for one in counter.ids if place_key(one) not in placed):
        event = timeline.find(scope.user, event_id)
        if event is None:
            continue  # a roll may list deleted events
        with suppress(VersionMismatch):  # another process wrote the same
            items.write(scope.user, [_place(event, counter.number)], now)
        if timeline.find(scope.user, event_id) is None:  # removed meanwhile, perhaps before it could be seen here
            items.write(scope.user, [ItemWrite(place_key(event_id), None)], now)


def counter_write(item: Item | None, counter: SegmentCounter, now: datetime) -> ItemWrite:
    """The counter's write; due while a closed segment waits, since the first one does."""
    since = item.due if item and item.due else Due(QUEUE, now)
    due = since if counter.waiting else None
    return ItemWrite(COUNTER, document_of(counter), item.version if item else ABSENT, due)


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
