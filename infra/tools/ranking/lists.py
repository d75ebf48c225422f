"""Ranked lists to learn from: a question, its first sixty hits in order, and which of them are its evidence."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import numpy
from numpy.typing import NDArray

from infra.tools.bench.data import load
from infra.tools.bench.ours import TENANT, OurMemory, local_variables
from recollect.app import App
from recollect.bootstrap import open_app
from recollect.core.scope import Scope
from recollect.core.vectors import TextKind
from recollect.entrypoints.cli.commands import LOCAL_TENANT
from recollect.entrypoints.cli.evaluate import as_time_goes, turn_ids
from recollect.importing.gold_data import read_talks
from recollect.ports import Embedder
from recollect.retrieval.filters import SearchFilters
from recollect.retrieval.pipeline import RecallRequest
from recollect.retrieval.ranking import Mode
from recollect.retrieval.search import SearchResult
from recollect.retrieval.timeliness import AMONG, timely
from recollect.settings import Settings

SIGNALS = ("recent", "outdone", "renewed")
DATA_SETS = ("locomo-dev", "beam-dev", "madial-zh-dev")
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
    evidence: int


@dataclass(frozen=True, slots=True)
class _Asked:
    source: str
    fold: str
    text: str
    at: datetime
    evidence: frozenset[str]
    stale: frozenset[str]


def lists_of_talks(folder: Path, model: Path, embedder: Embedder) -> Iterator[RankedList]:
    """Each question of each talk that has some, at its time. A talk's writer is the first letter of its file's name."""
    with tempfile.TemporaryDirectory() as home, tempfile.TemporaryDirectory() as asked_of:
        for file in folder.glob("*.json"):
            if json.loads(file.read_bytes())["questions"]:
                shutil.copy(file, asked_of)
        app = open_app(_settings(Path(home), model))
        for talk in read_talks(Path(asked_of)):
            scope = Scope(LOCAL_TENANT, talk.id)
            for question in as_time_goes(app, talk):
                asked = _Asked(TALKS, talk.id[0], question.text, question.at, question.evidence, question.stale)
                yield from _list_of(app, scope, asked, embedder, turn_ids(app, scope))


def lists_of_data_set(folder: Path, model: Path, embedder: Embedder) -> Iterator[RankedList]:
    """Each question of a data set, when its whole conversation is in."""
    data = load(folder)
    with tempfile.TemporaryDirectory() as home:
        memory = OurMemory(open_app(_settings(Path(home), model)))
        memory.load(data.turns)
        for one in data.questions:
            fold = f"{folder.name} {one.conversation}"
            asked = _Asked(folder.name, fold, one.text, one.asked_at, one.evidence, frozenset())
            scope = Scope(TENANT, one.conversation)
            yield from _list_of(memory.app, scope, asked, embedder, turn_ids(memory.app, scope))


def _settings(home: Path, model: Path) -> Settings:
    return Settings.from_environment(local_variables(home, model) | {"RECOLLECT_JUDGE": "none"})


def _list_of(
    app: App, scope: Scope, asked: _Asked, embedder: Embedder, turn_of: Mapping[str, str]
) -> Iterator[RankedList]:
    """One list; none where nothing among the hits is evidence, or all is."""
    filters = SearchFilters(now=asked.at)
    request = RecallRequest(text=asked.text, vector=None, mode=Mode.HYBRID, filters=filters, wanted=AMONG)
    hits = app.retrieval.memory.search(scope, request).results
    sources = [_turns(hit, turn_of) for hit in hits]
    gold = numpy.array([bool(turns & asked.evidence) for turns in sources], dtype=numpy.bool_)
    if not gold.any() or gold.all():
        return
    first = [sum(value for name, value in hit.ranked.shares.items() if name not in SIGNALS) for hit in hits]
    found = timely([hit.ranked.candidate for hit in hits], first, asked.at, 1.0)
    (encoding,) = embedder.encode([asked.text], TextKind.QUERY)
    yield RankedList(
        source=asked.source,
        fold=asked.fold,
        vector=encoding.vector.astype(numpy.float64),
        best=max(first),
        first=numpy.array(first) / max(first),
        signals=numpy.array([found[name] for name in SIGNALS]).T,
        gold=gold,
        stale=numpy.array([bool(turns & asked.stale) for turns in sources], dtype=numpy.bool_),
        evidence=len(asked.evidence),
    )


def _turns(hit: SearchResult, turn_of: Mapping[str, str]) -> frozenset[str]:
    ids: Sequence[str] = hit.memory.source_event_ids if hit.memory else (hit.event.id,)
    return frozenset(turn_of[i] for i in ids if i in turn_of)
