"""One nominate request against one user's columns: filters, the lexical arm, the vector arm, and the tally.

Filters follow `retrieval.filters.drop_reason`, over whole columns. The vector arm is the exact cosine. The lexical arm
reads posting lists of FTS5 (`fts5vocab`) and scores them by BM25 with the statistics of this user alone: FTS5's own
`bm25()` weighs by all rows of its table, so that another user's writes would change a user's ranks.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recollect.adapters.exact_search import (
    Mask,
    Places,
    VectorArm,
    add_term,
    best_by_words,
    filter_mask,
    ranks,
    reason_masks,
    superseded_mask,
    tally,
)
from recollect.adapters.local.columns import Columns
from recollect.adapters.local.rows import User, chunked_in, term_prefix
from recollect.core.event import EventRef
from recollect.core.scope import Scope
from recollect.core.time import from_microseconds
from recollect.core.vectors import FloatArray
from recollect.retrieval.attributes import Asked, Span
from recollect.retrieval.nomination import Arm, Candidate, NominationRequest, Nominations
from recollect.text.terms import TermStatistics

READ_ENOUGH = 5_000
"""Posting lists are read from the rarest term on, up to this many documents in all, the first one always: about 2 ms.
The commoner terms then nominate no document; ranking counts them, since every candidate has all its counts."""
READ_MOST = 50_000
"""The bound where filters leave fewer candidates than the limit."""

_LABELLED = "SELECT label, row FROM labels WHERE scope = ? AND label >= ? AND label < ?"
_LAST = "\U0010ffff"
_SELECT = "SELECT row, id, timestamp, conversation, length, role, speaker, importance FROM documents WHERE row IN ({})"
# FTS5 stores the columns of `words` in `words_content`: reading it directly takes half the time.
_WORDS = "SELECT id, c0 FROM words_content WHERE id IN ({})"


class NominationQuery:
    """One request against one user's columns, inside one read transaction."""

    def __init__(
        self, connection: sqlite3.Connection, scope: Scope, user: User, columns: Columns, request: NominationRequest
    ) -> None:
        self._connection = connection
        self._user = user
        self._columns = columns
        self._request = request
        self._masks = list(reason_masks(columns, scope, request.filters, self._labelled))
        self._admitted = filter_mask(columns, self._masks)
        self._statistics = user_statistics(connection, user, request.terms)
        self._vectors = None if request.vector is None else VectorArm(columns, request.vector)

    def nominations(self) -> Nominations:
        """Candidates, statistics, and the tally if asked for; durable events count, projected or not."""
        counted = tally(self._columns, self._masks, self._threshold) if self._request.count else None
        found = self._candidates(self._admitted, self._request.limit, READ_MOST)
        return Nominations(found, self._statistics, counted, includes_tail=True, superseded=self._superseded())

    def _labelled(self, asked: Asked) -> Mask:
        rows = labelled_rows(self._connection, self._user.number, asked)
        mask = np.zeros(len(self._columns), dtype=np.bool_)
        mask[self._columns.positions(np.array(rows, dtype=np.int64))] = True
        return mask

    def _superseded(self) -> tuple[Candidate, ...]:
        limit = self._request.most_superseded
        mask = superseded_mask(self._columns, self._masks) if limit else None
        return self._candidates(mask, limit, READ_ENOUGH) if mask is not None and mask.any() else ()

    def _candidates(self, among: Mask, limit: int, read_most: int) -> tuple[Candidate, ...]:
        lexical = LexicalArm(self._connection, self._user, self._columns, self._statistics)
        leaders = self._leaders(among, limit, lexical, read_most)
        found = self._read(sorted({place for arm in leaders.values() for place in arm}))
        read = {arm: {p: score for p, score in scores.items() if p in found} for arm, scores in leaders.items()}
        ranked = ranks(read, lambda place: (found[place].timestamp, found[place].id), limit)
        places = list(ranked)
        nominated = zip(ranked.items(), self._counts(places, lexical), self._vectors_at(places), strict=True)
        return tuple(_candidate(found[place], arms, counts, vector) for (place, arms), counts, vector in nominated)

    def _vectors_at(self, places: list[int]) -> list[FloatArray | None]:
        """In the order of the positions; None for one without a vector."""
        embedded = self._columns["embedded"][places].tolist()
        return [
            vector if there else None for vector, there in zip(self._columns.vectors[places], embedded, strict=True)
        ]

    def _leaders(self, among: Mask, limit: int, lexical: LexicalArm, read_most: int) -> dict[Arm, dict[int, float]]:
        leaders: dict[Arm, dict[int, float]] = {}
        if self._request.terms:
            leaders[Arm.LEXICAL] = lexical.leading(among, limit, read_most)
        if self._vectors is not None:
            leaders[Arm.VECTOR] = self._vectors.leading(among, limit)
        return leaders

    def _read(self, places: Sequence[int]) -> dict[int, _Found]:
        """The documents at these positions that this transaction sees."""
        rows = dict(zip(self._columns["row"][places].tolist(), places, strict=True))
        return {rows[row[0]]: _Found(*row) for row in chunked_in(self._connection, _SELECT, list(rows))}

    def _counts(self, places: list[int], lexical: LexicalArm) -> list[dict[str, int]]:
        """How often each term is in the documents at these positions, by the lists that the arm read."""
        counted: list[dict[str, int]] = [{} for _ in places]
        for term, counts in lexical.counts(np.array(places, dtype=np.int64)):
            for index in np.flatnonzero(counts):
                counted[index][term] = int(counts[index])
        unread = lexical.unread
        if unread:
            self._count_words(places, unread, counted)
        return counted

    def _count_words(self, places: list[int], terms: Sequence[str], counted: list[dict[str, int]]) -> None:
        """Counts terms whose lists are too long to read in the documents' own words."""
        prefix = term_prefix(self._user.number)
        wanted = {prefix + term: term for term in terms}
        rows = {int(self._columns["row"][place]): index for index, place in enumerate(places)}
        for row, words in chunked_in(self._connection, _WORDS, list(rows)):
            found = Counter(wanted[word] for word in words.split() if word in wanted)
            counted[rows[row]].update(found)

    def _threshold(self, counted: Places) -> Mask | None:
        request = self._request
        if self._vectors is None:
            mask = np.zeros(len(self._columns), dtype=np.bool_)
            first = int(self._columns["row"][counted[0]]) if len(counted) else 0
            lexical = LexicalArm(self._connection, self._user, self._columns, self._statistics)
            mask[lexical.having_any(request.terms, first)] = True
            return mask
        return None if request.min_similarity is None else self._vectors.reaching(request.min_similarity)


def labelled_rows(connection: sqlite3.Connection, user_number: int, asked: Asked) -> list[int]:
    """The user's documents that have a label which is asked for."""
    near = [*(Span(one, one + "\0") for one in asked.exact), *asked.spans]
    near += [Span(one.start, one.start + _LAST) for one in asked.parts]
    found = [pair for span in near for pair in connection.execute(_LABELLED, (user_number, *span))]
    return [row for label, row in found if not asked.parts or asked.met_by(label)]


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
        """The terms of documents whose lists `leading` did not read."""
        return [term for term in self._rarest_first() if term not in self._found]

    def counts(self, places: NDArray[np.int64]) -> Iterator[tuple[str, NDArray[np.int64]]]:
        """For each term that was read, its count in the document at each of these positions."""
        for term, (having, counts) in self._found.items():
            if len(having):
                nearest = np.minimum(np.searchsorted(having, places), len(having) - 1)
                yield term, np.where(having[nearest] == places, counts[nearest], 0)

    def leading(self, among: Mask, limit: int, read_most: int = READ_MOST) -> dict[int, float]:
        """The best of these positions, with their scores over the terms that were read."""
        return best_by_words(self._columns, self._scores(among, limit, read_most), limit)

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
        add_term(scores, self._statistics, term, places, counts, self._columns["length"][places])

    def _postings(self, term: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        entries = self._connection.execute(
            "SELECT doc FROM word_places WHERE term = ?", (self._prefix + term,)
        ).fetchall()
        return np.unique(np.array(entries, dtype=np.int64), return_counts=True)


class _Found(NamedTuple):
    row: int
    id: str
    timestamp: int
    conversation: str
    length: int
    role: str
    speaker: str | None
    importance: float


def _candidate(found: _Found, arms: dict[Arm, int], counts: dict[str, int], vector: FloatArray | None) -> Candidate:
    return Candidate(
        ref=EventRef(found.id, from_microseconds(found.timestamp)),
        arms=arms,
        conversation_id=found.conversation,
        counts=counts,
        length=found.length,
        vector=vector,
        role=found.role,
        speaker=found.speaker,
        importance=found.importance,
    )
