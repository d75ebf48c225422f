"""Copies: records that were imported from another user of the tenant, so that deleting the origin reaches them.

| collection | owner  | labels                   | key          | value                                      |
|------------|--------|--------------------------|--------------|--------------------------------------------|
| `copies`   | tenant | origin's user, its event | copying user | `{event_id, t}`: the copy and its instant  |
| `origins`  | user   |                          | event id     | `{user_id, event_id}`: what it is a copy of |

A copy keeps the id of its origin. Both entries are written before the copy is: an entry may lead to nothing.
"""

from collections.abc import Mapping
from typing import Any

from recollect.domain.event import EventRef
from recollect.domain.instants import from_iso, iso
from recollect.domain.items import ItemKey, ItemPath, ItemWrite
from recollect.domain.record_line import RecordLine, RecordOrigin

ORIGINS = ItemPath("origins")
COPIES = "copies"


def copies_path(origin: RecordOrigin) -> ItemPath:
    """Where the copies of a record are listed, by user, in the tenant's items."""
    return ItemPath(COPIES, (origin.user_id, origin.event_id))


def origin_key(event_id: str) -> ItemKey:
    """Where a user's record tells what it is a copy of."""
    return ItemKey(ORIGINS, event_id)


def copy_write(line: RecordLine) -> ItemWrite:
    """The tenant's entry of a copy."""
    value = {"event_id": line.event.id, "t": iso(line.event.timestamp)}
    return ItemWrite(ItemKey(copies_path(line.origin), line.event.user_id), value)


def origin_write(line: RecordLine) -> ItemWrite:
    """The user's own entry of it."""
    value = {"user_id": line.origin.user_id, "event_id": line.origin.event_id}
    return ItemWrite(origin_key(line.event.id), value)


def copied_ref(value: Mapping[str, Any]) -> EventRef:
    """The copy that the tenant's entry names; the entry's key is its user."""
    return EventRef(value["event_id"], from_iso(value["t"]))


def origin_in(value: Mapping[str, Any]) -> RecordOrigin:
    """The origin that the user's entry names."""
    return RecordOrigin(value["user_id"], value["event_id"])
