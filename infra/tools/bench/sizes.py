"""Context and search of a user with 100,000 events over one with 1,000, both in one store, asked in turns."""

from __future__ import annotations

import itertools
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from infra.tools.bench.data import DataSet, Question, Turn
from infra.tools.bench.engines import engines_app, store_without_transactions
from infra.tools.bench.ours import TENANT, draft_of, local_variables, open_watched, passage_of, with_parts
from infra.tools.bench.vectors import BenchEmbedder, StoredVectors, Times, quantiles, ratio
from recollect.app import App
from recollect.context.build import ContextRequest
from recollect.context.rendering import fence_for
from recollect.context.sources import ContextQuestion
from recollect.core.errors import Throttled, Unavailable
from recollect.core.event import Event
from recollect.core.scope import Scope
from recollect.core.vectors import FloatArray, TextKind
from recollect.retrieval.filters import SearchFilters
from recollect.retrieval.pipeline import RecallRequest
from recollect.retrieval.ranking import Mode
from recollect.search_index.page import index_document
from recollect.timeline.record import draft_event, event_identity, value_fingerprint
from recollect.timeline.timeline import EventWrite, Projection

FIRST = datetime(2023, 1, 1, tzinfo=UTC)
APART = timedelta(minutes=5)
BATCH = 100
WRITERS = 4
TRIES = 5
WARM_UP = 5
SIZES = (1_000, 10_000, 100_000)
QUICK_SIZES = (200, 2_000)
QUESTIONS = 60
_NOBODY = Scope(TENANT, "nobody")


def repeated(data: DataSet, count: int) -> Iterator[tuple[Turn, str, datetime]]:
    """That many turns, repeated as often as needed: each with a date of its own, each round in other conversations."""
    for number, turn in enumerate(itertools.islice(itertools.cycle(data.turns), count)):
        yield turn, f"{turn.conversation}-{number // len(data.turns)}", FIRST + number * APART


Store = Callable[[Scope, Sequence[EventWrite]], object]


class Loader:
    """Brings a user to a size through the ports, in batches.

    `store` makes events durable: the timeline's `append`, or a faster way to the same items where the engine's
    transactions are slow. A turn is scored, tagged and looked up once, however often it is repeated.
    """

    def __init__(self, app: App, kept: StoredVectors, store: Store | None = None) -> None:
        self._app = app
        self._append = store or app.parts.timeline.append
        self._kept = kept
        self._rules = app.rules.resolved(TENANT)
        self._first: dict[Turn, tuple[Event, FloatArray | None]] = {}
        self._generation = app.parts.embedder.generation if app.parts.embedder else None

    def load(self, user: str, turns: Sequence[tuple[Turn, str, datetime]], writers: int) -> float:
        """Stores and indexes all of them, with the vector of the turn as first said; answers the seconds it took."""
        scope = Scope(TENANT, user)
        began = time.monotonic()
        batches = [turns[start : start + BATCH] for start in range(0, len(turns), BATCH)]
        seeds = [self._app.ids.seed(time.time_ns() // 1_000_000, BATCH) for _ in batches]
        with ThreadPoolExecutor(writers) as pool:
            list(pool.map(lambda pair: self._stored(scope, *pair), zip(batches, seeds, strict=True)))
        for conversation, said_at in {conversation: said_at for _, conversation, said_at in turns}.items():
            self._app.parts.projections.enter_conversation(scope, conversation, said_at)
        return time.monotonic() - began

    def _stored(self, scope: Scope, batch: Sequence[tuple[Turn, str, datetime]], seed: Any) -> None:
        """Tries again where an engine on this one machine was too busy: the same ids make it the same work."""
        for _ in range(TRIES - 1):
            try:
                return self._store(scope, batch, seed)
            except (Throttled, Unavailable):
                time.sleep(1.0)
        return self._store(scope, batch, seed)

    def _store(self, scope: Scope, batch: Sequence[tuple[Turn, str, datetime]], seed: Any) -> None:
        events = [self._event(scope, turn, seed.nth(n), conv, at) for n, (turn, conv, at) in enumerate(batch)]
        vectors = [self._as_first_said(turn)[1] for turn, *_ in batch]
        parts = self._app.parts
        self._append(scope, [_write(scope, event) for event in events])
        made = zip(events, vectors, strict=True)
        parts.projections.save(scope, [Projection(e.ref, v, self._generation, segment=1) for e, v in made])
        failures = parts.index.put([index_document(scope, e, v) for e, v in zip(events, vectors, strict=True)])
        if failures:
            raise RuntimeError(f"the index refused {len(failures)} documents")
        parts.projections.settle(scope, [event.ref for event in events])

    def _event(self, scope: Scope, turn: Turn, event_id: str, conversation: str, said_at: datetime) -> Event:
        first, _ = self._as_first_said(turn)
        of_user = replace(first, id=event_id, user_id=scope.user_id, conversation_id=conversation)
        return replace(of_user, timestamp=said_at, recorded_at=said_at)

    def _as_first_said(self, turn: Turn) -> tuple[Event, FloatArray | None]:
        if turn not in self._first:
            event = draft_event(_NOBODY, draft_of(turn), "", turn.conversation, turn.said_at, self._rules)
            self._first[turn] = event, self._kept.get(event.passage, TextKind.PASSAGE)
        return self._first[turn]


def _write(scope: Scope, event: Event) -> EventWrite:
    identity = event_identity(scope, event, event.conversation_id, given_timestamp=True)
    return EventWrite(event, identity, value_fingerprint(event.content))


def compare(app: App, embedder: BenchEmbedder, sizes: dict[str, int], questions: Sequence[Question]) -> dict[str, Any]:
    """Times of context and search by user; ratios of the largest over the smallest."""
    calls: dict[str, Callable[[str, Question], object]] = {
        "context": lambda user, question: ask_context(app, user, sizes[user], question),
        "search": lambda user, question: ask_search(app, user, sizes[user], question),
    }
    users = sorted(sizes, key=lambda user: sizes[user])
    figures: dict[str, Any] = {}
    for kind, call in calls.items():
        times = ask_in_turns(users, questions, embedder, call)
        by_size = {str(sizes[user]): times[user].figures() for user in users}
        figures[kind] = {"by_events": by_size, "ratio": ratio(times[users[-1]].figures(), times[users[0]].figures())}
    return figures


def ask_in_turns(
    users: Sequence[str],
    questions: Sequence[Question],
    embedder: BenchEmbedder,
    call: Callable[[str, Question], object],
) -> dict[str, Times]:
    """Each question to every user, the order reversed every other time; the first few only to warm up."""
    times = {user: Times() for user in users}
    for number, question in enumerate(questions):
        for user in users if number % 2 else reversed(users):
            clock = times[user] if number >= WARM_UP else Times()
            clock.measure(embedder, lambda u=user, q=question: call(u, q))  # type: ignore[misc]
    return times


def _asked_at(size: int) -> datetime:
    return FIRST + size * APART


def ask_search(app: App, user: str, size: int, question: Question) -> object:
    filters = SearchFilters(now=_asked_at(size))
    request = RecallRequest(text=question.text, vector=None, mode=Mode.HYBRID, filters=filters, wanted=10)
    rules = app.begin_rules(TENANT)  # as the route does, for the receipt
    return app.retrieval.memory.search(Scope(TENANT, user), request), rules.result().version


def ask_context(app: App, user: str, size: int, question: Question) -> object:
    asked = ContextQuestion(text=question.text, filters=SearchFilters(now=_asked_at(size)))
    request = ContextRequest(question=asked, fence=fence_for("0123456789abcdef"), token_budget=4000)
    return app.context.model_call.build(Scope(TENANT, user), request, app.begin_rules(TENANT))


def local_sizes(
    data: DataSet, embedder: BenchEmbedder, kept: StoredVectors, model: Path, sizes: Sequence[int]
) -> dict[str, Any]:
    """On SQLite; one writer, since SQLite has one."""
    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as name:
        app = open_watched(local_variables(Path(name), model), embedder)
        figures = _measured(app, data, embedder, kept, sizes, writers=1)
        figures["file_mb"] = sum(file.stat().st_size for file in Path(name).iterdir() if file.is_file()) / 1e6
        app.parts.close()
    return figures


def aws_sizes(
    data: DataSet, embedder: BenchEmbedder, kept: StoredVectors, model: Path, sizes: Sequence[int]
) -> dict[str, Any]:
    """On DynamoDB Local and OpenSearch."""
    with engines_app(embedder, model) as app:
        return _measured(app, data, embedder, kept, sizes, WRITERS, store_without_transactions(app))


A_FEW_MONTHS = 600
"""Turns of a user who talks to an assistant for some months."""
_ENCODING = "the encoding alone"


def context_in_encodings(
    data: DataSet, embedder: BenchEmbedder, kept: StoredVectors, model: Path
) -> dict[str, dict[str, float]]:
    """Quantiles of a context of a user of some months, without the second stage, and of the question's encoding alone.

    In turns: within a context reads are made beside the encoding, which then takes longer than alone.
    """
    kept.prepare([passage_of(turn) for turn in data.turns], TextKind.PASSAGE)
    user = _user(A_FEW_MONTHS)
    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as name:
        app = with_parts(open_watched(local_variables(Path(name), model), embedder), relevance_model=None)
        Loader(app, kept).load(user, list(repeated(data, A_FEW_MONTHS)), 1)
        calls: dict[str, Callable[[Question], object]] = {
            user: lambda question: ask_context(app, user, A_FEW_MONTHS, question),
            _ENCODING: lambda question: embedder.encode([question.text], TextKind.QUERY, with_tokens=True),
        }
        times = ask_in_turns(list(calls), _asked(data), embedder, lambda of, question: calls[of](question))
        app.parts.close()
    return {"whole": quantiles(times[user].whole), "encoding": quantiles(times[_ENCODING].whole)}


def _asked(data: DataSet) -> Sequence[Question]:
    """A share of the questions, from all of the set."""
    return data.questions[:: max(1, len(data.questions) // QUESTIONS)][:QUESTIONS]


def _user(size: int) -> str:
    return f"user-of-{size}"


def _measured(
    app: App,
    data: DataSet,
    embedder: BenchEmbedder,
    kept: StoredVectors,
    sizes: Sequence[int],
    writers: int,
    store: Store | None = None,
) -> dict[str, Any]:
    kept.prepare([passage_of(turn) for turn in data.turns], TextKind.PASSAGE)
    kept.prepare([question.text for question in data.questions], TextKind.QUERY)
    loader = Loader(app, kept, store)
    seconds = {str(size): loader.load(_user(size), list(repeated(data, size)), writers) for size in sizes}
    figures = compare(app, embedder, {_user(size): size for size in sizes}, _asked(data))
    return figures | {"load_seconds": seconds}
