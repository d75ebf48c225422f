"""Growth on SQLite: search and context of one user at 10^3 to 10^6 events, and of a small user among 10^5 others."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench_clock import Times, ratio
from bench_data import DataSet, Question
from bench_ours import TENANT, local_variables, open_watched, passage_of
from bench_vectors import BenchEmbedder, KeptVectors
from bulk import BulkLoader, Said
from scale import ask_context, ask_in_turns, ask_search, repeated

from recollect.adapters.local.database import FILE_NAME
from recollect.app import App
from recollect.core.scope import Scope
from recollect.core.vectors import TextKind
from recollect.retrieval.filters import SearchFilters
from recollect.retrieval.nomination import NominationRequest

SIZES = (1_000, 10_000, 100_000, 1_000_000)
QUICK_SIZES = (200, 1_000, 4_000)
USERS, QUICK_USERS = 100_000, 200
OWN_EVENTS = 10
QUESTIONS = 60
VISITED = 10_000
"""So many users are asked for between the first cold searches of the crowd and the last."""
_ANYTHING = NominationRequest(filters=SearchFilters(now=datetime(2100, 1, 1, tzinfo=UTC)), limit=1)


def growth_of(data: DataSet, embedder: BenchEmbedder, kept: KeptVectors, model: Path, *, quick: bool) -> dict[str, Any]:
    """At full size, or a small part of it to see that all runs."""
    sizes, users = (QUICK_SIZES, QUICK_USERS) if quick else (SIZES, USERS)
    return local_growth(data, embedder, kept, model, sizes, users)


def local_growth(
    data: DataSet, embedder: BenchEmbedder, kept: KeptVectors, model: Path, sizes: Sequence[int], users: int
) -> dict[str, Any]:
    """Both, each in stores of their own that are removed afterwards: 5 GB at full size."""
    kept.prepare([passage_of(turn) for turn in data.turns], TextKind.PASSAGE)
    kept.prepare([question.text for question in data.questions], TextKind.QUERY)
    step = max(1, len(data.questions) // QUESTIONS)
    questions = data.questions[::step][:QUESTIONS]
    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as name:
        one_user = _one_user(Stores(Path(name), embedder, kept, model), data, sizes, questions)
    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as name:
        crowd = _crowd(Stores(Path(name), embedder, kept, model), data, users, questions)
    return {"one_user": one_user, "crowd": crowd}


class Stores:
    """SQLite stores of one bench, each in a folder of its own."""

    def __init__(self, folder: Path, embedder: BenchEmbedder, kept: KeptVectors, model: Path) -> None:
        self._folder = folder
        self._kept = kept
        self._model = model
        self.embedder = embedder

    def open(self, name: str) -> App:
        """The app of that store."""
        return open_watched(local_variables(self._folder / name, self._model), self.embedder)

    def load(self, name: str, said: Iterator[Said]) -> dict[str, float]:
        """Seconds that loading took, and megabytes of the file afterwards."""
        app = self.open(name)
        seconds = BulkLoader(app, self._kept).load(said)
        app.parts.close()
        return {"load_seconds": seconds, "file_mb": self.file(name).stat().st_size / 1e6}

    def file(self, name: str) -> Path:
        """The store's file; closing its last connection has emptied the log into it."""
        return self._folder / name / FILE_NAME


def _user(size: int) -> str:
    return f"user-of-{size}"


def _one_user(stores: Stores, data: DataSet, sizes: Sequence[int], questions: Sequence[Question]) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    for size in sizes:
        said = (Said(_user(size), *one) for one in repeated(data, size))
        loaded = stores.load(_user(size), said)
        figures[str(size)] = loaded | {"cold": _cold(stores, _user(size))}
    for kind, by_size in _times(stores, sizes, questions).items():
        for of_size, times in by_size.items():
            figures[of_size][kind] = times
    return {"by_events": figures, "ratio": _ratios(figures)}


def _cold(stores: Stores, user: str) -> dict[str, float]:
    """See `cold_search.py`: a process of its own, so that nothing else is in its memory."""
    script = Path(__file__).with_name("cold_search.py")
    command = [sys.executable, str(script), str(stores.file(user)), TENANT, user, stores.embedder.generation]
    printed = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    figures: dict[str, float] = json.loads(printed)
    return figures


def _times(
    stores: Stores, sizes: Sequence[int], questions: Sequence[Question]
) -> dict[str, dict[str, dict[str, dict[str, float]]]]:
    """Of all sizes in turns, the same questions to each."""
    with ExitStack() as opened:
        apps = {_user(size): stores.open(_user(size)) for size in sizes}
        for app in apps.values():
            opened.callback(app.parts.close)
        of_user = {_user(size): size for size in sizes}
        calls = {
            "search": lambda user, question: ask_search(apps[user], user, of_user[user], question),
            "context": lambda user, question: ask_context(apps[user], user, of_user[user], question),
        }
        asked = {kind: ask_in_turns(list(apps), questions, stores.embedder, call) for kind, call in calls.items()}
    return {kind: {str(of_user[u]): t.figures() for u, t in times.items()} for kind, times in asked.items()}


def _ratios(figures: Mapping[str, Any]) -> dict[str, dict[str, dict[str, float]]]:
    """Of each size over the smallest."""
    first = next(iter(figures.values()))
    return {
        kind: {size: ratio(one[kind], first[kind]) for size, one in figures.items()} for kind in ("search", "context")
    }


def _member(number: int) -> str:
    return f"member-{number}"


def _of_members(data: DataSet, users: int) -> Iterator[Said]:
    turns = repeated(data, users * OWN_EVENTS)
    for number in range(users):
        yield from (Said(_member(number), *one) for one in itertools.islice(turns, OWN_EVENTS))


def _crowd(stores: Stores, data: DataSet, users: int, questions: Sequence[Question]) -> dict[str, Any]:
    """One user in the crowd and alone in a store, in turns; and first searches, which read a user's columns."""
    size, asked = users * OWN_EVENTS, users // 2
    loaded = stores.load("crowd", _of_members(data, users))
    alone = (one for one in _of_members(data, users) if one.user == _member(asked))
    stores.load("alone", alone)
    with ExitStack() as opened:
        apps = {name: stores.open(name) for name in ("alone", "crowd")}
        for app in apps.values():
            opened.callback(app.parts.close)
        times = ask_in_turns(
            list(apps), questions, stores.embedder, lambda name, q: ask_search(apps[name], _member(asked), size, q)
        )
        first = _first_searches(apps["crowd"], stores.embedder, users, size, questions)
    found = {name: one.figures() for name, one in times.items()}
    over = ratio(found["crowd"], found["alone"])
    return {"users": users, "events": size, **loaded, "search": found, "ratio": over, "first_search": first}


def _first_searches(
    app: App, embedder: BenchEmbedder, users: int, size: int, questions: Sequence[Question]
) -> dict[str, Any]:
    """Of users whom this process has not met: while few others are in its memory, and while many are."""
    count = min(len(questions), users // 4)
    between = range(count, min(count + VISITED, users - count))
    early = _first_of(app, embedder, range(count), size, questions)
    for number in between:
        app.parts.index.nominate(Scope(TENANT, _member(number)), _ANYTHING)
    late = _first_of(app, embedder, range(users - count, users), size, questions)
    return {"early": early, "late": late, "between": len(between)}


def _first_of(
    app: App, embedder: BenchEmbedder, members: Iterable[int], size: int, questions: Sequence[Question]
) -> dict[str, dict[str, float]]:
    times = Times()
    for member, question in zip(members, questions, strict=False):
        times.measure(embedder, lambda m=member, q=question: ask_search(app, _member(m), size, q))  # type: ignore[misc]
    return times.figures()
