"""A crash before and after every call of some use cases, on the real engines: all of it, or none, and once.

With each search engine. Each point is a user of their own in one table and one index; restart and reconciliation are
then everybody's at once. One run takes a sixth of them, another sixth each day; RECOLLECT_CRASH_POINTS=all takes them
all. tests/crashes does the same for every use case, on SQLite.
"""

import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest

from conftest import Engines
from crashes.test_matrix import ALL, TODAY, sampled
from crashes.wrapping import Crash, Fault, Kind, Side, Ticket, WrappedParts
from engines.conftest import SEARCH_ENGINES, OwnDatabase, drop_indexes, settings_on, shown_at_once
from recollect.app import App
from recollect.bootstrap import open_app
from recollect.composition.deployment import Parts
from recollect.core.errors import NotFound, RecollectError, VersionMismatch
from recollect.core.ids import IdSeed
from recollect.core.scope import Scope
from recollect.memories.audit import AUDIT, Actor, ActorKind
from recollect.memories.memory import MemoryDraft
from recollect.memories.save import MemoryChange
from recollect.memories.storage import MEMORIES, SAME_AS, memory_in
from recollect.settings import Settings
from recollect.timeline.record import EventDraft
from recollect.timeline.timeline import PendingEvent

pytestmark = pytest.mark.engines

USER = Actor(ActorKind.USER, "somebody")
AT = datetime(2024, 5, 1, 12, tzinfo=UTC)
ROUNDS = 20
SHARE = 6
READS = frozenset(
    {"get", "read", "find", "page", "due", "tail", "vectors", "slot_history", "of_slot", "pending", "names"}
)


@dataclass
class Point:
    """One user, and what goes wrong for them; `seed` is their client's, kept for the second try."""

    scope: Scope
    seed: IdSeed
    fault: Fault | None = None
    ids: list[str] = field(default_factory=list)

    def say(self, app: App, *drafts: EventDraft) -> None:
        answer = app.timeline.events.ingest(
            self.scope, "c1", list(drafts), self.seed, AT, app.rules.resolved(self.scope.tenant)
        )
        self.ids = [result.event_id or "" for result in answer.results]


Step = Callable[[App, Point], None]


def said(app: App, point: Point) -> None:
    point.say(
        app,
        EventDraft(content="I am allergic to nuts.", importance=0.9, timestamp=AT),
        EventDraft(content="Rome", key="city", timestamp=AT - timedelta(days=2)),
        EventDraft(content="Lyon", key="city", timestamp=AT - timedelta(days=1)),
    )


def nothing(_app: App, _point: Point) -> None:
    """A user who has said nothing yet."""


def project(app: App, point: Point) -> None:
    refs = app.parts.timeline.tail(point.scope).refs
    app.projection.events.project([PendingEvent(point.scope, ref) for ref in refs], AT)


def forget(app: App, point: Point) -> None:
    app.deletion.events.forget(point.scope, event_id=point.ids[2], now=AT)


def save(app: App, point: Point) -> None:
    draft = MemoryDraft(content="I collect stamps.", timestamp=AT)
    app.memories.store.save(point.scope, draft, point.seed, AT, USER, app.rules.resolved(point.scope.tenant))


def patch(app: App, point: Point) -> None:
    change = MemoryChange({"content": "I am allergic to milk."}, USER, lambda version: version == 1)
    app.memories.store.patch(point.scope, point.ids[0], change, AT)


@dataclass(frozen=True)
class Case:
    """A use case, and what is there in the end: events, and memories. `projected`: what is prepared is derived too."""

    prepare: Step
    act: Step
    events: tuple[str, ...]
    memories: tuple[str, ...]
    projected: bool = False


NUTS, CITIES = "I am allergic to nuts.", ("Rome", "Lyon")
CASES = {
    "ingest": Case(nothing, said, (NUTS, *CITIES), (NUTS, *CITIES)),
    "project": Case(said, project, (NUTS, *CITIES), (NUTS, *CITIES)),
    "forget": Case(said, forget, (NUTS, "Rome"), (NUTS, "Rome"), projected=True),
    "save": Case(nothing, save, ("I collect stamps.",), ("I collect stamps.",)),
    "patch": Case(said, patch, (NUTS, *CITIES), ("I am allergic to milk.", *CITIES), projected=True),
}


@pytest.fixture(scope="module", params=SEARCH_ENGINES)
def parts(engines: Engines, request: pytest.FixtureRequest) -> Iterator[Parts]:
    name = f"crash-{uuid.uuid4().hex[:12]}"
    with pytest.MonkeyPatch.context() as patch:
        OwnDatabase.use(patch, name)
        parts = open_app(settings_on(engines, name, request.param)).parts
        parts.create()
    shown_at_once(parts, name)
    yield parts
    drop_indexes(parts, name)
    parts.access.client.delete_table(TableName=name)  # type: ignore[attr-defined]


def wrapped(parts: Parts, ticket: Ticket) -> App:
    settings = Settings.from_environment({"RECOLLECT_EMBEDDER": "hashing"})
    return App(settings, cast(Parts, WrappedParts(parts, ticket)))


def a_point(parts: Parts, number: int, fault: Fault | None = None) -> Point:
    seed = wrapped(parts, Ticket()).ids.seed(int(datetime.now(UTC).timestamp() * 1000), 8)
    return Point(Scope(f"t-{uuid.uuid4().hex[:6]}", f"user-{number}"), seed, fault)


def prepare(parts: Parts, case: Case, points: Sequence[Point]) -> None:
    """For all of them at once: deriving waits for the index."""
    app = wrapped(parts, Ticket(armed=False))
    for point in points:
        case.prepare(app, point)
    if case.projected:
        reconcile(app)


def calls_of(parts: Parts, case: Case) -> list[tuple[str, int]]:
    """The calls of a try in which nothing goes wrong."""
    point, ticket = a_point(parts, 0), Ticket()
    prepare(parts, case, [point])
    case.act(wrapped(parts, ticket), point)
    return ticket.made_so_far


def strike(parts: Parts, case: Case, point: Point) -> None:
    """The first try, cut off at its point."""
    with suppress(Crash, RecollectError):
        case.act(wrapped(parts, Ticket(point.fault)), point)


def reconcile(app: App) -> None:
    """As the schedule does it, until nothing is pending."""
    for _ in range(ROUNDS):
        assert app.projection.reconciliation.run(AT).failed == {}
        app.deletion.tombstones.apply(AT, lambda: 60.0)
        if not app.parts.projections.pending(1, None).markers:
            return
    raise AssertionError("reconciliation comes to no end")


def faults(calls: list[tuple[str, int]]) -> list[Fault]:
    """A kill before the first call, after each write and after the last call; and the answer of each write lost.

    A kill after a read leaves what the kill before it left; tests/crashes makes those, too.
    """
    before = [("", 0), *calls]
    killed = [
        Fault(call, nth, Side.BEFORE, Kind.KILLED)
        for (last_call, last_nth), (call, nth) in zip(before, calls, strict=False)
        if not last_nth or _writes(last_call)
    ]
    last = [Fault(call, nth, Side.AFTER, Kind.KILLED) for call, nth in calls[-1:]]
    return [*killed, *last, *(Fault(call, nth, Side.AFTER, Kind.AWAY) for call, nth in calls if _writes(call))]


def _writes(call: str) -> bool:
    return call.partition(".")[2] not in READS


def check(app: App, point: Point, case: Case, published: Counter[tuple[str, str]]) -> None:
    """What is there is what would be there without a crash, once, with all that hangs on it."""
    parts, scope = app.parts, point.scope
    records = parts.timeline.records(scope, 100, None).events
    assert Counter(event.content for event in records) == Counter(case.events), point
    ids = {event.id for event in records}
    assert {ref.id for ref in parts.index.listed(scope, 100, None).refs} == ids, point
    memories = _memories(app, scope)
    assert Counter(content for _, content in memories) == Counter(case.memories), point
    assert {own for own, _ in memories} <= ids, point
    changes = Counter(
        (after["id"], after["version"])
        for item in parts.items.page(scope, AUDIT, 100, None).items
        if (after := cast(dict[str, Any] | None, item.value.get("after"))) is not None
    )
    assert set(changes.values()) <= {1}, point
    assert max(published.values(), default=1) == 1, point


def _memories(app: App, scope: Scope) -> list[tuple[str, str]]:
    page = app.parts.items.page(scope, MEMORIES, 100, None)
    return [(item.key.key, memory_in(item.value).content) for item in page.items if SAME_AS not in item.value]


@pytest.mark.spec("P-20", "P-22", "P-25")
@pytest.mark.parametrize("name", CASES)
def test_a_crash_at_any_call_on_the_engines(
    parts: Parts, name: str, record_property: Callable[[str, object], None], request: pytest.FixtureRequest
) -> None:
    case = CASES[name]
    calls = calls_of(parts, case)
    every = faults(calls)
    taken = every if ALL else sampled(request.node.name, every, TODAY.toordinal(), SHARE)
    points = [a_point(parts, number, fault) for number, fault in enumerate(taken, start=1)]
    for what, count in (("calls", len(calls)), ("points", 4 * len(calls)), ("runs", len(points))):
        record_property(f"crash_{what}", count)
    prepare(parts, case, points)
    for point in points:
        strike(parts, case, point)
    app = wrapped(parts, Ticket(armed=False))
    reconcile(app)
    for point in points:
        with suppress(NotFound, VersionMismatch):
            case.act(app, point)
    reconcile(app)
    for point in points:
        published = Counter((one.id, one.type) for one in app.parts.publisher.published(point.scope.tenant, None, None))
        check(app, point, case, published)
