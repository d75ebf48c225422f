"""The use cases of the archive: segments, snapshots, exports. A part of `App`."""

from __future__ import annotations

import logging
from contextlib import suppress
from datetime import UTC, datetime
from functools import cached_property, partial
from time import sleep
from typing import TYPE_CHECKING
from uuid import NAMESPACE_URL, uuid5

from recollect.core.errors import NotFound, NotReady, RecollectError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recollect.app import Parts
    from recollect.archive.compact import Compaction, CompactSegments, EmptyArchivedSlots, RewriteSegments
    from recollect.archive.segment_archive import ReadSegments, SegmentArchive
    from recollect.archive.snapshot_store import DiffSnapshots, Snapshots
    from recollect.archive.snapshots import RestoreSnapshot, TakeSnapshot
    from recollect.archive.transfer import ExportMemories, ImportMemories, RecordLines
    from recollect.core.event import EventRef
    from recollect.core.ids import IdSource
    from recollect.core.scope import Scope
    from recollect.deletion.forget_events import ForgetEvents
    from recollect.deletion.suppression import ValueGate
    from recollect.settings import Settings
    from recollect.timeline.listing import KnownUsers

_LOG = logging.getLogger(__name__)
_REST_SECONDS = 0.005


class ArchiveUseCases:
    """Mixed into `App`; those that need a place for objects raise NotReady where a deployment has none."""

    parts: Parts
    ids: IdSource
    settings: Settings

    if TYPE_CHECKING:

        @cached_property
        def known_users(self) -> KnownUsers: ...
        @cached_property
        def value_gate(self) -> ValueGate: ...
        @cached_property
        def forget(self) -> ForgetEvents: ...
        def _announce(self, scope: Scope, refs: Sequence[EventRef]) -> None: ...
        def forget_indexed(self, scope: Scope, refs: Sequence[EventRef]) -> None: ...

    @cached_property
    def record_lines(self) -> RecordLines:
        """Records with all that belongs to them."""
        from recollect.archive.transfer import RecordLines

        return RecordLines(self.parts.timeline, self.parts.items)

    @cached_property
    def segment_archive(self) -> SegmentArchive:
        """Segments as objects."""
        from recollect.archive.segment_archive import SegmentArchive

        return SegmentArchive(self.parts.snapshots, self._broken)

    @cached_property
    def read_segments(self) -> ReadSegments:
        """The archive of a timeline, read back."""
        from recollect.archive.segment_archive import ReadSegments

        return ReadSegments(self.parts.snapshots, self.segment_archive)

    @cached_property
    def compact_segments(self) -> CompactSegments:
        """Closed segments become objects."""
        from recollect.archive.compact import CompactSegments, no_rest

        parts = self.parts
        rest = partial(sleep, _REST_SECONDS) if self.settings.engines == "local" else no_rest
        return CompactSegments(
            parts.timeline, parts.items, parts.snapshots, self.segment_archive, self.record_lines, rest
        )

    def compact_due(self, now: datetime, remaining_seconds: Callable[[], float]) -> Compaction | None:
        """Everybody's closed segments, beside the jobs; None where there is no place for them."""
        try:
            compact = self.compact_segments
        except NotReady:
            return None
        return compact.run(now, remaining_seconds)

    @cached_property
    def rewrite_segments(self) -> RewriteSegments:
        """What a deletion and an erasure do to the archive."""
        from recollect.archive.compact import RewriteSegments

        return RewriteSegments(self.parts.items, self.parts.snapshots, self.segment_archive, self.snapshots)

    @cached_property
    def empty_archived_slots(self) -> EmptyArchivedSlots:
        """What a deleted value leaves in the archive: a slot that stays empty."""
        from recollect.archive.compact import EmptyArchivedSlots

        parts = self.parts
        return EmptyArchivedSlots(parts.timeline, parts.items, parts.snapshots, self.segment_archive, self.snapshots)

    def forget_archived(self, scope: Scope, refs: Sequence[EventRef], now: datetime) -> None:
        """The part of `project` that takes what is gone out of the archive, where there is one."""
        try:
            rewrite = self.rewrite_segments
        except NotReady:
            return
        self.empty_archived_slots(scope, refs, now)
        rewrite(scope, refs, now)
        self.forget_indexed(scope, refs)

    @cached_property
    def snapshots(self) -> Snapshots:
        """`GET /v1/snapshots`."""
        from recollect.archive.snapshot_store import Snapshots

        return Snapshots(self.parts.snapshots, self.segment_archive)

    @cached_property
    def take_snapshot(self) -> TakeSnapshot:
        """The job `snapshot`."""
        from recollect.archive.snapshots import TakeSnapshot

        parts = self.parts
        return TakeSnapshot(
            parts.timeline,
            parts.projections,
            self.snapshots,
            self.known_users,
            self.record_lines,
            self.rewrite_segments,
        )

    @cached_property
    def restore_snapshot(self) -> RestoreSnapshot:
        """The job `restore`."""
        from recollect.archive.snapshots import RestoreSnapshot

        return RestoreSnapshot(self.snapshots, self.read_segments, self.import_memories, self.parts.projections)

    @cached_property
    def diff_snapshots(self) -> DiffSnapshots:
        """What changed from one snapshot to another."""
        from recollect.archive.snapshot_store import DiffSnapshots

        return DiffSnapshots(self.snapshots)

    @cached_property
    def export_memories(self) -> ExportMemories:
        """`GET /v1/users/{user_id}/export`."""
        from recollect.archive.transfer import ExportMemories

        return ExportMemories(self.parts.timeline, self.record_lines)

    @cached_property
    def import_memories(self) -> ImportMemories:
        """`POST /v1/users/{user_id}/import`, and what a restore does."""
        from recollect.archive.transfer import ImportMemories
        from recollect.deletion.suppression import ErasedBefore

        parts = self.parts
        return ImportMemories(
            parts.timeline,
            parts.projections,
            parts.items,
            self.ids,
            self._announce,
            self._forget_copy,
            self.value_gate,
            ErasedBefore(parts.items),
        )

    def _forget_copy(self, scope: Scope, ref: EventRef, now: datetime) -> None:
        with suppress(NotFound):
            self.forget.record(scope, ref.id, now=now)

    def _broken(self, scope: Scope, name: str, faults: int) -> None:
        """An object of the archive is not whole: told in the log and on the bus; the rest of it is served (A-55)."""
        from recollect.timeline.bus import episodic_warning

        _LOG.warning("archive broken", extra={"tenant": scope.tenant, "object": name, "faults": faults})
        warning_id = str(uuid5(NAMESPACE_URL, f"recollect:broken:{scope.tenant}:{name}:{faults}"))
        reason = f"{faults} places of an archived object cannot be read; the rest is served"
        with suppress(RecollectError):
            event = episodic_warning(warning_id, "warning", reason, name, datetime.now(UTC))
            self.parts.publisher.publish(scope.tenant, [event])
