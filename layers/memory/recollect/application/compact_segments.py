"""Compacts: closed segments of the timeline become compressed objects, beside all reads and writes (A-53, A-54).

Nothing is locked. What is deleted while its segment is written is found by reading again afterwards: either the
deletion finds the object, or this finds the deletion.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import TypeVar

from recollect.application.assign_segments import counter_write, place_counted
from recollect.application.record_lines import RecordLines
from recollect.application.segment_archive import SegmentArchive
from recollect.domain.errors import Conflict, RecollectError, VersionMismatch
from recollect.domain.event import EventRef
from recollect.domain.items import ItemPath, ItemWrite
from recollect.domain.record_line import RecordLine
from recollect.domain.scope import Scope
from recollect.domain.segments import (
    COUNTER,
    QUEUE,
    SegmentCounter,
    SegmentManifest,
    counter_in,
    entry_of,
    manifest_bytes,
    manifest_in,
    manifest_name,
    ordered,
    place_key,
    ref_in,
    roll_key,
    segment_id,
    segment_name,
)
from recollect.ports import Items, SnapshotStore, Timeline

T = TypeVar("T")

_TRIES = 8
_PAGE = 100
_AT_ONCE = 25


@dataclass(slots=True)
class Compaction:
    """What was written: segments, their events, bytes as stored and as plain NDJSON; users whose turn failed."""

    segments: int = 0
    events: int = 0
    bytes: int = 0
    raw_bytes: int = 0
    failed: int = 0


def no_rest() -> None:
    """Nobody shares the process."""


class CompactSegments:
    """The use case behind the archive of a timeline; safe to run twice, and beside itself.

    `rest` is called after every few events: where writers share the process, it lets them go first.
    """

    def __init__(
        self,
        timeline: Timeline,
        items: Items,
        store: SnapshotStore,
        archive: SegmentArchive,
        lines: RecordLines,
        rest: Callable[[], None] = no_rest,
    ) -> None:
        self._timeline = timeline
        self._items = items
        self._store = store
        self._archive = archive
        self._lines = lines
        self._rest = rest

    def run(self, now: datetime, remaining_seconds: Callable[[], float], reserve_seconds: float = 10.0) -> Compaction:
        """Everybody's closed segments, the longest waiting first, while there is time."""
        total = Compaction()
        after: str | None = None
        while True:
            page = self._items.due(QUEUE, now, _PAGE, after)
            for due in page.items:
                if remaining_seconds() < reserve_seconds:
                    return total
                try:
                    self(due.owner, now, total)
                except RecollectError:
                    total.failed += 1  # it stays due
            after = page.more
            if after is None:
                return total

    def __call__(self, scope: Scope, now: datetime, total: Compaction | None = None) -> Compaction:
        """One user's closed segments, each once. Raises Unavailable; what was written stays written."""
        done = total or Compaction()
        while (counter := self._counter(scope)).waiting:
            self._write(scope, counter.written + 1, now, done)
            self._written(scope, counter.written + 1, now)
        return done

    def close(self, scope: Scope, now: datetime) -> None:
        """Closes the open segment before it is full, such as before a rotation by age; one without events stays."""
        for _ in range(_TRIES):
            item = self._items.get(scope.user, [COUNTER]).get(COUNTER)
            counter = counter_in(item.value) if item else SegmentCounter()
            if not counter.count:
                return
            place_counted(self._items, self._timeline, scope, counter, now)
            writes = [counter_write(item, counter.closed(), now)]
            if counter.ids:
                writes.append(ItemWrite(roll_key(counter.number, counter.roll), {"ids": list(counter.ids)}))
            try:
                self._items.write(scope.user, writes, now)
            except VersionMismatch:
                continue
            return
        raise Conflict("the segments of a user change all the time")

    def refs(self, scope: Scope, number: int) -> list[EventRef]:
        """The events of a segment, oldest first, those that are gone too; of the open one those of full rolls."""
        path = ItemPath("segment_rolls", (segment_id(number),))
        rolls = self._items.page(scope.user, path, _PAGE, None).items
        ids = [str(event_id) for roll in rolls for event_id in roll.value["ids"]]
        return ordered(self._rested(self._places(scope, ids)))

    def _places(self, scope: Scope, ids: Sequence[str]) -> Iterator[list[EventRef]]:
        for start in range(0, len(ids), _AT_ONCE):
            part = [place_key(event_id) for event_id in ids[start : start + _AT_ONCE]]
            yield [ref_in(key.key, item.value) for key, item in self._items.get(scope.user, part).items()]

    def _counter(self, scope: Scope) -> SegmentCounter:
        item = self._items.get(scope.user, [COUNTER]).get(COUNTER)
        return counter_in(item.value) if item else SegmentCounter()

    def _write(self, scope: Scope, number: int, now: datetime, done: Compaction) -> None:
        segment, refs = segment_id(number), self.refs(scope, number)
        name = segment_name(scope.user_id, segment)
        for _ in range(_TRIES):
            lines = list(self._rested(self._there(scope, refs, now)))
            if not lines:
                self._archive.remove(scope, name, {ref.id for ref in refs})
                return
            try:
                packed = self._archive.write(scope, name, self._rested([line] for line in lines))
            except VersionMismatch:
                continue
            entry = entry_of(segment, packed.lines, packed.data, packed.raw_bytes)
            change_manifest(self._store, scope, partial(SegmentManifest.with_entry, entry=entry))
            if self._gone(scope, lines):
                continue
            done.segments += 1
            done.events += packed.lines
            done.bytes += len(packed.data)
            done.raw_bytes += packed.raw_bytes
            return
        raise Conflict("a segment changes all the time")

    def _there(self, scope: Scope, refs: Sequence[EventRef], now: datetime) -> Iterator[list[RecordLine]]:
        for start in range(0, len(refs), _AT_ONCE):
            part = refs[start : start + _AT_ONCE]
            there = self._timeline.read(scope, part)
            yield self._lines(scope, [there[ref.id] for ref in part if ref.id in there], now)

    def _gone(self, scope: Scope, lines: Sequence[RecordLine]) -> bool:
        """Whether any of them was deleted meanwhile."""
        refs = [line.event.ref for line in lines]
        for start in range(0, len(refs), _AT_ONCE):
            part = refs[start : start + _AT_ONCE]
            if len(self._timeline.read(scope, part)) < len(part):
                return True
            self._rest()
        return False

    def _rested(self, parts: Iterable[Sequence[T]]) -> Iterator[T]:
        """What the parts hold, with a rest after every few of it."""
        taken = 0
        for part in parts:
            yield from part
            taken += len(part)
            if taken >= _AT_ONCE:
                taken = 0
                self._rest()

    def _written(self, scope: Scope, number: int, now: datetime) -> None:
        for _ in range(_TRIES):
            item = self._items.get(scope.user, [COUNTER]).get(COUNTER)
            if item is None or counter_in(item.value).written >= number:
                return
            try:
                self._items.write(
                    scope.user, [counter_write(item, replace(counter_in(item.value), written=number), now)], now
                )
            except VersionMismatch:
                continue
            return
        raise Conflict("the segments of a user change all the time")


def change_manifest(
    store: SnapshotStore, scope: Scope, change: Callable[[SegmentManifest], SegmentManifest]
) -> SegmentManifest:
    """Changes the user's manifest, whoever else does; one without segments goes. Raises Conflict, StoredDataError."""
    name = manifest_name(scope.user_id)
    for _ in range(_TRIES):
        found = store.get(scope.tenant, name)
        manifest = change(manifest_in(found[0]) if found else SegmentManifest(scope.user_id))
        try:
            if found is None:
                store.put_if_absent(scope.tenant, name, manifest_bytes(manifest))
            else:
                store.put_if_match(scope.tenant, name, manifest_bytes(manifest), found[1])
        except VersionMismatch:
            continue
        return manifest
    raise Conflict("a manifest changes all the time")
