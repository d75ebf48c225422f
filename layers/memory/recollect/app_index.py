"""The use cases around the search index: which one is in use, its making, its health. A part of `App`."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING

from recollect.core.errors import NotReady

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recollect.app import Parts
    from recollect.archive.snapshots import TakeSnapshot
    from recollect.core.event import Event, EventRef
    from recollect.core.ids import IdSource
    from recollect.core.scope import Scope
    from recollect.jobs.run import Jobs
    from recollect.ports import Projections, Publisher, SearchIndex
    from recollect.rules.groups import Rules
    from recollect.search_index.generations import IndexInUse, IndexStates
    from recollect.search_index.health import CheckIndex
    from recollect.search_index.rebuild import IndexSnapshots, RebuildIndex
    from recollect.search_index.rederive import Rederive
    from recollect.search_index.reindex import BeginReindex, Reindex, RotateIndex
    from recollect.settings import Settings
    from recollect.timeline.ingest import WriteLimits
    from recollect.timeline.listing import KnownUsers
    from recollect.timeline.project import ProjectEvents
    from recollect.timeline.projection_steps import Following

POINTER_KEPT_SECONDS = 10.0
"""How long a process of the cloud keeps the pointer to the index in use; on a laptop it is read each time."""


class IndexUseCases:
    """Mixed into `App`; each use case is imported and made when first used."""

    settings: Settings
    parts: Parts
    ids: IdSource

    if TYPE_CHECKING:

        @cached_property
        def following(self) -> Following: ...
        @cached_property
        def known_users(self) -> KnownUsers: ...
        @cached_property
        def jobs(self) -> Jobs: ...
        @cached_property
        def take_snapshot(self) -> TakeSnapshot: ...
        def rules(self, tenant: str) -> Rules: ...

    @cached_property
    def index_states(self) -> IndexStates:
        """The pointers."""
        from recollect.search_index.generations import IndexStates

        kept_seconds = POINTER_KEPT_SECONDS if self.settings.engines == "aws" else 0.0
        return IndexStates(self.parts.items, self.parts.index, _real_now, kept_seconds)

    @cached_property
    def index(self) -> IndexInUse:
        """What search reads and `project` writes."""
        from recollect.search_index.generations import IndexInUse
        from recollect.search_index.health import WatchIndex

        parts, states = self.parts, self.index_states
        watch = WatchIndex(IndexInUse(parts.index, states), parts.publisher, self.rules, self.ids, _real_now)
        return IndexInUse(parts.index, states, watch)

    @cached_property
    def check_index(self) -> CheckIndex:
        """The index's part of readiness."""
        from recollect.search_index.health import CheckIndex

        parts = self.parts
        check = parts.checks()["index"]
        return CheckIndex(check, parts.index, self.index_states, self.known_users, parts.timeline)

    @cached_property
    def write_limits(self) -> WriteLimits:
        """Throttling of ingest and of saved memories."""
        from recollect.timeline.ingest import WriteLimits

        return WriteLimits()

    def rebuild_index(self) -> RebuildIndex:
        """Documents from the records and their kept vectors: one walk."""
        from recollect.search_index.rebuild import RebuildIndex

        parts = self.parts
        return RebuildIndex(
            parts.timeline,
            parts.projections,
            parts.items,
            parts.index,
            parts.embedder,
            parts.concurrency,
            self.index_snapshots,
        )

    @cached_property
    def rederive(self) -> Rederive:
        """All that is derived, from the evidence."""
        from recollect.search_index.rederive import Rederive

        parts = self.parts
        return Rederive(
            parts.timeline, parts.projections, parts.items, parts.index, self._projector, self.rebuild_index()
        )

    @cached_property
    def reindex(self) -> Reindex:
        """The job `reindex`."""
        from recollect.search_index.reindex import EVENTS, VECTORS, Maker, Reindex

        makers: dict[str, Callable[[], Maker]] = {VECTORS: self.rebuild_index, EVENTS: lambda: self.rederive}
        index, states, users = self.parts.index, self.index_states, self.known_users
        return Reindex(index, states, users, makers, self._require_embedder, self._drop_generation)

    @cached_property
    def index_snapshots(self) -> IndexSnapshots | None:
        """Snapshots of the index; None where a deployment has no place for them."""
        from recollect.search_index.rebuild import IndexSnapshots

        try:
            return IndexSnapshots(self.parts.snapshots, self.parts.index.generation)
        except NotReady:
            return None

    def forget_indexed(self, scope: Scope, refs: Sequence[EventRef]) -> None:
        """Takes what is gone out of the snapshots of every index that the tenant uses or builds."""
        for snapshots in self._index_snapshots(scope.tenant):
            snapshots.forget(scope, refs)

    def erase_indexed(self, scope: Scope) -> int:
        """All of a user's out of the same; how many objects there were."""
        return sum(snapshots.erase(scope) for snapshots in self._index_snapshots(scope.tenant))

    def left_indexed(self, scope: Scope, keeps: Callable[[str], bool]) -> int:
        """How many vectors of a user's are in the same, but those that an erasure keeps."""
        return sum(snapshots.left(scope, keeps) for snapshots in self._index_snapshots(scope.tenant))

    def _index_snapshots(self, tenant: str) -> list[IndexSnapshots]:
        own = self.index_snapshots
        if own is None:
            return []
        generations = {self.parts.index.generation, *self.index_states.kept(tenant).generations}
        return [own.of(generation) for generation in sorted(generations)]

    def _drop_generation(self, tenant: str, generation: str) -> None:
        if self.index_snapshots is not None:
            self.index_snapshots.of(generation).drop(tenant)

    @cached_property
    def rotate_index(self) -> RotateIndex:
        """The job `snapshot`: that of the tenant, and then that of its index."""
        from recollect.search_index.rebuild import IndexSnapshots
        from recollect.search_index.reindex import RotateIndex

        parts, generation = self.parts, self.parts.index.generation
        return RotateIndex(
            parts.timeline,
            parts.projections,
            parts.items,
            self.known_users,
            lambda: IndexSnapshots(parts.snapshots, generation),
            generation,
            self.take_snapshot,
        )

    @cached_property
    def begin_reindex(self) -> BeginReindex:
        """What the background of a laptop does by itself."""
        from recollect.search_index.reindex import BeginReindex

        return BeginReindex(self.check_index, self.jobs, self.ids, self._require_embedder)

    def _projector(self, projections: Projections, index: SearchIndex, publisher: Publisher) -> ProjectEvents:
        """What `project` is, for another purpose: nobody hears of it, and summaries are left as they are."""
        from recollect.timeline.project import ProjectEvents

        parts, following = self.parts, replace(self.following, summaries=_nothing)
        return ProjectEvents(parts.timeline, projections, index, parts.embedder, publisher, following)

    def _require_embedder(self) -> None:
        """Raises NotReady where the one that is set is missing: `embedder`'s own check says why."""
        self.parts.checks()["embedder"]()


def _nothing(scope: Scope, events: Sequence[Event], gone: Sequence[EventRef], now: datetime) -> None:
    """For what was counted when it was new."""


def _real_now() -> datetime:
    return datetime.now(UTC)
