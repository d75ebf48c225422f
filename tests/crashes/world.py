"""One deployment that can be crashed and opened again: its app over wrapped parts, its clock, and its clients' keys."""

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

from crashes.wrapping import Apart, Ticket, WrappedParts
from embedded.setting import ANNA, judged
from embedded.summarizing import ScriptedModel
from recollect.app import App
from recollect.bootstrap import open_app
from recollect.composition.deployment import Parts
from recollect.context.build import ContextRequest
from recollect.context.rendering import fence_for
from recollect.context.sources import ContextQuestion
from recollect.core.idempotency import KEPT_FOR, IdempotencyClaim
from recollect.core.ids import IdSeed
from recollect.core.scope import Scope
from recollect.deletion.forget_events import Forgotten
from recollect.entrypoints.http.headers import Answer, run_once
from recollect.memories.audit import Actor, ActorKind
from recollect.memories.memory import MemoryDraft
from recollect.memories.save import MemoryChange, SavedMemory
from recollect.projection.project import ProjectionReport
from recollect.retrieval.filters import SearchFilters
from recollect.rules.groups import Rules
from recollect.settings import Settings
from recollect.timeline.record import EventDraft
from samples.wrapped import Wrapped

BEGIN = datetime(2024, 5, 1, 12, tzinfo=UTC)
USER = Actor(ActorKind.USER, "anna")
_LAPSE = timedelta(seconds=30)
_ROUNDS = 50


class OneFinding:
    def search(self, query: str, seconds: float) -> tuple[str, ...]:
        return ("The museum opens at nine.",)


@dataclass(frozen=True, slots=True)
class Plan:
    """What a deployment is opened with: its settings, what its model says, and whether it commits each write alone."""

    environment: Mapping[str, str]
    says: str = '{"summary": "Anna counts.", "tracked_goals": []}'
    apart: bool = False

    def open(self, ticket: Ticket) -> App:
        """The app over its parts, each call past the ticket."""
        real = judged(open_app(Settings.from_environment(dict(self.environment))))
        parts = WrappedParts(_Scripted(real.parts, self.says), ticket)
        return App(real.settings, cast(Parts, Apart(parts) if self.apart else parts))


class _Scripted(Wrapped):
    def __init__(self, parts: Parts, says: str) -> None:
        super().__init__(parts)
        self.model, self.web_search = ScriptedModel([says]), OneFinding()


@dataclass(slots=True)
class World:
    """An open deployment at an instant; `known` is what its preparation left for those who act."""

    plan: Plan
    ticket: Ticket = field(default_factory=Ticket)
    now: datetime = BEGIN
    known: dict[str, Any] = field(default_factory=dict)
    app: App = field(init=False)

    def __post_init__(self) -> None:
        self.app = self.plan.open(self.ticket)

    @property
    def home(self) -> Path:
        return Path(self.plan.environment["RECOLLECT_HOME"])

    @property
    def rules(self) -> Rules:
        return self.app.rules.resolved(ANNA.tenant)

    def restarted(self, later: timedelta) -> "World":
        """The process ends, and another begins on the same store."""
        self.close()
        return World(self.plan, Ticket(), self.now + later, self.known)

    def close(self) -> None:
        self.app.parts.close()

    def project(self) -> ProjectionReport:
        """One round of the scheduled reconciliation."""
        return self.app.projection.reconciliation.run(self.now)

    def reconcile(self) -> None:
        """As the schedule does it, until nothing is pending; nothing may fail."""
        for _ in range(_ROUNDS):
            assert self.project().failed == {}
            assert self.app.memories.bridge.reconcile(self.now).deferred.failed.total() == 0
            self.app.deletion.tombstones.apply(self.now, lambda: 600.0)
            if not self.app.parts.projections.pending(1, None).markers:
                return
        raise AssertionError("reconciliation comes to no end")

    def seed(self, count: int = 1) -> IdSeed:
        return self.app.ids.seed(int(self.now.timestamp() * 1000), count)

    def once(self, key: str, count: int, work: Callable[[IdSeed, bool], Mapping[str, Any]]) -> Any:
        """A request with an Idempotency-Key, as the HTTP API makes it; `work` is told whether it is a retry."""
        fresh = self.seed(count)
        answer = run_once(
            self.app.parts.idempotency,
            self._claim(key, fresh),
            lambda seed: Answer(200, dict(work(seed, seed != fresh))),
        )
        return json.loads(json.dumps(answer.body))

    def _claim(self, key: str, fresh: IdSeed) -> IdempotencyClaim:
        digest = hashlib.sha256(key.encode()).hexdigest()
        return IdempotencyClaim(digest, "body", fresh, self.now, self.now + _LAPSE, self.now + KEPT_FOR)

    def say(self, *contents: str | EventDraft, scope: Scope = ANNA, conversation: str = "c1") -> list[str]:
        """Events a minute apart, without a key of their own; their ids."""
        drafts = [self._draft(content) for content in contents]
        answer = self.app.timeline.events.ingest(
            scope, conversation, drafts, self.seed(len(drafts) + 1), self.now, self.app.rules.resolved(scope.tenant)
        )
        return [result.event_id for result in answer.results if result.event_id is not None]

    def forget(self, event_id: str) -> Forgotten:
        return self.app.deletion.events.forget(ANNA, event_id=event_id, now=self.now)

    def save(self, draft: MemoryDraft, seed: IdSeed | None = None) -> SavedMemory:
        return self.app.memories.store.save(ANNA, draft, seed or self.seed(2), self.now, USER, self.rules)

    def patch(self, memory_id: str, **changes: Any) -> None:
        """A person's own words, in the version that was read."""
        change = MemoryChange(changes, USER, lambda version: version == 1)
        self.app.memories.store.patch(ANNA, memory_id, change, self.now)

    def _draft(self, content: str | EventDraft) -> EventDraft:
        if isinstance(content, EventDraft):
            return content
        self.now += timedelta(minutes=1)
        return EventDraft(content=content, timestamp=self.now)

    def context_request(self, text: str, **more: Any) -> ContextRequest:
        question = ContextQuestion(
            text=text, filters=SearchFilters(now=self.now), conversation_id="c1", store=more.pop("store", None)
        )
        return ContextRequest(question=question, fence=fence_for("f" * 32), **more)


def local_plan(home: Path, says: str | None = None, *, apart: bool = False) -> Plan:
    """SQLite in that folder, and the hashing embedder."""
    environment = {"RECOLLECT_HOME": str(home), "RECOLLECT_EMBEDDER": "hashing", "RECOLLECT_MODEL": "extractive"}
    return Plan(environment, apart=apart) if says is None else Plan(environment, says, apart)


@dataclass(slots=True)
class Prepared:
    """A deployment as it was left in a folder, so that every run begins with a copy of it."""

    folder: Path
    prepare: Callable[[World], object]
    plan: Callable[[Path], Plan] = local_plan
    now: datetime = field(init=False)
    known: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        world = World(self.plan(self.folder / "prepared"))
        self.prepare(world)
        world.close()
        self.now, self.known = world.now, world.known

    @contextmanager
    def opened(self, ticket: Ticket) -> Iterator[World]:
        """A copy, opened; nothing is counted yet."""
        home = self.folder / "run"
        shutil.copytree(self.folder / "prepared", home)
        world = self.beside(home, ticket)
        try:
            yield world
        finally:
            world.close()
            shutil.rmtree(home)

    def beside(self, home: Path, ticket: Ticket) -> World:
        """Another process on the same store."""
        ticket.armed = False
        return World(self.plan(home), ticket, self.now, dict(self.known))
