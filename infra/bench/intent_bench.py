"""Retrieval by intent: how long its parts take, alone and a hundred at once, and what it shows of a conversation.

No model is loaded: nothing here is encoded. Times are of a Health space with 1,000 records, or of 100 records, each
over a named baseline in the same run. What is shown is measured on a conversation's questions, asked at its end,
against the date-based mode ("Stage 4"): the newest 20 records of the same window. Tokens are those of the truncated
context, at 4 characters each.
"""

from __future__ import annotations

import gc
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from threading import Barrier
from typing import Any

from bench_data import DataSet, Question
from bench_ours import TENANT, OurMemory
from bench_scores import quantiles

from recollect.app import App
from recollect.bootstrap import open_app
from recollect.core.event import Event
from recollect.core.scope import Scope
from recollect.entrypoints.collecting import collect_seldom
from recollect.intent.analysis import IntentName, classify
from recollect.intent.ranking import truncated
from recollect.intent.retrieve import IntentAnswer, IntentQuestion
from recollect.intent.scoring import MOST_RECORDS, RetrievalRecord, record_of, score
from recollect.retrieval.filters import SearchFilters, TimeWindow
from recollect.settings import Settings
from recollect.text.terms import extract_keywords
from recollect.timeline.record import EventDraft
from recollect.timeline.timeline import WindowQuery

QUERIES = 100
RECORDS = 1000
WINDOWS: tuple[int | None, ...] = (14, 90, None)
_NOW = datetime(2024, 5, 15, 12, tzinfo=UTC)
_SPACE = Scope(TENANT, "health")
_TOLD = (
    "blood pressure was 120/80 before breakfast", "took my medication with a glass of water",
    "walked the dog around the lake for an hour", "slept seven hours and woke up twice",
    "ran five miles along the river", "had porridge with blueberries", "called the doctor about the headache",
)  # fmt: skip
_ASKED = (
    "What was my blood pressure last week?", "When did I take my medication?", "How long did I walk the dog?",
    "How many hours did I sleep?", "Compare my runs along the river with my walks", "Did I call the doctor today?",
)  # fmt: skip


def intent_bench(sets: Sequence[DataSet], records: int = RECORDS) -> dict[str, Any]:
    """All of it; the queries of the two small measures are the data's own."""
    asked = [question.text for question in sets[0].questions[:QUERIES]]
    gc.freeze()  # the data sets are no garbage of what is measured
    collect_seldom()  # as a server and a function do
    with _opened() as store:
        _fill(store.app, records)
        made = {"parts": _parts(asked), "whole": _whole(store.app), "load": _load(store.app), "records": records}
    return {**made, "shown": {data.name: _shown(data) for data in sets}}


@dataclass(slots=True)
class _opened:
    """An app on SQLite without an embedder, in a folder that goes with it."""

    folder: Any = field(default_factory=lambda: tempfile.TemporaryDirectory(prefix="recollect-bench-"))
    app: App = field(init=False)

    def __enter__(self) -> _opened:
        variables = {"RECOLLECT_HOME": self.folder.name, "RECOLLECT_EMBEDDER": "none"}
        self.app = open_app(Settings.from_environment(variables))
        return self

    def __exit__(self, *_: object) -> None:
        self.app.parts.close()
        self.folder.cleanup()


def _fill(app: App, records: int) -> None:
    """So many records in the last fourteen days."""
    step = timedelta(days=13.9) / records
    told = [
        EventDraft(content=f"{_TOLD[n % len(_TOLD)]}, entry {n}", timestamp=_NOW - n * step, space_id="Health")
        for n in range(records)
    ]
    for start in range(0, records, 100):
        drafts = told[start : start + 100]
        seed = app.ids.seed(time.time_ns() // 1_000_000, len(drafts) + 1)
        app.timeline.ingest(_SPACE, "diary", drafts, seed, _NOW, app.rules.resolved(TENANT))
    report = app.projection.reconcile(_NOW)
    if report.failed:
        raise RuntimeError(f"{len(report.failed)} records were not projected")


def _parts(asked: Sequence[str]) -> dict[str, Any]:
    """Each over the barest thing that looks like it: splitting, one test, folding and searching."""
    known = [(text, extract_keywords(text)) for text in asked]
    hundred = [
        RetrievalRecord(id=str(n), content=_TOLD[n % len(_TOLD)], title=f"entry {n}", created_at=_NOW)
        for n in range(100)
    ]
    keywords = extract_keywords(_ASKED[0])
    return {
        "extraction": _against(lambda: _each(extract_keywords, asked), lambda: _each(str.split, asked), len(asked)),
        "classification": _against(
            lambda: [classify(text, words) for text, words in known],
            lambda: ["?" in text for text in asked],
            len(asked),
        ),
        "scoring": _against(
            lambda: [score(one, keywords, _NOW) for one in hundred],
            lambda: [sum(word in one.searched.casefold() for word in keywords) for one in hundred],
            1,
        ),
    }


def _each(call: Callable[[str], object], texts: Iterable[str]) -> list[object]:
    return [call(text) for text in texts]


def _against(ours: Callable[[], object], baseline: Callable[[], object], count: int) -> dict[str, float]:
    """Milliseconds of one of `count`, best of seven, in turns."""
    best = {"ours": float("inf"), "baseline": float("inf")}
    for _ in range(7):
        for name, call in (("ours", ours), ("baseline", baseline)):
            began = time.perf_counter()
            call()
            best[name] = min(best[name], (time.perf_counter() - began) / count)
    ours_ms, baseline_ms = 1000 * best["ours"], 1000 * best["baseline"]
    return {"ms": ours_ms, "baseline_ms": baseline_ms, "ratio": ours_ms / baseline_ms}


def _ask(
    app: App, scope: Scope, text: str, now: datetime, last_days: int | None = 14, active: str | None = None
) -> IntentAnswer:
    window = TimeWindow() if last_days == 14 else TimeWindow(_start(now, last_days), now)
    question = IntentQuestion(text=text, filters=SearchFilters(now=now, window=window), active_space_id=active)
    return app.intent(scope, question, app.begin_rules(TENANT))


def _start(now: datetime, last_days: int | None) -> datetime:
    return now - timedelta(days=last_days if last_days is not None else 20_000)


def _by_date(app: App, scope: Scope, now: datetime, last_days: int | None = 14) -> list[Event]:
    """The date-based mode alone: one page of the timeline."""
    window = TimeWindow(_start(now, last_days), now)
    return list(app.timeline.listing.window(scope, WindowQuery(now=now, window=window, limit=MOST_RECORDS)).events)


def _whole(app: App) -> dict[str, Any]:
    """A query from end to end, over all of the space's records, and over the window's newest 20 by date."""
    ours, baseline = [], []
    for n in range(QUERIES):
        began = time.perf_counter()
        _ask(app, _SPACE, _ASKED[n % len(_ASKED)], _NOW, active="Health")
        between = time.perf_counter()
        _by_date(app, _SPACE, _NOW)
        ours.append(between - began)
        baseline.append(time.perf_counter() - between)
    figures = {"ours": quantiles(ours), "date_based": quantiles(baseline)}
    return {
        **figures,
        "mean_ms": 1000 * statistics.fmean(ours),
        "ratio": _p50(figures["ours"]) / _p50(figures["date_based"]),
    }


def _p50(figures: dict[str, float]) -> float:
    return figures["p50_ms"]


def _load(app: App) -> dict[str, Any]:
    """A hundred at the same instant in one process, and the same one after another, which is what a function sees.

    `cpu` is the processor's time of each query's own thread while all run.
    """
    barrier = Barrier(QUERIES)

    def one(n: int) -> tuple[float, float]:
        barrier.wait()
        began, cpu = time.perf_counter(), time.thread_time()
        _ask(app, _SPACE, _ASKED[n % len(_ASKED)], _NOW, active="Health")
        return time.perf_counter() - began, time.thread_time() - cpu

    with ThreadPoolExecutor(QUERIES) as threads:
        together = list(threads.map(one, range(QUERIES)))
    alone = [_timed(app, n) for n in range(QUERIES)]
    wall, cpu = quantiles([took for took, _ in together]), quantiles([cpu for _, cpu in together])
    single = quantiles(alone)
    return {"together": wall, "cpu": cpu, "alone": single, "ratio": wall["p95_ms"] / single["p95_ms"]}


def _timed(app: App, n: int) -> float:
    began = time.perf_counter()
    _ask(app, _SPACE, _ASKED[n % len(_ASKED)], _NOW, active="Health")
    return time.perf_counter() - began


@dataclass(slots=True)
class _Seen:
    """What one mode showed, question by question: records, tokens, whether a gold turn is among them."""

    records: list[int] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    gold: list[bool] = field(default_factory=list)

    def add(self, events: Sequence[Event], memory: OurMemory, question: Question) -> None:
        shown = truncated([record_of(event) for event in events])
        self.records.append(len(events))
        self.tokens.append(shown.tokens)
        self.gold.append(bool(question.evidence & {memory.turn_id(event.id) for event in events}))

    def figures(self) -> dict[str, float]:
        return {
            "records": statistics.fmean(self.records),
            "tokens": statistics.fmean(self.tokens),
            "gold": statistics.fmean(self.gold),
        }


def _shown(data: DataSet) -> dict[str, Any]:
    """By window, in days back from the conversation's end; `all` is the whole conversation."""
    with _opened() as store:
        memory = OurMemory(store.app)
        memory.load(data.turns)
        found = {str(days or "all"): _of_window(memory, data, days) for days in WINDOWS}
    return {"questions": len(data.questions), "windows": found}


def _of_window(memory: OurMemory, data: DataSet, days: int | None) -> dict[str, Any]:
    """A date that a question names takes the place of fourteen days, and narrows the others (P-15)."""
    by_intent, by_date = _Seen(), _Seen()
    empty, fell_back, greetings = 0, 0, 0
    for question in data.questions:
        scope = Scope(TENANT, question.conversation)
        answer = _ask(memory.app, scope, question.text, question.asked_at, days)
        by_intent.add([one.event for one in answer.results], memory, question)
        by_date.add(_by_date(memory.app, scope, question.asked_at, days), memory, question)
        empty += not answer.results
        greeting = answer.analysis is not None and answer.analysis.intent is IntentName.GREETING
        greetings += greeting
        fell_back += answer.fallback is not None and not greeting
    ours, theirs = by_intent.figures(), by_date.figures()
    return {
        "intent": ours,
        "date_based": theirs,
        "saved": 1 - ours["tokens"] / theirs["tokens"],
        "zero_matches": empty / len(data.questions),
        "fallbacks": fell_back / max(1, len(data.questions) - greetings),
    }
