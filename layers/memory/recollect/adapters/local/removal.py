"""Removing events: one of them with all that was derived from it, or all of a user's, each in one transaction.

`SqliteEraser` is the port `Eraser`; it works in pages.
"""

import json
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

from recollect.adapters.local.database import Database
from recollect.adapters.local.items import key_of_row, write_items
from recollect.adapters.local.rows import (
    User,
    delete_derived,
    find_user,
    mark_pending,
    remove_documents,
    write_slot_entry,
)
from recollect.core.errors import VersionMismatch
from recollect.core.event import Event
from recollect.core.items import checked
from recollect.core.scope import Scope
from recollect.core.time import microseconds
from recollect.deletion.storage import ErasedPage, Exempt
from recollect.timeline.record import possible_identities
from recollect.timeline.timeline import Removal

_BURY = "UPDATE identities SET event_id = NULL, conversation = NULL WHERE scope = ? AND event_id = ?"
_AGAIN = "again"
_BY_ID = "AND (:before IS NULL OR {} < :before)"
_UNNAMED = "AND :before IS NULL"
_LARGE = ("events", "projections")

Step = Callable[["_Erasing"], int]
"""Erases some of one kind, or counts what is left of it; how much it was."""


def remove_event(connection: sqlite3.Connection, scope: Scope, event: Event, removal: Removal) -> bool:
    """False where it is deleted already. Raises VersionMismatch where it, or an item, changed since it was read.

    The marker in `removed` leads to what a projection under way may still write after this.
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
    remove_documents(connection, user, [event.id])
    delete_derived(connection, scope.tenant, user.number, [event.ref])
    write_slot_entry(connection, user.number, event, removal.empties_slot, replace=True)
    mark_pending(connection, user.number, removal.also)
    if removal.at is not None:
        write_items(connection, user.number, removal.items, texts, removal.at)
    return True


def _remove_rows(connection: sqlite3.Connection, scope: Scope, user: User, event: Event, row: int) -> None:
    """Replaces the event, its record and its pending marker by the tombstone and the marker of the removal."""
    connection.execute("DELETE FROM events WHERE row = ?", (row,))
    _bury_identity(connection, scope, user, event)
    connection.execute(
        "INSERT INTO removed (row, scope, event_id, timestamp) VALUES (?, ?, ?, ?)",
        (row, user.number, event.id, microseconds(event.timestamp)),
    )


def _bury_identity(connection: sqlite3.Connection, scope: Scope, user: User, event: Event) -> None:
    """By the identities that the event can have, else by a walk over all of the user's.

    An index by event would cost every append a tenth more.
    """
    possible = possible_identities(scope, event)
    places = [(user.number, event.id, identity) for identity in possible]
    if connection.executemany(f"{_BURY} AND identity = ?", places).rowcount < 1:
        connection.execute(_BURY, (user.number, event.id))


class SqliteEraser:
    """The port `Eraser`. Identities become tombstones first: from then on the same events are refused."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def erase(self, scope: Scope, exempt: Exempt, limit: int, after: str | None) -> ErasedPage:  # noqa: ARG002
        """Erases at most `limit` of one kind; the next call needs no place, since erased rows are deleted."""
        with self._database.writing(durable=True) as connection:
            user = find_user(connection, scope)
            if user is None:
                return ErasedPage({}, None)
            erasing = _Erasing(connection, scope, user, exempt, limit)
            for part, step in _STEPS:
                count = step(erasing)
                if count:
                    return ErasedPage({part: count}, _AGAIN)
        self._database.overwrite()
        return ErasedPage({}, None)

    def left(self, scope: Scope, exempt: Exempt) -> int:
        with self._database.reading() as connection:
            user = find_user(connection, scope)
            return 0 if user is None else sum(count(_Erasing(connection, scope, user, exempt)) for count in _COUNTS)


@dataclass(frozen=True, slots=True)
class _Erasing:
    """One step: whose rows, which of them stay, and how many are erased at most."""

    connection: sqlite3.Connection
    scope: Scope
    user: User
    kept: Exempt
    limit: int = 0

    def execute(self, statement: str) -> sqlite3.Cursor:
        """The statement with its named parameters."""
        owner = {"user": self.user.number, "tenant": self.scope.tenant, "user_id": self.scope.user_id}
        return self.connection.execute(statement, {**owner, "before": self.kept.before, "limit": self.limit})


def _bury(erasing: _Erasing) -> int:
    """All at once: of each a hash stays, without its event."""
    statement = f"""UPDATE identities SET event_id = NULL, conversation = NULL
        WHERE scope = :user AND event_id IS NOT NULL {_BY_ID.format("event_id")}"""  # noqa: S608
    return erasing.execute(statement).rowcount


def _documents(erasing: _Erasing) -> int:
    statement = f"SELECT id FROM documents WHERE scope = :user {_BY_ID.format('id')} LIMIT :limit"  # noqa: S608
    ids = [row[0] for row in erasing.execute(statement).fetchall()]
    remove_documents(erasing.connection, erasing.user, ids)
    return len(ids)


def _rows(table: str, condition: str) -> Step:
    """Deletes from a table whose rows name the user."""

    where = f"scope = :user {condition}"
    if table in _LARGE:
        where = f"rowid IN (SELECT rowid FROM {table} WHERE {where} LIMIT :limit)"  # noqa: S608
    return lambda erasing: erasing.execute(f"DELETE FROM {table} WHERE {where}").rowcount  # noqa: S608


def _items(erasing: _Erasing) -> int:
    erased = list(islice(_erased_items(erasing), erasing.limit))
    erasing.connection.executemany("DELETE FROM items WHERE row = ?", erased)
    return len(erased)


def _erased_items(erasing: _Erasing) -> Iterator[tuple[int]]:
    """The row numbers of the items that do not stay."""
    rows = erasing.execute("SELECT collection, labels, key, value, row FROM items WHERE scope = :user ORDER BY row")
    return ((row[4],) for row in rows if not erasing.kept.keeps_item(key_of_row(*row[:3]), json.loads(row[3])))


def _bus(erasing: _Erasing) -> int:
    statement = f"""DELETE FROM bus WHERE tenant = :tenant AND json_extract(detail, '$.userId') = :user_id
        {_BY_ID.format("id")}"""  # noqa: S608
    return erasing.execute(statement).rowcount


_OWNED = f"tenant = :tenant AND owner = :user_id {_BY_ID.format('revision')}"


def _namespaced_items(erasing: _Erasing) -> int:
    """Those that the user owns, whatever their namespace; their vectors go with them."""
    rows = f"SELECT row FROM namespaced_items WHERE {_OWNED} LIMIT :limit"  # noqa: S608
    return erasing.execute(f"DELETE FROM namespaced_items WHERE row IN ({rows})").rowcount  # noqa: S608


def _count_namespaced_items(erasing: _Erasing) -> int:
    return int(erasing.execute(f"SELECT count(*) FROM namespaced_items WHERE {_OWNED}").fetchone()[0])  # noqa: S608


def _count_rows(table: str, condition: str) -> Step:
    statement = f"SELECT count(*) FROM {table} WHERE scope = :user {condition}"  # noqa: S608
    return lambda erasing: int(erasing.execute(statement).fetchone()[0])


_TABLES = (
    ("events", "events", _BY_ID.format("id")),
    ("projections", "projections", _BY_ID.format("event_id")),
    ("segment_places", "segment_places", _BY_ID.format("event_id")),
    ("slots", "slot_entries", _BY_ID.format("event_id")),
    ("markers", "removed", _BY_ID.format("event_id")),
    ("conversations", "conversations", _UNNAMED),
    ("rejections", "rejections", _UNNAMED),
)
_STEPS: tuple[tuple[str, Step], ...] = (
    ("identities", _bury),
    ("index", _documents),
    *((part, _rows(table, condition)) for part, table, condition in _TABLES),
    ("items", _items),
    ("namespaced_items", _namespaced_items),
    ("bus", _bus),
)
_COUNTS: tuple[Step, ...] = (
    _count_rows("identities", f"AND event_id IS NOT NULL {_BY_ID.format('event_id')}"),
    _count_rows("documents", _BY_ID.format("id")),
    *(_count_rows(table, condition) for _, table, condition in _TABLES),
    lambda erasing: sum(1 for _ in _erased_items(erasing)),
    _count_namespaced_items,
)
