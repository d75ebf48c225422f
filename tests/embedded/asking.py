"""Asks a memory by intent, and what tests read of the lines that it logs."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import count
from typing import Any

from embedded.setting import NOON, Memory
from recollect.core.scope import Scope
from recollect.intent.retrieve import IntentAnswer, IntentQuestion
from recollect.retrieval.filters import SearchFilters, TimeWindow
from recollect.rules.groups import Rules
from recollect.timeline.record import EventDraft

LOGGER = "recollect.intent.retrieve"
_users = count()
DIARY_KINDS = {
    "blood pressure was {n}/80": "What was my blood pressure?",
    "slept {n} minutes": "How many minutes have I slept?",
    "took my medication after breakfast, dose {n}": "When did I take my medication?",
    "ran {n} miles along the river": "How far along the river did I run?",
    "weighed {n} kg on the scale": "What did the scale say?",
    "paid {n} euros for groceries": "How much did I pay for groceries?",
    "read {n} pages of the novel": "How many pages of the novel have I read?",
    "called grandmother for {n} minutes": "Did I call grandmother?",
    "practised the piano, piece {n}": "Which piano piece did I practise?",
    "watered the tomatoes, row {n}": "Have the tomatoes been watered?",
    "finished chapter {n} of the thesis": "Which chapter of the thesis is finished?",
    "met the dentist about tooth {n}": "What did the dentist say about my tooth?",
}
"""What a diary has of each kind, with the question that asks for it."""


def draft(content: str, days: float = 0, **more: Any) -> EventDraft:
    """Said so many days before noon."""
    return EventDraft(content=content, timestamp=NOON - timedelta(days=days), **more)


@dataclass
class Asking:
    """One user of a memory that others use too; everything is asked at noon."""

    memory: Memory
    scope: Scope
    rules: Rules = field(default_factory=Rules)

    @classmethod
    def of(cls, memory: Memory, *drafts: EventDraft) -> "Asking":
        """A new user, who has said these things."""
        asking = cls(memory, Scope("acme", f"user-{next(_users)}"))
        asking.said(*drafts)
        return asking

    def said(self, *drafts: EventDraft) -> list[str]:
        """The ids of what was said, in order."""
        if not drafts:
            return []
        seed = self.memory.app.ids.seed(int(NOON.timestamp() * 1000), len(drafts) + 1)
        answer = self.memory.app.timeline.events.ingest(self.scope, "c1", drafts, seed, NOON, self.rules)
        return [str(result.event_id) for result in answer.results]

    def with_rules(self, **intent: Any) -> "Asking":
        """The same user under other rules of intent."""
        return replace(self, rules=replace(self.rules, intent=replace(self.rules.intent, **intent)))

    def __call__(
        self,
        query: str | None,
        active: str | None = None,
        history: Sequence[str] = (),
        last_days: float | None = None,
        wanted: int = 15,
        now: datetime = NOON,
        **filters: Any,
    ) -> IntentAnswer:
        """The answer to a query."""
        window = TimeWindow() if last_days is None else TimeWindow(now - timedelta(days=last_days), None)
        question = IntentQuestion(
            text=query,
            filters=SearchFilters(now=now, window=window, **filters),
            active_space_id=active,
            history=history,
            wanted=wanted,
        )
        return self.memory.app.intent.retrieve(self.scope, question, self.rules)


def contents(answer: IntentAnswer) -> list[str]:
    """What is answered, best first."""
    return [one.memory.content if one.memory else one.event.content for one in answer.results]


def relevance(answer: IntentAnswer) -> list[float]:
    """The scores, best first."""
    return [one.ranked.score for one in answer.results]


@contextmanager
def logged() -> Iterator[list[dict[str, Any]]]:
    """The fields of the lines that are logged meanwhile."""
    lines: list[dict[str, Any]] = []
    handler = _Handler(lines)
    logger = logging.getLogger(LOGGER)
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield lines
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


class _Handler(logging.Handler):
    def __init__(self, lines: list[dict[str, Any]]) -> None:
        super().__init__()
        self._lines = lines

    def emit(self, record: logging.LogRecord) -> None:
        plain = logging.makeLogRecord({}).__dict__
        fields = {name: value for name, value in record.__dict__.items() if name not in plain}
        self._lines.append({"message": record.getMessage(), "level": record.levelname, **fields})
