"""The calls of one table: batches in parallel, walks along a range of sort keys. Reads of the table are consistent.

The requests that write or delete items, each with its condition on the version: alone or in a transaction.

Items on DynamoDB: one conditional write each; several at once in a transaction.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

from botocore.exceptions import ClientError

from recollect.adapters.aws import items as item_writes
from recollect.adapters.aws import keys
from recollect.adapters.aws.clients import DEFAULT_BACKOFF, Backoff, DynamoDBClient
from recollect.adapters.aws.errors import CONDITION_FAILED, cancellation_codes, translated
from recollect.adapters.aws.item_format import (
    Attributes,
    kept_due_item,
    kept_item,
    kept_item_attributes,
    key_in,
    number,
)
from recollect.adapters.aws.keys import Key, SortRange
from recollect.core.errors import InvalidInput, Throttled, VersionMismatch
from recollect.core.items import ABSENT, DuePage, Item, ItemKey, ItemPage, ItemPath, ItemWrite, checked
from recollect.core.scope import Scope
from recollect.ports import Concurrency

A = TypeVar("A")
T = TypeVar("T")
SERVICE = "DynamoDB"

_READS_PER_CALL = 100
_WRITES_PER_CALL = 25
_LONGEST_PAGE = 1000


@dataclass(frozen=True, slots=True)
class Walk:
    """Items of one partition in the order of their sort keys; of an index where its name is given (not consistent)."""

    partition: str
    range: SortRange | None = None
    newest_first: bool = False
    index: str | None = None
    partition_name: str = "pk"
    sort_name: str = "sk"

    def request(self, table: str, limit: int) -> dict[str, Any]:
        """The query for at most `limit` of them."""
        condition, values = f"{self.partition_name} = :partition", {":partition": {"S": self.partition}}
        if self.range is not None:
            condition += f" AND {self.sort_name} BETWEEN :low AND :high"
            values |= {":low": {"S": self.range.low}, ":high": {"S": self.range.high}}
        request = {
            "TableName": table,
            "KeyConditionExpression": condition,
            "ExpressionAttributeValues": values,
            "ScanIndexForward": not self.newest_first,
            "Limit": limit,
        }
        return request | ({"IndexName": self.index} if self.index else {"ConsistentRead": True})


@dataclass(frozen=True, slots=True)
class ItemAccess:
    """One table and how it is called. All methods raise Throttled, Unavailable, NotReady or UpstreamFailed."""

    client: DynamoDBClient
    table: str
    concurrency: Concurrency
    backoff: Backoff = DEFAULT_BACKOFF

    def get(self, key: Key) -> Attributes | None:
        """One item, or None."""
        with translated(SERVICE):
            answer = self.client.get_item(TableName=self.table, Key=key.attributes, ConsistentRead=True)
        return answer.get("Item")

    def get_many(self, keys: Iterable[Key]) -> dict[Key, Attributes]:
        """Those of the items that exist."""
        found: dict[Key, Attributes] = {}
        for part in self.side_by_side(self._get_chunk, _chunks(list(dict.fromkeys(keys)), _READS_PER_CALL)):
            found |= part
        return found

    def put_many(self, items: Iterable[Attributes]) -> None:
        """Writes items, whatever was there; of two with one key the last."""
        distinct = {key_in(item): item for item in items}
        self._write_many([{"PutRequest": {"Item": item}} for item in distinct.values()])

    def delete_many(self, keys: Iterable[Key]) -> None:
        """Deletes items; unknown ones are no error."""
        self._write_many([{"DeleteRequest": {"Key": key.attributes}} for key in dict.fromkeys(keys)])

    def page(
        self, walk: Walk, limit: int, start: Mapping[str, Any] | None = None
    ) -> tuple[list[Attributes], Attributes | None]:
        """One query: at most `limit` items, and where the next one starts (None at the end)."""
        request = walk.request(self.table, limit) | ({"ExclusiveStartKey": start} if start else {})
        with translated(SERVICE):
            answer = self.client.query(**request)
        return answer["Items"], answer.get("LastEvaluatedKey")

    def walk(self, walk: Walk, first: int = _LONGEST_PAGE) -> Iterator[Attributes]:
        """The items one by one: asks for `first` of them, then, as long as more are wanted, for twice as many."""
        items, more = self.page(walk, first)
        yield from items
        while more is not None:
            first = min(2 * first, _LONGEST_PAGE)
            items, more = self.page(walk, first, more)
            yield from items

    def side_by_side(self, call: Callable[[A], T], arguments: Sequence[A]) -> list[T]:
        """The call for each argument, results in order; all are waited for, then the first failure is raised."""
        if len(arguments) == 1:
            return [call(arguments[0])]
        pending = [self.concurrency.submit(partial(call, argument)) for argument in arguments]
        results: list[T] = []
        failures: list[Exception] = []
        for one in pending:
            try:
                results.append(one.result())
            except Exception as failure:  # noqa: BLE001 - the first is raised once all are done
                failures.append(failure)
        if failures:
            raise failures[0]
        return results

    def _get_chunk(self, keys: Sequence[Key]) -> dict[Key, Attributes]:
        found: dict[Key, Attributes] = {}
        wanted: Any = {self.table: {"Keys": [key.attributes for key in keys], "ConsistentRead": True}}
        for _ in self.backoff.attempts():
            with translated(SERVICE):
                answer = self.client.batch_get_item(RequestItems=wanted)
            found |= {key_in(item): item for item in answer["Responses"].get(self.table, [])}
            wanted = answer.get("UnprocessedKeys")
            if not wanted:
                return found
        raise Throttled("DynamoDB leaves keys unread")

    def _write_many(self, requests: Sequence[dict[str, Any]]) -> None:
        self.side_by_side(self._write_chunk, _chunks(requests, _WRITES_PER_CALL))

    def _write_chunk(self, requests: Sequence[dict[str, Any]]) -> None:
        wanted: Any = {self.table: list(requests)}
        for _ in self.backoff.attempts():
            with translated(SERVICE):
                wanted = self.client.batch_write_item(RequestItems=wanted).get("UnprocessedItems")
            if not wanted:
                return
        raise Throttled("DynamoDB leaves items unwritten")


def _chunks(all_of_them: Sequence[T], size: int) -> list[Sequence[T]]:
    return [all_of_them[start : start + size] for start in range(0, len(all_of_them), size)]


_ABSENT = "attribute_not_exists(pk)"


@dataclass(frozen=True, slots=True)
class Wanted:
    """`operation` is Put or Delete, `request` all of it but the table; `item` as it stands when it is done."""

    operation: str
    request: dict[str, Any]
    item: Item | None


def resolved(
    access: ItemAccess, owner: Scope, writes: Sequence[ItemWrite], texts: Sequence[str | None], now: datetime
) -> list[Wanted]:
    """The requests; a write that takes any version needs the present one, since it counts on from there."""
    places = {write.key: keys.item_key(owner, write.key) for write in writes}
    unknown = [places[write.key] for write in writes if write.expected is None and write.value is not None]
    found = access.get_many(unknown) if unknown else {}
    versions = {place: int(found[place]["v"]["N"]) if place in found else ABSENT for place in unknown}
    return [
        wanted(places[write.key], write, text, versions.get(places[write.key], write.expected), now)
        for write, text in zip(writes, texts, strict=True)
    ]


def operations(table: str, requests: Sequence[Wanted]) -> list[dict[str, Any]]:
    """The requests as operations of a transaction, in order."""
    return [{one.operation: {"TableName": table, **one.request}} for one in requests]


def may_pass(writes: Sequence[ItemWrite]) -> bool:
    """Whether a condition that failed may hold at the next try: one of them takes any version."""
    return any(write.expected is None and write.value is not None for write in writes)


def wanted(place: Key, write: ItemWrite, text: str | None, version: int | None, now: datetime) -> Wanted:
    """The write of an item that has `version` now: 0 for none, None (for a deletion only) for any."""
    if text is None:
        return Wanted("Delete", {"Key": place.attributes, **_deletable(version)}, None)
    item = Item(write.key, json.loads(text), (version or ABSENT) + 1, now, write.due)
    return Wanted("Put", {"Item": kept_item_attributes(place, item), **_at(version or ABSENT)}, item)


def _at(version: int) -> dict[str, Any]:
    if version == ABSENT:
        return {"ConditionExpression": _ABSENT}
    return {"ConditionExpression": "v = :version", "ExpressionAttributeValues": {":version": number(version)}}


def _deletable(version: int | None) -> dict[str, Any]:
    """What is not there may be deleted whatever version it was thought to have."""
    if version is None:
        return {}
    at = _at(version)
    return at if version == ABSENT else at | {"ConditionExpression": f"{_ABSENT} OR {at['ConditionExpression']}"}


_CANCELLED_BY_CONDITION = "ConditionalCheckFailed"


@dataclass(frozen=True, slots=True)
class DynamoDBItems:
    """See `ports.Items`. Only `due` reads an index, which may lag; all else is consistent."""

    access: ItemAccess

    def get(self, owner: Scope, keys: Sequence[ItemKey]) -> dict[ItemKey, Item]:
        """The items that exist, in one batch."""
        places = {key: _place(owner, key) for key in keys}
        found = self.access.get_many(places.values())
        return {key: kept_item(found[place]) for key, place in places.items() if place in found}

    def write(self, owner: Scope, writes: Sequence[ItemWrite], now: datetime) -> list[Item | None]:
        """All or none. Raises VersionMismatch; Throttled where others were in the way for about a second."""
        texts = checked(writes)
        failure: Exception = Throttled("DynamoDB: no try was allowed")
        for _ in self.access.backoff.attempts() if writes else ():
            wanted = item_writes.resolved(self.access, owner, writes, texts, now)
            try:
                self._store(wanted)
            except Throttled as throttled:
                failure = throttled
            except VersionMismatch as mismatch:
                if not item_writes.may_pass(writes):
                    raise
                failure = mismatch
            else:
                return [one.item for one in wanted]
        if writes:
            raise failure
        return []

    def page(
        self, owner: Scope, path: ItemPath, limit: int, after: str | None, *, descending: bool = False
    ) -> ItemPage:
        """The items whose labels begin with the path's, by labels, then by key; a walk from `after` on."""
        walk = Walk(keys.user_partition(owner), _range(path, after, descending), newest_first=descending)
        found: list[Attributes] = []
        for item in self.access.walk(walk, limit + 2):
            if item["sk"]["S"] != after:
                found.append(item)
            if len(found) > limit:
                break
        more = key_in(found[limit - 1]).sk if len(found) > limit else None
        return ItemPage(tuple(map(kept_item, found[:limit])), more)

    def due(self, queue: str, now: datetime, limit: int, after: str | None) -> DuePage:
        """Items of every tenant whose time has come, shard by shard, in each the longest due first."""
        shard, start = _due_place(after)
        found: list[Attributes] = []
        while shard < keys.DUE_SHARDS:
            items, more = self.access.page(_due_walk(queue, shard, now), limit - len(found), start)
            found.extend(items)
            if len(found) == limit or more is not None:
                last = {name: found[-1][name] for name in ("q", "w", "pk", "sk")}
                return DuePage(tuple(map(kept_due_item, found)), json.dumps([shard, last], ensure_ascii=False))
            shard, start = shard + 1, None
        return DuePage(tuple(map(kept_due_item, found)), None)

    def _store(self, wanted: Sequence[Wanted]) -> None:
        client, table = self.access.client, self.access.table
        with translated(SERVICE):
            if len(wanted) > 1:
                self._transact(item_writes.operations(table, wanted))
            elif wanted[0].operation == "Put":
                client.put_item(TableName=table, **wanted[0].request)
            else:
                client.delete_item(TableName=table, **wanted[0].request)

    def _transact(self, operations: Sequence[Mapping[str, Any]]) -> None:
        try:
            self.access.client.transact_write_items(TransactItems=operations)
        except ClientError as error:
            if _CANCELLED_BY_CONDITION in cancellation_codes(error):
                raise VersionMismatch(f"{SERVICE}: {CONDITION_FAILED}") from error
            raise


def _place(owner: Scope, key: ItemKey) -> keys.Key:
    return keys.item_key(owner, key)


def _range(path: ItemPath, after: str | None, descending: bool) -> keys.SortRange:
    """From the place on, the place included: what it names may be gone."""
    low, high = keys.item_range(path)
    if after is None:
        return keys.SortRange(low, high)
    if not low <= after <= high:
        raise InvalidInput("a place in a listing that is none", ("after",))
    return keys.SortRange(low, after) if descending else keys.SortRange(after, high)


def _due_walk(queue: str, shard: int, now: datetime) -> Walk:
    partition = keys.due_partition(queue, shard)
    return Walk(partition, keys.due_range(now), index="due", partition_name="q", sort_name="w")


def _due_place(after: str | None) -> tuple[int, Mapping[str, Any] | None]:
    if after is None:
        return 0, None
    try:
        shard, start = json.loads(after)
        return int(shard), {name: start[name] for name in ("q", "w", "pk", "sk")}
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidInput("a place in a queue that is none", ("after",)) from error
