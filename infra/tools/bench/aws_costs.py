"""Calls, waves, units and dollars of a turn, a search and a context, for a user with 1,000 turns."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from infra.tools.bench.aws_calls import Counter, counted
from infra.tools.bench.data import DataSet
from infra.tools.bench.engines import dynamodb_of, engines_app, search_client_of, store_without_transactions
from infra.tools.bench.ours import TENANT, passage_of
from infra.tools.bench.sizes import APART, FIRST, WRITERS, Loader, ask_context, ask_search, repeated
from infra.tools.bench.vectors import BenchEmbedder, StoredVectors, Times
from recollect.app import App
from recollect.core.event import EventRef
from recollect.core.idempotency import KEPT_FOR, IdempotencyClaim
from recollect.core.scope import Scope
from recollect.core.vectors import TextKind
from recollect.entrypoints.http.headers import Answer, run_once
from recollect.rules.use_cases import GivenRules, settled
from recollect.timeline.record import EventDraft
from recollect.timeline.timeline import PendingEvent

USER = "counted"
CONVERSATION = "counted-conversation"
TURNS = 1000
ROUNDS = 12
# Memory of the functions in template.yaml: 512 MB to ingest, 1,769 MB (one processor) where the model runs.
INGEST_GB, MODEL_GB = 512 / 1024, 1769 / 1024


class Subject:
    """The user whose work is counted, and a text of exactly 1 KB that is new each time."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.scope = Scope(TENANT, USER)
        self._said_at = FIRST + 2 * TURNS * APART

    def draft(self, important: bool = False, telling: bool = False) -> EventDraft:
        """A turn of 1,024 bytes; `important` gives it 0.9, so that it enters the index of important ones.

        In a `telling` one a cue rule recognises the value of an attribute: it becomes a memory, whatever its score.
        """
        self._said_at += timedelta(minutes=1)
        words = ("I live in Lisbon now. " if telling else "") + 30 * "The parcel lies by the green door. "
        text = f"{secrets.token_hex(4)}. {words}"[:1024]
        importance = 0.9 if important else 0.4
        return EventDraft(content=text, speaker="Caroline", timestamp=self._said_at, importance=importance)

    def ingest(self, drafts: list[EventDraft], given: GivenRules | None = None) -> list[EventRef]:
        """Stores turns of one conversation; answers what `project` is told of them."""
        seed = self.app.ids.seed(time.time_ns() // 1_000_000, len(drafts) + 1)
        rules = settled(given or self.app.begin_rules(TENANT))
        answer = self.app.timeline.events.ingest(self.scope, CONVERSATION, drafts, seed, datetime.now(UTC), rules)
        return [result.event.ref for result in answer.results if result.event is not None]

    def project(self, refs: list[EventRef]) -> None:
        """As the stream's reader calls it."""
        report = self.app.projection.events.project([PendingEvent(self.scope, ref) for ref in refs], datetime.now(UTC))
        if report.failed:
            raise RuntimeError(f"not projected: {report.failed}")

    def ingest_with_key(self, draft: EventDraft) -> None:
        """As a request with an Idempotency-Key is served."""
        now = datetime.now(UTC)
        seed = self.app.ids.seed(time.time_ns() // 1_000_000, 2)
        claim = IdempotencyClaim(
            secrets.token_hex(32), secrets.token_hex(32), seed, now, now + timedelta(seconds=10), now + KEPT_FOR
        )
        rules = self.app.begin_rules(TENANT)  # beside the claim
        run_once(self.app.parts.idempotency, claim, lambda _: Answer(201, {"ids": [self.ingest([draft], rules)[0].id]}))


def aws_costs(data: DataSet, embedder: BenchEmbedder, kept: StoredVectors, model: Path) -> dict[str, Any]:
    """Durations first, then, with every call held up, what is counted."""
    said = list(repeated(data, TURNS))
    kept.prepare([passage_of(turn) for turn, _, _ in said], TextKind.PASSAGE)
    with engines_app(embedder, model) as app:
        Loader(app, kept, store_without_transactions(app)).load(USER, said, WRITERS)
        subject = Subject(app)
        durations = _durations(subject, data, embedder)
        figures = _counts(subject, data)
    return figures | {"durations": durations, "dollars": priced(_shapes(figures, durations), ListPrices())}


def _durations(subject: Subject, data: DataSet, embedder: BenchEmbedder) -> dict[str, Any]:
    """Medians against these engines, which stand for Lambda's until they are measured there."""
    times = {name: Times() for name in ("ingest", "project", "search", "context")}
    subject.project(subject.ingest([subject.draft()]))
    for question in data.questions[:ROUNDS]:
        refs = times["ingest"].measure(embedder, lambda: subject.ingest([subject.draft()]))
        times["project"].measure(embedder, lambda r=refs: subject.project(r))  # type: ignore[misc]
        for name, ask in (("search", ask_search), ("context", ask_context)):
            times[name].measure(embedder, lambda a=ask, q=question: a(subject.app, USER, 2 * TURNS, q))  # type: ignore[misc]
    return {name: one.figures() for name, one in times.items()}


def _counts(subject: Subject, data: DataSet) -> dict[str, Any]:
    counter = Counter(dynamodb_of(subject.app), search_client_of(subject.app))
    question = data.questions[0]
    turns: dict[str, Callable[[], EventDraft]] = {
        "turn": subject.draft,
        "important turn": lambda: subject.draft(important=True),
        "telling turn": lambda: subject.draft(telling=True),
    }
    figures: dict[str, Any] = {"content_bytes": 1024}
    for name, draft in turns.items():
        refs: list[EventRef] = []
        figures[f"ingest, {name}"] = counted(counter, lambda d=draft, r=refs: r.extend(subject.ingest([d()])))  # type: ignore[misc]
        figures[f"project, {name}"] = counted(counter, lambda r=refs: subject.project(r))  # type: ignore[misc]
    hundred = subject.ingest([subject.draft() for _ in range(100)])
    figures["project, of 100 turns"] = counted(counter, lambda: subject.project(hundred), turns=100)
    figures["search"] = counted(counter, lambda: ask_search(subject.app, USER, 2 * TURNS, question))
    figures["context"] = counted(counter, lambda: ask_context(subject.app, USER, 2 * TURNS, question))
    figures["ingest, with key"] = counted(counter, lambda: subject.ingest_with_key(subject.draft()))
    figures["context, one turn in the tail"] = counted(
        counter, lambda: ask_context(subject.app, USER, 2 * TURNS, question)
    )
    subject.app.projection.reconciliation.run(datetime.now(UTC))
    subject.project(subject.ingest([subject.draft(important=True) for _ in range(100)]))
    for name, ask in (("search", ask_search), ("context", ask_context)):
        figures[f"{name}, newest 100 are memories"] = counted(
            counter,
            lambda a=ask: a(subject.app, USER, 2 * TURNS, question),  # type: ignore[misc]
        )
    figures["reconcile, nothing pending"] = counted(
        counter, lambda: subject.app.projection.reconciliation.run(datetime.now(UTC))
    )
    return figures


def _shapes(figures: dict[str, Any], durations: dict[str, Any]) -> dict[str, Shape]:
    """A turn is ingested by one request and projected in a stream batch of its own, the dearest case."""
    seconds = {name: one["whole"]["p50_ms"] / 1000 for name, one in durations.items()}
    ingest, project = figures["ingest, turn"], figures["project, turn"]
    turn = Shape(
        write_units=ingest["wcu"] + project["wcu"],
        read_units=ingest["rcu"] + project["rcu"],
        lambda_requests=2,
        lambda_gb_seconds=seconds["ingest"] * INGEST_GB + seconds["project"] * MODEL_GB,
        http_api_requests=1,
        bus_events=1,
    )
    return {"turn": turn} | {
        name: Shape(
            read_units=figures[name]["rcu"],
            lambda_requests=1,
            lambda_gb_seconds=seconds[name] * MODEL_GB,
            http_api_requests=1,
        )
        for name in ("search", "context")
    }


CHECKED_ON = "2026-11-22"
TEMPLATE = Path(__file__).parents[3] / "template.yaml"
LAMBDA_GB_SECOND = {"x86_64": 0.0000166667, "arm64": 0.0000133334}
"""By architecture, in the first tier."""


def deployed_architecture() -> str:
    """What the template's functions run on unless a deployment says otherwise."""
    found = re.search(r"^  Architecture:\n(?:    .*\n)*?    Default: (\w+)$", TEMPLATE.read_text("utf-8"), re.MULTILINE)
    assert found is not None, "template.yaml names no default Architecture"
    return found[1]


def _lambda_gb_second() -> float:
    return LAMBDA_GB_SECOND[deployed_architecture()]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListPrices:
    """US dollars, us-east-1, without free tier; as public pages quote AWS's price list (docs/benchmarks.md, *Cost*).

    Lambda's duration costs what it costs on the architecture that is deployed.
    """

    write_units_million: float = 0.625
    read_units_million: float = 0.125
    lambda_requests_million: float = 0.20
    lambda_gb_second: float = field(default_factory=_lambda_gb_second)
    http_api_requests_million: float = 1.00
    bus_events_million: float = 1.00


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What one unit of work takes of each."""

    write_units: float = 0.0
    read_units: float = 0.0
    lambda_requests: float = 0.0
    lambda_gb_seconds: float = 0.0
    http_api_requests: float = 0.0
    bus_events: float = 0.0

    def dollars_per_thousand(self, prices: ListPrices) -> dict[str, float]:
        """By service, and in all."""
        parts = {
            "DynamoDB writes": self.write_units * prices.write_units_million,
            "DynamoDB reads": self.read_units * prices.read_units_million,
            "Lambda requests": self.lambda_requests * prices.lambda_requests_million,
            "Lambda duration": self.lambda_gb_seconds * prices.lambda_gb_second * 1e6,
            "HTTP API": self.http_api_requests * prices.http_api_requests_million,
            "EventBridge": self.bus_events * prices.bus_events_million,
        }
        thousand = {name: dollars / 1000 for name, dollars in parts.items()}
        return thousand | {"in all": sum(thousand.values())}


def priced(shapes: Mapping[str, Shape], prices: ListPrices) -> dict[str, Any]:
    """Inputs and dollars per thousand by kind of work."""
    return {
        "checked_on": CHECKED_ON,
        "architecture": deployed_architecture(),
        "prices": asdict(prices),
        "work": {
            name: {"takes": asdict(shape), "dollars_per_thousand": shape.dollars_per_thousand(prices)}
            for name, shape in shapes.items()
        },
    }
