"""The weights of the ranking, chosen on all conversations but one and judged on the one left out.

Each question's candidates are fetched once, by the default search; every mix of a coarse grid around the default
ranks them with the domain's own `rank`. What is chosen has the best recall@10, every data set counting alike.
"""

from __future__ import annotations

import itertools
import statistics
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from ablation import turns_found
from bench_data import DataSet, Question
from bench_ours import OurMemory, local_variables, open_watched, passage_of
from bench_scores import recall
from bench_vectors import BenchEmbedder, KeptVectors

from recollect.app import App
from recollect.core.vectors import TextKind
from recollect.retrieval.nomination import Candidate, Nominations
from recollect.retrieval.pipeline import OpenRecall, Recall, effective_query, statistics_for
from recollect.retrieval.ranking import Query, Ranked, RankingPolicy, rank
from recollect.retrieval.search import SearchMemory
from recollect.text.terms import TermStatistics

K = 10


@dataclass(slots=True)
class Asked:
    """One question with what there was to rank for it, each candidate's turn, and where it belongs."""

    data: str
    question: Question
    turns: Mapping[str, str]
    query: Query
    statistics: TermStatistics
    candidates: Sequence[Candidate] = field(repr=False)

    @property
    def fold(self) -> tuple[str, str]:
        """The conversation, which is left out as a whole."""
        return self.data, self.question.conversation

    def recall(self, policy: RankingPolicy) -> float:
        """Of the first ten by these weights."""
        ranked = rank(self.candidates, self.query, self.statistics, policy)
        found = [self.turns[one.candidate.ref.id] for one in ranked[:K]]
        return recall(found, self.question.evidence, K)


class KeepingRecall(Recall):
    """Recall that keeps what it ranked last."""

    last: tuple[Query, TermStatistics, Sequence[Candidate]]

    def _ordered(
        self, opened: OpenRecall, candidates: Sequence[Candidate], nominations: Nominations | None
    ) -> list[Ranked]:
        known = statistics_for(opened, candidates, nominations)
        self.last = (effective_query(opened), known, candidates)
        return super()._ordered(opened, candidates, nominations)


def weights(sets: Sequence[DataSet], embedder: BenchEmbedder, kept: KeptVectors, model: Path) -> dict[str, Any]:
    """Recall@10 by conversation: of the default mix, and of the one that all other conversations choose."""
    asked = [one for data in sets for one in _candidates(data, embedder, kept, model)]
    mixes = grid(RankingPolicy())
    recalls = np.array([[one.recall(mix) for one in asked] for mix in mixes])
    return {"mixes": len(mixes), **left_out([one.fold for one in asked], recalls, [_told(mix) for mix in mixes])}


def grid(default: RankingPolicy) -> list[RankingPolicy]:
    """The default first; then one weight halved or doubled; then one halved and another doubled."""
    weighed = {f.name: getattr(default, f.name) for f in fields(default) if isinstance(getattr(default, f.name), float)}
    halved, doubled = ({name: value * factor for name, value in weighed.items()} for factor in (0.5, 2.0))
    alone = [{name: changed[name]} for changed in (halved, doubled) for name in weighed]
    pairs = [{less: halved[less], more: doubled[more]} for less, more in itertools.permutations(weighed, 2)]
    return [default, *(replace(default, **change) for change in (*alone, *pairs))]


def left_out(folds: Sequence[tuple[str, str]], recalls: Any, names: Sequence[str]) -> dict[str, Any]:
    """By conversation: questions, the default's recall, that of the mix which the others choose, and which it is.

    `recalls` has a row for each mix, the default's first, and a column for each question.
    """
    rows = [_one_left_out(folds, recalls, names, fold) for fold in dict.fromkeys(folds)]
    of_all = {kind: _by_set(rows, kind) for kind in ("default", "left_out")}
    best = int(np.argmax(_means(folds, recalls)))
    return {
        "conversations": rows,
        **of_all,
        "chosen_on_all": {"mix": names[best], "recall": _sets(folds, recalls[best])},
    }


def _one_left_out(
    folds: Sequence[tuple[str, str]], recalls: Any, names: Sequence[str], fold: tuple[str, str]
) -> dict[str, Any]:
    inside = np.array([one == fold for one in folds])
    others = [one for one in folds if one != fold]
    chosen = int(np.argmax(_means(others, recalls[:, ~inside])))
    default, judged = (float(recalls[place, inside].mean()) for place in (0, chosen))
    told = {"default": default, "left_out": judged, "mix": names[chosen]}
    return {"data": fold[0], "conversation": fold[1], "questions": int(inside.sum()), **told}


def _means(folds: Sequence[tuple[str, str]], recalls: Any) -> Any:
    """Of each mix: the mean over data sets of its mean over their questions. Of equals the first is taken."""
    names = np.array([data for data, _ in folds])
    return np.round(np.mean([recalls[:, names == name].mean(axis=1) for name in np.unique(names)], axis=0), 9)


def _sets(folds: Sequence[tuple[str, str]], recalls: Any) -> dict[str, float]:
    groups: defaultdict[str, list[float]] = defaultdict(list)
    for (data, _), one in zip(folds, recalls, strict=True):
        groups[data].append(float(one))
    return {data: statistics.fmean(values) for data, values in groups.items()}


def _by_set(rows: Sequence[Mapping[str, Any]], kind: str) -> dict[str, float]:
    groups: defaultdict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        groups[row["data"]].append(row)
    return {
        data: statistics.fmean([row[kind] for row in own for _ in range(row["questions"])])
        for data, own in groups.items()
    }


def _candidates(data: DataSet, embedder: BenchEmbedder, kept: KeptVectors, model: Path) -> list[Asked]:
    kept.prepare([passage_of(turn) for turn in data.turns], TextKind.PASSAGE)
    embedder.live = False
    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as name:
        memory = OurMemory(open_watched(local_variables(Path(name), model), embedder))
        memory.load(data.turns)
        asked = [_asked(memory, _keeping(memory.app), data, question) for question in data.questions]
        memory.close()
    return asked


def _keeping(app: App) -> KeepingRecall:
    parts = app.parts
    return KeepingRecall(parts.timeline, parts.items, parts.index, parts.embedder, parts.concurrency, RankingPolicy())


def _asked(memory: OurMemory, recalling: KeepingRecall, data: DataSet, question: Question) -> Asked:
    turns_found(memory, SearchMemory(recalling), question)
    query, known, candidates = recalling.last
    turns = {one.ref.id: memory.turn_id(one.ref.id) for one in candidates}
    return Asked(data.name, question, turns, query, known, candidates)


def _told(policy: RankingPolicy) -> str:
    """The weights that are not the default's."""
    default = RankingPolicy()
    changed = {f.name: getattr(policy, f.name) for f in fields(policy)}
    shown = [f"{name} {value:g}" for name, value in changed.items() if value != getattr(default, name)]
    return ", ".join(shown) or "default"
