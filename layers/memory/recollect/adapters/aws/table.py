"""The table: its calls (`ItemAccess`), and its creation from `table.json` (`Table`).

`table.json` has the form of a CloudFormation `AWS::DynamoDB::Table`. Reads of the table are consistent; those of its
indexes are not.
"""

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from botocore.exceptions import ClientError

from recollect.adapters.aws.clients import (
    CANCELLED_BY_CONDITION,
    CONDITION_FAILED,
    DEFAULT_BACKOFF,
    Backoff,
    DynamoDBClient,
    cancellation_codes,
    ignored,
    translated,
)
from recollect.adapters.aws.item_format import Attributes, key_in
from recollect.adapters.aws.keys import Key, SortRange
from recollect.core.errors import NotReady, Throttled, VersionMismatch
from recollect.ports import Concurrency

SERVICE = "DynamoDB"
ABSENT = "attribute_not_exists(pk)"
"""The condition that no item of the key is stored."""

A = TypeVar("A")
T = TypeVar("T")

_READS_PER_CALL = 100
_WRITES_PER_CALL = 25
_LONGEST_PAGE = 1000
_POLL_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Passing:
    """A FilterExpression, with its names and values."""

    said: str
    names: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Walk:
    """Items of one partition in the order of their sort keys; of `index` where one is named (not consistent).

    What does not pass, and attributes beside the named ones, are read all the same, but do not travel.
    """

    partition: str
    range: SortRange | None = None
    newest_first: bool = False
    index: str | None = None
    partition_name: str = "pk"
    sort_name: str = "sk"
    consistent: bool = True
    passing: Passing | None = None
    attributes: tuple[str, ...] = ()

    def request(self, table: str, limit: int) -> dict[str, Any]:
        """The query for at most `limit` of them, those counted that do not pass."""
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
        if self.passing is not None:
            request |= {
                "FilterExpression": self.passing.said,
                "ExpressionAttributeValues": {**values, **self.passing.values},
            }
            request |= {"ExpressionAttributeNames": self.passing.names} if self.passing.names else {}
        if self.attributes:
            request["ProjectionExpression"] = ", ".join(self.attributes)
        return request | ({"IndexName": self.index} if self.index else {"ConsistentRead": self.consistent})


@dataclass(frozen=True, slots=True)
class ItemAccess:
    """The calls of one table: batches side by side, consistent reads.

    All methods raise Throttled, Unavailable, NotReady or UpstreamFailed.
    """

    client: DynamoDBClient
    table: str
    concurrency: Concurrency
    backoff: Backoff = DEFAULT_BACKOFF

    def get(self, key: Key) -> Attributes | None:
        """One item, or None."""
        with translated(SERVICE):
            answer = self.client.get_item(TableName=self.table, Key=key.attributes, ConsistentRead=True)
        return answer.get("Item")

    def get_many(
        self, keys: Iterable[Key], *, consistent: bool = True, attributes: Sequence[str] = ()
    ) -> dict[Key, Attributes]:
        """Those of the items that exist, whole, or keys and some attributes: it costs the same, and is read faster.

        What is not read consistently costs half and may be a second old.
        """
        found: dict[Key, Attributes] = {}
        only = {"ProjectionExpression": ", ".join(("pk", "sk", *attributes))} if attributes else {}
        read = partial(self._get_chunk, how={"ConsistentRead": consistent, **only})
        for part in self.side_by_side(read, _chunks(list(dict.fromkeys(keys)), _READS_PER_CALL)):
            found |= part
        return found

    def put_many(self, items: Iterable[Attributes]) -> None:
        """Writes items, replacing any; of two with one key the last."""
        distinct = {key_in(item): item for item in items}
        self._write_many([{"PutRequest": {"Item": item}} for item in distinct.values()])

    def delete_many(self, keys: Iterable[Key]) -> None:
        """Deletes items; unknown ones are no error."""
        self._write_many([{"DeleteRequest": {"Key": key.attributes}} for key in dict.fromkeys(keys)])

    def put_if_absent(self, item: Attributes) -> None:
        """Writes the item unless one of its key is stored."""
        with translated(SERVICE), ignored(CONDITION_FAILED):
            self.client.put_item(TableName=self.table, Item=item, ConditionExpression=ABSENT)

    def transact(self, operations: Sequence[Mapping[str, Any]]) -> None:
        """All of the operations or none. Raises VersionMismatch where a condition fails, Throttled on a conflict."""
        with translated(SERVICE):
            try:
                self.client.transact_write_items(TransactItems=operations)
            except ClientError as error:
                if CANCELLED_BY_CONDITION in cancellation_codes(error):
                    raise VersionMismatch("DynamoDB: an item changed since it was read") from error
                raise

    def page(
        self, walk: Walk, limit: int, start: Mapping[str, Any] | None = None
    ) -> tuple[list[Attributes], Attributes | None]:
        """One query: at most `limit` items, and the start of the next one (None at the end)."""
        request = walk.request(self.table, limit) | ({"ExclusiveStartKey": start} if start else {})
        with translated(SERVICE):
            answer = self.client.query(**request)
        return answer["Items"], answer.get("LastEvaluatedKey")

    def count(self, walk: Walk, most: int) -> int:
        """How many items there are, up to `most`; it costs what reading them does, and is answered sooner."""
        found, request = 0, dict[str, Any](Select="COUNT")
        while True:
            with translated(SERVICE):
                answer = self.client.query(**walk.request(self.table, most - found), **request)
            found += int(answer["Count"])
            if found >= most or "LastEvaluatedKey" not in answer:
                return found
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]

    def walk(self, walk: Walk, first: int = _LONGEST_PAGE) -> Iterator[Attributes]:
        """The items one by one, in queries of `first`, then twice as many each time, up to 1,000."""
        items, more = self.page(walk, first)
        yield from items
        while more is not None:
            first = min(2 * first, _LONGEST_PAGE)
            items, more = self.page(walk, first, more)
            yield from items

    def first(self, walk: Walk, most: int) -> tuple[list[Attributes], bool]:
        """Those of the first `most` items that pass, and whether there are more items than `most`."""
        found: list[Attributes] = []
        left, start = most, dict[str, Any]()
        while True:
            with translated(SERVICE):
                answer = self.client.query(**walk.request(self.table, min(left, _LONGEST_PAGE) or 1), **start)
            if left == 0:
                return found, answer["ScannedCount"] > 0
            found += answer["Items"]
            left -= answer["ScannedCount"]
            if "LastEvaluatedKey" not in answer:
                return found, False
            start = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}

    def side_by_side(self, call: Callable[[A], T], arguments: Sequence[A]) -> list[T]:
        """The results of the call for each argument, in order. Waits for all, then raises the first failure."""
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

    def _get_chunk(self, keys: Sequence[Key], *, how: Mapping[str, Any]) -> dict[Key, Attributes]:
        found: dict[Key, Attributes] = {}
        wanted: Any = {self.table: {"Keys": [key.attributes for key in keys], **how}}
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


def _chunks(parts: Sequence[T], size: int) -> list[Sequence[T]]:
    return [parts[start : start + size] for start in range(0, len(parts), size)]


def table_definition() -> dict[str, Any]:
    """Keys, indexes, stream and TTL of the table, as `template.yaml` has them."""
    from importlib.resources import files  # `recollect init` and `doctor` alone need it

    definition: dict[str, Any] = json.loads(files("recollect.adapters.aws").joinpath("table.json").read_text("utf-8"))
    return definition


@dataclass(frozen=True, slots=True)
class Table:
    """The table as a resource: made and checked. `create` waits `patience_seconds` for the service at most."""

    client: DynamoDBClient
    name: str
    patience_seconds: float = 120.0
    sleep: Callable[[float], None] = field(default=time.sleep)

    def create(self) -> bool:
        """Creates what is missing: table, indexes, stream, TTL. False where nothing was. Idempotent.

        Raises NotReady where a table of that name has other keys, or does not become active in time.
        """
        definition = table_definition()
        made = self._create_table(definition)
        made = self._enable_stream(definition) or made
        for index in definition["GlobalSecondaryIndexes"]:
            made = self._create_index(definition, index) or made
        return self._enable_ttl(definition) or made

    def check(self) -> str:
        """One line about the table. Raises NotReady where it, or an index, is missing or not active."""
        table = self._described()
        if table is None:
            raise NotReady(f"DynamoDB: no table {self.name}; `recollect init` creates it")
        if not _active(table) or _index_names(table) < _index_names(table_definition()):
            raise NotReady(f"DynamoDB: table {self.name} is not complete; `recollect init` completes it")
        return f"DynamoDB table {self.name}, about {table.get('ItemCount', 0)} items"

    def stream_arn(self) -> str:
        """The ARN of its stream. Raises NotReady where it has none."""
        arn = (self._described() or {}).get("LatestStreamArn")
        if not arn:
            raise NotReady(f"DynamoDB: table {self.name} has no stream; `recollect init` creates it")
        return str(arn)

    def _create_table(self, definition: Mapping[str, Any]) -> bool:
        found = self._described()
        if found is not None and found["KeySchema"] != definition["KeySchema"]:
            raise NotReady(f"DynamoDB: table {self.name} has other keys; name another table")
        made = found is None and self._try("create_table", **_creation(definition))
        self._wait_until_active()
        return made

    def _enable_stream(self, definition: Mapping[str, Any]) -> bool:
        if self._wait_until_active().get("StreamSpecification", {}).get("StreamEnabled"):
            return False
        return self._change(StreamSpecification=_stream(definition))

    def _create_index(self, definition: Mapping[str, Any], index: Mapping[str, Any]) -> bool:
        if index["IndexName"] in _index_names(self._wait_until_active()):
            return False
        return self._change(
            AttributeDefinitions=definition["AttributeDefinitions"],
            GlobalSecondaryIndexUpdates=[{"Create": dict(index)}],
        )

    def _enable_ttl(self, definition: Mapping[str, Any]) -> bool:
        with translated(SERVICE):
            found = self.client.describe_time_to_live(TableName=self.name)["TimeToLiveDescription"]
            if found.get("TimeToLiveStatus") in ("ENABLED", "ENABLING"):
                return False
            self.client.update_time_to_live(
                TableName=self.name, TimeToLiveSpecification=definition["TimeToLiveSpecification"]
            )
        return True

    def _change(self, **change: Any) -> bool:
        made = self._try("update_table", **change)
        self._wait_until_active()
        return made

    def _try(self, operation: str, **request: Any) -> bool:
        """False where another process does the same just now."""
        with translated(SERVICE), ignored("ResourceInUseException"):
            getattr(self.client, operation)(TableName=self.name, **request)
            return True
        return False

    def _wait_until_active(self) -> dict[str, Any]:
        waited = 0.0
        while waited <= self.patience_seconds:
            table = self._described()
            if table is not None and _active(table):
                return table
            self.sleep(_POLL_SECONDS)
            waited += _POLL_SECONDS
        raise NotReady(f"DynamoDB: table {self.name} did not become active in {self.patience_seconds:g} s")

    def _described(self) -> dict[str, Any] | None:
        with translated(SERVICE), ignored("ResourceNotFoundException"):
            return dict(self.client.describe_table(TableName=self.name)["Table"])
        return None


def _creation(definition: Mapping[str, Any]) -> dict[str, Any]:
    names = ("BillingMode", "AttributeDefinitions", "KeySchema", "GlobalSecondaryIndexes")
    return {name: definition[name] for name in names} | {"StreamSpecification": _stream(definition)}


def _stream(definition: Mapping[str, Any]) -> dict[str, Any]:
    return {"StreamEnabled": True, **definition["StreamSpecification"]}


def _active(table: Mapping[str, Any]) -> bool:
    parts = [table, *table.get("GlobalSecondaryIndexes", ())]
    return all(part.get("TableStatus", part.get("IndexStatus")) == "ACTIVE" for part in parts)


def _index_names(table: Mapping[str, Any]) -> set[str]:
    return {index["IndexName"] for index in table.get("GlobalSecondaryIndexes", ())}
