"""Which index a tenant's records are in: a pointer, stored as one item of the tenant (A-33 to A-37).

| collection     | owner  | key     | item                                                                       |
|----------------|--------|---------|----------------------------------------------------------------------------|
| `search_index` | tenant | `state` | `IndexState`; always due in the queue `search_index`: so all can be listed |

A new index is built beside the one in use, and one conditional write moves the pointer once it is complete. Meanwhile
writes go to both, reads to the one in use. An index with another embedder's vectors is searched by words alone.
"""

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime

from recollect.core.errors import RecollectError, StoredDataError, VersionMismatch
from recollect.core.idempotency import retry_on_conflict
from recollect.core.items import ABSENT, ALL_PAGES, Due, Item, ItemKey, ItemPath, ItemWrite, of_tenant, pages, reading
from recollect.core.scope import Scope
from recollect.ports import IndexFailure, Items, SearchIndex
from recollect.retrieval.nomination import IndexCount, IndexDocument, IndexedPage, NominationRequest, Nominations

NO_GENERATION = "none"
QUEUE = "search_index"
STATE = ItemKey(ItemPath("search_index"), "state")
FORMAT_VERSION = 1
OTHER_GENERATION, LOST, UNFINISHED, INCOMPLETE = "generation", "lost", "unfinished", "incomplete"
OTHER_ENGINE = "engine"
NOT_WARM = frozenset({OTHER_GENERATION, LOST})
"""Why searches do not find all that they should: the index is not ready (A-35)."""

_ALWAYS_DUE = datetime(2000, 1, 1, tzinfo=UTC)
_PAGE = 100
_MOST_CACHED = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexState:
    """`generation` is in use; `building` is being built, the same where it is rebuilt in place.

    `identity` is that of the index in use when it was last complete (`SearchIndex.identity`; A-34). `incomplete` names
    generations to which documents were written without vectors, because their model was missing.
    """

    generation: str
    identity: str
    building: str | None = None
    incomplete: tuple[str, ...] = ()

    @property
    def generations(self) -> tuple[str, ...]:
        """All that writes go to, the one in use first."""
        both = (self.generation, self.building)
        return tuple(dict.fromkeys(one for one in both if one is not None))

    def lags(self, generation: str, identity: str) -> str | None:
        """The reason to rebuild for this generation, one of the constants above; None where it is complete."""
        if self.generation != generation:
            return OTHER_GENERATION
        if self.identity != identity:
            return LOST
        if self.building is not None:
            return UNFINISHED
        return INCOMPLETE if generation in self.incomplete else None

    def lacking(self, generations: Iterable[str]) -> "IndexState":
        return replace(self, incomplete=tuple(sorted({*self.incomplete, *generations})))

    def begun(self, generation: str) -> "IndexState":
        """With this generation being built; documents that lack vectors are noted from the start again."""
        return replace(self, building=generation, incomplete=tuple(g for g in self.incomplete if g != generation))

    def switched(self, generation: str, identity: str) -> "IndexState":
        """With this generation in use; documents written without vectors during the build stay noted."""
        lacking = (generation,) if generation in self.incomplete else ()
        return IndexState(generation=generation, identity=identity, incomplete=lacking)


@reading("an index's state")
def state_in(item: Item) -> IndexState:
    value = item.value
    if value["format"] > FORMAT_VERSION:
        raise StoredDataError("an index's state of a newer format")
    return IndexState(
        generation=value["generation"],
        identity=value["identity"],
        building=value.get("building"),
        incomplete=tuple(value["incomplete"]),
    )


def state_write(state: IndexState, expected: int) -> ItemWrite:
    """The conditional write of the state, on the item's version `expected`."""
    value = {"format": FORMAT_VERSION, **asdict(state)}
    return ItemWrite(STATE, value, expected, Due(QUEUE, _ALWAYS_DUE))


@dataclass(frozen=True, slots=True)
class VersionedState:
    """A state with its item's version, ABSENT where no item exists."""

    state: IndexState
    version: int


class IndexStates:
    """Reads and changes pointers; another process's change is read `cache_seconds` late: a rebuild waits as long."""

    def __init__(
        self, items: Items, index: SearchIndex, clock: Callable[[], datetime], cache_seconds: float = 0.0
    ) -> None:
        self._items = items
        self._index = index
        self._clock = clock
        self._cache: dict[str, tuple[float, VersionedState]] = {}
        self.cache_seconds = cache_seconds

    def cached(self, tenant: str) -> IndexState:
        """The state, at most `cache_seconds` old; without one the index of this process's embedder is in use."""
        read_at, found = self._cache.get(tenant, (0.0, None))
        if found is None or time.monotonic() - read_at >= self.cache_seconds:
            found = self.read(tenant)
            if found.version != ABSENT:
                self._store(tenant, found)
        return found.state

    def _store(self, tenant: str, found: VersionedState) -> None:
        if len(self._cache) >= _MOST_CACHED:
            self._cache.clear()
        self._cache[tenant] = time.monotonic(), found

    def entered(self, tenant: str) -> IndexState:
        """The same for a writer: the first write of a tenant stores which index it uses."""
        if tenant not in self._cache:
            found = self.read(tenant)
            if found.version == ABSENT:
                self._note(tenant)
        return self.cached(tenant)

    def read(self, tenant: str) -> VersionedState:
        item = self._items.get(of_tenant(tenant), [STATE]).get(STATE)
        if item is None:
            return VersionedState(IndexState(generation=self._index.generation, identity=""), ABSENT)
        return VersionedState(state_in(item), item.version)

    def change(self, tenant: str, change: Callable[[IndexState], IndexState]) -> IndexState:
        """Writes the changed state unless it is equal. Raises Conflict."""

        def write() -> IndexState:
            found = self.read(tenant)
            changed = change(found.state)
            if changed != found.state or found.version == ABSENT:
                self._items.write(of_tenant(tenant), [state_write(changed, found.version)], self._clock())
                self._cache.pop(tenant, None)
            return changed

        return retry_on_conflict(write, "the state of the index")

    def lacking(self, tenant: str, generations: Collection[str]) -> None:
        """Notes that documents without vectors were written to these generations."""
        if not set(generations) <= set(self.cached(tenant).incomplete):
            self.change(tenant, lambda state: state.lacking(generations))

    def all(self) -> Iterator[tuple[str, IndexState]]:
        """Every tenant's state; one written in the last seconds may be missing."""
        for page in pages(lambda after: self._items.due(QUEUE, self._clock(), _PAGE, after), ALL_PAGES):
            for due in page.items:
                found = self.read(due.owner.tenant)
                if found.version != ABSENT:
                    yield due.owner.tenant, found.state

    def _note(self, tenant: str) -> None:
        first = IndexState(generation=self._index.generation, identity=self._index.identity())
        with suppress(VersionMismatch):  # another process has noted it
            self._items.write(of_tenant(tenant), [state_write(first, ABSENT)], self._clock())


Watch = Callable[[Mapping[str, int], float], None]
"""Called after each write with the number of documents by tenant and the seconds it took."""


@dataclass(frozen=True, slots=True)
class Engines:
    """The index of this deployment's search engine, and that of the one before it, which tenants leave one by one.

    `former` opens the other, None where there is none; it is opened for a tenant that has not moved yet.
    """

    index: SearchIndex
    former: Callable[[], SearchIndex | None]

    def left(self, state: IndexState) -> SearchIndex | None:
        """The former engine's index where the tenant's documents are in that one still."""
        if not state.identity or self.index.owns(state.identity):
            return None
        former = self.former()
        return former if former is not None and former.owns(state.identity) else None

    def reading(self, state: IndexState) -> SearchIndex:
        """The index that has the tenant's documents, of this process's embedder."""
        return self.left(state) or self.index

    def writing(self, state: IndexState) -> Iterator[tuple[SearchIndex, str]]:
        """The indexes that writes go to, each with a generation: the one in use first, then the one being built."""
        left = self.left(state)
        if left is None:
            yield from ((self.index, generation) for generation in state.generations)
            return
        yield left, state.generation
        if state.building is not None:
            yield self.index, state.building


def no_former() -> None:
    """A deployment has one search engine, unless it is changing to another."""


class IndexInUse:
    """A `SearchIndex` of every tenant's index in use; `index` is that of this process's embedder.

    Where a deployment changes to another engine, a tenant's is the `former` one's until the job `reindex` has moved it.
    """

    def __init__(
        self,
        index: SearchIndex,
        states: IndexStates,
        watch: Watch | None = None,
        former: Callable[[], SearchIndex | None] = no_former,
    ) -> None:
        self._index = index
        self._states = states
        self._watch = watch
        self._engines = Engines(index, former)
        self._others: dict[tuple[bool, str], SearchIndex] = {}

    @property
    def generation(self) -> str:
        """The generation of this process's embedder."""
        return self._index.generation

    def holds_vectors(self, tenant: str) -> bool:
        """Whether the index in use has the vectors of this process's embedder."""
        state = self._readable(tenant)
        return self._engines.reading(state).holds_vectors(tenant) and state.generation == self.generation

    def of(self, generation: str) -> SearchIndex:
        return self._other(self._index, generation)

    def put(self, documents: Sequence[IndexDocument], *, shown: bool = True) -> list[IndexFailure]:
        """Writes to every index that the documents' tenants use or build; at most one failure per document."""
        began = time.monotonic()
        by_tenant: dict[str, list[IndexDocument]] = {}
        for document in documents:
            by_tenant.setdefault(document.tenant, []).append(document)
        targets: dict[int, tuple[SearchIndex, list[IndexDocument]]] = {}
        for tenant, group in by_tenant.items():
            for index in self._written(tenant, group):
                targets.setdefault(id(index), (index, []))[1].extend(group)
        failures = {
            failure.event_id: failure for index, group in targets.values() for failure in index.put(group, shown=shown)
        }
        if self._watch is not None:
            self._watch({tenant: len(group) for tenant, group in by_tenant.items()}, time.monotonic() - began)
        return list(failures.values())

    def remove(self, scope: Scope, event_ids: Sequence[str], *, shown: bool = True) -> list[IndexFailure]:
        """Removes from every index that the tenant uses or builds."""
        indexes = [self._at(*one) for one in self._engines.writing(self._states.cached(scope.tenant))]
        failures = [failure for index in indexes for failure in index.remove(scope, event_ids, shown=shown)]
        return list({failure.event_id: failure for failure in failures}.values())

    def nominate(self, scope: Scope, request: NominationRequest) -> Nominations:
        """Searches the index in use; by words alone where its vectors are another embedder's."""
        state = self._readable(scope.tenant)
        index = self._reading(state)
        if state.generation == self.generation:
            return index.nominate(scope, request)
        found = index.nominate(scope, replace(request, vector=None, standing=None, min_similarity=None))
        return replace(found, hits=tuple(replace(hit, vector=None) for hit in found.hits))

    def count(self, owner: Scope, most: int | None = None) -> IndexCount:
        return self._reading(self._readable(owner.tenant)).count(owner, most)

    def listed(self, scope: Scope, limit: int, after: str | None) -> IndexedPage:
        return self._reading(self._readable(scope.tenant)).listed(scope, limit, after)

    def drop(self, tenant: str, limit: int, *, whole: bool = False) -> int:
        return self._index.drop(tenant, limit, whole=whole)

    def pack(self, remaining_seconds: Callable[[], float]) -> int:
        """Packs the former engine's too: what is deleted of a tenant goes from there before the tenant moves."""
        former = self._engines.former()
        return self._index.pack(remaining_seconds) + (former.pack(remaining_seconds) if former else 0)

    def owns(self, identity: str) -> bool:
        return self._index.owns(identity)

    def identity(self) -> str:
        return self._index.identity()

    def check(self) -> str:
        return self._index.check()

    def create(self) -> bool:
        return self._index.create()

    def _reading(self, state: IndexState) -> SearchIndex:
        return self._at(self._engines.reading(state), state.generation)

    def _at(self, index: SearchIndex, generation: str) -> SearchIndex:
        return index if generation == self.generation else self._other(index, generation)

    def _other(self, index: SearchIndex, generation: str) -> SearchIndex:
        key = (index is self._index, generation)
        if key not in self._others:
            self._others[key] = index.of(generation)
        return self._others[key]

    def _readable(self, tenant: str) -> IndexState:
        """Where the pointer cannot be read, a search uses this process's own index."""
        with suppress(RecollectError):
            return self._states.cached(tenant)
        return IndexState(generation=self.generation, identity="")

    def _written(self, tenant: str, documents: Sequence[IndexDocument]) -> list[SearchIndex]:
        """The indexes to write to; notes those that get documents without vectors before the write."""
        state = self._states.entered(tenant)
        by_words = [g for g in state.generations if g not in (self.generation, NO_GENERATION)]
        if by_words and not all(document.is_private for document in documents):
            self._states.lacking(tenant, by_words)
        return [self._at(*one) for one in self._engines.writing(state)]
