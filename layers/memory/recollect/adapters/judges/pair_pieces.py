"""A pair of statements as the pieces that the model reads: `<s> newer </s></s> older </s>`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from recollect.adapters.embedders.onnx_session import acceptable
from recollect.adapters.embedders.unigram import Unigram
from recollect.contradictions.pairs import StatementPair

MOST_PIECES: Final = (64, 48)
"""Of the newer and the older: a pair of more costs more than 10 ms of a core."""
MARKS: Final = 2 * len(MOST_PIECES)
"""Of a pair, those of an empty text too."""
MOST_LENGTH: Final = sum(MOST_PIECES) + MARKS
"""Of all pieces and marks of a pair."""

_BEGIN, _END = 0, 2

SplitPieces = Callable[[str], Sequence[int]]
"""The ids of a text's pieces, without marks."""


def splitting(tokenizer: Unigram, most_pieces: int, cached_texts: int) -> SplitPieces:
    """Splits the beginning of a text, enough for so many pieces; the last texts are kept."""

    @lru_cache(cached_texts)
    def split(text: str) -> tuple[int, ...]:
        return tuple(tokenizer.pieces(acceptable(text, most_pieces)).ids[1:-1])

    return split


@dataclass(frozen=True, slots=True)
class PairPieces:
    """The ids of a pair, and for each the segment that it is of: 0 of the newer, 1 of the older."""

    ids: tuple[int, ...]
    segments: tuple[int, ...]


def pieces_of(pair: StatementPair, split: SplitPieces) -> PairPieces:
    """Each statement is cut where the model's reading ends."""
    newer, older = (split(text)[:most] for text, most in zip((pair.newer, pair.older), MOST_PIECES, strict=True))
    return joined(newer, older)


def joined(one: Sequence[int], other: Sequence[int]) -> PairPieces:
    """Two runs of pieces as one input, with their marks."""
    first, second = (_BEGIN, *one, _END), (_END, *other, _END)
    return PairPieces((*first, *second), (*[0] * len(first), *[1] * len(second)))


def places_of(pair: StatementPair, tokenizer: Unigram) -> dict[int, tuple[int, int]]:
    """Where in the joined input each piece of the older is, and the characters of the older that it is made of."""
    newer, older = (tokenizer.pieces(acceptable(text, max(MOST_PIECES))) for text in (pair.newer, pair.older))
    before = min(len(newer.ids) - len(MOST_PIECES), MOST_PIECES[0]) + len(MOST_PIECES)
    spans = {place: span for place, span in older.spans.items() if place <= MOST_PIECES[1]}
    return {before + place: span for place, span in spans.items()}
