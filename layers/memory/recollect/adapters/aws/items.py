"""The ports `Items` and `IdempotencyStore` on DynamoDB: one conditional write each; several items in a transaction.

Timeline and removal build the same requests into their own transactions (`operations`, `retry_writes`).
"""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar

from botocore.exceptions import ClientError

from recollect.adapters.aws import keys, table
from recollect.adapters.aws.clients import CONDITION_FAILED, code_of, ignored, translated
from recollect.adapters.aws.item_format import (
    Attributes,
    binary,
    due_item_in,
    instant,
    item_attributes,
    item_in,
    key_in,
    moment_in,
    number,
    pack_json,
    text,
    unpack_json,
)
from recollect.adapters.aws.keys import Key, SortRange, item_key
from recollect.adapters.aws.table import SERVICE, ItemAccess, Walk
from recollect.core.errors import InFlight, InvalidInput, KeyReused, Throttled, VersionMismatch
from recollect.core.idempotency import Claimed, ClaimOutcome, IdempotencyClaim, Replay
from recollect.core.ids import IdSeed
from recollect.core.items import ABSENT, DuePage, Item, ItemKey, ItemPage, ItemPath, ItemWrite, checked
from recollect.core.scope import Scope

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Request:
    """A Put or a Delete with its condition on the version, without the table; `item` as it is afterwards."""

    operation: str
    request: dict[str, Any]
    item: Item | None


@dataclass(frozen=True, slots=True)
class DynamoDBItems:
    """Only `due` reads an index, which may lag; other reads are consistent, but for a page that need not be."""

    access: ItemAccess

    def get(self, owner: Scope, keys: Sequence[ItemKey]) -> dict[ItemKey, Item]:
        places = {key: item_key(owner, key) for key in keys}
        found = self.access.get_many(places.values())
        return {key: item_in(found[place]) for key, place in places.items() if place in found}

    def write(self, owner: Scope, writes: Sequence[ItemWrite], now: datetime) -> list[Item | None]:
        """All or none. Raises VersionMismatch; Throttled after about a second of conflicts."""
        texts = checked(writes)

        def attempt() -> list[Item | None]:
            requests = _requests(self.access, owner, writes, texts, now)
            self._store(requests)
            return [one.item for one in requests]

        return retry_writes(self.access, writes, attempt) if writes else []

    def page(
        self,
        owner: Scope,
        path: ItemPath,
        limit: int,
        after: str | None,
        *,
        descending: bool = False,
        consistent: bool = True,
    ) -> ItemPage:
        places = _range(path, after, descending)
        walk = Walk(keys.user_partition(owner), places, newest_first=descending, consistent=consistent)
        found: list[Attributes] = []
        for item in self.access.walk(walk, limit + 2):
            if item["sk"]["S"] != after:
                found.append(item)
            if len(found) > limit:
                break
        more = key_in(found[limit - 1]).sk if len(found) > limit else None
        return ItemPage(tuple(map(item_in, found[:limit])), more)

    def beside(self, owner: Scope, key: ItemKey) -> str:
        return item_key(owner, key).sk

    def due(self, queue: str, now: datetime, limit: int, after: str | None) -> DuePage:
        """Due items of every tenant, shard by shard, in each the longest due first."""
        shard, start = _due_place(after)
        found: list[Attributes] = []
        while shard < keys.DUE_SHARDS:
            items, more = self.access.page(_due_walk(queue, shard, now), limit - len(found), start)
            found.extend(items)
            if len(found) == limit or more is not None:
                last = {name: found[-1][name] for name in ("q", "w", "pk", "sk")}
                return DuePage(tuple(map(due_item_in, found)), json.dumps([shard, last], ensure_ascii=False))
            shard, start = shard + 1, None
        return DuePage(tuple(map(due_item_in, found)), None)

    def _store(self, requests: Sequence[_Request]) -> None:
        if len(requests) > 1:
            self.access.transact(_operations(self.access.table, requests))
            return
        client, name, one = self.access.client, self.access.table, requests[0]
        with translated(table.SERVICE):
            if one.operation == "Put":
                client.put_item(TableName=name, **one.request)
            else:
                client.delete_item(TableName=name, **one.request)


def _requests(
    access: ItemAccess, owner: Scope, writes: Sequence[ItemWrite], texts: Sequence[str | None], now: datetime
) -> list[_Request]:
    """A write that takes any version needs the present one, which its own follows."""
    places = {write.key: item_key(owner, write.key) for write in writes}
    unknown = [places[write.key] for write in writes if _takes_any_version(write)]
    found = access.get_many(unknown) if unknown else {}
    versions = {place: int(found[place]["v"]["N"]) if place in found else ABSENT for place in unknown}
    return [
        _request(places[write.key], write, text, versions.get(places[write.key], write.expected), now)
        for write, text in zip(writes, texts, strict=True)
    ]


def operations(
    access: ItemAccess, owner: Scope, writes: Sequence[ItemWrite], texts: Sequence[str | None], now: datetime
) -> list[dict[str, Any]]:
    """The writes as operations of a transaction, in order."""
    return _operations(access.table, _requests(access, owner, writes, texts, now)) if writes else []


def retry_writes(access: ItemAccess, writes: Sequence[ItemWrite], attempt: Callable[[], T]) -> T:
    """The result of `attempt`, which reads versions anew; conflicts and throttling are retried for about a second.

    So is VersionMismatch where one of the writes takes any version. Raises the last failure.
    """
    failure: Exception = Throttled("DynamoDB: no try was allowed")
    for _ in access.backoff.attempts():
        try:
            return attempt()
        except Throttled as throttled:
            failure = throttled
        except VersionMismatch as mismatch:
            if not any(map(_takes_any_version, writes)):
                raise
            failure = mismatch
    raise failure


def _takes_any_version(write: ItemWrite) -> bool:
    return write.expected is None and write.value is not None


def _operations(table_name: str, requests: Sequence[_Request]) -> list[dict[str, Any]]:
    return [{one.operation: {"TableName": table_name, **one.request}} for one in requests]


def _request(place: Key, write: ItemWrite, text: str | None, version: int | None, now: datetime) -> _Request:
    """The write of an item whose version is `version`: 0 for none, None (for a deletion only) for any."""
    if text is None:
        return _Request("Delete", {"Key": place.attributes, **_deletable(version)}, None)
    item = Item(write.key, json.loads(text), (version or ABSENT) + 1, now, write.due)
    return _Request("Put", {"Item": item_attributes(place, item), **_at(version or ABSENT)}, item)


def _at(version: int) -> dict[str, Any]:
    if version == ABSENT:
        return {"ConditionExpression": table.ABSENT}
    return {"ConditionExpression": "v = :version", "ExpressionAttributeValues": {":version": number(version)}}


def _deletable(version: int | None) -> dict[str, Any]:
    """A deletion of an absent item succeeds, whatever version it names."""
    if version is None:
        return {}
    at = _at(version)
    return at if version == ABSENT else at | {"ConditionExpression": f"{table.ABSENT} OR {at['ConditionExpression']}"}


def _range(path: ItemPath, after: str | None, descending: bool) -> SortRange:
    """From the place on, inclusive: its item may be deleted."""
    low, high = keys.item_range(path)
    if after is None:
        return SortRange(low, high)
    if not low <= after <= high:
        raise InvalidInput("a place in a listing that is none", ("after",))
    return SortRange(low, after) if descending else SortRange(after, high)


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


@dataclass(frozen=True, slots=True)
class DynamoDBIdempotency:
    """`clock` is the real time in seconds since 1970, by which the service deletes records (TTL)."""

    access: ItemAccess
    clock: Callable[[], float] = field(default=time.time)

    def claim(self, claim: IdempotencyClaim) -> ClaimOutcome:
        earlier = self._put(claim)
        return Claimed(claim.seed) if earlier is None else self._outcome(claim, earlier)

    def complete(self, claim: IdempotencyClaim, status: int, body: dict[str, object]) -> None:
        answer = {":status": number(status), ":answer": binary(pack_json(body))}
        self._update(claim, "SET a = :status, z = :answer", "attribute_exists(pk)", answer)

    def release(self, claim: IdempotencyClaim) -> None:
        """Frees the key for the next try, with the same seed; unless another request took the claim over."""
        values = {":now": instant(claim.now), ":mine": instant(claim.lapses_at)}
        self._update(claim, "SET l = :now", "l = :mine", values)

    def _outcome(self, claim: IdempotencyClaim, earlier: Attributes) -> ClaimOutcome:
        replay = Replay(int(earlier["a"]["N"]), unpack_json(earlier["z"]["B"])) if "a" in earlier else None
        if earlier["b"]["S"] != claim.body_hash:
            raise KeyReused("the idempotency key was used with another body", replay.body if replay else None)
        if replay is not None:
            return replay
        lapsed = moment_in(earlier, "l") <= claim.now
        if not lapsed or not self._take_over(claim, earlier):
            raise InFlight("a request with this idempotency key is being worked on")
        return Claimed(IdSeed.decode(earlier["s"]["S"]))

    def _take_over(self, claim: IdempotencyClaim, earlier: Attributes) -> bool:
        values = {":lapse": instant(claim.lapses_at), ":lapsed": earlier["l"]}
        return self._update(claim, "SET l = :lapse", "l = :lapsed", values)

    def _record(self, claim: IdempotencyClaim) -> Attributes:
        lasting_seconds = (claim.expires_at - claim.now).total_seconds()
        return {
            **keys.idempotency_key(claim.key_hash).attributes,
            "b": text(claim.body_hash),
            "s": text(claim.seed.encode()),
            "l": instant(claim.lapses_at),
            "f": instant(claim.expires_at),
            "ttl": number(int(self.clock() + lasting_seconds) + 1),
        }

    def _put(self, claim: IdempotencyClaim) -> Attributes | None:
        """Writes the record where none is stored or it expired; else answers the stored one."""
        record = self._record(claim)
        with translated(SERVICE):
            try:
                self.access.client.put_item(
                    TableName=self.access.table,
                    Item=record,
                    ConditionExpression="attribute_not_exists(pk) OR f <= :now",
                    ExpressionAttributeValues={":now": instant(claim.now)},
                    ReturnValuesOnConditionCheckFailure="ALL_OLD",
                )
            except ClientError as error:
                if code_of(error) != CONDITION_FAILED:
                    raise
                return error.response.get("Item") or self.access.get(key_in(record))
        return None

    def _update(self, claim: IdempotencyClaim, expression: str, condition: str, values: Attributes) -> bool:
        """Changes a record that waits for this body's answer; False where there is none or the condition fails."""
        with translated(SERVICE), ignored(CONDITION_FAILED):
            self.access.client.update_item(
                TableName=self.access.table,
                Key=keys.idempotency_key(claim.key_hash).attributes,
                UpdateExpression=expression,
                ConditionExpression=f"{condition} AND b = :body AND attribute_not_exists(a)",
                ExpressionAttributeValues=values | {":body": text(claim.body_hash)},
            )
            return True
        return False
