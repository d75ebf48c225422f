"""Erasing a user: hidden at once, deleted everywhere, refused for ever; and the user may start anew."""

import json
import sqlite3
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from embedded.archiving import run_job
from embedded.setting import ANNA, NOON, Memory, open_memory, with_parts
from recollect.core.errors import NotFound, OutOfTime
from recollect.core.items import of_tenant
from recollect.core.scope import Scope
from recollect.deletion.erase import ErasureReport
from recollect.deletion.reject import Rejecting
from recollect.deletion.storage import ErasedPage, Exempt
from recollect.memories.audit import AUDIT, Action, Actor, ActorKind, audit_entry
from recollect.memories.memory import MemoryDraft
from recollect.ports import Eraser
from recollect.summaries.goals import GoalStatus
from recollect.timeline.record import EventDraft

BEN = Scope("acme", "ben")
USER = Actor(ActorKind.USER, "anna")
SECRET = "the zebra sings at midnight"


def real_now() -> datetime:
    return datetime.now(UTC)


def erase(memory: Memory, scope: Scope = ANNA) -> str:
    """The part that the request waits for."""
    return memory.app.deletion.users.erase(scope, memory.now, real_now(), USER, lambda: 60.0).id


def finished(memory: Memory, erasure_id: str) -> ErasureReport:
    memory.app.job_runs.one("acme", erasure_id, real_now, lambda: 60.0)
    return memory.app.deletion.users.report("acme", erasure_id)


def lived(memory: Memory, scope: Scope = ANNA) -> None:
    """Some of everything of a user."""
    memory.add(SECRET, EventDraft(content="Rome", key="city", timestamp=NOON), "I like tea", scope=scope)
    memory.project()
    seed = memory.app.ids.seed(int(time.time() * 1000))
    draft = MemoryDraft(content=f"{SECRET} again", importance=0.9)
    memory.app.memories.store.save(scope, draft, seed, memory.now, USER, memory.app.rules.resolved("acme"))
    memory.app.summaries.goals.track(scope, "run a marathon", GoalStatus.ACTIVE, None, memory.now)
    order = Rejecting(now=memory.now, actor=USER, via="delete")
    memory.app.deletion.values.reject(scope, "I hate liver", order)
    memory.project()
    memory.add("not yet projected, the zebra", scope=scope)


@pytest.mark.spec("P-22")
def test_from_the_answer_on_nothing_is_read(memory: Memory) -> None:
    lived(memory)
    lived(memory, BEN)
    assert memory.found("zebra")
    erase(memory)
    assert memory.found("zebra") == memory.found("tea") == []
    assert memory.context("zebra", conversation_id="c1").prompt.memories == ()
    assert memory.app.summaries.goals.listed(ANNA) == []
    assert memory.app.deletion.values.page(ANNA, 10, None).values == ()
    assert memory.app.parts.timeline.records(ANNA, 10, None).events == ()
    assert not [one for one in memory.app.parts.publisher.published("acme", None, None) if "anna" in str(one.detail)]
    assert SECRET in memory.found("zebra", scope=BEN)


@pytest.mark.spec("P-22")
def test_the_report_tells_what_was_reached_and_that_it_was_read_back(memory: Memory) -> None:
    lived(memory)
    erasure_id = erase(memory)
    begun = memory.app.deletion.users.report("acme", erasure_id)
    assert (begun.running, begun.verified) == (True, False)
    report = finished(memory, erasure_id)
    assert (report.running, report.verified) == (False, True)
    assert report.reached["events"] == 5
    assert report.reached["identities"] == 5
    assert report.reached["items"] > 5
    assert [part for part, _ in report.erasure.lapses] == ["idempotency_records"]
    with pytest.raises(NotFound):
        memory.app.deletion.users.report("other", erasure_id)


@pytest.mark.spec("P-22")
def test_what_was_recorded_before_is_refused_and_the_user_starts_anew(memory: Memory) -> None:
    said = EventDraft(content=SECRET, timestamp=NOON)
    memory.add(said)
    memory.project()
    finished(memory, erase(memory))
    assert memory.add(said).results[0].status == "refused"
    assert memory.add(replace(said, timestamp=NOON + timedelta(days=1))).results[0].status == "created"
    memory.project()
    assert memory.found("zebra") == [SECRET]
    page = memory.app.parts.items.page(ANNA, AUDIT, 100, None)
    erasures = [one for one in page.items if audit_entry(one.key.key, one.value).action is Action.ERASE]
    assert len(erasures) == 1


@pytest.mark.spec("P-22")
def test_the_audit_keeps_the_users_own_entry_alone(memory: Memory) -> None:
    lived(memory)
    first = erase(memory)
    second = erase(memory)
    (entry,) = memory.app.parts.items.page(ANNA, AUDIT, 100, None).items
    assert first < second == audit_entry(entry.key.key, entry.value).id
    assert "zebra" not in str(entry.value)


@pytest.mark.spec("P-22")
def test_no_word_is_left_in_the_file(tmp_path: Path) -> None:
    memory = open_memory(tmp_path)
    lived(memory)
    finished(memory, erase(memory))
    memory.app.parts.close()
    with sqlite3.connect(tmp_path / "recollect.db") as connection:
        dump = "\n".join(line for line in connection.iterdump() if "writable_schema" not in line).lower()
        terms = [row[0] for row in connection.execute("SELECT term FROM word_frequencies")]
    connection.close()
    assert not [word for word in ("zebra", "marathon", "rome", "city", "liver") if word in dump]
    assert terms == []


def test_what_is_written_meanwhile_is_found_by_the_job(memory: Memory) -> None:
    lived(memory)
    late = memory.app.ids.seed(int(time.time() * 1000), 3)
    erasure_id = erase(memory)
    rules = memory.app.rules.resolved("acme")
    memory.app.timeline.events.ingest(ANNA, "c1", [EventDraft(content="late")], late, memory.now, rules)
    memory.add("early in the new life")
    report = finished(memory, erasure_id)
    assert report.verified
    memory.project()
    contents = [event.content for event in memory.app.parts.timeline.records(ANNA, 10, None).events]
    assert contents == ["early in the new life"]


def test_the_last_walk_comes_later_by_itself(memory: Memory) -> None:
    lived(memory)
    erasure_id = erase(memory)
    finished(memory, erasure_id)
    late = memory.app.jobs.read("acme", f"{erasure_id}.again")
    assert late.retry_at is not None
    assert late.retry_at > memory.now
    memory.add("a new life")
    after = late.retry_at + timedelta(seconds=1)
    run = memory.app.job_runs.run(lambda: after, lambda: 60.0)
    assert (run.done, run.failed) == (1, 0)
    assert len(memory.app.parts.timeline.records(ANNA, 10, None).events) == 1


class Slow:
    """An eraser that takes away one thing at a time."""

    def __init__(self, eraser: Eraser) -> None:
        self._eraser = eraser

    def erase(self, scope: Scope, exempt: Exempt, _limit: int, after: str | None) -> ErasedPage:
        return self._eraser.erase(scope, exempt, 1, after)

    def left(self, scope: Scope, exempt: Exempt) -> int:
        return self._eraser.left(scope, exempt)


def test_one_that_takes_too_long_says_so_and_goes_on(memory: Memory) -> None:
    lived(memory)
    slow = with_parts(memory, eraser=Slow(memory.app.parts.eraser))
    seconds = iter([60.0] * 5 + [0.0] * 100)
    with pytest.raises(OutOfTime) as failure:
        slow.app.deletion.users.erase(ANNA, memory.now, real_now(), USER, lambda: next(seconds))
    erasure_id = next(word for word in str(failure.value).split() if len(word) == 36)
    assert finished(slow, erasure_id).verified
    assert memory.app.parts.timeline.records(ANNA, 10, None).events == ()


def test_an_erasure_of_nobody_is_one(memory: Memory) -> None:
    assert finished(memory, erase(memory)).verified
    assert json.dumps(dict(memory.app.deletion.users.report("acme", erase(memory)).reached))
    assert memory.app.parts.items.page(of_tenant("acme"), AUDIT, 1, None).items == ()


@pytest.mark.spec("P-22")
def test_no_byte_of_it_is_left_on_the_disk(tmp_path: Path) -> None:
    memory = open_memory(tmp_path)
    memory.add(*(f"{SECRET} {number}" for number in range(30)))
    lived(memory)
    lived(memory, BEN)
    memory.app.parts.snapshots.put_if_absent("acme", "other", b"kept")
    finished(memory, erase(memory))
    finished(memory, erase(memory, BEN))
    found = [path.name for path in tmp_path.rglob("*") if path.is_file() and b"zebra" in path.read_bytes()]
    memory.app.parts.close()
    assert found == []


@pytest.mark.spec("P-22")
def test_it_is_verified_in_segments_and_snapshots_too(memory: Memory) -> None:
    lived(memory)
    memory.project()
    app = memory.app
    run_job(memory, app.job_kinds["snapshot"]())
    assert app.segments.rewriting.left(ANNA, lambda _id: False) > 0
    assert app.search_index.left(ANNA, lambda _id: False) > 0
    assert app.segments.rewriting.left(ANNA, lambda _id: True) == app.search_index.left(ANNA, lambda _id: True) == 0
    report = finished(memory, erase(memory))
    assert report.verified
    assert app.segments.rewriting.left(ANNA, lambda _id: False) == app.search_index.left(ANNA, lambda _id: False) == 0
