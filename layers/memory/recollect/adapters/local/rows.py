"""Rows that several ports share: users, identities, events (a row and its record), and documents of the index."""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from recollect.adapters.index_filters import labels_of
from recollect.core.errors import StoredDataError
from recollect.core.event import Event, EventRef, EventType
from recollect.core.scope import Scope
from recollect.core.time import from_microseconds, microseconds
from recollect.core.vectors import FloatArray, pack_vector
from recollect.retrieval.nomination import IndexDocument
from recollect.timeline.bus import saved_ids
from recollect.timeline.record import from_record, to_record
from recollect.timeline.slots import slot_key, slot_of

SPOKEN = f"event_type <> '{EventType.MEMORY}'"
"""The condition that an event is not only a memory's carrier."""

_JSON = json.JSONDecoder()  # as `_text` writes: without the spaces around it that `loads` looks for in as long again
_AT_ONCE = 500  # SQLite takes a bounded number of parameters
_BURY = "INSERT OR IGNORE INTO identities (scope, identity, event_id, conversation) VALUES (?, ?, NULL, NULL)"
_KNOWN = "SELECT identity, event_id FROM identities WHERE scope = ? AND identity IN ({})"
_INSERT = """INSERT INTO events (scope, id, timestamp, expires_at, conversation, persona, household, event_type,
    importance, key, version) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
_SLOT_ENTRY = """INSERT OR {} INTO slot_entries
    (scope, persona, household, key, timestamp, event_id, recorded_at, emptied) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"""
_MARK = "INSERT OR IGNORE INTO outbox (row, scope) SELECT row, scope FROM events WHERE scope = ? AND id = ?"
_BY_ID = "SELECT e.id, r.record FROM events e JOIN records r ON r.row = e.row WHERE e.scope = ? AND e.id IN ({})"
_BY_ROW = "SELECT row, record FROM records WHERE row IN ({})"


def chunked_in(
    connection: sqlite3.Connection, query: str, values: Sequence[Any], *before: Any
) -> Iterator[tuple[Any, ...]]:
    """The rows of a query that ends in `IN ({})`, in chunks of 500 values; `before` are its other parameters."""
    for start in range(0, len(values), _AT_ONCE):
        some = values[start : start + _AT_ONCE]
        yield from connection.execute(query.format(", ".join("?" * len(some))), (*before, *some))


@dataclass(frozen=True, slots=True)
class User:
    """A row of `scopes`. `documents` and `terms` are counts of the lexical index; `revision` is the index's."""

    number: int
    documents: int
    terms: int
    revision: int


def find_user(connection: sqlite3.Connection, scope: Scope) -> User | None:
    """The user of this scope; None before the first write for them."""
    row = connection.execute(
        "SELECT id, documents, terms, revision FROM scopes WHERE tenant = ? AND user_id = ?",
        (scope.tenant, scope.user_id),
    ).fetchone()
    return User(*row) if row else None


def user_number(connection: sqlite3.Connection, scope: Scope) -> int:
    """The user's number; -1, which no row has, before the first write for them."""
    user = find_user(connection, scope)
    return user.number if user else -1


def enter_user(connection: sqlite3.Connection, scope: Scope) -> User:
    """The user of this scope, listed if new. Inside a write transaction."""
    user = find_user(connection, scope)
    if user is not None:
        return user
    cursor = connection.execute("INSERT INTO scopes (tenant, user_id) VALUES (?, ?)", (scope.tenant, scope.user_id))
    return User(int(cursor.lastrowid or 0), 0, 0, 0)


def known_identities(
    connection: sqlite3.Connection, user_number: int, identities: Sequence[str]
) -> dict[str, str | None]:
    """The event id of each known identity; None for a tombstone."""
    return dict(chunked_in(connection, _KNOWN, identities, user_number))


def bury_identities(connection: sqlite3.Connection, user_number: int, identities: Sequence[str]) -> None:
    """Refuses appends of unknown identities from this commit on; known ones do not change."""
    connection.executemany(_BURY, [(user_number, identity) for identity in identities])


def insert_event(connection: sqlite3.Connection, user_number: int, event: Event) -> int:
    """Writes the event's row and record; the row's number."""
    cursor = connection.execute(
        _INSERT,
        (
            user_number,
            event.id,
            microseconds(event.timestamp),
            None if event.expires_at is None else microseconds(event.expires_at),
            event.conversation_id,
            event.persona_id,
            event.household_id,
            event.event_type.value,
            event.importance,
            slot_key(event.key, event.labels),
            event.version,
        ),
    )
    row = int(cursor.lastrowid or 0)
    connection.execute("INSERT INTO records (row, record) VALUES (?, ?)", (row, _text(event)))
    return row


def replace_record(connection: sqlite3.Connection, user_number: int, event: Event) -> None:
    """Replaces the event's record and its version, the one column that changes."""
    connection.execute(
        "UPDATE records SET record = ? WHERE row = (SELECT row FROM events WHERE scope = ? AND id = ?)",
        (_text(event), user_number, event.id),
    )
    connection.execute(
        "UPDATE events SET version = ? WHERE scope = ? AND id = ?", (event.version, user_number, event.id)
    )


def events_by_id(connection: sqlite3.Connection, user_number: int, ids: Iterable[str]) -> dict[str, Event]:
    """Those of the user's events that exist, by id."""
    rows = chunked_in(connection, _BY_ID, list(dict.fromkeys(ids)), user_number)
    return {event_id: event_of(record) for event_id, record in rows}


def events_by_row(connection: sqlite3.Connection, rows: Sequence[int]) -> list[Event]:
    """The events of these rows, in this order."""
    found = readable_by_row(connection, rows)
    return [found[row] for row in rows]


def readable_by_row(
    connection: sqlite3.Connection, rows: Iterable[int], *, around_unreadable: bool = False
) -> dict[int, Event]:
    """The events of these rows. Raises StoredDataError for one that cannot be read, or leaves it out."""
    found: dict[int, Event] = {}
    for row, record in chunked_in(connection, _BY_ROW, list(rows)):
        try:
            found[row] = event_of(record)
        except StoredDataError:
            if not around_unreadable:
                raise
    return found


def mark_pending(connection: sqlite3.Connection, user_number: int, refs: Iterable[EventRef]) -> None:
    """Marks the events to be projected; those that are deleted get no marker."""
    connection.executemany(_MARK, [(user_number, ref.id) for ref in refs])


def delete_derived(connection: sqlite3.Connection, tenant: str, user_number: int, refs: Sequence[EventRef]) -> None:
    """Deletes the projections of events, and what was published of them."""
    deleted = [(user_number, ref.id) for ref in refs]
    connection.executemany("DELETE FROM projections WHERE scope = ? AND event_id = ?", deleted)
    published = [(tenant, bus_id) for ref in refs for bus_id in saved_ids(ref.id)]
    connection.executemany("DELETE FROM bus WHERE tenant = ? AND id = ?", published)


def write_slot_entry(
    connection: sqlite3.Connection, user_number: int, event: Event, emptied: bool | None, *, replace: bool = False
) -> None:
    """Enters a keyed event in its slot's history: `emptied` None for a stored one, else whether it was the value.

    An earlier entry of the event stays unless `replace`. An event without a key has no entry.
    """
    slot = slot_of(event)
    if slot is not None:
        place = (microseconds(event.timestamp), event.id, microseconds(event.recorded_at), emptied)
        connection.execute(_SLOT_ENTRY.format("REPLACE" if replace else "IGNORE"), (user_number, *slot, *place))


def event_of(record: str) -> Event:
    """The event of a record. Raises StoredDataError."""
    try:
        read, end = _JSON.raw_decode(record)
    except ValueError as error:
        raise StoredDataError("an event's row is no JSON") from error
    if end < len(record):
        raise StoredDataError("an event's row is more than one JSON value")
    return from_record(read)


def ref_of(row: tuple[Any, ...]) -> EventRef:
    """A row of (id, timestamp) as a reference."""
    return EventRef(row[0], from_microseconds(row[1]))


def narrowing(scope: Scope) -> tuple[str, tuple[str, ...]]:
    """The scope's persona and household as a condition and its parameters."""
    wanted = {"persona": scope.persona_id, "household": scope.household_id}
    given = {name: value for name, value in wanted.items() if value is not None}
    return "".join(f" AND {name} = ?" for name in given), tuple(given.values())


def _text(event: Event) -> str:
    return json.dumps(to_record(event), ensure_ascii=False, separators=(",", ":"))


_DOCUMENT_COLUMNS = (
    "version", "timestamp", "recorded_at", "expires_at", "persona", "household", "conversation", "event_type", "source",
    "key", "space", "role", "speaker", "importance", "private", "superseded", "length", "revision", "scope", "id",
)  # fmt: skip
_INSERT_DOCUMENT = (
    f"INSERT INTO documents ({', '.join(_DOCUMENT_COLUMNS)}) VALUES ({', '.join('?' * len(_DOCUMENT_COLUMNS))})"  # noqa: S608
)
_UPDATE_DOCUMENT = (
    f"UPDATE documents SET {', '.join(f'{name} = ?' for name in _DOCUMENT_COLUMNS[:-2])} WHERE scope = ? AND id = ?"  # noqa: S608
)


def term_prefix(user_number: int) -> str:
    """The prefix of each of a user's terms, so that a posting list is one user's by construction."""
    return f"{user_number}x"


class DocumentWriter:
    """Writes documents inside one transaction; `finish` then writes the user's counters.

    Every change has the user's next revision, which shows it to the columns in memory. `by_words` changes neither
    stored vectors nor a document that is stored in that version.
    """

    def __init__(
        self, connection: sqlite3.Connection, user: User, generation: str | None, *, by_words: bool = False
    ) -> None:
        self._connection = connection
        self._user = user
        self._generation = generation
        self._by_words = by_words
        self._prefix = term_prefix(user.number)
        self._revision = user.revision + 1
        self._documents = 0
        self._terms = 0
        self._changed = False

    def put(self, document: IndexDocument) -> None:
        """Writes the document, unless a newer version is stored."""
        found = self._connection.execute(
            "SELECT row, version FROM documents WHERE scope = ? AND id = ?", (self._user.number, document.ref.id)
        ).fetchone()
        if found is not None and found[1] + self._by_words > document.version:
            return
        self._changed = True
        if found is None:
            row = int(self._connection.execute(_INSERT_DOCUMENT, self._values(document)).lastrowid or 0)
            self._add_labels(row, _labels(document))
            self._add_words(row, self._words(document))
        else:
            row = int(found[0])
            self._connection.execute(_UPDATE_DOCUMENT, self._values(document))
            self._replace_labels(row, _labels(document))
            self._replace_words(row, self._words(document))
            if not self._by_words:
                self._connection.execute("DELETE FROM document_vectors WHERE row = ?", (row,))
        self._put_vector(row, None if document.is_private else document.vector)

    def remove(self, event_id: str) -> None:
        """Deletes the document; an unknown one is no error."""
        found = self._connection.execute(
            "SELECT row FROM documents WHERE scope = ? AND id = ?", (self._user.number, event_id)
        ).fetchone()
        if found is None:
            return
        self._changed = True
        self._replace_words(found[0], None)
        self._connection.execute("DELETE FROM documents WHERE row = ?", found)
        self._connection.execute(
            "INSERT INTO removals (scope, revision, row) VALUES (?, ?, ?)",
            (self._user.number, self._revision, found[0]),
        )

    def finish(self) -> None:
        """Writes counters and revision; the last call in the transaction."""
        if self._changed:
            self._connection.execute(
                "UPDATE scopes SET documents = documents + ?, terms = terms + ?, revision = ? WHERE id = ?",
                (self._documents, self._terms, self._revision, self._user.number),
            )

    def _values(self, document: IndexDocument) -> tuple[object, ...]:
        return (
            document.version,
            microseconds(document.ref.timestamp),
            microseconds(document.recorded_at),
            None if document.expires_at is None else microseconds(document.expires_at),
            document.persona_id,
            document.household_id,
            document.conversation_id,
            str(document.event_type),
            str(document.source),
            document.key,
            document.space_id,
            str(document.role),
            document.speaker,
            document.importance,
            document.is_private,
            document.superseded,
            len(document.terms),
            self._revision,
            self._user.number,
            document.ref.id,
        )

    def _words(self, document: IndexDocument) -> str | None:
        """None for a private document, which no word finds."""
        return None if document.is_private else " ".join(self._prefix + term for term in document.terms)

    def _add_words(self, row: int, words: str | None) -> None:
        if words is not None:
            self._connection.execute("INSERT INTO words (rowid, terms) VALUES (?, ?)", (row, words))
            self._documents += 1
            self._terms += len(words.split())

    def _replace_words(self, row: int, words: str | None) -> None:
        found = self._connection.execute("SELECT terms FROM words WHERE rowid = ?", (row,)).fetchone()
        before = found[0] if found else None
        if before == words:
            return
        if before is not None:
            self._connection.execute("DELETE FROM words WHERE rowid = ?", (row,))
            self._documents -= 1
            self._terms -= len(before.split())
        self._add_words(row, words)

    def _add_labels(self, row: int, labels: Iterable[str]) -> None:
        self._connection.executemany(
            "INSERT INTO labels (scope, label, row) VALUES (?, ?, ?)",
            [(self._user.number, label, row) for label in labels],
        )

    def _replace_labels(self, row: int, labels: set[str]) -> None:
        before = {label for (label,) in self._connection.execute("SELECT label FROM labels WHERE row = ?", (row,))}
        if before != labels:
            self._connection.execute("DELETE FROM labels WHERE row = ?", (row,))
            self._add_labels(row, labels)

    def _put_vector(self, row: int, vector: FloatArray | None) -> None:
        if vector is not None and self._generation is not None and not self._by_words:
            self._connection.execute(
                "INSERT INTO document_vectors (row, generation, vector) VALUES (?, ?, ?)",
                (row, self._generation, pack_vector(vector)),
            )


def remove_documents(connection: sqlite3.Connection, user: User, event_ids: Iterable[str]) -> None:
    """Deletes the user's documents inside the transaction, and writes the counters; unknown ones are no error."""
    writer = DocumentWriter(connection, user, None)
    for event_id in event_ids:
        writer.remove(event_id)
    writer.finish()


def _labels(document: IndexDocument) -> set[str]:
    return set(labels_of(document.tags, document.facets, document.attributes))
