"""Removing events on DynamoDB: one of them with a tombstone and a marker in one transaction, or all of a user's.

Also rejected values, written in one transaction with the items that record them, and the port `Eraser`, a walk over
the user's partition and over the markers that lie elsewhere.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from botocore.exceptions import ClientError

from recollect.adapters.aws import keys
from recollect.adapters.aws.clients import (
    CANCELLED_BY_CONDITION,
    CONDITION_FAILED,
    cancellation_codes,
    ignored,
    translated,
)
from recollect.adapters.aws.item_format import (
    Attributes,
    item_in,
    key_in,
    number,
    pending_item,
    removal_marker_item,
    slot_item,
    text,
)
from recollect.adapters.aws.items import operations, retry_writes
from recollect.adapters.aws.keys import Key, SortRange
from recollect.adapters.aws.namespaced_items import owned_place
from recollect.adapters.aws.table import SERVICE, ItemAccess, Walk
from recollect.core.errors import Throttled, VersionMismatch
from recollect.core.event import Event
from recollect.core.items import ItemWrite, checked
from recollect.core.scope import Scope
from recollect.deletion.storage import ErasedPage, Exempt
from recollect.items.item import ItemPlace
from recollect.timeline.slots import slot_of
from recollect.timeline.timeline import Removal

_LAST = "\U0010ffff"
_MARKERS = "P"
_PARTITION = "U"


def remove_event(access: ItemAccess, scope: Scope, event: Event, removal: Removal) -> bool:
    """False where it is deleted already. Raises VersionMismatch, InvalidInput, Throttled after a second of conflicts.

    The identity is read from the event's item: `project` removes the projection, whose index entries lead to nothing
    until then.
    """
    texts = checked(removal.items)

    def attempt() -> bool | None:
        stored = access.get(keys.event_key(scope, event.ref))
        if stored is None:
            return False
        if stored["v"] != number(event.version):
            return None
        items = operations(access, scope, removal.items, texts, removal.at) if removal.at else []
        _transact(access, [*_operations(access.table, scope, event, stored, removal), *items])
        return True

    removed = retry_writes(access, removal.items, attempt)
    if removed is None:
        raise VersionMismatch("the event changed since it was read")
    return removed


def bury_identities(access: ItemAccess, scope: Scope, identities: Sequence[str]) -> None:
    """Writes a tombstone for each unknown identity. Raises Throttled with some of them written."""
    places = [keys.dedupe_key(scope, identity) for identity in dict.fromkeys(identities)]
    access.side_by_side(lambda place: access.put_if_absent(place.attributes), places)


def _transact(access: ItemAccess, parts: list[dict[str, Any]]) -> None:
    """Raises Throttled where the first, the event's deletion, fails: the event changed since it was read a moment ago.

    Raises VersionMismatch where an item is not at its expected version.
    """
    with translated(SERVICE):
        try:
            access.client.transact_write_items(TransactItems=parts)
        except ClientError as error:
            codes = cancellation_codes(error)
            if codes[:1] == [CANCELLED_BY_CONDITION]:
                raise Throttled("DynamoDB: the event changed meanwhile") from error
            if CANCELLED_BY_CONDITION in codes:
                raise VersionMismatch("DynamoDB: an item changed since it was read") from error
            raise


def _operations(table: str, scope: Scope, event: Event, stored: Attributes, removal: Removal) -> list[dict[str, Any]]:
    slot = slot_of(event)
    items: list[Attributes] = [
        _tombstone(keys.dedupe_key(scope, stored["d"]["S"])),
        removal_marker_item(scope, event),
        *(pending_item(scope, ref) for ref in removal.also),
    ]
    if slot is not None:
        items.append(slot_item(scope, slot, event, removal.empties_slot))
    deletion = {
        "TableName": table,
        "Key": keys.event_key(scope, event.ref).attributes,
        "ConditionExpression": "v = :version",
        "ExpressionAttributeValues": {":version": number(event.version)},
    }
    return [{"Delete": deletion}, *({"Put": {"TableName": table, "Item": item}} for item in items)]


def reject_value(access: ItemAccess, scope: Scope, fingerprint: str, items: Sequence[ItemWrite], now: datetime) -> None:
    """Refuses appends of the fingerprint from now on. Raises VersionMismatch, InvalidInput, Throttled."""
    place = keys.rejection_key(scope, fingerprint).attributes
    _change(access, scope, {"Put": {"TableName": access.table, "Item": place}}, items, now)


def lift_rejection(
    access: ItemAccess, scope: Scope, fingerprint: str, items: Sequence[ItemWrite], now: datetime
) -> None:
    """Accepts appends of the fingerprint again. Raises VersionMismatch, InvalidInput, Throttled."""
    place = keys.rejection_key(scope, fingerprint).attributes
    _change(access, scope, {"Delete": {"TableName": access.table, "Key": place}}, items, now)


def _change(access: ItemAccess, scope: Scope, own: dict[str, Any], items: Sequence[ItemWrite], now: datetime) -> None:
    texts = checked(items)
    retry_writes(access, items, lambda: access.transact([own, *operations(access, scope, items, texts, now)]))


class _Erased(NamedTuple):
    """An item to erase, by the part it belongs to; a `tombstone` keeps its key. `names` is an item elsewhere."""

    part: str
    place: Key
    tombstone: bool = False
    names: ItemPlace | None = None
    revision: str = ""


@dataclass(frozen=True, slots=True)
class DynamoDBEraser:
    """The port `Eraser`. Dedupe records sort before events, so an erased event is refused if it is appended again."""

    access: ItemAccess

    def erase(self, scope: Scope, exempt: Exempt, limit: int, after: str | None) -> ErasedPage:
        """Reads `limit` items at most and erases those that `kept` does not keep."""
        items, more = self._page(scope, limit, after or _PARTITION)
        erased = [one for item in items if (one := _erased(item, exempt)) is not None]
        self.access.put_many(_tombstone(one.place) for one in erased if one.tombstone)
        named = [one for one in erased if one.names is not None]
        self.access.side_by_side(lambda one: self._erase_named(scope, one), named)
        self.access.delete_many(one.place for one in erased if not one.tombstone and one.names is None)
        return ErasedPage(Counter(one.part for one in erased), more)

    def left(self, scope: Scope, exempt: Exempt) -> int:
        walks = (self._walk(scope, _PARTITION), self._walk(scope, _MARKERS))
        return sum(_erased(item, exempt) is not None for walk in walks for item in self.access.walk(walk))

    def _erase_named(self, scope: Scope, erased: _Erased) -> None:
        """An item of an application, before the entry that names it.

        What changed its owner stays, and what was written since the entry was read, with its entry.
        """
        assert erased.names is not None
        item = keys.namespaced_key(scope.tenant, erased.names)
        as_read = {":revision": text(erased.revision)}
        self._erase_if(item, "u = :owner AND j = :revision", {":owner": text(scope.user_id), **as_read})
        self._erase_if(erased.place, "j = :revision", as_read)

    def _erase_if(self, place: Key, condition: str, values: Attributes) -> None:
        with translated(SERVICE), ignored(CONDITION_FAILED):
            self.access.client.delete_item(
                TableName=self.access.table,
                Key=place.attributes,
                ConditionExpression=condition,
                ExpressionAttributeValues=values,
            )

    def _page(self, scope: Scope, limit: int, after: str) -> tuple[list[Attributes], str | None]:
        """One query of the partition, then of the markers; each goes on after the last sort key read."""
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


def _erased(item: Attributes, exempt: Exempt) -> _Erased | None:
    place = key_in(item)
    kind = "P" if place.pk.startswith("P#") else place.sk[0]
    if kind == "D":
        named = "n" in item and not exempt.keeps_record(item["n"]["S"])
        return _Erased("identities", place, tombstone=True) if named else None
    if kind == "M":
        stored = item_in(item)
        return None if exempt.keeps_item(stored.key, stored.value) else _Erased("items", place)
    if kind == "O":
        revision = item["j"]["S"]
        erased = _Erased("namespaced_items", place, names=owned_place(item), revision=revision)
        return None if exempt.keeps_record(revision) else erased
    if kind in _IDS:
        part, id_of = _IDS[kind]
        return None if exempt.keeps_record(id_of(place.sk)) else _Erased(part, place)
    return None if exempt.keeps_unnamed() else _Erased(_UNNAMED[kind], place)


def _event_id(sort_key: str) -> str:
    ref = keys.event_of(sort_key)
    return ref.id if ref else ""


def _tombstone(place: Key) -> Attributes:
    return {**place.attributes}


_IDS: dict[str, tuple[str, Callable[[str], str]]] = {
    "E": ("events", _event_id),
    "V": ("projections", keys.projected_id),
    "K": ("slots", lambda sort_key: keys.slot_entry_of(sort_key).id),
    "P": ("markers", keys.pending_id),
}
_UNNAMED = {"C": "conversations", "R": "rejections"}
