"""The timeline in the file. Everything is visible as soon as it is durable; nothing here waits for projection."""

import sqlite3
from collections.abc import Sequence
from datetime import datetime

from recollect.adapters.local.append import Append
from recollect.adapters.local.database import Database
from recollect.adapters.local.event_rows import SPOKEN, events_by_id, events_by_row, narrowing, ref_of
from recollect.adapters.local.identities import bury_identities, known_identities
from recollect.adapters.local.rejecting import lift_rejection, reject_value
from recollect.adapters.local.removal import remove_event
from recollect.adapters.local.users import enter_user, user_number
from recollect.adapters.local.window import window_page
from recollect.domain.event import Event, EventRef
from recollect.domain.instants import EARLIEST, from_microseconds, microseconds, sortable
from recollect.domain.items import ItemWrite
from recollect.domain.scope import Scope
from recollect.domain.slots import SlotEntry
from recollect.domain.timeline import (
    IMPORTANT_FROM,
    TAIL_EVENTS,
    AppendOutcome,
    Conversation,
    ConversationPage,
    EventWrite,
    RecordPage,
    Removal,
    Tail,
    WindowPage,
    WindowQuery,
)

_SORTABLE_DIGITS = 16


class SqliteTimeline:
    """Implements the port `Timeline`; raises Throttled, Unavailable and StoredDataError."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def append(self, scope: Scope, writes: Sequence[EventWrite]) -> list[AppendOutcome]:
        """Makes all of them durable in one transaction, on the disk when this returns (P-20, P-22).

        Raises Conflict where another event has the id of one of them, VersionMismatch where an item is not at its
        expected version: nothing is stored then.
        """
        with self._database.writing(durable=True) as connection:
            return Append(connection, scope, enter_user(connection, scope))(writes)

    def read(self, scope: Scope, refs: Sequence[EventRef]) -> dict[str, Event]:
        """The events that exist, by id, in one state of the file."""
        with self._database.reading() as connection:
            return events_by_id(connection, user_number(connection, scope), (ref.id for ref in refs))

    def find(self, scope: Scope, event_id: str) -> Event | None:
        """One event by its id; None where the user has no such event."""
        with self._database.reading() as connection:
            return events_by_id(connection, user_number(connection, scope), [event_id]).get(event_id)

    def identified(self, scope: Scope, identities: Sequence[str]) -> dict[str, str | None]:
        """Those that are known: whose they are, None for a tombstone."""
        with self._database.reading() as connection:
            return known_identities(connection, user_number(connection, scope), identities)

    def window(self, scope: Scope, query: WindowQuery) -> WindowPage:
        """A page of the user's events, newest first (A-45 to A-51)."""
        with self._database.reading() as connection:
            return window_page(connection, user_number(connection, scope), scope, query)

    def newest(self, scope: Scope, limit: int) -> list[Event]:
        """The newest events by timestamp, newest first."""
        condition, parameters = narrowing(scope)
        with self._database.reading() as connection:
            rows = connection.execute(
                f"SELECT row FROM events WHERE scope = ? AND {SPOKEN}{condition}"  # noqa: S608
                " ORDER BY timestamp DESC, id DESC LIMIT ?",
                (user_number(connection, scope), *parameters, limit),
            ).fetchall()
            return events_by_row(connection, [row for (row,) in rows])

    def of_conversation(self, scope: Scope, conversation_id: str, limit: int) -> list[EventRef]:
        """The newest of a conversation, newest first."""
        condition, parameters = narrowing(scope)
        with self._database.reading() as connection:
            rows = connection.execute(
                f"SELECT id, timestamp FROM events WHERE scope = ? AND conversation = ? AND {SPOKEN}{condition}"  # noqa: S608
                " ORDER BY timestamp DESC, id DESC LIMIT ?",
                (user_number(connection, scope), conversation_id, *parameters, limit),
            ).fetchall()
        return [ref_of(row) for row in rows]

    def important(self, scope: Scope, limit: int) -> list[EventRef]:
        """Events of importance 0.6 and more, the most important first, of equals the newer (K-20)."""
        condition, parameters = narrowing(scope)
        with self._database.reading() as connection:
            rows = connection.execute(
                f"SELECT id, timestamp FROM events WHERE scope = ? AND importance >= {IMPORTANT_FROM}{condition}"  # noqa: S608
                " ORDER BY importance DESC, timestamp DESC, id DESC LIMIT ?",
                (user_number(connection, scope), *parameters, limit),
            ).fetchall()
        return [ref_of(row) for row in rows]

    def records(self, scope: Scope, limit: int, after: EventRef | None) -> RecordPage:
        """All that is stored of the user, oldest first; a page is full where more follows."""
        condition, parameters = narrowing(scope)
        place = (microseconds(after.timestamp), after.id) if after else (microseconds(EARLIEST), "")
        with self._database.reading() as connection:
            rows = connection.execute(
                f"SELECT row FROM events WHERE scope = ? AND (timestamp, id) > (?, ?){condition}"  # noqa: S608
                " ORDER BY timestamp, id LIMIT ?",
                (user_number(connection, scope), *place, *parameters, limit + 1),
            ).fetchall()
            events = tuple(events_by_row(connection, [row for (row,) in rows[:limit]]))
        return RecordPage(events, events[-1].ref if len(rows) > limit else None)

    def tail(self, scope: Scope) -> Tail:
        """The newest 100 pending events of the user, newest arrival first; counts all that wait."""
        with self._database.reading() as connection:
            user = user_number(connection, scope)
            rows = connection.execute(
                "SELECT e.id, e.timestamp FROM outbox o JOIN events e ON e.row = o.row"
                " WHERE o.scope = ? ORDER BY o.row DESC LIMIT ?",
                (user, TAIL_EVENTS + 1),
            ).fetchall()
            cut = len(rows) > TAIL_EVENTS
            waiting = _pending_count(connection, user) if cut else len(rows)
        return Tail(tuple(ref_of(row) for row in rows[:TAIL_EVENTS]), cut=cut, waiting=waiting)

    def conversations(self, scope: Scope, limit: int, after: str | None) -> ConversationPage:
        """The user's conversations that have been projected, the last begun first."""
        started, conversation = _conversation_place(after)
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT id, started_at FROM conversations WHERE scope = ? AND started_at <= ?"
                " AND (started_at < ? OR id < ?) ORDER BY started_at DESC, id DESC LIMIT ?",
                (user_number(connection, scope), started, started, conversation, limit + 1),
            ).fetchall()
        page = tuple(Conversation(row[0], from_microseconds(row[1])) for row in rows[:limit])
        more = f"{sortable(page[-1].started_at)}{page[-1].id}" if len(rows) > limit else None
        return ConversationPage(page, more)

    def slot_history(self, scope: Scope, slot: tuple[str, str, str]) -> list[SlotEntry]:
        """All values a slot has had, oldest first, among projected events (P-19)."""
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT event_id, timestamp, recorded_at, emptied FROM slot_entries"
                " WHERE scope = ? AND persona = ? AND household = ? AND key = ? ORDER BY timestamp, event_id",
                (user_number(connection, scope), *slot),
            ).fetchall()
        return [SlotEntry(ref_of(row), from_microseconds(row[2]), _emptied(row[3])) for row in rows]

    def of_slot(self, scope: Scope, slot: tuple[str, str, str]) -> list[Event]:
        """The events of a slot that are there, newest first."""
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT row FROM events WHERE scope = ? AND key = ? AND ifnull(persona, '') = ?"
                " AND ifnull(household, '') = ? ORDER BY timestamp DESC, id DESC",
                (user_number(connection, scope), slot[2], slot[0], slot[1]),
            ).fetchall()
            return events_by_row(connection, [row for (row,) in rows])

    def remove(self, scope: Scope, event: Event, removal: Removal) -> bool:
        """Takes the event away, on the disk when this returns, and its document with it (P-22)."""
        with self._database.writing(durable=True) as connection:
            return remove_event(connection, scope, event, removal)

    def bury(self, scope: Scope, identities: Sequence[str]) -> None:
        """Refuses appends of these identities from now on, unless their events are there (P-22)."""
        with self._database.writing(durable=True) as connection:
            bury_identities(connection, enter_user(connection, scope).number, identities)

    def reject(self, scope: Scope, fingerprint: str, items: Sequence[ItemWrite], now: datetime) -> None:
        """Refuses appends of the fingerprint from now on; the items are written with it (P-22)."""
        with self._database.writing(durable=True) as connection:
            reject_value(connection, scope, fingerprint, items, now)

    def lift(self, scope: Scope, fingerprint: str, items: Sequence[ItemWrite], now: datetime) -> None:
        """Stores them again from now on; the items are written with it."""
        with self._database.writing(durable=True) as connection:
            lift_rejection(connection, scope, fingerprint, items, now)


def _pending_count(connection: sqlite3.Connection, user: int) -> int:
    return int(connection.execute("SELECT count(*) FROM outbox WHERE scope = ?", (user,)).fetchone()[0])


def _emptied(stored: int | None) -> bool | None:
    return None if stored is None else bool(stored)


def _conversation_place(after: str | None) -> tuple[int, str]:
    """A place in the list: when the conversation began, in 16 digits, and its id."""
    if after is None:
        return 10**_SORTABLE_DIGITS, ""
    return int(after[:_SORTABLE_DIGITS]), after[_SORTABLE_DIGITS:]
