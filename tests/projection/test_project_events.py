"""Project: what is derived from events, once whatever happens on the way."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import cast

import pytest

from embedded.setting import ANNA, NOON, Memory, away, with_parts
from embedded.standing import Before
from recollect.core.errors import Unavailable
from recollect.core.event import EventRef
from recollect.core.scope import Scope
from recollect.ports import IndexFailure
from recollect.retrieval.filters import TimeWindow
from recollect.retrieval.nomination import IndexDocument
from recollect.rules.groups import Rules
from recollect.timeline.bus import EPISODIC_SAVED
from recollect.timeline.record import EventDraft
from recollect.timeline.timeline import PendingEvent, WindowQuery


@pytest.mark.spec("A-44", "A-59")
def test_a_saved_event_is_published_to_its_tenant(memory: Memory) -> None:
    memory.add("I live in Paris")
    memory.project()
    (published,) = memory.app.parts.publisher.published("acme", EPISODIC_SAVED, None)
    assert published.detail["content"] == "I live in Paris"
    assert memory.app.parts.publisher.published("other", None, None) == []


def test_projecting_again_changes_nothing(memory: Memory) -> None:
    memory.add("I live in Paris", "I paint sunrises")
    refs = memory.app.parts.timeline.tail(ANNA).refs
    before = None
    for _ in range(3):
        report = memory.app.projection.events.project([PendingEvent(ANNA, ref) for ref in refs], memory.now)
        assert (report.projected, report.failed) == (2, {})
        found = memory.search("Paris", count=True)
        state = ([r.event for r in found.results], found.diagnostics.matched_count)
        assert before in (None, state)
        before = state
    assert len(memory.app.parts.publisher.published("acme", EPISODIC_SAVED, None)) == 2


def test_a_record_of_an_event_that_never_was_removes_and_goes_on(memory: Memory) -> None:
    ghost = PendingEvent(ANNA, EventRef("018f0000-0000-7000-8000-000000000009", NOON))
    memory.add("real")
    real = PendingEvent(ANNA, memory.app.parts.timeline.tail(ANNA).refs[0])
    report = memory.app.projection.events.project([ghost, real], memory.now)
    assert (report.projected, report.gone, report.failed) == (1, 1, {})


@pytest.mark.parametrize(
    ("part", "method"),
    [
        ("index", "put"), ("publisher", "publish"), ("embedder", "encode"), ("projections", "save"),
        ("projections", "settle"), ("projections", "enter_conversation"), ("projections", "vectors"),
        ("projections", "together"), ("timeline", "read"),
    ],
)  # fmt: skip
def test_whatever_fails_is_reported_stays_pending_and_is_made_good(memory: Memory, part: str, method: str) -> None:
    memory.add("I live in Paris")
    with away(memory, part, method) as broken:
        report = broken.app.projection.reconciliation.run(memory.now)
        assert (report.projected, report.failed) == (0, {memory.ids[0]: "Unavailable"})
    assert memory.found("Paris") == ["I live in Paris"]
    assert memory.project() == 1
    assert memory.app.parts.timeline.tail(ANNA).refs == ()
    assert memory.found("Paris") == ["I live in Paris"]


def test_one_users_failure_is_nobody_elses(memory: Memory) -> None:
    memory.add("mine")
    memory.add("theirs", scope=Scope("acme", "ben"))

    class OnlyBen(Before):
        def read(self, scope: Scope, refs: list[EventRef]) -> object:
            if scope.user_id == "anna":
                raise Unavailable("read is away")
            return self.part.read(scope, refs)

    broken = with_parts(memory, timeline=OnlyBen(memory.app.parts.timeline))
    report = broken.app.projection.reconciliation.run(memory.now)
    assert (report.projected, list(report.failed)) == (1, [memory.ids[0]])


def test_what_fails_at_the_commit_is_reported_as_not_projected(memory: Memory) -> None:
    class Full(Before):
        @contextmanager
        def together(self) -> Iterator[None]:
            with self.part.together():
                yield
                raise Unavailable("the disk is full")

    memory.add("mine")
    memory.add("theirs", scope=Scope("acme", "ben"))
    broken = with_parts(memory, projections=Full(memory.app.parts.projections))
    report = broken.app.projection.reconciliation.run(memory.now)
    assert (report.projected, report.failed) == (0, dict.fromkeys(memory.ids, "Unavailable"))
    assert memory.app.parts.publisher.published("acme", None, None) == []
    assert memory.project() == 2


def test_other_writers_get_their_turn_after_a_few_events(memory: Memory) -> None:
    groups: list[int] = []

    class Few(Before):
        most_together = 2

    class Counted(Before):
        def put(self, documents: Sequence[IndexDocument], **shown: bool) -> list[IndexFailure]:
            groups.append(len(documents))
            return cast(list[IndexFailure], self.part.put(documents, **shown))

    for number in range(9):
        memory.add(f"note {number}")
    parts = memory.app.parts
    counting = with_parts(memory, projections=Few(parts.projections), index=Counted(parts.index))
    assert counting.app.projection.reconciliation.run(memory.now).projected == 9
    assert groups == [2, 2, 2, 2, 1]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0), (1, 0, 2)])
def test_the_newest_event_of_a_key_is_its_value_whatever_order_they_come_in(
    memory: Memory, order: tuple[int, ...]
) -> None:
    cities = [
        EventDraft(content=c, key="city", timestamp=NOON + timedelta(days=d))
        for d, c in enumerate(["Rome", "Paris", "Lyon"])
    ]
    for position in order:
        memory.add(cities[position])
        memory.project()
    page = memory.app.timeline.listing.window(ANNA, WindowQuery(now=memory.now, window=TimeWindow(), limit=10))
    by_city = {event.content: event for event in page.events}
    assert by_city["Lyon"].superseded_by is None
    assert by_city["Paris"].superseded_by == by_city["Lyon"].id
    assert by_city["Rome"].superseded_by == by_city["Paris"].id
    assert memory.found("Rome Paris Lyon") == ["Lyon"]
    assert set(memory.found("Rome Paris Lyon", include_superseded=True)) == {"Rome", "Paris", "Lyon"}
    assert memory.found("Rome Paris Lyon", as_of=NOON + timedelta(days=1)) == ["Paris"]


def test_slots_are_of_a_persona_and_a_household(memory: Memory) -> None:
    memory.add(EventDraft(content="Rome", key="city", timestamp=NOON))
    memory.add(EventDraft(content="Oslo", key="city", timestamp=NOON), scope=Scope("acme", "anna", "coach"))
    memory.project()
    assert sorted(memory.found("Rome Oslo")) == ["Oslo", "Rome"]


def test_what_the_stream_never_brought_is_found_by_its_marker(memory: Memory) -> None:
    memory.add(*(f"note number {n}" for n in range(230)))
    assert memory.project() == 230
    assert memory.app.projection.reconciliation.oldest_age(memory.now) == timedelta(0)
    assert memory.project() == 0


def test_the_steps_of_a_batch_read_the_rules_once(memory: Memory) -> None:
    projection, asked = memory.app.projection, []

    def rules(tenant: str) -> Rules:
        asked.append(tenant)
        return memory.app.rules.resolved(tenant)

    projection.__dict__["steps"] = replace(projection.steps, rules=rules)
    memory.add("I live in Rome", "I moved to Lyon")
    assert memory.project() == 2
    assert asked == ["acme"]
