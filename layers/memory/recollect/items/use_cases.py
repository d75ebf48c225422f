"""Putting, getting, deleting, searching and listing the items of a tenant, one at a time or several at once.

Several at once: whatever is read sees what was there before, the last of several puts to one place wins, and each write
is durable by itself. `reader` is the one user whose items the credentials reach; None where they speak for everybody.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, TypeAlias

from recollect.core.errors import Forbidden, InvalidInput, VersionMismatch
from recollect.core.filter import EVERYTHING, Filter
from recollect.core.ids import IdSource
from recollect.core.items import of_tenant
from recollect.core.scope import Scope
from recollect.core.vectors import FloatArray, TextKind, pack_vector
from recollect.items.embedded_texts import WHOLE, check_paths, texts_at
from recollect.items.item import (
    LONGEST_TTL,
    FoundItem,
    ItemListing,
    ItemPlace,
    ItemPut,
    ItemSearch,
    ItemVectors,
    ListedPage,
    Namespace,
    NamespacedItem,
    NamespaceListing,
    OwnedPage,
    check_labels,
    check_place,
    refreshed,
)
from recollect.items.owners import owner_of
from recollect.ports import Embedder, NamespacedItems


@dataclass(frozen=True, slots=True)
class Get:
    """Asks for one item; its lifetime begins anew unless `refresh` is False."""

    place: ItemPlace
    refresh: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Put:
    """Keeps a document; `value` None deletes what is there.

    `index`: the paths that are embedded, False for none, None for the whole document. `vectors`: the application's own,
    instead of ours. `owner` absent: the one whom the namespace names.
    """

    place: ItemPlace
    value: Mapping[str, Any] | None
    index: Sequence[str] | bool | None = None
    vectors: Sequence[FloatArray] | None = None
    ttl: timedelta | None = None
    owner: str | None = None
    expected: int | None = None

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths that are embedded."""
        if self.index is False:
            return ()
        return (WHOLE,) if self.index is None or isinstance(self.index, bool) else tuple(self.index)


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """Asks for items below a prefix, by fields, and by meaning where `query` or an own vector is given.

    `exact` and `bounded` are those of `ItemSearch`.
    """

    prefix: Namespace = ()
    filter: Filter = EVERYTHING
    query: str | None = None
    vector: FloatArray | None = None
    limit: int = 10
    offset: int = 0
    refresh: bool = True
    exact: bool = False
    bounded: bool = False


Noted: TypeAlias = Callable[[Scope, Sequence[ItemPlace], str, datetime], AbstractContextManager[None]]
Operation: TypeAlias = Get | Put | Search | NamespaceListing
Outcome: TypeAlias = NamespacedItem | list[FoundItem] | list[Namespace] | None


@dataclass(frozen=True, slots=True)
class KeepItems:
    """The use cases behind `/store/*`. `owners` are the patterns of `items.owners`.

    `noted` stands around the deletion of items that a user owns, so that nothing brings them back.
    """

    _items: NamespacedItems
    _ids: IdSource
    _noted: Noted
    _embedder: Embedder | None = None
    _owners: tuple[Namespace, ...] = ()

    def get(self, tenant: str, wanted: Get, now: datetime, reader: str | None = None) -> NamespacedItem | None:
        """The item; None where there is none, or it is another's."""
        return self._got(tenant, [wanted], now, reader)[0]

    def put(self, tenant: str, wanted: Put, now: datetime, reader: str | None = None) -> NamespacedItem | None:
        """The item as stored; None for a deletion. Raises InvalidInput, VersionMismatch, Forbidden."""
        return self._put(tenant, [wanted], now, reader)[0]

    def search(self, tenant: str, wanted: Search, now: datetime, reader: str | None = None) -> list[FoundItem]:
        """What is found, the best first. Raises InvalidInput where too much lies below the prefix."""
        check_labels(wanted.prefix, "namespace_prefix")
        vector, space = self._query(wanted)
        asked = ItemSearch(
            prefix=wanted.prefix,
            filter=wanted.filter,
            owner=reader,
            vector=vector,
            space=space,
            limit=wanted.limit,
            offset=wanted.offset,
            exact=wanted.exact,
            bounded=wanted.bounded,
        )
        found = self._items.search(of_tenant(tenant), asked, now)
        if wanted.refresh:
            items = self._refreshed(tenant, [one.item for one in found], now)
            found = [replace(one, item=item) for one, item in zip(found, items, strict=True)]
        return found

    def namespaces(
        self, tenant: str, wanted: NamespaceListing, now: datetime, reader: str | None = None
    ) -> list[Namespace]:
        """The namespaces that have items, sorted."""
        check_labels(wanted.prefix, "prefix")
        check_labels(wanted.suffix, "suffix")
        return wanted.of(self._items.namespaces(of_tenant(tenant), wanted.fixed_prefix, reader, now))

    def page(self, tenant: str, wanted: ItemListing, now: datetime, reader: str | None = None) -> ListedPage:
        """A page of one namespace by keys; a page may be short before the end. No lifetime begins anew."""
        page = self._items.page(of_tenant(tenant), wanted, now)
        return replace(page, items=tuple(item for item in page.items if reader in (None, item.owner)))

    def batch(
        self, tenant: str, operations: Sequence[Operation], now: datetime, reader: str | None = None
    ) -> list[Outcome]:
        """The outcome of each, in order; reads see what was there before the first write."""
        outcomes: list[Outcome] = [None] * len(operations)
        gets = [(place, one) for place, one in enumerate(operations) if isinstance(one, Get)]
        for (place, _), item in zip(gets, self._got(tenant, [one for _, one in gets], now, reader), strict=True):
            outcomes[place] = item
        for place, one in enumerate(operations):
            if isinstance(one, Search):
                outcomes[place] = self.search(tenant, one, now, reader)
            elif isinstance(one, NamespaceListing):
                outcomes[place] = self.namespaces(tenant, one, now, reader)
        last = {one.place: place for place, one in enumerate(operations) if isinstance(one, Put)}
        puts = [
            (place, one) for place, one in enumerate(operations) if isinstance(one, Put) and last[one.place] == place
        ]
        for (place, _), item in zip(puts, self._put(tenant, [one for _, one in puts], now, reader), strict=True):
            outcomes[place] = item
        return outcomes

    def owned(self, scope: Scope, limit: int, after: str | None, now: datetime) -> OwnedPage:
        """A page of a user's items, for an export; expired ones are left out."""
        page = self._items.owned(scope.user, limit, after)
        return replace(page, items=tuple(item for item in page.items if not item.expired(now)))

    def _got(
        self, tenant: str, wanted: Sequence[Get], now: datetime, reader: str | None
    ) -> list[NamespacedItem | None]:
        for one in wanted:
            check_place(one.place)
        places = list(dict.fromkeys(one.place for one in wanted))
        read = self._items.read(of_tenant(tenant), places, now) if places else {}
        found = {place: item for place, item in read.items() if reader in (None, item.owner)}
        kept = [found[one.place] for one in wanted if one.refresh and one.place in found]
        found |= {item.place: item for item in self._refreshed(tenant, kept, now)}
        return [found.get(one.place) for one in wanted]

    def _refreshed(self, tenant: str, items: Sequence[NamespacedItem], now: datetime) -> list[NamespacedItem]:
        later = [refreshed(item, now) for item in items]
        lasting = [item for item in later if item.ttl is not None]
        if lasting:
            self._items.refresh(of_tenant(tenant), lasting)
        return later

    def _put(
        self, tenant: str, wanted: Sequence[Put], now: datetime, reader: str | None
    ) -> list[NamespacedItem | None]:
        for one in wanted:
            _check_put(one)
        vectors = self._vectors(wanted)
        puts = [self._as_put(one, mine, reader) for one, mine in zip(wanted, vectors, strict=True)]
        if not puts:
            return []
        try:
            with ExitStack() as deletions:
                for owner, places in self._deleted(tenant, puts, now).items():
                    deletions.enter_context(self._noted(Scope(tenant, owner), places, self._ids.fresh(), now))
                return self._items.write(of_tenant(tenant), puts, now)
        except VersionMismatch as error:
            if reader is not None and all(one.expected is None for one in wanted):
                raise Forbidden("an item of another user is there") from error
            raise

    def _deleted(self, tenant: str, puts: Sequence[ItemPut], now: datetime) -> dict[str, list[ItemPlace]]:
        """The items that these deletions are about and may delete, by the users who own them."""
        deletions = {put.place: put for put in puts if put.value is None}
        there = self._items.read(of_tenant(tenant), list(deletions), now) if deletions else {}
        owned: dict[str, list[ItemPlace]] = {}
        for place, item in there.items():
            put = deletions[place]
            if item.owner is not None and put.expected in (None, item.version) and put.only_of in (None, item.owner):
                owned.setdefault(item.owner, []).append(place)
        return owned

    def _as_put(self, wanted: Put, vectors: ItemVectors | None, reader: str | None) -> ItemPut:
        named = owner_of(wanted.place.namespace, self._owners)
        owner = wanted.owner or reader or named
        if reader is not None and (owner != reader or named not in (None, reader)):
            raise Forbidden("the credentials are another user's")
        return ItemPut(
            place=wanted.place,
            value=wanted.value,
            revision=self._ids.fresh(),
            expected=wanted.expected,
            index=wanted.paths,
            owner=owner,
            ttl=wanted.ttl,
            vectors=vectors,
            only_of=reader,
        )

    def _vectors(self, wanted: Sequence[Put]) -> list[ItemVectors | None]:
        """Those of each put; what is ours to embed goes to the embedder in one call."""
        texts = [self._texts(one) for one in wanted]
        distinct = list(dict.fromkeys(text for some in texts for text in some))
        packed: dict[str, bytes] = {}
        if distinct and self._embedder is not None:
            encodings = self._embedder.encode(distinct, TextKind.PASSAGE)
            packed = {text: pack_vector(one.vector) for text, one in zip(distinct, encodings, strict=True)}
        return [_given(one) or self._made(some, packed) for one, some in zip(wanted, texts, strict=True)]

    def _texts(self, wanted: Put) -> list[str]:
        if wanted.value is None or wanted.vectors is not None or self._embedder is None:
            return []
        return texts_at(wanted.value, wanted.paths)

    def _made(self, texts: Sequence[str], packed: Mapping[str, bytes]) -> ItemVectors | None:
        if not texts or self._embedder is None:
            return None
        return ItemVectors(self._embedder.generation, tuple(packed[text] for text in texts))

    def _query(self, wanted: Search) -> tuple[FloatArray | None, str]:
        if wanted.vector is not None:
            return wanted.vector, given_space(wanted.vector)
        if not wanted.query or self._embedder is None:
            return None, ""
        return self._embedder.encode([wanted.query], TextKind.QUERY)[0].vector, self._embedder.generation


def given_space(vector: FloatArray) -> str:
    """The space of vectors that the application gives: such ones of one length are taken to be one model's."""
    return f"given.{len(vector)}"


def _given(wanted: Put) -> ItemVectors | None:
    if not wanted.vectors or wanted.value is None:
        return None
    spaces = {given_space(vector) for vector in wanted.vectors}
    if len(spaces) > 1:
        raise InvalidInput("the vectors of an item are of one length", ("vectors",))
    return ItemVectors(spaces.pop(), tuple(map(pack_vector, wanted.vectors)))


def _check_put(wanted: Put) -> None:
    check_place(wanted.place)
    if wanted.ttl is not None and not timedelta(0) < wanted.ttl <= LONGEST_TTL:
        raise InvalidInput(f"a lifetime is more than nothing and at most {LONGEST_TTL.days} days", ("ttl",))
    if wanted.index is not None and not isinstance(wanted.index, bool):
        check_paths(wanted.index)
