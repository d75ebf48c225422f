"""Rebuilding and rotating the search index."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property

from recollect.composition.archive import ArchiveUseCases
from recollect.composition.deployment import TimelineUseCases, UseCases
from recollect.composition.projection import ProjectionUseCases
from recollect.composition.search_index import SearchIndexUseCases
from recollect.core.event import Event
from recollect.core.scope import Scope
from recollect.jobs.run import Jobs
from recollect.ports import Projections, Publisher, SearchIndex
from recollect.projection.project import ProjectEvents
from recollect.rules.groups import SummaryRules
from recollect.search_index.rebuild import IndexSnapshots, RebuildIndex
from recollect.search_index.rederive import Rederive
from recollect.search_index.reindex import (
    EVENTS,
    MOST_RECORDS_COUNTED,
    MOST_USERS_COUNTED,
    VECTORS,
    BeginReindex,
    Maker,
    Reindex,
    RotateIndex,
)
from recollect.search_index.state import Engines
from recollect.summaries.run import LostWords


@dataclass(eq=False)
class ReindexingUseCases(UseCases):
    """`app.reindexing`."""

    _timeline: TimelineUseCases
    _search_index: SearchIndexUseCases
    _archive: ArchiveUseCases
    _projection: ProjectionUseCases
    _jobs: Jobs
    _refilled: bool = field(default=False, init=False)

    @cached_property
    def generations(self) -> BeginReindex:
        """A laptop's background starts a reindex by itself; in the cloud where an index was lost."""
        deployment = self._deployment
        return BeginReindex(self._search_index.health, self._jobs, deployment.ids, deployment.require_embedder)

    def heal(self, now: datetime) -> bool:
        """Makes the index where there is none, and begins to fill it for the tenants who lost one; False: it was there.

        Idempotent. Costs one request where nothing is missing; once in a process, and until every job could be started,
        a look at each tenant's state: whoever made the index may have ended before it began those. Raises as
        `SearchIndex.create`, and as `BeginReindex.refill`.
        """
        made = self._parts.index.create()
        if made or not self._refilled:
            self._refilled = False
            self.generations.refill(now)
            self._refilled = True
        return made

    @cached_property
    def reindex(self) -> Reindex:
        """The job `reindex`."""
        makers: dict[str, Callable[[], Maker]] = {VECTORS: self.rebuild, EVENTS: lambda: self.rederive}
        found, users = self._search_index, self._timeline.known_users
        required = self._deployment.require_embedder
        engines = Engines(self._parts.index, found.former)
        return Reindex(engines, found.states, users, makers, required, found.drop)

    def rebuild(self) -> RebuildIndex:
        """Documents from the records and their stored vectors, in one walk."""
        parts, snapshots = self._parts, self._search_index.snapshots
        stores = (parts.timeline, parts.projections, parts.items, parts.index)
        return RebuildIndex(*stores, parts.embedder, parts.concurrency, self._projection.pending, snapshots)

    @cached_property
    def rederive(self) -> Rederive:
        """All derived data, from the records."""
        parts = self._parts
        stores = (parts.timeline, parts.projections, parts.items, parts.index)
        return Rederive(*stores, self._projector, self.rebuild(), self._projection.pending)

    @cached_property
    def rotate(self) -> RotateIndex:
        """The job `snapshot`: of the tenant, then of its index."""
        parts, generation = self._parts, self._parts.index.generation
        return RotateIndex(
            parts.timeline,
            parts.projections,
            parts.items,
            self._timeline.known_users,
            lambda: IndexSnapshots(parts.snapshots, generation),
            generation,
            self._records_of,
            self._archive.take_snapshot,
        )

    def _records_of(self, owner: Scope) -> int:
        """Of a user, or of a tenant that has not too many users to count them; else 0."""
        if not owner.user_id and self._timeline.known_users.page(owner.tenant, MOST_USERS_COUNTED, None).more:
            return 0
        return self._search_index.in_use.count(owner, most=MOST_RECORDS_COUNTED).documents

    def _projector(self, projections: Projections, index: SearchIndex, publisher: Publisher) -> ProjectEvents:
        """A projection without listeners, which leaves summaries unchanged, and compares nothing with what failed."""
        parts, contradictions = self._parts, self._projection.contradictions.sparing_first()
        without = replace(self._projection.steps, messages=_no_messages, summaries=_no_summaries)
        steps = replace(without, contradictions=contradictions)
        return ProjectEvents(parts.timeline, projections, index, parts.embedder, publisher, steps)


def _no_messages(scope: Scope, events: Sequence[Event], rules: SummaryRules, now: datetime) -> None:
    """A new projection of an old message must not count it towards a summary again."""


def _no_summaries(scope: Scope, lost: LostWords, now: datetime) -> None:
    """Nor does it take words from summaries."""
