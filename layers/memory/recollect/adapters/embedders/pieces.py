"""A text as a model reads it, and what makes it so."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Pieces:
    """A text in ids of the model's vocabulary, its marks and the prefix's pieces among them.

    `spans`: {place in `ids`: (start, end)} of the text's own pieces, in characters of the text, ascending.
    """

    ids: tuple[int, ...]
    spans: Mapping[int, tuple[int, int]]


class PieceTokenizer(Protocol):
    """Splits a text, cut to as many pieces as count. Safe to share between threads."""

    def pieces(self, text: str, prefix: str = "") -> Pieces: ...
