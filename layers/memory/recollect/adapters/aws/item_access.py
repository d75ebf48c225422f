"""The calls of one table: batches in parallel, walks along a range of sort keys. Reads of the table are consistent."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from recollect.adapters.aws.backoff import DEFAULT_BACKOFF, Backoff
from recollect.adapters.aws.dynamodb_client import DynamoDBClient
from recollect.adapters.aws.errors import translated
from recollect.adapters.aws.item_format import Item, key_in
from recollect.adapters.aws.keys import Key, SortRange
from recollect.domain.errors import Throttled
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

    def get(self, key: Key) -> Item | None:
        """One item, or None."""
        with translated(SERVICE):
            answer = self.client.get_item(TableName=self.table, Key=key.attributes, ConsistentRead=True)
        return answer.get("Item")

    def get_many(self, keys: Iterable[Key]) -> dict[Key, Item]:
        """Those of the items that exist."""
        found: dict[Key, Item] = {}
        for part in self.side_by_side(self._get_chunk, _chunks(list(dict.fromkeys(keys)), _READS_PER_CALL)):
            found |= part
        return found

    def put_many(self, items: Iterable[Item]) -> None:
        """Writes items, whatever was there; of two with one key the last."""
        distinct = {key_in(item): item for item in items}
        self._write_many([{"PutRequest": {"Item": item}} for item in distinct.values()])

    def delete_many(self, keys: Iterable[Key]) -> None:
        """Deletes items; unknown ones are no error."""
        self._write_many([{"DeleteRequest": {"Key": key.attributes}} for key in dict.fromkeys(keys)])

    def page(self, walk: Walk, limit: int, start: Mapping[str, Any] | None = None) -> tuple[list[Item], Item | None]:
        """One query: at most `limit` items, and where the next one starts (None at the end)."""
        request = walk.request(self.table, limit) | ({"ExclusiveStartKey": start} if start else {})
        with translated(SERVICE):
            answer = self.client.query(**request)
        return answer["Items"], answer.get("LastEvaluatedKey")

    def walk(self, walk: Walk, first: int = _LONGEST_PAGE) -> Iterator[Item]:
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

    def _get_chunk(self, keys: Sequence[Key]) -> dict[Key, Item]:
        found: dict[Key, Item] = {}
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
