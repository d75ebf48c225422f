"""The request that writes or deletes one item, and the condition on its version."""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from recollect.adapters.aws.item_format import kept_item_attributes, number
from recollect.adapters.aws.keys import Key
from recollect.domain.items import ABSENT, Item, ItemWrite

_ABSENT = "attribute_not_exists(pk)"


@dataclass(frozen=True, slots=True)
class Wanted:
    """`operation` is Put or Delete, `request` all of it but the table; `item` as it stands when it is done."""

    operation: str
    request: dict[str, Any]
    item: Item | None


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
