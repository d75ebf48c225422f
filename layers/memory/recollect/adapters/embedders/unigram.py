"""A SentencePiece Unigram tokenizer that loads in 0.01 s: the most likely pieces of each word, with their places.

A text's characters are replaced by a map (compatibility characters by plain ones, every kind of blank by one), runs of
blanks count as one, and a word carries the blank before it as U+2581. No piece holds that mark but at its beginning, so
words are split one at a time, and a word that was met lately is not split again.
"""

import re
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from recollect.adapters.embedders.piece_table import PieceTable
from recollect.adapters.embedders.pieces import Pieces

_BLANK = "\u2581"
# The first word needs no blank before it and may be empty; blanks at the end are a word too.
_WORD = re.compile(r"(?P<blanks>\A *| +)(?P<body>[^ ]*)")
_REMEMBERED_WORDS = 8192
# A word longer than this is split anew each time: text without blanks would fill the memory for words.
_LONGEST_REMEMBERED = 32


@dataclass(frozen=True, slots=True)
class UnigramVocabulary:
    """Pieces and their log probabilities by id; what characters are replaced by beforehand.

    A character that no piece holds is `unknown`, each by itself.
    """

    pieces: PieceTable
    scores: "array[float]"
    begin: int
    end: int
    unknown: int
    unknown_score: float
    replacements: Mapping[str, str]


class Unigram:
    """Splits texts into pieces, `most` of them with the two marks. Safe to share between threads."""

    def __init__(self, vocabulary: UnigramVocabulary, most: int) -> None:
        self._begin, self._end, self._unknown = vocabulary.begin, vocabulary.end, vocabulary.unknown
        self._unknown_score, self._most = vocabulary.unknown_score, most
        self._table, self._scores = vocabulary.pieces, vocabulary.scores
        self._replaced = str.maketrans(dict(vocabulary.replacements))
        self._other_lengths = {old for old, new in vocabulary.replacements.items() if len(new) != 1}
        self._remembered = lru_cache(_REMEMBERED_WORDS)(self._split)

    def pieces(self, text: str, prefix: str = "") -> Pieces:
        """The first pieces of prefix and text, between the two marks; those of the prefix have no span."""
        whole = prefix + text
        normal = whole.translate(self._replaced)
        origins = range(len(whole)) if self._other_lengths.isdisjoint(whole) else self._origins(whole)
        ids, spans = [self._begin], {}
        for piece, start, end in islice(self._placed(normal), self._most - 2):
            first, last = (origins[start] - len(prefix), origins[end - 1] + 1 - len(prefix)) if end > start else (0, 0)
            if last > 0:
                spans[len(ids)] = (max(first, 0), last)
            ids.append(piece)
        return Pieces((*ids, self._end), spans)

    def _origins(self, text: str) -> list[int]:
        """For each character of the normal text, the character of `text` that it comes from."""
        replaced = self._replaced
        return [place for place, c in enumerate(text) for _ in range(len(replaced.get(ord(c), c)))]

    def _placed(self, normal: str) -> Iterator[tuple[int, int, int]]:
        """Each piece and its place in the normal text; the blank before a word is no part of the piece it opens."""
        for match in _WORD.finditer(normal):
            blanks, body = match.span("blanks"), match.group("body")
            word = _BLANK + body
            split = self._remembered if len(word) <= _LONGEST_REMEMBERED else self._split
            at = blanks[1] - 1
            for piece, length in split(word):
                yield (piece, at, at + length) if at >= blanks[1] else (piece, *self._opening(blanks, length))
                at += length

    @staticmethod
    def _opening(blanks: tuple[int, int], length: int) -> tuple[int, int]:
        return blanks if length == 1 else (blanks[1], blanks[1] + length - 1)

    def _split(self, word: str) -> tuple[tuple[int, int], ...]:
        """The likeliest pieces of a word, each with its length. Of equals the one whose last piece is longest."""
        characters = [character.encode("utf-8", "surrogatepass") for character in word]
        best = [0.0] + [float("-inf")] * len(word)
        chosen = [(self._unknown, 0)] * (len(word) + 1)
        for start in range(len(word)):
            so_far = best[start]
            for end, piece in self._table.starting_at(characters, start):
                if so_far + self._scores[piece] > best[end]:
                    best[end], chosen[end] = so_far + self._scores[piece], (piece, end - start)
            if so_far + self._unknown_score > best[start + 1]:
                best[start + 1], chosen[start + 1] = so_far + self._unknown_score, (self._unknown, 1)
        return _followed_back(chosen)


def _followed_back(chosen: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    found, end = [], len(chosen) - 1
    while end > 0:
        found.append(chosen[end])
        end -= chosen[end][1]
    return tuple(reversed(found))
