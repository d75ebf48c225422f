"""A Unigram vocabulary on disk, for fast loading: a line of JSON, then a `PieceTable` and the pieces' scores.

Little-endian, after the line: where each piece begins (u32, one more than pieces), their scores (f32), the table's
slots (u32), its bits, and the pieces in UTF-8. A piece that stands for a mark is empty: no text ever reads as one.
"""

import json
import sys
from array import array
from itertools import accumulate, pairwise
from pathlib import Path

from recollect.adapters.embedders.piece_table import PieceTable, made_table
from recollect.adapters.embedders.q4_file import Vocabulary
from recollect.adapters.embedders.unigram import Unigram, UnigramVocabulary

_FORMAT = "unigram.1"
# SentencePiece gives a character without a piece ten less than the least likely piece.
_UNKNOWN_BELOW_LEAST = 10


def unigram_bytes(vocabulary: Vocabulary) -> bytes:
    """The file's content. Raises ValueError where two pieces are alike."""
    scores = vocabulary.scores.tolist()
    table = made_table([p if score < 0 else "" for p, score in zip(vocabulary.pieces, scores, strict=True)])
    parts = [_little(table.starts), _little(array("f", scores)), _little(table.slots), table.beginnings, table.text]
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
    table = PieceTable(text, _integers(starts), _integers(slots), beginnings)
    return Unigram(UnigramVocabulary(table, _floats(scores), **header), most)


def _little(numbers: "array[int] | array[float]") -> bytes:
    turned = numbers[:]
    if sys.byteorder == "big":
        turned.byteswap()
    return turned.tobytes()


def _integers(content: bytes) -> "array[int]":
    numbers = array("I", content)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def _floats(content: bytes) -> "array[float]":
    numbers = array("f", content)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers
