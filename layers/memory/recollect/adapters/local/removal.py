"""Taking an event away: its rows, its document and words, what was kept and published of it, in one transaction."""

import sqlite3

from recollect.adapters.local.documents import DocumentWriter
from recollect.adapters.local.items import write_items
from recollect.adapters.local.users import User, find_user
from recollect.domain.bus import saved_ids
from recollect.domain.errors import VersionMismatch
from recollect.domain.event import Event
from recollect.domain.identity import possible_identities
from recollect.domain.instants import microseconds
from recollect.domain.items import checked
from recollect.domain.scope import Scope
from recollect.domain.slots import slot_of
from recollect.domain.timeline import Removal

_BURY = "UPDATE identities SET event_id = NULL, conversation = NULL WHERE scope = ? AND event_id = ?"
_KEEP_PLACE = """INSERT OR REPLACE INTO slot_entries
    (scope, persona, household, key, timestamp, event_id, recorded_at, emptied) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"""


def remove_event(connection: sqlite3.Connection, scope: Scope, event: Event, removal: Removal) -> bool:
    """False where it is gone. Raises VersionMismatch where it, or an item, changed since it was read.

    What a projection under way may still write after this is found by the marker in `removed`.
    """
    texts = checked(removal.items)
    user = find_user(connection, scope)
    place = (user.number if user else -1, event.id)
    found = connection.execute("SELECT row, version FROM events WHERE scope = ? AND id = ?", place).fetchone()
    if user is None or found is None:
        return False
    if found[1] != event.version:
        raise VersionMismatch("the event changed since it was read")
    _remove_rows(connection, scope, user, event, int(found[0]))
    _remove_document(connection, user, event)
    connection.execute("DELETE FROM projections WHERE scope = ? AND event_id = ?", place)
    published = [(scope.tenant, bus_id) for bus_id in saved_ids(event.id)]
    connection.executemany("DELETE FROM bus WHERE tenant = ? AND id = ?", published)
    _keep_place_in_slot(connection, user, event, removal)
    connection.executemany(
        "INSERT OR IGNORE INTO outbox (row, scope) SELECT row, scope FROM events WHERE scope = ? AND id = ?",
        [(user.number, ref.id) for ref in removal.also],
    )
    if removal.at is not None:
        write_items(connection, user.number, removal.items, texts, removal.at)
    return True


def _remove_rows(connection: sqlite3.Connection, scope: Scope, user: User, event: Event, row: int) -> None:
    """The event with its record and its pending marker; the tombstone and the marker of the removal in their stead."""
    connection.execute("DELETE FROM events WHERE row = ?", (row,))
    _bury_identity(connection, scope, user, event)
    connection.execute(
        "INSERT INTO removed (row, scope, event_id, timestamp) VALUES (?, ?, ?, ?)",
        (row, user.number, event.id, microseconds(event.timestamp)),
    )


def _bury_identity(connection: sqlite3.Connection, scope: Scope, user: User, event: Event) -> None:
    """By the keys that the event can have; a walk over all of the user's finds any other.

    An index by event would find it too, and cost every append a tenth more.
    """
    possible = possible_identities(scope, event)
    places = [(user.number, event.id, identity) for identity in possible]
    if connection.executemany(f"{_BURY} AND identity = ?", places).rowcount < 1:
        connection.execute(_BURY, (user.number, event.id))


def _remove_document(connection: sqlite3.Connection, user: User, event: Event) -> None:
    documents = DocumentWriter(connection, user, None)
    documents.remove(event.id)
    documents.finish()


def _keep_place_in_slot(connection: sqlite3.Connection, user: User, event: Event, removal: Removal) -> None:
    slot = slot_of(event)
    if slot is None:
        return
    connection.execute(
        _KEEP_PLACE,
        (
            user.number,
            *slot,
            microseconds(event.timestamp),
            event.id,
            microseconds(event.recorded_at),
            removal.empties_slot,
        ),
    )
