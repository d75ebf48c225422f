"""What the indexes that score exactly share: filters over columns, the vector arm, BM25 over columns, ranks, the tally.

One user's documents are columns: position i of each is one document. Filters follow `retrieval.filters.drop_reason`.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from recollect.core.errors import InvalidInput
from recollect.core.filter import MISSING, ORDERING, AllOf, Condition, Filter, Not, Operator, fulfils
from recollect.core.scope import Scope
from recollect.core.time import microseconds
from recollect.core.vectors import FloatArray
from recollect.retrieval.attributes import (
    DECIDED,
    NAMES,
    NUMBER,
    TAGS,
    TIMES,
    Asked,
    Span,
    always_decided,
    asked_of,
    instants,
    opposite,
)
from recollect.retrieval.filters import DropReason, SearchFilters, metadata_facets
from recollect.retrieval.nomination import ASKING, Arm, Tally
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


Labelled: TypeAlias = Callable[[Asked], Mask]
"""The positions that have a label which is asked for."""


def reason_masks(
    columns: FilterColumns, scope: Scope, filters: SearchFilters, labelled: Labelled
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
    equal = labels_of(filters.tags, metadata_facets(filters.metadata))
    asked = [*(Asked((label,)) for label in equal), *(one.behind(_ATTRIBUTE) for one in filters.labels)]
    yield from ((DropReason.FILTER, mask) for mask in (*_named(columns, filters), *map(labelled, asked)))
    yield DropReason.FILTER, _Where(columns, labelled).masks(filters.where)[1]


@dataclass(frozen=True, slots=True)
class _Where:
    """A filter over columns and labels."""

    columns: FilterColumns
    labelled: Labelled

    def masks(self, wanted: Filter) -> tuple[Mask, Mask]:
        """The positions where the filter holds for certain, and those where it may hold."""
        if isinstance(wanted, Condition):
            return self._of_condition(wanted)
        if isinstance(wanted, Not):
            surely, perhaps = self.masks(wanted.filter)
            return ~perhaps, ~surely
        join = np.logical_and if isinstance(wanted, AllOf) else np.logical_or
        parts = [self.masks(one) for one in wanted.filters]
        start = np.full(len(self.columns), isinstance(wanted, AllOf))
        return join.reduce([start, *(one for one, _ in parts)]), join.reduce([start, *(one for _, one in parts)])

    def _of_condition(self, one: Condition) -> tuple[Mask, Mask]:
        column = self._of_column(one)
        if column is not None:
            return column, column
        asked = tag_asked(one) if one.path[0] == TAGS else asked_of(one)
        if asked is None:
            nowhere = np.zeros(len(self.columns), dtype=np.bool_)
            return nowhere, ~nowhere
        found = self.labelled(asked if one.path[0] == TAGS else asked.behind(_ATTRIBUTE))
        found = ~found if opposite(one) else found
        if one.path[0] == TAGS or always_decided(one):
            return found, found
        decided = self.labelled(Asked((_ATTRIBUTE + DECIDED,)))
        return found & decided, found | ~decided

    def _of_column(self, one: Condition) -> Mask | None:
        """None for a field that is no column."""
        name = one.path[0]
        if name in NAMES:
            return self._of_names(self.columns[name.removesuffix("_id")], one)
        if name in TIMES:
            return _of_times(self.columns[name], one)
        return _by_value(self.columns[name], one, float) if name == NUMBER else None

    def _of_names(self, codes: NDArray[np.int32], one: Condition) -> Mask:
        strings = self.columns.strings

        def name(code: float) -> Any:
            text = "" if code == NO_NAME else strings[int(code)]
            return MISSING if not text else "user" if text == ASKING and one.path[0] == "role" else text

        return _by_value(codes, one, name)


def _by_value(column: NDArray[Any], one: Condition, value_of: Callable[[float], Any]) -> Mask:
    """The reference itself, once for each value of a column."""
    values, places = np.unique(column, return_inverse=True)
    found = [fulfils(value_of(value), one.operator, one.value) for value in values.tolist()]
    mask: Mask = np.array(found, dtype=np.bool_)[places]
    return mask


def _of_times(column: NDArray[np.int64], one: Condition) -> Mask:
    there: Mask = column != NEVER
    if one.operator is Operator.EXISTS:
        return there if one.value else ~there
    wanted = instants(one.value)
    if one.operator in ORDERING:
        compared: Mask = there & (_COMPARES[one.operator](column, wanted[0]) if wanted else False)
        return compared
    equal: Mask = there & np.isin(column, wanted)
    return ~equal if one.operator is Operator.NE else equal


_COMPARES: Mapping[Operator, Callable[[Any, Any], Any]] = {
    Operator.GT: operator.gt,
    Operator.GTE: operator.ge,
    Operator.LT: operator.lt,
    Operator.LTE: operator.le,
}
_ATTRIBUTE = "a"


def tag_asked(one: Condition) -> Asked | None:
    """What a condition asks of the tags, as labels; None where they do not tell: their order is not kept."""
    if one.operator is Operator.CONTAINS:
        return Asked((tag_label(one.value),)) if isinstance(one.value, str) else Asked()
    if one.operator is Operator.EXISTS:
        return Asked(spans=(Span(tag_label(""), chr(ord(tag_label("")) + 1)),))
    return Asked() if one.operator in ORDERING else None


def filter_mask(columns: FilterColumns, found: Iterable[tuple[DropReason, Mask]]) -> Mask:
    """The positions that no reason drops."""
    mask = columns["alive"].copy()
    for _, passing in found:
        mask &= passing
    return mask


def superseded_mask(columns: FilterColumns, found: Iterable[tuple[DropReason, Mask]]) -> Mask:
    """The positions that supersession alone drops."""
    mask = filter_mask(columns, (pair for pair in found if pair[0] is not DropReason.SUPERSEDED))
    mask &= columns["superseded"]
    return mask


def _in_time(columns: FilterColumns, filters: SearchFilters) -> Iterator[Mask]:
    bounds = (
        ("timestamp", filters.window.start, np.greater_equal),
        ("timestamp", filters.latest, np.less_equal),
        ("recorded_at", filters.recorded_as_of, np.less_equal),
    )
    given = ((name, np.int64(microseconds(bound)), compare) for name, bound, compare in bounds if bound is not None)
    return (compare(columns[name], bound) for name, bound, compare in given)


def _named(columns: FilterColumns, filters: SearchFilters) -> Iterator[Mask]:
    wanted = (
        ("conversation", filters.conversation_id),
        ("event_type", filters.event_type),
        ("key", filters.key),
        ("space", filters.space_id),
        ("source", filters.source),
    )
    return (columns[name] == columns.code(value) for name, value in wanted if value is not None)


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
    return {int(places[i]): float(scores[i]) for i in order}


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


def labels_of(tags: Sequence[str], facets: Sequence[str], attributes: Sequence[str] = ()) -> list[str]:
    """Tags, facets of the metadata and attributes as labels that never meet."""
    return [*map(tag_label, tags), *map(facet_label, facets), *(_ATTRIBUTE + one for one in attributes)]


def tag_label(tag: str) -> str:
    """A tag as a label."""
    return f"t{tag}"


def facet_label(facet: str) -> str:
    """A facet of the metadata as a label."""
    return f"m{facet}"
