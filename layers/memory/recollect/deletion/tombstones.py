"""Ids of records that were deleted before the table was lost: no import and no restore brings them back (P-22).

| collection    | owner | key       | value |
|---------------|-------|-----------|-------|
| `deleted_ids` | user  | record id | `{}`  |

Slots whose value was deleted, until the archive says so too: written in one step with the removal (P-22).

| collection      | owner | key                     | value                               |
|-----------------|-------|-------------------------|-------------------------------------|
| `emptied_slots` | user  | id of the removed event | `{slot: [persona, household, key]}` |

Deletions that are not known to be kept outside of the table yet: each written in one step with what it tells of.

| collection         | owner           | key                                      | value         |
|--------------------|-----------------|------------------------------------------|---------------|
| `untold_deletions` | user, or tenant | id of record, rejection, erasure; `keys` | the tombstone |

It goes when that is done. One that is left, because a process ended in between, is told by the next reconciliation.

Copies: records that were made from another record of the tenant, so that deleting the origin reaches them.

| collection | owner  | labels                   | key          | value                                      |
|------------|--------|--------------------------|--------------|--------------------------------------------|
| `copies`   | tenant | origin's user, its event | copying user | `{event_id, t}`: the copy and its instant  |
| `origins`  | user   |                          | event id     | `{user_id, event_id}`: what it is a copy of |

A copy that was imported keeps the id of its origin. One that was made anew has an id of its own, which is a third label
of its entry: a value that a person brought back by taking a decision back. Both entries are written before the copy is:
an entry may lead to nothing.

Erasing a user: everything recorded before is gone and is refused for ever; the user may start anew (P-22).

An erasure's id is a UUIDv7 of the real time: what has a smaller id was recorded before it.

| collection     | owner  | key        | item                                                             |
|----------------|--------|------------|------------------------------------------------------------------|
| `erasures`     | tenant | erasure id | `Erasure`; its work is the job of the same id, of kind `erase`   |
| `erased_users` | tenant | user id    | `{before}`: the id of the user's last erasure                    |
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from recollect.archive.record_line import RecordLine, RecordOrigin
from recollect.core.errors import StoredDataError
from recollect.core.event import Event, EventRef
from recollect.core.items import Due, ItemKey, ItemPath, ItemWrite
from recollect.core.time import from_iso, iso
from recollect.timeline.slots import slot_of

DELETED_IDS = ItemPath("deleted_ids")


def deleted_key(record_id: str) -> ItemKey:
    """Where it is told that a record was deleted."""
    return ItemKey(DELETED_IDS, record_id)


def deleted_write(record_id: str) -> ItemWrite:
    """What tells it; again is no harm."""
    return ItemWrite(deleted_key(record_id), {})


EMPTIED_SLOTS = ItemPath("emptied_slots")


def emptied_key(event_id: str) -> ItemKey:
    """Where it is told that a removed event was a slot's value."""
    return ItemKey(EMPTIED_SLOTS, event_id)


def emptied_write(event: Event) -> ItemWrite:
    """What tells it; again is no harm."""
    return ItemWrite(emptied_key(event.id), {"slot": list(slot_of(event) or ())})


def emptied_slot(value: Mapping[str, Any]) -> tuple[str, str, str]:
    """The slot in what `emptied_write` wrote. Raises StoredDataError."""
    try:
        persona, household, key = value["slot"]
    except (KeyError, TypeError, ValueError) as error:
        raise StoredDataError("an emptied slot cannot be read") from error
    return str(persona), str(household), str(key)


QUEUE = "untold_deletions"
TOMBSTONE_OUTBOX = ItemPath("untold_deletions")


def tombstone_outbox_key(key: str) -> ItemKey:
    """Where it stands."""
    return ItemKey(TOMBSTONE_OUTBOX, key)


def tombstone_outbox_write(key: str, tombstone: Mapping[str, Any]) -> ItemWrite:
    """What is written together with a deletion. To tell twice is no harm, so it is due from the start."""
    return ItemWrite(tombstone_outbox_key(key), tombstone, due=Due(QUEUE, datetime.fromtimestamp(0, UTC)))


ORIGINS = ItemPath("origins")
COPIES = "copies"


def copies_path(origin: RecordOrigin) -> ItemPath:
    """Where the copies of a record are listed, by user, in the tenant's items."""
    return ItemPath(COPIES, (origin.user_id, origin.event_id))


def copy_entry(origin: RecordOrigin, user_id: str, copy: EventRef) -> ItemWrite:
    """The tenant's entry of a copy, which is that user's."""
    path = copies_path(origin)
    if copy.id != origin.event_id:
        path = ItemPath(COPIES, (*path.labels, copy.id))
    return ItemWrite(ItemKey(path, user_id), {"event_id": copy.id, "t": iso(copy.timestamp)})


def origin_entry(origin: RecordOrigin, event_id: str) -> ItemWrite:
    """The user's own entry of it."""
    return ItemWrite(origin_key(event_id), {"user_id": origin.user_id, "event_id": origin.event_id})


def origin_key(event_id: str) -> ItemKey:
    """Where a user's record tells what it is a copy of."""
    return ItemKey(ORIGINS, event_id)


def copy_write(line: RecordLine) -> ItemWrite:
    """The tenant's entry of a copy."""
    return copy_entry(line.origin, line.event.user_id, line.event.ref)


def origin_write(line: RecordLine) -> ItemWrite:
    """The user's own entry of it."""
    return origin_entry(line.origin, line.event.id)


def copied_ref(value: Mapping[str, Any]) -> EventRef:
    """The copy that the tenant's entry names; the entry's key is its user."""
    return EventRef(value["event_id"], from_iso(value["t"]))


def origin_in(value: Mapping[str, Any]) -> RecordOrigin:
    """The origin that the user's entry names."""
    return RecordOrigin(value["user_id"], value["event_id"])


JOB_KIND = "erase"
ERASURES = ItemPath("erasures")
ERASED_USERS = ItemPath("erased_users")
_OUR_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")

# Copies that nobody can edit, by engines, and how long each lives.
LAPSES: Mapping[str, Mapping[str, timedelta]] = {
    "local": {"idempotency_records": timedelta(hours=24)},
    "aws": {
        "idempotency_records": timedelta(hours=24),
        "bus_log": timedelta(days=7),
        "index_snapshots": timedelta(days=14),
        "point_in_time_backups": timedelta(days=35),
    },
}


@dataclass(frozen=True, slots=True)
class ErasedPage:
    """What a step took away, by part; `more` is where the next one goes on, None at the end."""

    counts: Mapping[str, int]
    more: str | None


@dataclass(frozen=True, slots=True)
class Exempt:
    """What an erasure leaves: the items named, and, where `before` is given, all that is not older than that id.

    Without `before` everything goes that is there; of an identity its hash stays, as a tombstone.
    """

    items: frozenset[ItemKey] = frozenset()
    before: str | None = None

    def keeps_record(self, record_id: str) -> bool:
        """Whether a record, or what hangs on it, stays."""
        return self.before is not None and record_id >= self.before

    def keeps_unnamed(self) -> bool:
        """Whether things without an id of ours stay: nobody knows when they were written."""
        return self.before is not None

    def keeps_item(self, key: ItemKey, value: Mapping[str, Any]) -> bool:
        """Whether an item stays: by the newest of our ids in its name, else by the id that it holds."""
        if key in self.items:
            return True
        if self.before is None:
            return False
        ids = _ids_in([*key.path.labels, key.key]) or _ids_in([str(value.get("id", ""))])
        return not ids or max(ids) >= self.before


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure:
    """An erasure as its report tells of it. `counts` is what the request itself took away, by part."""

    id: str
    user_id: str
    at: datetime
    counts: Mapping[str, int] = field(default_factory=dict)
    lapses: Sequence[tuple[str, datetime]] = ()


def erasure_key(erasure_id: str) -> ItemKey:
    """Where an erasure is."""
    return ItemKey(ERASURES, erasure_id)


def erased_user_key(user_id: str) -> ItemKey:
    """Where it is told that a user was erased."""
    return ItemKey(ERASED_USERS, user_id)


def lapses_of(engines: str, now: datetime) -> tuple[tuple[str, datetime], ...]:
    """The copies that nobody can edit, and when each is gone by itself."""
    return tuple((part, now + age) for part, age in LAPSES[engines].items())


def erasure_document(erasure: Erasure) -> dict[str, Any]:
    """The stored form."""
    return {
        "user_id": erasure.user_id,
        "at": iso(erasure.at),
        "counts": dict(erasure.counts),
        "lapses": [[part, iso(until)] for part, until in erasure.lapses],
    }


def erasure_in(erasure_id: str, document: Mapping[str, Any]) -> Erasure:
    """Reads what `erasure_document` wrote. Raises StoredDataError."""
    try:
        return Erasure(
            id=erasure_id,
            user_id=document["user_id"],
            at=from_iso(document["at"]),
            counts=document["counts"],
            lapses=tuple((part, from_iso(until)) for part, until in document["lapses"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise StoredDataError(f"an erasure cannot be read: {type(error).__name__}") from error


def _ids_in(names: Iterable[str]) -> list[str]:
    return [found for name in names for found in _OUR_ID.findall(name)]
