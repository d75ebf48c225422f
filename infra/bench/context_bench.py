"""What a context costs and what it holds: assembly as a share of the call, gold turns in view and tokens.

`context_bench` answers for one data set (build/bench/context.json holds them by the set's name under `figures`):

    {"questions": 786,
     "in_view": {VIEW: {BUDGET: {"any": share, "all": share, "tokens": mean}}},
     "saved": {VIEW: {BUDGET: share of the tokens of the date filter (14 days) at that budget, < 0 if it takes more}},
     "times": {"whole" | "encoding" | "rest" | "assembly": {"p50_ms", "p95_ms", "count"},
               "share": {"whole" | "rest": assembly's p50 over theirs}}}

VIEW is a name of `context_views.fits`, in its order, baselines first; BUDGET is "none", "1000", "2000" or "4000"
tokens. `any` and `all` are shares of the questions, in [0, 1], with any or all of their gold turns in view; `tokens`
is the mean size with the question, at most the budget. All of it but `times` is the same in each run. To plot: `any`
over the budgets, a line for each view, a panel for each data set; or `any` over `tokens`.
"""

from __future__ import annotations

import statistics
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

from bench_clock import Times
from bench_data import DataSet, Question
from bench_ours import TENANT, OurMemory, local_variables, open_watched, passage_of
from bench_scores import quantiles
from bench_vectors import BenchEmbedder, KeptVectors
from context_views import STAGE_4, Shown, context_of, context_request, fits

from recollect.context.build import ContextAnswer, LookUp, assemble
from recollect.core.vectors import TextKind

BUDGETS: dict[str, int | None] = {"none": None, "1000": 1000, "2000": 2000, "4000": 4000}
TIMED = 100
_RUNS = 5

InView = dict[str, dict[str, dict[str, float]]]


def context_bench(data: DataSet, embedder: BenchEmbedder, kept: KeptVectors, model: Path) -> dict[str, Any]:
    """All questions of the data, at the end of their conversations; the times of the first hundred of them."""
    kept.prepare([passage_of(turn) for turn in data.turns], TextKind.PASSAGE)
    kept.prepare([question.text for question in data.questions], TextKind.QUERY)
    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as name:
        embedder.live = False
        memory = OurMemory(open_watched(local_variables(Path(name), model), embedder))
        memory.load(data.turns)
        seen = in_view(memory, data)
        embedder.live = True
        times = _times(memory, embedder, data.questions[:TIMED])
        memory.close()
    return {"questions": len(data.questions), "in_view": seen, "saved": saved(seen), "times": times}


def in_view(memory: OurMemory, data: DataSet) -> InView:
    """By view and budget, of a memory that holds all turns of the data."""
    shown: defaultdict[str, defaultdict[str, list[Shown]]] = defaultdict(lambda: defaultdict(list))
    for question in data.questions:
        for view, fit in fits(memory, data.turns, question).items():
            for name, budget in BUDGETS.items():
                shown[view][name].append(fit(budget))
    return {
        view: {name: _summed(data.questions, found) for name, found in by_budget.items()}
        for view, by_budget in shown.items()
    }


def _summed(questions: Sequence[Question], shown: Sequence[Shown]) -> dict[str, float]:
    pairs = list(zip(questions, shown, strict=True))
    return {
        "any": statistics.fmean(bool(question.evidence & one.turn_ids) for question, one in pairs),
        "all": statistics.fmean(question.evidence <= one.turn_ids for question, one in pairs),
        "tokens": statistics.fmean(one.tokens for one in shown),
    }


def saved(seen: InView) -> dict[str, dict[str, float]]:
    """The share of the date filter's tokens that a view does without, at the same budget."""
    dated = seen[STAGE_4]
    return {
        view: {name: 1 - one["tokens"] / dated[name]["tokens"] for name, one in by_budget.items()}
        for view, by_budget in seen.items()
    }


def _times(memory: OurMemory, embedder: BenchEmbedder, questions: Sequence[Question]) -> dict[str, Any]:
    """The whole call, and of the same call's findings the deciding, choosing, rendering and fitting again."""
    whole, assembly = Times(), list[float]()
    for question in questions:
        request = context_request(question)
        answer = whole.measure(embedder, lambda q=question, r=request: context_of(memory, r, q.conversation))  # type: ignore[misc]
        assembly.append(min(_assembly_seconds(memory, question, answer) for _ in range(_RUNS)))
    figures = whole.figures()
    assembled = quantiles(assembly)
    return {
        **figures,
        "assembly": assembled,
        "share": {part: assembled["p50_ms"] / figures[part]["p50_ms"] for part in ("whole", "rest")},
    }


def _assembly_seconds(memory: OurMemory, question: Question, answer: ContextAnswer) -> float:
    rules, request = memory.app.rules.resolved(TENANT), context_request(question)
    began = perf_counter()
    looking = LookUp(None, question.text, "auto")
    looking.begin(rules)
    assemble(answer.gathered, looking.result(), request, rules)
    return perf_counter() - began
