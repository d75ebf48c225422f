"""One nominate request against one user's columns: filters, the lexical arm, the vector arm, and the tally.

The vector arm is the exact cosine. The lexical arm reads the posting lists that `nominate_by_words` does, over arrays.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from recollect.adapters.exact_search import (
    Mask,
    MaskedDocuments,
    Places,
    VectorArm,
    add_term,
    best_by_words,
    farthest,
    ranks,
    tally,
)
from recollect.adapters.index_filters import admitted, only_superseded, own_words, reasons
from recollect.adapters.local import nominate_by_words
from recollect.adapters.local.columns import Columns
from recollect.adapters.local.nominate_by_words import (
    Found,
    candidate,
    count_words,
    found_at,
    labelled_rows,
    rarest_first,
    user_statistics,
)
from recollect.adapters.local.rows import User, term_prefix
from recollect.core.scope import Scope
from recollect.core.vectors import FloatArray
from recollect.retrieval.attributes import Asked
from recollect.retrieval.nomination import MOST_STANDING, Arm, Candidate, NominationRequest, Nominations
from recollect.text.terms import TermStatistics


class NominationQuery:
    """One request against one user's columns, inside one read transaction."""

    def __init__(
        self, connection: sqlite3.Connection, scope: Scope, user: User, columns: Columns, request: NominationRequest
    ) -> None:
        self._connection = connection
        self._user = user
        self._columns = columns
        self._request = request
        self._documents = MaskedDocuments(columns, self._labelled)
        self._masks = list(reasons(self._documents, scope, request.filters))
        self._statistics = user_statistics(connection, user, request.terms)
        self._vectors = None if request.vector is None else VectorArm(columns, request.vector)

    def nominations(self) -> Nominations:
        """Candidates, statistics, and the tally if asked for; durable events count, projected or not."""
        counted = tally(self._columns, self._masks, self._threshold) if self._request.count else None
        shown = admitted(self._documents, self._masks)
        lexical = self._lexical()
        found = self._candidates(shown, self._request.limit, nominate_by_words.READ_MOST, lexical)
        old, standing = self._superseded(), self._standing(shown, lexical)
        return Nominations(found, self._statistics, counted, includes_tail=True, superseded=old, standing=standing)

    def _labelled(self, asked: Asked) -> Mask:
        rows = labelled_rows(self._connection, self._user.number, asked)
        mask = np.zeros(len(self._columns), dtype=np.bool_)
        mask[self._columns.positions(np.array(rows, dtype=np.int64))] = True
        return mask

    def _superseded(self) -> tuple[Candidate, ...]:
        limit = self._request.most_superseded
        mask = only_superseded(self._documents, self._masks) if limit else None
        if mask is None or not mask.any():
            return ()
        return self._candidates(mask, limit, nominate_by_words.READ_ENOUGH, self._lexical())

    def _standing(self, shown: Mask, lexical: LexicalArm) -> tuple[Candidate, ...]:
        """Of the shown ones, so that the lists that the lexical arm read of those have their counts too."""
        if self._request.standing is None:
            return ()
        leaders = farthest(self._columns, own_words(self._documents, shown), self._request.standing)
        return self._read_candidates(leaders, MOST_STANDING, lexical)

    def _lexical(self) -> LexicalArm:
        return LexicalArm(self._connection, self._user, self._columns, self._statistics)

    def _candidates(self, among: Mask, limit: int, read_most: int, lexical: LexicalArm) -> tuple[Candidate, ...]:
        return self._read_candidates(self._leaders(among, limit, lexical, read_most), limit, lexical)

    def _read_candidates(
        self, leaders: Mapping[Arm, Mapping[int, float]], limit: int, lexical: LexicalArm
    ) -> tuple[Candidate, ...]:
        found = self._read(sorted({place for arm in leaders.values() for place in arm}))
        read = {arm: {p: score for p, score in scores.items() if p in found} for arm, scores in leaders.items()}
        ranked = ranks(read, lambda place: (found[place].timestamp, found[place].id), limit)
        places = list(ranked)
        nominated = zip(ranked.items(), self._counts(places, lexical), self._vectors_at(places), strict=True)
        return tuple(candidate(found[place], arms, counts, vector) for (place, arms), counts, vector in nominated)

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

    def _read(self, places: Sequence[int]) -> dict[int, Found]:
        """The documents at these positions that this transaction sees."""
        rows = dict(zip(self._columns["row"][places].tolist(), places, strict=True))
        return {rows[row]: found for row, found in found_at(self._connection, list(rows)).items()}

    def _counts(self, places: list[int], lexical: LexicalArm) -> list[dict[str, int]]:
        """How often each term is in the documents at these positions, by the lists that the arm read."""
        counted: list[dict[str, int]] = [{} for _ in places]
        for term, counts in lexical.counts(np.array(places, dtype=np.int64)):
            there = np.flatnonzero(counts)
            for index, count in zip(there.tolist(), counts[there].tolist(), strict=True):
                counted[index][term] = count
        rows = self._columns["row"][places].tolist()
        count_words(self._connection, self._user, lexical.unread, dict(zip(rows, counted, strict=True)))
        return counted

    def _threshold(self, counted: Places) -> Mask | None:
        request = self._request
        if self._vectors is None:
            mask = np.zeros(len(self._columns), dtype=np.bool_)
            first = int(self._columns["row"][counted[0]]) if len(counted) else 0
            mask[self._lexical().having_any(request.terms, first)] = True
            return mask
        return None if request.min_similarity is None else self._vectors.reaching(request.min_similarity)


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
        return [term for term in rarest_first(self._statistics) if term not in self._found]

    def counts(self, places: NDArray[np.int64]) -> Iterator[tuple[str, NDArray[np.int64]]]:
        """For each term that was read, its count in the document at each of these positions."""
        for term, (having, counts) in self._found.items():
            if len(having):
                nearest = np.minimum(np.searchsorted(having, places), len(having) - 1)
                yield term, np.where(having[nearest] == places, counts[nearest], 0)

    def leading(self, among: Mask, limit: int, read_most: int) -> dict[int, float]:
        """The best of these positions, with their scores over the terms that were read."""
        return best_by_words(self._columns, self._scores(among, limit, read_most), limit)

    def _scores(self, mask: Mask, limit: int, read_most: int) -> NDArray[np.float64]:
        scores = np.zeros(len(self._columns))
        read = 0
        for term in rarest_first(self._statistics):
            enough = nominate_by_words.READ_ENOUGH if np.count_nonzero(scores) >= limit else read_most
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
        rows = np.fromiter(chain.from_iterable(entries), dtype=np.int64, count=len(entries))
        return np.unique(rows, return_counts=True)
