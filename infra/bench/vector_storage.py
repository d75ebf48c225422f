"""What half precision and bytes cost in recall, and save in memory: forms of storing a vector, over float32."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from bench_data import DataSet
from bench_ours import OurMemory, local_variables, open_watched, passage_of
from bench_scores import quantiles, recall_table
from bench_vectors import BenchEmbedder, KeptVectors
from numpy.typing import NDArray

from recollect.core.vectors import FloatArray, TextKind

TEN = 10
SCANNED = 100_000
ROUNDS = 15
FORMS = ("float32", "float16", "int8")
STORED = "float16"
"""What the product stores, in SQLite's file and in DynamoDB (`pack_vector`)."""
_BLOCK = 1_024  # widened it is 1.6 MB and stays in the processor's cache
_LARGEST = 127


@dataclass(frozen=True, slots=True)
class Stored:
    """Vectors in one form: what is kept of each number, and for int8 what a vector's bytes are to be multiplied by."""

    numbers: NDArray[Any]
    scales: FloatArray | None = None

    @property
    def nbytes(self) -> int:
        """Of all of them."""
        return self.numbers.nbytes + (0 if self.scales is None else self.scales.nbytes)

    def restored(self) -> FloatArray:
        """As float32 again."""
        wide: FloatArray = self.numbers.astype(np.float32)
        return wide if self.scales is None else wide * self.scales[:, None]

    def dots(self, query: FloatArray) -> FloatArray:
        """With every vector. Narrow numbers are widened block by block: numpy multiplies fast in float32 alone."""
        if self.numbers.dtype == np.float32:
            found: FloatArray = self.numbers @ query
            return found
        found = np.empty(len(self.numbers), dtype=np.float32)
        wide = np.empty((_BLOCK, self.numbers.shape[1]), dtype=np.float32)
        for start in range(0, len(found), _BLOCK):
            some = self.numbers[start : start + _BLOCK]
            np.copyto(wide[: len(some)], some)
            np.matmul(wide[: len(some)], query, out=found[start : start + len(some)])
        return found if self.scales is None else found * self.scales


def stored_as(form: str, vectors: FloatArray) -> Stored:
    """Unit vectors in that form; int8 with one scale for each vector, its largest number being 127."""
    if form != "int8":
        return Stored(vectors.astype(form))
    scales = np.abs(vectors).max(axis=1) / np.float32(_LARGEST)
    scales[scales == 0] = 1
    return Stored(np.rint(vectors / scales[:, None]).astype(np.int8), scales)


def vector_storage(sets: Sequence[DataSet], embedder: BenchEmbedder, kept: KeptVectors, model: Path) -> dict[str, Any]:
    """Recall by form, by cosine alone and of the default search; bytes and time of a scan of 100,000."""
    for data in sets:
        kept.prepare([passage_of(turn) for turn in data.turns], TextKind.PASSAGE)
        kept.prepare([question.text for question in data.questions], TextKind.QUERY)
    vectors = np.stack([_vector(kept, passage_of(turn), TextKind.PASSAGE) for turn in sets[0].turns])
    return {
        "cosine": {data.name: _by_cosine(data, kept) for data in sets},
        "hybrid": {data.name: _by_search(data, embedder, kept, model) for data in sets},
        "scan": _scans(np.resize(vectors, (SCANNED, vectors.shape[1])), vectors[: ROUNDS + 1]),
    }


def _vector(kept: KeptVectors, text: str, kind: TextKind) -> FloatArray:
    vector = kept.get(text, kind)
    if vector is None:
        raise RuntimeError("a text was not prepared")
    return vector


def _by_cosine(data: DataSet, kept: KeptVectors) -> dict[str, dict[str, float]]:
    """Recall@10, and how many of the ten nearest by float32 are among the ten nearest."""
    nearest = {form: _nearest(data, kept, form) for form in FORMS}
    return {
        form: {
            "recall": recall_table(data.questions, {TEN: found})["all"][str(TEN)],
            "same": statistics.fmean(
                len(set(ours) & set(exact)) / len(exact) for ours, exact in zip(found, nearest["float32"], strict=True)
            ),
        }
        for form, found in nearest.items()
    }


def _nearest(data: DataSet, kept: KeptVectors, form: str) -> list[list[str]]:
    """For each question, the ten turns of its conversation whose stored vectors are nearest."""
    own: dict[str, tuple[list[str], Stored]] = {}
    for conversation in dict.fromkeys(turn.conversation for turn in data.turns):
        turns = [turn for turn in data.turns if turn.conversation == conversation]
        vectors = np.stack([_vector(kept, passage_of(turn), TextKind.PASSAGE) for turn in turns])
        own[conversation] = [turn.turn_id for turn in turns], stored_as(form, vectors)
    found = []
    for question in data.questions:
        ids, stored = own[question.conversation]
        best = np.argsort(-stored.dots(_vector(kept, question.text, TextKind.QUERY)), kind="stable")[:TEN]
        found.append([ids[place] for place in best])
    return found


class _Rounded:
    """Kept vectors as a store of that form gives them back; questions are not stored."""

    def __init__(self, kept: KeptVectors, form: str) -> None:
        self._kept = kept
        self._form = form

    def get(self, text: str, kind: TextKind) -> FloatArray | None:
        """The kept vector of a text, rounded if it is a passage's."""
        vector = self._kept.get(text, kind)
        if vector is None or kind is not TextKind.PASSAGE:
            return vector
        restored: FloatArray = stored_as(self._form, vector[None]).restored()[0]
        return restored


def _by_search(data: DataSet, embedder: BenchEmbedder, kept: KeptVectors, model: Path) -> dict[str, float]:
    """Recall@10 of the default search: as the product stores vectors, and rounded to bytes before that."""
    return {form: _search_recall(data, embedder, _Rounded(kept, form), model) for form in (STORED, "int8")}


def _search_recall(data: DataSet, embedder: BenchEmbedder, kept: Any, model: Path) -> float:
    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as name:
        rounded = BenchEmbedder(embedder, kept)
        rounded.live = False
        memory = OurMemory(open_watched(local_variables(Path(name), model), rounded))
        memory.load(data.turns)
        found = [memory.search(question, TEN) for question in data.questions]
        memory.close()
    return recall_table(data.questions, {TEN: found})["all"][str(TEN)]


def _scans(vectors: FloatArray, queries: FloatArray) -> dict[str, dict[str, float]]:
    """The forms in turns, query by query; the first query only warms up."""
    stored = {form: stored_as(form, vectors) for form in FORMS}
    seconds: dict[str, list[float]] = {form: [] for form in FORMS}
    for number, query in enumerate(queries):
        for form, one in stored.items():
            taken = _seconds(lambda s=one, q=query: s.dots(q))  # type: ignore[misc]
            seconds[form] += [taken] if number else []
    times: Mapping[str, dict[str, float]] = {form: quantiles(taken) for form, taken in seconds.items()}
    least = times["float32"]["p50_ms"]
    return {
        form: {"megabytes": one.nbytes / 1e6, **times[form], "ratio": times[form]["p50_ms"] / least}
        for form, one in stored.items()
    }


def _seconds(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began
