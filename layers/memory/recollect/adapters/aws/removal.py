"""Taking an event away: its item, its identity and its place in its slot change in one transaction with a marker.

And tombstones of events that the table does not have.

Rejected values as an append compares them, changed in one transaction with the items that tell of it.

Taking all of a user's away: a walk over the user's partition, and over the markers that lie elsewhere.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from botocore.exceptions import ClientError

from recollect.adapters.aws import items as item_writes
from recollect.adapters.aws import keys
from recollect.adapters.aws.errors import CONDITION_FAILED, cancellation_codes, code_of, translated
from recollect.adapters.aws.item_format import (
    Attributes,
    kept_item,
    key_in,
    number,
    pending_item,
    removal_marker_item,
    slot_item,
)
from recollect.adapters.aws.items import SERVICE, ItemAccess, Walk
from recollect.adapters.aws.keys import Key, SortRange
from recollect.core.errors import RecollectError, Throttled, VersionMismatch
from recollect.core.event import Event
from recollect.core.items import ItemWrite, checked
from recollect.core.scope import Scope
from recollect.deletion.tombstones import ErasedPage, Exempt
from recollect.timeline.slots import slot_of
from recollect.timeline.timeline import Removal

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


def _operations(table: str, scope: Scope, event: Event, stored: Attributes, removal: Removal) -> list[dict[str, Any]]:
    slot = slot_of(event)
    items: list[Attributes] = [
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


def reject(access: ItemAccess, scope: Scope, fingerprint: str, items: Sequence[ItemWrite], now: datetime) -> None:
    """From now on appends of the fingerprint are refused. Raises VersionMismatch, InvalidInput, Throttled."""
    place = keys.rejection_key(scope, fingerprint).attributes
    _change(access, scope, {"Put": {"TableName": access.table, "Item": place}}, items, now)


def lift(access: ItemAccess, scope: Scope, fingerprint: str, items: Sequence[ItemWrite], now: datetime) -> None:
    """From now on they are stored again. Raises VersionMismatch, InvalidInput, Throttled."""
    place = keys.rejection_key(scope, fingerprint).attributes
    _change(access, scope, {"Delete": {"TableName": access.table, "Key": place}}, items, now)


def _change(access: ItemAccess, scope: Scope, own: dict[str, Any], items: Sequence[ItemWrite], now: datetime) -> None:
    """Conflicts with appends of the same text are waited out, for about a second in all."""
    texts = checked(items)
    failure: RecollectError = Throttled("DynamoDB: no try was allowed")
    for _ in access.backoff.attempts():
        try:
            wanted = item_writes.resolved(access, scope, items, texts, now)
            _transact(access, [own, *item_writes.operations(access.table, wanted)])
        except Throttled as throttled:
            failure = throttled
        except VersionMismatch as mismatch:
            if not item_writes.may_pass(items):
                raise
            failure = mismatch
        else:
            return
    raise failure


def _transact(access: ItemAccess, operations: Sequence[dict[str, Any]]) -> None:
    with translated(SERVICE):
        try:
            access.client.transact_write_items(TransactItems=operations)
        except ClientError as error:
            if _FAILED in cancellation_codes(error):
                raise VersionMismatch("DynamoDB: an item changed since it was read") from error
            raise


_LAST = "\U0010ffff"
_MARKERS = "P"
_PARTITION = "U"


class _Gone(NamedTuple):
    """What goes of an item: the part it belongs to; where `tombstone`, its key stays."""

    part: str
    place: Key
    tombstone: bool = False


@dataclass(frozen=True, slots=True)
class DynamoDBEraser:
    """Implements the port `Eraser`. Dedupe records sort before events: from then on the same events are refused."""

    access: ItemAccess

    def erase(self, scope: Scope, kept: Exempt, limit: int, after: str | None) -> ErasedPage:
        """Looks at `limit` items at most."""
        items, more = self._page(scope, limit, after or _PARTITION)
        gone = [one for item in items if (one := _gone(item, kept)) is not None]
        self.access.put_many(_tombstone(one.place) for one in gone if one.tombstone)
        self.access.delete_many(one.place for one in gone if not one.tombstone)
        return ErasedPage(Counter(one.part for one in gone), more)

    def left(self, scope: Scope, kept: Exempt) -> int:
        """How much of it is there: 0 once it is erased."""
        walks = (self._walk(scope, _PARTITION), self._walk(scope, _MARKERS))
        return sum(_gone(item, kept) is not None for walk in walks for item in self.access.walk(walk))

    def _page(self, scope: Scope, limit: int, after: str) -> tuple[list[Attributes], str | None]:
        """One query of the partition, then of the markers; each goes on after the sort key that was looked at last."""
        kind, place = after[0], after[1:]
        walk = self._walk(scope, kind)
        start = Key(walk.partition, place).attributes if place else None
        items, last = self.access.page(walk, limit, start)
        if last is not None:
            return items, f"{kind}{last['sk']['S']}"
        return items, _MARKERS if kind == _PARTITION else None

    def _walk(self, scope: Scope, kind: str) -> Walk:
        if kind == _MARKERS:
            return Walk(*keys.pending_of_user(scope))
        return Walk(keys.user_partition(scope), SortRange("A", _LAST))


def _gone(item: Attributes, kept: Exempt) -> _Gone | None:
    place = key_in(item)
    if place.pk.startswith("P#"):
        return _by_id("markers", place, keys.pending_id(place.sk), kept)
    kind = place.sk[0]
    if kind == "D":
        named = "n" in item and not kept.keeps_record(item["n"]["S"])
        return _Gone("identities", place, tombstone=True) if named else None
    if kind == "M":
        stored = kept_item(item)
        return None if kept.keeps_item(stored.key, stored.value) else _Gone("items", place)
    if kind in _IDS:
        part, id_of = _IDS[kind]
        return _by_id(part, place, id_of(place.sk), kept)
    return None if kept.keeps_unnamed() else _Gone(_UNNAMED[kind], place)


def _by_id(part: str, place: Key, record_id: str, kept: Exempt) -> _Gone | None:
    return None if kept.keeps_record(record_id) else _Gone(part, place)


def _event_id(sort_key: str) -> str:
    ref = keys.event_of(sort_key)
    return ref.id if ref else ""


def _slot_event_id(sort_key: str) -> str:
    return keys.slot_entry_of(sort_key).id


def _tombstone(place: Key) -> Attributes:
    return {**place.attributes}


_IDS = {
    "E": ("events", _event_id),
    "V": ("projections", keys.projected_id),
    "K": ("slots", _slot_event_id),
}
_UNNAMED = {"C": "conversations", "R": "rejections"}
