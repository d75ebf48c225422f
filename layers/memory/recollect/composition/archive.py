"""Snapshots, restores, imports and retention."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from recollect.archive.item_transfer import ExportItems, ImportItems
from recollect.archive.log_transfer import ExportLogs, ImportLogs
from recollect.archive.retain import NoteExpiry, PruneEvents, Retain, ScheduleRetention
from recollect.archive.snapshots import RestoreSnapshot, TakeSnapshot
from recollect.archive.transfer import ImportMemories, TombstoneRefusal
from recollect.composition.deletion import DeletionUseCases
from recollect.composition.deployment import TimelineUseCases, UseCases
from recollect.composition.segments import SegmentUseCases
from recollect.core.event import Event
from recollect.core.scope import Scope
from recollect.items.use_cases import KeepItems
from recollect.rules.use_cases import TenantRuleStore
from recollect.session_log.lasting import LastingLogs
from recollect.session_log.store import LogStore
from recollect.summaries.run import NoteMessages
from recollect.timeline.bus import BusOutbox
from recollect.usage import MESSAGE


@dataclass(eq=False)
class ArchiveUseCases(UseCases):
    """`app.archive`."""

    _rules: TenantRuleStore
    _timeline: TimelineUseCases
    _segments: SegmentUseCases
    _deletion: DeletionUseCases
    _outbox: BusOutbox
    _items: Callable[[], KeepItems]

    @cached_property
    def take_snapshot(self) -> TakeSnapshot:
        """The job `snapshot`."""
        parts, segments = self._parts, self._segments
        users = self._timeline.known_users
        return TakeSnapshot(
            parts.timeline, parts.projections, segments.snapshots, users, segments.record_lines, segments.rewriting
        )

    @cached_property
    def restore(self) -> RestoreSnapshot:
        """The job `restore`."""
        segments = self._segments
        return RestoreSnapshot(segments.snapshots, segments.contents, self.imports, self._parts.projections)

    @cached_property
    def imports(self) -> ImportMemories:
        """`POST /v1/users/{user_id}/import`, and a restore."""
        parts, deletion = self._parts, self._deletion
        return ImportMemories(
            parts.timeline,
            parts.projections,
            parts.items,
            self._deployment.ids,
            self._deployment.announce,
            deletion.forget_quietly,
            deletion.suppression,
            TombstoneRefusal(parts.items),
            self._note_imported,
            self._deployment.usage.of(MESSAGE),
        )

    def _note_imported(self, scope: Scope, events: Sequence[Event], now: datetime) -> None:
        if events:
            rules = self._rules.resolved(scope.tenant).summary
            NoteMessages(self._parts.items, imported=True).note(scope, events, rules, now)

    @cached_property
    def item_exports(self) -> ExportItems:
        """The items of applications in an export."""
        return ExportItems(self._items().owned)

    @cached_property
    def item_imports(self) -> ImportItems:
        """The same in an import."""
        return ImportItems(self._parts.items, self._parts.namespaced_items, self._items().put)

    @cached_property
    def log_exports(self) -> ExportLogs:
        """The logs of conversations in an export."""
        return ExportLogs(self._lasting_logs)

    @cached_property
    def log_imports(self) -> ImportLogs:
        """The same in an import."""
        return ImportLogs(self._parts.items, self._lasting_logs, self._timeline.known_users.note)

    @property
    def _lasting_logs(self) -> LastingLogs:
        return LastingLogs(LogStore(self._parts.items, self._deployment.ids))

    @cached_property
    def retention(self) -> Retain:
        """The job `retain`."""
        parts, deletion = self._parts, self._deletion
        prune = PruneEvents(parts.items, deletion.events, self._outbox, lambda: parts.snapshots, deletion.forgotten)
        return Retain(parts.timeline, parts.items, self._timeline.known_users, prune, self._rules.resolved)

    @cached_property
    def retention_schedule(self) -> ScheduleRetention:
        """Starts `retain` once a day for each tenant."""
        return ScheduleRetention(self._parts.items, self._deployment.ids)

    @cached_property
    def expiry(self) -> NoteExpiry:
        """The projection step of retention."""
        return NoteExpiry(self._parts.items)
