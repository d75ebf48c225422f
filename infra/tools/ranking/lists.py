"""Ranked lists to learn from: a question, its first sixty hits in order, and which of them are its evidence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy
from numpy.typing import NDArray

from infra.tools.ranking.gathering import Asked
from recollect.core.vectors import TextKind
from recollect.ports import Embedder
from recollect.retrieval.timeliness import SIGNALS, timely

TALKS = "talks"


@dataclass(frozen=True, slots=True)
class RankedList:
    """`vector` is the question's; `first` are the scores without `signals`, as shares of the best, (hits,).

    `best` is the score that they are shares of; `signals` is (hits, 3), for a question that asks of now; `gold` and
    `stale` are (hits,). `fold` names what is left out together: the writer of a talk, the conversation of a data set.
    """

    source: str
    fold: str
    vector: NDArray[numpy.float64]
    best: float
    first: NDArray[numpy.float64]
    signals: NDArray[numpy.float64]
    gold: NDArray[numpy.bool_]
    stale: NDArray[numpy.bool_]


def ranked_lists(asked: Asked, embedder: Embedder) -> Iterator[RankedList]:
    """The list of a question; none where nothing among the hits is evidence, or all is."""
    gold = numpy.array([hit.needed for hit in asked.hits], dtype=numpy.bool_)
    if not gold.any() or gold.all():
        return
    hits = [hit.ranked for hit in asked.hits]
    first = [sum(value for name, value in hit.shares.items() if name not in SIGNALS) for hit in hits]
    found = timely([hit.candidate for hit in hits], first, asked.at, 1.0)
    (encoding,) = embedder.encode([asked.question], TextKind.QUERY)
    yield RankedList(
        source=asked.source,
        fold=f"{asked.source} {asked.group}",
        vector=encoding.vector.astype(numpy.float64),
        best=max(first),
        first=numpy.array(first) / max(first),
        signals=numpy.array([found[name] for name in SIGNALS]).T,
        gold=gold,
        stale=numpy.array([hit.stale for hit in asked.hits], dtype=numpy.bool_),
    )
