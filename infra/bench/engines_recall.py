"""The default search's recall on DynamoDB Local and OpenSearch beside SQLite's: one domain ranks what each names."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bench_data import DataSet
from bench_engines import engines_app
from bench_ours import OurMemory, local_variables, open_watched, passage_of
from bench_scores import recall
from bench_vectors import BenchEmbedder, KeptVectors

from recollect.core.vectors import TextKind

K = 10
Found = Sequence[Sequence[str]]


def engines_recall(data: DataSet, embedder: BenchEmbedder, kept: KeptVectors, model: Path) -> dict[str, Any]:
    """Recall@10 on both; gold turns lost and gained; in how many questions the first ten are the same."""
    kept.prepare([passage_of(turn) for turn in data.turns], TextKind.PASSAGE)
    embedder.live = False
    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as name:
        laptop = OurMemory(open_watched(local_variables(Path(name), model), embedder))
        here = _found(laptop, data)
        laptop.close()
    with engines_app(embedder, model) as app:
        there = _found(OurMemory(app), data)
    return compared(data, here, there)


def _found(memory: OurMemory, data: DataSet) -> list[list[str]]:
    memory.load(data.turns)
    return [memory.search(question, K) for question in data.questions]


def compared(data: DataSet, here: Found, there: Found) -> dict[str, Any]:
    """Means over the questions: recall of the first and of the second, and what of it is not the other's."""
    golds = [question.evidence for question in data.questions]
    firsts = list(zip(golds, here, there, strict=True))

    def mean(of_one: Callable[[frozenset[str], Sequence[str], Sequence[str]], float]) -> float:
        return statistics.fmean(of_one(*first) for first in firsts)

    return {
        "questions": len(firsts),
        "laptop": mean(lambda gold, one, _: recall(one, gold, K)),
        "engines": mean(lambda gold, _, other: recall(other, gold, K)),
        "lost": mean(lambda gold, one, other: len(gold & set(one[:K]) - set(other[:K])) / len(gold)),
        "gained": mean(lambda gold, one, other: len(gold & set(other[:K]) - set(one[:K])) / len(gold)),
        "same_ten": mean(lambda _, one, other: float(set(one[:K]) == set(other[:K]))),
    }
