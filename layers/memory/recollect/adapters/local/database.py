"""The file: its tables in their one format, its transactions, and the errors of SQLite as the errors of Recollect.

Two halves of tables. Evidence: `events` with `records`, `identities`, `rejections`, `outbox`, and the tables of
projection. The index: `documents`, `labels`, `words`, `document_vectors` and the counters in `scopes`; it can be
dropped and made again. An event and its document are nevertheless written in one transaction, so that words are found
at once. Scanned rows are narrow: the JSON of a record, the words of a document and a vector are in tables of their own.
Times are microseconds since 1900. Ids are in columns of their own, as the client gave them.

WAL mode: readers never wait for the writer, in this process or another. A pool of connections serves the threads of
the server, one thread each at a time; at most `READERS` read at once.
"""

import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from recollect.core.errors import NotReady, RecollectError, StoredDataError, Throttled, Unavailable

APPLICATION_ID = 0x5265636C  # "Recl": distinguishes the file from other SQLite files

_EVIDENCE = (
    # `documents` and `terms` are counts of `words`; `revision` grows with every change of the index.
    """CREATE TABLE scopes (
        id INTEGER PRIMARY KEY,
        tenant TEXT NOT NULL,
        user_id TEXT NOT NULL,
        documents INTEGER NOT NULL DEFAULT 0,
        terms INTEGER NOT NULL DEFAULT 0,
        revision INTEGER NOT NULL DEFAULT 0,
        UNIQUE (tenant, user_id))""",
    # The row number is the order of arrival; AUTOINCREMENT: a number is never used again, so walks can go by it.
    """CREATE TABLE events (
        row INTEGER PRIMARY KEY AUTOINCREMENT,
        scope INTEGER NOT NULL REFERENCES scopes (id),
        id TEXT NOT NULL,
        timestamp INTEGER NOT NULL,
        expires_at INTEGER,
        conversation TEXT NOT NULL,
        persona TEXT,
        household TEXT,
        event_type TEXT NOT NULL,
        importance REAL NOT NULL,
        key TEXT,
        version INTEGER NOT NULL,
        UNIQUE (scope, id))""",
    """CREATE INDEX events_by_time ON events
        (scope, timestamp DESC, id DESC, persona, household, event_type, expires_at)""",
    """CREATE INDEX events_by_conversation ON events
        (scope, conversation, timestamp DESC, id DESC, persona, household, event_type, expires_at)""",
    """CREATE INDEX events_by_importance ON events
        (scope, importance DESC, timestamp DESC, id DESC, persona, household) WHERE importance >= 0.6""",
    "CREATE INDEX events_by_key ON events (scope, key, timestamp DESC, id DESC) WHERE key IS NOT NULL",
    "CREATE TABLE records (row INTEGER PRIMARY KEY REFERENCES events (row) ON DELETE CASCADE, record TEXT NOT NULL)",
    # No event_id: the identity's tombstone.
    """CREATE TABLE identities (
        scope INTEGER NOT NULL REFERENCES scopes (id),
        identity TEXT NOT NULL,
        event_id TEXT,
        conversation TEXT,
        PRIMARY KEY (scope, identity)) WITHOUT ROWID""",
    """CREATE TABLE rejections (
        scope INTEGER NOT NULL REFERENCES scopes (id),
        fingerprint TEXT NOT NULL,
        PRIMARY KEY (scope, fingerprint)) WITHOUT ROWID""",
    """CREATE TABLE outbox (
        row INTEGER PRIMARY KEY REFERENCES events (row) ON DELETE CASCADE,
        scope INTEGER NOT NULL REFERENCES scopes (id))""",
    "CREATE INDEX outbox_by_scope ON outbox (scope, row DESC)",
)

_PROJECTION = (
    """CREATE TABLE projections (
        scope INTEGER NOT NULL REFERENCES scopes (id),
        event_id TEXT NOT NULL,
        timestamp INTEGER NOT NULL,
        generation TEXT,
        vector BLOB,
        PRIMARY KEY (scope, event_id))""",
    # `emptied`: NULL while the event is stored; 1 where it was removed as the slot's value, else 0.
    """CREATE TABLE slot_entries (
        scope INTEGER NOT NULL REFERENCES scopes (id),
        persona TEXT NOT NULL,
        household TEXT NOT NULL,
        key TEXT NOT NULL,
        timestamp INTEGER NOT NULL,
        event_id TEXT NOT NULL,
        recorded_at INTEGER NOT NULL,
        emptied INTEGER,
        PRIMARY KEY (scope, persona, household, key, timestamp, event_id)) WITHOUT ROWID""",
    """CREATE TABLE conversations (
        scope INTEGER NOT NULL REFERENCES scopes (id),
        id TEXT NOT NULL,
        started_at INTEGER NOT NULL,
        PRIMARY KEY (scope, id)) WITHOUT ROWID""",
    "CREATE INDEX conversations_by_start ON conversations (scope, started_at DESC, id DESC)",
)

_INDEX = (
    # AUTOINCREMENT: the columns in memory are sorted by row, so a new document's number is above all before it.
    """CREATE TABLE documents (
        row INTEGER PRIMARY KEY AUTOINCREMENT,
        scope INTEGER NOT NULL REFERENCES scopes (id),
        revision INTEGER NOT NULL,
        id TEXT NOT NULL,
        version INTEGER NOT NULL,
        timestamp INTEGER NOT NULL,
        recorded_at INTEGER NOT NULL,
        expires_at INTEGER,
        persona TEXT,
        household TEXT,
        conversation TEXT NOT NULL,
        event_type TEXT NOT NULL,
        source TEXT NOT NULL,
        key TEXT,
        space TEXT,
        role TEXT NOT NULL,
        speaker TEXT,
        importance REAL NOT NULL,
        private INTEGER NOT NULL,
        superseded INTEGER NOT NULL,
        length INTEGER NOT NULL,
        UNIQUE (scope, id))""",
    "CREATE INDEX documents_by_revision ON documents (scope, revision)",
    # Deletions, for the columns in memory.
    """CREATE TABLE removals (
        scope INTEGER NOT NULL REFERENCES scopes (id),
        revision INTEGER NOT NULL,
        row INTEGER NOT NULL,
        PRIMARY KEY (scope, revision, row)) WITHOUT ROWID""",
    # A tag ("t" before it), a facet of the metadata ("m") or a token of `retrieval.attributes` ("a").
    """CREATE TABLE labels (
        scope INTEGER NOT NULL REFERENCES scopes (id),
        label TEXT NOT NULL,
        row INTEGER NOT NULL REFERENCES documents (row) ON DELETE CASCADE,
        PRIMARY KEY (scope, label, row)) WITHOUT ROWID""",
    "CREATE INDEX labels_by_row ON labels (row)",
    """CREATE TABLE document_vectors (
        row INTEGER PRIMARY KEY REFERENCES documents (row) ON DELETE CASCADE,
        generation TEXT NOT NULL,
        vector BLOB NOT NULL)""",
    # Terms are letters, digits and marks with the scope's number before each: to the `ascii` tokenizer every byte
    # above 127 is part of a word, so it splits at our spaces only and changes nothing.
    "CREATE VIRTUAL TABLE words USING fts5 (terms, tokenize = 'ascii')",
    "CREATE VIRTUAL TABLE word_frequencies USING fts5vocab (words, 'row')",
    "CREATE VIRTUAL TABLE word_places USING fts5vocab (words, 'instance')",
)

_REQUESTS_AND_BUS = (
    """CREATE TABLE idempotency (
        key_hash TEXT PRIMARY KEY,
        body_hash TEXT NOT NULL,
        seed TEXT NOT NULL,
        lapses_at INTEGER NOT NULL,
        expires_at INTEGER NOT NULL,
        status INTEGER,
        body TEXT) WITHOUT ROWID""",
    "CREATE INDEX idempotency_by_expiry ON idempotency (expires_at)",
    """CREATE TABLE bus (
        place INTEGER PRIMARY KEY AUTOINCREMENT,
        tenant TEXT NOT NULL,
        id TEXT NOT NULL,
        type TEXT NOT NULL,
        time INTEGER NOT NULL,
        detail TEXT NOT NULL,
        UNIQUE (tenant, id, type))""",
    "CREATE INDEX bus_by_tenant ON bus (tenant, place)",
)

_ITEMS = (
    # `labels`: the path's labels as a JSON list that is left open, so that what continues a path begins with it.
    """CREATE TABLE items (
        row INTEGER PRIMARY KEY,
        scope INTEGER NOT NULL REFERENCES scopes (id),
        collection TEXT NOT NULL,
        labels TEXT NOT NULL,
        key TEXT NOT NULL,
        version INTEGER NOT NULL,
        updated_at INTEGER NOT NULL,
        queue TEXT,
        due_at INTEGER,
        value TEXT NOT NULL,
        UNIQUE (scope, collection, labels, key))""",
    "CREATE INDEX items_by_due ON items (queue, due_at, row) WHERE queue IS NOT NULL",
)

_DELETION = (
    # The outbox of removals: what was derived of these events is yet to be deleted. `row` was the event's.
    """CREATE TABLE removed (
        row INTEGER PRIMARY KEY,
        scope INTEGER NOT NULL REFERENCES scopes (id),
        event_id TEXT NOT NULL,
        timestamp INTEGER NOT NULL,
        UNIQUE (scope, event_id))""",
)

LIMITS = """CREATE TABLE IF NOT EXISTS limits (
        tenant TEXT NOT NULL,
        kind TEXT NOT NULL,
        paid_until INTEGER NOT NULL,
        PRIMARY KEY (tenant, kind)) WITHOUT ROWID"""
"""Until when what each tenant did is paid for (A-39). A file of before has such a table of writes alone, `rates`."""

USAGE = """CREATE TABLE IF NOT EXISTS usage (
        tenant TEXT NOT NULL,
        day TEXT NOT NULL,
        kind TEXT NOT NULL,
        count INTEGER NOT NULL,
        PRIMARY KEY (tenant, day, kind)) WITHOUT ROWID"""
"""What each tenant asked for, by day."""

NAMESPACED_ITEMS = (
    # `namespace`: its labels as a JSON list that is left open, as `labels` above; `owner` is a user id; `ttl` in
    # microseconds.
    """CREATE TABLE IF NOT EXISTS namespaced_items (
        row INTEGER PRIMARY KEY AUTOINCREMENT,
        tenant TEXT NOT NULL,
        namespace TEXT NOT NULL,
        key TEXT NOT NULL,
        version INTEGER NOT NULL,
        revision TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL,
        owner TEXT,
        ttl INTEGER,
        expires_at INTEGER,
        paths TEXT NOT NULL,
        value TEXT NOT NULL,
        UNIQUE (tenant, namespace, key))""",
    """CREATE INDEX IF NOT EXISTS namespaced_items_by_owner ON namespaced_items (tenant, owner, row)
        WHERE owner IS NOT NULL""",
    """CREATE INDEX IF NOT EXISTS namespaced_items_by_end ON namespaced_items (expires_at)
        WHERE expires_at IS NOT NULL""",
    """CREATE TABLE IF NOT EXISTS namespaced_item_vectors (
        item INTEGER NOT NULL REFERENCES namespaced_items (row) ON DELETE CASCADE,
        place INTEGER NOT NULL,
        space TEXT NOT NULL,
        vector BLOB NOT NULL,
        PRIMARY KEY (item, place)) WITHOUT ROWID""",
)
"""Items of applications; a file of before has no such tables and gets them when it is opened."""

SEGMENT_PLACES = """CREATE TABLE IF NOT EXISTS segment_places (
        scope INTEGER NOT NULL REFERENCES scopes (id),
        event_id TEXT NOT NULL,
        timestamp INTEGER NOT NULL,
        segment INTEGER NOT NULL,
        PRIMARY KEY (scope, event_id)) WITHOUT ROWID"""
"""In which segment an event is (A-59). Apart from `projections`: a deletion finds the segment after those are gone."""

_LATER = (LIMITS, *NAMESPACED_ITEMS, SEGMENT_PLACES)
STATEMENTS = (*_EVIDENCE, *_PROJECTION, *_INDEX, *_REQUESTS_AND_BUS, *_ITEMS, *_DELETION, *_LATER)
FORMAT_VERSION = 2
"""Format 1 was of no release; nothing reads it."""


BUSY_SECONDS = 5.0
READERS = min(4, max(2, os.cpu_count() or 2))
"""Threads that read at once; the others wait. SQLite releases the interpreter at each row, so that with many threads
each row costs a change of threads."""
FILE_NAME = "recollect.db"
_RETRY_AFTER_SECONDS = 1.0
_PAGE_CACHE_KIBIBYTES = 16 * 1024
_MAPPED_BYTES = 1 << 30

_BUSY: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_UNREADABLE: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_NO_ANSWER: Final = frozenset(
    {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_NOMEM}
)


class _Connection(sqlite3.Connection):
    waits_for_disk: bool | None = None

    def wait_for_disk(self, wait: bool) -> None:
        """Call it outside a transaction."""
        if self.waits_for_disk is not wait:
            # A PRAGMA may act when it is prepared (SQLite's documentation), and `execute` keeps prepared statements.
            self.executescript(f"PRAGMA synchronous = {'FULL' if wait else 'NORMAL'}")
            self.waits_for_disk = wait


class _Group(threading.local):
    """The transaction of `together` on the current thread."""

    connection: _Connection | None = None


class Database:
    """One SQLite file for evidence, index, idempotency records and bus; safe for threads and several processes.

    Two kinds of commit. Evidence commits with `synchronous=FULL`: it is on the disk when the caller is answered. What
    can be derived again commits with NORMAL, without waiting for the disk: a power loss may undo it, but never keeps
    the removal of its marker, which was committed with it or after it. One connection makes both kinds, the last one
    used first, so that its pages are in its cache.
    Raises StoredDataError for a file of a newer release or another program, NotReady without FTS5.
    """

    def __init__(self, path: Path, busy_seconds: float = BUSY_SECONDS, readers: int = READERS) -> None:
        self._path = path
        self._busy_seconds = busy_seconds
        self._readers = threading.BoundedSemaphore(readers)
        self._idle: list[_Connection] = []
        self._group = _Group()
        self._pool = threading.Lock()
        self._writer = threading.Lock()
        self._closed = False
        with _Translated():
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            connection = self._open()
            try:
                _prepare(connection, self._busy_seconds)
            except BaseException:
                connection.close()
                raise
            self._idle.append(connection)

    @property
    def path(self) -> Path:
        """The file's path."""
        return self._path

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """One state of the file for all statements inside. Raises Throttled, Unavailable or StoredDataError."""
        if self._group.connection is not None:
            with _Translated():
                yield self._group.connection
            return
        with self._readers, self._connection() as connection:
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                if connection.in_transaction:
                    connection.execute("COMMIT")

    @contextmanager
    def writing(self, *, durable: bool) -> Iterator[sqlite3.Connection]:
        """One atomic transaction. Raises Throttled where another writer holds the file too long.

        Within `together` it is a part of that transaction; a durable one raises RuntimeError there.
        """
        group = self._group.connection
        if group is None:
            with self._transaction(durable) as connection:
                yield connection
            return
        if durable:
            raise RuntimeError("a durable write cannot join writes that do not wait for the disk")
        with _Translated(), _part(group):
            yield group

    @property
    def grouped(self) -> bool:
        """Whether the current thread is within `together`."""
        return self._group.connection is not None

    @contextmanager
    def together(self) -> Iterator[None]:
        """Makes this thread's writes inside one atomic transaction that does not wait for the disk.

        A part that raises is undone alone; reads see the parts before them. Raises what `writing` raises, and
        Unavailable where a part's failure made SQLite end the whole (a full disk).
        """
        if self._group.connection is not None:
            yield
            return
        with self._transaction(durable=False) as connection:
            self._group.connection = connection
            try:
                yield
            finally:
                self._group.connection = None
            _refuse_ended(connection)

    def overwrite(self) -> None:
        """Overwrites what was deleted: words that the index only marked as deleted, and the log's old pages.

        A log that a reader needs stays; the next writer overwrites it.
        """
        with self.writing(durable=True) as connection:
            connection.execute("INSERT INTO words (words) VALUES ('optimize')")
        with self._connection() as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Closes the file; later calls raise NotReady."""
        with self._pool:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    @contextmanager
    def _transaction(self, durable: bool) -> Iterator[_Connection]:
        """This process's writers queue here: in SQLite itself they would poll, with growing sleeps."""
        if not self._writer.acquire(timeout=self._busy_seconds):
            raise Throttled("the database is busy writing", _RETRY_AFTER_SECONDS)
        try:
            with self._connection() as connection:
                connection.wait_for_disk(durable)
                connection.execute("BEGIN IMMEDIATE")
                try:
                    yield connection
                    connection.execute("COMMIT")
                except BaseException:
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
                    raise
        finally:
            self._writer.release()

    @contextmanager
    def _connection(self) -> Iterator[_Connection]:
        with _Translated():
            connection = self._taken()
            try:
                yield connection
            finally:
                self._give_back(connection)

    def _taken(self) -> _Connection:
        with self._pool:
            if self._closed:
                raise NotReady("the database is closed")
            if self._idle:
                return self._idle.pop()
        return self._open()

    def _give_back(self, connection: _Connection) -> None:
        with self._pool:
            if not self._closed:
                self._idle.append(connection)
                return
        connection.close()

    def _open(self) -> _Connection:
        connection = sqlite3.connect(
            self._path,
            timeout=self._busy_seconds,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
            factory=_Connection,
        )
        connection.wait_for_disk(True)
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA secure_delete = ON")  # what is deleted is overwritten in the file
        connection.execute(f"PRAGMA cache_size = -{_PAGE_CACHE_KIBIBYTES}")
        connection.execute(f"PRAGMA mmap_size = {_MAPPED_BYTES}")
        return connection


@contextmanager
def _part(connection: sqlite3.Connection) -> Iterator[None]:
    """A part of a transaction that can be undone alone."""
    _refuse_ended(connection)
    connection.execute("SAVEPOINT part")
    try:
        yield
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK TO part")
            connection.execute("RELEASE part")
        raise
    connection.execute("RELEASE part")


def _refuse_ended(connection: sqlite3.Connection) -> None:
    """Else a savepoint would begin a new transaction, which could commit a marker's removal alone."""
    if not connection.in_transaction:
        raise Unavailable("the transaction was ended by a failure inside it")


class _Translated:
    """Turns SQLite's and the file system's errors inside into Recollect's own."""

    __slots__ = ()

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, sqlite3.Error):
            translated = _error_of(error)
            if translated is not None:
                raise translated from error
        elif isinstance(error, OSError):
            raise Unavailable(f"the database's folder cannot be used: {type(error).__name__}") from error


def _error_of(error: sqlite3.Error) -> RecollectError | None:
    """By SQLite's primary result code; None for one that only a defect of Recollect causes."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    name = getattr(error, "sqlite_errorname", type(error).__name__)
    if code in _BUSY:
        return Throttled("the database is busy", _RETRY_AFTER_SECONDS)
    if code in _UNREADABLE:
        return StoredDataError(f"the database cannot be read: {name}")
    return Unavailable(f"the database does not answer: {name}") if code in _NO_ANSWER else None


def _prepare(connection: sqlite3.Connection, busy_seconds: float) -> None:
    if not connection.execute("SELECT 1 FROM pragma_module_list WHERE name = 'fts5'").fetchone():
        raise NotReady(f"this Python's SQLite ({sqlite3.sqlite_version}) was built without FTS5, which search needs")
    _refuse_foreign(connection)
    _enter_wal(connection, busy_seconds)
    if not _format(connection):
        _make_tables(connection)
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'namespaced_item_vectors'").fetchone():
        for statement in NAMESPACED_ITEMS:
            connection.execute(statement)
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'segment_places'").fetchone():
        connection.execute(SEGMENT_PLACES)


def _format(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _refuse_foreign(connection: sqlite3.Connection) -> None:
    version = _format(connection)
    if version not in (0, FORMAT_VERSION):
        raise StoredDataError(
            f"the file has format {version}, this release reads {FORMAT_VERSION} alone: with the release "
            "that wrote it, write its users down with `recollect export`, and bring them here with `recollect import`"
        )
    # The tables first: another process may be making the file, and its mark and its tables come in one transaction.
    has_tables = connection.execute("SELECT 1 FROM sqlite_master").fetchone() is not None
    if has_tables and connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        raise StoredDataError("the file is another program's SQLite database")


def _enter_wal(connection: sqlite3.Connection, busy_seconds: float) -> None:
    """SQLite does not wait for a lock here: two processes that open a new file at once need this loop."""
    deadline = time.monotonic() + busy_seconds
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF not in _BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def _make_tables(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        _refuse_foreign(connection)
        for statement in () if _format(connection) else STATEMENTS:
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {FORMAT_VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # an interrupt may come right after the COMMIT
            connection.execute("ROLLBACK")
        raise
