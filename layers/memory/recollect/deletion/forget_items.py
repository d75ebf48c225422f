"""What outlives the deletion of an item that a user owned: no import and no restored table brings it back (P-22).

| collection      | owner | key                     | value                                                   |
|-----------------|-------|-------------------------|---------------------------------------------------------|
| `deleted_items` | user  | hash of the item's place| `{before}`: the revision of the last deletion           |

The tombstone of a deletion names items by their hash alone. It is in the outbox of the tombstone log before the
deletion: a crash in between logs one that was asked for and not made; a refusal takes it back. What an application puts
there afterwards has a greater revision and stays.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from recollect.core.errors import VersionMismatch
from recollect.core.items import ALL_PAGES, ItemKey, ItemPath, ItemWrite, in_parts, of_tenant, pages, write_all
from recollect.core.scope import Scope
from recollect.deletion.storage import tombstone_outbox_write
from recollect.deletion.tombstone_log import TombstoneLog, items_tombstone
from recollect.items.item import ItemPlace, ItemPut
from recollect.ports import Items, NamespacedItems

DELETED_ITEMS = ItemPath("deleted_items")
_AT_ONCE = 24
_PAGE = 100


def item_hash(tenant: str, place: ItemPlace) -> str:
    """The item in names: 32 hex digits of a hash."""
    named = json.dumps([tenant, *place.namespace, place.key]).encode()
    return hashlib.sha256(named).hexdigest()[:32]


def deleted_item_key(tenant: str, place: ItemPlace) -> ItemKey:
    """Where it is noted that the user's item was deleted."""
    return ItemKey(DELETED_ITEMS, item_hash(tenant, place))


@dataclass(frozen=True, slots=True)
class ForgetItems:
    """Notes deletions of owned items, and repeats logged ones in a restored table."""

    _items: Items
    _stored: NamespacedItems
    _log: TombstoneLog

    @contextmanager
    def noted(self, owner: Scope, places: Sequence[ItemPlace], revision: str, now: datetime) -> Iterator[None]:
        """Around the deletion: notes it before, logs it after. `revision` is of this deletion.

        Of a refused deletion the notes of what is there still are taken back.
        """
        hashes = {place: item_hash(owner.tenant, place) for place in places}
        outbox = tombstone_outbox_write(revision, items_tombstone(list(hashes.values()), revision))
        self._items.write(owner.user, [outbox], now)
        noted = self._items.get(owner.user, [ItemKey(DELETED_ITEMS, one) for one in hashes.values()])
        self._note(owner, list(hashes.values()), revision, now)
        try:
            yield
        except VersionMismatch:
            there = self._stored.read(of_tenant(owner.tenant), places, now)
            kept = [ItemKey(DELETED_ITEMS, one) for place, one in hashes.items() if place in there]
            before = [ItemWrite(key, noted[key].value if key in noted else None) for key in kept]
            write_all(self._items.write, owner.user, before, now)
            self._logged(owner, [one for place, one in hashes.items() if place not in there], revision, now)
            raise
        self._log.items(owner, list(hashes.values()), revision, now)

    def _logged(self, owner: Scope, hashes: Sequence[str], revision: str, now: datetime) -> None:
        if hashes:
            self._log.items(owner, hashes, revision, now)
        else:
            self._log.clear_outbox(owner.user, [revision], now)

    def again(self, owner: Scope, tombstone: Mapping[str, Any], now: datetime) -> None:
        """Applies a tombstone: deletes what is older than it, and notes it."""
        hashes, revision = list(tombstone["hashes"]), str(tombstone["before"])
        self._note(owner, hashes, revision, now)
        found = pages(lambda after: self._stored.owned(owner, _PAGE, after), ALL_PAGES)
        old = [
            item
            for page in found
            for item in page.items
            if item.revision < revision and item_hash(owner.tenant, item.place) in hashes
        ]
        if old:
            puts = [ItemPut(place=item.place, value=None, only_of=owner.user_id) for item in old]
            self._stored.write(of_tenant(owner.tenant), puts, now)

    def _note(self, owner: Scope, hashes: Sequence[str], revision: str, now: datetime) -> None:
        writes = [ItemWrite(ItemKey(DELETED_ITEMS, one), {"before": revision}) for one in dict.fromkeys(hashes)]
        for part in in_parts(writes, _AT_ONCE):
            self._items.write(owner.user, part, now)
