"""One nominate request against one user's columns: filters, the lexical arm, the vector arm, and the tally.

Filters follow `retrieval.filters.drop_reason`, over whole columns. The vector arm is the exact cosine. The lexical arm
reads posting lists of FTS5 (`fts5vocab`) and scores them by BM25 with the statistics of this user alone: FTS5's own
`bm25()` weighs by all rows of its table, so that another user's writes would change a user's ranks.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from recollect.adapters.local.columns import Columns
from recollect.adapters.local.rows import User, chunked_in, facet_label, tag_label, term_prefix
from recollect.core.errors import InvalidInput
from recollect.core.event import EventRef
from recollect.core.scope import Scope
from recollect.core.time import from_microseconds, microseconds
from recollect.core.vectors import FloatArray
from recollect.retrieval.filters import DropReason, SearchFilters, metadata_facets
from recollect.retrieval.nomination import Arm, Candidate, NominationRequest, Nominations, Tally
from recollect.text.terms import K1, B, TermStatistics, inverse_document_frequency
from recollect.timeline.timeline import COUNTED_RECORDS

Mask: TypeAlias = NDArray[np.bool_]
Labelled: TypeAlias = list[NDArray[np.int64]]
"""For each label of the filters, the rows that have it."""

READ_ENOUGH = 5_000
"""Posting lists are read from the rarest term on, up to this many documents in all, the first one always: about 2 ms.
The commoner terms then nominate no document; ranking counts them, since every candidate has all its counts."""
READ_MOST = 50_000
"""The bound where filters leave fewer candidates than the limit."""

_COSINE_DIGITS = 6  # as ranking rounds, so that noise of the arithmetic decides no tie
_COSINE_TOLERANCE = 1e-9
_COSINE_NOISE = 5e-6
_SCORE_DIGITS = 9
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
        self._masks = list(
            reason_masks(columns, scope, request.filters, labelled_rows(connection, user.number, request.filters))
        )
        self._admitted = filter_mask(columns, self._masks)
        self._statistics = user_statistics(connection, user, request.terms)
        self._vectors = None if request.vector is None else VectorArm(columns, request.vector)

    def nominations(self) -> Nominations:
        """Candidates, statistics, and the tally if asked for; durable events count, projected or not."""
        tally = self._tally() if self._request.count else None
        found = self._candidates(self._admitted, self._request.limit, READ_MOST)
        return Nominations(found, self._statistics, tally, includes_tail=True, superseded=self._superseded())

    def _superseded(self) -> tuple[Candidate, ...]:
        limit = self._request.most_superseded
        mask = superseded_mask(self._columns, self._masks) if limit else None
        return self._candidates(mask, limit, READ_ENOUGH) if mask is not None and mask.any() else ()

    def _candidates(self, among: Mask, limit: int, read_most: int) -> tuple[Candidate, ...]:
        lexical = LexicalArm(self._connection, self._user, self._columns, self._statistics)
        leaders = self._leaders(among, limit, lexical, read_most)
        found = self._read(sorted({place for arm in leaders.values() for place in arm}))
        ranks: dict[int, dict[Arm, int]] = {}
        for arm, scores in leaders.items():
            order = sorted(
                ((s, found[p].timestamp, found[p].id, p) for p, s in scores.items() if p in found), reverse=True
            )
            for rank, (_, _, _, place) in enumerate(order[:limit], start=1):
                ranks.setdefault(place, {})[arm] = rank
        places = list(ranks)
        nominated = zip(ranks.items(), self._counts(places, lexical), self._vectors_at(places), strict=True)
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

    def _tally(self) -> Tally:
        """Over the last 10,000 to arrive: the first reason that drops each."""
        alive = np.flatnonzero(self._columns["alive"])
        counted = alive[-COUNTED_RECORDS:]
        dropped: Counter[DropReason] = Counter()
        left = np.ones(len(counted), dtype=np.bool_)
        for reason, mask in [*self._masks, *self._threshold(counted)]:
            failing = left & ~mask[counted]
            dropped[reason] += int(np.count_nonzero(failing))
            left &= ~failing
        return Tally(len(counted), {r: n for r, n in dropped.items() if n}, exact=len(counted) == len(alive))

    def _threshold(self, counted: Any) -> Iterator[tuple[DropReason, Mask]]:
        request = self._request
        if self._vectors is None:
            mask = np.zeros(len(self._columns), dtype=np.bool_)
            first = int(self._columns["row"][counted[0]]) if len(counted) else 0
            lexical = LexicalArm(self._connection, self._user, self._columns, self._statistics)
            mask[lexical.having_any(request.terms, first)] = True
            yield DropReason.THRESHOLD, mask
        elif request.min_similarity is not None:
            yield DropReason.THRESHOLD, self._vectors.reaching(request.min_similarity)


def reason_masks(
    columns: Columns, scope: Scope, filters: SearchFilters, labelled: Labelled
) -> Iterator[tuple[DropReason, Mask]]:
    """Pairs of a reason and the mask of positions that it does not drop, in the order of the reasons."""
    for name, wanted in (("persona", scope.persona_id), ("household", scope.household_id)):
        if wanted is not None:
            yield DropReason.SCOPE, columns[name] == columns.code(wanted)
    yield DropReason.PRIVATE, ~columns["private"]
    yield DropReason.EXPIRED, columns["expires_at"] > microseconds(filters.now)
    if not filters.admits_superseded:
        yield DropReason.SUPERSEDED, ~columns["superseded"]
    yield from ((DropReason.WINDOW, mask) for mask in _in_time(columns, filters))
    yield from ((DropReason.FILTER, mask) for mask in _fitting(columns, filters, labelled))


def filter_mask(columns: Columns, found: Iterable[tuple[DropReason, Mask]]) -> Mask:
    """The positions that no reason drops."""
    mask = columns["alive"].copy()
    for _, passing in found:
        mask &= passing
    return mask


def superseded_mask(columns: Columns, found: Iterable[tuple[DropReason, Mask]]) -> Mask:
    """The positions that supersession alone drops."""
    mask = filter_mask(columns, (pair for pair in found if pair[0] is not DropReason.SUPERSEDED))
    mask &= columns["superseded"]
    return mask


def labelled_rows(connection: sqlite3.Connection, user_number: int, filters: SearchFilters) -> Labelled:
    """The rows of each tag and each pair of metadata that the filters ask for."""
    labels = [*map(tag_label, filters.tags), *map(facet_label, metadata_facets(filters.metadata))]
    query = "SELECT row FROM labels WHERE scope = ? AND label = ?"
    found = (connection.execute(query, (user_number, label)).fetchall() for label in labels)
    return [np.array(rows, dtype=np.int64).reshape(-1) for rows in found]


def _in_time(columns: Columns, filters: SearchFilters) -> Iterator[Mask]:
    bounds = (
        ("timestamp", filters.window.start, np.greater_equal),
        ("timestamp", filters.latest, np.less_equal),
        ("recorded_at", filters.recorded_as_of, np.less_equal),
    )
    given = ((name, np.int64(microseconds(bound)), compare) for name, bound, compare in bounds if bound is not None)
    return (compare(columns[name], bound) for name, bound, compare in given)


def _fitting(columns: Columns, filters: SearchFilters, labelled: Labelled) -> Iterator[Mask]:
    wanted = (
        ("conversation", filters.conversation_id),
        ("event_type", filters.event_type),
        ("key", filters.key),
        ("space", filters.space_id),
        ("source", filters.source),
    )
    yield from (columns[name] == columns.code(value) for name, value in wanted if value is not None)
    for rows in labelled:
        mask = np.zeros(len(columns), dtype=np.bool_)
        mask[columns.positions(rows)] = True
        yield mask


class VectorArm:
    """One vector against one user's matrix: float32 for all positions, float64 for those near a boundary."""

    def __init__(self, columns: Columns, vector: FloatArray) -> None:
        """Raises InvalidInput for a vector of another dimension than the matrix."""
        self._columns = columns
        self._query = vector.astype(np.float64) / (float(np.linalg.norm(vector)) or 1.0)
        self._about = self._cosines()

    def leading(self, among: Mask, limit: int) -> dict[int, float]:
        """The best of these positions, with their cosines; none for a vector of zeros."""
        if not self._query.any():
            return {}
        places = front(self._about, among & self._columns["embedded"], limit, _COSINE_NOISE)
        return ordered(self._columns, places, self._exact(places), limit)

    def reaching(self, least: float) -> Mask:
        """The positions whose cosine is at least this, of those with a vector."""
        reached: Mask = self._about >= least
        near = np.flatnonzero(np.abs(self._about - least) < _COSINE_NOISE)
        reached[near] = self._exact(near) >= least - _COSINE_TOLERANCE
        reached &= self._columns["embedded"]
        return reached

    def _cosines(self) -> FloatArray:
        matrix = self._columns.vectors
        if not matrix.shape[1]:
            return np.zeros(len(self._columns), dtype=np.float32)
        if self._query.shape != (matrix.shape[1],):
            raise InvalidInput(f"the index holds vectors of {matrix.shape[1]} numbers, not {len(self._query)}")
        found: FloatArray = (matrix @ self._query.astype(np.float32)) * self._columns["inverse_norm"]
        return found

    def _exact(self, places: NDArray[np.int64]) -> NDArray[np.float64]:
        """Equal vectors have equal cosines here, wherever in the matrix they are."""
        if not self._columns.vectors.shape[1]:
            return np.zeros(len(places))
        vectors = self._columns.vectors[places].astype(np.float64)
        norms = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
        found: NDArray[np.float64] = np.einsum("ij,j->i", vectors, self._query) / np.where(norms == 0, 1, norms)
        return np.round(found, _COSINE_DIGITS)


def front(scores: NDArray[Any], among: Mask, limit: int, noise: float) -> NDArray[np.int64]:
    """The positions that have the `limit` highest scores, and those within noise of them."""
    places = np.flatnonzero(among)
    if len(places) <= limit:
        return places
    values = scores[places]
    least = np.partition(values, -limit)[-limit]
    chosen: NDArray[np.int64] = places[values >= least - noise]
    return chosen


def ordered(columns: Columns, places: NDArray[np.int64], scores: NDArray[np.float64], limit: int) -> dict[int, float]:
    """The highest scores by position, best first, of equals the newer.

    More than `limit` where positions of equal score and time share the last place: the caller sorts them by id.
    """
    times = columns["timestamp"][places]
    order = np.lexsort((-times, -scores))
    if len(order) > limit:
        last = order[limit - 1]
        level = (scores > scores[last]) | ((scores == scores[last]) & (times >= times[last]))
        order = order[level[order]]
    return {int(places[i]): float(scores[i]) for i in order}


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
        scores = self._scores(among, limit, read_most)
        places = front(scores, scores > 0, limit, 10.0**-_SCORE_DIGITS)
        return ordered(self._columns, places, np.round(scores[places], _SCORE_DIGITS), limit)

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
