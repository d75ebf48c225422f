"""The stored items of deletions (P-22).

| collection         | owner           | labels                   | key, value                                        |
|--------------------|-----------------|--------------------------|---------------------------------------------------|
| `deleted_ids`      | user            |                          | record id, `{}`                                   |
| `emptied_slots`    | user            |                          | event id, `{slot: [persona, household, key]}`     |
| `untold_deletions` | user, or tenant |                          | id of record, rejection, erasure; or `keys`       |
| `copies`           | tenant          | origin's user, its event | copying user, `{event_id, t}`                     |
| `origins`          | user            |                          | event id of a copy, `{user_id, event_id}`         |
| `erasures`         | tenant          |                          | erasure id, `Erasure`; its job has the same id    |
| `erased_users`     | tenant          |                          | user id, `{before}`: the id of the last erasure   |

* `deleted_ids`: records deleted before the table was lost; no import and no restore stores them again.
* `emptied_slots`: written atomically with the removal of a slot's current value, until the archive is rewritten.
* `untold_deletions`: the outbox of the tombstone log, written atomically with the deletion; an item is the tombstone.
  It is removed once logged; reconciliation logs what a process left behind.
* `copies`, `origins`: written before the copy, so an entry may lead to nothing. An imported copy has its origin's id;
  one made anew (a value that a person brought back) has an id of its own, as a third label of its entry.
* An erasure's id is a UUIDv7 of the real time: a record with a smaller id was recorded before it and is refused for
  ever; the user may start anew.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from recollect.core.event import Event, EventRef, RecordOrigin
from recollect.core.items import Due, ItemKey, ItemPath, ItemWrite, document_of, reading
from recollect.core.time import from_iso, iso
from recollect.timeline.slots import slot_of

DELETED_IDS = ItemPath("deleted_ids")
EMPTIED_SLOTS = ItemPath("emptied_slots")
QUEUE = "untold_deletions"
TOMBSTONE_OUTBOX = ItemPath(QUEUE)
ORIGINS = ItemPath("origins")
COPIES = "copies"
JOB_KIND = "erase"
ERASURES = ItemPath("erasures")
ERASED_USERS = ItemPath("erased_users")
_OUR_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


def deleted_key(record_id: str) -> ItemKey:
    return ItemKey(DELETED_IDS, record_id)


def deleted_write(record_id: str) -> ItemWrite:
    """Notes a deleted record; idempotent."""
    return ItemWrite(deleted_key(record_id), {})


def emptied_key(event_id: str) -> ItemKey:
    return ItemKey(EMPTIED_SLOTS, event_id)


def emptied_write(event: Event) -> ItemWrite:
    """Notes that a slot was emptied; idempotent."""
    return ItemWrite(emptied_key(event.id), {"slot": list(slot_of(event) or ())})


@reading("an emptied slot")
def emptied_slot(value: Mapping[str, Any]) -> tuple[str, str, str]:
    persona, household, key = value["slot"]
    return str(persona), str(household), str(key)


def tombstone_outbox_key(key: str) -> ItemKey:
    return ItemKey(TOMBSTONE_OUTBOX, key)


def tombstone_outbox_write(key: str, tombstone: Mapping[str, Any]) -> ItemWrite:
    """The write that accompanies a deletion; due from the start, since logging is idempotent."""
    return ItemWrite(tombstone_outbox_key(key), tombstone, due=Due(QUEUE, datetime.fromtimestamp(0, UTC)))


def copies_path(origin: RecordOrigin) -> ItemPath:
    """The path of a record's copies in the tenant's items; the keys are users."""
    return ItemPath(COPIES, (origin.user_id, origin.event_id))


def copy_entry(origin: RecordOrigin, user_id: str, copy: EventRef) -> ItemWrite:
    """The tenant's entry of a copy of that user."""
    path = copies_path(origin)
    if copy.id != origin.event_id:
        path = ItemPath(COPIES, (*path.labels, copy.id))
    return ItemWrite(ItemKey(path, user_id), {"event_id": copy.id, "t": iso(copy.timestamp)})


def origin_entry(origin: RecordOrigin, event_id: str) -> ItemWrite:
    return ItemWrite(origin_key(event_id), {"user_id": origin.user_id, "event_id": origin.event_id})


def origin_key(event_id: str) -> ItemKey:
    return ItemKey(ORIGINS, event_id)


def copied_ref(value: Mapping[str, Any]) -> EventRef:
    """The copy that the tenant's entry names; its user is the entry's key."""
    return EventRef(value["event_id"], from_iso(value["t"]))


def origin_in(value: Mapping[str, Any]) -> RecordOrigin:
    return RecordOrigin(value["user_id"], value["event_id"])


LAPSES: Mapping[str, Mapping[str, timedelta]] = {
    "local": {"idempotency_records": timedelta(hours=24)},
    "aws": {
        "idempotency_records": timedelta(hours=24),
        "bus_log": timedelta(days=7),
        "index_snapshots": timedelta(days=14),
        "point_in_time_backups": timedelta(days=35),
    },
}
"""Copies that cannot be edited, by engines, and how long each lives."""


@dataclass(frozen=True, slots=True)
class ErasedPage:
    """The counts that one call deleted, by part; `more` is the next call's cursor, None at the end."""

    counts: Mapping[str, int]
    more: str | None


@dataclass(frozen=True, slots=True)
class Exempt:
    """What an erasure does not delete: the named items and, where `before` is given, all that has that id or a newer
    one.

    Without `before` everything else is deleted; of an identity the hash stays, as a tombstone.
    """

    items: frozenset[ItemKey] = frozenset()
    before: str | None = None

    def keeps_record(self, record_id: str) -> bool:
        """Whether a record, or what depends on it, stays."""
        return self.before is not None and record_id >= self.before

    def keeps_unnamed(self) -> bool:
        """Whether objects without an id of ours stay: their time of writing is unknown."""
        return self.before is not None

    def keeps_item(self, key: ItemKey, value: Mapping[str, Any]) -> bool:
        """Whether an item stays: by the newest of our ids in its name, else by the id in its value."""
        if key in self.items:
            return True
        if self.before is None:
            return False
        ids = _ids_in([*key.path.labels, key.key]) or _ids_in([str(value.get("id", ""))])
        return not ids or max(ids) >= self.before


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure:
    """An erasure as reported. `counts` is what the request itself deleted, by part."""

    id: str
    user_id: str
    at: datetime
    counts: Mapping[str, int] = field(default_factory=dict)
    lapses: tuple[tuple[str, datetime], ...] = ()


def erasure_key(erasure_id: str) -> ItemKey:
    return ItemKey(ERASURES, erasure_id)


def erased_user_key(user_id: str) -> ItemKey:
    return ItemKey(ERASED_USERS, user_id)


def lapses_of(engines: str, now: datetime) -> tuple[tuple[str, datetime], ...]:
    """The copies that cannot be edited, and when each expires."""
    return tuple((part, now + age) for part, age in LAPSES[engines].items())


def erasure_document(erasure: Erasure) -> dict[str, Any]:
    return document_of(erasure, without=("id",))


@reading("an erasure")
def erasure_in(erasure_id: str, document: Mapping[str, Any]) -> Erasure:
    return Erasure(
        id=erasure_id,
        user_id=document["user_id"],
        at=from_iso(document["at"]),
        counts=document["counts"],
        lapses=tuple((part, from_iso(until)) for part, until in document["lapses"]),
    )


def _ids_in(names: Iterable[str]) -> list[str]:
    return [found for name in names for found in _OUR_ID.findall(name)]
