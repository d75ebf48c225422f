"""One event that cannot be projected, on the real engines: the stream goes on, the event is noted, found, replayed."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, cast

import pytest

from deployment.permissions import refusals
from embedded.setting import Memory, with_parts
from engines.conftest import Deployment, lambda_context, on_both
from engines.test_jobs_end_to_end import jobs, noting, run, say
from recollect.app import App
from recollect.bootstrap import open_app
from recollect.core.scope import Scope
from recollect.jobs.job import JobStatus
from recollect.jobs.run import JobOrder
from recollect.retrieval.nomination import IndexCount
from recollect.timeline.failed_projections import PROCESS_ENDED, RETRY_POLICY
from samples.ending import ENDED, EndsWith, exit_code

pytestmark = pytest.mark.engines

__all__ = ["jobs"]

ANNA = Scope("acme", "anna")


@contextmanager
def refusing(deployment: Deployment, word: str) -> Iterator[None]:
    """For a while no text with this word can be encoded."""

    class Refusing:
        def __getattr__(self, name: str) -> Any:
            return getattr(real, name)

        def encode(self, texts: Any, *given: Any, **named: Any) -> Any:
            if any(word in text for text in texts):
                raise ValueError(word)
            return real.encode(texts, *given, **named)

    attempt = deployment.app.projection.events
    real: Any = attempt._embedder
    attempt._embedder = cast(Any, Refusing())
    try:
        yield
    finally:
        attempt._embedder = real


@on_both
@pytest.mark.spec("P-25")
def test_a_poisoned_event_is_noted_quarantined_and_replayed(jobs: Deployment) -> None:
    good, bad = say(jobs, "the cat sleeps all day", 2), say(jobs, "the zebra sings at midnight", 1)
    with refusing(jobs, "zebra"), noting(jobs) as needs:
        assert jobs.pump.drain() > 0
        assert jobs.pump.given_up == 0
    assert refusals("project", needs, jobs.app.settings.index_prefix) == set()
    app = jobs.app
    assert app.parts.projections.pending(100, None).markers == ()
    assert [event.id for event in app.parts.timeline.newest(ANNA, 10)] == [bad, good]
    assert app.parts.timeline.find(ANNA, bad) is not None
    (note,) = app.projection.failed_events.listed("acme", 10)
    assert (note.failed.ref.id, note.failed.error, note.failed.tries) == (bad, "ValueError", 1)
    moment = datetime.now(UTC)
    with refusing(jobs, "zebra"):
        for _ in range(RETRY_POLICY.most_tries):
            moment += timedelta(hours=1)
            app.projection.reconciliation.run(moment)
    answer = jobs.handlers["project"]({"task": "reconcile"}, lambda_context())
    assert (answer["failed"], answer["quarantined"]) == (0, 1)
    ready = jobs.call("retrieval", "GET", "/v1/ready").body
    assert (ready["ready"], ready["parts"]["projection"]["pending"]) == (True, 1)
    asked = jobs.call("admin", "POST", "/v1/jobs/reconcile", {"replay": True})
    assert asked.status == 202
    with noting(jobs) as needs:
        assert run(jobs, "jobs")["done"] == 1
    assert refusals("jobs", needs, jobs.app.settings.index_prefix) == set()
    with noting(jobs) as needs:
        shown = jobs.call("admin", "GET", f"/v1/jobs/{asked.body['job_id']}").body
    assert refusals("memories", needs, jobs.app.settings.index_prefix) == set()
    assert (shown["status"], shown["counts"]["projected"], shown["counts"]["quarantined"]) == ("done", 1, 0)
    assert "failures" not in shown
    assert app.projection.failed_events.listed("acme", 10) == []


@on_both
@pytest.mark.spec("P-25")
def test_an_event_with_which_the_process_ends_is_put_aside(jobs: Deployment) -> None:
    bad, good = say(jobs, "the zebra sings at midnight", 1), say(jobs, "the cat sleeps all day", 2)
    began, settings = datetime.now(UTC), jobs.app.settings

    def reconcile(hours: int) -> None:
        app = open_app(settings)
        memory = with_parts(Memory(app), embedder=EndsWith(app.parts.embedder, "zebra"))
        memory.app.projection.reconciliation.run(began + timedelta(hours=hours))

    assert [exit_code(partial(reconcile, hours)) for hours in range(4)] == [ENDED, ENDED, ENDED, 0]
    app = jobs.app
    assert app.parts.projections.pending(100, None).markers == ()
    assert app.parts.projections.vectors(ANNA, [good])[good].vector is not None
    (note,) = app.projection.failed_events.listed("acme", 10)
    assert (note.failed.ref.id, note.failed.error, note.failed.quarantined) == (bad, PROCESS_ENDED, True)
    with noting(jobs) as needs:
        answer = jobs.handlers["project"]({"task": "reconcile"}, lambda_context())
    assert (answer["failed"], answer["quarantined"]) == (0, 1)
    assert refusals("project", needs, settings.index_prefix) == set()
    assert jobs.call("admin", "POST", "/v1/jobs/reconcile", {"replay": True}).status == 202
    assert run(jobs, "jobs")["done"] == 1
    assert app.projection.failed_events.listed("acme", 10) == []


@on_both
@pytest.mark.spec("A-33")
def test_a_reindex_goes_on_without_an_event_with_which_the_process_ends(jobs: Deployment) -> None:
    for minutes, text in enumerate(("the zebra sings at midnight", "the cat sleeps all day"), start=1):
        say(jobs, text, minutes)
    app, settings, began = jobs.app, jobs.app.settings, datetime.now(UTC)
    assert app.projection.reconciliation.run(began).projected == 2
    order = JobOrder(kind="reindex", parameters={"from": "events"}, now=began, real_now=began)
    job = app.jobs.start("acme", order, app.ids.seed(int(began.timestamp() * 1000)))

    def later(work: Callable[[App, datetime], object], hours: int) -> None:
        there = open_app(settings)
        memory = with_parts(Memory(there), embedder=EndsWith(there.parts.embedder, "zebra"))
        work(memory.app, began + timedelta(hours=hours))

    reindex = partial(later, lambda there, at: there.job_runs.run(lambda: at, lambda: 100.0))
    codes = [exit_code(partial(reindex, hours)) for hours in range(1, 6)]
    assert (codes.count(ENDED), codes.count(0)) == (1, 4)
    ended = app.jobs.read("acme", job.id)
    assert (ended.status, dict(ended.errors)) == (JobStatus.DONE, {})
    # Both were set apart; tried alone, the event needs no new vector, so that nothing ends.
    reconcile = partial(later, lambda there, at: there.projection.reconciliation.run(at))
    assert exit_code(partial(reconcile, 6)) == 0
    assert app.projection.failed_events.listed("acme", 10) == []
    assert app.search_index.in_use.count(ANNA) == IndexCount(2, 2)


@on_both
@pytest.mark.spec("P-22")
def test_a_poisoned_event_can_be_deleted(jobs: Deployment) -> None:
    bad = say(jobs, "the zebra sings at midnight", 1)
    with refusing(jobs, "zebra"):
        jobs.pump.drain()
    assert len(jobs.app.projection.failed_events.listed("acme", 10)) == 1
    assert jobs.call("retrieval", "DELETE", f"/v1/users/anna/events/{bad}").status in (200, 204)
    jobs.app.projection.reconciliation.run(datetime.now(UTC))
    assert jobs.app.projection.failed_events.listed("acme", 10) == []
    assert jobs.app.parts.timeline.newest(ANNA, 10) == []
