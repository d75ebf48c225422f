"""The job `reconcile`: done when all that was accepted before it is projected, failed when that cannot be had."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest

from embedded.setting import ANNA, NOON, Memory, away, with_parts
from recollect.core.ids import IdSource
from recollect.core.scope import Scope
from recollect.jobs.job import Job, JobStatus
from recollect.jobs.run import JobOrder
from recollect.projection.project import ProjectionReport
from recollect.projection.reconcile import ReconcileJob
from recollect.timeline.timeline import PendingEvent

STRANGER = Scope("other", "anna")


def start(memory: Memory) -> Job:
    """A job of the tenant, asked for a minute after whatever was said."""
    now = datetime.now(NOON.tzinfo)
    order = JobOrder(kind="reconcile", now=now, real_now=now)
    return memory.app.jobs.start("acme", order, memory.app.ids.seed(int(now.timestamp() * 1000)))


def run(memory: Memory, job: Job, minutes: float = 0.0) -> Job:
    later = datetime.now(NOON.tzinfo) + timedelta(minutes=minutes)
    return memory.app.job_runs.one("acme", job.id, lambda: later, lambda: 900.0)


def pending(memory: Memory) -> list[str]:
    return [marker.scope.tenant for marker in memory.app.parts.projections.pending(1000, None).markers]


@pytest.fixture(autouse=True)
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recollect.projection.reconcile._JOB_PAGE", 2)


def test_all_of_the_tenants_markers_go_page_by_page_and_no_others(memory: Memory) -> None:
    memory.add("one", "two", "three", "four", "five")
    memory.add("of another", scope=STRANGER)
    ended = run(memory, start(memory))
    assert (ended.status, ended.counts["projected"], ended.errors) == (JobStatus.DONE, 5, {})
    assert pending(memory) == ["other"]
    assert memory.found("three")


def test_a_deletion_that_was_cut_short_is_completed(memory: Memory) -> None:
    memory.add("the zebra sings")
    memory.project()
    memory.app.deletion.events.forget(ANNA, event_id=memory.ids[0], now=NOON)
    ended = run(memory, start(memory))
    assert (ended.status, ended.counts["gone"], pending(memory)) == (JobStatus.DONE, 1, [])


def test_while_the_index_is_away_it_is_not_done_and_then_it_is(memory: Memory) -> None:
    memory.add("one", "two", "three")
    job = start(memory)
    with away(memory, "index", "put") as broken:
        left = run(broken, job)
    assert (left.status, left.errors) == (JobStatus.RUNNING, {"Unavailable": 3})
    assert left.retry_at is not None
    ended = run(memory, job, 1)
    assert (ended.status, ended.counts["projected"], pending(memory)) == (JobStatus.DONE, 3, [])


def test_it_is_given_up_after_eight_walks_in_vain(memory: Memory) -> None:
    memory.add("one")
    job = start(memory)
    with away(memory, "index", "put") as broken:
        for walk in range(1, 9):
            ended = run(broken, job, 10 * walk)
            assert ended.finished is (walk == 8)
    assert (ended.status, ended.errors) == (JobStatus.FAILED, {"Unavailable": 8})
    assert run(memory, start(memory), 200).status is JobStatus.DONE


def test_what_came_after_the_asking_does_not_hold_it_up(memory: Memory) -> None:
    memory.add("one")
    job = start(memory)
    later = IdSource().seed(int((datetime.now(NOON.tzinfo) + timedelta(hours=1)).timestamp() * 1000), 2)
    from recollect.timeline.record import EventDraft

    drafts = [EventDraft(content="late", timestamp=NOON)]
    memory.app.timeline.events.ingest(ANNA, "c", drafts, later, NOON, memory.app.rules.resolved("acme"))
    project = memory.app.projection.pending

    class OldOnly:
        def project(self, markers: Sequence[PendingEvent], now: datetime) -> ProjectionReport:
            report = project.project([one for one in markers if one.ref.id in memory.ids], now)
            report.failed |= {one.ref.id: "Throttled" for one in markers if one.ref.id not in memory.ids}
            return report

    memory.app.projection.__dict__["pending"] = OldOnly()
    ended = run(memory, job)
    assert (ended.status, ended.counts["projected"], ended.errors) == (JobStatus.DONE, 1, {"Throttled": 1})


def test_what_changed_while_it_was_projected_is_walked_over_again(memory: Memory) -> None:
    memory.add("one")
    walks: list[int] = []
    project = memory.app.projection.pending

    class Changing:
        def project(self, markers: Sequence[PendingEvent], now: datetime) -> ProjectionReport:
            walks.append(len(markers))
            return ProjectionReport() if len(walks) == 1 else project.project(markers, now)

    memory.app.projection.__dict__["pending"] = Changing()
    job = start(memory)
    assert run(memory, job).status is JobStatus.RUNNING
    assert run(memory, job, 1).status is JobStatus.DONE
    assert walks == [1, 1]


def test_a_walk_goes_on_where_the_time_was_over(memory: Memory) -> None:
    memory.add(*(f"thing {number}" for number in range(7)))
    app = memory.app
    state: Any = start(memory).state
    step, steps = app.projection.reconcile_job.step, 0
    while not (progress := step("acme", state, NOON, lambda: 9.0)).done:
        state, steps = progress.state, steps + 1
        assert steps < 10
    assert (steps, pending(memory)) == (4, [])


def test_it_is_made_of_the_parts_of_the_app(memory: Memory) -> None:
    other = with_parts(memory)
    assert isinstance(other.app.job_kinds["reconcile"](), ReconcileJob)
