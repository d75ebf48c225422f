"""A memory whose model says what a test tells it to, and short ways to summarise."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from embedded.setting import ANNA, Memory, with_parts
from recollect.app import App
from recollect.context.model_call import ModelAnswer, ModelRequest
from recollect.core.ids import IdSeed
from recollect.core.scope import Scope
from recollect.rules.groups import SummaryRules
from recollect.summaries.summarize import IDS, NotDue, SummaryMade, SummaryOrder
from recollect.summaries.summary import Summary
from recollect.timeline.record import EventDraft

Said = str | Exception | Callable[[ModelRequest], str]


def answer(summary: str, *goals: dict[str, Any]) -> str:
    """What a model is asked for."""
    return json.dumps({"summary": summary, "tracked_goals": list(goals)})


@dataclass
class ScriptedModel:
    """Says these in turn, the last one for ever; an error is raised, a function asked. Keeps what it was asked."""

    says: list[Said] = field(default_factory=lambda: [answer("Anna counts.")])
    asked: list[ModelRequest] = field(default_factory=list)
    name: str = "scripted"

    def generate(self, request: ModelRequest) -> ModelAnswer:
        """The next answer."""
        self.asked.append(request)
        said = self.says.pop(0) if len(self.says) > 1 else self.says[0]
        if isinstance(said, Exception):
            raise said
        return ModelAnswer(text=said if isinstance(said, str) else said(request), model=self.name)

    @property
    def last_sent(self) -> str:
        """All that the last request said."""
        return "\n".join(message.content for message in self.asked[-1].messages)


@dataclass
class Summaries:
    """A memory with a scripted model."""

    memory: Memory
    model: ScriptedModel
    rules: SummaryRules = field(default_factory=SummaryRules)

    @property
    def app(self) -> App:
        """Its use cases."""
        return self.memory.app

    def say(self, count: int, scope: Scope = ANNA, word: str = "number") -> list[str]:
        """So many messages a minute apart; their ids."""
        before = len(self.memory.ids)
        texts = [f"This is {word} {n}." for n in range(count)]
        for start in range(0, count, 100):
            self.memory.add(*texts[start : start + 100], scope=scope)
        return self.memory.ids[before:]

    def say_at(self, *moments: datetime, scope: Scope = ANNA) -> list[str]:
        """A message at each of these instants; their ids."""
        before = len(self.memory.ids)
        self.memory.add(*(EventDraft(content=f"Said {n}.", timestamp=m) for n, m in enumerate(moments)), scope=scope)
        return self.memory.ids[before:]

    def run(
        self, scope: Scope = ANNA, *, force: bool = False, seed: IdSeed | None = None, seconds: float = 30.0
    ) -> SummaryMade | NotDue:
        """Summarises at the memory's time."""
        return self.app.summaries.conversations.summarize(scope, self.order(force=force, seed=seed, seconds=seconds))

    def order(self, *, force: bool = False, seed: IdSeed | None = None, seconds: float = 30.0) -> SummaryOrder:
        """An order at the memory's time."""
        return SummaryOrder(
            now=self.memory.now,
            rules=self.rules,
            seed=seed or self.seed(),
            remaining_seconds=lambda: seconds,
            force=force,
        )

    def seed(self) -> IdSeed:
        """Ids for a summary."""
        return self.app.ids.seed(int(self.memory.now.timestamp() * 1000), IDS)

    def made(self, scope: Scope = ANNA, **how: Any) -> Summary:
        """Summarises, and there must be a summary."""
        outcome = self.run(scope, **how)
        assert isinstance(outcome, SummaryMade), outcome
        return outcome.summary

    def stored(self, scope: Scope = ANNA) -> list[Summary]:
        """All summaries, the oldest first."""
        return list(reversed(self.app.summaries.stored.page(scope, 200, None).summaries))

    def wait(self, **span: float) -> None:
        """Time goes by."""
        self.memory.now += timedelta(**span)

    def due(self) -> list[tuple[str, str | None]]:
        """Whose summary the queue holds: user and persona."""
        found = self.app.parts.items.due("summary", self.memory.now, 100, None).items
        return [(one.owner.user_id, one.key.path.labels[1] if one.key.path.labels[1:] else None) for one in found]


def summaries_of(memory: Memory, says: Sequence[Said] = ()) -> Summaries:
    """The memory with a model that says these."""
    model = ScriptedModel(list(says)) if says else ScriptedModel()
    return Summaries(with_parts(memory, model=model), model)


class Failing:
    """Stands before a part: its n-th call raises, all others go through."""

    def __init__(self, part: object, ticket: "Ticket") -> None:
        self._part, self._ticket = part, ticket

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._part, name)
        if not callable(found):
            return found

        def call(*arguments: Any, **named: Any) -> Any:
            self._ticket.take()
            return found(*arguments, **named)

        return call


@dataclass
class Ticket:
    """Counts the calls of several parts together; the `fatal`-th raises `error`, before it does anything."""

    fatal: int
    error: BaseException
    calls: int = 0

    def take(self) -> None:
        """One call."""
        self.calls += 1
        if self.calls == self.fatal:
            raise self.error


@contextmanager
def failing_at(summaries: Summaries, ticket: Ticket) -> Iterator[Summaries]:
    """The same with timeline, items and model behind the ticket."""
    parts = {name: Failing(getattr(summaries.app.parts, name), ticket) for name in ("timeline", "items", "model")}
    yield Summaries(with_parts(summaries.memory, **parts), summaries.model, summaries.rules)
