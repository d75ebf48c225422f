"""A memory on SQLite with the hashing embedder, and what tests do with it."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, cast

from recollect.adapters.concurrency import Inline
from recollect.app import App
from recollect.bootstrap import open_app
from recollect.composition.deployment import Parts
from recollect.context.build import ContextAnswer, ContextRequest
from recollect.context.rendering import fence_for
from recollect.context.sources import ContextQuestion
from recollect.core.errors import Unavailable
from recollect.core.scope import Scope
from recollect.retrieval.filters import SearchFilters
from recollect.retrieval.pipeline import RecallRequest
from recollect.retrieval.ranking import Mode
from recollect.retrieval.search import SearchAnswer
from recollect.settings import Settings
from recollect.timeline.ingest import IngestAnswer
from recollect.timeline.record import EventDraft
from samples.judged import pair_model

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
ANNA = Scope("acme", "anna")


@dataclass
class Memory:
    """An app with a clock of its own; `ids` of created events in the order of their making."""

    app: App
    now: datetime = NOON
    ids: list[str] = field(default_factory=list)

    def add(self, *contents: str | EventDraft, scope: Scope = ANNA, conversation: str | None = "c1") -> IngestAnswer:
        """Ingests texts a minute apart, or drafts as they are."""
        drafts = [self._draft(content) for content in contents]
        seed = self.app.ids.seed(int(self.now.timestamp() * 1000), len(drafts) + 1)
        answer = self.app.timeline.events.ingest(
            scope, conversation, drafts, seed, self.now, self.app.rules.resolved(scope.tenant)
        )
        self.ids += [result.event_id for result in answer.results if result.event is not None and result.event_id]
        return answer

    def _draft(self, content: str | EventDraft) -> EventDraft:
        if isinstance(content, EventDraft):
            return content
        self.now += timedelta(minutes=1)
        return EventDraft(content=content, timestamp=self.now)

    def project(self) -> int:
        """Drains what is pending; answers how many events were projected."""
        report = self.app.projection.reconciliation.run(self.now)
        assert report.failed == {}
        return report.projected

    def search(self, text: str, scope: Scope = ANNA, wanted: int = 10, **changes: Any) -> SearchAnswer:
        """Searches; `changes` are fields of the request, or of its filters."""
        own = {
            name: changes.pop(name)
            for name in ("mode", "min_similarity", "count", "vector", "rerank", "near_misses")
            if name in changes
        }
        filters = SearchFilters(now=self.now, **changes)
        defaults: dict[str, Any] = {"mode": Mode.HYBRID, "vector": None, "count": True}
        return self.app.retrieval.memory.search(
            scope, RecallRequest(text=text, filters=filters, wanted=wanted, **(defaults | own))
        )

    def found(self, text: str, **changes: Any) -> list[str]:
        """The contents that a search finds, best first."""
        return [result.event.content for result in self.search(text, **changes).results]

    def context(self, text: str, scope: Scope = ANNA, **changes: Any) -> ContextAnswer:
        """Builds a context; `changes` are fields of the request, of the question, or of the filters."""
        asked = {
            n: changes.pop(n) for n in ("conversation_id", "input_event_id", "store", "min_similarity") if n in changes
        }
        own = {n: changes.pop(n) for n in ("limits", "token_budget", "web_search", "rerank") if n in changes}
        question = ContextQuestion(text=text, filters=SearchFilters(now=self.now, **changes), **asked)
        request = ContextRequest(question=question, fence=fence_for("f" * 32), **own)
        return self.app.context.model_call.build(scope, request, self.app.rules.resolved(scope.tenant))


def open_memory(home: Path, **more: str) -> Memory:
    """A memory in that folder, whose judge knows the matters of `judged`; `more` are other variables."""
    environment = {"RECOLLECT_HOME": str(home), "RECOLLECT_EMBEDDER": "hashing", **more}
    return Memory(judged(open_app(Settings.from_environment(environment))))


class Away:
    """Stands before a part of a memory: calls of the named methods raise Unavailable, all others go through."""

    def __init__(self, part: object, methods: Sequence[str]) -> None:
        self._part, self._methods = part, methods

    def __getattr__(self, name: str) -> Any:
        if name in self._methods:
            raise Unavailable(f"{name} is away")
        return getattr(self._part, name)


class Instead:
    """Stands before a part: these are called in place of its methods, with the real method first."""

    def __init__(self, part: object, **methods: Callable[..., Any]) -> None:
        self._part, self._methods = part, methods

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._part, name)
        return partial(self._methods[name], found) if name in self._methods else found


@contextmanager
def away(memory: Memory, part: str, *methods: str) -> Iterator[Memory]:
    """The memory with one part away, for a while; its use cases are made anew."""
    yield with_parts(memory, **{part: Away(getattr(memory.app.parts, part), methods)})


class _With:
    """The parts with one of them replaced."""

    def __init__(self, parts: object, name: str, replacement: object) -> None:
        self._parts, self._name, self._replacement = parts, name, replacement

    def __getattr__(self, name: str) -> Any:
        return self._replacement if name == self._name else getattr(self._parts, name)


def judged(app: App) -> App:
    """The app with the judge of `samples.judged`."""
    return App(app.settings, cast(Parts, _With(app.parts, "pair_model", pair_model())), ids=app.ids)


class AsANetworkWants(Inline):
    """One after another, and taken for side by side: what is read in advance is read."""

    side_by_side = True


def with_parts(memory: Memory, **parts: object) -> Memory:
    """The same memory with other parts in these places; its use cases are made anew."""
    replaced: object = memory.app.parts
    for name, part in parts.items():
        replaced = _With(replaced, name, part)
    app = App(memory.app.settings, cast(Parts, replaced), ids=memory.app.ids)
    return Memory(app, memory.now, memory.ids)
