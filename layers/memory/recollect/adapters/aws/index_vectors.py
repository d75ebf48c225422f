"""Vectors of the table's own index in memory: as they were given, or packed to half a byte a number."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.adapters.exact_search import COSINE_NOISE, Mask, Places
from recollect.core.vectors import FloatArray

STORED_VECTOR = "<f2"
_ROWS = 1024
_MOST = 7
_ZERO = 8
"""The half byte of the number 0."""
_STEPS = (0.34, 0.42, 0.55)
"""Steps between two codes, as shares of a row's root mean square; the first suits normally distributed numbers."""
_DEVIATIONS = 3
"""How many standard deviations a packed cosine may be off before its record is missed: one in a thousand is further."""


@dataclass(frozen=True, slots=True)
class FullVectors:
    """The vectors as they were given, (positions, dimension), in half precision; zero where there is none."""

    matrix: NDArray[np.float16]

    @property
    def dimension(self) -> int:
        return int(self.matrix.shape[1])

    @property
    def noise(self) -> float:
        return COSINE_NOISE

    def cosines(self, query: FloatArray) -> FloatArray:
        """The cosine of each position; `query` has length 1; some rows at a time, for memory's sake."""
        found: FloatArray = np.empty(len(self.matrix), dtype=np.float32)
        for start in range(0, len(self.matrix), _ROWS):
            rows = self.matrix[start : start + _ROWS].astype(np.float32)
            norms = np.sqrt(np.einsum("ij,ij->i", rows, rows))
            found[start : start + _ROWS] = (rows @ query) / np.where(norms == 0, 1, norms)
        return found

    def rows(self, places: Places) -> FloatArray:
        """The vectors of these positions."""
        found: FloatArray = self.matrix[places].astype(np.float32)
        return found

    def selected(self, mask: Mask) -> FullVectors:
        """Those of some positions."""
        return FullVectors(self.matrix[mask])

    @classmethod
    def joined(cls, parts: Sequence[FullVectors]) -> FullVectors:
        """Those of all parts; a part without any vector has no dimension, its rows are zeros."""
        dimension = max(one.dimension for one in parts)
        there = [one.matrix if one.dimension else np.zeros((len(one.matrix), dimension), np.float16) for one in parts]
        return cls(np.concatenate(there))

    @classmethod
    def of(cls, packed: Sequence[bytes | None]) -> FullVectors:
        """Of stored vectors of one length."""
        data = [one for one in packed if one is not None]
        dimension = len(data[0]) // 2 if data else 0
        matrix = np.zeros((len(packed), dimension), dtype=np.float16)
        if data:
            there = np.array([one is not None for one in packed])
            matrix[there] = np.frombuffer(b"".join(data), dtype=STORED_VECTOR).reshape(len(data), dimension)
        return cls(matrix)


@dataclass(frozen=True, slots=True)
class PackedVectors:
    """Half a byte for each number: row i is about `scales[i]` times its codes, `errors[i]` away from the given one.

    A byte of `codes` has number n in its lower half and number n + half of the dimension in its upper half.
    """

    dimension: int
    codes: NDArray[np.uint8]
    scales: NDArray[np.float16]
    errors: NDArray[np.float16]

    @property
    def noise(self) -> float:
        """How far a cosine may be off: an error points anywhere, so that a query meets little of it."""
        return COSINE_NOISE + _DEVIATIONS * float(self.errors.max(initial=0.0)) / math.sqrt(max(self.dimension, 1))

    def cosines(self, query: FloatArray) -> FloatArray:
        """About the cosine of each position: stored vectors have length 1; some rows at a time, for memory's sake.

        With the halves l and h of a byte b, and the query's halves p and q: lp + hq = l(p - q/16) + bq/16.
        """
        width = self.codes.shape[1]
        lower, upper = query[:width], np.zeros(width, dtype=np.float32)
        upper[: self.dimension - width] = query[width:]
        upper /= 16
        found: FloatArray = np.empty(len(self.codes), dtype=np.float32)
        for start in range(0, len(self.codes), _ROWS):
            codes = self.codes[start : start + _ROWS]
            found[start : start + _ROWS] = codes.astype(np.float32) @ upper
            found[start : start + _ROWS] += (codes & 15).astype(np.float32) @ (lower - upper)
        found -= np.float32(_ZERO * float(query.sum(dtype=np.float64)))
        found *= self.scales
        return found

    def rows(self, places: Places) -> FloatArray:
        """About the vectors of these positions."""
        codes = self.codes[places]
        numbers = np.concatenate([codes & 15, codes >> 4], axis=1)[:, : self.dimension].astype(np.float32) - _ZERO
        found: FloatArray = numbers * self.scales[places, None].astype(np.float32)
        return found

    def selected(self, mask: Mask) -> PackedVectors:
        """Those of some positions."""
        return PackedVectors(self.dimension, self.codes[mask], self.scales[mask], self.errors[mask])

    @classmethod
    def joined(cls, parts: Sequence[PackedVectors]) -> PackedVectors:
        """Those of all parts; a part without any vector has no dimension, its rows are zeros."""
        dimension = max(one.dimension for one in parts)
        width = (dimension + 1) // 2
        codes = [one.codes if one.dimension else np.zeros((len(one.codes), width), np.uint8) for one in parts]
        scales, errors = (np.concatenate([getattr(one, name) for one in parts]) for name in ("scales", "errors"))
        return cls(dimension, np.concatenate(codes), scales, errors)

    @classmethod
    def of(cls, matrix: NDArray[np.floating[Any]]) -> PackedVectors:
        """Of vectors of length 1, or 0."""
        starts = range(0, max(len(matrix), 1), _ROWS)
        parts = [_packed(matrix[start : start + _ROWS].astype(np.float32)) for start in starts]
        return cls.joined(parts)


def _packed(matrix: FloatArray) -> PackedVectors:
    """Each row in the steps that serve it best: numbers beyond the greatest code are cut to it."""
    spread = np.sqrt(np.mean(matrix * matrix, axis=1)) if matrix.shape[1] else np.zeros(len(matrix), dtype=np.float32)
    widest = np.abs(matrix).max(axis=1, initial=0.0) / _MOST
    best = None
    for step in (*(np.minimum(share * spread, widest) for share in _STEPS), widest):
        tried = _in_steps(matrix, step)
        best = tried if best is None else _better(best, tried)
    assert best is not None
    numbers, scales, errors = best
    return PackedVectors(matrix.shape[1], _halves(numbers), scales.astype(np.float16), errors.astype(np.float16))


_Tried = tuple[FloatArray, FloatArray, FloatArray]


def _in_steps(matrix: FloatArray, step: FloatArray) -> _Tried:
    """Codes as numbers, the scale that brings them nearest, and how near."""
    codes = np.clip(np.rint(matrix / np.where(step == 0, 1, step)[:, None]), -_MOST, _MOST).astype(np.float32)
    squares = np.einsum("ij,ij->i", codes, codes)
    scales = np.einsum("ij,ij->i", codes, matrix) / np.where(squares == 0, 1, squares)
    return codes, scales, np.linalg.norm(matrix - codes * scales[:, None], axis=1)


def _better(one: _Tried, other: _Tried) -> _Tried:
    nearer = other[2] < one[2]
    codes, scales, errors = (
        np.where(nearer[:, None] if a.ndim > 1 else nearer, b, a) for a, b in zip(one, other, strict=True)
    )
    return codes, scales, errors


def _halves(numbers: FloatArray) -> NDArray[np.uint8]:
    """Two codes in a byte."""
    codes = (numbers + _ZERO).astype(np.uint8)
    width = (codes.shape[1] + 1) // 2
    found = codes[:, :width].copy()
    found[:, : codes.shape[1] - width] |= codes[:, width:] << 4
    return found
