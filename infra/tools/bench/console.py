"""The console's pages over a user with many events: what the server takes for each, and what a browser is sent.

The pages are asked in a process of its own, by the console itself, without a socket, after what `recollect serve` does
while it starts (`prime`).
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path
from statistics import median
from typing import Any

from infra.tools.bench.data import DataSet, Turn
from infra.tools.bench.ours import draft_of, drain
from infra.tools.bench.sizes import BATCH, repeated
from recollect.app import App
from recollect.bootstrap import open_app, raise_gc_threshold
from recollect.core.scope import Scope
from recollect.entrypoints.console.api import Api
from recollect.entrypoints.console.endpoint import Console, prime
from recollect.entrypoints.http.access_log import AccessLog
from recollect.entrypoints.http.dispatch import Dispatcher
from recollect.entrypoints.http.messages import Call
from recollect.entrypoints.http.routes import GROUPS, routes_of
from recollect.settings import Principal, Settings

TENANT, USER = "local", "anna"
FACTS = 100
"""Values that were told twice each: so many memories, and as many decisions."""
PAGES = {
    "users": "/console",
    "memories": f"/console/users/{USER}",
    "timeline": f"/console/users/{USER}/timeline",
    "decisions": f"/console/users/{USER}/decisions",
    "operations": "/console/operations",
}
ASSETS = ("console.css", "console.js", "htmx.min.js", "icon.svg")
Times = tuple[float, float]
"""Milliseconds by the clock, and of the processor."""
_MOST_MARKERS = 1_000
_OWNER = Principal(TENANT, admin=True)


def console_pages(data: DataSet, events: int, rounds: int) -> dict[str, Any]:
    """Of each page its first answer, the later ones' milliseconds, and bytes. SQLite, no vectors.

    The same while all events wait to be projected, as after an import: `waiting`.
    """
    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as home:
        began = time.monotonic()
        _fill(Path(home), data, events)
        figures = {"events": events, "load_seconds": time.monotonic() - began, "assets_bytes": _assets_bytes()}
        waiting = _asked_elsewhere(home, rounds)["pages"]
        _settle(Path(home))
        return {**figures, **_asked_elsewhere(home, rounds), "waiting": waiting}


def _asked_elsewhere(home: str, rounds: int) -> Any:
    command = [sys.executable, "-m", "infra.tools.bench.console", home, str(rounds)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)


def _opened(home: Path) -> App:
    variables = {"RECOLLECT_HOME": str(home), "RECOLLECT_EMBEDDER": "hashing"}
    return open_app(Settings.from_environment(variables))


def _fill(home: Path, data: DataSet, events: int) -> None:
    """What was told is projected; the events after it wait."""
    app = _opened(home)
    _tell(app)
    drain(app)
    scope, rules = Scope(TENANT, USER), app.rules.resolved(TENANT)
    turns = list(repeated(data, events))
    for start in range(0, events, BATCH):
        for conversation, batch in _by_conversation(turns[start : start + BATCH]):
            seed = app.ids.seed(time.time_ns() // 1_000_000, len(batch) + 1)
            drafts = [draft_of(turn, said_at) for turn, _, said_at in batch]
            app.timeline.events.ingest(scope, conversation, drafts, seed, batch[-1][2], rules)
    app.parts.close()


def _settle(home: Path) -> None:
    """No event waits any more. None has a vector or stands in the index: these pages search nothing."""
    app = _opened(home)
    scope = Scope(TENANT, USER)
    while markers := app.parts.projections.pending(_MOST_MARKERS, None).markers:
        app.parts.projections.settle(scope, [one.ref for one in markers])
    app.parts.close()


def _by_conversation(batch: Sequence[tuple[Turn, str, Any]]) -> list[tuple[str, list[tuple[Turn, str, Any]]]]:
    found: dict[str, list[tuple[Turn, str, Any]]] = {}
    for one in batch:
        found.setdefault(one[1], []).append(one)
    return list(found.items())


def _tell(app: App) -> None:
    dispatch = Dispatcher(app, routes_of(GROUPS), lambda _: _OWNER, _silent()).dispatch
    api = Api(dispatch, Call(method="GET", path="/"), _OWNER)
    for year in ("2023", "2024"):
        for fact in range(FACTS):
            told = {"content": f"What I think of topic {fact} since {year}", "key": f"topic.{fact}"}
            api.post("/v1/memories", {"user_id": USER, "timestamp": f"{year}-01-01T00:00:00Z", **told})


def _silent() -> AccessLog:
    return AccessLog("ERROR", io.StringIO(), "bench")


def _assets_bytes() -> int:
    folder = files("recollect.entrypoints.console") / "static"
    return sum(len((folder / name).read_bytes()) for name in ASSETS)


def asked(app: App, rounds: int) -> dict[str, Any]:
    """Each page once, as the first visitor of a server opens them; then all of them in turns."""
    primed = _times(lambda _: prime(app, lambda: True), "")
    console = Console.over(app, lambda _: _OWNER, _silent())

    def answer(path: str) -> int:
        made = console.answer(Call(method="GET", path=path))
        if made.status != 200:
            raise RuntimeError(f"{path} is answered with {made.status}")
        return len(made.body if isinstance(made.body, bytes) else made.body.encode())

    first = {name: _times(answer, path) for name, path in PAGES.items()}
    times: dict[str, list[Times]] = {name: [] for name in PAGES}
    for _ in range(rounds):
        for name, path in PAGES.items():
            times[name].append(_times(answer, path))
    pages = {
        name: {
            "first_ms": first[name][1],
            "p50_ms": median(whole for whole, _ in times[name]),
            "p95_ms": sorted(whole for whole, _ in times[name])[int(0.95 * (rounds - 1))],
            "processor_ms": median(processor for _, processor in times[name]),
            "bytes": answer(path),
        }
        for name, path in PAGES.items()
    }
    return {"pages": pages, "primed_ms": primed[1]}


def _times(call: Callable[[str], object], path: str) -> Times:
    began, worked = time.perf_counter(), time.process_time()
    call(path)
    return 1000 * (time.perf_counter() - began), 1000 * (time.process_time() - worked)


if __name__ == "__main__":
    raise_gc_threshold()
    opened = _opened(Path(sys.argv[1]))
    sys.stdout.write(json.dumps(asked(opened, int(sys.argv[2]))))
    opened.parts.close()
