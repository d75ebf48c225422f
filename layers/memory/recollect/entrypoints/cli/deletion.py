"""`recollect reject`, `rejections`, `keys`, `erase`, `erasure`, `tombstones`: what must never come back."""

import time
from typing import Annotated, Any

import typer

from recollect.app import App
from recollect.core.errors import NotFound, NotReady
from recollect.core.scope import Scope
from recollect.core.time import iso, utc_now
from recollect.deletion.erase import ErasureReport
from recollect.deletion.forget_events import Forgotten
from recollect.deletion.reject import Rejecting
from recollect.deletion.rejected_values import ValueKey
from recollect.deletion.tombstone_log import seconds_from_now
from recollect.entrypoints.cli.console import (
    LOCAL_TENANT,
    AsJson,
    Household,
    Persona,
    Sure,
    Tenant,
    User,
    opened,
    pages,
    say,
    scope_of,
    sure,
    tenant_of,
    write_json,
    write_line,
)
from recollect.jobs.job import Job, JobStatus
from recollect.memories.audit import Actor, ActorKind
from recollect.memories.memory import Memory

_PAGE = 200
_OPERATOR = Actor(ActorKind.ADMIN, "cli")
_ERASING_SECONDS = 3600.0
_POLL_SECONDS = 0.3
_FAILED = 1
_APPLYING_SECONDS = 24 * 3600.0

rejections = typer.Typer(help="Values that were rejected.", no_args_is_help=True)
keys = typer.Typer(help="Keys of a tenant's rejected values; their ids, never the keys.", no_args_is_help=True)


def reject(
    record_id: Annotated[str, typer.Argument(help="An event's or a memory's id, as `recollect timeline` shows it.")],
    user: User,
    yes: Sure = False,
    persona: Persona = None,
    household: Household = None,
    tenant: Tenant = LOCAL_TENANT,
) -> None:
    """Deletes an event or a memory and refuses its value in its scope from now on, however it is written."""
    scope = scope_of(user, persona, household, tenant)
    sure(yes, "Delete it, and refuse what it says from now on?")
    with opened() as app:
        forgotten = _rejected(app, scope, record_id)
    say(f"rejected, {len(forgotten.event_ids)} events deleted")
    write_json({"deleted": list(forgotten.event_ids)})


@rejections.command("list")
def list_rejections(
    user: User,
    persona: Persona = None,
    household: Household = None,
    tenant: Tenant = LOCAL_TENANT,
    as_json: AsJson = False,
) -> None:
    """The rejections of a user, the oldest first: ids, times and scopes. The values themselves are kept nowhere."""
    scope = scope_of(user, persona, household, tenant)
    with opened() as app:
        found = [
            one for page in pages(lambda after: app.deletion.values.page(scope, _PAGE, after)) for one in page.values
        ]
    if as_json:
        write_json({"rejections": [{"id": one.id, "time": iso(one.at), "key_id": one.key} for one in found]})
        return
    for one in found:
        whose = ", ".join(name for name in (one.persona_id, one.household_id) if name)
        write_line(f"{one.id}  {one.at:%Y-%m-%d %H:%M:%S}  key {one.key}  {whose}".rstrip())
    say(f"{len(found)} rejections")


@rejections.command()
def lift(
    rejection_id: Annotated[str, typer.Argument(help="As `list` shows it.")],
    user: User,
    tenant: Tenant = LOCAL_TENANT,
) -> None:
    """Lets a value in again; what was deleted stays deleted."""
    with opened() as app:
        app.deletion.values.lift(scope_of(user, None, None, tenant), rejection_id, _order("lift", rejection_id))
    say("lifted")


def _rejected(app: App, scope: Scope, record_id: str) -> Forgotten:
    memory = _memory(app, scope, record_id)
    order = _order("delete", record_id)
    if memory is None:
        return app.deletion.values.event(
            scope, record_id, order, lambda: app.deletion.events.forget(scope, event_id=record_id, now=order.now)
        )
    owner = Scope(scope.tenant, scope.user_id, memory.persona_id, memory.household_id)
    with app.deletion.values.rejected(owner, memory.content, order):
        return app.deletion.events.memory(scope, memory, now=order.now, actor=_OPERATOR)


def _memory(app: App, scope: Scope, record_id: str) -> Memory | None:
    try:
        return app.memories.store.one(scope, record_id, utc_now())
    except NotFound:
        return None


def _order(via: str, target_id: str) -> Rejecting:
    return Rejecting(now=utc_now(), actor=_OPERATOR, via=via, target_ids=(target_id,))


@keys.command("list")
def list_keys(tenant: Tenant = LOCAL_TENANT, as_json: AsJson = False) -> None:
    """The keys, the newest first: new rejections take that one. None before the first value was rejected."""
    with opened() as app:
        found = app.deletion.suppression.keys(tenant_of(tenant))
    _show_keys(found, as_json)


@keys.command()
def rotate(yes: Sure = False, tenant: Tenant = LOCAL_TENANT, as_json: AsJson = False) -> None:
    """Makes a new key for what is rejected from now on; the old ones stay, to check what was rejected under them."""
    tenant = tenant_of(tenant)
    sure(yes, "Make a new key? It cannot be taken back.")
    with opened() as app:
        found = app.deletion.suppression.rotate(tenant, utc_now())
    _show_keys(found, as_json)


def _show_keys(found: tuple[ValueKey, ...], as_json: bool) -> None:
    if as_json:
        write_json({"keys": [key.id for key in found]})
        return
    for place, key in enumerate(found):
        write_line(f"{key.id}  {'old' if place else 'in use'}")
    say(f"{len(found)} keys")


def erase(user: User, yes: Sure = False, tenant: Tenant = LOCAL_TENANT, as_json: AsJson = False) -> None:
    """Erases a user everywhere and prints the report. What was recorded before is refused for ever."""
    scope = scope_of(user, None, None, tenant)
    sure(yes, f"Erase {user} for ever?")
    over = time.monotonic() + _ERASING_SECONDS
    with opened() as app:
        now = utc_now()
        erasure = app.deletion.users.erase(scope, now, now, _OPERATOR, lambda: over - time.monotonic())
        say(f"erasure {erasure.id}: nothing of {user} is read any more")
        job = _finished(app, scope.tenant, erasure.id, over)
        _show_report(erasure.id, app.deletion.users.report(scope.tenant, erasure.id), as_json)
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
        _show_report(erasure_id, app.deletion.users.report(tenant_of(tenant), erasure_id), as_json)


def _finished(app: App, tenant: str, job_id: str, over: float) -> Job:
    """Runs the job to its end, or waits for the process that runs it; unfinished after an hour."""
    job = app.jobs.read(tenant, job_id)
    while not job.finished and time.monotonic() < over:
        job = app.job_runs.one(tenant, job_id, utc_now, lambda: over - time.monotonic())
        if not job.finished:
            time.sleep(_POLL_SECONDS)
    return job


def _show_report(erasure_id: str, report: ErasureReport, as_json: bool) -> None:
    if as_json:
        write_json({"erasure_id": erasure_id, **_report_json(report)})
        return
    write_line(f"{erasure_id}  {'running' if report.running else 'done'}{', verified' if report.verified else ''}")
    for part, count in sorted(report.reached.items()):
        write_line(f"reached  {part}: {count}")
    for part, until in report.erasure.lapses:
        write_line(f"lapses   {part}: {iso(until)}")


def _report_json(report: ErasureReport) -> dict[str, Any]:
    return {
        "status": "running" if report.running else "done",
        "reached": dict(report.reached),
        "lapses": [{"part": part, "until": iso(until)} for part, until in report.erasure.lapses],
        "verified": report.verified,
        "at": iso(report.erasure.at),
    }


def tombstones() -> None:
    """Applies deletions that are kept outside of the table and that it does not know of. Safe to run at any time."""
    with opened() as app:
        counts = app.deletion.tombstones.apply(utc_now(), seconds_from_now(_APPLYING_SECONDS))
        state = app.deletion.tombstones.check()
    applied = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))
    write_line(f"applied: {applied}" if applied else "nothing to apply")
    say(state.detail)
    if not state.ready:
        raise NotReady("deletions are left that could not be applied")
