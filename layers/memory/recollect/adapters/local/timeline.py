"""The port `Timeline` in the file: events are visible as soon as they are durable, before projection."""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from recollect.adapters.local.database import Database
from recollect.adapters.local.items import write_items
from recollect.adapters.local.removal import remove_event
from recollect.adapters.local.rows import (
    SPOKEN,
    DocumentWriter,
    User,
    bury_identities,
    enter_user,
    events_by_id,
    events_by_row,
    insert_event,
    known_identities,
    narrowing,
    readable_by_row,
    ref_of,
    user_number,
)
from recollect.core.errors import Conflict
from recollect.core.event import Event, EventRef
from recollect.core.items import ItemWrite, checked
from recollect.core.scope import Labels, Scope
from recollect.core.time import EARLIEST, LATEST, from_microseconds, microseconds, sortable
from recollect.retrieval.filters import DropReason, TimeWindow
from recollect.search_index.page import index_document
from recollect.timeline.slots import SlotEntry
from recollect.timeline.timeline import (
    COUNTED_RECORDS,
    IMPORTANT_FROM,
    TAIL_EVENTS,
    AppendOutcome,
    AppendStatus,
    Conversation,
    ConversationPage,
    EventWrite,
    RecordPage,
    Removal,
    Tail,
    WindowPage,
    WindowQuery,
)

_COLUMNS = "row, id, timestamp, persona, household, event_type, expires_at"
_NO_LABELS_READ = "NULL"
_LABELS_READ = """(SELECT json_extract(record, '$.agent_id', '$.app_id', '$.namespace')
    FROM records WHERE records.row = events.row AND json_valid(record))"""
_REJECT = "INSERT OR IGNORE INTO rejections (scope, fingerprint) VALUES (?, ?)"
_LIFT = "DELETE FROM rejections WHERE scope = ? AND fingerprint = ?"
_NEWEST = "timestamp DESC, id DESC"
_SORTABLE_DIGITS = 16


class SqliteTimeline:
    """Raises Throttled, Unavailable and StoredDataError."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def append(self, scope: Scope, writes: Sequence[EventWrite]) -> list[AppendOutcome]:
        """Makes all of them durable in one transaction, on the disk when this returns (P-20, P-22).

        Raises Conflict where another event has the id of one of them, VersionMismatch where an item is not at its
        expected version; then nothing is stored.
        """
        with self._database.writing(durable=True) as connection:
            return _Append(connection, scope, enter_user(connection, scope)).outcomes(writes)

    def read(self, scope: Scope, refs: Sequence[EventRef]) -> dict[str, Event]:
        """The events that exist, by id, in one state of the file."""
        with self._database.reading() as connection:
            return events_by_id(connection, user_number(connection, scope), (ref.id for ref in refs))

    def find(self, scope: Scope, event_id: str) -> Event | None:
        with self._database.reading() as connection:
            return events_by_id(connection, user_number(connection, scope), [event_id]).get(event_id)

    def identified(self, scope: Scope, identities: Sequence[str]) -> dict[str, str | None]:
        with self._database.reading() as connection:
            return known_identities(connection, user_number(connection, scope), identities)

    def window(self, scope: Scope, query: WindowQuery) -> WindowPage:
        with self._database.reading() as connection:
            return _window_page(connection, user_number(connection, scope), scope, query)

    def newest(self, scope: Scope, limit: int) -> list[Event]:
        with self._database.reading() as connection:
            rows = _listed(connection, scope, SPOKEN, (), _NEWEST, limit)
            return events_by_row(connection, [row[2] for row in rows])

    def of_conversation(self, scope: Scope, conversation_id: str, limit: int) -> list[EventRef]:
        with self._database.reading() as connection:
            rows = _listed(connection, scope, f"conversation = ? AND {SPOKEN}", (conversation_id,), _NEWEST, limit)
        return [ref_of(row) for row in rows]

    def important(self, scope: Scope, limit: int) -> list[EventRef]:
        """Events of importance 0.6 and more, the most important first, of equals the newer (K-20)."""
        with self._database.reading() as connection:
            order = f"importance DESC, {_NEWEST}"
            rows = _listed(connection, scope, f"importance >= {IMPORTANT_FROM}", (), order, limit)
        return [ref_of(row) for row in rows]

    def records(self, scope: Scope, limit: int, after: EventRef | None) -> RecordPage:
        """All events of the user, oldest first; a page is full where more follow."""
        place = (microseconds(after.timestamp), after.id) if after else (microseconds(EARLIEST), "")
        with self._database.reading() as connection:
            rows = _listed(connection, scope, "(timestamp, id) > (?, ?)", place, "timestamp, id", limit + 1)
            events = tuple(events_by_row(connection, [row[2] for row in rows[:limit]]))
        return RecordPage(events, events[-1].ref if len(rows) > limit else None)

    def tail(self, scope: Scope) -> Tail:
        """The newest 100 pending events of the user, newest arrival first; counts all pending ones."""
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
        emptied = {None: None, 0: False, 1: True}
        return [SlotEntry(ref_of(row), from_microseconds(row[2]), emptied[row[3]]) for row in rows]

    def of_slot(self, scope: Scope, slot: tuple[str, str, str]) -> list[Event]:
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT row FROM events WHERE scope = ? AND key = ? AND ifnull(persona, '') = ?"
                " AND ifnull(household, '') = ? ORDER BY timestamp DESC, id DESC",
                (user_number(connection, scope), slot[2], slot[0], slot[1]),
            ).fetchall()
            return events_by_row(connection, [row for (row,) in rows])

    def remove(self, scope: Scope, event: Event, removal: Removal) -> bool:
        """Removes the event and its document, on the disk when this returns (P-22)."""
        with self._database.writing(durable=True) as connection:
            return remove_event(connection, scope, event, removal)

    def bury(self, scope: Scope, identities: Sequence[str]) -> None:
        with self._database.writing(durable=True) as connection:
            bury_identities(connection, enter_user(connection, scope).number, identities)

    def reject(self, scope: Scope, fingerprint: str, items: Sequence[ItemWrite], now: datetime) -> None:
        with self._database.writing(durable=True) as connection:
            _change(connection, _REJECT, scope, fingerprint, items, now)

    def lift(self, scope: Scope, fingerprint: str, items: Sequence[ItemWrite], now: datetime) -> None:
        with self._database.writing(durable=True) as connection:
            _change(connection, _LIFT, scope, fingerprint, items, now)


def _listed(
    connection: sqlite3.Connection, scope: Scope, condition: str, parameters: tuple[Any, ...], order: str, limit: int
) -> list[tuple[Any, ...]]:
    """Id, timestamp and row of the scope's events that meet the condition."""
    narrower, narrowed = narrowing(scope)
    return connection.execute(
        f"SELECT id, timestamp, row FROM events WHERE scope = ? AND {condition}{narrower} ORDER BY {order} LIMIT ?",  # noqa: S608
        (user_number(connection, scope), *parameters, *narrowed, limit),
    ).fetchall()


class _Append:
    """The writes of one request, inside one transaction: each event with its dedupe record, pending marker and
    document."""

    def __init__(self, connection: sqlite3.Connection, scope: Scope, user: User) -> None:
        self._connection = connection
        self._scope = scope
        self._user = user
        self._documents = DocumentWriter(connection, user, None)

    def outcomes(self, writes: Sequence[EventWrite]) -> list[AppendOutcome]:
        outcomes = [self._outcome(write, checked(write.items)) for write in writes]
        self._documents.finish()
        return outcomes

    def _outcome(self, write: EventWrite, texts: Sequence[str | None]) -> AppendOutcome:
        known = self._connection.execute(
            "SELECT event_id, conversation FROM identities WHERE scope = ? AND identity = ?",
            (self._user.number, write.identity),
        ).fetchone()
        if known is not None:
            return AppendOutcome.of_known(write.event, *known)
        if self._rejected(write.fingerprint):
            return AppendOutcome(AppendStatus.REFUSED, None, reason="rejected")
        self._store(write)
        write_items(self._connection, self._user.number, write.items, texts, write.event.recorded_at)
        return AppendOutcome(AppendStatus.CREATED, write.event.id, write.event.conversation_id)

    def _rejected(self, fingerprint: str) -> bool:
        query = "SELECT 1 FROM rejections WHERE scope = ? AND fingerprint = ?"
        return self._connection.execute(query, (self._user.number, fingerprint)).fetchone() is not None

    def _store(self, write: EventWrite) -> None:
        event, user = write.event, self._user.number
        if self._connection.execute("SELECT 1 FROM events WHERE scope = ? AND id = ?", (user, event.id)).fetchone():
            raise Conflict("another event has this id")
        row = insert_event(self._connection, user, event)
        self._connection.execute(
            "INSERT INTO identities (scope, identity, event_id, conversation) VALUES (?, ?, ?, ?)",
            (user, write.identity, event.id, event.conversation_id),
        )
        self._connection.execute("INSERT INTO outbox (row, scope) VALUES (?, ?)", (row, user))
        self._documents.put(index_document(self._scope, event, None))


@dataclass(slots=True)
class _Walk:
    """The records read for a page; `last` is the one at which the page ends."""

    rows: dict[int, EventRef] = field(default_factory=dict)
    dropped: Counter[DropReason] = field(default_factory=Counter)
    last: EventRef | None = None
    more: bool = False

    @property
    def scanned(self) -> int:
        return len(self.rows) + self.dropped.total()


def _window_page(connection: sqlite3.Connection, user_number: int, scope: Scope, query: WindowQuery) -> WindowPage:
    """At most `limit` events, and at most 10,000 records read: `more` is then the place of the next page.

    A record is counted on one page of a walk. The first page also counts records outside the window, 10,000 at most;
    a conversation limits all counts to its records.
    """
    walk = _walk(connection, user_number, scope, query)
    if query.after is None:
        walk.dropped += _outside(connection, user_number, scope, query)
    read = readable_by_row(connection, walk.rows, around_unreadable=query.around_unreadable)
    events = tuple(read[row] for row in walk.rows if row in read)
    unreadable = tuple(ref for row, ref in walk.rows.items() if row not in read)
    return WindowPage(events, walk.scanned, dict(walk.dropped), walk.last if walk.more else None, unreadable)


def _walk(connection: sqlite3.Connection, user_number: int, scope: Scope, query: WindowQuery) -> _Walk:
    walk = _Walk()
    passed: Counter[DropReason] = Counter()
    place: EventRef | None = None
    for row in _inside(connection, user_number, query):
        reason = _reason(scope, query, row)
        if reason is None and len(walk.rows) == query.limit:
            walk.more = True
            return walk
        place = ref_of(row[1:3])
        if reason is not None:
            passed[reason] += 1
        else:
            walk.rows[row[0]] = place
        if reason is None or walk.scanned + passed.total() == COUNTED_RECORDS:
            walk.last = place
            if passed:
                walk.dropped, passed = walk.dropped + passed, Counter()
        if walk.scanned == COUNTED_RECORDS:
            walk.more = True
            return walk
    walk.dropped += passed
    return walk


def _inside(connection: sqlite3.Connection, user_number: int, query: WindowQuery) -> Iterator[tuple[Any, ...]]:
    where, parameters = _where(user_number, query)
    start, end = _bounds(query.window)
    if query.after is not None:
        end = min(end, microseconds(query.after.timestamp))
        where = f"{where} AND (timestamp < ? OR id < ?)"
        parameters += [microseconds(query.after.timestamp), query.after.id]
    where, parameters = f"{where} AND timestamp BETWEEN ? AND ?", [*parameters, start, end]
    return connection.execute(
        f"SELECT {_columns(query)} FROM events WHERE {where} ORDER BY timestamp DESC, id DESC",  # noqa: S608
        parameters,
    )


def _outside(connection: sqlite3.Connection, user_number: int, scope: Scope, query: WindowQuery) -> Counter[DropReason]:
    start, end = _bounds(query.window)
    counted: Counter[DropReason] = Counter()
    for condition, bound in (("timestamp > ?", end), ("timestamp < ?", start)):
        where, parameters = _where(user_number, query)
        rows = connection.execute(
            f"SELECT {_columns(query)} FROM events WHERE {where} AND {condition} ORDER BY timestamp DESC LIMIT ?",  # noqa: S608
            (*parameters, bound, COUNTED_RECORDS - counted.total()),
        )
        counted += Counter(
            DropReason.WINDOW if reason in (None, DropReason.FILTER) else reason
            for reason in (_reason(scope, query, row) for row in rows)
        )
    return counted


def _columns(query: WindowQuery) -> str:
    return f"{_COLUMNS}, {_LABELS_READ if query.asks_for_labels else _NO_LABELS_READ}"


def _where(user_number: int, query: WindowQuery) -> tuple[str, list[Any]]:
    if query.conversation_id is None:
        return f"scope = ? AND {SPOKEN}", [user_number]
    return f"scope = ? AND conversation = ? AND {SPOKEN}", [user_number, query.conversation_id]


def _bounds(window: TimeWindow) -> tuple[int, int]:
    return microseconds(window.start or EARLIEST), microseconds(window.end or LATEST)


def _reason(scope: Scope, query: WindowQuery, row: tuple[Any, ...]) -> DropReason | None:
    """In the order of `retrieval.filters.drop_reason`, for a record inside the window."""
    _, _, _, persona, household, event_type, expires_at, labels = row
    if not scope.admits(persona, household):
        return DropReason.SCOPE
    if expires_at is not None and expires_at <= microseconds(query.now):
        return DropReason.EXPIRED
    if query.event_type not in (None, event_type) or (labels is not None and not query.admits(_labels_in(labels))):
        return DropReason.FILTER
    return None


def _labels_in(read: str) -> Labels:
    agent_id, app_id, namespace = json.loads(read)
    return Labels(agent_id, app_id, tuple(namespace or ()))


def _change(
    connection: sqlite3.Connection,
    statement: str,
    scope: Scope,
    fingerprint: str,
    items: Sequence[ItemWrite],
    now: datetime,
) -> None:
    texts, user = checked(items), enter_user(connection, scope).number
    connection.execute(statement, (user, fingerprint))
    write_items(connection, user, items, texts, now)


def _pending_count(connection: sqlite3.Connection, user: int) -> int:
    return int(connection.execute("SELECT count(*) FROM outbox WHERE scope = ?", (user,)).fetchone()[0])


def _conversation_place(after: str | None) -> tuple[int, str]:
    """A place in the list: when the conversation began, in 16 digits, and its id."""
    if after is None:
        return 10**_SORTABLE_DIGITS, ""
    return int(after[:_SORTABLE_DIGITS]), after[_SORTABLE_DIGITS:]
