"""The pointer to each tenant's index in use, read where it is needed and kept for some seconds."""

import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from datetime import datetime

from recollect.domain.errors import VersionMismatch
from recollect.domain.index_state import QUEUE, STATE, IndexState, state_in, state_write
from recollect.domain.items import ABSENT, of_tenant
from recollect.ports import Items, SearchIndex

_TRIES = 5
_PAGE = 100
_MOST_KEPT = 10_000


@dataclass(frozen=True, slots=True)
class KeptState:
    """A state with the version of its item, ABSENT for none yet."""

    state: IndexState
    version: int


class IndexStates:
    """`kept_seconds` is how long another process's change may go unnoticed: a rebuild waits for that long."""

    def __init__(
        self, items: Items, index: SearchIndex, clock: Callable[[], datetime], kept_seconds: float = 0.0
    ) -> None:
        self._items = items
        self._index = index
        self._clock = clock
        self._kept: dict[str, tuple[float, KeptState]] = {}
        self.kept_seconds = kept_seconds

    def kept(self, tenant: str) -> IndexState:
        """As it is, or was `kept_seconds` ago; without one the index of this process's embedder is in use."""
        read_at, found = self._kept.get(tenant, (0.0, None))
        if found is None or time.monotonic() - read_at >= self.kept_seconds:
            found = self.read(tenant)
            if found.version != ABSENT:
                self._keep(tenant, found)
        return found.state

    def _keep(self, tenant: str, found: KeptState) -> None:
        if len(self._kept) >= _MOST_KEPT:
            self._kept.clear()
        self._kept[tenant] = time.monotonic(), found

    def entered(self, tenant: str) -> IndexState:
        """The same for a writer: the first one of a tenant notes which index it is."""
        if tenant not in self._kept:
            found = self.read(tenant)
            if found.version == ABSENT:
                self._note(tenant)
        return self.kept(tenant)

    def read(self, tenant: str) -> KeptState:
        """As it is now."""
        item = self._items.get(of_tenant(tenant), [STATE]).get(STATE)
        if item is None:
            return KeptState(IndexState(generation=self._index.generation, identity=""), ABSENT)
        return KeptState(state_in(item), item.version)

    def change(self, tenant: str, change: Callable[[IndexState], IndexState]) -> IndexState:
        """Writes the changed state unless it is the same. Raises VersionMismatch where others write all the time."""
        for _ in range(_TRIES):
            found = self.read(tenant)
            changed = change(found.state)
            if changed == found.state and found.version != ABSENT:
                return changed
            try:
                self._items.write(of_tenant(tenant), [state_write(changed, found.version)], self._clock())
            except VersionMismatch:
                continue
            self._kept.pop(tenant, None)
            return changed
        raise VersionMismatch("the index's state changes all the time")

    def lacking(self, tenant: str, generations: Collection[str]) -> None:
        """Notes that documents without vectors were written to these, which have vectors."""
        if not set(generations) <= set(self.kept(tenant).incomplete):
            self.change(tenant, lambda state: state.lacking(generations))

    def all(self) -> Iterator[tuple[str, IndexState]]:
        """Every tenant's; one that was written some seconds ago may be missing."""
        after: str | None = None
        while True:
            page = self._items.due(QUEUE, self._clock(), _PAGE, after)
            for due in page.items:
                found = self.read(due.owner.tenant)
                if found.version != ABSENT:
                    yield due.owner.tenant, found.state
            after = page.more
            if after is None:
                return

    def _note(self, tenant: str) -> None:
        first = IndexState(generation=self._index.generation, identity=self._index.identity())
        try:
            self._items.write(of_tenant(tenant), [state_write(first, ABSENT)], self._clock())
        except VersionMismatch:
            return
