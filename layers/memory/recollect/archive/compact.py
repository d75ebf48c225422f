"""Compacts: closed segments of the timeline become compressed objects, beside all reads and writes (A-53, A-54).

Nothing is locked. What is deleted while its segment is written is found by reading again afterwards: either the
deletion finds the object, or this finds the deletion.

Takes deleted records out of the archive: segments of the timeline, and every snapshot (A-57, P-22).

A record's segment is told by its own item, its piece of a snapshot by its instant: so one deletion costs the same
calls in a small store and in a large one. Called after the records themselves are gone; again is no harm.

A slot's value was deleted: the archive's line of the value before it says that something newer superseded it (P-22).

An object of the archive holds a record as it was when it was written. There the older value may still be the current
one; without the newer, which is gone or was never archived, a restore elsewhere would bring it back by itself.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import TypeVar

from recollect.archive.record_line import RecordLine
from recollect.archive.segment_archive import PackedSegment, SegmentArchive, counter_write, place_counted
from recollect.archive.segments import (
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
    timeline_folder,
)
from recollect.archive.snapshot import Snapshots, data_folder, piece_name, vectors_name
from recollect.archive.transfer import RecordLines
from recollect.core.errors import Conflict, RecollectError, VersionMismatch
from recollect.core.event import Event, EventRef
from recollect.core.items import MOST_WRITES, ItemPath, ItemWrite
from recollect.core.scope import Scope
from recollect.deletion.tombstones import emptied_key, emptied_slot
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


_WRITES_AT_ONCE = 25


@dataclass(slots=True)
class RewriteReport:
    """How many objects were rewritten, or taken away."""

    segments: int = 0
    pieces: int = 0


class RewriteSegments:
    """What a deletion, retention and an erasure do to the archive."""

    def __init__(self, items: Items, store: SnapshotStore, archive: SegmentArchive, snapshots: Snapshots) -> None:
        self._items = items
        self._store = store
        self._archive = archive
        self._snapshots = snapshots

    def __call__(self, scope: Scope, refs: Sequence[EventRef], now: datetime) -> RewriteReport:
        """Rewrites what may hold these records, and purges what was before. Raises Unavailable, Conflict."""
        report = RewriteReport()
        self._from_segments(scope, refs, now, report)
        for snapshot in self._snapshots.begun(scope.tenant):
            self._from_snapshot(scope, snapshot, refs, report)
        return report

    def erase(self, scope: Scope) -> RewriteReport:
        """Everything of the user's, from the timeline's archive and from every snapshot."""
        report = RewriteReport()
        manifest = manifest_name(scope.user_id)
        for name in list(self._store.names(scope.tenant, timeline_folder(scope.user_id))):
            self._archive.erase(scope, name)
            report.segments += name != manifest
        for snapshot in self._snapshots.begun(scope.tenant):
            for name in list(self._store.names(scope.tenant, data_folder(snapshot, scope.user_id))):
                self._archive.erase(scope, name)
                report.pieces += name.endswith(".segment")
        return report

    def left(self, scope: Scope, keeps: Callable[[str], bool]) -> int:
        """How many records of the user's are there that an erasure does not keep."""
        folders = [timeline_folder(scope.user_id)]
        folders += [data_folder(snapshot, scope.user_id) for snapshot in self._snapshots.begun(scope.tenant)]
        names = [name for folder in folders for name in self._store.names(scope.tenant, folder)]
        segments = [self._archive.read(scope, name) for name in names if name.endswith(".segment")]
        return sum(not keeps(line.event.id) for lines in segments for line in lines)

    def _from_segments(self, scope: Scope, refs: Sequence[EventRef], now: datetime, report: RewriteReport) -> None:
        found = self._items.get(scope.user, [place_key(ref.id) for ref in refs])
        ids = {key.key for key in found}
        for number in sorted({int(item.value["n"]) for item in found.values()}):
            segment = segment_id(number)
            packed = self._archive.remove(scope, segment_name(scope.user_id, segment), ids)
            if packed is not None:
                change_manifest(self._store, scope, partial(_changed, segment=segment, packed=packed))
                report.segments += 1
        writes = [ItemWrite(key, None) for key in found]
        for start in range(0, len(writes), _WRITES_AT_ONCE):
            self._items.write(scope.user, writes[start : start + _WRITES_AT_ONCE], now)

    def _from_snapshot(self, scope: Scope, snapshot: str, refs: Sequence[EventRef], report: RewriteReport) -> None:
        user, _ = self._snapshots.user(scope, snapshot)
        for number, piece in enumerate(user.pieces):
            ids = {ref.id for ref in refs if piece.covers(ref)}
            if ids:
                packed = self._archive.remove(scope, piece_name(snapshot, scope.user_id, number), ids)
                self._without_vectors(scope, vectors_name(snapshot, scope.user_id, number), ids)
                report.pieces += packed is not None

    def _without_vectors(self, scope: Scope, name: str, ids: AbstractSet[str]) -> None:
        """A vector tells of its text."""
        while True:
            found = self._store.get(scope.tenant, name)
            if found is None:
                return
            kept = [line for line in found[0].splitlines(keepends=True) if not any(i.encode() in line for i in ids)]
            try:
                self._store.put_if_match(scope.tenant, name, b"".join(kept), found[1])
            except VersionMismatch:
                continue
            self._store.purge(scope.tenant, name)
            return


def _changed(manifest: SegmentManifest, segment: str, packed: PackedSegment) -> SegmentManifest:
    if not packed.lines:
        return manifest.without(segment)
    return manifest.with_entry(entry_of(segment, packed.lines, packed.data, packed.raw_bytes))


_MOST_VALUES = 100
"""Older values that are looked for in an archive which has none of the newer ones."""


class EmptyArchivedSlots:
    """Called before what is gone is taken out of the archive; again is no harm."""

    def __init__(
        self, timeline: Timeline, items: Items, store: SnapshotStore, archive: SegmentArchive, snapshots: Snapshots
    ) -> None:
        self._timeline = timeline
        self._items = items
        self._store = store
        self._archive = archive
        self._snapshots = snapshots

    def __call__(self, scope: Scope, refs: Sequence[EventRef], now: datetime) -> None:
        """Of what is gone that which was a slot's value. Raises Unavailable, Conflict; then it is done again."""
        emptied = self._items.get(scope.user, [emptied_key(ref.id) for ref in refs])
        for key, item in emptied.items():
            older = self._older(scope, emptied_slot(item.value), key.key)
            if older:
                self._in_segments(scope, older)
                for snapshot in self._snapshots.begun(scope.tenant):
                    self._in_snapshot(scope, snapshot, older)
        done = [ItemWrite(key, None) for key in emptied]
        for start in range(0, len(done), MOST_WRITES):
            self._items.write(scope.user, done[start : start + MOST_WRITES], now)

    def _older(self, scope: Scope, slot: tuple[str, str, str], gone_id: str) -> list[Event]:
        """The values before the one that is gone, as they are now, the newest first."""
        history = sorted(self._timeline.slot_history(scope, slot), key=lambda entry: entry.order, reverse=True)
        place = next((n for n, entry in enumerate(history) if entry.ref.id == gone_id), len(history))
        refs = [entry.ref for entry in history[place + 1 :] if entry.emptied is None][:_MOST_VALUES]
        there = self._timeline.read(scope, refs) if refs else {}
        found = (there[ref.id] for ref in refs if ref.id in there)
        return [event for event in found if event.superseded_by is not None]

    def _in_segments(self, scope: Scope, older: Sequence[Event]) -> None:
        """The newest of them that is in a segment; one of a segment that is yet to be written says it by itself."""
        places = self._items.get(scope.user, [place_key(event.id) for event in older])
        for event in older:
            item = places.get(place_key(event.id))
            if item is not None and self._in_segment(scope, segment_id(int(item.value["n"])), event):
                return

    def _in_segment(self, scope: Scope, segment: str, event: Event) -> bool:
        there, packed = self._archive.supersede(scope, segment_name(scope.user_id, segment), event)
        if packed is not None:
            entry = entry_of(segment, packed.lines, packed.data, packed.raw_bytes)
            change_manifest(self._store, scope, partial(SegmentManifest.with_entry, entry=entry))
        return there

    def _in_snapshot(self, scope: Scope, snapshot: str, older: Sequence[Event]) -> None:
        """The newest of them that is in the snapshot."""
        user, _ = self._snapshots.user(scope, snapshot)
        for event in older:
            for number, piece in enumerate(user.pieces):
                name = piece_name(snapshot, scope.user_id, number)
                if piece.covers(event.ref) and self._archive.supersede(scope, name, event)[0]:
                    return
