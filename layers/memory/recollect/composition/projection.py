"""Projection: everything derived from events, the notes of failures, and reconciliation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from recollect.composition.arbitration import ArbitrationUseCases
from recollect.composition.archive import ArchiveUseCases
from recollect.composition.contradictions import ContradictionUseCases
from recollect.composition.deletion import DeletionUseCases
from recollect.composition.deployment import TimelineUseCases, UseCases
from recollect.composition.memories import MemoryUseCases
from recollect.composition.search_index import SearchIndexUseCases
from recollect.composition.segments import SegmentUseCases
from recollect.composition.summaries import SummaryUseCases
from recollect.contradictions.settle import FollowContradictions, Steps
from recollect.core.event import EventRef
from recollect.core.scope import Scope
from recollect.projection.project import ProjectEvents
from recollect.projection.quarantine import FailedEvents
from recollect.projection.reconcile import MarkStaleMemories, Reconcile, ReconcileJob, RetryFailed
from recollect.projection.steps import ProjectionSteps
from recollect.projection.under_way import ProjectPending
from recollect.rules.use_cases import TenantRuleStore
from recollect.timeline.bus import BusOutbox


@dataclass(eq=False)
class ProjectionUseCases(UseCases):
    """`app.projection`."""

    _rules: TenantRuleStore
    _timeline: TimelineUseCases
    _summaries: SummaryUseCases
    _search_index: SearchIndexUseCases
    _segments: SegmentUseCases
    _deletion: DeletionUseCases
    _archive: ArchiveUseCases
    _memories: MemoryUseCases
    _contradictions: ContradictionUseCases
    _arbitration: ArbitrationUseCases
    _outbox: BusOutbox

    @cached_property
    def events(self) -> ProjectEvents:
        """Behind the stream reader."""
        return self._with(self.steps)

    @cached_property
    def pending(self) -> ProjectPending:
        """Behind reconciliation and the laptop's drain."""
        parts, project = self._parts, self.events.project
        return ProjectPending(project, parts.timeline, parts.projections, parts.items, self.failed_events)

    def _with(self, steps: ProjectionSteps) -> ProjectEvents:
        parts, index = self._parts, self._search_index.in_use
        return ProjectEvents(
            parts.timeline, parts.projections, index, parts.embedder, parts.publisher, steps, self.failed_events
        )

    @cached_property
    def steps(self) -> ProjectionSteps:
        return ProjectionSteps(
            rules=self._rules.resolved,
            bound=self._contradictions.end_of_value,
            memories=self._memories.step,
            contradictions=self.contradictions,
            segments=self._segments.assignment,
            users=self._timeline.known_users,
            spaces=self._timeline.known_spaces,
            messages=self._summaries.messages.note,
            summaries=self._summaries.lost_words.follow,
            expiry=self._archive.expiry.note,
            archive=self._segments.forget,
            outbox=self._outbox.of_user,
            copies=self._deletion.copies.forget,
            concurrency=self._parts.concurrency,
        )

    @cached_property
    def contradictions(self) -> FollowContradictions:
        steps = Steps(self._contradictions.settlement, self._arbitration.proposals)
        return FollowContradictions(steps, self._mark_again, self._steps_sparing_failed)

    @cached_property
    def failed_events(self) -> FailedEvents:
        return FailedEvents(self._parts.items, self._parts.projections)

    @cached_property
    def retries(self) -> RetryFailed:
        # Compared with an event with which the process ended, the next one would end it, too.
        sparing = replace(self.steps, contradictions=self.contradictions.sparing_first())
        return RetryFailed(self.failed_events, self.pending, self._with(sparing))

    @cached_property
    def reconciliation(self) -> Reconcile:
        """Projects every event with a pending marker."""
        log = self._deletion.tombstone_log.flush_outbox
        return Reconcile(self._parts.projections, self.pending, self.retries, self._mark_stale.mark, log)

    @cached_property
    def reconcile_job(self) -> ReconcileJob:
        """The job `reconcile`."""
        bridge = self._memories.bridge
        return ReconcileJob(self._parts.projections, self.pending, self.retries, bridge, self._mark_stale)

    @property
    def _mark_stale(self) -> MarkStaleMemories:
        return MarkStaleMemories(self._parts.items, self._parts.projections, self.failed_events)

    def _steps_sparing_failed(self, scope: Scope) -> Steps | None:
        failed = self.failed_events.of_user(scope)
        if not failed:
            return None
        find = self._contradictions.candidates.sparing(failed)
        return Steps(self._contradictions.settle_among(find), self._arbitration.propose_among(find))

    def _mark_again(self, scope: Scope, refs: Sequence[EventRef]) -> None:
        if refs:
            self._parts.projections.mark(scope, refs)
            self._deployment.announce(scope, refs)
