"""Vectors of texts: their types, how alike two are, and how they are stored.

A vector belongs to one embedder generation; vectors of two generations are never compared. numpy is imported where
it is used: ingest names these types, computes nothing with them, and must start fast.

What stands before a record's own text when it is embedded: who said it, and on which day.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from recollect.core.errors import InvalidInput

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    FloatArray: TypeAlias = NDArray[np.float32]
else:
    FloatArray = Any

_STORED_TYPE = "<f2"
_STORED_BYTES = 2


class TextKind(StrEnum):
    """What a text is to the embedder; some models want another prefix for each."""

    QUERY = "query"
    PASSAGE = "passage"


@dataclass(frozen=True, slots=True)
class TokenVectors:
    """One vector for each piece of a text, without the model's own marks.

    `vectors`: (tokens, dimension), unit length, float32.
    `spans`: one (start, end) for each token, in characters of the text as it was given, end exclusive.
    """

    vectors: FloatArray
    spans: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Encoding:
    """A text as numbers: `vector` is (dimension,), unit length, float32; `tokens` only where asked for and known."""

    vector: FloatArray
    tokens: TokenVectors | None


def cosine(a: FloatArray, b: FloatArray) -> float:
    """Cosine of two vectors' angle, -1 to 1; 0 where one has no length. Raises InvalidInput on unlike shapes."""
    import numpy as np

    if a.shape != b.shape or a.ndim != 1:
        raise InvalidInput(f"vectors of shapes {a.shape} and {b.shape} cannot be compared")
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    lengths = float(np.linalg.norm(wide_a) * np.linalg.norm(wide_b))
    if lengths == 0.0:
        return 0.0
    return float(np.clip(np.dot(wide_a, wide_b) / lengths, -1.0, 1.0))


def unit(vectors: FloatArray) -> FloatArray:
    """The same directions at length 1, along the last axis; what has no length stays zero."""
    import numpy as np

    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return (vectors / np.where(lengths == 0.0, np.float32(1.0), lengths)).astype(np.float32)


def vector_of(values: ArrayLike, dimension: int, loc: Sequence[str | int] = ()) -> FloatArray:
    """Outside numbers as a float32 vector. Raises InvalidInput (with `loc`) unless they are `dimension` finite ones."""
    import numpy as np

    vector = _numbers(values, loc)
    if vector.shape != (dimension,):
        raise InvalidInput(f"a vector of {dimension} numbers is needed, this has the shape {vector.shape}", loc)
    if not np.isfinite(vector).all():
        raise InvalidInput("a vector holds finite float32 numbers only", loc)
    return vector


def _numbers(values: ArrayLike, loc: Sequence[str | int]) -> FloatArray:
    import numpy as np

    try:
        with np.errstate(over="ignore"):
            return np.asarray(values, dtype=np.float32)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidInput("a vector is a list of numbers", loc) from error


def pack_vector(vector: ArrayLike, dimension: int | None = None) -> bytes:
    """The stored form: unit length, little-endian float16, 2 bytes for each number.

    Half precision moves a cosine by less than 0.001 and halves what is stored, read and sent. Every engine keeps
    these bytes, so that all compute the same cosine. Raises InvalidInput as `vector_of` does.
    """
    numbers = _numbers(vector, ())
    wanted = dimension if dimension is not None else numbers.shape[-1] if numbers.ndim else 0
    return unit(vector_of(numbers, wanted)).astype(_STORED_TYPE).tobytes()


def unpack_vector(data: bytes, dimension: int | None = None) -> FloatArray:
    """What `pack_vector` wrote, as float32. Raises InvalidInput where length or numbers are wrong."""
    import numpy as np

    count = dimension if dimension is not None else len(data) // _STORED_BYTES
    if len(data) != _STORED_BYTES * count:
        raise InvalidInput(f"{len(data)} bytes are no vector of {count} float16 numbers")
    return vector_of(np.frombuffer(data, dtype=_STORED_TYPE), count)


_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_DAY: Final = rf"[0-9]{{1,2}} (?:{'|'.join(_MONTHS)}) [0-9]{{4}}"
_HEAD: Final = re.compile(rf"[^\n]{{1,400}}? (?:on {_DAY}|\({_DAY}\)): ")


def written_day(day: datetime) -> str:
    """`8 May 2023`, whatever the locale."""
    return f"{day.day} {_MONTHS[day.month - 1]} {day.year}"


def passage_head(speaker: str, said_at: datetime) -> str:
    """`Anna on 8 May 2023: `."""
    return f"{speaker} on {written_day(said_at)}: "


def own_start(passage: str) -> int:
    """Where a passage's own text begins: after its head, at 0 where it has none or nothing else.

    `Anna (8 May 2023): ` is one too: so stands a sentence quoted in a summary.
    A text that itself begins as a head does is taken for one: it stands in no record's vector then, and alone has one.
    """
    found = _HEAD.match(passage)
    return found.end() if found and found.end() < len(passage) else 0
