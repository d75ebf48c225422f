"""The tables of the file, in its one format.

Two halves. Evidence: `events` with `records`, `identities`, `rejections`, `outbox`, and the tables of projection. The
index: `documents`, `labels`, `words`, `document_vectors` and the counters in `scopes`; it can be dropped and made
again. An event and its document are nevertheless written in one transaction, so that words are found at once.

Scanned rows are narrow: a record's JSON, a document's words and a vector are in tables of their own. Times are
microseconds since 1900. Ids are in columns of their own, as the client gave them.
"""

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
    # A tag ("t" before it) or a facet of the metadata ("m" before it).
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

STATEMENTS = (*_EVIDENCE, *_PROJECTION, *_INDEX, *_REQUESTS_AND_BUS, *_ITEMS, *_DELETION)
FORMAT_VERSION = 2
"""Format 1 was of no release; nothing reads it."""
