"""The index that a tenant's records are in: reads go to the one in use, writes to the one that is being built too.

Where the one in use has the vectors of another embedder, it is searched by words, until the new one is whole (A-33 to
A-37). A write to several goes well where each takes it.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from recollect.application.index_states import IndexStates
from recollect.domain.errors import RecollectError
from recollect.domain.index_state import NO_GENERATION, IndexState
from recollect.domain.nomination import IndexCount, IndexDocument, IndexedPage, NominationRequest, Nominations
from recollect.domain.scope import Scope
from recollect.ports import IndexFailure, SearchIndex

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
