"""A pair of statements as the pieces that the model reads.

`<s> newer </s></s> older </s></s> before_newer </s></s> before_older </s>`; what lies before a statement is cut at its
beginning, since its end is what the statement answers.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from recollect.contradictions.pairs import StatementPair

MOST_PIECES: Final = (64, 48, 16, 16)
"""Of the newer, the older, and what lies before each: a pair of more costs more than 10 ms of a core."""
MOST_LENGTH: Final = sum(MOST_PIECES) + 2 * len(MOST_PIECES)
"""Of all pieces and marks of a pair."""

_BEGIN, _END = 0, 2
_STATEMENTS = 2

SplitPieces = Callable[[str], Sequence[int]]
"""The ids of a text's pieces, without marks."""


@dataclass(frozen=True, slots=True)
class PairPieces:
    """The ids of a pair, and for each the segment that it is of."""

    ids: tuple[int, ...]
    segments: tuple[int, ...]


def pieces_of(pair: StatementPair, split: SplitPieces) -> PairPieces:
    """A statement without anything before it has no such segment."""
    ids, segments = [_BEGIN], [0]
    for segment, text in enumerate((pair.newer, pair.older, pair.before_newer, pair.before_older)):
        if text or segment < _STATEMENTS:
            shown = [*[_END] * bool(segment), *_cut(split(text), segment), _END]
            ids += shown
            segments += [segment] * len(shown)
    return PairPieces(tuple(ids), tuple(segments))


def _cut(pieces: Sequence[int], segment: int) -> Sequence[int]:
    most = MOST_PIECES[segment]
    return pieces[:most] if segment < _STATEMENTS else pieces[-most:]
