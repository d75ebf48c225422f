"""Everything that a store holds, read past the adapters: what invariants are about."""

import gzip
import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from recollect.archive.segments import unpack_segment

Place: TypeAlias = tuple[str, str, str]
"""Tenant, user and id."""


@dataclass(frozen=True, slots=True)
class Row:
    """One item: whose it is, where, and what it says; `due` where somebody must look."""

    owner: tuple[str, str]
    collection: str
    labels: tuple[str, ...]
    key: str
    value: Mapping[str, Any]
    due: tuple[str, int] | None = None


@dataclass(frozen=True, slots=True)
class SlotRow:
    owner: tuple[str, str]
    slot: tuple[str, str, str]
    timestamp: int
    event_id: str
    emptied: bool | None


@dataclass(frozen=True, slots=True)
class Published:
    tenant: str
    id: str
    type: str
    detail: Mapping[str, Any]


@dataclass(slots=True)
class Stored:
    """What was found. `identities` give the event, None for a tombstone; `documents` what the index shows of it;
    `objects` the lines of each object of the archive.
    """

    events: dict[Place, Mapping[str, Any]] = field(default_factory=dict)
    identities: list[tuple[str, str, str | None]] = field(default_factory=list)
    pending: list[Place] = field(default_factory=list)
    removed: list[Place] = field(default_factory=list)
    vectors: dict[Place, bool] = field(default_factory=dict)
    segments: dict[Place, int] = field(default_factory=dict)
    slots: list[SlotRow] = field(default_factory=list)
    conversations: list[tuple[str, str, str]] = field(default_factory=list)
    documents: dict[Place, Mapping[str, Any]] = field(default_factory=dict)
    items: list[Row] = field(default_factory=list)
    bus: list[Published] = field(default_factory=list)
    objects: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def of(self, collection: str) -> Iterable[Row]:
        return (row for row in self.items if row.collection == collection)

    def memories(self) -> dict[Place, Mapping[str, Any]]:
        """The memories, without the records of further sources that only name the memory of the same content."""
        return {(*row.owner, row.key): row.value for row in self.of("memories") if "same_as" not in row.value}


_OWNER = "s.tenant, s.user_id"
_JOIN = "JOIN scopes s ON s.id = t.scope"


def stored_in(home: Path) -> Stored:
    """What the SQLite file of that folder holds; its own checks of itself must hold too."""
    connection = sqlite3.connect(home / "recollect.db")
    try:
        _check_file(connection)
        found = _read(connection)
    finally:
        connection.close()
    archive = home / "archive"
    found.objects = {str(path.relative_to(archive)): _lines(path) for path in archive.rglob("*") if path.is_file()}
    return found


@contextmanager
def states_of(home: Path) -> Iterator[Callable[[], object]]:
    """Tells the state of a store: two are the same where nobody committed and no other file was written between."""
    with closing(sqlite3.connect(home / "recollect.db", check_same_thread=False)) as connection:

        def state() -> object:
            stats = ((path, path.stat()) for path in home.rglob("*") if not path.name.startswith("recollect.db"))
            files = {path: (stat.st_ino, stat.st_size, stat.st_mtime_ns) for path, stat in stats}
            return connection.execute("PRAGMA data_version").fetchone(), files

        yield state


def _lines(path: Path) -> tuple[str, ...]:
    """Of an object that holds text in any of the forms that there are; nothing of other bytes."""
    data = path.read_bytes()
    if path.suffix == ".segment":
        content = unpack_segment(data)
        assert content.faults == 0, path.name
        return tuple(content.lines)
    text = gzip.decompress(data) if path.suffix == ".gz" else data
    return tuple(text.decode("utf-8", "replace").splitlines())


def _read(connection: sqlite3.Connection) -> Stored:
    rows = connection.execute
    found = Stored()
    for *place, record in rows(
        f"SELECT {_OWNER}, t.id, r.record FROM events t JOIN records r ON r.row = t.row {_JOIN}"
    ):
        found.events[_place(place)] = json.loads(record)
    found.identities += rows(f"SELECT {_OWNER}, t.event_id FROM identities t {_JOIN}").fetchall()
    found.pending += rows(f"SELECT {_OWNER}, e.id FROM outbox t JOIN events e ON e.row = t.row {_JOIN}").fetchall()
    found.removed += rows(f"SELECT {_OWNER}, t.event_id FROM removed t {_JOIN}").fetchall()
    for *place, vector in rows(f"SELECT {_OWNER}, t.event_id, t.vector IS NOT NULL FROM projections t {_JOIN}"):
        found.vectors[_place(place)] = bool(vector)
    for *place, segment in rows(f"SELECT {_OWNER}, t.event_id, t.segment FROM segment_places t {_JOIN}"):
        found.segments[_place(place)] = int(segment)
    found.conversations += rows(f"SELECT {_OWNER}, t.id FROM conversations t {_JOIN}").fetchall()
    for tenant, own, kind, detail in rows("SELECT tenant, id, type, detail FROM bus"):
        found.bus.append(Published(tenant, own, kind, json.loads(detail)))
    _read_slots(connection, found)
    _read_documents(connection, found)
    _read_items(connection, found)
    return found


def _read_slots(connection: sqlite3.Connection, found: Stored) -> None:
    statement = (
        f"SELECT {_OWNER}, t.persona, t.household, t.key, t.timestamp, t.event_id, t.emptied FROM slot_entries t"
    )
    for tenant, user, persona, household, key, moment, event_id, emptied in connection.execute(f"{statement} {_JOIN}"):
        state = None if emptied is None else bool(emptied)
        found.slots.append(SlotRow((tenant, user), (persona, household, key), moment, event_id, state))


def _read_documents(connection: sqlite3.Connection, found: Stored) -> None:
    statement = f"""SELECT {_OWNER}, t.id, t.version, t.private, t.superseded, t.importance, t.key, w.terms,
        v.row IS NOT NULL FROM documents t {_JOIN} LEFT JOIN words w ON w.rowid = t.row
        LEFT JOIN document_vectors v ON v.row = t.row"""
    names = ("version", "private", "superseded", "importance", "key", "words", "vector")
    for *place, version, private, superseded, importance, key, words, vector in connection.execute(statement):
        terms = None if words is None else tuple(word.partition("x")[2] for word in words.split())
        values = (version, bool(private), bool(superseded), importance, key, terms, bool(vector))
        found.documents[_place(place)] = dict(zip(names, values, strict=True))


def _read_items(connection: sqlite3.Connection, found: Stored) -> None:
    statement = f"SELECT {_OWNER}, t.collection, t.labels, t.key, t.value, t.queue, t.due_at FROM items t {_JOIN}"
    for tenant, user, collection, labels, key, value, queue, at in connection.execute(statement):
        names = tuple(json.loads(f"{labels.removesuffix(',')}]"))
        due = (queue, at) if queue is not None else None
        found.items.append(Row((tenant, user), collection, names, key, json.loads(value), due))


def _check_file(connection: sqlite3.Connection) -> None:
    assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    counted = connection.execute("SELECT id, documents, terms FROM scopes ORDER BY id").fetchall()
    words = connection.execute(
        """SELECT s.id, count(d.row), coalesce(sum(d.length), 0) FROM scopes s
        LEFT JOIN documents d ON d.scope = s.id AND NOT d.private GROUP BY s.id ORDER BY s.id"""
    ).fetchall()
    assert counted == words


def _place(row: list[Any]) -> Place:
    tenant, user, own = row
    return tenant, user, own


def tombstones(stored: Stored) -> list[Mapping[str, Any]]:
    """The deletions that are kept outside of the table, in their order."""
    found = sorted((name, lines) for name, lines in stored.objects.items() if "/tombstones/" in name)
    return [json.loads("\n".join(lines)) for _, lines in found]
