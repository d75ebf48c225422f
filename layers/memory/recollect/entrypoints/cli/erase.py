"""`recollect erase` and `recollect erasure`: a user goes everywhere, and the report of it."""

import time
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from recollect.app import App
from recollect.core.time import iso
from recollect.deletion.erase import ErasureReport
from recollect.entrypoints.cli.console import say, write_json, write_line
from recollect.entrypoints.cli.opening import opened
from recollect.entrypoints.cli.options import LOCAL_TENANT, AsJson, Sure, Tenant, User, scope_of, sure, tenant_of
from recollect.jobs.job import Job, JobStatus
from recollect.memories.audit import Actor, ActorKind

_SECONDS = 3600.0
_POLL_SECONDS = 0.3
_FAILED = 1
_OPERATOR = Actor(ActorKind.ADMIN, "cli")


def erase(user: User, yes: Sure = False, tenant: Tenant = LOCAL_TENANT, as_json: AsJson = False) -> None:
    """Erases a user everywhere and prints the report. What was recorded before is refused for ever."""
    scope = scope_of(user, None, None, tenant)
    sure(yes, f"Erase {user} for ever?")
    over = time.monotonic() + _SECONDS
    with opened() as app:
        now = _now()
        erasure = app.deletion.erase(scope, now, now, _OPERATOR, lambda: over - time.monotonic())
        say(f"erasure {erasure.id}: nothing of {user} is read any more")
        job = _finished(app, scope.tenant, erasure.id, over)
        _show(erasure.id, app.deletion.erase.report(scope.tenant, erasure.id), as_json)
    if job.status is JobStatus.FAILED:
        say("error: not all of it was reached: see the job of the same id")
        raise typer.Exit(_FAILED)


def erasure(
    erasure_id: Annotated[str, typer.Argument(help="As `recollect erase` or the HTTP API named it.")],
    tenant: Tenant = LOCAL_TENANT,
    as_json: AsJson = False,
) -> None:
    """Prints the report of an erasure: what was reached, and which copies lapse when."""
    with opened() as app:
        _show(erasure_id, app.deletion.erase.report(tenant_of(tenant), erasure_id), as_json)


def _finished(app: App, tenant: str, job_id: str, over: float) -> Job:
    """Does the rest here, or waits for whoever does; as it stands where that takes too long."""
    job = app.jobs.read(tenant, job_id)
    while not job.finished and time.monotonic() < over:
        job = app.run_jobs.one(tenant, job_id, _now, lambda: over - time.monotonic())
        if not job.finished:
            time.sleep(_POLL_SECONDS)
    return job


def _show(erasure_id: str, report: ErasureReport, as_json: bool) -> None:
    if as_json:
        write_json({"erasure_id": erasure_id, **_json(report)})
        return
    write_line(f"{erasure_id}  {'running' if report.running else 'done'}{', verified' if report.verified else ''}")
    for part, count in sorted(report.reached.items()):
        write_line(f"reached  {part}: {count}")
    for part, until in report.erasure.lapses:
        write_line(f"lapses   {part}: {iso(until)}")


def _json(report: ErasureReport) -> dict[str, Any]:
    return {
        "status": "running" if report.running else "done",
        "reached": dict(report.reached),
        "lapses": [{"part": part, "until": iso(until)} for part, until in report.erasure.lapses],
        "verified": report.verified,
        "at": iso(report.erasure.at),
    }


def _now() -> datetime:
    return datetime.now(UTC)
