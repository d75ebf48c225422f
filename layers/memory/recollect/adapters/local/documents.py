"""The index's rows of one user: documents with labels, words and vectors, and the counters over them."""

import sqlite3
from collections.abc import Iterable

from recollect.adapters.local.rows import User
from recollect.core.time import microseconds
from recollect.core.vectors import FloatArray, pack_vector
from recollect.retrieval.nomination import IndexDocument

_COLUMNS = (
    "version", "timestamp", "recorded_at", "expires_at", "persona", "household", "conversation", "event_type", "source",
    "key", "space", "role", "speaker", "importance", "private", "superseded", "length", "revision", "scope", "id",
)  # fmt: skip
_INSERT = f"INSERT INTO documents ({', '.join(_COLUMNS)}) VALUES ({', '.join('?' * len(_COLUMNS))})"  # noqa: S608
_UPDATE = f"UPDATE documents SET {', '.join(f'{name} = ?' for name in _COLUMNS[:-2])} WHERE scope = ? AND id = ?"  # noqa: S608


def term_prefix(user_number: int) -> str:
    """The prefix of each of a user's terms, so that a posting list is one user's by construction."""
    return f"{user_number}x"


def tag_label(tag: str) -> str:
    """A tag as a label."""
    return f"t{tag}"


def facet_label(facet: str) -> str:
    """A facet of the metadata as a label."""
    return f"m{facet}"


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
            row = int(self._connection.execute(_INSERT, self._values(document)).lastrowid or 0)
            self._add_labels(row, _labels(document))
            self._add_words(row, self._words(document))
            self._put_vector(row, None if document.is_private else document.vector)
        else:
            row = int(found[0])
            self._connection.execute(_UPDATE, self._values(document))
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


def _labels(document: IndexDocument) -> set[str]:
    return {*map(tag_label, document.tags), *map(facet_label, document.facets)}
