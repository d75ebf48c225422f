"""How far a job has come, of how much: told between its ends, and while nobody is at it any more."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from embedded.setting import NOON, Memory, with_parts
from recollect.adapters.local.files import FolderSnapshots
from recollect.core.items import ItemWrite, of_tenant
from recollect.core.scope import Scope
from recollect.jobs.job import (
    JOB_ID,
    KEPT,
    LEASE,
    MOST_TRIES,
    Activity,
    Job,
    JobProgress,
    JobStatus,
    Pace,
    Portion,
    job_write,
)
from recollect.jobs.job import RemainingSeconds as Seconds
from recollect.jobs.run import JobOrder, RunJobs

ACME = "acme"
MESSAGES = 50


def ticking(a_look: float = 1.6) -> Seconds:
    """Thirty seconds, which go by as one looks at them."""
    left = 30.0 + a_look

    def seconds() -> float:
        nonlocal left
        left -= a_look
        return left

    return seconds


def steps(memory: Memory, kind: str, now: datetime, **parameters: Any) -> list[JobProgress]:
    """Every step of a job of that kind, each with little time."""
    job, state = memory.app.job_kinds[kind](), {**parameters, JOB_ID: memory.app.ids.fresh()}
    found: list[JobProgress] = []
    while not found or not found[-1].done:
        found.append(job.step(ACME, state, now, ticking()))
        state = dict(found[-1].state)
        assert len(found) < 60
    return found


def shares(found: list[JobProgress]) -> list[float]:
    """The shares that were told between the first step and the last."""
    told = [one.portion.share if one.share is None and one.portion else one.share for one in found[:-1]]
    return [share for share in told if share is not None]


def check(found: list[JobProgress], total: int, of: str) -> None:
    """It grows, and is seen somewhere between the ends; of the right whole."""
    told = shares(found)
    assert told == sorted(told)
    assert any(0.0 < share < 1.0 for share in told), told
    assert {(one.portion.total, one.portion.of) for one in found if one.portion} == {(total, of)}


@pytest.fixture
def full(memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Memory:
    """Fifty projected messages, of which a piece of a snapshot takes ten and a page of a job five."""
    monkeypatch.setattr("recollect.jobs.job._FIRST_SIZE", 5)
    monkeypatch.setattr("recollect.archive.snapshots.PIECE_EVENTS", 10)
    monkeypatch.setattr("recollect.search_index.reindex.PAGE", 5)
    own = with_parts(memory, snapshots=FolderSnapshots(tmp_path / "snapshots"))
    own.add(*(f"thing {number}" for number in range(MESSAGES)))
    own.project()
    return own


def test_a_reconcile_tells_of_the_messages_that_waited(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recollect.projection.reconcile._JOB_PAGE", 5)
    memory.add(*(f"thing {number}" for number in range(MESSAGES)))
    memory.add("of another", scope=Scope("other", "anna"))
    check(steps(memory, "reconcile", NOON), MESSAGES, "messages")


@pytest.mark.parametrize("source", ["vectors", "events"])
def test_a_reindex_tells_of_the_records_of_the_index_in_use(full: Memory, source: str) -> None:
    check(steps(full, "reindex", full.now, **{"from": source}), MESSAGES, "records")


def test_a_reindex_of_a_lost_index_tells_of_the_users(full: Memory) -> None:
    for user in ("ben", "cleo"):
        full.add("I sail", scope=Scope(ACME, user))
    full.project()
    full.app.parts.index.remove(Scope(ACME, "anna"), full.ids)
    full.app.parts.index.remove(Scope(ACME, "ben"), full.ids)
    full.app.parts.index.remove(Scope(ACME, "cleo"), full.ids)
    check(steps(full, "reindex", full.now), 3, "users")


def test_a_snapshot_and_its_restore_tell_of_the_records(full: Memory) -> None:
    taken = steps(full, "snapshot", full.now)
    check(taken, MESSAGES, "records")
    assert any(share > 0.6 for share in shares(taken)), "the part of the index was never told"
    (made,) = full.app.segments.snapshots.page(ACME, 10, None).snapshots
    check(steps(full, "restore", full.now, snapshot_id=made.id), MESSAGES, "records")


def test_retention_tells_of_users_and_within_one_of_the_time(full: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recollect.archive.retain._PAGE", 10)
    full.app.rules.replace(ACME, {"retention": [{"older_than_days": 1}]}, full.now, None)
    check(steps(full, "retain", full.now + timedelta(days=30)), 1, "users")


def test_summaries_tell_how_many_were_due(memory: Memory) -> None:
    memory.app.rules.replace(ACME, {"summary": {"messages": 3}}, memory.now, None)
    for user in ("anna", "ben", "cleo", "dora"):
        memory.add("I live in Lyon", "I like tea", "I want to run a marathon", scope=Scope(ACME, user))
    memory.project()
    check(steps(memory, "summarize", memory.now + timedelta(days=1)), 4, "summaries")


def test_pages_grow_while_they_are_quick_and_shrink_when_they_are_slow() -> None:
    quick, slow = Pace(ticking(0.1), 0.0, 80), Pace(ticking(6.0), 0.0, 80)
    sizes = []
    for pace in (quick, slow):
        for _ in range(3):
            pace.took_one()
            sizes.append(pace.size)
    assert sizes == [40, 80, 80, 10, 5, 2]


class Kind:
    """Half of it is done, and then a process ends, as it is killed."""

    def __init__(self, kills: Callable[[], bool]) -> None:
        self._kills = kills

    def step(self, _tenant: str, state: Mapping[str, Any], _now: datetime, _deadline: Seconds) -> JobProgress:
        if state.get("half") and self._kills():
            raise Killed
        return JobProgress(state={**state, "half": True}, portion=Portion(7, 14, "records"), done="half" in state)


class Killed(BaseException):
    """The process ends here."""


@pytest.fixture
def held(memory: Memory) -> tuple[Memory, RunJobs, Job]:
    """A job that is killed at half whenever somebody runs it."""
    runs = RunJobs(memory.app.parts.items, {"reindex": lambda: Kind(lambda: True)})
    order = JobOrder(kind="reindex", now=NOON, real_now=NOON)
    return memory, runs, memory.app.jobs.start(ACME, order, memory.app.ids.seed(int(NOON.timestamp() * 1000)))


def test_a_killed_job_is_not_shown_as_at_work_for_ever_and_fails_at_last(held: tuple[Memory, RunJobs, Job]) -> None:
    memory, runs, job = held
    assert job.activity(NOON) is Activity.WAITING
    now = NOON
    for _ in range(MOST_TRIES):
        with pytest.raises(Killed):
            runs.one(ACME, job.id, lambda: now, lambda: 60.0)  # noqa: B023 - called at once
        seen = memory.app.jobs.read(ACME, job.id)
        assert (seen.share, seen.portion) == (0.5, Portion(7, 14, "records"))
        assert seen.activity(now) is Activity.WORKING
        now += LEASE
        assert seen.activity(now) is Activity.INTERRUPTED
    ended = runs.one(ACME, job.id, lambda: now, lambda: 60.0)
    assert (ended.status, ended.errors, ended.activity(now)) == (JobStatus.FAILED, {"Interrupted": 1}, None)
    assert memory.app.parts.items.due("jobs", now, 10, None).items == ()


def test_a_job_that_pauses_keeps_how_far_it_was() -> None:
    job = Job(id="j", kind="reconcile", asked_at=NOON, started_at=NOON)
    half = job.stepped(JobProgress(state={}, portion=Portion(7, 14, "messages")), NOON)
    paused = half.stepped(JobProgress(state={}, pause=timedelta(seconds=2)), NOON)
    assert (paused.share, paused.portion, paused.activity(NOON)) == (0.5, Portion(7, 14, "messages"), Activity.WAITING)
    assert paused.stepped(JobProgress(state={}), NOON).share is None
    assert paused.stepped(JobProgress(state={}, share=0.9, pause=timedelta(seconds=2)), NOON).share == 0.9
    assert paused.stepped(JobProgress(state={}, done=True), NOON).portion is None


def test_a_job_is_listed_for_ninety_days_after_its_end_and_an_erasure_for_good(memory: Memory) -> None:
    runs = RunJobs(memory.app.parts.items, {"reindex": lambda: Kind(lambda: False)})
    begun = datetime.now(UTC)
    erased = Job(id=memory.app.ids.fresh(), kind="erase", asked_at=begun, started_at=begun, state={"before": "e"})
    memory.app.parts.items.write(of_tenant(ACME), [ended(erased, begun)], begun)

    def run(now: datetime) -> list[str]:
        seed = memory.app.ids.seed(int(now.timestamp() * 1000))
        job = memory.app.jobs.start(ACME, JobOrder(kind="reindex", now=now, real_now=now), seed)
        assert runs.one(ACME, job.id, lambda: now, lambda: 60.0).status is JobStatus.DONE
        return [one.id for one in memory.app.jobs.newest(ACME, 10)]

    first = run(begun)
    second = run(begun + timedelta(days=1))
    assert second[1:] == first
    third = run(begun + KEPT + timedelta(hours=1))
    assert third[1:] == [second[0], erased.id]


def ended(job: Job, now: datetime) -> ItemWrite:
    """The write of the job, done."""
    return job_write(job.stepped(JobProgress(state=job.state, done=True), now))
