"""The archive of timelines as objects: segments, compaction, snapshots, export, and deletions in them."""

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, partial
from time import sleep
from uuid import NAMESPACE_URL, uuid5

from recollect.archive.compact import Compaction, CompactSegments, EmptyArchivedSlots, RewriteSegments, no_rest
from recollect.archive.segment_archive import ReadSegments, SegmentArchive
from recollect.archive.segment_places import AssignSegments, SegmentPlaces
from recollect.archive.snapshot import DiffSnapshots, Snapshots
from recollect.archive.transfer import ExportMemories, RecordLines
from recollect.composition.deployment import UseCases
from recollect.composition.search_index import SearchIndexUseCases
from recollect.core.errors import NotReady, RecollectError
from recollect.core.event import EventRef
from recollect.core.scope import Scope
from recollect.core.time import utc_now
from recollect.timeline.bus import episodic_warning

_LOG = logging.getLogger(__name__)
_REST_SECONDS = 0.005


@dataclass(eq=False)
class SegmentUseCases(UseCases):
    """`app.segments`."""

    _search_index: SearchIndexUseCases

    @cached_property
    def assignment(self) -> AssignSegments:
        """The projection step that assigns each event its segment."""
        return AssignSegments(self._parts.items, self._parts.timeline, self._parts.projections)

    @cached_property
    def places(self) -> SegmentPlaces:
        return SegmentPlaces(self._parts.items, self._parts.projections)

    @cached_property
    def record_lines(self) -> RecordLines:
        return RecordLines(self._parts.timeline, self._parts.items)

    @cached_property
    def archive(self) -> SegmentArchive:
        return SegmentArchive(self._parts.snapshots, self._warn_of_broken)

    @cached_property
    def contents(self) -> ReadSegments:
        return ReadSegments(self._parts.snapshots, self.archive)

    @cached_property
    def compaction(self) -> CompactSegments:
        parts = self._parts
        rest = partial(sleep, _REST_SECONDS) if self._deployment.settings.engines == "local" else no_rest
        stores = (parts.timeline, parts.items, parts.snapshots)
        return CompactSegments(*stores, self.archive, self.record_lines, self.assignment, self.places, rest)

    def compact_due(self, now: datetime, remaining_seconds: Callable[[], float]) -> Compaction | None:
        """Compacts all closed segments; None without a snapshot store."""
        try:
            compact = self.compaction
        except NotReady:
            return None
        return compact.run(now, remaining_seconds)

    @cached_property
    def rewriting(self) -> RewriteSegments:
        return RewriteSegments(self.places, self._parts.snapshots, self.archive, self.snapshots)

    @cached_property
    def archived_slots(self) -> EmptyArchivedSlots:
        """Keeps the archived slot of a deleted value empty."""
        parts = self._parts
        stores = (parts.timeline, parts.items, parts.snapshots)
        return EmptyArchivedSlots(*stores, self.archive, self.snapshots, self.places)

    @cached_property
    def snapshots(self) -> Snapshots:
        """`GET /v1/snapshots`."""
        return Snapshots(self._parts.snapshots, self.archive)

    @cached_property
    def differences(self) -> DiffSnapshots:
        return DiffSnapshots(self.snapshots)

    @cached_property
    def exports(self) -> ExportMemories:
        """`GET /v1/users/{user_id}/export`."""
        return ExportMemories(self._parts.timeline, self.record_lines)

    def forget(self, scope: Scope, refs: Sequence[EventRef], now: datetime) -> None:
        """The projection step that removes deleted events from the archive, where there is one."""
        try:
            rewrite = self.rewriting
        except NotReady:
            return
        self.archived_slots.empty(scope, refs, now)
        rewrite.rewrite(scope, refs, now)
        self._search_index.forget(scope, refs)

    def _warn_of_broken(self, scope: Scope, name: str, faults: int) -> None:
        """Logs and publishes that an archived object is damaged; reads serve the rest of it (A-55)."""
        _LOG.warning("archive broken", extra={"tenant": scope.tenant, "object": name, "faults": faults})
        warning_id = str(uuid5(NAMESPACE_URL, f"recollect:broken:{scope.tenant}:{name}:{faults}"))
        reason = f"{faults} places of an archived object cannot be read; the rest is served"
        with suppress(RecollectError):
            event = episodic_warning(warning_id, "warning", reason, name, utc_now())
            self._parts.publisher.publish(scope.tenant, [event])
