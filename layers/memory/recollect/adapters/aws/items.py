"""Items on DynamoDB: one conditional write each; several at once in a transaction."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from botocore.exceptions import ClientError

from recollect.adapters.aws import item_writes, keys
from recollect.adapters.aws.errors import CONDITION_FAILED, cancellation_codes, translated
from recollect.adapters.aws.item_access import SERVICE, ItemAccess, Walk
from recollect.adapters.aws.item_format import Item as Attributes
from recollect.adapters.aws.item_format import kept_due_item, kept_item, key_in
from recollect.adapters.aws.item_writes import Wanted
from recollect.domain.errors import InvalidInput, Throttled, VersionMismatch
from recollect.domain.items import DuePage, Item, ItemKey, ItemPage, ItemPath, ItemWrite, checked
from recollect.domain.scope import Scope

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
