"""Taking an event away: its item, its identity and its place in its slot change in one transaction with a marker.

And tombstones of events that the table does not have.
"""

from collections.abc import Sequence
from typing import Any

from botocore.exceptions import ClientError

from recollect.adapters.aws import item_writes, keys
from recollect.adapters.aws.errors import CONDITION_FAILED, cancellation_codes, code_of, translated
from recollect.adapters.aws.item_access import SERVICE, ItemAccess
from recollect.adapters.aws.item_format import Item, number, pending_item, removal_marker_item, slot_item
from recollect.adapters.aws.keys import Key
from recollect.domain.errors import RecollectError, Throttled, VersionMismatch
from recollect.domain.event import Event
from recollect.domain.items import checked
from recollect.domain.scope import Scope
from recollect.domain.slots import slot_of
from recollect.domain.timeline import Removal

_FAILED = "ConditionalCheckFailed"


def remove(access: ItemAccess, scope: Scope, event: Event, removal: Removal) -> bool:
    """False where it is gone. Raises VersionMismatch, InvalidInput; conflicts are waited out, for about a second.

    The identity is read from the event's item: `project` removes the projection, whose index entries lead to nothing
    until then.
    """
    texts = checked(removal.items)
    place = keys.event_key(scope, event.ref)
    failure: RecollectError = Throttled("DynamoDB: no try was allowed")
    for _ in access.backoff.attempts():
        stored = access.get(place)
        if stored is None:
            return False
        if stored["v"] != number(event.version):
            raise VersionMismatch("the event changed since it was read")
        try:
            items = _items(access, scope, removal, texts)
            if _removed(access, [*_operations(access.table, scope, event, stored, removal), *items]):
                return True
        except Throttled as throttled:
            failure = throttled
        except VersionMismatch as mismatch:
            if not item_writes.may_pass(removal.items):
                raise
            failure = mismatch
    raise failure


def bury(access: ItemAccess, scope: Scope, identities: Sequence[str]) -> None:
    """A tombstone for each identity that nothing is known of. Raises Throttled with some of them written."""
    places = [keys.dedupe_key(scope, identity) for identity in dict.fromkeys(identities)]
    access.side_by_side(lambda place: _put_where_absent(access, place), places)


def _put_where_absent(access: ItemAccess, place: Key) -> None:
    with translated(SERVICE):
        try:
            access.client.put_item(
                TableName=access.table, Item=place.attributes, ConditionExpression="attribute_not_exists(pk)"
            )
        except ClientError as error:
            if code_of(error) != CONDITION_FAILED:
                raise


def _removed(access: ItemAccess, operations: list[dict[str, Any]]) -> bool:
    """False where the event changed since its item was read a moment ago; it is deleted by the first operation.

    Raises VersionMismatch where an item is not at its expected version.
    """
    with translated(SERVICE):
        try:
            access.client.transact_write_items(TransactItems=operations)
        except ClientError as error:
            codes = cancellation_codes(error)
            if codes[:1] == [_FAILED]:
                return False
            if _FAILED in codes:
                raise VersionMismatch("DynamoDB: an item changed since it was read") from error
            raise
    return True


def _items(access: ItemAccess, scope: Scope, removal: Removal, texts: Sequence[str | None]) -> list[dict[str, Any]]:
    if removal.at is None or not removal.items:
        return []
    return item_writes.operations(access.table, item_writes.resolved(access, scope, removal.items, texts, removal.at))


def _operations(table: str, scope: Scope, event: Event, stored: Item, removal: Removal) -> list[dict[str, Any]]:
    slot = slot_of(event)
    items: list[Item] = [
        {**keys.dedupe_key(scope, stored["d"]["S"]).attributes},
        removal_marker_item(scope, event),
        *(pending_item(scope, ref) for ref in removal.also),
    ]
    if slot is not None:
        items.append(slot_item(scope, slot, event, removal.empties_slot))
    puts = [{"Put": {"TableName": table, "Item": item}} for item in items]
    return [_deletion(table, keys.event_key(scope, event.ref), event.version), *puts]


def _deletion(table: str, place: Key, version: int) -> dict[str, Any]:
    return {
        "Delete": {
            "TableName": table,
            "Key": place.attributes,
            "ConditionExpression": "v = :version",
            "ExpressionAttributeValues": {":version": number(version)},
        }
    }
