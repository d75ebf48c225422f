"""Which index a tenant's records are found in: a pointer, kept as one item of the tenant.

| collection     | owner  | key     | item                                                                       |
|----------------|--------|---------|----------------------------------------------------------------------------|
| `search_index` | tenant | `state` | `IndexState`; always due in the queue `search_index`: so all can be listed |

An index is built beside the one in use, and the pointer is moved when it is whole: one conditional write. Meanwhile
writes go to both, and reads to the one in use.
"""

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from recollect.core.errors import RecollectError, StoredDataError, VersionMismatch
from recollect.core.items import ABSENT, Due, Item, ItemKey, ItemPath, ItemWrite, of_tenant
from recollect.core.scope import Scope
from recollect.ports import IndexFailure, Items, SearchIndex
from recollect.retrieval.nomination import IndexCount, IndexDocument, IndexedPage, NominationRequest, Nominations

NO_GENERATION = "none"
QUEUE = "search_index"
STATE = ItemKey(ItemPath("search_index"), "state")
FORMAT_VERSION = 1
OTHER_GENERATION, LOST, UNFINISHED, INCOMPLETE = "generation", "lost", "unfinished", "incomplete"
NOT_WARM = frozenset({OTHER_GENERATION, LOST})
"""Why searches do not find all that they should: the index is not ready (A-35)."""

_ALWAYS_DUE = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexState:
    """`generation` is in use; `building` is the one that is being built, the same where it is made anew in place.

    `identity` is that of the index in use as it was last known to be whole (`SearchIndex.identity`; A-34). `incomplete`
    names generations to which documents were written without vectors, where their model was missing.
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
        """Why it must be built for this generation: a word of ours; None where it is whole."""
        if self.generation != generation:
            return OTHER_GENERATION
        if self.identity != identity:
            return LOST
        if self.building is not None:
            return UNFINISHED
        return INCOMPLETE if generation in self.incomplete else None

    def lacking(self, generations: Iterable[str]) -> "IndexState":
        """With these among the incomplete ones."""
        return replace(self, incomplete=tuple(sorted({*self.incomplete, *generations})))

    def begun(self, generation: str) -> "IndexState":
        """While this generation is being built: what it lacks from now on is noted anew."""
        return replace(self, building=generation, incomplete=tuple(g for g in self.incomplete if g != generation))

    def switched(self, generation: str, identity: str) -> "IndexState":
        """With this generation in use; what it came to lack while it was built is still noted."""
        lacking = (generation,) if generation in self.incomplete else ()
        return IndexState(generation=generation, identity=identity, incomplete=lacking)


def state_in(item: Item) -> IndexState:
    """Reads what `state_write` wrote. Raises StoredDataError."""
    value = item.value
    try:
        if value["format"] > FORMAT_VERSION:
            raise StoredDataError("an index's state of a newer format")
        return IndexState(
            generation=value["generation"],
            identity=value["identity"],
            building=value.get("building"),
            incomplete=tuple(value["incomplete"]),
        )
    except (KeyError, TypeError) as error:
        raise StoredDataError(f"an index's state cannot be read: {type(error).__name__}") from error


def state_write(state: IndexState, expected: int) -> ItemWrite:
    """The write that makes it so, on the condition that the item has this version."""
    value: dict[str, Any] = {
        "format": FORMAT_VERSION,
        "generation": state.generation,
        "identity": state.identity,
        "building": state.building,
        "incomplete": list(state.incomplete),
    }
    return ItemWrite(STATE, value, expected, Due(QUEUE, _ALWAYS_DUE))


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


Watch = Callable[[Mapping[str, int], float], None]
"""Told of each write: the documents by tenant, and the seconds it took."""


class IndexInUse:
    """See `ports.SearchIndex`; `index` is that of this process's embedder."""

    def __init__(self, index: SearchIndex, states: IndexStates, watch: Watch | None = None) -> None:
        self._index = index
        self._states = states
        self._watch = watch
        self._others: dict[str, SearchIndex] = {}

    @property
    def generation(self) -> str:
        """This process's embedder's."""
        return self._index.generation

    def holds_vectors(self, tenant: str) -> bool:
        """Whether the index in use has the vectors of this process's embedder."""
        return self._index.holds_vectors(tenant) and self._readable(tenant).generation == self.generation

    def of(self, generation: str) -> SearchIndex:
        """See `SearchIndex`."""
        if generation not in self._others:
            self._others[generation] = self._index.of(generation)
        return self._others[generation]

    def put(self, documents: Sequence[IndexDocument], *, shown: bool = True) -> list[IndexFailure]:
        """Into every index that the documents' tenants use or build; one failure for a document, wherever it was."""
        began = time.monotonic()
        by_tenant: dict[str, list[IndexDocument]] = {}
        for document in documents:
            by_tenant.setdefault(document.tenant, []).append(document)
        by_generation: dict[str, list[IndexDocument]] = {}
        for tenant, group in by_tenant.items():
            for generation in self._written(tenant, group):
                by_generation.setdefault(generation, []).extend(group)
        failures = {
            failure.event_id: failure
            for generation, group in by_generation.items()
            for failure in self._at(generation).put(group, shown=shown)
        }
        if self._watch is not None:
            self._watch({tenant: len(group) for tenant, group in by_tenant.items()}, time.monotonic() - began)
        return list(failures.values())

    def remove(self, scope: Scope, event_ids: Sequence[str], *, shown: bool = True) -> list[IndexFailure]:
        """From every index that the tenant uses or builds."""
        generations = self._states.kept(scope.tenant).generations
        failures = [f for g in generations for f in self._at(g).remove(scope, event_ids, shown=shown)]
        return list({failure.event_id: failure for failure in failures}.values())

    def nominate(self, scope: Scope, request: NominationRequest) -> Nominations:
        """From the index in use; by words alone where its vectors are another embedder's."""
        generation = self._readable(scope.tenant).generation
        if generation == self.generation:
            return self._index.nominate(scope, request)
        found = self._at(generation).nominate(scope, replace(request, vector=None, min_similarity=None))
        return replace(found, hits=tuple(replace(hit, vector=None) for hit in found.hits))

    def count(self, owner: Scope) -> IndexCount:
        """Of the index in use."""
        return self._at(self._readable(owner.tenant).generation).count(owner)

    def listed(self, scope: Scope, limit: int, after: str | None) -> IndexedPage:
        """Of the index in use."""
        return self._at(self._readable(scope.tenant).generation).listed(scope, limit, after)

    def drop(self, tenant: str, limit: int, *, whole: bool = False) -> int:
        """See `SearchIndex`."""
        return self._index.drop(tenant, limit, whole=whole)

    def identity(self) -> str:
        """See `SearchIndex`."""
        return self._index.identity()

    def check(self) -> str:
        """See `SearchIndex`."""
        return self._index.check()

    def create(self) -> bool:
        """See `SearchIndex`."""
        return self._index.create()

    def _at(self, generation: str) -> SearchIndex:
        return self._index if generation == self.generation else self.of(generation)

    def _readable(self, tenant: str) -> IndexState:
        """A search goes on where the pointer cannot be read: with this process's own index."""
        with suppress(RecollectError):
            return self._states.kept(tenant)
        return IndexState(generation=self.generation, identity="")

    def _written(self, tenant: str, documents: Sequence[IndexDocument]) -> tuple[str, ...]:
        """The generations; those that get documents without vectors by this write are noted before it."""
        state = self._states.entered(tenant)
        by_words = [g for g in state.generations if g not in (self.generation, NO_GENERATION)]
        if by_words and not all(document.is_private for document in documents):
            self._states.lacking(tenant, by_words)
        return state.generations
