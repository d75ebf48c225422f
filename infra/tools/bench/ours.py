"""Recollect as the benches use it: its use cases over the parts that the settings name, with a watched embedder."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from infra.tools.bench.data import Question, Turn
from infra.tools.bench.vectors import BenchEmbedder
from recollect.app import App
from recollect.bootstrap import open_app
from recollect.composition.deployment import Parts
from recollect.core.event import Role
from recollect.core.scope import Scope
from recollect.retrieval.filters import SearchFilters
from recollect.retrieval.pipeline import RecallRequest
from recollect.retrieval.ranking import Mode
from recollect.rules.groups import Rules
from recollect.settings import Settings
from recollect.timeline.record import EventDraft, draft_event

TENANT = "bench"
_MOST_ROUNDS = 5


class _PartsWith:
    """The parts of an app, with others in some places."""

    def __init__(self, parts: Parts, replaced: Mapping[str, object]) -> None:
        self._parts = parts
        self._replaced = replaced

    def __getattr__(self, name: str) -> Any:
        return self._replaced[name] if name in self._replaced else getattr(self._parts, name)


def with_parts(app: App, **replaced: object) -> App:
    """The app with other parts in these places, or without them where they are None."""
    return App(app.settings, cast(Parts, _PartsWith(app.parts, replaced)), ids=app.ids)


def open_watched(variables: Mapping[str, str], embedder: BenchEmbedder) -> App:
    """The app that these settings name, with this embedder."""
    return with_parts(open_app(Settings.from_environment(variables)), embedder=embedder)


def local_variables(folder: Path, model: Path) -> dict[str, str]:
    """Settings of a laptop whose data lies in that folder."""
    return {"RECOLLECT_HOME": str(folder), "RECOLLECT_MODEL_FOLDER": str(model)}


def draft_of(turn: Turn, said_at: datetime | None = None) -> EventDraft:
    """As `recollect import` reads a turn: `bot` only for an assistant."""
    return EventDraft(
        content=turn.text,
        role=Role.BOT if turn.speaker == "assistant" else Role.USER,
        speaker=turn.speaker,
        timestamp=said_at or turn.said_at,
        metadata={"source_id": turn.turn_id},
    )


def passage_of(turn: Turn) -> str:
    """The text that is embedded for a turn."""
    scope = Scope(TENANT, turn.conversation)
    return draft_event(scope, draft_of(turn), "bench", turn.conversation, turn.said_at, Rules()).passage


def drain(app: App) -> None:
    """Projects until nothing waits: what is settled in one round may mark an older turn for the next."""
    for _ in range(_MOST_ROUNDS):
        report = app.projection.reconciliation.run(datetime.now(UTC))
        if report.failed:
            raise RuntimeError(f"{len(report.failed)} turns were not projected: {set(report.failed.values())}")
        if not app.parts.projections.pending(1, None).markers:
            return
    raise RuntimeError(f"turns still wait after {_MOST_ROUNDS} rounds")


class OurMemory:
    """One user a conversation, so that a search stays within one."""

    name = "Recollect"

    def __init__(self, app: App) -> None:
        self.app = app
        self.turn_ids: dict[str, str] = {}

    def load(self, turns: Sequence[Turn]) -> None:
        """Many turns at once: a hundred of one conversation in a request, then one drain."""
        for conversation in dict.fromkeys(turn.conversation for turn in turns):
            own = [turn for turn in turns if turn.conversation == conversation]
            for start in range(0, len(own), 100):
                self._ingest(own[start : start + 100])
        drain(self.app)

    def add(self, turn: Turn) -> None:
        """One turn: acknowledged (durable), then drained (its vector is searchable)."""
        self._ingest([turn])
        drain(self.app)

    def _ingest(self, turns: Sequence[Turn]) -> None:
        first = turns[0]
        drafts = [draft_of(turn) for turn in turns]
        seed = self.app.ids.seed(time.time_ns() // 1_000_000, len(drafts) + 1)
        scope, rules = Scope(TENANT, first.conversation), self.app.rules.resolved(TENANT)
        answer = self.app.timeline.events.ingest(scope, first.conversation, drafts, seed, datetime.now(UTC), rules)
        for turn, result in zip(turns, answer.results, strict=True):
            if result.event_id is None:
                raise RuntimeError(f"turn {turn.turn_id} of {turn.conversation} was not stored: {result.status}")
            self.turn_ids[result.event_id] = turn.turn_id

    def search(self, question: Question, k: int) -> list[str]:
        """The turn ids of the first k of a default (hybrid) search."""
        filters = SearchFilters(now=question.asked_at)
        request = RecallRequest(text=question.text, vector=None, mode=Mode.HYBRID, filters=filters, wanted=k)
        answer = self.app.retrieval.memory.search(Scope(TENANT, question.conversation), request)
        return [self.turn_id(result.event.id) for result in answer.results]

    def turn_id(self, event_id: str) -> str:
        """The turn that an event was made of."""
        return self.turn_ids[event_id]

    def close(self) -> None:
        """Lets go of the files."""
        self.app.parts.close()
