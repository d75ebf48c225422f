"""What the indexes that score exactly share: filters over columns, the vector arm, BM25 over columns, ranks, the tally.

One user's documents are columns: position i of each is one document.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from recollect.core.errors import InvalidInput
from recollect.core.filter import Operator
from recollect.core.vectors import FloatArray
from recollect.retrieval.attributes import Asked
from recollect.retrieval.filters import DropReason
from recollect.retrieval.nomination import MOST_STANDING, Arm, Tally
from recollect.text.terms import K1, B, TermStatistics, inverse_document_frequency
from recollect.timeline.timeline import COUNTED_RECORDS

Mask: TypeAlias = NDArray[np.bool_]
Places: TypeAlias = NDArray[np.int64]
"""Positions in the columns."""

COSINE_NOISE = 5e-6
"""How far a cosine in float32 may be from the exact one."""
RESCORED_BESIDES = 48
"""Where cosines are rough: how many positions beyond the limit are looked at exactly, the best of what may matter."""
NEVER = np.iinfo(np.int64).max
"""The time of what does not expire."""
NO_NAME = -1
"""The code of an absent name."""

_COSINE_DIGITS = 6  # as ranking rounds, so that noise of the arithmetic decides no tie
_COSINE_TOLERANCE = 1e-9
_SCORE_DIGITS = 9


class FilterColumns(Protocol):
    """The columns that filters read, by name.

    Times in microseconds, `NEVER` without an expiry: `timestamp`, `recorded_at`, `expires_at`. Flags: `alive`,
    `embedded`, `private`, `superseded`. Codes of names, `NO_NAME` without one: `persona`, `household`, `conversation`,
    `event_type`, `source`, `key`, `space`, `role`. `length` is in terms. `importance` in float64.
    """

    def __len__(self) -> int: ...

    def __getitem__(self, name: str) -> NDArray[Any]: ...

    def code(self, name: str | None) -> int:
        """The code of a name; an unknown name has one that no position has."""

    @property
    def strings(self) -> Sequence[str]:
        """The names by their codes."""


class VectorColumns(FilterColumns, Protocol):
    """Columns with a vector in each position, zero where there is none."""

    @property
    def dimension(self) -> int:
        """Length of the vectors; 0 where there are none."""

    @property
    def noise(self) -> float:
        """How far a cosine of `cosines` may be from the exact one."""

    def cosines(self, query: FloatArray) -> FloatArray:
        """The cosine of each position, about; `query` has length 1."""

    def exact(self, places: Places) -> FloatArray:
        """The vectors of these positions, as they were given."""


@dataclass(frozen=True, slots=True)
class MaskedDocuments:
    """`index_filters.Documents` over columns: a set is a mask of positions; what `every` gives is alive."""

    columns: FilterColumns
    having: Callable[[Asked], Mask]
    """The positions that have a label which is asked for."""

    def named(self, column: str, name: str) -> Mask:
        same: Mask = self.columns[column] == self.columns.code(name)
        return same

    def flagged(self, column: str) -> Mask:
        mask: Mask = self.columns[column]
        return mask

    def unexpired(self, now: int) -> Mask:
        later: Mask = self.columns["expires_at"] > now
        return later

    def timed(self, column: str, operator: Operator, times: Sequence[int]) -> Mask:
        """An expiry may be absent, which is `NEVER`."""
        values = self.columns[column]
        there: Mask = values != NEVER
        if operator is Operator.EXISTS:
            return there
        found: Mask = _COMPARES[operator](values, times[0]) if operator in _COMPARES else np.isin(values, times)
        return there & found

    def valued(self, column: str, suits: Callable[[Any], bool]) -> Mask:
        """Asked once for each value of the column."""
        values, places = np.unique(self.columns[column], return_inverse=True)
        named = np.issubdtype(values.dtype, np.integer)
        strings = self.columns.strings if named else ()
        found = [suits(_name(strings, value) if named else value) for value in values.tolist()]
        mask: Mask = np.array(found, dtype=np.bool_)[places]
        return mask

    def labelled(self, asked: Asked) -> Mask:
        return self.having(asked)

    def every(self, sets: Sequence[Mask]) -> Mask:
        mask = self.columns["alive"].copy()
        for one in sets:
            mask &= one
        return mask

    def some(self, sets: Sequence[Mask]) -> Mask:
        mask = np.zeros(len(self.columns), dtype=np.bool_)
        for one in sets:
            mask |= one
        return mask

    def other(self, one: Mask) -> Mask:
        return ~one


_COMPARES: Mapping[Operator, Callable[[Any, Any], Any]] = {
    Operator.GT: operator.gt,
    Operator.GTE: operator.ge,
    Operator.LT: operator.lt,
    Operator.LTE: operator.le,
}


def _name(strings: Sequence[str], code: int) -> str | None:
    return None if code == NO_NAME else strings[code]


def tally(
    columns: FilterColumns, masks: Iterable[tuple[DropReason, Mask]], threshold: Callable[[Places], Mask | None]
) -> Tally:
    """Over the last 10,000 positions: the first reason that drops each, `threshold` the last of them."""
    alive = np.flatnonzero(columns["alive"])
    counted = alive[-COUNTED_RECORDS:]
    similar = threshold(counted)
    reasons = [*masks, *([] if similar is None else [(DropReason.THRESHOLD, similar)])]
    dropped: Counter[DropReason] = Counter()
    left = np.ones(len(counted), dtype=np.bool_)
    for reason, mask in reasons:
        failing = left & ~mask[counted]
        dropped[reason] += int(np.count_nonzero(failing))
        left &= ~failing
    return Tally(len(counted), {r: n for r, n in dropped.items() if n}, exact=len(counted) == len(alive))


class VectorArm:
    """One vector against one user's: about for all positions, exactly for those near a boundary."""

    def __init__(self, columns: VectorColumns, vector: FloatArray) -> None:
        """Raises InvalidInput for a vector of another dimension than the columns'."""
        self._columns = columns
        self._query = vector.astype(np.float64) / (float(np.linalg.norm(vector)) or 1.0)
        self._about = self._cosines()

    def near(self, among: Mask, limit: int) -> Places:
        """The positions of which one may be among the best of these; none for a vector of zeros."""
        if not self._query.any():
            return np.zeros(0, dtype=np.int64)
        places = front(self._about, among & self._columns["embedded"], limit, self._columns.noise)
        most = limit + RESCORED_BESIDES
        if len(places) <= most or self._columns.noise <= COSINE_NOISE:
            return places
        best: Places = places[np.argpartition(-self._about[places], most)[:most]]
        return np.sort(best)

    def leading(self, among: Mask, limit: int) -> dict[int, float]:
        """The best of these positions, with their cosines."""
        places = self.near(among, limit)
        return ordered(self._columns, places, self._exact(places), limit)

    def doubtful(self, least: float) -> Places:
        """The positions of which a rough cosine does not tell whether they reach this one."""
        near: Places = np.flatnonzero(self._columns["embedded"] & (np.abs(self._about - least) < self._columns.noise))
        return near

    def reaching(self, least: float) -> Mask:
        """The positions whose cosine is at least this, of those with a vector."""
        reached: Mask = self._about >= least
        near = self.doubtful(least)
        reached[near] = self._exact(near) >= least - _COSINE_TOLERANCE
        reached &= self._columns["embedded"]
        return reached

    def _cosines(self) -> FloatArray:
        dimension = self._columns.dimension
        if not dimension:
            return np.zeros(len(self._columns), dtype=np.float32)
        if self._query.shape != (dimension,):
            raise InvalidInput(f"the index holds vectors of {dimension} numbers, not {len(self._query)}")
        return self._columns.cosines(self._query.astype(np.float32))

    def _exact(self, places: Places) -> NDArray[np.float64]:
        """Equal vectors have equal cosines here, wherever in the columns they are."""
        if not self._columns.dimension or not len(places):
            return np.zeros(len(places))
        vectors = self._columns.exact(places).astype(np.float64)
        norms = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
        found: NDArray[np.float64] = np.einsum("ij,j->i", vectors, self._query) / np.where(norms == 0, 1, norms)
        return np.round(found, _COSINE_DIGITS)


def farthest(columns: VectorColumns, among: Mask, direction: FloatArray) -> dict[Arm, dict[int, float]]:
    """The best of these positions in a direction, as the leaders of the vector arm."""
    return {Arm.VECTOR: VectorArm(columns, direction).leading(among, MOST_STANDING)}


def add_term(
    scores: NDArray[np.float64],
    statistics: TermStatistics,
    term: str,
    places: Places,
    counts: NDArray[np.int64],
    lengths: NDArray[Any],
) -> None:
    """Adds to these positions what a term gives them by BM25: its counts there, and the lengths of the documents."""
    average = statistics.total_terms / statistics.documents if statistics.documents else 1.0
    penalty = K1 * (1 - B + B * lengths / (average or 1.0))
    scores[places] += inverse_document_frequency(statistics, term) * counts * (K1 + 1) / (counts + penalty)


def best_by_words(columns: FilterColumns, scores: NDArray[np.float64], limit: int) -> dict[int, float]:
    """The best positions of those with a score."""
    places = front(scores, scores > 0, limit, 10.0**-_SCORE_DIGITS)
    return ordered(columns, places, np.round(scores[places], _SCORE_DIGITS), limit)


def front(scores: NDArray[Any], among: Mask, limit: int, noise: float) -> Places:
    """The positions that have the `limit` highest scores, and those within noise of them."""
    places = np.flatnonzero(among)
    if len(places) <= limit:
        return places
    values = scores[places]
    least = np.partition(values, -limit)[-limit]
    chosen: Places = places[values >= least - noise]
    return chosen


def ordered(columns: FilterColumns, places: Places, scores: NDArray[np.float64], limit: int) -> dict[int, float]:
    """The highest scores by position, best first, of equals the newer.

    More than `limit` where positions of equal score and time share the last place: the caller sorts them by id.
    """
    times = columns["timestamp"][places]
    order = np.lexsort((-times, -scores))
    if len(order) > limit:
        last = order[limit - 1]
        level = (scores > scores[last]) | ((scores == scores[last]) & (times >= times[last]))
        order = order[level[order]]
    return dict(zip(places[order].tolist(), scores[order].tolist(), strict=True))


def ranks(
    leaders: Mapping[Arm, Mapping[int, float]], tie: Callable[[int], tuple[Any, ...]], limit: int
) -> dict[int, dict[Arm, int]]:
    """The rank of each position in each arm that leads with it; equal scores go by `tie`, the greatest first."""
    found: dict[int, dict[Arm, int]] = {}
    for arm, scores in leaders.items():
        order = sorted(((score, *tie(place), place) for place, score in scores.items()), reverse=True)
        for rank, one in enumerate(order[:limit], start=1):
            found.setdefault(int(one[-1]), {})[arm] = rank
    return found
