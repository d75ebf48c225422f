"""A stop watch that keeps what encoding takes apart from the rest."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from bench_scores import quantiles
from bench_vectors import BenchEmbedder

T = TypeVar("T")


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
