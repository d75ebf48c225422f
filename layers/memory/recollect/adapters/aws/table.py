"""The table itself: made from `table.json`, which has the form of a CloudFormation `AWS::DynamoDB::Table`."""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

from botocore.exceptions import ClientError

from recollect.adapters.aws.clients import DynamoDBClient
from recollect.adapters.aws.errors import code_of, translated
from recollect.adapters.aws.items import SERVICE
from recollect.core.errors import NotReady

_POLL_SECONDS = 0.5


def table_definition() -> dict[str, Any]:
    """What the table must be: keys, indexes, stream, TTL. `template.yaml` says the same."""
    definition: dict[str, Any] = json.loads(files("recollect.adapters.aws").joinpath("table.json").read_text("utf-8"))
    return definition


@dataclass(frozen=True, slots=True)
class Table:
    """A table by its name; `patience_seconds` is how long `create` waits for the service to make something."""

    client: DynamoDBClient
    name: str
    patience_seconds: float = 120.0
    sleep: Callable[[float], None] = field(default=time.sleep)

    def create(self) -> bool:
        """Creates what is missing: table, indexes, stream, TTL. False where all was there. Safe to run twice.

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
        if not _active(table) or _index_names(table) < _wanted_indexes():
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
        """False where another process is just doing the same."""
        with translated(SERVICE):
            try:
                getattr(self.client, operation)(TableName=self.name, **request)
            except ClientError as error:
                if code_of(error) != "ResourceInUseException":
                    raise
                return False
        return True

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
        with translated(SERVICE):
            try:
                table: dict[str, Any] = self.client.describe_table(TableName=self.name)["Table"]
            except ClientError as error:
                if code_of(error) != "ResourceNotFoundException":
                    raise
                return None
        return table


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


def _wanted_indexes() -> set[str]:
    return _index_names(table_definition())
