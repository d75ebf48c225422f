"""A table for a while: made empty beside another one, marked as its own, and deleted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import sleep
from typing import Any

from recollect.adapters.aws.clients import ignored, translated
from recollect.adapters.aws.table import SERVICE, Table
from recollect.core.errors import Conflict, NotReady

_MARK = "scratch"
_POLL_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class ScratchTable:
    """A table that may be deleted at any time, since a mark in it says so. One process at a time has it."""

    client: Any
    name: str
    patience_seconds: float = 300.0
    pause: Callable[[float], None] = field(default=sleep)

    def make(self, of: str) -> None:
        """An empty table; one that a killed process left goes first. Raises Conflict where it is somebody else's."""
        if self._status() is not None:
            self._refuse_foreign()
            self.remove()
        self._table.create()
        with translated(SERVICE):
            self.client.put_item(TableName=self.name, Item={"pk": {"S": _MARK}, "sk": {"S": of}})

    def remove(self) -> None:
        """Deletes it and waits until it is gone. Raises NotReady where that lasts too long."""
        if self._status() == "CREATING":
            self._wait(lambda status: status != "CREATING")
        with translated(SERVICE), ignored("ResourceNotFoundException", "ResourceInUseException"):
            self.client.delete_table(TableName=self.name)
        self._wait(lambda status: status is None)

    @property
    def _table(self) -> Table:
        return Table(self.client, self.name, self.patience_seconds)

    def _refuse_foreign(self) -> None:
        """A table is ours by its mark alone: whoever made an empty one may be about to fill it."""
        request: dict[str, Any] = {"TableName": self.name, "ConsistentRead": True}
        with translated(SERVICE):
            marks = self.client.query(
                **request, KeyConditionExpression="pk = :mark", ExpressionAttributeValues={":mark": {"S": _MARK}}
            )
        if not marks["Items"]:
            raise Conflict(f"DynamoDB: table {self.name} is not marked as a rehearsal's; it was not touched")

    def _status(self) -> str | None:
        with translated(SERVICE), ignored("ResourceNotFoundException"):
            return str(self.client.describe_table(TableName=self.name)["Table"]["TableStatus"])
        return None

    def _wait(self, reached: Callable[[str | None], bool]) -> None:
        waited = 0.0
        while not reached(self._status()):
            if waited > self.patience_seconds:
                raise NotReady(f"DynamoDB: table {self.name} is still being changed; delete it later")
            self.pause(_POLL_SECONDS)
            waited += _POLL_SECONDS
