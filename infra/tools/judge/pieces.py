"""Batches of pairs for training, padded alike."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from infra.tools.judge.examples import Example
from recollect.adapters.embedders.unigram import Unigram
from recollect.adapters.judges.pair_pieces import pieces_of
from recollect.contradictions.pairs import StatementPair

_PADDING = 1
_MULTIPLE = 8


@dataclass(frozen=True, slots=True)
class Encoded:
    """The pieces of a pair, and for each the segment that it is of."""

    ids: NDArray[np.int32]
    segments: NDArray[np.int8]


def encode(tokenizer: Unigram, one: Example) -> Encoded:
    """A pair as the encoder reads it."""
    pair = StatementPair(one.new, one.old)
    found = pieces_of(pair, lambda text: tokenizer.pieces(text).ids[1:-1])
    return Encoded(np.array(found.ids, np.int32), np.array(found.segments, np.int8))


def batch_of(rows: Sequence[Encoded]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Ids and segments; the segment of padding is -1."""
    length = -(-max(len(row.ids) for row in rows) // _MULTIPLE) * _MULTIPLE
    ids = np.full((len(rows), length), _PADDING, np.int64)
    segments = np.full((len(rows), length), -1, np.int64)
    for at, row in enumerate(rows):
        ids[at, : len(row.ids)], segments[at, : len(row.ids)] = row.ids, row.segments
    return ids, segments
