"""How similar items are to a query: of each the best of its vectors, exactly."""

from collections.abc import Iterable
from typing import TypeVar

from recollect.core.vectors import FloatArray, unit, unpack_vector

K = TypeVar("K")


def best_cosines(query: FloatArray, packed: Iterable[tuple[K, bytes]]) -> dict[K, float]:
    """The greatest cosine of each key's packed vectors; one of another length is of another space."""
    import numpy as np

    found = [(key, vector) for key, data in packed if (vector := unpack_vector(data)).shape == query.shape]
    if not found:
        return {}
    cosines = np.stack([vector for _, vector in found]) @ unit(query)
    best: dict[K, float] = {}
    for (key, _), cosine in zip(found, cosines.tolist(), strict=True):
        best[key] = max(best.get(key, -1.0), min(1.0, float(cosine)))
    return best
