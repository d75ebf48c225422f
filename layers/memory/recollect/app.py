"""The use cases of one deployment, over whatever parts it has.

Each is imported and made when first used, so that a function that only ingests loads no model and no numpy.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, TypeAlias

from recollect.app_store import StoreUseCases
from recollect.core.errors import RecollectError
from recollect.core.ids import IdSource
from recollect.rules.groups import Rules

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from recollect.context.build import BuildContext
    from recollect.context.turn import TakeTurn
    from recollect.core.event import EventRef
    from recollect.core.scope import Scope
    from recollect.deletion.forget_events import ForgetEvents
    from recollect.deletion.suppression import ValueMarks
    from recollect.intent.retrieve import RetrieveByIntent
    from recollect.knowledge.use_cases import KeepKnowledge
    from recollect.ports import (
        Concurrency,
        Embedder,
        Eraser,
        IdempotencyStore,
        Items,
        Model,
        Pending,
        Projections,
        Publisher,
        SearchIndex,
        SnapshotStore,
        Timeline,
        WebSearch,
    )
    from recollect.retrieval.pipeline import Recall
    from recollect.retrieval.search import SearchMemory
    from recollect.rules.use_cases import KeepRules
    from recollect.search_index.health import CheckReadiness, PartState
    from recollect.settings import Settings
    from recollect.summaries.keep_goals import KeepGoals
    from recollect.summaries.reading import ReadSummaries, RedactSummaries
    from recollect.summaries.run import KeepSummariesUp, RunSummaries
    from recollect.summaries.summarize import Summarize
    from recollect.timeline.ingest import IngestEvents
    from recollect.timeline.listing import ListEvents
    from recollect.timeline.project import ProjectEvents
    from recollect.timeline.reconcile import Reconcile

Announce: TypeAlias = "Callable[[Scope, Sequence[EventRef]], None]"


class Parts(Protocol):
    """The adapters of one deployment, each made when first asked for."""

    @property
    def timeline(self) -> Timeline: ...
    @property
    def projections(self) -> Projections: ...
    @property
    def index(self) -> SearchIndex: ...
    @property
    def embedder(self) -> Embedder | None: ...
    @property
    def publisher(self) -> Publisher: ...
    @property
    def idempotency(self) -> IdempotencyStore: ...
    @property
    def items(self) -> Items: ...
    @property
    def eraser(self) -> Eraser: ...
    @property
    def model(self) -> Model: ...
    @property
    def web_search(self) -> WebSearch | None: ...
    @property
    def concurrency(self) -> Concurrency: ...
    @property
    def snapshots(self) -> SnapshotStore:
        """Raises NotReady where a deployment has no place for them."""

    def embedding_generation(self) -> str | None:
        """Of the vectors that become of what is saved, whoever makes them; None where nobody does."""

    def checks(self) -> Mapping[str, Callable[[], PartState]]:
        """One check per part, for readiness and `recollect doctor`."""

    def create(self) -> list[str]:
        """Creates what is missing; names what was made. Safe to run twice."""

    def close(self) -> None:
        """Lets go of files and connections."""


class App(StoreUseCases):
    """The use cases, over the parts of one deployment."""

    def __init__(self, settings: Settings, parts: Parts, rules: Rules | None = None) -> None:
        self.settings = settings
        self.parts = parts
        self._deployment_rules = rules or Rules()
        self.ids = IdSource()
        self.listeners: list[Announce] = []

    def rules(self, tenant: str) -> Rules:
        """The rules of a tenant, as they are now."""
        return self.keep_rules.resolved(tenant)

    def begin_rules(self, tenant: str) -> Pending[Rules]:
        """Begins reading them, beside whatever else the caller begins."""
        keep_rules = self.keep_rules
        return self.parts.concurrency.submit(lambda: keep_rules.resolved(tenant))

    def begin_marks(self, scope: Scope) -> Pending[ValueMarks]:
        """Begins reading what storing asks of rejected values, beside whatever else the caller begins."""
        gate = self.value_gate
        return self.parts.concurrency.submit(lambda: gate.marks(scope))

    @cached_property
    def keep_rules(self) -> KeepRules:
        """`GET|PUT /v1/rules`."""
        from recollect.rules.use_cases import KeepRules

        return KeepRules(self.parts.items, self._deployment_rules)

    @cached_property
    def ingest(self) -> IngestEvents:
        """`POST /v1/events`."""
        from recollect.timeline.ingest import IngestEvents

        return IngestEvents(self.parts.timeline, self.parts.items, self._announce)

    @cached_property
    def listing(self) -> ListEvents:
        """`GET /v1/users/{user_id}/events` and its neighbours."""
        from recollect.timeline.listing import ListEvents

        return ListEvents(self.parts.timeline)

    @cached_property
    def recall(self) -> Recall:
        """What search and context share."""
        from recollect.retrieval.pipeline import Recall
        from recollect.retrieval.ranking import RankingPolicy

        parts = self.parts
        return Recall(parts.timeline, parts.items, self.index, parts.embedder, parts.concurrency, RankingPolicy())

    @cached_property
    def search(self) -> SearchMemory:
        """`POST /v1/search`."""
        from recollect.retrieval.search import SearchMemory

        return SearchMemory(self.recall)

    @cached_property
    def retrieve_by_intent(self) -> RetrieveByIntent:
        """`POST /v1/search` in mode `intent`."""
        from recollect.intent.candidates import IntentCandidates
        from recollect.intent.retrieve import RetrieveByIntent

        parts = self.parts
        return RetrieveByIntent(IntentCandidates(parts.timeline, parts.items, parts.concurrency))

    @cached_property
    def context(self) -> BuildContext:
        """`POST /v1/context`."""
        from recollect.context.build import BuildContext
        from recollect.context.sources import ContextSources, ReadBackground

        parts = self.parts
        behind = ReadBackground(self.read_summaries, self.goals, self.knowledge, parts.concurrency)
        sources = ContextSources(parts.timeline, self.recall, behind, parts.concurrency)
        return BuildContext(sources, parts.web_search)

    @cached_property
    def knowledge(self) -> KeepKnowledge:
        """`/v1/knowledge`."""
        from recollect.knowledge.use_cases import KeepKnowledge

        return KeepKnowledge(self.parts.items, self.ids)

    @cached_property
    def turn(self) -> TakeTurn:
        """`POST /v1/turns`."""
        from recollect.context.turn import TakeTurn

        return TakeTurn(self.ingest, self.context, self.parts.timeline, lambda: self.parts.model)

    @cached_property
    def forget(self) -> ForgetEvents:
        """`DELETE /v1/users/{user_id}/events/{event_id}` and its neighbour."""
        from recollect.deletion.forget_events import ForgetEvents

        parts = self.parts
        return ForgetEvents(parts.timeline, parts.projections, self.forget_memories, self._forgotten)

    @cached_property
    def summarize(self) -> Summarize:
        """`POST /v1/users/{user_id}/summaries`."""
        from recollect.summaries.summarize import Summarize

        return Summarize(self.parts.timeline, self.parts.items, self.parts.model)

    @cached_property
    def run_summaries(self) -> RunSummaries:
        """The scheduled run over everybody."""
        from recollect.summaries.run import RunSummaries

        return RunSummaries(self.parts.items, self.summarize, self.rules, self.ids)

    @cached_property
    def read_summaries(self) -> ReadSummaries:
        """`GET /v1/users/{user_id}/summaries`."""
        from recollect.summaries.reading import ReadSummaries

        return ReadSummaries(self.parts.items)

    @cached_property
    def goals(self) -> KeepGoals:
        """`/v1/users/{user_id}/goals`."""
        from recollect.summaries.keep_goals import KeepGoals

        return KeepGoals(self.parts.items, self.ids)

    @cached_property
    def redact_summaries(self) -> RedactSummaries:
        """What a deletion takes out of summaries and goals."""
        from recollect.summaries.reading import RedactSummaries

        return RedactSummaries(self.parts.items)

    @cached_property
    def keep_summaries_up(self) -> KeepSummariesUp:
        """The part of `project` that summaries need."""
        from recollect.summaries.run import KeepSummariesUp, NoteMessages

        return KeepSummariesUp(NoteMessages(self.parts.items, self.rules), self.redact_summaries)

    @cached_property
    def project(self) -> ProjectEvents:
        """Behind the stream reader and the laptop's drain."""
        from recollect.timeline.project import ProjectEvents

        parts = self.parts
        return ProjectEvents(
            parts.timeline,
            parts.projections,
            self.index,
            parts.embedder,
            parts.publisher,
            self.following,
            self.failed_events,
        )

    @cached_property
    def reconcile(self) -> Reconcile:
        """Projects whatever has a pending marker."""
        from recollect.timeline.reconcile import Reconcile
        from recollect.timeline.reproject import MarkChanged

        parts = self.parts
        mark = MarkChanged(parts.items, parts.projections, self.failed_events)
        return Reconcile(parts.projections, self.project, self.retry_failed, mark, self.outside_tombstones.tell)

    @cached_property
    def readiness(self) -> CheckReadiness:
        """`GET /v1/ready`."""
        from recollect.search_index.health import CheckReadiness

        # Made when asked: what cannot even be opened is a part that is not ready, not an error of the answer.
        own = {
            "index": lambda: self.check_index(),
            "tombstones": lambda: self.apply_tombstones.check(),
            "projection": lambda: self.failed_events.check(),
        }
        return CheckReadiness({**self.parts.checks(), **own})

    def _forgotten(self, scope: Scope, refs: Sequence[EventRef]) -> None:
        """Kept outside of the table too, before anybody is told."""
        self._keep_outside(scope, refs)
        self._derived_forgotten(scope, refs)

    def _derived_forgotten(self, scope: Scope, refs: Sequence[EventRef]) -> None:
        """Summaries lose what is gone at once; where that fails, `project` makes it good by the marker."""
        self._corrected(scope, refs, datetime.now(UTC))
        with suppress(RecollectError):
            self.forget_copies(scope, refs, datetime.now(UTC))
        self._announce(scope, refs)

    def _corrected(self, scope: Scope, refs: Sequence[EventRef], now: datetime) -> None:
        with suppress(RecollectError):
            self.redact_summaries(scope, refs, now)

    def _announce(self, scope: Scope, refs: Sequence[EventRef]) -> None:
        for listener in self.listeners:
            listener(scope, refs)
