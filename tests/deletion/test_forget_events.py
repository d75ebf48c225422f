"""Forget: a deleted event is deleted everywhere, stays deleted, and nothing else is deleted with it."""

import sqlite3
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from embedded.setting import ANNA, NOON, Memory, away, open_memory, with_parts
from embedded.standing import Before
from recollect.core.errors import NotFound, Unavailable, VersionMismatch
from recollect.core.event import EventRef
from recollect.core.scope import Scope
from recollect.deletion.forget_events import Forgotten
from recollect.projection.project import ProjectEvents, ProjectionReport
from recollect.retrieval.filters import TimeWindow
from recollect.timeline.record import EventDraft
from recollect.timeline.timeline import PendingEvent, WindowQuery

DAY = timedelta(days=1)
SECRET = "the zebra sings at midnight"


def city(name: str, day: float, **more: Any) -> EventDraft:
    return EventDraft(content=name, key="city", timestamp=NOON + timedelta(days=day), **more)


def listed(memory: Memory, scope: Scope = ANNA) -> list[str]:
    query = WindowQuery(now=memory.now, window=TimeWindow(), limit=100)
    return [event.content for event in memory.app.timeline.listing.window(scope, query).events]


def forget(memory: Memory, number: int) -> Forgotten:
    return memory.app.deletion.events.forget(ANNA, event_id=memory.ids[number], now=memory.now)


def shown(memory: Memory, text: str, **more: Any) -> set[str]:
    """What any way of asking shows of these words, with those that a context gives."""
    found = {*memory.found(text, **more), *memory.found(text, mode="lexical", **more)}
    found |= set(memory.found(text, mode="semantic", min_similarity=-1.0, **more))
    return found | {one.item.content for one in memory.context(text, **more).prompt.memories}


@pytest.mark.spec("P-22")
@pytest.mark.parametrize("projected_before", [False, True])
@pytest.mark.parametrize("projected_after", [False, True])
def test_a_deleted_event_is_in_no_answer(memory: Memory, projected_before: bool, projected_after: bool) -> None:
    memory.add("the cat sleeps", SECRET, "the dog barks")
    if projected_before:
        memory.project()
    assert SECRET in shown(memory, "zebra sings")
    assert forget(memory, 1).event_ids == (memory.ids[1],)
    if projected_after:
        memory.project()
    assert shown(memory, "zebra sings", include_superseded=True) == {"the cat sleeps", "the dog barks"}
    assert memory.search("zebra").diagnostics.matched_count == 2
    assert listed(memory) == ["the dog barks", "the cat sleeps"]
    with pytest.raises(NotFound):
        memory.app.timeline.listing.one(ANNA, memory.ids[1], memory.now)
    assert memory.ids[1] not in [event.id for event in memory.app.parts.publisher.published("acme", None, None)]


@pytest.mark.spec("P-22")
def test_the_same_event_is_refused_and_the_same_words_later_are_a_new_one(memory: Memory) -> None:
    draft = EventDraft(content=SECRET, timestamp=NOON)
    memory.add(draft)
    memory.project()
    forget(memory, 0)
    for _ in range(2):
        (result,) = memory.add(draft).results
        assert (result.status, result.reason, result.event_id) == ("refused", "deleted", None)
        memory.project()
    assert listed(memory) == memory.found(SECRET) == []
    memory.add(replace(draft, timestamp=NOON + DAY))
    assert listed(memory) == [SECRET]


def test_no_word_of_it_is_left_in_a_table(tmp_path: Path) -> None:
    memory = open_memory(tmp_path)
    memory.add(
        "the cat sleeps", EventDraft(content=SECRET, timestamp=NOON, key="beast", tags=("zebra",), title="zebra")
    )
    memory.project()
    forget(memory, 1)
    memory.project()
    memory.app.parts.close()
    with sqlite3.connect(tmp_path / "recollect.db") as connection:
        text = "\n".join(line for line in connection.iterdump() if "writable_schema" not in line)
        terms = [row[0] for row in connection.execute("SELECT term FROM word_frequencies")]
        documents, words = connection.execute("SELECT documents, terms FROM scopes").fetchone()
    connection.close()
    assert "zebra" not in text
    assert not [term for term in terms if "zebra" in term]
    assert (documents, words) == (1, 2)


def test_what_is_not_there_is_not_found(memory: Memory) -> None:
    memory.add("mine", city("Rome", 0))
    unknown: list[tuple[Scope, dict[str, Any]]] = [
        (ANNA, {"event_id": "018f0000-0000-7000-8000-000000000009"}),
        (ANNA, {"key": "country"}),
        (Scope("acme", "ben"), {"event_id": memory.ids[0]}),
        (Scope("other", "anna"), {"event_id": memory.ids[0]}),
        (Scope("acme", "anna", "coach"), {"event_id": memory.ids[0]}),
        (Scope("acme", "anna", "coach"), {"key": "city"}),
        (Scope("acme", "ben"), {"key": "city"}),
    ]
    for scope, named in unknown:
        with pytest.raises(NotFound):
            memory.app.deletion.events.forget(scope, now=memory.now, **named)
    assert listed(memory) == ["mine", "Rome"]
    forget(memory, 0)
    with pytest.raises(NotFound):
        forget(memory, 0)


def test_a_version_that_is_not_accepted_is_kept(memory: Memory) -> None:
    memory.add(city("Rome", 0))
    memory.project()
    with pytest.raises(VersionMismatch):
        memory.app.deletion.events.forget(
            ANNA, event_id=memory.ids[0], now=memory.now, accepts=lambda version: version == 2
        )
    assert listed(memory) == ["Rome"]
    memory.app.deletion.events.forget(
        ANNA, event_id=memory.ids[0], now=memory.now, accepts=lambda version: version == 1
    )
    assert listed(memory) == []


@pytest.mark.spec("P-19", "P-22")
@pytest.mark.parametrize("projected", ["none", "old", "all"])
@pytest.mark.parametrize("then", [False, True])
def test_a_slot_whose_value_was_deleted_is_empty(memory: Memory, projected: str, then: bool) -> None:
    memory.add(city("Rome", 0))
    if projected != "none":
        memory.project()
    memory.add(city("Lyon", 2))
    if projected == "all":
        memory.project()
    forget(memory, 1)
    if then:
        memory.project()
    assert shown(memory, "Rome Lyon") == set()
    assert shown(memory, "Rome Lyon", include_superseded=True) == {"Rome"}
    if then:
        assert memory.found("Rome Lyon", as_of=NOON + DAY) == ["Rome"]
        assert memory.search("Rome Lyon").diagnostics.matched_count == 0
    assert listed(memory) == ["Rome"]


@pytest.mark.spec("P-22")
@pytest.mark.parametrize("late", [False, True])
def test_what_arrives_later_fills_the_slot_with_a_newer_time_only(memory: Memory, late: bool) -> None:
    memory.add(city("Rome", 0), city("Lyon", 2))
    memory.project()
    forget(memory, 1)
    memory.add(city("Oslo", 1), city("Bonn", 2), scope=ANNA)
    if late:
        memory.project()
    cities = "Rome Lyon Oslo Bonn Kyiv"
    assert shown(memory, cities) == set()
    assert set(listed(memory)) == {"Rome", "Oslo", "Bonn"}
    memory.add(city("Kyiv", 2.001))
    assert shown(memory, cities) == {"Kyiv"}
    memory.project()
    assert shown(memory, cities) == {"Kyiv"}


@pytest.mark.spec("P-22")
@pytest.mark.parametrize("projected", [False, True])
@pytest.mark.parametrize("number", [0, 1])
def test_deleting_an_older_value_leaves_the_newer(memory: Memory, projected: bool, number: int) -> None:
    memory.add(city("Rome", 0), city("Lyon", 2), city("Bonn", 2))
    if projected:
        memory.project()
    forget(memory, number)
    for _ in range(2):
        assert shown(memory, "Rome Lyon Bonn") == {"Bonn"}
        memory.project()
    forget(memory, 2)
    for _ in range(2):
        assert shown(memory, "Rome Lyon Bonn") == set()
        memory.project()


@pytest.mark.spec("P-22")
@pytest.mark.parametrize("projected", [0, 2, 4])
def test_a_key_is_deleted_with_its_whole_history(memory: Memory, projected: int) -> None:
    coach = Scope("acme", "anna", "coach")
    cities = [city("Rome", 0), city("Lyon", 3, is_private=True), city("Bonn", 2), city("Oslo", 1)]
    for position, draft in enumerate(cities):
        memory.add(draft)
        if position < projected:
            memory.project()
    memory.add(city("Kyiv", 0), scope=coach)
    memory.add(EventDraft(content="Rome is warm", timestamp=NOON, key="weather"))
    forgotten = memory.app.deletion.events.forget(ANNA, key="city", now=memory.now)
    assert forgotten.event_ids == tuple(memory.ids[n] for n in (1, 2, 3, 0))
    for _ in range(2):
        assert shown(memory, "Rome Lyon Bonn Oslo Kyiv", include_superseded=True) == {"Kyiv", "Rome is warm"}
        assert sorted(listed(memory)) == ["Kyiv", "Rome is warm"]
        memory.project()
    for draft in cities:
        assert memory.add(draft).results[0].status == "refused"
    memory.add(city("Wien", 3))
    assert "Wien" not in shown(memory, "Wien")
    memory.add(city("Graz", 4))
    assert "Graz" in shown(memory, "Graz")
    with pytest.raises(NotFound):
        memory.app.deletion.events.forget(Scope("acme", "anna", "other"), key="city", now=memory.now)


@pytest.mark.parametrize("method", ["fill_slot", "supersede"])
def test_a_failure_leaves_all_of_it_and_a_retry_continues(memory: Memory, method: str) -> None:
    memory.add(city("Rome", 0))
    memory.project()
    memory.add(city("Lyon", 1))
    with away(memory, "projections", method) as broken, pytest.raises(Unavailable):
        broken.app.deletion.events.forget(ANNA, key="city", now=memory.now)
    assert len(listed(memory)) == 2
    assert len(memory.app.deletion.events.forget(ANNA, key="city", now=memory.now).event_ids) == 2


def test_a_failure_half_way_has_emptied_the_slot_and_a_retry_continues(memory: Memory) -> None:
    memory.add(city("Rome", 0), city("Lyon", 1), city("Bonn", 2))
    memory.project()

    class OnceOnly(Before):
        calls = 0

        def remove(self, *given: Any) -> bool:
            self.calls += 1
            if self.calls > 1:
                raise Unavailable("away")
            return bool(self.part.remove(*given))

    broken = with_parts(memory, timeline=OnceOnly(memory.app.parts.timeline))
    with pytest.raises(Unavailable):
        broken.app.deletion.events.forget(ANNA, key="city", now=memory.now)
    assert shown(memory, "Rome Lyon Bonn") == set()
    assert len(memory.app.deletion.events.forget(ANNA, key="city", now=memory.now).event_ids) == 2
    assert listed(memory) == []


@pytest.mark.parametrize("method", ["remove", "put"])
def test_an_index_that_is_away_is_made_good_later(memory: Memory, method: str) -> None:
    memory.add("the cat sleeps", SECRET)
    memory.project()
    forget(memory, 1)
    memory.add("the dog barks")
    with away(memory, "index", method) as broken:
        assert broken.app.projection.reconciliation.run(memory.now).failed
    assert shown(memory, "zebra") == {"the cat sleeps", "the dog barks"}
    memory.app.projection.reconciliation.run(memory.now)
    assert memory.app.parts.projections.pending(10, None).markers == ()


@pytest.mark.spec("P-25")
def test_old_records_and_a_restart_bring_nothing_back(tmp_path: Path) -> None:
    memory = open_memory(tmp_path)
    memory.add(city("Rome", 0), city("Lyon", 1), SECRET)
    old = [PendingEvent(ANNA, ref) for ref in memory.app.parts.timeline.tail(ANNA).refs]
    memory.project()
    for number in (1, 2):
        forget(memory, number)
    for _ in range(3):
        memory.app.projection.events.project(old, memory.now)
        memory.project()
        memory.app.parts.close()
        memory = Memory(open_memory(tmp_path).app, memory.now, memory.ids)
        assert shown(memory, "Rome Lyon zebra") == set()
        assert listed(memory) == ["Rome"]
    memory.app.parts.close()


class Interrupting(Before):
    """A part before whose method, or after it, something else happens once."""

    def __init__(self, part: object, method: str, happen: Any, *, after: bool) -> None:
        super().__init__(part)
        self._method, self._happen, self._after = method, happen, after

    def __getattr__(self, name: str) -> Any:
        real = super().__getattr__(name)
        return self._interrupted(real) if name == self._method and self._happen else real

    def _interrupted(self, real: Any) -> Any:
        def call(*given: Any) -> Any:
            happen, self._happen = self._happen, None
            if happen and not self._after:
                happen()
            answer = real(*given)
            if happen and self._after:
                happen()
            return answer

        return call


class Apart(Before):
    """Projections whose writes stand by themselves, as in a store without one transaction for all."""

    together = nullcontext


@pytest.mark.spec("P-22", "P-25")
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize(
    ("part", "method"),
    [
        ("projections", "save"), ("projections", "fill_slot"), ("projections", "enter_conversation"),
        ("index", "put"), ("publisher", "publish"),
    ],
)  # fmt: skip
def test_a_deletion_in_the_middle_of_a_projection_leaves_nothing_behind(
    memory: Memory, part: str, method: str, after: bool
) -> None:
    """The other projection, of the removal, is done by the time this one goes on: it must clean up after itself."""
    memory.add(city("Rome", 0), city(SECRET, 1))
    parts = memory.app.parts

    def project(**others: Any) -> ProjectionReport:
        own = {"projections": Apart(parts.projections), "index": parts.index, "publisher": parts.publisher, **others}
        stores = (own["projections"], own["index"], parts.embedder, own["publisher"])
        project = ProjectEvents(parts.timeline, *stores, memory.app.projection.steps)
        return project.project(parts.projections.pending(10, None).markers, memory.now)

    def delete_and_project() -> None:
        forget(memory, 1)
        assert project().failed == {}

    real = Apart(parts.projections) if part == "projections" else getattr(parts, part)
    project(**{part: Interrupting(real, method, delete_and_project, after=after)})
    assert parts.projections.pending(10, None).markers == ()
    assert parts.projections.vectors(ANNA, memory.ids).keys() == {memory.ids[0]}
    assert [event.id for event in parts.publisher.published("acme", "memory:episodic:saved", None)] == [memory.ids[0]]
    for _ in range(2):
        assert shown(memory, f"Rome {SECRET}") == set()
        answer = memory.search(f"Rome {SECRET}", include_superseded=True)
        assert [result.event.content for result in answer.results] == ["Rome"]
        assert answer.diagnostics.matched_count == 1
        memory.project()


def test_the_projector_is_notified(memory: Memory) -> None:
    told: list[tuple[Scope, Sequence[EventRef]]] = []
    memory.add("one")
    memory.app.listeners.append(lambda scope, refs: told.append((scope, refs)))
    forget(memory, 0)
    ((scope, refs),) = told
    assert (scope, [ref.id for ref in refs]) == (ANNA, memory.ids)


def test_an_expired_event_is_deleted_too(memory: Memory) -> None:
    soon: datetime = NOON + timedelta(minutes=5)
    memory.add(EventDraft(content=SECRET, timestamp=NOON, expires_at=soon))
    memory.now = NOON + DAY
    assert forget(memory, 0).event_ids == (memory.ids[0],)
    assert memory.app.parts.timeline.newest(ANNA, 10) == []
