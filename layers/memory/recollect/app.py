"""The use cases of one deployment, by subject, over its adapters.

Each subject is imported and made on first use, so that a function that only ingests loads no model and no numpy.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from recollect.composition.deployment import Deployment
from recollect.core.ids import IdSource
from recollect.rules.groups import Rules

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager
    from datetime import datetime

    from recollect.composition.arbitration import ArbitrationUseCases
    from recollect.composition.archive import ArchiveUseCases
    from recollect.composition.context import ContextUseCases
    from recollect.composition.contradictions import ContradictionUseCases
    from recollect.composition.deletion import DeletionUseCases
    from recollect.composition.deployment import Announce, Parts, TimelineUseCases
    from recollect.composition.memories import MemoryUseCases
    from recollect.composition.projection import ProjectionUseCases
    from recollect.composition.reindexing import ReindexingUseCases
    from recollect.composition.retrieval import RetrievalUseCases
    from recollect.composition.search_index import SearchIndexUseCases
    from recollect.composition.segments import SegmentUseCases
    from recollect.composition.summaries import SummaryUseCases
    from recollect.contradictions.judge import RelationJudge
    from recollect.core.scope import Scope
    from recollect.deletion.suppression import SuppressionCheck
    from recollect.intent.retrieve import RetrieveByIntent
    from recollect.items.item import ItemPlace
    from recollect.items.use_cases import KeepItems
    from recollect.jobs.job import JobKind
    from recollect.jobs.run import Jobs, RunJobs
    from recollect.knowledge.use_cases import KnowledgeStore
    from recollect.ports import Pending
    from recollect.rules.use_cases import TenantRuleStore
    from recollect.search_index.health import CheckReadiness
    from recollect.session_log.editing import EditLog
    from recollect.session_log.store import LogStore
    from recollect.session_log.use_cases import SessionLogs
    from recollect.settings import Settings
    from recollect.timeline.bus import BusOutbox
    from recollect.usage import CountUsage


class App:
    """The subjects of one deployment; each needs only those before it."""

    def __init__(
        self, settings: Settings, parts: Parts, rules: Rules | None = None, ids: IdSource | None = None
    ) -> None:
        self.deployment = Deployment(settings, parts, rules or Rules(), ids or IdSource())

    def close(self) -> None:
        """Writes what was counted, and closes files and connections."""
        self.usage.write_quietly()
        self.parts.close()

    @property
    def settings(self) -> Settings:
        return self.deployment.settings

    @property
    def parts(self) -> Parts:
        return self.deployment.parts

    @property
    def ids(self) -> IdSource:
        return self.deployment.ids

    @property
    def usage(self) -> CountUsage:
        """`GET /v1/usage`, and what counts for it."""
        return self.deployment.usage

    @property
    def listeners(self) -> list[Announce]:
        """Called with new events that wait for their projection."""
        return self.deployment.listeners

    @cached_property
    def rules(self) -> TenantRuleStore:
        """`GET|PUT /v1/rules`."""
        from recollect.rules.use_cases import TenantRuleStore

        return TenantRuleStore(self.parts.items, self.deployment.rules)

    @cached_property
    def outbox(self) -> BusOutbox:
        from recollect.timeline.bus import BusOutbox

        return BusOutbox(self.parts.items, self.parts.publisher)

    @cached_property
    def judge(self) -> RelationJudge:
        from recollect.contradictions.trained import TrainedJudge

        return TrainedJudge(self.parts.pair_model)

    @cached_property
    def knowledge(self) -> KnowledgeStore:
        """`/v1/knowledge`."""
        from recollect.knowledge.use_cases import KnowledgeStore

        return KnowledgeStore(self.parts.items, self.ids)

    @cached_property
    def items(self) -> KeepItems:
        """`/store/*`."""
        from recollect.items.use_cases import KeepItems

        parts = self.parts
        return KeepItems(
            parts.namespaced_items, self.ids, self._note_deleted_items, parts.embedder, self.settings.item_owners
        )

    @cached_property
    def logs(self) -> SessionLogs:
        """`…/conversations/{conversation_id}/log`."""
        from recollect.session_log.use_cases import SessionLogs

        return SessionLogs(self._log_store, self.timeline.known_users.note)

    @cached_property
    def log_entries(self) -> EditLog:
        """`…/log/entries/{sequence}`."""
        from recollect.session_log.editing import EditLog

        return EditLog(self._log_store)

    @property
    def _log_store(self) -> LogStore:
        from recollect.session_log.store import LogStore

        return LogStore(self.parts.items, self.ids)

    def _note_deleted_items(
        self, owner: Scope, places: Sequence[ItemPlace], revision: str, now: datetime
    ) -> AbstractContextManager[None]:
        """Deletion is opened with the first of them."""
        return self.deletion.owned_items.noted(owner, places, revision, now)

    @cached_property
    def timeline(self) -> TimelineUseCases:
        from recollect.composition.deployment import TimelineUseCases

        return TimelineUseCases(self.deployment)

    @cached_property
    def summaries(self) -> SummaryUseCases:
        from recollect.composition.summaries import SummaryUseCases

        return SummaryUseCases(self.deployment, self.rules, lambda: self.memories.chosen)

    @cached_property
    def search_index(self) -> SearchIndexUseCases:
        from recollect.composition.search_index import SearchIndexUseCases

        return SearchIndexUseCases(self.deployment, self.rules, self.timeline)

    @cached_property
    def segments(self) -> SegmentUseCases:
        from recollect.composition.segments import SegmentUseCases

        return SegmentUseCases(self.deployment, self.search_index)

    @cached_property
    def deletion(self) -> DeletionUseCases:
        from recollect.composition.deletion import DeletionUseCases

        below = (self.timeline, self.summaries, self.search_index, self.segments)
        return DeletionUseCases(self.deployment, *below, lambda *log: self.logs.clear(*log))

    @cached_property
    def archive(self) -> ArchiveUseCases:
        from recollect.composition.archive import ArchiveUseCases

        below = (self.timeline, self.segments, self.deletion)
        return ArchiveUseCases(self.deployment, self.rules, *below, self.outbox, lambda: self.items)

    @cached_property
    def memories(self) -> MemoryUseCases:
        from recollect.composition.memories import MemoryUseCases

        return MemoryUseCases(self.deployment, self.summaries, self.deletion, self.outbox, self.rules)

    @cached_property
    def contradictions(self) -> ContradictionUseCases:
        from recollect.composition.contradictions import ContradictionUseCases

        return ContradictionUseCases(self.deployment, self.rules, self.search_index, self.memories, self.judge)

    @cached_property
    def arbitration(self) -> ArbitrationUseCases:
        from recollect.composition.arbitration import ArbitrationUseCases

        below = (self.memories, self.contradictions)
        return ArbitrationUseCases(self.deployment, self.rules, *below, self.outbox)

    @cached_property
    def retrieval(self) -> RetrievalUseCases:
        from recollect.composition.retrieval import RetrievalUseCases

        return RetrievalUseCases(self.deployment, self.search_index)

    @cached_property
    def intent(self) -> RetrieveByIntent:
        """`POST /v1/search` in mode `intent`."""
        from recollect.intent.candidates import IntentCandidates
        from recollect.intent.retrieve import RetrieveByIntent
        from recollect.usage import SEARCH

        parts, counted = self.parts, self.usage.of(SEARCH)
        return RetrieveByIntent(IntentCandidates(parts.timeline, parts.items, parts.concurrency), counted=counted)

    @cached_property
    def context(self) -> ContextUseCases:
        from recollect.composition.context import ContextUseCases

        below = (self.timeline, self.summaries, self.knowledge, self.retrieval, self.contradictions)
        return ContextUseCases(self.deployment, *below)

    @cached_property
    def projection(self) -> ProjectionUseCases:
        from recollect.composition.projection import ProjectionUseCases

        stores = (self.timeline, self.summaries, self.search_index, self.segments, self.deletion, self.archive)
        decisions = (self.memories, self.contradictions, self.arbitration)
        return ProjectionUseCases(self.deployment, self.rules, *stores, *decisions, self.outbox)

    @cached_property
    def reindexing(self) -> ReindexingUseCases:
        from recollect.composition.reindexing import ReindexingUseCases

        below = (self.timeline, self.search_index, self.archive, self.projection)
        return ReindexingUseCases(self.deployment, *below, self.jobs)

    @cached_property
    def jobs(self) -> Jobs:
        """`/v1/jobs`."""
        from recollect.jobs.run import Jobs

        return Jobs(self.parts.items)

    @cached_property
    def job_runs(self) -> RunJobs:
        from recollect.jobs.run import RunJobs

        return RunJobs(self.parts.items, self.job_kinds)

    @cached_property
    def job_kinds(self) -> Mapping[str, Callable[[], JobKind]]:
        """Each kind of job by its name (`jobs.job.KINDS`); made when a job of it runs."""
        return {
            "reconcile": lambda: self.projection.reconcile_job,
            "summarize": lambda: self.summaries.job,
            "retain": lambda: self.archive.retention,
            "reindex": lambda: self.reindexing.reindex,
            "snapshot": lambda: self.reindexing.rotate,
            "restore": lambda: self.archive.restore,
            "erase": lambda: self.deletion.users,
        }

    @cached_property
    def readiness(self) -> CheckReadiness:
        """`GET /v1/ready`."""
        from recollect.search_index.health import CheckReadiness

        # Made by the check: a part that cannot be opened is not ready, and the request does not fail.
        own = {
            "index": lambda: self.search_index.health.check(),
            "tombstones": lambda: self.deletion.tombstones.check(),
            "projection": lambda: self.projection.failed_events.check(),
        }
        return CheckReadiness({**self.parts.checks(), **own})

    def begin_rules(self, tenant: str) -> Pending[Rules]:
        """Starts reading a tenant's rules, concurrently with other reads."""
        rules = self.rules
        return self.parts.concurrency.submit(lambda: rules.resolved(tenant))

    def begin_marks(self, scope: Scope) -> Pending[SuppressionCheck]:
        """Starts reading the rejected values that ingest checks, concurrently with other reads."""
        suppression = self.deletion.suppression
        return self.parts.concurrency.submit(lambda: suppression.marks(scope))
