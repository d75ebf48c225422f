"""A job's life: leases, pauses, failures; and its stored form."""

from datetime import UTC, datetime, timedelta

import pytest

from recollect.core.errors import StoredDataError
from recollect.core.items import Item
from recollect.jobs.job import (
    LEASE,
    MOST_TRIES,
    QUEUE,
    Job,
    JobProgress,
    JobStatus,
    job_document,
    job_in,
    job_key,
    job_write,
)

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
JOB = Job(id="j1", kind="retain", asked_at=NOW, started_at=NOW, state={"job_id": "j1"}, version=3)
SECOND = timedelta(seconds=1)


def stored(job: Job) -> Item:
    return Item(job_key(job.id), job_document(job), job.version, NOW)


@pytest.mark.parametrize(
    "job",
    [
        JOB,
        JOB.taken(NOW),
        JOB.failed("Throttled", True, NOW),
        JOB.failed("NotFound", False, NOW),
        JOB.stepped(JobProgress(state={"a": [1]}, counts={"b": 2}, share=0.5, pause=SECOND), NOW),
        JOB.stepped(JobProgress(state={}, done=True), NOW),
    ],
)
def test_what_is_stored_is_read_as_it_was(job: Job) -> None:
    assert job_in(stored(job)) == job


@pytest.mark.parametrize("value", [{}, {"format": 2}, {**job_document(JOB), "status": "lost"}, {"format": 1}])
def test_what_cannot_be_read(value: dict[str, object]) -> None:
    with pytest.raises(StoredDataError):
        job_in(Item(job_key("j1"), value, 1, NOW))


def test_it_is_due_when_somebody_must_look() -> None:
    assert job_write(JOB).due is not None
    for job, at in (
        (JOB, NOW),
        (JOB.taken(NOW), NOW + LEASE),
        (JOB.taken(NOW).failed("Throttled", True, NOW), NOW + 2 * SECOND),
        (JOB.taken(NOW).released(), NOW),
    ):
        due = job_write(job).due
        assert due is not None
        assert (due.queue, due.at) == (QUEUE, at)
    assert job_write(JOB.stepped(JobProgress(state={}, done=True), NOW)).due is None


def test_who_may_take_it() -> None:
    assert JOB.free(NOW)
    leased = JOB.taken(NOW)
    assert [leased.free(NOW + n * SECOND) for n in (0, 59, 60)] == [False, False, True]
    assert leased.free(NOW - timedelta(hours=1))
    paused = JOB.failed("Throttled", True, NOW)
    assert [paused.free(NOW + n * SECOND) for n in (1, 2)] == [False, True]
    assert not JOB.failed("NotFound", False, NOW).free(NOW + timedelta(days=1))


def test_pauses_double_up_to_five_minutes_and_then_it_is_given_up() -> None:
    job, pauses = JOB, []
    while not job.finished:
        job = job.failed("Throttled", True, NOW)
        pauses.append(None if job.retry_at is None else int((job.retry_at - NOW).total_seconds()))
    assert pauses == [2, 4, 8, 16, 32, 64, 128, None]
    assert (job.tries, job.status, job.errors) == (MOST_TRIES, JobStatus.FAILED, {"Throttled": MOST_TRIES})


def test_a_step_that_goes_well_ends_the_row_of_failures() -> None:
    job = JOB.failed("Throttled", True, NOW).taken(NOW)
    after = job.stepped(JobProgress(state={"n": 1}, counts={"a": 1, "b": 0}, errors={"Throttled": 1}), NOW)
    assert (after.tries, after.errors, after.counts, after.state) == (0, {"Throttled": 2}, {"a": 1, "b": 0}, {"n": 1})
    assert after.leased_until == NOW + LEASE


def test_a_step_may_give_up() -> None:
    job = JOB.taken(NOW).stepped(JobProgress(state={}, given_up=True), NOW + SECOND)
    assert (job.status, job.finished_at, job.leased_until) == (JobStatus.FAILED, NOW + SECOND, None)
