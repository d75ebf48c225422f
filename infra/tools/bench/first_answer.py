"""What the first request of a built function waits for: its start, its first answer, and a warm one after it.

Each round is a process of Python 3.13 of its own, whose path holds the built function (`make build`) and its layers as
Lambda lays them out, over the running engines. What an import benchmark does not see is in it: the SDK's clients, the
first connection to each engine, and what a use case imports when it is first used. Processor time, all threads: the
engines beside it and other work take the clock's. The medians of the rounds count.
"""

from __future__ import annotations

import json
import os
import secrets
import statistics
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, cast

from infra.tools.bench.cold_start import BUILD, ROOT, built_functions, interpreter, lay_out
from recollect.app import App
from recollect.bootstrap import open_app
from recollect.core.event import Role
from recollect.core.scope import Scope
from recollect.core.time import utc_now
from recollect.settings import Settings
from recollect.timeline.record import EventDraft

ASKED = {
    "ingest": "ingest.http-events",
    "retrieval": "retrieval.http-search",
    "memories": "memories",
    "context": "context.http-context",
    "knowledge": "knowledge.http-tool-calls",
    "arbitration": "arbitration.http-arbitrate",
    "mcp": "mcp.http",
}
"""Of each function that somebody waits for without a model of language behind it: the sample event that asks it."""

TOLD_BY = Scope("acme", "anna")
TOLD = (
    "I moved to Lyon last week.", "My sister Clara lives in Ghent.", "I drink green tea in the morning.",
    "We saw a heron by the river.", "My bike has a flat tyre.", "I start at the bakery on Monday.",
    "The rent is due on the fifth.", "I am allergic to walnuts.", "Paul called about the trip to Rome.",
    "I finished the book about bees.", "Our cat is called Minna.", "I prefer trains to planes.",
    *(f"On the {day}th I had {meal} with {friend}." for day, meal, friend in product(
        range(4, 9), ("soup", "pancakes"), ("Clara", "Paul", "Noor"))),
)  # fmt: skip
WARM = 12
_PROCESS = """
import sys, time
event, warm, paths = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
sys.path[:0] = paths
import json
class Context:
    function_name, memory_limit_in_mb = "bench", 512
    invoked_function_arn = "arn:aws:lambda:us-east-1:000000000000:function:bench"
    aws_request_id = "00000000-0000-0000-0000-000000000000"
    def get_remaining_time_in_millis(self):
        return 29000
event = json.loads(open(event, encoding="utf-8").read())
body = event.get("body")
clock = time.process_time
def answered(number):
    if "idempotency-key" in event["headers"]:
        event["headers"]["idempotency-key"] = f"{time.time_ns()}-{number}"
    # Nobody asks the same twice: what a model has read of a question is no warmth of a function.
    event["body"] = body and body.replace("?", f", number {number}?")
    began = clock()
    answer = handler(event, Context())
    taken = clock() - began
    assert answer["statusCode"] < 300, answer
    return taken
began = clock()
from app import handler
started = clock() - began
taken = [answered(number) for number in range(warm + 1)]
print("figures " + json.dumps([started, *taken]))
(peak,) = [line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")]
print("resident " + str(int(peak) * 1024 / 1e6))
"""


def first_answer(rounds: int) -> dict[str, Any]:
    """Processor seconds by function: of its start, of the first answer, of a warm one. Needs the engines."""
    return {name: _medians([one.seconds for one in seen]) for name, seen in _asked(ASKED, rounds).items()}


def warm_answers(asked: Mapping[str, str], rounds: int) -> dict[str, Any]:
    """By function: processor seconds of a warm answer to its sample, megabytes that the process held at most."""
    return {
        name: {
            "warm_seconds": _medians([one.seconds for one in seen])["warm_seconds"],
            "resident_mb": statistics.median(one.resident_mb for one in seen),
        }
        for name, seen in _asked(asked, rounds).items()
    }


@dataclass(frozen=True, slots=True)
class Process:
    """What one process said: seconds of its start, and of each answer in turn; the most that it held."""

    seconds: list[float]
    resident_mb: float


def _asked(asked: Mapping[str, str], rounds: int) -> dict[str, list[Process]]:
    if not BUILD.is_dir():
        raise FileNotFoundError("nothing is built: make build")
    layers = {name.removesuffix("Function").lower(): (name, of) for name, of in built_functions()}
    found: dict[str, list[Process]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for function, event in asked.items():
            name, of = layers[function]
            opt = lay_out(of, Path(folder) / "-".join(of))
            sample = _event(event, Path(folder))
            with _deployment(opt) as variables:
                command = [interpreter(), "-I", "-S", "-c", _PROCESS, str(sample), str(WARM)]
                command += [str(BUILD / name), str(opt / "python")]
                found[function] = [_process(command, variables) for _ in range(rounds)]
    return found


def _event(name: str, folder: Path) -> Path:
    """The sample; for `memories`, which has none, a listing asked as a search is."""
    file = ROOT / "events" / f"{name}.json"
    if file.exists():
        return file
    event = json.loads((ROOT / "events" / f"{ASKED['retrieval']}.json").read_text("utf-8"))
    path = "/v1/users/anna/memories"
    event |= {"routeKey": "GET /v1/users/{user_id}/memories", "rawPath": path, "body": None}
    event["requestContext"]["http"] |= {"method": "GET", "path": path}
    made = folder / f"{name}.json"
    made.write_text(json.dumps(event), "utf-8")
    return made


def _remember(app: App) -> None:
    """What the samples ask about, and forty other sentences: a search without hits would leave half of its work."""
    events = [EventDraft(content=text, role=Role.USER) for text in TOLD]
    now, rules = utc_now(), app.rules.resolved(TOLD_BY.tenant)
    app.timeline.events.ingest(TOLD_BY, "monday", events, app.ids.seed(1_714_953_600_000, len(TOLD) + 1), now, rules)
    if app.projection.reconciliation.run(utc_now()).failed:
        raise RuntimeError("what the samples ask about cannot be projected")


@contextmanager
def _deployment(opt: Path) -> Iterator[dict[str, str]]:
    """The variables of a function over a table and an index of its own."""
    name, model = f"bench-{secrets.token_hex(4)}", next(opt.glob("recollect-models/*"), None)
    variables = {
        "RECOLLECT_ENGINES": "aws",
        "RECOLLECT_OPENSEARCH_URL": os.environ["RECOLLECT_OPENSEARCH_URL"],
        "RECOLLECT_TABLE": name,
        "RECOLLECT_INDEX_PREFIX": name,
        "RECOLLECT_CALL_TIMEOUT_SECONDS": "20",
        "RECOLLECT_LOG_LEVEL": "ERROR",
        **({"RECOLLECT_MODEL_FOLDER": str(model)} if model else {"RECOLLECT_EMBEDDER": "none"}),
    }
    app = open_app(Settings.from_environment(variables))
    parts = cast(Any, app.parts)
    parts.create()
    _remember(app)
    try:
        engines = {key: value for key, value in os.environ.items() if key.startswith("AWS_")}
        yield {"PATH": "/usr/bin:/bin", "PYDANTIC_DISABLE_PLUGINS": "__all__", **engines, **variables}
    finally:
        parts.access.client.delete_table(TableName=name)
        parts.index._client.indices.delete(index=f"{name}-*")


def _process(command: list[str], variables: dict[str, str]) -> Process:
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=variables)
    said = dict(line.split(" ", 1) for line in done.stdout.splitlines() if line.startswith(("figures ", "resident ")))
    return Process(json.loads(said["figures"]), float(said["resident"]))


def _medians(seen: list[list[float]]) -> Mapping[str, float]:
    """A warm one is the median of a process's last ten; the first two may still open something."""
    return {
        "start_seconds": statistics.median(one[0] for one in seen),
        "first_seconds": statistics.median(one[1] for one in seen),
        "warm_seconds": statistics.median(statistics.median(one[3:]) for one in seen),
    }
