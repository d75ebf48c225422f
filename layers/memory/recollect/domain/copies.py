"""Copies: records that were made from another record of the tenant, so that deleting the origin reaches them.

| collection | owner  | labels                   | key          | value                                      |
|------------|--------|--------------------------|--------------|--------------------------------------------|
| `copies`   | tenant | origin's user, its event | copying user | `{event_id, t}`: the copy and its instant  |
| `origins`  | user   |                          | event id     | `{user_id, event_id}`: what it is a copy of |

A copy that was imported keeps the id of its origin. One that was made anew has an id of its own, which is a third label
of its entry: a value that a person brought back by taking a decision back. Both entries are written before the copy is:
an entry may lead to nothing.
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
