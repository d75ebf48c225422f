"""The use cases of the store: memories, their lifecycle, and what an operator runs. A part of `App`."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from recollect.app_arbitration import ArbitrationUseCases
from recollect.app_archive import ArchiveUseCases
from recollect.app_contradictions import ContradictionUseCases
from recollect.app_erasure import ErasureUseCases
from recollect.app_index import IndexUseCases

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from recollect.app import Parts
    from recollect.archive.retain import NoteExpiry, Retain, ScheduleRetention
    from recollect.core.event import EventRef
    from recollect.core.ids import IdSource
    from recollect.core.scope import Scope
    from recollect.deletion.forget_events import ForgetEvents
    from recollect.deletion.forget_memories import ForgetMemories
    from recollect.jobs.job import JobKind
    from recollect.jobs.run import Jobs, RunJobs
    from recollect.memories.audit_log import ListAudit
    from recollect.memories.deferred_promotion import PromoteDeferred, ReconcileBridge, SignalBridge
    from recollect.memories.promote import FollowMemories, PromoteMemories
    from recollect.memories.reading import ListMemories, MemoryHistory
    from recollect.memories.save import KeepMemories
    from recollect.rules.groups import Rules
    from recollect.settings import Settings
    from recollect.summaries.run import KeepSummariesUp, RunSummaries, SummarizeJob
    from recollect.timeline.bus import BusOutbox
    from recollect.timeline.listing import KnownSpaces, KnownUsers
    from recollect.timeline.project import ProjectEvents
    from recollect.timeline.projection_steps import Following
    from recollect.timeline.quarantine import FailedEvents
    from recollect.timeline.reconcile import ReconcileJob, RetryFailed


class StoreUseCases(IndexUseCases, ArchiveUseCases, ErasureUseCases, ArbitrationUseCases, ContradictionUseCases):
    """Mixed into `App`; each use case is imported and made when first used."""

    settings: Settings
    parts: Parts
    ids: IdSource

    if TYPE_CHECKING:

        @cached_property
        def forget(self) -> ForgetEvents: ...
        @cached_property
        def project(self) -> ProjectEvents: ...
        @cached_property
        def run_summaries(self) -> RunSummaries: ...
        @property
        def keep_summaries_up(self) -> KeepSummariesUp: ...
        def rules(self, tenant: str) -> Rules: ...
        def _forgotten(self, scope: Scope, refs: Sequence[EventRef]) -> None: ...
        def _announce(self, scope: Scope, refs: Sequence[EventRef]) -> None: ...
        def _corrected(self, scope: Scope, refs: Sequence[EventRef], now: datetime) -> None: ...

    @cached_property
    def memories(self) -> KeepMemories:
        """`/v1/memories` and its neighbours."""
        from recollect.memories.save import KeepMemories

        parts = self.parts
        told = (self._announce, self._corrected)
        return KeepMemories(
            parts.timeline, parts.projections, parts.items, self.ids, *told, parts.embedding_generation()
        )

    @cached_property
    def list_memories(self) -> ListMemories:
        """`GET /v1/users/{user_id}/memories` and a memory's history."""
        from recollect.memories.reading import ListMemories

        return ListMemories(self.parts.timeline, self.parts.items)

    @cached_property
    def memory_history(self) -> MemoryHistory:
        """`GET /v1/users/{user_id}/memories/{memory_id}/history`."""
        from recollect.memories.reading import MemoryHistory

        return MemoryHistory(self.list_memories, self.list_audit)

    @cached_property
    def forget_memories(self) -> ForgetMemories:
        """What a deletion takes with it of memories."""
        from recollect.deletion.forget_memories import ForgetMemories

        return ForgetMemories(self.parts.timeline, self.parts.items, self.ids)

    @cached_property
    def promote_memories(self) -> PromoteMemories:
        """Events become memories."""
        from recollect.memories.promote import BridgeGate, PromoteMemories

        items = self.parts.items
        generation = self.parts.embedder.generation if self.parts.embedder else None
        return PromoteMemories(items, BridgeGate(items, self.ids), self.ids, generation)

    @cached_property
    def follow_memories(self) -> FollowMemories:
        """The part of `project` that memories need."""
        from recollect.memories.promote import FollowMemories

        return FollowMemories(self.parts.items, self.promote_memories, self.forget_memories)

    @cached_property
    def following(self) -> Following:
        """What follows from events that were projected."""
        from recollect.archive.segment_archive import AssignSegments
        from recollect.timeline.projection_steps import Following

        segments = AssignSegments(self.parts.items, self.parts.timeline)
        return Following(
            self.rules,
            self.follow_memories,
            self.follow_contradictions,
            segments,
            self.known_users,
            self.known_spaces,
            self.keep_summaries_up,
            self.note_expiry,
            self.forget_archived,
            self.bus_outbox.of_user,
            self.forget_copies,
        )

    @cached_property
    def known_spaces(self) -> KnownSpaces:
        """The spaces of a user."""
        from recollect.timeline.listing import KnownSpaces

        return KnownSpaces(self.parts.items)

    @cached_property
    def known_users(self) -> KnownUsers:
        """The users of a tenant."""
        from recollect.timeline.listing import KnownUsers

        return KnownUsers(self.parts.items)

    @cached_property
    def promote_deferred(self) -> PromoteDeferred:
        """The bridge's reconciliation: what waited for a healthy signal."""
        from recollect.memories.deferred_promotion import PromoteDeferred

        parts = self.parts
        return PromoteDeferred(parts.items, parts.timeline, parts.publisher, self.promote_memories.promote, self.ids)

    @cached_property
    def reconcile_bridge(self) -> ReconcileBridge:
        """The bridge's part of a reconciliation."""
        from recollect.memories.deferred_promotion import ReconcileBridge

        return ReconcileBridge(self.bus_outbox, self.promote_deferred)

    @cached_property
    def signal_bridge(self) -> SignalBridge:
        """`POST /v1/signals`."""
        from recollect.memories.deferred_promotion import SignalBridge

        return SignalBridge(self.parts.items, self.bus_outbox)

    @cached_property
    def bus_outbox(self) -> BusOutbox:
        """What is still to be published."""
        from recollect.timeline.bus import BusOutbox

        return BusOutbox(self.parts.items, self.parts.publisher)

    @cached_property
    def list_audit(self) -> ListAudit:
        """`GET /v1/users/{user_id}/audit` and the ledger."""
        from recollect.memories.audit_log import ListAudit

        return ListAudit(self.parts.items)

    @cached_property
    def jobs(self) -> Jobs:
        """`/v1/jobs`."""
        from recollect.jobs.run import Jobs

        return Jobs(self.parts.items)

    @cached_property
    def run_jobs(self) -> RunJobs:
        """What runs them."""
        from recollect.jobs.run import RunJobs

        return RunJobs(self.parts.items, self.job_kinds)

    @cached_property
    def job_kinds(self) -> Mapping[str, Callable[[], JobKind]]:
        """Each kind of job by its name (`domain.job.KINDS`); made when a job of it runs."""
        return {
            "reconcile": lambda: self.reconcile_job,
            "summarize": lambda: self.summarize_job,
            "retain": lambda: self.retain,
            "reindex": lambda: self.reindex,
            "snapshot": lambda: self.rotate_index,
            "restore": lambda: self.restore_snapshot,
            "erase": lambda: self.erase_user,
        }

    @cached_property
    def reconcile_job(self) -> ReconcileJob:
        """The job `reconcile`."""
        from recollect.timeline.reconcile import ReconcileJob
        from recollect.timeline.reproject import MarkChanged

        parts = self.parts
        mark = MarkChanged(parts.items, parts.projections, self.failed_events)
        return ReconcileJob(parts.projections, self.project, self.retry_failed, self.reconcile_bridge, mark)

    @cached_property
    def failed_events(self) -> FailedEvents:
        """Notes of the events that could not be projected."""
        from recollect.timeline.quarantine import FailedEvents

        return FailedEvents(self.parts.items, self.parts.projections)

    @cached_property
    def retry_failed(self) -> RetryFailed:
        """Tries them again."""
        from recollect.timeline.reconcile import RetryFailed

        return RetryFailed(self.failed_events, self.project)

    @cached_property
    def summarize_job(self) -> SummarizeJob:
        """The job `summarize`."""
        from recollect.summaries.run import SummarizeJob

        return SummarizeJob(self.run_summaries)

    @cached_property
    def retain(self) -> Retain:
        """The job `retain`."""
        from recollect.archive.retain import PruneEvents, Retain

        parts = self.parts
        prune = PruneEvents(parts.items, self.forget, self.bus_outbox, lambda: parts.snapshots, self._forgotten)
        return Retain(parts.timeline, parts.items, self.known_users, prune, self.rules)

    @cached_property
    def schedule_retention(self) -> ScheduleRetention:
        """What asks for it, once a day for each tenant."""
        from recollect.archive.retain import ScheduleRetention

        return ScheduleRetention(self.parts.items, self.ids)

    @cached_property
    def note_expiry(self) -> NoteExpiry:
        """The part of `project` that it needs."""
        from recollect.archive.retain import NoteExpiry

        return NoteExpiry(self.parts.items)
