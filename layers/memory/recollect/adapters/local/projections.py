"""The port `Projections` in the file. Projections can be derived again, so their commits do not wait for the disk."""

import sqlite3
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime

from recollect.adapters.local.database import Database
from recollect.adapters.local.rows import (
    chunked_in,
    enter_user,
    events_by_id,
    ref_of,
    replace_record,
    user_number,
    write_slot_entry,
)
from recollect.core.errors import VersionMismatch
from recollect.core.event import Event, EventRef
from recollect.core.scope import Scope
from recollect.core.time import microseconds
from recollect.core.vectors import pack_vector, unpack_vector
from recollect.timeline.bus import saved_ids
from recollect.timeline.slots import slot_of
from recollect.timeline.timeline import PendingEvent, PendingPage, Projection

_VECTORS = "SELECT event_id, timestamp, generation, vector FROM projections WHERE scope = ? AND event_id IN ({})"

_PENDING = """SELECT e.id, e.timestamp, s.tenant, s.user_id, o.row FROM outbox o JOIN events e ON e.row = o.row
    JOIN scopes s ON s.id = o.scope WHERE o.row > ? ORDER BY o.row LIMIT ?"""
_REMOVED = """SELECT r.event_id, r.timestamp, s.tenant, s.user_id, r.row FROM removed r
    JOIN scopes s ON s.id = r.scope WHERE r.row > ? ORDER BY r.row LIMIT ?"""


class SqliteProjections:
    """Raises Throttled, Unavailable and StoredDataError."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def together(self) -> AbstractContextManager[None]:
        """One commit for the writes of this thread inside, those of index and bus included."""
        return self._database.together()

    def pending(self, limit: int, after: str | None) -> PendingPage:
        """Markers of every tenant, oldest arrival first; a removal's in the place of its event's."""
        after_row = int(after or 0)
        with self._database.reading() as connection:
            found = [row for query in (_PENDING, _REMOVED) for row in connection.execute(query, (after_row, limit + 1))]
        rows = sorted(found, key=lambda row: int(row[4]))[: limit + 1]
        markers = tuple(PendingEvent(Scope(row[2], row[3]), ref_of(row)) for row in rows[:limit])
        return PendingPage(markers, str(rows[limit - 1][4]) if len(rows) > limit else None)

    def save(self, scope: Scope, projections: Sequence[Projection]) -> None:
        """Writes the vectors by event id, replacing earlier ones."""
        with self._database.writing(durable=False) as connection:
            user = enter_user(connection, scope)
            connection.executemany(
                "INSERT INTO projections (scope, event_id, timestamp, generation, vector) VALUES (?, ?, ?, ?, ?)"
                " ON CONFLICT (scope, event_id) DO UPDATE SET timestamp = excluded.timestamp,"
                " generation = excluded.generation, vector = excluded.vector",
                [
                    (
                        user.number,
                        projection.ref.id,
                        microseconds(projection.ref.timestamp),
                        projection.generation,
                        None if projection.vector is None else pack_vector(projection.vector),
                    )
                    for projection in projections
                ],
            )

    def vectors(self, scope: Scope, event_ids: Sequence[str]) -> dict[str, Projection]:
        found: dict[str, Projection] = {}
        with self._database.reading() as connection:
            user = user_number(connection, scope)
            for row in chunked_in(connection, _VECTORS, event_ids, user):
                vector = None if row[3] is None else unpack_vector(row[3])
                found[row[0]] = Projection(ref_of(row), vector, row[2])
        return found

    def fill_slot(self, scope: Scope, event: Event) -> None:
        """Enters a keyed event in its slot's history (P-19), unless it is there or was removed."""
        if slot_of(event) is None:
            return
        with self._database.writing(durable=False) as connection:
            write_slot_entry(connection, enter_user(connection, scope).number, event, None)

    def keep_place(self, scope: Scope, event: Event, *, emptied: bool) -> None:
        """Enters an event that is not stored as a removed one (P-22), on the disk: nothing else can derive it."""
        if slot_of(event) is None:
            return
        with self._database.writing(durable=not self._database.grouped) as connection:
            write_slot_entry(connection, enter_user(connection, scope).number, event, emptied)

    def store_bound(self, scope: Scope, event: Event) -> None:
        """Writes until when its value holds. Raises VersionMismatch where it changed since, or is gone."""
        with self._database.writing(durable=False) as connection:
            user = user_number(connection, scope)
            stored = _unchanged(connection, user, event)
            replace_record(connection, user, replace(stored, holds_until=event.holds_until))

    def supersede(self, scope: Scope, event: Event, by: EventRef | None) -> Event:
        """Writes which event supersedes this one. Raises VersionMismatch where it changed since or is deleted."""
        with self._database.writing(durable=False) as connection:
            user = user_number(connection, scope)
            stored = events_by_id(connection, user, [event.id]).get(event.id)
            if stored is None or stored.version != event.version:
                raise VersionMismatch("the event changed since it was read")
            changed = stored.superseded(by)
            replace_record(connection, user, changed)
        return changed

    def enter_conversation(self, scope: Scope, conversation_id: str, started_at: datetime) -> None:
        """Lists the conversation; the first entry wins."""
        with self._database.writing(durable=False) as connection:
            connection.execute(
                "INSERT OR IGNORE INTO conversations (scope, id, started_at) VALUES (?, ?, ?)",
                (enter_user(connection, scope).number, conversation_id, microseconds(started_at)),
            )

    def mark(self, scope: Scope, refs: Sequence[EventRef]) -> None:
        """Marks them as pending; deleted ones are no error."""
        with self._database.writing(durable=False) as connection:
            user = user_number(connection, scope)
            connection.executemany(
                "INSERT OR IGNORE INTO outbox (row, scope) SELECT row, scope FROM events WHERE scope = ? AND id = ?",
                [(user, ref.id) for ref in refs],
            )

    def settle(self, scope: Scope, refs: Sequence[EventRef]) -> None:
        with self._database.writing(durable=False) as connection:
            user = user_number(connection, scope)
            connection.executemany(
                "DELETE FROM outbox WHERE row = (SELECT row FROM events WHERE scope = ? AND id = ?)",
                [(user, ref.id) for ref in refs],
            )

    def forget(self, scope: Scope, refs: Sequence[EventRef]) -> None:
        """Removes the projections of deleted events, with the markers of their removal (P-22)."""
        with self._database.writing(durable=False) as connection:
            deleted = [(user_number(connection, scope), ref.id) for ref in refs]
            connection.executemany("DELETE FROM projections WHERE scope = ? AND event_id = ?", deleted)
            connection.executemany("DELETE FROM removed WHERE scope = ? AND event_id = ?", deleted)
            published = [(scope.tenant, bus_id) for ref in refs for bus_id in saved_ids(ref.id)]
            connection.executemany("DELETE FROM bus WHERE tenant = ? AND id = ?", published)


def _unchanged(connection: sqlite3.Connection, user: int, event: Event) -> Event:
    stored = events_by_id(connection, user, [event.id]).get(event.id)
    if stored is None or stored.version != event.version:
        raise VersionMismatch("the event changed since it was read")
    return stored
