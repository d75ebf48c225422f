"""The two stores of the scale bench: a laptop's SQLite file, and DynamoDB with OpenSearch."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from bench_data import DataSet, Question
from bench_engines import engines_app, store_without_transactions
from bench_ours import TENANT, local_variables, open_watched, passage_of
from bench_vectors import BenchEmbedder, KeptVectors
from scale import WRITERS, Loader, Store, compare, repeated

from recollect.adapters.aws import index_queries
from recollect.app import App
from recollect.core.scope import Scope
from recollect.core.vectors import FloatArray, TextKind
from recollect.retrieval.filters import SearchFilters
from recollect.retrieval.nomination import NominationRequest

SIZES = (1_000, 10_000, 100_000)
QUICK_SIZES = (200, 2_000)
QUESTIONS = 60
BREADTHS = (100, 200, 400, 800)
NEAREST = 10
HALF_PRECISION = 0.001  # what storing vectors as float16 may move a cosine by


def local_scale(
    data: DataSet, embedder: BenchEmbedder, kept: KeptVectors, model: Path, sizes: Sequence[int]
) -> dict[str, Any]:
    """On SQLite; one writer, since SQLite has one."""
    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as name:
        app = open_watched(local_variables(Path(name), model), embedder)
        figures = _measured(app, data, embedder, kept, sizes, writers=1)
        figures["file_mb"] = sum(file.stat().st_size for file in Path(name).iterdir() if file.is_file()) / 1e6
        app.parts.close()
    return figures


def aws_scale(
    data: DataSet, embedder: BenchEmbedder, kept: KeptVectors, model: Path, sizes: Sequence[int]
) -> dict[str, Any]:
    """On DynamoDB Local and OpenSearch; with how many of the nearest the graph search finds at that size."""
    with engines_app(embedder, model) as app:
        figures = _measured(app, data, embedder, kept, sizes, WRITERS, store_without_transactions(app))
        vectors = np.stack([_vector(kept, passage_of(turn), TextKind.PASSAGE) for turn in data.turns])
        figures["graph"] = _graph_recall(app, max(sizes), data.questions[:QUESTIONS], kept, vectors)
    return figures


def _user(size: int) -> str:
    return f"user-of-{size}"


def _measured(
    app: App,
    data: DataSet,
    embedder: BenchEmbedder,
    kept: KeptVectors,
    sizes: Sequence[int],
    writers: int,
    store: Store | None = None,
) -> dict[str, Any]:
    kept.prepare([passage_of(turn) for turn in data.turns], TextKind.PASSAGE)
    kept.prepare([question.text for question in data.questions], TextKind.QUERY)
    loader = Loader(app, kept, store)
    seconds = {str(size): loader.load(_user(size), list(repeated(data, size)), writers) for size in sizes}
    step = max(1, len(data.questions) // QUESTIONS)
    figures = compare(app, embedder, {_user(size): size for size in sizes}, data.questions[::step][:QUESTIONS])
    return figures | {"load_seconds": seconds}


def _vector(kept: KeptVectors, text: str, kind: TextKind) -> FloatArray:
    vector = kept.get(text, kind)
    if vector is None:
        raise RuntimeError("a text was not prepared")
    return vector


def _graph_recall(
    app: App, size: int, questions: Sequence[Question], kept: KeptVectors, vectors: FloatArray
) -> dict[str, float]:
    """Share of questions whose ten nearest by the graph are as near as the exact ten, by the graph search's breadth.

    Cosines are compared, not ids: of turns with one text any will do.
    """
    default = index_queries.GRAPH_BREADTH
    copies = [size // len(vectors) + (place < size % len(vectors)) for place in range(len(vectors))]
    asked = [_vector(kept, question.text, TextKind.QUERY) for question in questions]
    exact = [_exact_limit(vectors @ query, copies) for query in asked]
    found: dict[str, float] = {}
    for breadth in BREADTHS:
        index_queries.GRAPH_BREADTH = breadth
        near = [_graph_limit(app, size, query) for query in asked]
        found[str(breadth)] = sum(n >= e - HALF_PRECISION for n, e in zip(near, exact, strict=True)) / len(exact)
    index_queries.GRAPH_BREADTH = default
    return found | {"default": float(default)}


def _exact_limit(cosines: FloatArray, copies: Sequence[int]) -> float:
    """The cosine of the tenth nearest."""
    best = (place for place in np.argsort(-cosines) for _ in range(copies[place]))
    return float(cosines[next(itertools.islice(best, NEAREST - 1, None))])


def _graph_limit(app: App, size: int, query: FloatArray) -> float:
    filters = SearchFilters(now=datetime(2030, 1, 1, tzinfo=UTC))
    request = NominationRequest(filters=filters, limit=100, terms=(), vector=query, min_similarity=None, count=False)
    hits = app.parts.index.nominate(Scope(TENANT, _user(size)), request).hits
    return sorted((float(hit.vector @ query) for hit in hits if hit.vector is not None), reverse=True)[NEAREST - 1]
