"""The port `UsageCounts` on DynamoDB: an item for each tenant and day, to which a write adds without reading it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from recollect.adapters.aws import keys
from recollect.adapters.aws.clients import translated
from recollect.adapters.aws.item_format import number
from recollect.adapters.aws.table import SERVICE, ItemAccess, Walk

_PREFIX = "c:"
"""Of an attribute that is a count: a kind may be called as the table's own attributes are."""


@dataclass(frozen=True, slots=True)
class DynamoDBUsageCounts:
    """One unit a write, below 1 KB of it. Raises Throttled, Unavailable."""

    access: ItemAccess

    def add(self, tenant: str, day: date, counts: Mapping[str, int]) -> None:
        named = list(enumerate(counts.items()))
        if not named:
            return
        with translated(SERVICE):
            self.access.client.update_item(
                TableName=self.access.table,
                Key=keys.usage_key(tenant, day).attributes,
                UpdateExpression="ADD " + ", ".join(f"#{place} :{place}" for place, _ in named),
                ExpressionAttributeNames={f"#{place}": _PREFIX + kind for place, (kind, _) in named},
                ExpressionAttributeValues={f":{place}": number(count) for place, (_, count) in named},
            )

    def days(self, tenant: str) -> dict[date, dict[str, int]]:
        found = self.access.walk(Walk(keys.usage_partition(tenant)))
        return {
            keys.usage_day(item["sk"]["S"]): {
                name.removeprefix(_PREFIX): int(value["N"]) for name, value in item.items() if name.startswith(_PREFIX)
            }
            for item in found
        }
