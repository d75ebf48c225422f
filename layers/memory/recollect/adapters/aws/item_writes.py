"""The requests that write or delete items, each with its condition on the version: alone or in a transaction."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from recollect.adapters.aws import keys
from recollect.adapters.aws.item_access import ItemAccess
from recollect.adapters.aws.item_format import kept_item_attributes, number
from recollect.adapters.aws.keys import Key
from recollect.domain.items import ABSENT, Item, ItemWrite
from recollect.domain.scope import Scope

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
