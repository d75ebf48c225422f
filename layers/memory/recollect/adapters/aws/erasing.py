"""Taking all of a user's away: a walk over the user's partition, and over the markers that lie elsewhere."""

from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

from recollect.adapters.aws import keys
from recollect.adapters.aws.item_access import ItemAccess, Walk
from recollect.adapters.aws.item_format import Item, kept_item, key_in
from recollect.adapters.aws.keys import Key, SortRange
from recollect.domain.erasure import ErasedPage, Kept
from recollect.domain.scope import Scope

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

    def erase(self, scope: Scope, kept: Kept, limit: int, after: str | None) -> ErasedPage:
        """Looks at `limit` items at most."""
        items, more = self._page(scope, limit, after or _PARTITION)
        gone = [one for item in items if (one := _gone(item, kept)) is not None]
        self.access.put_many(_tombstone(one.place) for one in gone if one.tombstone)
        self.access.delete_many(one.place for one in gone if not one.tombstone)
        return ErasedPage(Counter(one.part for one in gone), more)

    def left(self, scope: Scope, kept: Kept) -> int:
        """How much of it is there: 0 once it is erased."""
        walks = (self._walk(scope, _PARTITION), self._walk(scope, _MARKERS))
        return sum(_gone(item, kept) is not None for walk in walks for item in self.access.walk(walk))

    def _page(self, scope: Scope, limit: int, after: str) -> tuple[list[Item], str | None]:
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


def _gone(item: Item, kept: Kept) -> _Gone | None:
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


def _by_id(part: str, place: Key, record_id: str, kept: Kept) -> _Gone | None:
    return None if kept.keeps_record(record_id) else _Gone(part, place)


def _event_id(sort_key: str) -> str:
    ref = keys.event_of(sort_key)
    return ref.id if ref else ""


def _slot_event_id(sort_key: str) -> str:
    return keys.slot_entry_of(sort_key).id


def _tombstone(place: Key) -> Item:
    return {**place.attributes}


_IDS = {
    "E": ("events", _event_id),
    "V": ("projections", keys.projected_id),
    "K": ("slots", _slot_event_id),
}
_UNNAMED = {"C": "conversations", "R": "rejections"}
