"""Dollars of counted work: units times prices, and the functions' time.

A function's time is the processor's seconds over the share of a processor that its memory gives it, and the waiting for
each wave of calls. The waiting is assumed (`prices.json`): here the engines run beside the caller.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from infra.tools.costs import stack
from recollect.adapters.aws.index_documents import PACKED_AFTER
from recollect.entrypoints.lambda_handlers import WRITTEN_IDLE

FOLDER = Path(__file__).resolve().parent
PRICES, COUNTED = FOLDER / "prices.json", FOLDER / "counted.json"
MILLION = 1e6
SHARED_BY = 10
"""Messages of a batch that is shared."""
Figures = Mapping[str, Any]


@cache
def price_file() -> dict[str, Any]:
    """The dated prices, with their sources, and what is assumed."""
    loaded: dict[str, Any] = json.loads(PRICES.read_text("utf-8"))
    return loaded


def price(name: str) -> float:
    """One of AWS's prices in dollars."""
    return float(price_file()["aws"][name]["dollars"])


def gb_second() -> float:
    """Of Lambda, on the architecture that is deployed by default."""
    return price(f"lambda_gb_second_{stack.default_of('Architecture')}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What one piece of work was counted to take, in one function's run.

    `store_waves` and `engine_waves` are chains of calls, of table and bucket and of OpenSearch, each of which waits for
    the one before; `processor_seconds` are of one whole processor. `bus_events` are sent to EventBridge. `more_seconds`
    is waiting for something else.
    """

    write_units: float
    read_units: float
    object_reads: float
    object_writes: float
    store_waves: float
    engine_waves: float
    processor_seconds: float
    bus_events: float
    more_seconds: float = 0.0

    def seconds(self, memory_mb: int) -> float:
        """How long a function of that size is at work."""
        assumed = price_file()["assumed"]
        waiting = self.store_waves * assumed["store_call_ms"] + self.engine_waves * assumed["engine_request_ms"]
        waiting += assumed["bus_call_ms"] if self.bus_events else 0
        share: float = min(1.0, memory_mb / assumed["processor_mb"])
        return self.processor_seconds / share + float(waiting) / 1000 + self.more_seconds


def work_of(counted: Mapping[str, Figures]) -> dict[str, Work]:
    """Reads what `counted.json` has of one search engine."""
    return {name: Work(**one) for name, one in counted.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Work in a function, which is begun `requests` times for it, by the API where `over_http`.

    `shared_by`: how many share the run.
    """

    work: Work
    function: str
    over_http: bool = False
    requests: int = 1
    shared_by: float = 1.0


def dollars(run: Run, memory_mb: int | None = None) -> dict[str, float]:
    """Of one run, by service; of a shared one the part of each."""
    work, size = run.work, memory_mb or stack.memory_mb(run.function)
    objects = work.object_reads * price("object_reads_million") + work.object_writes * price("object_writes_million")
    logged = run.requests * price_file()["assumed"]["log_bytes_a_run"] / 1e9
    parts = {
        "DynamoDB writes": work.write_units * price("write_units_million") / MILLION,
        "DynamoDB reads": work.read_units * price("read_units_million") / MILLION,
        "S3 requests": objects / MILLION,
        "Lambda requests": run.requests * price("lambda_requests_million") / MILLION,
        "Lambda duration": work.seconds(size) * size / 1024 * gb_second(),
        "HTTP API": run.over_http * price("http_api_requests_million") / MILLION,
        "EventBridge": work.bus_events * price("bus_events_million") / MILLION,
        "logs": logged * price("log_gigabyte"),
    }
    return {name: one / run.shared_by for name, one in parts.items()}


def total(*runs: Run) -> dict[str, float]:
    """Of all of them, for a million, by service and in all."""
    parts: dict[str, float] = {}
    for run in runs:
        for name, one in dollars(run).items():
            parts[name] = parts.get(name, 0.0) + MILLION * one
    return parts | {"in all": sum(parts.values())}


def per_million(counted: Mapping[str, Figures]) -> dict[str, dict[str, float]]:
    """By kind of work: dollars of a million, by service and in all."""
    work = work_of(counted)
    ingest, long = (Run(work=work[f"ingest{kind}"], function="ingest", over_http=True) for kind in ("", ", 1 KB"))
    long_shared = Run(work=work[f"project, 1 KB, of {SHARED_BY}"], function="project", shared_by=SHARED_BY)
    unjudged = Run(work=work["project, 1 KB, no judge"], function="project")
    unjudged_shared = replace(long_shared, work=work[f"project, 1 KB, of {SHARED_BY}, no judge"])
    once = Run(work=work["packing"], function="jobs", requests=0, shared_by=PACKED_AFTER)
    packing = [once] if work["packing"].object_writes else []  # of the table's own index alone
    shared = Run(work=work[f"project, of {SHARED_BY}"], function="project", shared_by=SHARED_BY)
    both = Run(work=work["project, of 2"], function="project")
    return {
        "message": total(ingest, Run(work=work["project"], function="project"), *packing),
        "message, ten a batch": total(ingest, shared, *packing),
        "message of 1 KB": total(long, Run(work=work["project, 1 KB"], function="project"), *packing),
        "message of 1 KB, ten a batch": total(long, long_shared, *packing),
        "message of 1 KB, no judge": total(long, unjudged, *packing),
        "message of 1 KB, no judge, ten a batch": total(long, unjudged_shared, *packing),
        "search": total(Run(work=work["search"], function="retrieval", over_http=True)),
        "context": total(Run(work=work["context"], function="context", over_http=True)),
        "turn": total(*turn_runs(work), both, *packing, *packing),
    }


def turn_runs(work: Mapping[str, Work]) -> tuple[Run, Run]:
    """Of a turn: the function that waits, for the language model and the others, and that of the models of recall."""
    models = Run(work=work["models"], function="context", requests=2)
    there = models.work.seconds(stack.memory_mb(models.function))
    waiting = price_file()["assumed"]["model_seconds"] + there
    rest = max(work["turn"].processor_seconds - models.work.processor_seconds, 0.0)
    waits = replace(work["turn"], processor_seconds=rest, more_seconds=waiting)
    return Run(work=waits, function="converse", over_http=True), models


def turn_in_one_function(counted: Mapping[str, Figures]) -> float:
    """Dollars of a million turns, were the models of recall in the function that waits: as it was before."""
    work = work_of(counted)
    waits = replace(work["turn"], more_seconds=price_file()["assumed"]["model_seconds"])
    alone = Run(work=waits, function="context", over_http=True)
    return total(alone, Run(work=work["project, of 2"], function="project"))["in all"]


def idle_month(counted: Mapping[str, Figures], *, domain: bool, alone: bool) -> dict[str, float]:
    """Dollars of a month in which nobody calls, by part and in all.

    `alone`: in an account where nothing else uses what CloudWatch gives away each month.
    """
    free: Mapping[str, Any] = price_file()["given_away"] if alone else {}
    hours = price_file()["assumed"]["month_hours"]
    watched = {
        "alarms": (stack.alarm_metrics(domain=domain), "alarm_metrics", "alarm_metric_month"),
        "metrics": (len(WRITTEN_IDLE), "custom_metrics", "custom_metric_month"),
    }
    parts = {"scheduled runs": sum(one.runs_a_month * _of_schedule(counted, one) for one in stack.schedules(hours))}
    for name, (count, allowance, each) in watched.items():
        parts[name] = max(count - free.get(allowance, 0), 0) * price(each)
    if domain:
        volume = float(stack.default_of("EngineVolumeGigabytes"))
        parts["OpenSearch"] = hours * price("t3_small_search_hour") + volume * price("engine_gp3_gigabyte_month")
    return parts | {"in all": sum(parts.values())}


def _of_schedule(counted: Mapping[str, Figures], one: stack.Schedule) -> float:
    run = Run(work=Work(**counted[f"idle {one.task}"]), function=one.function)
    return sum(dollars(run).values()) + price("schedule_runs_million") / MILLION
