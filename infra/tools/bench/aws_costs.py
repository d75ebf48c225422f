"""Calls, waves and units of a turn, a search and a context, for a user with 1,000 turns.

What they cost is counted apart, for messages as people write them: `infra/tools/costs`.
"""

from __future__ import annotations

import itertools
import secrets
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from infra.tools.bench.aws_calls import Counter, counted
from infra.tools.bench.data import DataSet
from infra.tools.bench.engines import dynamodb_of, engines_app, search_client_of, store_without_transactions
from infra.tools.bench.ours import TENANT, passage_of
from infra.tools.bench.sizes import APART, FIRST, WRITERS, Loader, ask_context, ask_search, repeated
from infra.tools.bench.vectors import BenchEmbedder, StoredVectors
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
LONG_BYTES = 1024


class Subject:
    """The user whose work is counted, and what people say: turns of the talks that are not loaded, put together.

    (A text that is the same each time but for a number would change the one before each time.)
    """

    def __init__(self, app: App, data: DataSet) -> None:
        self.app = app
        self.scope = Scope(TENANT, USER)
        self._said_at = FIRST + 2 * TURNS * APART
        self._said = itertools.cycle(turn.text for turn in data.turns[TURNS:])

    def draft(self, important: bool = False, telling: bool = False) -> EventDraft:
        """A turn of 1,024 bytes; `important` gives it 0.9, so that it enters the index of important ones.

        In a `telling` one a cue rule recognises the value of an attribute: it becomes a memory, whatever its score.
        """
        self._said_at += timedelta(minutes=1)
        text = "I live in Lisbon now. " if telling else ""
        while len(text) < LONG_BYTES:
            text += f"{next(self._said)} "
        text = text[:LONG_BYTES]
        importance = 0.9 if important else 0.4
        return EventDraft(content=text, speaker="Caroline", timestamp=self._said_at, importance=importance)

    def ingest(self, drafts: list[EventDraft], given: GivenRules | None = None) -> list[EventRef]:
        """Stores turns of one conversation; answers what `project` is told of them."""
        seed = self.app.ids.seed(time.time_ns() // 1_000_000, len(drafts) + 1)
        given, marks = given or self.app.begin_rules(TENANT), self.app.begin_marks(self.scope)  # as the route does
        settled_rules, now = settled(given), datetime.now(UTC)
        events = self.app.timeline.events
        answer = events.ingest(self.scope, CONVERSATION, drafts, seed, now, settled_rules, marks.result())
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
    """What is counted, with every call held up."""
    said = list(repeated(data, TURNS))
    kept.prepare([passage_of(turn) for turn, _, _ in said], TextKind.PASSAGE)
    with engines_app(embedder, model) as app:
        Loader(app, kept, store_without_transactions(app)).load(USER, said, WRITERS)
        subject = Subject(app, data)
        subject.project(subject.ingest([subject.draft()]))  # the conversation's first message has more to write
        return _counts(subject, data)


def _counts(subject: Subject, data: DataSet) -> dict[str, Any]:
    counter = Counter(dynamodb_of(subject.app), search_client_of(subject.app))
    question = data.questions[0]
    turns: dict[str, Callable[[], EventDraft]] = {
        "turn": subject.draft,
        "important turn": lambda: subject.draft(important=True),
        "telling turn": lambda: subject.draft(telling=True),
    }
    figures: dict[str, Any] = {"content_bytes": LONG_BYTES}
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
