"""Batches of pairs for training, padded alike."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_PADDING = 1
_MULTIPLE = 8


@dataclass(frozen=True, slots=True)
class Encoded:
    """The pieces of a pair, and for each the segment that it is of."""

    ids: NDArray[np.int32]
    segments: NDArray[np.int8]


def batch_of(rows: Sequence[Encoded]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Ids and segments; the segment of padding is -1."""
    length = -(-max(len(row.ids) for row in rows) // _MULTIPLE) * _MULTIPLE
    ids = np.full((len(rows), length), _PADDING, np.int64)
    segments = np.full((len(rows), length), -1, np.int64)
    for at, row in enumerate(rows):
        ids[at, : len(row.ids)], segments[at, : len(row.ids)] = row.ids, row.segments
    return ids, segments
