"""Recall of the default search with each signal of the ranking off, on the laptop's engine."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from bench_data import DataSet, Question
from bench_ours import TENANT, OurMemory, local_variables, open_watched, passage_of
from bench_scores import recall_table
from bench_vectors import BenchEmbedder, KeptVectors

from recollect.app import App
from recollect.core.scope import Scope
from recollect.core.vectors import TextKind
from recollect.retrieval.filters import SearchFilters
from recollect.retrieval.pipeline import Recall, RecallRequest
from recollect.retrieval.ranking import Mode, RankingPolicy
from recollect.retrieval.search import SearchMemory

CUTS = (5, 10, 25, 50)


def ablation(data: DataSet, embedder: BenchEmbedder, kept: KeptVectors, model: Path) -> dict[str, Any]:
    """Recall over all questions by variant: the default mix, each of its signals off, and the other two modes."""
    kept.prepare([passage_of(turn) for turn in data.turns], TextKind.PASSAGE)
    kept.prepare([question.text for question in data.questions], TextKind.QUERY)
    embedder.live = False
    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as name:
        memory = OurMemory(open_watched(local_variables(Path(name), model), embedder))
        memory.load(data.turns)
        figures = {variant: _recall(memory, data, *how) for variant, how in _variants().items()}
        memory.close()
    return figures


def _variants() -> Mapping[str, tuple[Mode, RankingPolicy]]:
    policy = RankingPolicy()
    off = {f"without {f.name}": (Mode.HYBRID, replace(policy, **{f.name: 0.0})) for f in fields(policy)}
    modes = {mode.value: (mode, policy) for mode in (Mode.SEMANTIC, Mode.LEXICAL)}
    return {"hybrid": (Mode.HYBRID, policy), **off, **modes}


def _recall(memory: OurMemory, data: DataSet, mode: Mode, policy: RankingPolicy) -> dict[str, dict[str, float]]:
    search = _search_with(memory.app, policy)
    found = [turns_found(memory, search, question, mode) for question in data.questions]
    return recall_table(data.questions, dict.fromkeys(CUTS, found))


def _search_with(app: App, policy: RankingPolicy) -> SearchMemory:
    parts = app.parts
    return SearchMemory(Recall(parts.timeline, parts.items, parts.index, parts.embedder, parts.concurrency, policy))


def turns_found(memory: OurMemory, search: SearchMemory, question: Question, mode: Mode = Mode.HYBRID) -> list[str]:
    """The turn ids of the first fifty."""
    filters = SearchFilters(now=question.asked_at)
    request = RecallRequest(text=question.text, vector=None, mode=mode, filters=filters, wanted=max(CUTS))
    answer = search(Scope(TENANT, question.conversation), request)
    return [memory.turn_id(result.event.id) for result in answer.results]
