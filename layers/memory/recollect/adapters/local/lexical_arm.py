"""The lexical arm: posting lists of FTS5, scored by the domain's BM25 with the statistics of the user alone.

FTS5's own `bm25()` weighs by all rows of its table, so that another user's writes would move a user's ranks. Posting
lists (document by document, an entry for each occurrence) come from `fts5vocab`, the arithmetic is done on arrays.
"""

import sqlite3
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from recollect.adapters.local.admission import Mask
from recollect.adapters.local.columns import Columns
from recollect.adapters.local.documents import term_prefix
from recollect.adapters.local.users import User
from recollect.adapters.local.vectors import front, ordered
from recollect.domain.lexical import K1, B, TermStatistics, inverse_document_frequency

READ_ENOUGH = 5_000
"""Lists are read from the rarest term on, up to this many documents in all, the first one always: about 2 ms. The
commoner terms nominate nobody then; they count where the domain ranks, for every hit holds all its counts."""
READ_MOST = 50_000
"""The bound where filters leave fewer hits than asked for."""

_DIGITS = 9


def user_statistics(connection: sqlite3.Connection, user: User, terms: Sequence[str]) -> TermStatistics:
    """The user's documents, terms in all, and the documents of each term."""
    prefix = term_prefix(user.number)
    query = "SELECT doc FROM word_frequencies WHERE term = ?"
    found = ((term, connection.execute(query, (prefix + term,)).fetchone()) for term in terms)
    return TermStatistics(user.documents, user.terms, {term: row[0] if row else 0 for term, row in found})


class LexicalArm:
    """Scores of all positions at once, for one query."""

    def __init__(
        self, connection: sqlite3.Connection, user: User, columns: Columns, statistics: TermStatistics
    ) -> None:
        self._connection = connection
        self._prefix = term_prefix(user.number)
        self._columns = columns
        self._statistics = statistics
        self._found: dict[str, tuple[NDArray[np.int64], NDArray[np.int64]]] = {}

    @property
    def unread(self) -> list[str]:
        """The terms that are in some document and whose lists `leading` left unread."""
        return [term for term in self._rarest_first() if term not in self._found]

    def counts(self, places: NDArray[np.int64]) -> Iterator[tuple[str, NDArray[np.int64]]]:
        """For each term that was read, how often it is in the document at each of these admitted positions."""
        for term, (having, counts) in self._found.items():
            if len(having):
                nearest = np.minimum(np.searchsorted(having, places), len(having) - 1)
                yield term, np.where(having[nearest] == places, counts[nearest], 0)

    def leading(self, among: Mask, limit: int, read_most: int = READ_MOST) -> dict[int, float]:
        """The best of these positions, with their scores over the terms that were read."""
        scores = self._scores(among, limit, read_most)
        places = front(scores, scores > 0, limit, 10.0**-_DIGITS)
        return ordered(self._columns, places, np.round(scores[places], _DIGITS), limit)

    def _scores(self, mask: Mask, limit: int, read_most: int) -> NDArray[np.float64]:
        scores = np.zeros(len(self._columns))
        read = 0
        for term in self._rarest_first():
            enough = READ_ENOUGH if np.count_nonzero(scores) >= limit else read_most
            if read and read + self._statistics.document_frequency[term] > enough:
                break
            read += self._statistics.document_frequency[term]
            self._add(scores, term, mask)
        return scores

    def having_any(self, terms: Sequence[str], first_row: int) -> NDArray[np.int64]:
        """The positions, from this row on, that have one of the terms."""
        if not terms:
            return np.zeros(0, dtype=np.int64)
        query = " OR ".join(f'"{self._prefix}{term}"' for term in terms)
        rows = self._connection.execute(
            "SELECT rowid FROM words WHERE words MATCH ? AND rowid >= ?", (query, first_row)
        ).fetchall()
        return self._columns.positions(np.array(rows, dtype=np.int64).reshape(-1))

    def _rarest_first(self) -> Iterator[str]:
        frequency = self._statistics.document_frequency
        return iter(sorted((term for term in frequency if frequency[term]), key=lambda term: (frequency[term], term)))

    def _add(self, scores: NDArray[np.float64], term: str, mask: Mask) -> None:
        rows, counts = self._postings(term)
        places, here = self._columns.find(rows)
        counts = counts[here]
        admitted = mask[places]
        places, counts = places[admitted], counts[admitted]
        self._found[term] = places, counts
        weight = inverse_document_frequency(self._statistics, term)
        scores[places] += weight * counts * (K1 + 1) / (counts + self._penalty(places))

    def _postings(self, term: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        entries = self._connection.execute(
            "SELECT doc FROM word_places WHERE term = ?", (self._prefix + term,)
        ).fetchall()
        return np.unique(np.array(entries, dtype=np.int64), return_counts=True)

    def _penalty(self, places: NDArray[np.int64]) -> NDArray[np.float64]:
        average = self._statistics.total_terms / self._statistics.documents if self._statistics.documents else 1.0
        penalty: NDArray[np.float64] = K1 * (1 - B + B * self._columns["length"][places] / (average or 1.0))
        return penalty
