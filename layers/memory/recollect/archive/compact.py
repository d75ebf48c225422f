"""Segments of the archive are written, and rewritten where records are deleted (A-53, A-54, A-57, P-22).

Compaction holds no lock. A record that is deleted while its segment is written is found by reading again after the
write: either the deletion finds the object, or the compaction finds the deletion. A deletion finds a record's segment
beside its projection and its snapshot piece by its instant, so its cost does not grow with the store.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import TypeVar

from recollect.archive.record_line import RecordLine
from recollect.archive.segment_archive import SegmentArchive
from recollect.archive.segment_places import AssignSegments, SegmentPlaces
from recollect.archive.segments import (
    QUEUE,
    PackedSegment,
    SegmentManifest,
    manifest_bytes,
    manifest_in,
    manifest_name,
    ordered,
    segment_id,
    segment_name,
    timeline_folder,
)
from recollect.archive.snapshot import Snapshots, data_folder, piece_name, vectors_name
from recollect.archive.transfer import RecordLines
from recollect.core.errors import VersionMismatch
from recollect.core.event import Event, EventRef
from recollect.core.idempotency import retry_on_conflict
from recollect.core.items import ALL_PAGES, ItemPath, ItemWrite, in_parts, pages, write_all
from recollect.core.scope import Scope
from recollect.deletion.storage import emptied_key, emptied_slot
from recollect.ports import Items, SnapshotStore, Timeline

T = TypeVar("T")

_LOG = logging.getLogger(__name__)
_PAGE = 100
_AT_ONCE = 25
_MOST_VALUES = 100
"""Older values that are searched in an archive which has none of the newer ones."""


@dataclass(slots=True)
class Compaction:
    """The segments written, their events, bytes as stored and as plain NDJSON; users whose compaction failed."""

    segments: int = 0
    events: int = 0
    bytes: int = 0
    raw_bytes: int = 0
    failed: int = 0


def no_rest() -> None:
    """Yields to nobody: no writer shares the process."""


@dataclass(frozen=True, slots=True)
class CompactSegments:
    """The use case that archives a timeline; idempotent, and safe to run concurrently.

    `rest` is called after every few events: where writers share the process, it lets them go first.
    """

    _timeline: Timeline
    _items: Items
    _store: SnapshotStore
    _archive: SegmentArchive
    _lines: RecordLines
    _assigned: AssignSegments
    _places: SegmentPlaces
    _rest: Callable[[], None] = no_rest

    def run(self, now: datetime, remaining_seconds: Callable[[], float], reserve_seconds: float = 10.0) -> Compaction:
        """Compacts every user's closed segments, longest waiting first, while there is time."""
        total = Compaction()
        for page in pages(lambda after: self._items.due(QUEUE, now, _PAGE, after), ALL_PAGES):
            for due in page.items:
                if remaining_seconds() < reserve_seconds:
                    return total
                try:
                    self.compact(due.owner, now, total)
                except Exception as error:  # noqa: BLE001 - one user's failure, a defect too, stops no other: it stays due
                    total.failed += 1
                    _LOG.warning("a user's segments were not archived", extra={"error": type(error).__name__})
        return total

    def compact(self, scope: Scope, now: datetime, total: Compaction | None = None) -> Compaction:
        """Compacts one user's closed segments. Raises Unavailable; what was written stays written."""
        done = total or Compaction()
        while (counter := self._assigned.counting(scope).counter).waiting:
            number = counter.written + 1
            retry_on_conflict(partial(self._write, scope, number, now, done), "a segment")
            self._assigned.mark_written(scope, number, now)
        return done

    def close(self, scope: Scope, now: datetime) -> None:
        """Closes the open segment before it is full, such as before a rotation by age; an empty one stays open."""
        self._assigned.close(scope, now)

    def refs(self, scope: Scope, number: int) -> list[EventRef]:
        """The events of a segment, oldest first, without forgotten ones; of the open segment those of full rolls."""
        return ordered(self._rested(self._placed(scope, self._ids(scope, number))))

    def _ids(self, scope: Scope, number: int) -> list[str]:
        """The same by their ids, deleted ones too."""
        path = ItemPath("segment_rolls", (segment_id(number),))
        rolls = self._items.page(scope.user, path, _PAGE, None).items
        return [str(event_id) for roll in rolls for event_id in roll.value["ids"]]

    def _placed(self, scope: Scope, ids: Sequence[str]) -> Iterator[list[EventRef]]:
        for part in in_parts(ids, _AT_ONCE):
            yield [one.ref for one in self._places.of(scope, part).values()]

    def _write(self, scope: Scope, number: int, now: datetime, done: Compaction) -> None:
        segment, refs = segment_id(number), self.refs(scope, number)
        name = segment_name(scope.user_id, segment)
        lines = list(self._rested(self._existing(scope, refs, now)))
        if not lines:
            self._archive.remove(scope, name, set(self._ids(scope, number)))  # what an earlier try wrote
            return
        packed = self._archive.write(scope, name, self._rested([line] for line in lines))
        change_manifest(self._store, scope, partial(SegmentManifest.with_entry, entry=packed.entry(segment)))
        if self._any_deleted(scope, lines):
            raise VersionMismatch("a record was deleted while its segment was written")
        done.segments += 1
        done.events += packed.lines
        done.bytes += len(packed.data)
        done.raw_bytes += packed.raw_bytes

    def _existing(self, scope: Scope, refs: Sequence[EventRef], now: datetime) -> Iterator[list[RecordLine]]:
        for part in in_parts(refs, _AT_ONCE):
            there = self._timeline.read(scope, part)
            yield self._lines.read(scope, [there[ref.id] for ref in part if ref.id in there], now)

    def _any_deleted(self, scope: Scope, lines: Sequence[RecordLine]) -> bool:
        for part in in_parts([line.event.ref for line in lines], _AT_ONCE):
            if len(self._timeline.read(scope, part)) < len(part):
                return True
            self._rest()
        return False

    def _rested(self, parts: Iterable[Sequence[T]]) -> Iterator[T]:
        taken = 0
        for part in parts:
            yield from part
            taken += len(part)
            if taken >= _AT_ONCE:
                taken = 0
                self._rest()


def change_manifest(
    store: SnapshotStore, scope: Scope, change: Callable[[SegmentManifest], SegmentManifest]
) -> SegmentManifest:
    """Changes the user's manifest, whatever others write meanwhile. Raises Conflict, StoredDataError."""
    name = manifest_name(scope.user_id)

    def write() -> SegmentManifest:
        found = store.get(scope.tenant, name)
        manifest = change(manifest_in(found[0]) if found else SegmentManifest(scope.user_id))
        if found is None:
            store.put_if_absent(scope.tenant, name, manifest_bytes(manifest))
        else:
            store.put_if_match(scope.tenant, name, manifest_bytes(manifest), found[1])
        return manifest

    return retry_on_conflict(write, "a manifest")


@dataclass(slots=True)
class RewriteReport:
    """The number of objects that were rewritten or deleted."""

    segments: int = 0
    pieces: int = 0


class RewriteSegments:
    """Removes deleted records from segments and snapshots, for deletions, retention and erasures."""

    def __init__(
        self, places: SegmentPlaces, store: SnapshotStore, archive: SegmentArchive, snapshots: Snapshots
    ) -> None:
        self._places = places
        self._store = store
        self._archive = archive
        self._snapshots = snapshots

    def rewrite(self, scope: Scope, refs: Sequence[EventRef], now: datetime) -> RewriteReport:
        """Rewrites what may hold these records, and purges earlier versions. Raises Unavailable, Conflict."""
        report = RewriteReport()
        self._from_segments(scope, refs, now, report)
        for snapshot in self._snapshots.begun(scope.tenant):
            self._from_snapshot(scope, snapshot, refs, report)
        return report

    def erase(self, scope: Scope) -> RewriteReport:
        """Deletes everything of the user's, from the timeline's archive and from every snapshot."""
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
        """The number of the user's records that do not pass `keeps`."""
        folders = [timeline_folder(scope.user_id)]
        folders += [data_folder(snapshot, scope.user_id) for snapshot in self._snapshots.begun(scope.tenant)]
        names = [name for folder in folders for name in self._store.names(scope.tenant, folder)]
        segments = [self._archive.read(scope, name) for name in names if name.endswith(".segment")]
        return sum(not keeps(line.event.id) for lines in segments for line in lines)

    def _from_segments(self, scope: Scope, refs: Sequence[EventRef], now: datetime, report: RewriteReport) -> None:
        found = self._places.of(scope, [ref.id for ref in refs])
        for number in sorted({one.segment for one in found.values()}):
            segment = segment_id(number)
            packed = self._archive.remove(scope, segment_name(scope.user_id, segment), found.keys())
            if packed is not None:
                change_manifest(self._store, scope, partial(_changed, segment=segment, packed=packed))
                report.segments += 1
        self._places.forget_older(scope, [ref.id for ref in refs], now)

    def _from_snapshot(self, scope: Scope, snapshot: str, refs: Sequence[EventRef], report: RewriteReport) -> None:
        user, _ = self._snapshots.user(scope, snapshot)
        for number, piece in enumerate(user.pieces):
            ids = {ref.id for ref in refs if piece.covers(ref)}
            if ids:
                packed = self._archive.remove(scope, piece_name(snapshot, scope.user_id, number), ids)
                self._without_vectors(scope, vectors_name(snapshot, scope.user_id, number), ids)
                report.pieces += packed is not None

    def _without_vectors(self, scope: Scope, name: str, ids: AbstractSet[str]) -> None:
        """A vector reveals its text."""
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
    return manifest.with_entry(packed.entry(segment))


@dataclass(frozen=True, slots=True)
class EmptyArchivedSlots:
    """Marks archived values of an emptied slot as superseded, before the deleted newest value leaves the archive
    (P-22).

    In an archived object the older value may still be the current one; once the newer one is deleted, a restore
    elsewhere would make it current again. Idempotent.
    """

    _timeline: Timeline
    _items: Items
    _store: SnapshotStore
    _archive: SegmentArchive
    _snapshots: Snapshots
    _places: SegmentPlaces

    def empty(self, scope: Scope, refs: Sequence[EventRef], now: datetime) -> None:
        """Handles those of the deleted records that were a slot's current value. Raises Unavailable, Conflict."""
        emptied = self._items.get(scope.user, [emptied_key(ref.id) for ref in refs])
        for key, item in emptied.items():
            older = self._older(scope, emptied_slot(item.value), key.key)
            if older:
                self._in_segments(scope, older)
                for snapshot in self._snapshots.begun(scope.tenant):
                    self._in_snapshot(scope, snapshot, older)
        write_all(self._items.write, scope.user, [ItemWrite(key, None) for key in emptied], now)

    def _older(self, scope: Scope, slot: tuple[str, str, str], gone_id: str) -> list[Event]:
        """The values before the deleted one, newest first."""
        history = sorted(self._timeline.slot_history(scope, slot), key=lambda entry: entry.order, reverse=True)
        place = next((n for n, entry in enumerate(history) if entry.ref.id == gone_id), len(history))
        refs = [entry.ref for entry in history[place + 1 :] if entry.emptied is None][:_MOST_VALUES]
        there = self._timeline.read(scope, refs) if refs else {}
        found = (there[ref.id] for ref in refs if ref.id in there)
        return [event for event in found if event.superseded_by is not None]

    def _in_segments(self, scope: Scope, older: Sequence[Event]) -> None:
        """The newest that a segment holds; a segment written later has it superseded already."""
        places = self._places.of(scope, [event.id for event in older])
        for event in older:
            if event.id in places and self._in_segment(scope, segment_id(places[event.id].segment), event):
                return

    def _in_segment(self, scope: Scope, segment: str, event: Event) -> bool:
        there, packed = self._archive.supersede(scope, segment_name(scope.user_id, segment), event)
        if packed is not None:
            change_manifest(self._store, scope, partial(SegmentManifest.with_entry, entry=packed.entry(segment)))
        return there

    def _in_snapshot(self, scope: Scope, snapshot: str, older: Sequence[Event]) -> None:
        user, _ = self._snapshots.user(scope, snapshot)
        for event in older:
            for number, piece in enumerate(user.pieces):
                name = piece_name(snapshot, scope.user_id, number)
                if piece.covers(event.ref) and self._archive.supersede(scope, name, event)[0]:
                    return
