"""Counts what each kind of work takes, on the real adapters: DynamoDB Local, S3, and OpenSearch where searches ask one.

Units, and chains of calls that wait for each other, as `infra/tools/bench/aws_calls.py` counts them; the processor's
seconds, and the units, without its delays. All are means over messages, and over questions, that people said and asked
(LoCoMo): some messages are read against others by the judge, most are not.
"""

from __future__ import annotations

import itertools
import secrets
import statistics
import time
from collections import Counter as Tally
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from infra.tools.bench import aws_calls
from infra.tools.bench.aws_calls import OBJECTS, SEARCH_ENGINE, Call, Counter, waves
from infra.tools.bench.aws_costs import TURNS, USER, Subject
from infra.tools.bench.data import DataSet
from infra.tools.bench.engines import dynamodb_of, engines_app, search_client_of, store_without_transactions
from infra.tools.bench.ours import TENANT, passage_of, with_parts
from infra.tools.bench.sizes import WRITERS, Loader, ask_context, ask_search, repeated
from infra.tools.bench.vectors import BenchEmbedder, StoredVectors
from infra.tools.costs.pricing import SHARED_BY
from recollect.adapters.aws.index_documents import PACKED_AFTER, IndexDocuments
from recollect.app import App
from recollect.context.build import ContextRequest
from recollect.context.relevance import MEMORY_TOKENS, lines_wanted
from recollect.context.rendering import fence_for
from recollect.context.sources import ContextQuestion
from recollect.context.turn import IDS_OF_A_TURN, TurnRequest
from recollect.core.time import utc_now
from recollect.core.vectors import TextKind
from recollect.entrypoints.tools.registry import TurnTools
from recollect.ports import Publisher
from recollect.retrieval.filters import SearchFilters
from recollect.timeline.bus import BusEvent
from recollect.timeline.record import EventDraft

ROUNDS = (8, 4)
"""Rounds that units and the processor's time are of, and rounds, with delays, that the waves are of."""
LONG, LONG_SHARED = "project, 1 KB", f"project, 1 KB, of {SHARED_BY}"
UNJUDGED, UNJUDGED_SHARED = (f"{name}, no judge" for name in (LONG, LONG_SHARED))
ROUNDS_OF = {
    **{"project": (60, 8), "context": (24, 4), "search": (24, 4), "packing": (1, 1)},
    **{LONG: (48, 4), LONG_SHARED: (5, 2), UNJUDGED: (48, 2), UNJUDGED_SHARED: (3, 2)},
}
"""Of messages alone a few take most of the time, those that the judge reads; packing wants many messages before it."""
DELETED_FOR_NOTHING = ("DeleteObject", "DeleteObjects")
"""Of S3's requests, those that it takes nothing for."""
WAVES = ("store_waves", "engine_waves")
READ_BACK = lines_wanted(MEMORY_TOKENS)
TURN_SECONDS = 20.0
Prepared = Callable[[], Callable[[], object]]


class CountedBus:
    """`Publisher` that counts what it is given."""

    def __init__(self, publisher: Publisher) -> None:
        self.count = 0
        self._publisher = publisher

    def publish(self, tenant: str, events: Sequence[BusEvent]) -> list[str]:
        """As the one behind it."""
        self.count += len(events)
        return self._publisher.publish(tenant, events)

    def published(self, tenant: str, event_type: str | None, after: str | None) -> list[BusEvent]:
        """As the one behind it."""
        return self._publisher.published(tenant, event_type, after)


def counts(
    data: DataSet, embedder: BenchEmbedder, kept: StoredVectors, model: Path, search_engine: str
) -> dict[str, dict[str, Any]]:
    """By kind of work, for a user with 1,000 messages; with nothing of anybody's to do for the scheduled runs."""
    said = list(repeated(data, TURNS))
    kept.prepare([passage_of(turn) for turn, _, _ in said], TextKind.PASSAGE)
    bucket = f"bench-{secrets.token_hex(4)}"
    more = {"RECOLLECT_SNAPSHOT_BUCKET": bucket, "RECOLLECT_SEARCH_ENGINE": search_engine}
    with engines_app(embedder, model, more) as app:
        bus = app.parts.__dict__["publisher"] = CountedBus(app.parts.publisher)
        Loader(app, kept, store_without_transactions(app)).load(USER, said, WRITERS)
        _pack(app)
        search = search_client_of(app) if search_engine == "domain" else None
        counter = Counter(dynamodb_of(app), search, app.parts._bucket.client)  # type: ignore[attr-defined]
        subject = Talking(app, data)
        subject.project(subject.ingest([subject.said()]))  # the conversation's first message has more to write
        return {name: _counted(counter, bus, _packed_before(app, work), name) for name, work in _work(subject, data)}


class Talking(Subject):
    """The user whose work is counted, and who says what people say when they say it."""

    def said(self) -> EventDraft:
        """A message as somebody says it: it arrives at once, so that nothing newer can have ended it already."""
        return EventDraft(content=next(self._said), speaker="Caroline", timestamp=utc_now(), importance=0.4)

    def long(self) -> EventDraft:
        """A message of 1 KB, of several put together."""
        return replace(self.draft(), timestamp=utc_now())


def _packed_before(app: App, prepare: Prepared) -> Prepared:
    """As each minute `jobs` does, where a message asked for it: else more and more would wait to be packed."""

    def prepared() -> Callable[[], object]:
        _pack(app)
        return prepare()

    return prepared


def _pack(app: App) -> None:
    app.search_index.in_use.pack(lambda: 60.0)


def _work(subject: Talking, data: DataSet) -> Iterator[tuple[str, Prepared]]:
    """Each as a preparation, which is not counted, of what is."""
    app, questions = subject.app, itertools.cycle(data.questions)

    def projected(count: int, draft: Callable[[], EventDraft], by: Subject = subject) -> Prepared:
        def prepare() -> Callable[[], object]:
            refs = subject.ingest([draft() for _ in range(count)])
            return lambda: by.project(refs)

        return prepare

    yield "ingest", lambda: lambda: subject.ingest([subject.said()])
    app.projection.reconciliation.run(utc_now())
    yield "project", projected(1, subject.said)
    yield "project, of 2", projected(2, subject.said)
    yield f"project, of {SHARED_BY}", projected(SHARED_BY, subject.said)
    app.projection.reconciliation.run(utc_now())
    _let_half_wait(subject)
    yield "search", lambda: lambda: ask_search(app, USER, 2 * TURNS, next(questions))
    yield "context", lambda: lambda: ask_context(app, USER, 2 * TURNS, next(questions))
    texts = [turn.text for turn in data.turns[:READ_BACK]]
    yield "models", lambda: lambda: _ask_models(app, next(questions).text, texts)
    yield "turn", lambda: lambda: _take_turn(subject, next(questions).text)
    yield "ingest, 1 KB", lambda: lambda: subject.ingest([subject.long()])
    app.projection.reconciliation.run(utc_now())
    yield LONG, projected(1, subject.long)
    yield LONG_SHARED, projected(SHARED_BY, subject.long)
    unjudged = Subject(with_parts(app, pair_model=None), data)
    yield UNJUDGED, projected(1, subject.long, unjudged)
    yield UNJUDGED_SHARED, projected(SHARED_BY, subject.long, unjudged)
    yield "packing", lambda: _packing(subject)
    app.projection.reconciliation.run(utc_now())
    yield from _idle(app)


def _packing(subject: Talking) -> Callable[[], object]:
    """Of a user's index in the table, with what is said between two packings; nothing where there is a domain."""
    documents = _documents(subject)
    if documents is not None:
        subject.project(subject.ingest([subject.said() for _ in range(PACKED_AFTER)]))
        documents.ask_for_packing(subject.scope)
    return lambda: _pack(subject.app)


def _let_half_wait(subject: Talking) -> None:
    """As many documents as wait to be packed on average; nothing where there is a domain."""
    documents = _documents(subject)
    if documents is not None:
        documents.ask_for_packing(subject.scope)
        _pack(subject.app)
        missing = PACKED_AFTER // 2 - documents.waiting_count(subject.scope, PACKED_AFTER)
        subject.project(subject.ingest([subject.said() for _ in range(missing)]))


def _documents(subject: Talking) -> IndexDocuments | None:
    """Of the table's own index."""
    found: IndexDocuments | None = getattr(subject.app.parts.index, "_documents", None)
    return found


def _idle(app: App) -> Iterator[tuple[str, Prepared]]:
    """What a schedule begins, with nothing due."""
    yield "idle reconcile", lambda: lambda: app.projection.reconciliation.run(utc_now())
    yield "idle summarize", lambda: lambda: app.summaries.rounds.run(utc_now, lambda: 60.0)
    yield "idle jobs", lambda: lambda: _jobs(app)
    yield "idle retain", lambda: lambda: app.archive.retention_schedule.schedule(utc_now())


def _jobs(app: App) -> None:
    """As the handler, part by part."""
    app.reindexing.heal(utc_now())
    app.deletion.tombstones.apply(utc_now(), lambda: 60.0)
    app.segments.compact_due(utc_now(), lambda: 60.0)
    _pack(app)
    app.job_runs.run(utc_now, lambda: 60.0)


def _ask_models(app: App, question: str, texts: list[str]) -> None:
    """What a context asks of the models in the process: for a turn they are in another function."""
    embedder, relevance = app.parts.embedder, app.parts.relevance_model
    assert embedder is not None
    assert relevance is not None
    embedder.encode([question], TextKind.QUERY, with_tokens=True)
    relevance.logits(question, texts)


def _take_turn(subject: Subject, text: str) -> None:
    """As `POST /v1/turns`, by the provider without a model."""
    app, now = subject.app, datetime.now(UTC)
    question = ContextQuestion(text=f"{text} {time.time_ns()}", filters=SearchFilters(now=now), conversation_id="turns")
    request = TurnRequest(
        context=ContextRequest(question=question, fence=fence_for("0123456789abcdef")), seconds=TURN_SECONDS
    )
    seed = app.ids.seed(time.time_ns() // 1_000_000, IDS_OF_A_TURN)
    app.context.turn.take(subject.scope, request, seed, now, app.begin_rules(TENANT), TurnTools(app))


def _counted(counter: Counter, bus: CountedBus, prepare: Prepared, name: str) -> dict[str, Any]:
    rounds, times = ROUNDS_OF.get(name, ROUNDS)
    with _without_delay():
        prepare()()  # what the first one does for all of them is not counted
        each = [_count_one(counter, bus, prepare()) for _ in range(rounds)]
    means = {what: statistics.fmean(one[what] for one in each) for what in each[0]}
    held = [_count_one(counter, bus, _prepared(prepare)) for _ in range(times)]
    means |= {what: statistics.fmean(one[what] for one in held) for what in WAVES}
    found = {what: round(mean, 4 if what == "processor_seconds" else 2) for what, mean in means.items()}
    print(f"{name}: {found}", flush=True)
    return found


def _prepared(prepare: Prepared) -> Callable[[], object]:
    with _without_delay():
        return prepare()


def _count_one(counter: Counter, bus: CountedBus, work: Callable[[], object]) -> dict[str, float]:
    bus.count = 0
    began = time.process_time()
    with counter.counting() as calls:
        work()
    seconds = time.process_time() - began
    return {**_of_calls(calls), "bus_events": bus.count, "processor_seconds": seconds}


def _of_calls(calls: list[Call]) -> dict[str, float]:
    found = waves(calls)
    engine_waves = sum(any(call.startswith(SEARCH_ENGINE) for call in wave) for wave in found)
    asked = (call for call in calls if call.name.startswith(OBJECTS) and not call.name.endswith(DELETED_FOR_NOTHING))
    kinds = Tally("get" if call.reads else "put" for call in asked)
    rows = [call for call in calls if not call.name.startswith((SEARCH_ENGINE, OBJECTS))]
    return {
        "write_units": sum(call.units for call in rows if not call.reads),
        "read_units": sum(call.units for call in rows if call.reads),
        "object_reads": kinds["get"],
        "object_writes": kinds["put"],
        "store_waves": len(found) - engine_waves,
        "engine_waves": engine_waves,
    }


@contextmanager
def _without_delay() -> Iterator[None]:
    held, aws_calls.HELD_SECONDS = aws_calls.HELD_SECONDS, 0.0
    try:
        yield
    finally:
        aws_calls.HELD_SECONDS = held
