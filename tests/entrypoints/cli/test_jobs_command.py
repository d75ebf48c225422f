"""`recollect jobs`, and the jobs that a server runs beside its requests."""

import dataclasses
import json
import logging
import threading
import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from entrypoints.cli.conftest import Run
from entrypoints.cli.running import ANA, Home, left, say, soon
from recollect.app import App
from recollect.core.errors import NotFound, Unavailable
from recollect.core.time import utc_now
from recollect.entrypoints.worker import JOBS, Projector, ProjectorPolicy, Rounds
from recollect.jobs.job import Job, JobProgress, JobStatus, RemainingSeconds
from recollect.jobs.run import JobOrder
from recollect.projection.attempt import Failure
from recollect.timeline.failed_projections import RETRY_POLICY, Fault
from recollect.timeline.timeline import PendingEvent

QUICK = ProjectorPolicy(poll_seconds=0.05, job_seconds=0.05)


def forget_after(app: App, days: float) -> None:
    app.rules.replace("local", {"retention": [{"older_than_days": days}]}, datetime.now(UTC), None)


def start(app: App, kind: str) -> Job:
    order = JobOrder(kind=kind, now=utc_now(), real_now=utc_now())
    return app.jobs.start("local", order, app.ids.seed(int(time.time() * 1000)))


def test_a_job_is_run_and_told(run: Run, app: App) -> None:
    forget_after(app, 30)
    say(app, "the zebra sings", days_ago=40)
    say(app, "the cat sleeps", days_ago=1)
    assert run("jobs", "run", "reconcile").exit_code == 0
    result = run("jobs", "run", "retain")
    assert (result.exit_code, result.stdout) == (0, "done  1 users, 1 pruned\n")
    assert "job 0" in result.stderr
    assert left(app) == ["the cat sleeps"]


def test_it_is_json_where_asked_for(run: Run, app: App) -> None:
    shown = json.loads(run("jobs", "run", "retain", "--json").stdout)
    assert (shown["kind"], shown["status"], shown["errors"]) == ("retain", "done", [])
    assert json.loads(run("jobs", "watch", shown["job_id"], "--json").stdout) == shown
    assert json.loads(run("jobs", "list", "--json").stdout) == {"jobs": [shown]}
    assert run("jobs", "list").stdout.startswith(shown["job_id"])


def test_a_job_that_was_left_is_watched_to_its_end(run: Run, app: App) -> None:
    say(app, "the cat sleeps", days_ago=1)
    job = start(app, "reconcile")
    assert run("jobs", "watch", job.id).stdout.startswith("done  1 projected")
    assert app.jobs.read("local", job.id).status is JobStatus.DONE


def quarantine(app: App) -> str:
    """An event that has failed as often as it may; its id."""
    say(app, "the zebra sings", days_ago=1)
    event = app.parts.timeline.newest(ANA, 1)[0]
    failure = Failure((PendingEvent(ANA, event.ref),), "ValueError", Fault.OWN)
    for hours in range(RETRY_POLICY.most_tries):
        assert app.projection.failed_events.note(failure, datetime.now(UTC) - timedelta(hours=20 - hours))
    return event.id


def test_what_is_quarantined_is_listed_advised_about_and_replayed(run: Run, app: App) -> None:
    event_id = quarantine(app)
    (line,) = run("jobs", "failed").stdout.splitlines()
    assert line.startswith(f"{event_id}  quarantined    8 tries  ")
    assert line.endswith("  ValueError")
    (shown,) = json.loads(run("jobs", "failed", "--json").stdout)["failures"]
    assert (shown["event_id"], shown["quarantined"], "next_at" in shown) == (event_id, True, False)
    doctor = run("doctor")
    assert doctor.exit_code == 0, doctor.stdout
    assert "ok    projection: events that could not be projected: 1 quarantined, 0 tried again later" in doctor.stdout
    assert "note: `recollect jobs failed` says why" in doctor.stdout
    assert run("jobs", "run", "reconcile").stdout == "done  1 quarantined\n"
    assert run("jobs", "run", "reconcile", "--replay").stdout == "done  1 replayed, 1 projected\n"
    assert run("jobs", "failed").stdout == ""


def test_a_job_that_fails_says_why(run: Run, app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> JobProgress:
        raise NotFound("no such thing")

    monkeypatch.setattr("recollect.archive.retain.Retain.step", broken)
    result = run("jobs", "run", "retain")
    assert (result.exit_code, result.stdout) == (1, "failed\n")
    assert "error: NotFound (1)" in result.stderr


def test_ended_by_ctrl_c_it_goes_on_at_once(app: App, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from recollect.archive.retain import Retain

    whole = Retain.step

    def interrupted(*_: Any) -> JobProgress:
        raise KeyboardInterrupt

    monkeypatch.setattr(Retain, "step", interrupted)
    assert run("jobs", "run", "retain").exit_code == 130
    monkeypatch.setattr(Retain, "step", whole)
    (job,) = app.jobs.newest("local", 10)
    assert (job.status, job.leased_until) == (JobStatus.RUNNING, None)
    assert run("jobs", "watch", job.id).exit_code == 0


def test_a_server_runs_what_is_due(app: App) -> None:
    say(app, "the cat sleeps", days_ago=1)
    job = start(app, "reconcile")
    with Projector(app, QUICK):
        assert soon(lambda: app.jobs.read("local", job.id).status is JobStatus.DONE)


def test_a_server_retains_by_itself_once_a_day(app: App) -> None:
    forget_after(app, 30)
    say(app, "the zebra sings", days_ago=40)
    with Projector(app, QUICK):
        assert soon(lambda: left(app) == [])
        assert soon(lambda: [job.status for job in app.jobs.newest("local", 10)] == [JobStatus.DONE])


def test_where_requests_have_a_clock_of_their_own_nothing_is_retained_by_the_real_one(home: Home, app: App) -> None:
    forget_after(app, 30)
    say(app, "the zebra sings", days_ago=40)
    app.projection.reconciliation.run(utc_now())
    app.deployment = dataclasses.replace(app.deployment, settings=dataclasses.replace(app.settings, test_clock=True))
    assert Rounds(JOBS, app, utc_now, threading.Event(), 0.01).round() is not None
    assert (left(app), app.jobs.newest("local", 10)) == (["the zebra sings"], [])


def test_a_server_that_stops_lets_its_job_go(app: App) -> None:
    stop = threading.Event()

    class Endless:
        def step(self, tenant: str, state: Mapping[str, Any], now: datetime, deadline: RemainingSeconds) -> JobProgress:
            stop.set()
            return JobProgress(state=state)

    app.__dict__["job_kinds"] = {"retain": Endless}
    job = start(app, "retain")
    report = Rounds(JOBS, app, utc_now, stop, 0.01).round()
    assert report is not None
    assert (report.counts["running"], app.jobs.read("local", job.id).leased_until) == (1, None)


@pytest.mark.parametrize("error", [Unavailable("what a user said"), ZeroDivisionError("what a user said")])
def test_a_round_that_fails_is_logged_and_the_next_one_tries_again(
    app: App, caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    stop = threading.Event()
    runs: list[int] = []

    def broken(*_: Any) -> int:
        runs.append(1)
        if len(runs) == 3:
            stop.set()
        raise error

    app.archive.__dict__["retention_schedule"] = SimpleNamespace(schedule=broken)
    Rounds(JOBS, app, utc_now, stop, 0.01).run()
    lines = [record.__dict__ for record in caplog.records if record.levelno >= logging.WARNING]
    of_rounds = [line["error"] for line in lines if line["name"].endswith("worker")]
    assert of_rounds == [type(error).__name__] * 3
    assert "what a user said" not in caplog.text
    del app.archive.__dict__["retention_schedule"]
    assert Rounds(JOBS, app, utc_now, threading.Event(), 0.01).round() is not None
