"""Takes deleted records out of the archive: segments of the timeline, and every snapshot (A-57, P-22).

A record's segment is told by its own item, its piece of a snapshot by its instant: so one deletion costs the same
calls in a small store and in a large one. Called after the records themselves are gone; again is no harm.
"""

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from recollect.application.compact_segments import change_manifest
from recollect.application.segment_archive import PackedSegment, SegmentArchive
from recollect.application.snapshot_store import Snapshots
from recollect.domain.errors import VersionMismatch
from recollect.domain.event import EventRef
from recollect.domain.items import ItemWrite
from recollect.domain.scope import Scope
from recollect.domain.segments import (
    SegmentManifest,
    entry_of,
    manifest_name,
    place_key,
    segment_id,
    segment_name,
    timeline_folder,
)
from recollect.domain.snapshot import data_folder, piece_name, vectors_name
from recollect.ports import Items, SnapshotStore

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
