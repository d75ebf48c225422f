"""The port `SearchIndex` in the file: FTS5 for words, exact cosine in memory for vectors, one user at a time.

Without an embedder nothing of it needs numpy, and nothing is held in memory.
"""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from itertools import groupby
from typing import TYPE_CHECKING

from recollect.adapters.local.database import FORMAT_VERSION, Database
from recollect.adapters.local.nominate_by_words import WordQuery
from recollect.adapters.local.rows import DocumentWriter, enter_user, find_user, remove_documents, user_number
from recollect.core.event import EventRef
from recollect.core.items import of_tenant
from recollect.core.scope import Scope
from recollect.core.time import from_microseconds
from recollect.ports import IndexFailure
from recollect.retrieval.nomination import IndexCount, IndexDocument, IndexedPage, NominationRequest, Nominations, Tally
from recollect.search_index.state import NO_GENERATION
from recollect.text.terms import TermStatistics

if TYPE_CHECKING:
    from recollect.adapters.local.columns import ColumnsCache

FILE_IDENTITY = "file"
BUDGET_BYTES = 512 * 1024 * 1024
"""Of the columns in memory of all users."""
_COUNT = """SELECT count(d.row), count(v.row) FROM scopes s JOIN documents d ON d.scope = s.id
    LEFT JOIN document_vectors v ON v.row = d.row AND v.generation = ?
    WHERE s.tenant = ? AND (? OR s.user_id = ?)"""
_DROP = """DELETE FROM document_vectors WHERE row IN (
    SELECT v.row FROM scopes s JOIN documents d ON d.scope = s.id JOIN document_vectors v ON v.row = d.row
    WHERE v.generation = ? AND s.tenant = ? LIMIT ?)"""


class SqliteSearchIndex:
    """An append writes the document and its words in its own transaction; `put` adds the vector. Writes show at once.

    `generation` and `dimension` are the embedder's, None without one: vectors of another generation are not read.
    Documents and words are the same for every generation; each vector names its own.
    """

    def __init__(
        self, database: Database, generation: str | None, dimension: int | None = None, budget_bytes: int = BUDGET_BYTES
    ) -> None:
        self._database = database
        self._generation = generation
        self._dimension = dimension
        self._cache = None if generation is None else _columns_cache(generation, budget_bytes)
        self._by_words = False

    @property
    def generation(self) -> str:
        return self._generation or NO_GENERATION

    def holds_vectors(self, tenant: str) -> bool:  # noqa: ARG002 - of every tenant
        return self._generation is not None and not self._by_words

    def of(self, generation: str) -> "SqliteSearchIndex":
        """The same documents and words, and that generation's vectors for `count` and `drop`."""
        other = copy(self)
        other._generation, other._dimension = None if generation == NO_GENERATION else generation, None
        other._by_words = True
        return other

    def put(self, documents: Sequence[IndexDocument], *, shown: bool = True) -> list[IndexFailure]:  # noqa: ARG002
        """Writes documents; an older version never replaces a newer one. A vector of another length is a failure."""
        failures = [failure for document in documents if (failure := self._unfit(document)) is not None]
        unfit = {failure.event_id for failure in failures}
        with self._database.writing(durable=False) as connection:
            for scope, group in _by_user(documents):
                user = enter_user(connection, scope)
                writer = DocumentWriter(connection, user, self._generation, by_words=self._by_words)
                for document in group:
                    if document.ref.id not in unfit:
                        writer.put(document)
                writer.finish()
        return failures

    def remove(self, scope: Scope, event_ids: Sequence[str], *, shown: bool = True) -> list[IndexFailure]:  # noqa: ARG002
        with self._database.writing(durable=False) as connection:
            user = find_user(connection, scope)
            if user is not None:
                remove_documents(connection, user, event_ids)
        return []

    def nominate(self, scope: Scope, request: NominationRequest) -> Nominations:
        """Candidates of all arms, with the user's statistics. Raises InvalidInput for a vector of another length."""
        with self._database.reading() as connection:
            user = find_user(connection, scope)
            if user is None:
                return _nothing(request)
            if self._cache is None:
                return WordQuery(connection, scope, user, request).nominations()
            from recollect.adapters.local.nominate import NominationQuery

            with self._cache.columns(connection, user) as columns:
                return NominationQuery(connection, scope, user, columns, request).nominations()

    def count(self, owner: Scope, most: int | None = None) -> IndexCount:  # noqa: ARG002 - counting all is as fast
        with self._database.reading() as connection:
            found = connection.execute(
                _COUNT, (self._generation, owner.tenant, owner == of_tenant(owner.tenant), owner.user_id)
            )
            return IndexCount(*found.fetchone())

    def listed(self, scope: Scope, limit: int, after: str | None) -> IndexedPage:
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT id, timestamp FROM documents WHERE scope = ? AND id > ? ORDER BY id LIMIT ?",
                (user_number(connection, scope), after or "", limit + 1),
            ).fetchall()
        refs = tuple(EventRef(event_id, from_microseconds(timestamp)) for event_id, timestamp in rows[:limit])
        return IndexedPage(refs, refs[-1].id if len(rows) > limit else None)

    def drop(self, tenant: str, limit: int, *, whole: bool = False) -> int:  # noqa: ARG002 - there is one index
        """Drops the vectors of this generation; documents and words belong to every one."""
        with self._database.writing(durable=False) as connection:
            return connection.execute(_DROP, (self._generation, tenant, limit)).rowcount

    def pack(self, remaining_seconds: Callable[[], float]) -> int:  # noqa: ARG002 - removed rows are gone
        return 0

    def identity(self) -> str:
        """The file's, since the index is in it."""
        return FILE_IDENTITY

    def owns(self, identity: str) -> bool:
        return identity == FILE_IDENTITY

    def check(self) -> str:
        with self._database.reading() as connection:
            connection.execute("SELECT count(*) FROM scopes").fetchone()
        return f"SQLite {sqlite3.sqlite_version} with FTS5, file format {FORMAT_VERSION}"

    def create(self) -> bool:
        """False: opening the database makes the index."""
        return False

    def _unfit(self, document: IndexDocument) -> IndexFailure | None:
        vector = document.vector
        if vector is None or self._dimension is None or vector.shape == (self._dimension,):
            return None
        return IndexFailure(document.ref.id, f"a vector of {self._dimension} numbers is needed", retryable=False)


def _columns_cache(generation: str, budget_bytes: int) -> "ColumnsCache":
    from recollect.adapters.local.columns import ColumnsCache

    return ColumnsCache(generation, budget_bytes)


def _by_user(documents: Sequence[IndexDocument]) -> Iterator[tuple[Scope, list[IndexDocument]]]:
    ordered = sorted(documents, key=lambda document: (document.tenant, document.user_id))
    for (tenant, user_id), group in groupby(ordered, key=lambda document: (document.tenant, document.user_id)):
        yield Scope(tenant, user_id), list(group)


def _nothing(request: NominationRequest) -> Nominations:
    tally = Tally(0, {}, exact=True) if request.count else None
    return Nominations((), TermStatistics(0, 0, dict.fromkeys(request.terms, 0)), tally, includes_tail=True)
