"""`recollect jobs`, `export`, `snapshots`, `backup` and `restore`: long work, and copies of what is stored."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from recollect.app import App
from recollect.archive.snapshot import snapshot_json
from recollect.bootstrap.local_parts import back_up_store, restore_store
from recollect.core.errors import InvalidInput
from recollect.core.scope import Scope
from recollect.core.time import utc_now
from recollect.entrypoints.cli.console import (
    LOCAL_TENANT,
    AsJson,
    Household,
    Persona,
    Tenant,
    User,
    build_model,
    message_console,
    opened,
    pages,
    say,
    scope_of,
    settings_of_environment,
    tenant_of,
    write_json,
    write_line,
    write_raw,
)
from recollect.entrypoints.http.routes.jobs import failure_json, job_json
from recollect.jobs.job import KINDS, Job, JobStatus
from recollect.jobs.run import JobOrder

_SECONDS = 24 * 3600.0
_POLL_SECONDS = 0.3
_FAILED = 1
_REINDEX = "reindex"

jobs = typer.Typer(help="Long work of an operator: start it, watch it.", no_args_is_help=True)

Shot = Callable[[Job], None]


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
        _ended(app, tenant_of(tenant), app.jobs.start(tenant, order, seed), as_json)


@jobs.command()
def watch(
    job_id: Annotated[str, typer.Argument(help="The job's id.")], tenant: Tenant = LOCAL_TENANT, as_json: AsJson = False
) -> None:
    """Shows how a job goes on until it ends; goes on with it where nobody else does."""
    with opened() as app:
        _ended(app, tenant_of(tenant), app.jobs.read(tenant, job_id), as_json)


@jobs.command("list")
def listed(
    limit: Annotated[int, typer.Option(min=1, max=200)] = 20, tenant: Tenant = LOCAL_TENANT, as_json: AsJson = False
) -> None:
    """The newest jobs."""
    with opened() as app:
        found = app.jobs.newest(tenant_of(tenant), limit)
    if as_json:
        write_json({"jobs": [{"job_id": job.id, **job_json(job)} for job in found]})
        return
    for job in found:
        write_line(f"{job.id}  {job.asked_at:%Y-%m-%d %H:%M:%S}  {job.kind:9}  {job.status.value:7}  {_counts(job)}")


@jobs.command()
def failed(
    limit: Annotated[int, typer.Option(min=1, max=10_000)] = 100,
    tenant: Tenant = LOCAL_TENANT,
    as_json: AsJson = False,
) -> None:
    """The events that could not be projected: `jobs run reconcile --replay` tries them again."""
    with opened() as app:
        found = app.projection.failed_events.listed(tenant_of(tenant), limit)
    shown = [failure_json(one) for one in found]
    if as_json:
        write_json({"failures": shown})
        return
    for one in shown:
        state = "quarantined" if one["quarantined"] else "tried again"
        write_line(f"{one['event_id']}  {state:11}  {one['tries']:3} tries  {one['last_at'][:19]}  {one['error']}")


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
    with _bar() as bar:
        task = bar.add_task(job.kind, total=None if job.share is None else 1.0, counts=_counts(job))
        job = _followed(app, tenant, job, lambda now: _show(bar, task, now))
        _show(bar, task, job)
    if as_json:
        write_json({"job_id": job.id, **job_json(job)})
    else:
        write_line(f"{job.status.value}  {_counts(job)}".rstrip())
    for name, count in sorted(job.errors.items()):
        say(f"error: {name} ({count})")
    if job.status is JobStatus.FAILED:
        raise typer.Exit(_FAILED)


def _followed(app: App, tenant: str, job: Job, shown: Shot) -> Job:
    over = time.monotonic() + _SECONDS
    while not job.finished and time.monotonic() < over:
        job = app.job_runs.one(tenant, job.id, utc_now, lambda: over - time.monotonic(), shown)
        shown(job)
        if not job.finished:
            time.sleep(_POLL_SECONDS)
    return job


def _bar() -> Progress:
    """A share where it is known, else a bar that only moves."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[counts]}"),
        TimeElapsedColumn(),
        console=message_console(),
    )


def _show(bar: Progress, task: TaskID, job: Job) -> None:
    share = 1.0 if job.status is JobStatus.DONE else job.share
    bar.update(task, total=None if share is None else 1.0, completed=share or 0.0, counts=_counts(job))


def _counts(job: Job) -> str:
    return ", ".join(f"{count} {name}" for name, count in job.counts.items() if count)


_NAMED = 50

snapshots = typer.Typer(help="What was kept; `recollect jobs run snapshot` takes one.", no_args_is_help=True)


def export(
    user: User,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="A file; absent: standard output.")] = None,
    persona: Persona = None,
    household: Household = None,
    tenant: Tenant = LOCAL_TENANT,
) -> None:
    """Writes all of a user as JSON Lines: events and memories, private ones too. `recollect import` reads it."""
    scope = scope_of(user, persona, household, tenant)
    count = 0
    with opened() as app:
        if out is None:
            for text in _pages(app, scope):
                write_raw(text)
                count += text.count("\n")
        else:
            with out.open("w", encoding="utf-8") as stream:
                for text in _pages(app, scope):
                    stream.write(text)
                    count += text.count("\n")
    say(f"{count} records")


def _pages(app: App, scope: Scope) -> Iterator[str]:
    for page in pages(lambda after: app.segments.exports.page(scope, after, utc_now())):
        yield page.text


@snapshots.command("list")
def list_snapshots(
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 20, tenant: Tenant = LOCAL_TENANT, as_json: AsJson = False
) -> None:
    """The newest snapshots."""
    with opened() as app:
        page = app.segments.snapshots.page(tenant_of(tenant), limit, None)
    if as_json:
        write_json({"snapshots": [snapshot_json(one) for one in page.snapshots]})
        return
    for one in page.snapshots:
        counts = ", ".join(f"{count} {name}" for name, count in one.counts.items())
        write_line(f"{one.id}  {one.created_at:%Y-%m-%d %H:%M:%S}  {one.user_id or 'everybody'}  {counts}")
    say(f"{len(page.snapshots)} snapshots")


@snapshots.command()
def diff(
    first: Annotated[str, typer.Argument(help="A snapshot's id.")],
    second: Annotated[str, typer.Argument(help="Another one's.")],
    tenant: Tenant = LOCAL_TENANT,
    as_json: AsJson = False,
) -> None:
    """What was added, removed and changed from the first to the second."""
    with opened() as app:
        found = app.segments.differences.diff(tenant_of(tenant), first, second, _NAMED)
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


def restore(folder: Annotated[Path, typer.Argument(help="What `recollect backup` made.")]) -> None:
    """Puts a copy where no store is; what was deleted since, as an archive that is there tells, is deleted in it."""
    counts = restore_store(settings_of_environment(), folder, utc_now())
    applied = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))
    say(f"restored; deletions applied: {applied}" if applied else "restored")
