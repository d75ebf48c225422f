"""A SentencePiece Unigram tokenizer that loads in 0.01 s: the most likely pieces of each word, with their places.

A text's characters are replaced by a map (compatibility characters by plain ones, every kind of blank by one), runs of
blanks count as one, and a word carries the blank before it as U+2581. No piece holds that mark but at its beginning, so
words are split one at a time, and the last words are cached.

The file is the hash table in use: a dict of 250,000 pieces takes 0.1 s and 50 MB to make, this
0.01 s and 8 MB to read. The file is a line of JSON and then, little-endian: where each piece begins (u32, one more than
pieces), their scores (f32), the table's slots (u32), its bits, and the pieces in UTF-8. A piece for a mark is
empty: no text contains it.
"""

import json
import re
import sys
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, islice, pairwise
from pathlib import Path
from typing import TypeVar
from zlib import crc32

from recollect.core.vectors import FloatArray

N = TypeVar("N", int, float)

_BLANK = "\u2581"
# The first word needs no blank before it and may be empty; blanks at the end are a word too.
_WORD = re.compile(r"(?P<blanks>\A *| +)(?P<body>[^ ]*)")
_REMEMBERED_WORDS = 8192
# A word longer than this is split anew each time: text without blanks would fill the memory for words.
_LONGEST_REMEMBERED = 32
_FORMAT = "unigram.1"
# SentencePiece gives a character without a piece ten less than the least likely piece.
_UNKNOWN_BELOW_LEAST = 10


@dataclass(frozen=True, slots=True)
class Pieces:
    """A text in ids of the model's vocabulary, its marks and the prefix's pieces among them.

    `spans`: {place in `ids`: (start, end)} of the text's own pieces, in characters of the text, ascending.
    """

    ids: tuple[int, ...]
    spans: Mapping[int, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Pieces of a Unigram tokenizer with their log probabilities, and what characters are replaced by beforehand."""

    pieces: tuple[str, ...]
    scores: FloatArray
    begin: int
    end: int
    unknown: int
    replacements: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class PieceTable:
    """Finds the pieces that begin at a place of a text. It also has their beginnings, as set bits: most of what might
    be a piece is ruled out after two or three characters.

    `text`: all pieces in UTF-8, one after another; `starts`: where each begins, and the end.
    `slots`: open addressing by CRC-32, a power of two of them; each holds an id and one, or 0, and a taken one sends on
    to the next.
    `beginnings`: a bit for each CRC-32 that the first characters of some piece have, a power of two of bits.
    """

    text: bytes
    starts: "array[int]"
    slots: "array[int]"
    beginnings: bytes

    def starting_at(self, characters: Sequence[bytes], place: int) -> Iterator[tuple[int, int]]:
        """(end, id) of each piece that begins at a place of characters in UTF-8, the shortest first."""
        starts, last_slot, last_bit = self.starts, len(self.slots) - 1, 8 * len(self.beginnings) - 1
        key, code = b"", 0
        for end in range(place, len(characters)):
            key, code = key + characters[end], crc32(characters[end], code)
            if not self.beginnings[(code & last_bit) >> 3] >> (code & 7) & 1:
                return
            slot = code & last_slot
            while (found := self.slots[slot]) and self.text[starts[found - 1] : starts[found]] != key:
                slot = (slot + 1) & last_slot
            if found:
                yield end + 1, found - 1


def made_table(pieces: Sequence[str]) -> PieceTable:
    """The table of pieces by id; an empty one is never found. Raises ValueError where two are alike."""
    encoded = [piece.encode("utf-8") for piece in pieces]
    if len(set(filter(None, encoded))) != sum(map(bool, encoded)):
        raise ValueError("a vocabulary holds each piece once")
    starts = array("I", accumulate(map(len, encoded), initial=0))
    return PieceTable(b"".join(encoded), starts, _slots(encoded), _beginnings(pieces))


def _slots(encoded: Sequence[bytes]) -> "array[int]":
    """At most half of them taken."""
    slots = array("I", [0]) * (1 << (2 * len(encoded) - 1).bit_length())
    for place, key in enumerate(encoded):
        slot = crc32(key) & (len(slots) - 1)
        while key and slots[slot]:
            slot = (slot + 1) & (len(slots) - 1)
        if key:
            slots[slot] = place + 1
    return slots


def _beginnings(pieces: Sequence[str]) -> bytes:
    """At least sixteen bits a piece: one false beginning in ten passes, and is looked up in vain."""
    bits = bytearray(1 << (2 * len(pieces) - 1).bit_length())
    for piece in pieces:
        code = 0
        for character in piece:
            code = crc32(character.encode("utf-8"), code)
            bits[(code & (8 * len(bits) - 1)) >> 3] |= 1 << (code & 7)
    return bytes(bits)


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


def unigram_bytes(vocabulary: Vocabulary) -> bytes:
    """The file's content. Raises ValueError where two pieces are alike."""
    scores = vocabulary.scores.tolist()
    table = made_table([p if score < 0 else "" for p, score in zip(vocabulary.pieces, scores, strict=True)])
    numbers = (_little(table.starts), _little(array("f", scores)), _little(table.slots))
    parts = [*(one.tobytes() for one in numbers), table.beginnings, table.text]
    header = {
        "format": _FORMAT,
        "sizes": [len(part) for part in parts],
        "begin": vocabulary.begin,
        "end": vocabulary.end,
        "unknown": vocabulary.unknown,
        "unknown_score": min(scores) - _UNKNOWN_BELOW_LEAST,
        "replacements": dict(vocabulary.replacements),
    }
    return json.dumps(header).encode("ascii") + b"\n" + b"".join(parts)


def read_unigram(path: Path, most: int) -> Unigram:
    """The tokenizer of a file, which cuts texts to `most` pieces. Raises OSError, ValueError, KeyError or TypeError."""
    first, _, rest = path.read_bytes().partition(b"\n")
    header = json.loads(first)
    if header.pop("format") != _FORMAT:
        raise ValueError("no vocabulary that this can read")
    ends = list(accumulate(header.pop("sizes"), initial=0))
    if ends[-1] != len(rest):
        raise ValueError("the vocabulary's file is cut short")
    starts, scores, slots, beginnings, text = (rest[start:end] for start, end in pairwise(ends))
    table = PieceTable(text, _little(array("I", starts)), _little(array("I", slots)), beginnings)
    return Unigram(UnigramVocabulary(table, _little(array("f", scores)), **header), most)


def _little(numbers: "array[N]") -> "array[N]":
    """The same numbers in the order of bytes of the file, or back."""
    if sys.byteorder == "little":
        return numbers
    turned = numbers[:]
    turned.byteswap()
    return turned
