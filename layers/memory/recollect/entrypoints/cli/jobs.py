"""`recollect jobs`, `export`, `snapshots`, `backup`, `restore`, `rehearse`: long work, copies of what is stored."""

import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import Progress, TaskID, TextColumn, TimeElapsedColumn

from recollect.app import App
from recollect.archive.rehearsal import RehearsalOrder, report_json
from recollect.archive.snapshot import Snapshot, snapshot_json
from recollect.bootstrap.local_parts import back_up_store, restore_store
from recollect.core.errors import InvalidInput
from recollect.core.scope import Scope
from recollect.core.time import utc_now
from recollect.entrypoints.cli.commands import LOCAL_TENANT, AsJson, CommandGroup, Tenant, check_ids, opened
from recollect.entrypoints.cli.console import (
    build_model,
    counted,
    pages,
    progress_bar,
    say,
    settings_of_environment,
    write_json,
    write_line,
    write_list,
    write_raw,
)
from recollect.entrypoints.http.routes.jobs import failure_json, job_json, unchanged_by
from recollect.jobs.job import KINDS, Job, JobStatus
from recollect.jobs.run import JobOrder

_SECONDS = 24 * 3600.0
_POLL_SECONDS = 0.3
_FAILED = 1
_REINDEX = "reindex"

jobs = CommandGroup(help="Long work of an operator: start it, watch it.", no_args_is_help=True)


@jobs.command()
def run(
    kind: Annotated[str, typer.Argument(help=f"One of {', '.join(KINDS)}.")],
    snapshot: Annotated[str | None, typer.Option(help="Of `restore`: the snapshot's id.")] = None,
    user: Annotated[str | None, typer.Option("--user", "-u", help="Of `restore`: this user alone.")] = None,
    source: Annotated[str | None, typer.Option("--from", help="Of `reindex`: `vectors` or `events`.")] = None,
    replay: Annotated[
        bool, typer.Option("--replay", help="Of `reconcile`: tries again what failed, quarantined events too.")
    ] = False,
    tenant: Tenant = LOCAL_TENANT,
    as_json: AsJson = False,
) -> None:
    """Starts a job and does it here; ended by Ctrl-C, it goes on with `recollect serve` or `recollect jobs watch`."""
    if kind not in KINDS:
        raise InvalidInput(f"a job is one of {', '.join(KINDS)}")
    given = {"snapshot_id": snapshot, "user_id": user, "from": source, "replay": replay or None}
    parameters = {name: value for name, value in given.items() if value is not None}
    now = utc_now()
    order = JobOrder(kind=kind, parameters=_checked(kind, parameters), now=now, real_now=now)
    settings = settings_of_environment()
    if kind == _REINDEX and settings.embedder == "e5":
        build_model(settings)  # else the job would wait for it, try after try
    with opened(settings) as app:
        seed = app.ids.seed(int(time.time() * 1000))
        check_ids(tenant=tenant)
        _ended(app, tenant, app.jobs.start(tenant, order, seed), as_json)


@jobs.command()
def watch(
    app: App,
    job_id: Annotated[str, typer.Argument(help="The job's id.")],
    tenant: Tenant = LOCAL_TENANT,
    as_json: AsJson = False,
) -> None:
    """Shows how a job goes on until it ends; goes on with it where nobody else does."""
    _ended(app, tenant, app.jobs.read(tenant, job_id), as_json)


@jobs.command("list")
def listed(
    app: App,
    limit: Annotated[int, typer.Option(min=1, max=200)] = 20,
    tenant: Tenant = LOCAL_TENANT,
    as_json: AsJson = False,
) -> None:
    """The newest jobs."""
    write_list("jobs", app.jobs.newest(tenant, limit), as_json, _job_json, _job_line, numbered=False)


def _job_json(job: Job) -> dict[str, Any]:
    return {"job_id": job.id, **job_json(job)}


def _job_line(job: Job) -> str:
    activity = job.activity(utc_now())
    state, share = job.status if activity is None else activity, "" if job.share is None else f"{job.share:.0%}"
    return f"{job.id}  {job.asked_at:%Y-%m-%d %H:%M:%S}  {job.kind:9}  {state.value:11}  {share:>4}  {_counts(job)}"


@jobs.command()
def failed(
    app: App,
    limit: Annotated[int, typer.Option(min=1, max=10_000)] = 100,
    tenant: Tenant = LOCAL_TENANT,
    as_json: AsJson = False,
) -> None:
    """The events that could not be projected: `jobs run reconcile --replay` tries them again."""
    shown = [failure_json(one) for one in app.projection.failed_events.listed(tenant, limit)]
    write_list("failures", shown, as_json, dict, _failure_line, numbered=False)


def _failure_line(shown: dict[str, Any]) -> str:
    state = "quarantined" if shown["quarantined"] else "tried again"
    return f"{shown['event_id']}  {state:11}  {shown['tries']:3} tries  {shown['last_at'][:19]}  {shown['error']}"


def _checked(kind: str, parameters: dict[str, Any]) -> dict[str, Any]:
    from recollect.entrypoints.http.problems import Refused, read_as
    from recollect.entrypoints.http.routes.jobs import body_of

    try:
        return read_as(body_of(kind), parameters).model_dump(by_alias=True, exclude_none=True)
    except Refused as refused:
        fault = refused.faults[0]
        raise InvalidInput(f"{'.'.join(map(str, fault.loc))}: {fault.message}") from None


def _ended(app: App, tenant: str, job: Job, as_json: bool) -> None:
    say(f"job {job.id}")
    with progress_bar(TextColumn("{task.fields[counts]}"), TimeElapsedColumn()) as bar:
        # A share where it is known, else a bar that only moves.
        task = bar.add_task(job.kind, total=None if job.share is None else 1.0, counts=_counts(job))
        job = followed(app, tenant, job, time.monotonic() + _SECONDS, lambda now: _show(bar, task, now))
        _show(bar, task, job)
    if as_json:
        write_json(_job_json(job))
    else:
        write_line(f"{job.status.value}  {_counts(job)}".rstrip())
        for part in unchanged_by(job):
            say(f"{part} stay as they are")
    for name, count in sorted(job.errors.items()):
        say(f"error: {name} ({count})")
    if job.status is JobStatus.FAILED:
        raise typer.Exit(_FAILED)


def followed(app: App, tenant: str, job: Job, over: float, shown: Callable[[Job], None] = lambda _job: None) -> Job:
    """Runs the job to its end, or waits for the process that runs it; unfinished where time, monotonic, is `over`."""
    while not job.finished and time.monotonic() < over:
        job = app.job_runs.one(tenant, job.id, utc_now, lambda: over - time.monotonic(), shown)
        shown(job)
        if not job.finished:
            time.sleep(_POLL_SECONDS)
    return job


def _show(bar: Progress, task: TaskID, job: Job) -> None:
    share = 1.0 if job.status is JobStatus.DONE else job.share
    bar.update(task, total=None if share is None else 1.0, completed=share or 0.0, counts=_counts(job))


def _counts(job: Job) -> str:
    return ", ".join(f"{count} {name}" for name, count in job.counts.items() if count)


_NAMED = 50

snapshots = CommandGroup(help="What was kept; `recollect jobs run snapshot` takes one.", no_args_is_help=True)


def export(
    app: App,
    scope: Scope,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="A file; absent: standard output.")] = None,
) -> None:
    """Writes all of a user as JSON Lines: events and memories, private ones too. `recollect import` reads it."""
    count = 0
    with out.open("w", encoding="utf-8") if out else nullcontext() as stream:
        for page in pages(lambda after: app.segments.exports.page(scope, after, utc_now())):
            (stream.write if stream else write_raw)(page.text)
            count += page.lines
        for found in pages(lambda after: app.archive.item_exports.page(scope, after, utc_now())):
            (stream.write if stream else write_raw)(found.text)
            count += found.lines
        for logged in pages(lambda after: app.archive.log_exports.page(scope, after)):
            (stream.write if stream else write_raw)(logged.text)
            count += logged.lines
    say(f"{count} records")


@snapshots.command("list")
def list_snapshots(
    app: App,
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 20,
    tenant: Tenant = LOCAL_TENANT,
    as_json: AsJson = False,
) -> None:
    """The newest snapshots."""
    found = app.segments.snapshots.page(tenant, limit, None).snapshots
    write_list("snapshots", found, as_json, snapshot_json, _snapshot_line)


def _snapshot_line(one: Snapshot) -> str:
    counts = ", ".join(f"{count} {name}" for name, count in one.counts.items())
    return f"{one.id}  {one.created_at:%Y-%m-%d %H:%M:%S}  {one.user_id or 'everybody'}  {counts}"


@snapshots.command()
def diff(
    app: App,
    first: Annotated[str, typer.Argument(help="A snapshot's id.")],
    second: Annotated[str, typer.Argument(help="Another one's.")],
    tenant: Tenant = LOCAL_TENANT,
    as_json: AsJson = False,
) -> None:
    """What was added, removed and changed from the first to the second."""
    found = app.segments.differences.diff(tenant, first, second, _NAMED)
    if as_json:
        changes = [{"kind": one.kind, "user_id": one.user_id, "id": one.record_id} for one in found.changes]
        write_json({"counts": dict(found.counts), "changes": changes})
        return
    for one in found.changes:
        write_line(f"{one.kind:8}  {one.user_id}  {one.record_id}")
    say(", ".join(f"{count} {kind}" for kind, count in found.counts.items()) or "no difference")


def backup(folder: Annotated[Path, typer.Argument(help="A folder without a store; made where it is missing.")]) -> None:
    """Copies all of a laptop's store while it is in use: everything, deletions included, as of now."""
    back_up_store(settings_of_environment(), folder)
    say(f"copied to {folder}; no deletion reaches it there")


def rehearse(
    app: App,
    snapshot: Annotated[str | None, typer.Option(help="A snapshot's id; absent: the newest.")] = None,
    user: Annotated[str | None, typer.Option("--user", "-u", help="This user alone.")] = None,
    users: Annotated[int, typer.Option(min=1, max=100_000, help="At most so many users.")] = 100,
    seconds: Annotated[float, typer.Option(min=10, max=24 * 3600, help="How long it may take.")] = 900.0,
    tenant: Tenant = LOCAL_TENANT,
    as_json: AsJson = False,
) -> None:
    """Restores a snapshot into a scratch store, checks what came, and removes it; the store in use is only read."""
    from recollect.bootstrap.rehearsal import rehearse as rehearsed

    check_ids(tenant=tenant)
    order = RehearsalOrder(tenant=tenant, snapshot_id=snapshot, user_id=user, most_users=users, seconds=seconds)
    report = rehearsed(app, order, utc_now())
    if as_json:
        write_json(report_json(report))
    else:
        for check in report.checks:
            write_line(f"{'ok   ' if check.passed else 'WRONG'}  {check.name:10}  {check.detail}")
    say(f"snapshot {report.snapshot_id}, {report.users} users, {report.seconds:.0f} s; the scratch store is gone")
    if not report.passed:
        raise typer.Exit(_FAILED)


def restore(folder: Annotated[Path, typer.Argument(help="What `recollect backup` made.")]) -> None:
    """Restores a copy where there is no store; then applies the deletions that the archive lists, if one is there."""
    applied = counted(restore_store(settings_of_environment(), folder, utc_now()))
    say(f"restored; deletions applied: {applied}" if applied else "restored")
