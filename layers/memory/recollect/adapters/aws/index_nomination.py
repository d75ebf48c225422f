"""One nomination over a user's columns: both arms, the superseded besides, the user's statistics, the tally."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from recollect.adapters.aws.index_columns import UserColumns
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
from recollect.core.event import EventRef
from recollect.core.scope import Scope
from recollect.core.time import from_microseconds
from recollect.retrieval.nomination import MOST_STANDING, Arm, Candidate, NominationRequest, Nominations
from recollect.text.terms import TermStatistics

EXACT_BY_WORDS = 24
"""The cosines of so many of the best by words are exact, of those behind them within some 0.02."""
MOST_DOUBTFUL = 100
"""How many vectors are read for the tally's threshold alone."""

_Side: TypeAlias = tuple[Mask, int, Mapping[int, float]]
"""The positions to choose among, how many, and the best of them by words."""


class ColumnsNomination:
    """One request against one user's columns, as they were read."""

    def __init__(self, columns: UserColumns, scope: Scope, request: NominationRequest) -> None:
        """Raises InvalidInput for a vector of another length than the index has."""
        self._columns = columns
        self._request = request
        self._counts = columns.counts(request.terms)
        self._statistics = _statistics(columns, self._counts)
        self._scores = self._scored()
        self._vectors = None if request.vector is None else VectorArm(columns, request.vector)
        self._documents = MaskedDocuments(columns, columns.labelled)
        self._masks = list(reasons(self._documents, scope, request.filters))

    def nominations(self) -> Nominations:
        """What the port answers; events that are not projected yet are not in it.

        The exact vectors of what may be nearest, of the best by words, and of what may reach the threshold are read at
        once. Where the last are more than `MOST_DOUBTFUL`, the tally is not exact.
        """
        request, columns = self._request, self._columns
        shown, limit = admitted(self._documents, self._masks), request.most_superseded
        old = only_superseded(self._documents, self._masks) if limit else np.zeros(len(columns), dtype=np.bool_)
        sides = [(shown, request.limit, self._by_words(shown, request.limit))]
        sides += [(old, limit, self._by_words(old, limit))] if limit else []
        doubtful = self._doubtful()
        if self._vectors is not None:
            columns.prepare(self._wanted(sides, self._vectors, doubtful))
        hits, superseded = (*(self._candidates(*side) for side in sides), ())[:2]
        counted = tally(columns, self._masks, self._threshold) if request.count else None
        if counted is not None and len(doubtful) > MOST_DOUBTFUL:
            counted = replace(counted, exact=False)
        return Nominations(hits, self._statistics, counted, superseded=superseded, standing=self._standing(shown))

    def _standing(self, shown: Mask) -> tuple[Candidate, ...]:
        """By the vectors that are there, packed ones as they are: no exact ones are read for it."""
        if self._request.standing is None:
            return ()
        leaders = farthest(self._columns, own_words(self._documents, shown), self._request.standing)
        return self._read_candidates(leaders, MOST_STANDING)

    def _by_words(self, among: Mask, limit: int) -> Mapping[int, float]:
        return best_by_words(self._columns, np.where(among, self._scores, 0.0), limit) if self._request.terms else {}

    def _doubtful(self) -> Places:
        least = self._request.min_similarity
        if self._vectors is None or least is None or not self._request.count:
            return np.zeros(0, dtype=np.int64)
        return self._vectors.doubtful(least)

    @staticmethod
    def _wanted(sides: Sequence[_Side], vectors: VectorArm, doubtful: Places) -> Places:
        """The positions whose exact vectors matter."""
        named = [np.array(list(words)[:EXACT_BY_WORDS], dtype=np.int64) for _, _, words in sides]
        near = [vectors.near(among, limit) for among, limit, _ in sides]
        return np.unique(np.concatenate([*named, *near, doubtful if len(doubtful) <= MOST_DOUBTFUL else doubtful[:0]]))

    def _scored(self) -> NDArray[np.float64]:
        scores = np.zeros(len(self._columns))
        for term, (places, counts) in self._counts.items():
            add_term(scores, self._statistics, term, places, counts, self._columns["length"][places])
        return scores

    def _candidates(self, among: Mask, limit: int, by_words: Mapping[int, float]) -> tuple[Candidate, ...]:
        leaders: dict[Arm, Mapping[int, float]] = {}
        if self._request.terms:
            leaders[Arm.LEXICAL] = by_words
        if self._vectors is not None:
            leaders[Arm.VECTOR] = self._vectors.leading(among, limit)
        return self._read_candidates(leaders, limit)

    def _read_candidates(self, leaders: Mapping[Arm, Mapping[int, float]], limit: int) -> tuple[Candidate, ...]:
        ranked = ranks(leaders, lambda place: (self._columns["timestamp"][place], self._columns.id(place)), limit)
        places = np.array(list(ranked), dtype=np.int64)
        exact = self._columns.exact(places)
        counted = self._counted(places)
        return tuple(
            self._candidate(place, arms, counted[n], exact[n]) for n, (place, arms) in enumerate(ranked.items())
        )

    def _counted(self, places: Places) -> list[dict[str, int]]:
        found: list[dict[str, int]] = [{} for _ in places]
        index = np.full(len(self._columns), -1, dtype=np.int64)
        index[places] = np.arange(len(places))
        for term, (having, counts) in self._counts.items():
            at = index[having]
            for n, count in zip(at[at >= 0].tolist(), counts[at >= 0].tolist(), strict=True):
                found[n][term] = count
        return found

    def _candidate(
        self, place: int, arms: Mapping[Arm, int], counts: Mapping[str, int], vector: NDArray[np.float32]
    ) -> Candidate:
        columns = self._columns
        return Candidate(
            ref=EventRef(columns.id(place), from_microseconds(int(columns["timestamp"][place]))),
            arms=arms,
            conversation_id=columns.name("conversation", place) or "",
            counts=counts,
            length=int(columns["length"][place]),
            vector=vector if columns["embedded"][place] else None,
            role=columns.name("role", place) or "",
            speaker=columns.name("speaker", place),
            importance=float(columns["importance"][place]),
        )

    def _threshold(self, _counted: Places) -> Mask | None:
        request = self._request
        if self._vectors is None:
            mask = np.zeros(len(self._columns), dtype=np.bool_)
            mask[_together(places for places, _ in self._counts.values())] = True
            return mask
        return None if request.min_similarity is None else self._vectors.reaching(request.min_similarity)


def _statistics(columns: UserColumns, counts: Mapping[str, tuple[Places, NDArray[np.int64]]]) -> TermStatistics:
    """Over all that is not private."""
    public = columns["alive"] & ~columns["private"]
    frequency = {term: int(np.count_nonzero(public[places])) for term, (places, _) in counts.items()}
    return TermStatistics(int(np.count_nonzero(public)), int(columns["length"][public].sum()), frequency)


def _together(arrays: Iterable[Places]) -> Places:
    found = list(arrays)
    return np.concatenate(found) if found else np.zeros(0, dtype=np.int64)
