"""Embedders around the real one, which keep vectors on disk or count seconds, and the stop watch that reads them."""

from __future__ import annotations

import hashlib
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from recollect.core.learned_share import LearnedShares
from recollect.core.vectors import Encoding, FloatArray, TextKind
from recollect.retrieval.pooling import COSINE, SimilarityScale

if TYPE_CHECKING:
    from recollect.ports import Embedder

_BATCH = 64
T = TypeVar("T")


class StoredVectors:
    """Vectors by text, kept in a file between runs: the model gives the same text the same vector, bit for bit."""

    def __init__(self, folder: Path, embedder: Embedder) -> None:
        self._file = folder / f"vectors-{embedder.generation}.npz"
        self._embedder = embedder
        self._kept = _read(self._file)

    def prepare(self, texts: Iterable[str], kind: TextKind) -> int:
        """Encodes what is not kept yet, on all cores; answers how many that were."""
        missing = [text for text in dict.fromkeys(texts) if _name(text, kind) not in self._kept]
        for start in range(0, len(missing), _BATCH):
            part = missing[start : start + _BATCH]
            for text, encoding in zip(part, self._embedder.encode(part, kind), strict=True):
                self._kept[_name(text, kind)] = encoding.vector
        if missing:
            _write(self._file, self._kept)
        return len(missing)

    def get(self, text: str, kind: TextKind) -> FloatArray | None:
        """The kept vector of a text."""
        return self._kept.get(_name(text, kind))


class BenchEmbedder:
    """The real embedder with a stop watch, and, while `live` is False, with kept vectors in its place."""

    def __init__(self, embedder: Embedder, kept: StoredVectors) -> None:
        self._embedder = embedder
        self._kept = kept
        self.live = True
        self.seconds = 0.0

    @property
    def generation(self) -> str:
        return self._embedder.generation

    @property
    def dimension(self) -> int:
        return self._embedder.dimension

    @property
    def similarity_scale(self) -> SimilarityScale:
        return COSINE

    @property
    def question_scale(self) -> SimilarityScale:
        return COSINE

    @property
    def learned(self) -> LearnedShares:
        return self._embedder.learned

    def encode(self, texts: Sequence[str], kind: TextKind, *, with_tokens: bool = False) -> list[Encoding]:
        """As the real one; with `live` off a text that was prepared costs nothing."""
        began = time.perf_counter()
        try:
            kept = [None if self.live or with_tokens else self._kept.get(text, kind) for text in texts]
            rest = [text for text, vector in zip(texts, kept, strict=True) if vector is None]
            made = iter(self._embedder.encode(rest, kind, with_tokens=with_tokens) if rest else [])
            return [next(made) if vector is None else Encoding(vector, None) for vector in kept]
        finally:
            self.seconds += time.perf_counter() - began

    def vector(self, text: str, kind: TextKind) -> list[float]:
        """One text as a list of numbers, the way the rivals take it."""
        numbers: list[float] = self.encode([text], kind)[0].vector.tolist()
        return numbers


def _name(text: str, kind: TextKind) -> bytes:
    return hashlib.sha256(f"{kind}\x00{text}".encode()).digest()


def _read(file: Path) -> dict[bytes, FloatArray]:
    if not file.exists():
        return {}
    with np.load(file) as kept:
        return {bytes(name): vector for name, vector in zip(kept["names"], kept["vectors"], strict=True)}


def _write(file: Path, kept: dict[bytes, FloatArray]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    names = np.frombuffer(b"".join(kept), dtype=np.uint8).reshape(len(kept), -1)
    part = file.with_suffix(".part.npz")
    np.savez(part, names=names, vectors=np.stack(list(kept.values())))
    part.replace(file)


@dataclass(slots=True)
class Times:
    """Seconds of one kind of call: all of it, and the encoding in it."""

    whole: list[float] = field(default_factory=list)
    encoding: list[float] = field(default_factory=list)

    def measure(self, embedder: BenchEmbedder, call: Callable[[], T]) -> T:
        """Makes the call and notes how long it took."""
        encoded, began = embedder.seconds, time.perf_counter()
        result = call()
        self.whole.append(time.perf_counter() - began)
        self.encoding.append(embedder.seconds - encoded)
        return result

    def figures(self) -> dict[str, dict[str, float]]:
        """Quantiles of the whole, of the encoding, and of the rest."""
        rest = [whole - encoding for whole, encoding in zip(self.whole, self.encoding, strict=True)]
        parts = {"whole": self.whole, "encoding": self.encoding, "rest": rest}
        return {name: quantiles(seconds) for name, seconds in parts.items()}


def ratio(ours: dict[str, dict[str, float]], baseline: dict[str, dict[str, float]]) -> dict[str, float]:
    """Our p50 over the baseline's: of the whole, and of all but the encoding, which both do with one model."""
    return {part: ours[part]["p50_ms"] / baseline[part]["p50_ms"] for part in ("whole", "rest")}


def quantiles(seconds: Sequence[float]) -> dict[str, float]:
    """Median and 95th percentile in milliseconds, and of how many."""
    ordered = sorted(seconds)
    return {
        "p50_ms": 1000 * statistics.median(ordered),
        "p95_ms": 1000 * ordered[min(len(ordered) - 1, round(0.95 * (len(ordered) - 1)))],
        "count": len(ordered),
    }
