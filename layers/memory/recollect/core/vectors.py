"""Vectors of texts: their types, their similarity, their stored form, and the head of an embedded passage.

A vector belongs to one embedder generation; vectors of two generations are never compared. Functions import numpy
themselves: ingest names these types without computing, and must start fast, and an installation without an embedder
has no numpy. What reads or packs a vector there raises NotReady.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from recollect.core.errors import INSTALL_VECTORS, InvalidInput, NotReady, missing_package
from recollect.core.time import MONTHS, written_day

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    FloatArray: TypeAlias = NDArray[np.float32]
else:
    FloatArray = Any

_STORED_TYPE = "<f2"
_STORED_BYTES = 2

_DAY: Final = rf"[0-9]{{1,2}} (?:{'|'.join(MONTHS)}) [0-9]{{4}}"
_HEAD: Final = re.compile(rf"[^\n]{{1,400}}? (?:on {_DAY}|\({_DAY}\)): ")


class TextKind(StrEnum):
    """The role of a text for the embedder; some models want another prefix for each.

    A question asks what people said: an embedder may have learnt where answers lie. To one that has not, it is a query.
    """

    QUERY = "query"
    QUESTION = "question"
    PASSAGE = "passage"


@dataclass(frozen=True, slots=True)
class TokenVectors:
    """One vector for each token of a text, without the model's special tokens.

    `vectors`: (tokens, dimension), unit length, float32.
    `spans`: one (start, end) for each token, in characters of the given text, end exclusive.
    """

    vectors: FloatArray
    spans: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Encoding:
    """An embedded text: `vector` is (dimension,), unit length, float32.

    `tokens` only on request, where the model has them. `as_query`: of a question the encoding as any text that is asked
    for, of which the curves tell that were fitted to such vectors; None where it is the same.
    """

    vector: FloatArray
    tokens: TokenVectors | None
    as_query: Encoding | None = None


def require_arrays(purpose: str = "a vector") -> None:
    """Raises NotReady, with the command that installs it, where numpy is missing."""
    try:
        import numpy  # noqa: F401
    except ModuleNotFoundError as error:
        raise missing_package(error.name, purpose, INSTALL_VECTORS) from error


def accept_vectors(loc: Sequence[str | int]) -> None:
    """Raises InvalidInput (with `loc`) for a client's vector where numpy is missing."""
    try:
        require_arrays()
    except NotReady as error:
        raise InvalidInput(str(error), loc) from error


def cosine(a: FloatArray, b: FloatArray) -> float:
    """Cosine of two vectors, -1 to 1; 0 where one is zero. Raises InvalidInput on different shapes."""
    import numpy as np

    if a.shape != b.shape or a.ndim != 1:
        raise InvalidInput(f"vectors of shapes {a.shape} and {b.shape} cannot be compared")
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    lengths = float(np.linalg.norm(wide_a) * np.linalg.norm(wide_b))
    if lengths == 0.0:
        return 0.0
    return float(np.clip(np.dot(wide_a, wide_b) / lengths, -1.0, 1.0))


def unit(vectors: FloatArray) -> FloatArray:
    """The vectors scaled to length 1 along the last axis; zero vectors stay zero."""
    import numpy as np

    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return (vectors / np.where(lengths == 0.0, np.float32(1.0), lengths)).astype(np.float32)


def vector_of(values: ArrayLike, dimension: int, loc: Sequence[str | int] = ()) -> FloatArray:
    """A client's numbers as a float32 vector.

    Raises InvalidInput (with `loc`) unless they are `dimension` finite ones, and where numpy is missing.
    """
    accept_vectors(loc)
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

    Half precision moves a cosine by less than 0.001 and halves storage and traffic. Every engine stores these bytes, so
    that all compute the same cosine. Raises InvalidInput as `vector_of` does.
    """
    numbers = _numbers(vector, ())
    wanted = dimension if dimension is not None else numbers.shape[-1] if numbers.ndim else 0
    return unit(vector_of(numbers, wanted)).astype(_STORED_TYPE).tobytes()


def unpack_vector(data: bytes, dimension: int | None = None) -> FloatArray:
    """What `pack_vector` wrote, as float32. Raises InvalidInput where length or numbers are wrong; NotReady."""
    require_arrays()
    import numpy as np

    count = dimension if dimension is not None else len(data) // _STORED_BYTES
    if len(data) != _STORED_BYTES * count:
        raise InvalidInput(f"{len(data)} bytes are no vector of {count} float16 numbers")
    return vector_of(np.frombuffer(data, dtype=_STORED_TYPE), count)


def stored_vector(data: bytes | None) -> FloatArray | None:
    """The same of a record that may have none; None without numpy too, where nothing is compared by vectors."""
    try:
        return None if data is None else unpack_vector(data)
    except NotReady:
        return None


def passage_head(speaker: str, said_at: datetime) -> str:
    """Speaker and day before an embedded text: `Anna on 8 May 2023: `."""
    return f"{speaker} on {written_day(said_at)}: "


def own_start(passage: str) -> int:
    """Where a passage's own text begins: after its head, or at 0 without a head or without further text.

    `Anna (8 May 2023): ` is a head too: summaries quote sentences so. A text that itself begins like a head is cut
    there.
    """
    found = _HEAD.match(passage)
    return found.end() if found and found.end() < len(passage) else 0
