"""The use cases of one deployment, over whatever parts it has.

Each is imported and made when first used, so that a function that only ingests loads no model and no numpy.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Protocol, TypeAlias

from recollect.domain.ids import IdSource
from recollect.domain.rules import Rules

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from recollect.application.build_context import BuildContext
    from recollect.application.check_readiness import CheckReadiness, PartState
    from recollect.application.ingest_events import IngestEvents
    from recollect.application.list_events import ListEvents
    from recollect.application.project_events import ProjectEvents
    from recollect.application.recall import Recall
    from recollect.application.reconcile import Reconcile
    from recollect.application.search_memory import SearchMemory
    from recollect.domain.event import EventRef
    from recollect.domain.scope import Scope
    from recollect.ports import Concurrency, Embedder, IdempotencyStore, Projections, Publisher, SearchIndex, Timeline
    from recollect.settings import Settings

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
    def concurrency(self) -> Concurrency: ...

    def checks(self) -> Mapping[str, Callable[[], PartState]]:
        """One check per part, for readiness and `recollect doctor`."""

    def create(self) -> list[str]:
        """Creates what is missing; names what was made. Safe to run twice."""

    def close(self) -> None:
        """Lets go of files and connections."""


class App:
    """The use cases, over the parts of one deployment."""

    def __init__(self, settings: Settings, parts: Parts) -> None:
        self.settings = settings
        self.parts = parts
        self.ids = IdSource()
        self.listeners: list[Announce] = []

    def rules(self, tenant: str) -> Rules:  # noqa: ARG002 - tenants' own rules come with the rules registry
        """The rules of a tenant."""
        return self._default_rules

    @cached_property
    def _default_rules(self) -> Rules:
        return Rules()

    @cached_property
    def ingest(self) -> IngestEvents:
        """`POST /v1/events`."""
        from recollect.application.ingest_events import IngestEvents

        return IngestEvents(self.parts.timeline, self._announce)

    @cached_property
    def listing(self) -> ListEvents:
        """`GET /v1/users/{user_id}/events` and its neighbours."""
        from recollect.application.list_events import ListEvents

        return ListEvents(self.parts.timeline)

    @cached_property
    def recall(self) -> Recall:
        """What search and context share."""
        from recollect.application.recall import Recall
        from recollect.domain.ranking import RankingPolicy

        parts = self.parts
        return Recall(parts.timeline, parts.index, parts.embedder, parts.concurrency, RankingPolicy())

    @cached_property
    def search(self) -> SearchMemory:
        """`POST /v1/search`."""
        from recollect.application.search_memory import SearchMemory

        return SearchMemory(self.recall)

    @cached_property
    def context(self) -> BuildContext:
        """`POST /v1/context`."""
        from recollect.application.build_context import BuildContext
        from recollect.application.context_sources import ContextSources

        return BuildContext(ContextSources(self.parts.timeline, self.recall, self.parts.concurrency))

    @cached_property
    def project(self) -> ProjectEvents:
        """Behind the stream reader and the laptop's drain."""
        from recollect.application.project_events import ProjectEvents

        parts = self.parts
        return ProjectEvents(parts.timeline, parts.projections, parts.index, parts.embedder, parts.publisher)

    @cached_property
    def reconcile(self) -> Reconcile:
        """Projects whatever has a pending marker."""
        from recollect.application.reconcile import Reconcile

        return Reconcile(self.parts.projections, self.project)

    @cached_property
    def readiness(self) -> CheckReadiness:
        """`GET /v1/ready`."""
        from recollect.application.check_readiness import CheckReadiness

        return CheckReadiness(self.parts.checks())

    def _announce(self, scope: Scope, refs: Sequence[EventRef]) -> None:
        for listener in self.listeners:
            listener(scope, refs)
