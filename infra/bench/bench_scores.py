"""What is counted: recall of evidence, and quantiles of times."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence

from bench_data import Question

RecallTable = dict[str, dict[str, float]]


def recall(found: Sequence[str], evidence: frozenset[str], k: int) -> float:
    """Gold turns among the first k, over gold turns."""
    return len(evidence & set(found[:k])) / len(evidence)


def recall_table(questions: Sequence[Question], found: Mapping[int, Sequence[Sequence[str]]]) -> RecallTable:
    """Mean recall by category, and over all questions as `all`; `found` has the answers to each question by k."""
    groups: defaultdict[str, list[int]] = defaultdict(list)
    for position, question in enumerate(questions):
        groups["all"].append(position)
        groups[question.category].append(position)
    return {
        group: {
            str(k): statistics.fmean(recall(answers[p], questions[p].evidence, k) for p in positions)
            for k, answers in sorted(found.items())
        }
        for group, positions in groups.items()
    }


def quantiles(seconds: Sequence[float]) -> dict[str, float]:
    """Median and 95th percentile in milliseconds, and of how many."""
    ordered = sorted(seconds)
    return {
        "p50_ms": 1000 * statistics.median(ordered),
        "p95_ms": 1000 * ordered[min(len(ordered) - 1, round(0.95 * (len(ordered) - 1)))],
        "count": len(ordered),
    }
