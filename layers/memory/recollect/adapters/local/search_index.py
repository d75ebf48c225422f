"""The index in the file: FTS5 for words, exact cosine in memory for vectors, one user at a time."""

import sqlite3
from collections.abc import Iterator, Sequence
from itertools import groupby

from recollect.adapters.local.cache import BUDGET_BYTES, ColumnsCache
from recollect.adapters.local.database import Database
from recollect.adapters.local.documents import DocumentWriter
from recollect.adapters.local.schema import FORMAT_VERSION
from recollect.adapters.local.users import enter_user, find_user
from recollect.adapters.local.wave import Wave
from recollect.domain.lexical import TermStatistics
from recollect.domain.nomination import IndexDocument, NominationRequest, Nominations, Tally
from recollect.domain.scope import Scope
from recollect.ports import IndexFailure


class SqliteSearchIndex:
    """Words are found from the append on, which writes the document in its own transaction; `put` adds the vector.

    `generation` and `dimension` are the embedder's, None without one: vectors of another generation stay unread.
    """

    def __init__(
        self,
        database: Database,
        generation: str | None,
        dimension: int | None = None,
        budget_bytes: int = BUDGET_BYTES,
    ) -> None:
        self._database = database
        self._generation = generation
        self._dimension = dimension
        self._cache = ColumnsCache(generation, budget_bytes)

    def put(self, documents: Sequence[IndexDocument]) -> list[IndexFailure]:
        """Writes documents; an older version never replaces a newer. A vector of another length is a failure."""
        failures = [failure for document in documents if (failure := self._unfit(document)) is not None]
        unfit = {failure.event_id for failure in failures}
        with self._database.writing(durable=False) as connection:
            for scope, group in _by_user(documents):
                writer = DocumentWriter(connection, enter_user(connection, scope), self._generation)
                for document in group:
                    if document.ref.id not in unfit:
                        writer.put(document)
                writer.finish()
        return failures

    def remove(self, scope: Scope, event_ids: Sequence[str]) -> list[IndexFailure]:
        """Removes the user's documents; unknown ones are no error."""
        with self._database.writing(durable=False) as connection:
            user = find_user(connection, scope)
            if user is not None:
                writer = DocumentWriter(connection, user, self._generation)
                for event_id in event_ids:
                    writer.remove(event_id)
                writer.finish()
        return []

    def nominate(self, scope: Scope, request: NominationRequest) -> Nominations:
        """One wave of all arms, with the user's statistics. Raises InvalidInput for a vector of another length."""
        with self._database.reading() as connection:
            user = find_user(connection, scope)
            if user is None:
                return _nothing(request)
            with self._cache.columns(connection, user) as columns:
                return Wave(connection, scope, user, columns, request).nominations()

    def check(self) -> str:
        """SQLite's version and the file's format. Raises NotReady or Unavailable."""
        with self._database.reading() as connection:
            connection.execute("SELECT count(*) FROM scopes").fetchone()
        return f"SQLite {sqlite3.sqlite_version} with FTS5, file format {FORMAT_VERSION}"

    def create(self) -> bool:
        """False: opening the database made what was missing."""
        return False

    def _unfit(self, document: IndexDocument) -> IndexFailure | None:
        vector = document.vector
        if vector is None or self._dimension is None or vector.shape == (self._dimension,):
            return None
        return IndexFailure(document.ref.id, f"a vector of {self._dimension} numbers is needed", retryable=False)


def _by_user(documents: Sequence[IndexDocument]) -> Iterator[tuple[Scope, list[IndexDocument]]]:
    ordered = sorted(documents, key=lambda document: (document.tenant, document.user_id))
    for (tenant, user_id), group in groupby(ordered, key=lambda document: (document.tenant, document.user_id)):
        yield Scope(tenant, user_id), list(group)


def _nothing(request: NominationRequest) -> Nominations:
    tally = Tally(0, {}, exact=True) if request.count else None
    return Nominations((), TermStatistics(0, 0, dict.fromkeys(request.terms, 0)), tally, includes_tail=True)
