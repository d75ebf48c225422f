"""The search index: its generation in use, its health, its snapshots."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from recollect.composition.deployment import TimelineUseCases, UseCases
from recollect.core.errors import NotReady
from recollect.core.event import EventRef
from recollect.core.scope import Scope
from recollect.core.time import utc_now
from recollect.ports import SearchIndex
from recollect.rules.use_cases import TenantRuleStore
from recollect.search_index.health import CheckIndex, WatchIndex
from recollect.search_index.rebuild import IndexSnapshots
from recollect.search_index.state import IndexInUse, IndexStates

POINTER_SECONDS = 10.0
"""How long a process of the cloud caches the pointer to the index in use; on a laptop it is read each time."""


@dataclass(eq=False)
class SearchIndexUseCases(UseCases):
    """`app.search_index`."""

    _rules: TenantRuleStore
    _timeline: TimelineUseCases

    @cached_property
    def states(self) -> IndexStates:
        seconds = POINTER_SECONDS if self._deployment.settings.engines == "aws" else 0.0
        return IndexStates(self._parts.items, self._parts.index, utc_now, seconds)

    @cached_property
    def in_use(self) -> IndexInUse:
        """The index that search reads and `project` writes."""
        parts, states = self._parts, self.states
        unwatched = IndexInUse(parts.index, states, former=self.former)
        watch = WatchIndex(unwatched, parts.publisher, self._rules.resolved, self._deployment.ids, utc_now)
        return IndexInUse(parts.index, states, watch.watch, self.former)

    def former(self) -> SearchIndex | None:
        """The index of the search engine that the deployment had before, as long as there is one."""
        return self._parts.former_index

    @cached_property
    def health(self) -> CheckIndex:
        """The index's part of readiness."""
        parts = self._parts
        own = parts.checks()["index"]
        return CheckIndex(own, parts.index, self.states, self._timeline.known_users, parts.timeline, self.former)

    @cached_property
    def snapshots(self) -> IndexSnapshots | None:
        """Snapshots of the index; None without a snapshot store."""
        try:
            return IndexSnapshots(self._parts.snapshots, self._parts.index.generation)
        except NotReady:
            return None

    def forget(self, scope: Scope, refs: Sequence[EventRef]) -> None:
        """Removes deleted events from the snapshots of every index that the tenant uses or builds."""
        for snapshots in self._snapshots_of(scope.tenant):
            snapshots.forget(scope, refs)

    def erase(self, scope: Scope) -> int:
        """Removes a user's events from them; returns how many objects there were."""
        return sum(snapshots.erase(scope) for snapshots in self._snapshots_of(scope.tenant))

    def left(self, scope: Scope, keeps: Callable[[str], bool]) -> int:
        """How many of a user's vectors they hold, except those that an erasure keeps."""
        return sum(snapshots.left(scope, keeps) for snapshots in self._snapshots_of(scope.tenant))

    def drop(self, tenant: str, generation: str) -> None:
        """Deletes the snapshots of an unused generation."""
        if self.snapshots is not None:
            self.snapshots.of(generation).drop(tenant)

    def _snapshots_of(self, tenant: str) -> list[IndexSnapshots]:
        own = self.snapshots
        if own is None:
            return []
        generations = {self._parts.index.generation, *self.states.cached(tenant).generations}
        return [own.of(generation) for generation in sorted(generations)]
