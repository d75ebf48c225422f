"""The vector arm: the exact cosine of a query to every vector of a user; and which positions lead by a score."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.adapters.local.admission import Mask
from recollect.adapters.local.columns import Columns
from recollect.domain.embedding import FloatArray
from recollect.domain.errors import InvalidInput

DIGITS = 6
"""To which a cosine is rounded, as the domain does, so that noise of the arithmetic decides no tie."""
_TOLERANCE = 1e-9
_NOISE = 5e-6


class VectorArm:
    """One query against one user's matrix: float32 for all of it, float64 for what is near a boundary."""

    def __init__(self, columns: Columns, vector: FloatArray) -> None:
        """Raises InvalidInput for a vector of another dimension than the matrix."""
        self._columns = columns
        self._query = vector.astype(np.float64) / (float(np.linalg.norm(vector)) or 1.0)
        self._about = self._cosines()

    def leading(self, among: Mask, limit: int) -> dict[int, float]:
        """The best of these positions, with their cosines; none for a query without direction."""
        if not self._query.any():
            return {}
        places = front(self._about, among & self._columns["embedded"], limit, _NOISE)
        return ordered(self._columns, places, self._exact(places), limit)

    def reaching(self, least: float) -> Mask:
        """The positions whose cosine is at least this; none without a vector."""
        reached: Mask = self._about >= least
        near = np.flatnonzero(np.abs(self._about - least) < _NOISE)
        reached[near] = self._exact(near) >= least - _TOLERANCE
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
        """Equal vectors get equal cosines here, wherever in the matrix they stand."""
        if not self._columns.vectors.shape[1]:
            return np.zeros(len(places))
        vectors = self._columns.vectors[places].astype(np.float64)
        norms = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
        found: NDArray[np.float64] = np.einsum("ij,j->i", vectors, self._query) / np.where(norms == 0, 1, norms)
        return np.round(found, DIGITS)


def front(scores: NDArray[Any], among: Mask, limit: int, noise: float) -> NDArray[np.int64]:
    """The positions among which the `limit` highest scores are, whatever order noise puts them in."""
    places = np.flatnonzero(among)
    if len(places) <= limit:
        return places
    values = scores[places]
    least = np.partition(values, -limit)[-limit]
    chosen: NDArray[np.int64] = places[values >= least - noise]
    return chosen


def ordered(columns: Columns, places: NDArray[np.int64], scores: NDArray[np.float64], limit: int) -> dict[int, float]:
    """The highest scores by position, best first, of equals the newer.

    More than `limit` where positions equal in score and time share the last place: their ids decide, elsewhere.
    """
    times = columns["timestamp"][places]
    order = np.lexsort((-times, -scores))
    if len(order) > limit:
        last = order[limit - 1]
        level = (scores > scores[last]) | ((scores == scores[last]) & (times >= times[last]))
        order = order[level[order]]
    return {int(places[i]): float(scores[i]) for i in order}
