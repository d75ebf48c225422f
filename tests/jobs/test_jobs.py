"""Jobs: asked for at once, done in steps, resumed after whatever happened to who was at it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest

from embedded.setting import Memory, away
from embedded.standing import Before
from recollect.core.errors import (
    Conflict,
    InvalidInput,
    NotFound,
    OutOfTime,
    RecollectError,
    StoredDataError,
    Throttled,
    Unavailable,
    UpstreamFailed,
    VersionMismatch,
)
from recollect.core.items import ItemWrite, of_tenant
from recollect.jobs.job import JOB_ID, LEASE, Job, JobKind, JobProgress, JobStatus, RemainingSeconds, job_key
from recollect.jobs.run import JobOrder, JobRun, Jobs, RunJobs
from recollect.ports import Items

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
ACME, OTHER = "acme", "other"


class Crash(BaseException):
    """The process ends here."""


@dataclass
class Counting:
    """Counts to three, a number a step; `before` may raise or wait, `seen` are the states that steps began with."""

    before: list[BaseException] = field(default_factory=list)
    seen: list[tuple[str, int, datetime]] = field(default_factory=list)
    took: Callable[[], None] = lambda: None
    steps: int = 3

    def step(self, tenant: str, state: Mapping[str, Any], now: datetime, deadline: RemainingSeconds) -> JobProgress:
        number = int(state.get("number", 0))
        self.seen.append((tenant, number, now))
        if self.before and (error := self.before.pop(0)) is not None:
            raise error
        assert 0 < deadline() <= 30
        self.took()
        done = number + 1 == self.steps
        return JobProgress(state={**state, "number": number + 1}, counts={"counted": 1}, done=done, share=number / 3)


@dataclass
class Work:
    """A memory, a kind of job, and a clock."""

    memory: Memory
    kind: Counting
    now: datetime = NOW
    left: float = 900.0

    def runner(self) -> RunJobs:
        kinds: dict[str, Callable[[], JobKind]] = {"retain": lambda: self.kind, "snapshot": lambda: self.kind}
        return RunJobs(self.memory.app.parts.items, kinds)

    @property
    def jobs(self) -> Jobs:
        return self.memory.app.jobs

    def start(self, tenant: str = ACME, kind: str = "retain", **parameters: Any) -> Job:
        seed = self.memory.app.ids.seed(int(self.now.timestamp() * 1000))
        order = JobOrder(kind=kind, parameters=parameters, now=self.now, real_now=self.now)
        return self.jobs.start(tenant, order, seed)

    def run(self, only: str | None = None) -> JobRun:
        return self.runner().run(lambda: self.now, lambda: self.left, only)

    def one(self, job: Job, tenant: str = ACME) -> Job:
        return self.runner().one(tenant, job.id, lambda: self.now, lambda: self.left)

    def due(self) -> list[str]:
        """The jobs that somebody must look at."""
        page = self.memory.app.parts.items.due("jobs", self.now, 100, None)
        return [due.key.key for due in page.items]


@pytest.fixture
def work(memory: Memory) -> Work:
    return Work(memory, Counting())


def test_a_job_is_durable_when_it_was_asked_for_and_done_later(work: Work) -> None:
    job = work.start(user_id="anna")
    assert (job.status, job.counts, job.errors, job.version) == (JobStatus.RUNNING, {}, {}, 1)
    assert work.jobs.read(ACME, job.id) == job
    assert work.due() == [job.id]
    assert work.run().counts == {"done": 1, "failed": 0, "running": 0}
    ended = work.jobs.read(ACME, job.id)
    assert (ended.status, ended.counts, ended.errors, ended.finished_at) == (JobStatus.DONE, {"counted": 3}, {}, NOW)
    assert ended.state == {"user_id": "anna", JOB_ID: job.id, "number": 3}
    assert (ended.leased_until, work.due(), work.run().counts["done"]) == (None, [], 0)


def test_a_tenant_sees_its_own_jobs_alone(work: Work) -> None:
    mine, others = work.start(ACME), work.start(OTHER)
    assert [job.id for job in work.jobs.newest(ACME, 10)] == [mine.id]
    with pytest.raises(NotFound):
        work.jobs.read(ACME, others.id)
    with pytest.raises(NotFound):
        work.one(others, ACME)
    work.run()
    assert {(tenant, number) for tenant, number, _ in work.kind.seen} == {
        (t, n) for t in (ACME, OTHER) for n in (0, 1, 2)
    }


def test_no_such_kind(work: Work) -> None:
    with pytest.raises(NotFound):
        work.start(kind="dance")
    unregistered = work.start(kind="restore")
    assert work.one(unregistered).errors == {"KeyError": 1}


def test_asking_again_with_the_same_seed_is_the_same_job(work: Work) -> None:
    order = JobOrder(kind="retain", now=NOW, real_now=NOW)
    seed = work.memory.app.ids.seed(1)
    assert work.jobs.start(ACME, order, seed) == work.jobs.start(ACME, order, seed)


@pytest.mark.parametrize("step", [0, 1, 2])
def test_after_a_crash_somebody_else_goes_on_from_the_last_step(work: Work, step: int) -> None:
    job = work.start()
    work.kind.before = [*[None] * step, Crash()]  # type: ignore[list-item]
    with pytest.raises(Crash):
        work.run()
    assert work.due() == []
    assert work.one(job).status is JobStatus.RUNNING
    assert len(work.kind.seen) == step + 1
    work.now += LEASE
    assert work.due() == [job.id]
    assert work.run().done == 1
    assert [number for _, number, _ in work.kind.seen] == [*range(step + 1), *range(step, 3)]
    assert work.jobs.read(ACME, job.id).counts == {"counted": 3}


@pytest.mark.parametrize("failing", range(1, 6))
def test_after_a_crash_at_any_write_it_is_done_once_all_the_same(work: Work, failing: int) -> None:
    """The items are away at the nth write: before the lease, at each step, at the end."""
    job = work.start()

    class Crashing(Before):
        writes = 0

        def write(self, *given: Any) -> Any:
            self.writes += 1
            if self.writes == failing:
                raise Crash
            return self.part.write(*given)

    crashing = RunJobs(cast(Items, Crashing(work.memory.app.parts.items)), {"retain": lambda: work.kind})
    try:
        crashing.run(lambda: work.now, lambda: 900.0)
    except Crash:
        assert work.jobs.read(ACME, job.id).status is JobStatus.RUNNING
    else:
        assert failing == 5
    work.now += LEASE
    work.run()
    ended = work.jobs.read(ACME, job.id)
    assert (ended.status, ended.counts) == (JobStatus.DONE, {"counted": 3})
    assert work.run().counts == {"done": 0, "failed": 0, "running": 0}


def test_without_time_it_is_let_go_and_the_next_run_goes_on_at_once(work: Work) -> None:
    job = work.start()

    def spend() -> None:
        work.left -= 300.0

    work.left, work.kind.took = 604.0, spend
    assert (work.run().running, len(work.kind.seen)) == (1, 2)
    assert work.due() == [job.id]
    assert work.run().counts == {"done": 0, "failed": 0, "running": 0}
    work.left = 900.0
    assert work.run().done == 1
    assert work.jobs.read(ACME, job.id).counts == {"counted": 3}


def test_who_has_the_lease_is_left_alone_even_where_it_comes_back_late(work: Work) -> None:
    job = work.start()
    found: list[Job] = []

    def others_come() -> None:
        work.kind.took = lambda: None
        found.append(work.one(job))
        work.now += LEASE
        found.append(work.one(job))

    work.kind.took = others_come
    work.one(job)
    assert [one.status for one in found] == [JobStatus.RUNNING, JobStatus.DONE]
    assert work.jobs.read(ACME, job.id).counts == {"counted": 3}
    assert [number for _, number, _ in work.kind.seen] == [0, 0, 1, 2]


def test_a_lease_of_a_clock_that_ran_far_ahead_bars_nobody(work: Work) -> None:
    job = work.start()
    work.kind.before = [Crash()]
    work.now += timedelta(days=1)
    with pytest.raises(Crash):
        work.one(job)
    work.now -= timedelta(days=1)
    assert work.one(job).status is JobStatus.DONE


def test_jobs_of_a_kind_take_turns_and_the_first_is_helped_to_its_end(work: Work) -> None:
    first, second = work.start(), work.start()
    work.kind.before = [Crash()]
    with pytest.raises(Crash):
        work.one(first)
    assert work.one(second).status is JobStatus.RUNNING
    assert len(work.kind.seen) == 1
    work.now += LEASE
    assert work.one(second).status is JobStatus.DONE
    assert work.jobs.read(ACME, first.id).status is JobStatus.DONE
    assert [number for _, number, _ in work.kind.seen] == [0, 0, 1, 2, 0, 1, 2]


def test_other_kinds_and_other_tenants_wait_for_nobody(work: Work) -> None:
    first = work.start()
    work.kind.before = [Crash()]
    with pytest.raises(Crash):
        work.one(first)
    assert work.one(work.start(kind="snapshot")).status is JobStatus.DONE
    assert work.one(work.start(OTHER), OTHER).status is JobStatus.DONE
    assert work.jobs.read(ACME, first.id).status is JobStatus.RUNNING


@pytest.mark.parametrize(
    "error", [Throttled("."), OutOfTime("."), VersionMismatch("."), Conflict("."), UpstreamFailed(".")]
)
def test_what_may_pass_is_tried_again_after_a_pause(work: Work, error: RecollectError) -> None:
    job = work.start()
    work.kind.before = [error]
    assert work.run().running == 1
    assert (work.due(), work.one(job).status, len(work.kind.seen)) == ([], JobStatus.RUNNING, 1)
    work.now += timedelta(seconds=2)
    assert work.run().done == 1
    ended = work.jobs.read(ACME, job.id)
    assert (ended.errors, ended.counts, ended.tries) == ({type(error).__name__: 1}, {"counted": 3}, 0)


@pytest.mark.parametrize("error", [InvalidInput("."), NotFound("."), StoredDataError(".")])
def test_what_will_not_pass_ends_it(work: Work, error: RecollectError) -> None:
    work.start()
    work.kind.before = [error]
    assert work.run().counts == {"done": 0, "failed": 1, "running": 0}
    assert work.due() == []
    assert work.one(work.start()).status is JobStatus.DONE


def test_a_defect_stops_no_other_job_and_tells_no_text(work: Work, caplog: pytest.LogCaptureFixture) -> None:
    work.start()
    work.start(OTHER)
    work.kind.before = [ZeroDivisionError("what a user said")]
    report = work.run()
    assert report.counts == {"done": 1, "failed": 0, "running": 1}
    assert "what a user said" not in caplog.text
    assert "ZeroDivisionError" in str([record.__dict__ for record in caplog.records])


def test_a_run_may_be_of_one_kind(work: Work) -> None:
    work.start()
    snapshot = work.start(kind="snapshot")
    assert work.run("retain").counts == {"done": 1, "failed": 0, "running": 1}
    assert work.due() == [snapshot.id]


def test_steps_go_by_the_askers_clock(work: Work) -> None:
    asked = NOW + timedelta(days=365)
    order = JobOrder(kind="retain", now=asked, real_now=NOW)
    job = work.jobs.start(ACME, order, work.memory.app.ids.seed(1))
    work.now += timedelta(seconds=5)
    work.one(job)
    assert {now for _, _, now in work.kind.seen} == {asked + timedelta(seconds=5)}


def test_a_pause_that_a_step_asks_for_is_kept(work: Work) -> None:
    class Pausing:
        def step(self, tenant: str, state: Mapping[str, Any], now: datetime, deadline: RemainingSeconds) -> JobProgress:
            again = "again" in state
            return JobProgress(
                state={**state, "again": 1},
                done=again,
                pause=None if again else timedelta(minutes=1),
                errors={"Late": 1},
            )

    job = work.start()
    runner = RunJobs(work.memory.app.parts.items, {"retain": Pausing})
    assert runner.run(lambda: work.now, lambda: 900.0).running == 1
    assert work.due() == []
    work.now += timedelta(minutes=1)
    assert runner.run(lambda: work.now, lambda: 900.0).done == 1
    assert work.jobs.read(ACME, job.id).errors == {"Late": 2}


def test_a_job_that_cannot_be_read_stops_no_other(work: Work) -> None:
    broken, whole = work.start(), work.start(kind="snapshot")
    items = work.memory.app.parts.items
    item = items.get(of_tenant(ACME), [job_key(broken.id)])[job_key(broken.id)]
    items.write(of_tenant(ACME), [ItemWrite(item.key, {"format": 99}, None, item.due)], NOW)
    report = work.run()
    assert (report.done, report.errors) == (1, {"StoredDataError": 1})
    assert work.jobs.read(ACME, whole.id).status is JobStatus.DONE


def test_a_queue_that_does_not_answer_fails_the_run(work: Work) -> None:
    work.start()
    with away(work.memory, "items", "due") as broken, pytest.raises(Unavailable):
        broken.app.job_runs.run(lambda: NOW, lambda: 900.0)
