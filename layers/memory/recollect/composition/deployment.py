"""What every subject is made of: the settings, the adapters, the ids, and the listeners for new events."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, TypeAlias

from recollect.core.ids import IdSource
from recollect.core.time import utc_now
from recollect.rules.groups import Rules
from recollect.timeline.ingest import IngestEvents
from recollect.timeline.limits import RateLimits
from recollect.timeline.listing import KnownSpaces, KnownUsers, ListEvents
from recollect.usage import MESSAGE, Counted, CountedModel, CountUsage

if TYPE_CHECKING:
    from recollect.core.event import EventRef
    from recollect.core.scope import Scope
    from recollect.ports import (
        Concurrency,
        Embedder,
        Eraser,
        IdempotencyStore,
        Items,
        Model,
        NamespacedItems,
        PairModel,
        PartState,
        Projections,
        Publisher,
        RateLimiter,
        RelevanceModel,
        SearchIndex,
        SnapshotStore,
        Timeline,
        UsageCounts,
        WebSearch,
    )
    from recollect.settings import Settings

Announce: TypeAlias = "Callable[[Scope, Sequence[EventRef]], None]"


class Parts(Protocol):
    """The adapters of one deployment, each made on first use."""

    @property
    def timeline(self) -> Timeline: ...
    @property
    def projections(self) -> Projections: ...
    @property
    def index(self) -> SearchIndex: ...
    @property
    def former_index(self) -> SearchIndex | None:
        """Where the deployment changes from one search engine to another, the index in the one before."""

    @property
    def embedder(self) -> Embedder | None: ...
    @property
    def pair_model(self) -> PairModel | None: ...
    @property
    def relevance_model(self) -> RelevanceModel | None: ...
    @property
    def publisher(self) -> Publisher: ...
    @property
    def idempotency(self) -> IdempotencyStore: ...
    @property
    def rate_limiter(self) -> RateLimiter: ...
    @property
    def usage(self) -> UsageCounts: ...
    @property
    def items(self) -> Items: ...
    @property
    def namespaced_items(self) -> NamespacedItems: ...
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
        """Raises NotReady where the deployment has no snapshot store."""

    def embedding_generation(self) -> str | None:
        """The generation of stored vectors, whichever process makes them; None without an embedder."""

    def checks(self) -> Mapping[str, Callable[[], PartState]]:
        """One check per part, for readiness and `recollect doctor`."""

    def dry_run(self, work: Callable[[], object]) -> None:
        """Does the work, and writes nothing of what it writes; what it reads is read. Raises what the work raises.

        Where the parts gain nothing from having been used once, the work is not done at all.
        """

    def create(self) -> list[str]:
        """Creates what is missing and names it. Idempotent."""

    def disconnect(self) -> None:
        """Closes connections to other machines; whoever needs one next makes a new one."""

    def close(self) -> None:
        """Closes files and connections."""


@dataclass(frozen=True, slots=True)
class Deployment:
    """Shared by all subjects. `listeners` hear of events with a pending marker."""

    settings: Settings
    parts: Parts
    rules: Rules = field(default_factory=Rules)
    ids: IdSource = field(default_factory=IdSource)
    listeners: list[Announce] = field(default_factory=list)
    usage: CountUsage = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "usage", CountUsage(lambda: self.parts.usage, utc_now))

    @property
    def model(self) -> Model:
        """The language model, whose answers are counted."""
        return CountedModel(self.parts.model, self.usage)

    def announce(self, scope: Scope, refs: Sequence[EventRef]) -> None:
        for listener in self.listeners:
            listener(scope, refs)

    @property
    def generation(self) -> str | None:
        """See `Parts.embedding_generation`."""
        return self.parts.embedding_generation()

    def require_embedder(self) -> None:
        """Raises NotReady where the configured embedder is missing; its own check says why."""
        self.parts.checks()["embedder"]()


@dataclass(eq=False)
class UseCases:
    """One subject of a deployment; its fields are the subjects that it needs, its use cases are made on first use."""

    _deployment: Deployment

    @property
    def _parts(self) -> Parts:
        return self._deployment.parts


@dataclass(eq=False)
class TimelineUseCases(UseCases):
    """`app.timeline`."""

    @cached_property
    def events(self) -> IngestEvents:
        """`POST /v1/events`."""
        return self.ingest(self._deployment.usage.of(MESSAGE))

    def ingest(self, counted: Counted) -> IngestEvents:
        """The same, counted in another way."""
        return IngestEvents(self._parts.timeline, self._parts.items, self._deployment.announce, counted)

    @cached_property
    def listing(self) -> ListEvents:
        """`GET /v1/users/{user_id}/events` and its neighbours."""
        return ListEvents(self._parts.timeline)

    @cached_property
    def limits(self) -> RateLimits:
        """Throttles a tenant's writes and turns."""
        return RateLimits(self._parts.rate_limiter)

    @cached_property
    def known_users(self) -> KnownUsers:
        return KnownUsers(self._parts.items)

    @cached_property
    def known_spaces(self) -> KnownSpaces:
        return KnownSpaces(self._parts.items)
