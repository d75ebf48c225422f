"""Texts to ids: the input of the pair encoder.

`<s> newer </s></s> older </s></s> before newer </s></s> before older </s>`; what lies before a turn is cut at its
beginning, since its end is what the turn answers.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from infra.tools.judge.examples import Example
from recollect.adapters.embedders.unigram import Unigram

MOST_PIECES = (64, 48, 16, 16)
"""Of the newer, the older, and what lies before each: a pair of more costs more than 10 ms of a core."""
_BEGIN, _PADDING, _END = 0, 1, 2
_MULTIPLE = 8


@dataclass(frozen=True, slots=True)
class Encoded:
    """The pieces of a pair, and for each the segment that it is of."""

    ids: NDArray[np.int32]
    segments: NDArray[np.int8]


def encode(tokenizer: Unigram, one: Example) -> Encoded:
    """A pair as the encoder reads it; a turn without one before it has no such segment."""
    ids, segments = [_BEGIN], [0]
    for segment, text in enumerate((one.new, one.old, one.before_new, one.before_old)):
        if text or segment < 2:
            pieces, most = list(tokenizer.pieces(text).ids[1:-1]), MOST_PIECES[segment]
            shown = [_END] * bool(segment) + (pieces[:most] if segment < 2 else pieces[-most:]) + [_END]
            ids += shown
            segments += [segment] * len(shown)
    return Encoded(np.array(ids, np.int32), np.array(segments, np.int8))


def batch_of(rows: Sequence[Encoded]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Ids and segments, padded alike; the segment of padding is -1."""
    length = -(-max(len(row.ids) for row in rows) // _MULTIPLE) * _MULTIPLE
    ids = np.full((len(rows), length), _PADDING, np.int64)
    segments = np.full((len(rows), length), -1, np.int64)
    for at, row in enumerate(rows):
        ids[at, : len(row.ids)], segments[at, : len(row.ids)] = row.ids, row.segments
    return ids, segments
