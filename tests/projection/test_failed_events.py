"""One event cannot stop the others: whatever raises for it, they are projected, and it is noted, retried, replayed."""

import logging
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from embedded.failing import Fault, Faults, ids_of, with_faults
from embedded.setting import ANNA, Instead, Memory, with_parts
from embedded.standing import Before
from recollect.adapters.local.database import FILE_NAME
from recollect.contradictions import candidates as looked_at
from recollect.core.errors import Conflict, StoredDataError, Throttled, Unavailable, UpstreamFailed, VersionMismatch
from recollect.core.event import Event
from recollect.core.items import ItemKey
from recollect.core.scope import Scope
from recollect.jobs.job import Job, JobStatus
from recollect.jobs.run import JobOrder
from recollect.memories.audit import Actor, ActorKind
from recollect.memories.save import MemoryChange
from recollect.ports import IndexFailure
from recollect.projection.project import MOST_OUTAGES, PARTS
from recollect.projection.quarantine import Noted
from recollect.retrieval.nomination import IndexDocument
from recollect.timeline.bus import EPISODIC_SAVED
from recollect.timeline.failed_projections import FAILED, RETRY_POLICY, FailedProjection
from recollect.timeline.record import EventDraft

BEN, EVE = Scope("acme", "ben"), Scope("other", "eve")
USERS = (ANNA, BEN, EVE)
SECOND = timedelta(seconds=1)
USER = Actor(ActorKind.USER, "anna")


class Defect(Exception):
    """What no adapter and no rule is known to raise."""


def projected(memory: Memory, scope: Scope, event_id: str) -> bool:
    """Whether all was derived that its user sees: no marker, a kept vector, found by meaning, published."""
    parts = memory.app.parts
    saved = {one.id for one in parts.publisher.published(scope.tenant, EPISODIC_SAVED, None)}
    found = {one.event.id for one in memory.search("sparrow", scope, wanted=100, mode="semantic").results}
    kept = parts.projections.vectors(scope, [event_id])
    return event_id in saved & found & kept.keys() and event_id not in ids_of(memory, [scope])


def notes(memory: Memory, tenant: str = "acme") -> dict[str, FailedProjection]:
    return {one.failed.ref.id: one.failed for one in memory.app.projection.failed_events.listed(tenant, 1_000)}


def run_job(memory: Memory, tenant: str, **parameters: object) -> Job:
    order = JobOrder(kind="reconcile", parameters=parameters, now=memory.now, real_now=memory.now)
    job = memory.app.jobs.start(tenant, order, memory.app.ids.seed(int(memory.now.timestamp() * 1000)))
    return memory.app.job_runs.one(tenant, job.id, lambda: memory.now, lambda: 900.0)


def poisoned(memory: Memory, word: str = "poison", place: str = "embedder.encode") -> Memory:
    """The memory where a text with this word makes a part raise ValueError."""
    return with_faults(memory, Faults({word: Fault(place, ValueError)}))


def test_a_text_that_the_encoder_cannot_read_stops_nobody_else(memory: Memory) -> None:
    memory.add("a sparrow", "poison", "another sparrow")
    memory.add("a sparrow of Ben", scope=BEN)
    memory.add("a sparrow of Eve", scope=EVE)
    broken = poisoned(memory)
    report = broken.app.projection.reconciliation.run(memory.now)
    bad = memory.ids[1]
    assert (report.projected, report.failed, report.noted) == (4, {bad: "ValueError"}, {bad})
    assert all(projected(memory, ANNA, event_id) for event_id in (memory.ids[0], memory.ids[2]))
    assert projected(memory, BEN, memory.ids[3])
    assert projected(memory, EVE, memory.ids[4])
    (note,) = notes(memory).values()
    assert (note.error, note.tries, note.first_at, note.last_at) == ("ValueError", 1, memory.now, memory.now)
    assert [event.id for event in memory.app.parts.timeline.newest(ANNA, 10)].count(bad) == 1


def test_what_failed_is_tried_less_and_less_often_and_then_quarantined(memory: Memory) -> None:
    memory.add("poison")
    broken = poisoned(memory)
    tried, began = [], memory.now
    for _ in range(2 * 60 * 12):
        if broken.app.projection.reconciliation.run(memory.now).failed:
            tried.append((memory.now - began).total_seconds())
        memory.now += timedelta(seconds=5)
    assert tried == [0, 30, 90, 210, 450, 930, 1890, 3810]
    (note,) = notes(memory).values()
    assert (note.tries, note.quarantined, note.next_at) == (RETRY_POLICY.most_tries, True, None)
    assert memory.app.projection.reconciliation.oldest_age(memory.now) == timedelta(0)
    assert memory.app.projection.reconciliation.run(memory.now).projected == 0


def test_what_waits_to_be_tried_again_counts_as_waiting(memory: Memory) -> None:
    memory.add("poison")
    poisoned(memory).app.projection.reconciliation.run(memory.now)
    assert memory.app.projection.reconciliation.oldest_age(memory.now + timedelta(minutes=20)) > timedelta(minutes=19)


def test_a_fault_that_passed_is_over_with_the_next_try(memory: Memory) -> None:
    memory.add("poison and a sparrow")
    poisoned(memory).app.projection.reconciliation.run(memory.now)
    assert memory.app.projection.reconciliation.run(memory.now + 29 * SECOND).projected == 0
    assert memory.app.projection.reconciliation.run(memory.now + 30 * SECOND).projected == 1
    assert notes(memory) == {}
    assert projected(memory, ANNA, memory.ids[0])


def test_more_than_a_page_of_them_stands_in_nobodys_way(memory: Memory) -> None:
    for _ in range(7):
        memory.add(*(f"poison {number}" for number in range(50)))
    memory.add("a sparrow", scope=EVE)
    broken = poisoned(memory)
    first, after = broken.app.projection.reconciliation.page(memory.now, None)
    assert (first.projected, len(first.noted)) == (0, 300)
    second, after = broken.app.projection.reconciliation.page(memory.now, after)
    assert (second.projected, len(second.noted), after) == (1, 50, None)
    memory.add("a sparrow", scope=BEN)
    assert broken.app.projection.reconciliation.page(memory.now, None)[0].projected == 1
    assert ids_of(memory, USERS) == set()


def test_the_attempts_for_events_that_all_fail_are_bounded(memory: Memory) -> None:
    memory.add(*(f"poison {number}" for number in range(64)))
    faults = Faults({"poison": Fault("timeline.read", ValueError)})
    memory_of_ids = with_faults(memory, faults)
    faults.by_word = {event_id: Fault("timeline.read", ValueError) for event_id in memory.ids}
    reads = _counted(memory_of_ids, "timeline", "read")
    assert len(memory_of_ids.app.projection.reconciliation.run(memory.now).noted) == 64
    assert len(reads) <= 2 * 64


@pytest.mark.parametrize("error", [Unavailable, Throttled, UpstreamFailed, VersionMismatch, Conflict, OSError])
def test_an_engine_that_is_away_is_no_events_fault_and_asked_little(memory: Memory, error: type[Exception]) -> None:
    memory.add(*(f"a sparrow {number}" for number in range(16)))
    memory.add("a sparrow", scope=EVE)
    broken = with_faults(memory, Faults({"IndexDocument": Fault("index.put", error)}))
    puts = _counted(broken, "index", "put")
    for _ in range(4):
        report = broken.app.projection.reconciliation.run(memory.now)
        assert (report.noted, set(report.failed.values())) == (set(), {error.__name__})
        memory.now += timedelta(hours=1)
    assert len(puts) <= 2 * 4
    assert (notes(memory), notes(memory, "other")) == ({}, {})
    assert memory.project() == 17


def test_one_event_that_an_engine_never_answers_stops_no_others(memory: Memory) -> None:
    memory.add("poison", *(f"a sparrow {number}" for number in range(70)))
    broken = with_faults(memory, Faults({memory.ids[0]: Fault("index.put", Unavailable)}))
    assert len(broken.app.projection.reconciliation.run(memory.now - timedelta(minutes=70)).failed) == 71
    for _ in range(3):
        broken.app.projection.reconciliation.run(memory.now)
        memory.now += timedelta(minutes=5)
    assert ids_of(memory, USERS) == {memory.ids[0]}
    assert notes(memory) == {}


def test_what_a_service_refuses_is_the_events_fault_where_it_takes_others(memory: Memory) -> None:
    memory.add("a sparrow", "poison")
    broken = with_faults(memory, Faults({memory.ids[1]: Fault("index.put", UpstreamFailed)}))
    while ids_of(memory, USERS):
        broken.app.projection.reconciliation.run(memory.now)
        memory.now += timedelta(milliseconds=1)
    assert notes(memory)[memory.ids[1]].error == "UpstreamFailed"


def test_after_many_outages_in_a_row_the_rest_waits(memory: Memory) -> None:
    memory.add("a sparrow")
    for number in range(40):
        memory.add(f"poison {number}", scope=Scope("acme", f"user {number}"))
    broken = with_faults(memory, Faults({event_id: Fault("items.get", Unavailable) for event_id in memory.ids[1:]}))
    report = broken.app.projection.reconciliation.run(memory.now)
    assert (report.projected, len(report.failed)) == (1, 40)
    many = with_faults(memory, faults := Faults({i: Fault("index.put", Unavailable) for i in memory.ids[1:]}))
    puts = _counted(many, "index", "put")
    many.app.projection.reconciliation.run(memory.now)
    assert len(puts) <= MOST_OUTAGES + PARTS
    assert faults.struck


def test_an_interrupt_is_nobodys_failure(memory: Memory) -> None:
    memory.add("a sparrow")
    broken = with_faults(memory, Faults({"IndexDocument": Fault("index.put", KeyboardInterrupt)}))  # type: ignore[arg-type]
    with pytest.raises(KeyboardInterrupt):
        broken.app.projection.reconciliation.run(memory.now)
    assert notes(memory) == {}
    assert memory.project() == 1


def test_a_change_record_that_comes_meanwhile_counts_as_no_try(memory: Memory) -> None:
    memory.add("poison")
    broken = poisoned(memory)
    broken.app.projection.reconciliation.run(memory.now)
    for _ in range(20):
        memory.app.parts.projections.mark(ANNA, [memory.app.parts.timeline.newest(ANNA, 1)[0].ref])
        assert broken.app.projection.reconciliation.run(memory.now).noted == set(memory.ids)
        assert ids_of(memory, USERS) == set()
    assert notes(memory)[memory.ids[0]].tries == 1


def test_where_nothing_can_be_noted_the_marker_stays(memory: Memory, caplog: pytest.LogCaptureFixture) -> None:
    memory.add("a sparrow", "poison")

    def get(found: Any, owner: Scope, keys: Sequence[ItemKey]) -> Any:
        if any(key.path == FAILED for key in keys):
            raise Defect
        return found(owner, keys)

    without_notes = with_parts(memory, items=Instead(memory.app.parts.items, get=get))
    report = poisoned(without_notes).app.projection.reconciliation.run(memory.now)
    assert (report.projected, report.noted) == (1, set())
    assert ids_of(memory, USERS) == {memory.ids[1]}
    assert "Defect" in str([record.__dict__ for record in caplog.records])


def test_the_log_says_what_failed_where_and_no_text(memory: Memory, caplog: pytest.LogCaptureFixture) -> None:
    memory.add("poison")
    with caplog.at_level(logging.INFO, "recollect"):
        poisoned(memory).app.projection.reconciliation.run(memory.now)
    (told,) = [record.__dict__ for record in caplog.records if record.levelno == logging.WARNING]
    assert (told["event_id"], told["error"], told["tries"], told["quarantined"]) == (
        memory.ids[0],
        "ValueError",
        1,
        False,
    )
    assert told["at"].startswith("failing.py:")
    assert "secret" not in str(told)
    assert "poison" not in str(told)


@pytest.mark.spec("P-22")
def test_what_is_deleted_has_no_note_any_more(memory: Memory) -> None:
    memory.add("poison", "more poison")
    broken = poisoned(memory)
    broken.app.projection.reconciliation.run(memory.now)
    broken.app.deletion.events.forget(ANNA, event_id=memory.ids[0], now=memory.now)
    assert broken.app.projection.reconciliation.run(memory.now).gone == 1
    assert notes(memory).keys() == {memory.ids[1]}


def test_a_removal_that_fails_is_tried_for_ever_and_its_event_counts_as_quarantined(memory: Memory) -> None:
    memory.add("a sparrow", "another")
    memory.project()
    memory.app.deletion.events.forget(ANNA, event_id=memory.ids[0], now=memory.now)
    broken = with_faults(memory, Faults({memory.ids[0]: Fault("index.remove", ValueError)}))
    for _ in range(24):
        broken.app.projection.reconciliation.run(memory.now)
        memory.now += timedelta(hours=1)
        assert ids_of(memory, USERS) == set()
    note = notes(memory)[memory.ids[0]]
    assert (note.removed, note.quarantined, note.tries) == (True, True, 24)
    assert memory.app.projection.reconciliation.standing().quarantined == 1
    assert memory.app.projection.reconciliation.run(memory.now).gone == 1
    assert notes(memory) == {}


class Refusing(Before):
    """An index that answers with a refusal of one document."""

    def __init__(self, index: Any, failure: IndexFailure) -> None:
        super().__init__(index)
        self._failure = failure

    def put(self, documents: Sequence[IndexDocument], *, shown: bool = True) -> list[IndexFailure]:
        return self._around(documents, [one.ref.id for one in documents], partial(self.part.put, shown=shown))

    def remove(self, scope: Scope, event_ids: Sequence[str], *, shown: bool = True) -> list[IndexFailure]:
        return self._around(event_ids, event_ids, partial(self.part.remove, scope, shown=shown))

    def _around(self, given: Sequence[Any], ids: Sequence[str], call: Any) -> list[IndexFailure]:
        taken = [one for one, event_id in zip(given, ids, strict=True) if event_id != self._failure.event_id]
        return [*call(taken), *([self._failure] if len(taken) < len(given) else [])]


@pytest.mark.parametrize("deleted", [False, True])
def test_a_document_that_the_index_refuses_is_noted_alone(memory: Memory, deleted: bool) -> None:
    memory.add("a sparrow", "another sparrow")
    refused, other = memory.ids
    if deleted:
        memory.project()
        memory.app.deletion.events.forget(ANNA, event_id=refused, now=memory.now)
    failure = IndexFailure(refused, "mapper_parsing_exception", retryable=False)
    refusing = with_parts(memory, index=Refusing(memory.app.parts.index, failure))
    refusing.app.projection.reconciliation.run(memory.now)
    assert {event_id: note.removed for event_id, note in notes(memory).items()} == {refused: deleted}
    assert projected(memory, ANNA, other)
    memory.now += timedelta(hours=1)
    memory.app.projection.reconciliation.run(memory.now)
    assert notes(memory) == {}
    assert projected(memory, ANNA, refused) is not deleted


def quarantined(memory: Memory) -> Memory:
    """Two events of one tenant and one of another, put aside; and the memory where the fault is."""
    memory.add("poison and a sparrow", "poison, twice a sparrow")
    memory.add("poison of Eve: a sparrow", scope=EVE)
    broken = poisoned(memory)
    for _ in range(RETRY_POLICY.most_tries):
        broken.app.projection.reconciliation.run(memory.now)
        memory.now += timedelta(hours=2)
    assert memory.app.projection.reconciliation.standing().quarantined == 3
    return broken


def test_a_replay_projects_them_when_the_fault_is_lifted_for_its_tenant_alone(memory: Memory) -> None:
    quarantined(memory)
    plain = run_job(memory, "acme")
    assert (plain.status, plain.counts["failed"], plain.counts["quarantined"]) == (JobStatus.DONE, 0, 2)
    job = run_job(memory, "acme", replay=True)
    assert (job.status, job.errors) == (JobStatus.DONE, {})
    assert {name: job.counts[name] for name in ("replayed", "projected", "failed", "quarantined")} == {
        "replayed": 2, "projected": 2, "failed": 0, "quarantined": 0,
    }  # fmt: skip
    assert all(projected(memory, ANNA, event_id) for event_id in memory.ids[:2])
    assert (set(notes(memory)), set(notes(memory, "other"))) == (set(), {memory.ids[2]})
    assert run_job(memory, "acme", replay=True).counts["replayed"] == 0


def test_a_replay_of_what_still_fails_begins_its_tries_anew(memory: Memory) -> None:
    broken = quarantined(memory)
    broken.now = memory.now
    job = run_job(broken, "acme", replay=True)
    assert (job.status, job.errors) == (JobStatus.DONE, {"ValueError": 2})
    assert (job.counts["failed"], job.counts["quarantined"]) == (2, 0)
    assert {note.tries for note in notes(memory).values()} == {1}
    assert run_job(memory, "acme", replay=True).counts["projected"] == 2


def test_a_replay_that_was_cut_short_is_finished_by_anybody(memory: Memory) -> None:
    quarantined(memory)
    page = memory.app.projection.failed_events.page("acme", None)
    assert len(memory.app.projection.failed_events.replay(page.notes, "one", memory.now)) == 2
    assert memory.app.projection.failed_events.replay(page.notes, "one", memory.now) == []
    assert memory.app.projection.reconciliation.run(memory.now).projected == 2
    assert notes(memory) == {}


def test_a_replay_goes_on_where_its_time_was_over(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recollect.projection.quarantine._PAGE", 1)
    quarantined(memory)
    state: dict[str, object] = {"job_id": memory.app.ids.fresh(), "replay": True}
    counted = 0
    for _ in range(20):
        progress = memory.app.projection.reconcile_job.step("acme", state, memory.now, lambda: 0.0)
        state, counted = dict(progress.state), counted + progress.counts.get("projected", 0)
        if progress.done:
            break
    assert counted == 2
    assert notes(memory) == {}


def test_a_note_that_was_written_since_is_not_taken_away(memory: Memory) -> None:
    memory.add("poison")
    poisoned(memory).app.projection.reconciliation.run(memory.now)
    (old,) = memory.app.projection.failed_events.listed("acme", 10)
    memory.now += timedelta(minutes=1)
    poisoned(memory).app.projection.reconciliation.run(memory.now)
    memory.app.projection.failed_events.clear([Noted(old.scope, old.failed)], memory.now)
    assert notes(memory)[memory.ids[0]].tries == 2


def test_a_memory_that_waits_to_be_shown_is_not_marked_while_its_event_waits(memory: Memory) -> None:
    memory.add(EventDraft(content="I am allergic to nuts.", importance=0.9, timestamp=memory.now))
    memory.project()
    change = MemoryChange({"content": "I am allergic to milk."}, USER, lambda version: version == 1)
    memory.app.memories.store.patch(ANNA, memory.ids[0], change, memory.now)
    broken = with_faults(memory, Faults({memory.ids[0]: Fault("index.put", ValueError)}))
    assert broken.app.projection.reconciliation.run(memory.now).noted == {memory.ids[0]}
    for _ in range(5):
        assert broken.app.projection.reconciliation.run(memory.now).failed == {}
    memory.now += timedelta(minutes=1)
    assert memory.app.projection.reconciliation.run(memory.now).projected == 1
    assert (notes(memory), len(memory.found("milk"))) == ({}, 1)


def test_a_text_that_a_rule_cannot_read_fails_by_itself_and_not_with_all_that_are_like_it(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = looked_at.said_by

    def said_by(event: Event, *given: Any) -> Any:
        if "poison" in event.content:
            raise RecursionError("my secret words")
        return real(event, *given)

    monkeypatch.setattr(looked_at, "said_by", said_by)
    memory.add("I live in Paris, says the poison.")
    assert memory.app.projection.reconciliation.run(memory.now).failed == {memory.ids[0]: "RecursionError"}
    memory.add("I moved from Paris to Berlin.", "I live in Rome, says the poison.", "I live in Oslo.")
    memory.app.projection.reconciliation.run(memory.now)
    memory.app.projection.reconciliation.run(memory.now + timedelta(minutes=1))
    assert notes(memory).keys() == {memory.ids[0], memory.ids[2]}
    assert ids_of(memory, USERS) == set()


def test_a_record_that_cannot_be_read_any_more_fails_nothing_that_is_like_it(memory: Memory) -> None:
    memory.add(EventDraft(content="I live in Paris.", key="home", timestamp=memory.now))
    memory.project()
    broken = with_faults(memory, faults := Faults({memory.ids[0]: Fault("timeline.read", StoredDataError)}))
    memory.now += SECOND
    memory.add(EventDraft(content="I moved from Paris to Berlin.", key="home", timestamp=memory.now))
    assert broken.app.projection.reconciliation.run(memory.now).projected == 1
    assert faults.struck
    broken = with_faults(memory, Faults({memory.ids[0]: Fault("timeline.read", Unavailable)}))
    memory.add("I no longer live in Paris.")
    assert set(broken.app.projection.reconciliation.run(memory.now).failed.values()) == {"Unavailable"}


def test_an_index_is_made_anew_from_the_events_past_one_that_fails(memory: Memory) -> None:
    for days, city in enumerate(("Rome", "poison", "Lyon", "Oslo")):
        key = None if city == "poison" else "city"
        memory.add(EventDraft(content=f"a sparrow of {city}", key=key, timestamp=memory.now + timedelta(days=days)))
    memory.now += timedelta(days=9)
    memory.project()
    broken = poisoned(memory)
    broken.now = memory.now
    order = JobOrder(kind="reindex", parameters={"from": "events"}, now=memory.now, real_now=memory.now)
    job = broken.app.jobs.start("acme", order, memory.app.ids.seed(int(memory.now.timestamp() * 1000)))
    ended = broken.app.job_runs.one("acme", job.id, lambda: memory.now, lambda: 900.0)
    assert (ended.status, ended.counts["rebuilt"], ended.counts["postponed"]) == (JobStatus.DONE, 3, 1)
    assert _with_vectors(memory) == 4
    assert memory.project() == 1
    assert _with_vectors(memory) == 4


def _with_vectors(memory: Memory) -> int:
    """How many documents can be found by their meaning."""
    with closing(sqlite3.connect(memory.app.settings.home / FILE_NAME)) as connection:
        return int(connection.execute("SELECT count(*) FROM document_vectors").fetchone()[0])


def test_a_defect_in_what_goes_before_stops_no_projection(memory: Memory, caplog: pytest.LogCaptureFixture) -> None:
    memory.add("a sparrow")
    reconcile = memory.app.projection.reconciliation

    def defective(_now: object) -> None:
        raise KeyError("my secret words")

    reconcile._before = (defective,)
    assert reconcile.run(memory.now).projected == 1
    assert "KeyError" in str([record.__dict__ for record in caplog.records])
    assert "secret" not in str([record.__dict__ for record in caplog.records])


def _counted(memory: Memory, part: str, method: str) -> list[object]:
    calls: list[object] = []
    real = getattr(memory.app.parts, part)
    found = getattr(real, method)

    def call(*given_: object, **named: object) -> object:
        calls.append(given_)
        return found(*given_, **named)

    real.__dict__[method] = call
    return calls
