"""The port `NamespacedItems` on DynamoDB: all items of a tenant in one partition, sorted by namespace and key.

| attribute   | meaning                                                                                       |
|-------------|-----------------------------------------------------------------------------------------------|
| `z`         | the document (packed JSON)                                                                     |
| `n`         | `[label, …, key]` as JSON, since the sort key may have hashes                                  |
| `v`, `j`    | version; revision                                                                             |
| `b`, `t`    | instants of its first and of its last write                                                   |
| `k`         | the paths of its embedded texts, as JSON, unless that is the whole                            |
| `u`         | the owner's user id                                                                           |
| `d`, `f`    | lifetime in microseconds; the instant of its end; `ttl`, when the service may delete it       |
| `y`, `x`    | space and list of its vectors                                                                  |
| `m`         | what its fields are compared by (`filter_expression`)                                          |

An owned item and its entry in the owner's partition (`O#…`: `n`, `j`, `ttl`) are written in one transaction. A search
reads what lies below its prefix, at most `MOST_READ` items: it costs by what is below the prefix. DynamoDB holds back
what the filter is sure to refuse, so that it does not travel; the rest is filtered, compared and ordered in this
process. Namespaces are listed by queries that skip the rest of a namespace once known.
"""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from recollect.adapters.aws import keys
from recollect.adapters.aws.clients import CONDITION_FAILED, ignored, translated
from recollect.adapters.aws.filter_expression import MAP, expression_of, fields_of
from recollect.adapters.aws.item_format import (
    Attributes,
    binary,
    instant,
    moment_in,
    number,
    pack_json,
    text,
    unpack_json,
)
from recollect.adapters.aws.keys import Key, SortRange
from recollect.adapters.aws.table import ABSENT, SERVICE, ItemAccess, Passing, Walk
from recollect.adapters.item_scores import best_cosines
from recollect.core.errors import InvalidInput, Throttled, VersionMismatch
from recollect.core.filter import holds
from recollect.core.scope import Scope
from recollect.items.embedded_texts import WHOLE
from recollect.items.item import (
    MOST_READ,
    FoundItem,
    ItemListing,
    ItemPlace,
    ItemPut,
    ItemSearch,
    ItemVectors,
    ListedPage,
    Namespace,
    NamespacedItem,
    OwnedPage,
    check_vectors,
    in_order,
    value_text,
)

_MICROSECOND = timedelta(microseconds=1)
_LISTED_AT_ONCE = 100
_PLACE = ("sk", "n", "u", "f")
_ATTRIBUTES = ("z", "n", "v", "j", "b", "t", "k", "u", "d", "f")
_VECTORS = ("y", "x")
"""What is read of an item: its place and owner; all but its vectors; these."""
_GRACE_SECONDS = 1


@dataclass(frozen=True, slots=True)
class DynamoDBNamespacedItems:
    """`clock` is the real time in seconds since 1970, by which the service deletes what has ended (TTL)."""

    access: ItemAccess
    clock: Callable[[], float] = field(default=time.time)

    def read(self, tenant: Scope, places: Sequence[ItemPlace], now: datetime) -> dict[ItemPlace, NamespacedItem]:
        where = {place: keys.namespaced_key(tenant.tenant, place) for place in places}
        found = self.access.get_many(where.values())
        read = {place: item_in(found[key]) for place, key in where.items() if key in found}
        return {place: item for place, item in read.items() if not item.expired(now)}

    def write(self, tenant: Scope, puts: Sequence[ItemPut], now: datetime) -> list[NamespacedItem | None]:
        """Side by side. Raises VersionMismatch; Throttled after about a second of conflicts."""
        for put in puts:
            check_vectors(put.vectors)
            if put.value is not None:
                value_text(put.value)
        return self.access.side_by_side(lambda put: self._written(tenant.tenant, put, now), puts) if puts else []

    def refresh(self, tenant: Scope, items: Sequence[NamespacedItem]) -> None:
        self.access.side_by_side(lambda item: self._refreshed(tenant.tenant, item), items)

    def search(self, tenant: Scope, wanted: ItemSearch, now: datetime) -> list[FoundItem]:
        passing = [
            (item, stored)
            for stored in self._asked_for(tenant.tenant, wanted)
            for item in [item_in(stored)]
            if not item.expired(now) and wanted.owner in (None, item.owner) and holds(wanted.filter, item.value)
        ]
        scores = {} if wanted.vector is None else best_cosines(wanted.vector, _vectors(passing, wanted.space))
        found = in_order([FoundItem(item, scores.get(place)) for place, (item, _) in enumerate(passing)])
        return found[wanted.offset : wanted.offset + wanted.limit]

    def namespaces(self, tenant: Scope, prefix: Namespace, owner: str | None, now: datetime) -> list[Namespace]:
        """A page of a hundred items at a time; after the last known namespace of a page it goes on below it."""
        found: set[Namespace] = set()
        low, high = keys.namespaced_range(prefix)
        for _ in range(MOST_READ):
            walk = Walk(keys.namespaced_partition(tenant.tenant), SortRange(low, high))
            page, more = self.access.page(walk, _LISTED_AT_ONCE)
            for stored in page:
                if not _ended(stored, now) and owner in (None, _owner(stored)):
                    found.add(_place(stored).namespace)
            if more is None or not page:
                return list(found)
            last = _place(page[-1]).namespace
            low = keys.after_namespace(last) if last in found else f"{page[-1]['sk']['S']}\x00"
        raise InvalidInput("too much is below the prefix: name a longer one", ("prefix",))

    def page(self, tenant: Scope, wanted: ItemListing, now: datetime) -> ListedPage:
        places = keys.namespace_range(tenant.tenant, wanted.namespace, wanted.after, descending=wanted.descending)
        walk = Walk(keys.namespaced_partition(tenant.tenant), places, newest_first=wanted.descending)
        read = map(item_in, self.access.walk(walk, wanted.limit + 2))
        found = list(islice((item for item in read if item.place.key != wanted.after), wanted.limit + 1))
        page = found[: wanted.limit]
        items = tuple(item for item in page if not item.expired(now))
        return ListedPage(items, page[-1].place.key if len(found) > wanted.limit else None)

    def owned(self, owner: Scope, limit: int, after: str | None) -> OwnedPage:
        walk = Walk(keys.user_partition(owner), _owned_range(after))
        entries, more = self.access.page(walk, limit)
        places = [_place(entry) for entry in entries]
        found = self.access.get_many(keys.namespaced_key(owner.tenant, place) for place in places)
        items = [item_in(stored) for stored in found.values() if _owner(stored) == owner.user_id]
        items.sort(key=lambda item: (item.place.namespace, item.place.key))
        return OwnedPage(tuple(items), entries[-1]["sk"]["S"] if more is not None else None)

    def _asked_for(self, tenant: str, wanted: ItemSearch) -> list[Attributes]:
        """The last first. Raises InvalidInput where more is there than one search may read, unless it is bounded."""
        prefix = wanted.prefix
        asked = keys.namespace_range(tenant, prefix, None, descending=True) if wanted.exact else None
        places = asked or keys.namespaced_range(prefix)
        walk = Walk(keys.namespaced_partition(tenant), places, newest_first=True, passing=_passing(wanted))
        walk = replace(walk, attributes=_ATTRIBUTES if wanted.vector is None else (*_ATTRIBUTES, *_VECTORS))
        found, more = self.access.first(walk, MOST_READ)
        if more and not wanted.bounded:
            raise InvalidInput(f"more than {MOST_READ} items are below the prefix: name a longer one")
        return found

    def _written(self, tenant: str, put: ItemPut, now: datetime) -> NamespacedItem | None:
        failure: Exception = Throttled("DynamoDB: no try was allowed")
        for _ in self.access.backoff.attempts():
            stored = self.access.get(keys.namespaced_key(tenant, put.place))
            item = put.after(_live(stored, now), now)  # a mismatch that the caller asked for is not tried again
            try:
                self.access.transact(self._operations(tenant, put, item, stored))
            except (Throttled, VersionMismatch) as error:
                failure = error
            else:
                return item
        raise failure

    def _operations(
        self, tenant: str, put: ItemPut, item: NamespacedItem | None, stored: Attributes | None
    ) -> list[dict[str, Any]]:
        """The item, with the entry of its owner, and without that of another owner whom it had."""
        name, place = self.access.table, keys.namespaced_key(tenant, put.place)
        condition: dict[str, Any] = {"ConditionExpression": ABSENT}
        if stored is not None:
            condition = {"ConditionExpression": "j = :stored", "ExpressionAttributeValues": {":stored": stored["j"]}}
        entry = self._entry(tenant, item)
        former = _owner(stored) if stored else None
        operations: list[dict[str, Any]] = []
        if item is None:
            operations.append({"Delete": {"TableName": name, "Key": place.attributes, **condition}})
        else:
            written = self._attributes(place, item, put.vectors)
            operations.append({"Put": {"TableName": name, "Item": written, **condition}})
        if entry is not None:
            operations.append({"Put": {"TableName": name, "Item": entry}})
        if former is not None and (item is None or item.owner != former):
            gone = keys.owned_key(Scope(tenant, former), put.place)
            operations.append({"Delete": {"TableName": name, "Key": gone.attributes}})
        return operations

    def _attributes(self, place: Key, item: NamespacedItem, vectors: ItemVectors | None) -> Attributes:
        found: Attributes = {
            **place.attributes,
            "z": binary(pack_json(item.value)),
            "n": text(_names(item.place)),
            "v": number(item.version),
            "j": text(item.revision),
            "b": instant(item.created_at),
            "t": instant(item.updated_at),
        }
        if (fields := fields_of(item.value)) is not None:
            found[MAP] = fields
        if item.index != (WHOLE,):
            found["k"] = text(json.dumps(item.index, ensure_ascii=False))
        if item.owner is not None:
            found["u"] = text(item.owner)
        if item.ttl is not None and item.expires_at is not None:
            found |= {"d": number(item.ttl // _MICROSECOND), "f": instant(item.expires_at), **self._ttl(item.ttl)}
        if vectors is not None:
            found |= {"y": text(vectors.space), "x": {"L": [binary(packed) for packed in vectors.packed]}}
        return found

    def _entry(self, tenant: str, item: NamespacedItem | None) -> Attributes | None:
        if item is None or item.owner is None:
            return None
        place = keys.owned_key(Scope(tenant, item.owner), item.place).attributes
        ttl = self._ttl(item.ttl) if item.ttl else {}
        return {**place, "n": text(_names(item.place)), "j": text(item.revision), **ttl}

    def _ttl(self, lasting: timedelta) -> Attributes:
        return {"ttl": number(int(self.clock() + lasting.total_seconds()) + _GRACE_SECONDS)}

    def _refreshed(self, tenant: str, item: NamespacedItem) -> None:
        """The item, and its owner's entry; both stay as they are where it was written since."""
        assert item.ttl is not None
        assert item.expires_at is not None
        later = {":ttl": self._ttl(item.ttl)["ttl"], ":revision": text(item.revision)}
        places = [
            (keys.namespaced_key(tenant, item.place), "SET f = :end, #ttl = :ttl", {":end": instant(item.expires_at)})
        ]
        if item.owner is not None:
            places.append((keys.owned_key(Scope(tenant, item.owner), item.place), "SET #ttl = :ttl", {}))
        for place, change, more in places:
            with translated(SERVICE), ignored(CONDITION_FAILED):
                self.access.client.update_item(
                    TableName=self.access.table,
                    Key=place.attributes,
                    UpdateExpression=change,
                    ConditionExpression="j = :revision",
                    ExpressionAttributeNames={"#ttl": "ttl"},
                    ExpressionAttributeValues=later | more,
                )


def _passing(wanted: ItemSearch) -> Passing | None:
    """What need not travel: other owners' items, and those that the filter is sure to refuse."""
    asked = expression_of(wanted.filter)
    if wanted.owner is None:
        return asked
    owner = Passing("u = :owner", {}, {":owner": text(wanted.owner)})
    if asked is None:
        return owner
    return Passing(f"{owner.said} AND {asked.said}", asked.names, {**owner.values, **asked.values})


def item_in(stored: Attributes) -> NamespacedItem:
    """The item of its attributes. Raises StoredDataError."""
    return NamespacedItem(
        place=_place(stored),
        value=unpack_json(stored["z"]["B"]),
        version=int(stored["v"]["N"]),
        revision=stored["j"]["S"],
        created_at=moment_in(stored, "b"),
        updated_at=moment_in(stored, "t"),
        index=tuple(json.loads(stored["k"]["S"])) if "k" in stored else (WHOLE,),
        owner=_owner(stored),
        ttl=int(stored["d"]["N"]) * _MICROSECOND if "d" in stored else None,
        expires_at=moment_in(stored, "f") if "f" in stored else None,
    )


def owned_place(entry: Attributes) -> ItemPlace:
    """The item that an entry in its owner's partition names."""
    return _place(entry)


def _live(stored: Attributes | None, now: datetime) -> NamespacedItem | None:
    return None if stored is None or _ended(stored, now) else item_in(stored)


def _ended(stored: Attributes, now: datetime) -> bool:
    return "f" in stored and moment_in(stored, "f") <= now


def _owner(stored: Attributes) -> str | None:
    return stored["u"]["S"] if "u" in stored else None


def _names(place: ItemPlace) -> str:
    return json.dumps([*place.namespace, place.key], ensure_ascii=False, separators=(",", ":"))


def _place(stored: Attributes) -> ItemPlace:
    *labels, key = json.loads(stored["n"]["S"])
    return ItemPlace(tuple(labels), key)


def _vectors(passing: Sequence[tuple[NamespacedItem, Attributes]], space: str) -> Iterator[tuple[int, bytes]]:
    for place, (_, stored) in enumerate(passing):
        if "y" in stored and stored["y"]["S"] == space:
            yield from ((place, packed["B"]) for packed in stored["x"]["L"])


def _owned_range(after: str | None) -> SortRange:
    low, high = keys.owned_range()
    if after is not None and not low <= after <= high:
        raise InvalidInput("a place in a listing that is none", ("after",))
    return SortRange(low if after is None else f"{after}\x00", high)
