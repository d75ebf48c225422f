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
from recollect.deletion.rejected_values import RejectedValue, ValueKey
from recollect.deletion.tombstone_log import seconds_from_now
from recollect.entrypoints.cli.commands import LOCAL_TENANT, AsJson, CommandGroup, Sure, Tenant, UserScope
from recollect.entrypoints.cli.console import counted, pages, say, sure, write_json, write_line, write_list
from recollect.entrypoints.cli.jobs import followed
from recollect.jobs.job import JobStatus
from recollect.memories.audit import Actor, ActorKind
from recollect.memories.memory import Memory

_PAGE = 200
_OPERATOR = Actor(ActorKind.ADMIN, "cli")
_ERASING_SECONDS = 3600.0
_FAILED = 1
_APPLYING_SECONDS = 24 * 3600.0

rejections = CommandGroup(help="Values that were rejected.", no_args_is_help=True)
keys = CommandGroup(help="Keys of a tenant's rejected values; their ids, never the keys.", no_args_is_help=True)


def reject(
    app: App,
    record_id: Annotated[
        str, typer.Argument(help="An event's or a memory's id, as `recollect timeline --ids` shows it.")
    ],
    scope: Scope,
    yes: Sure = False,
) -> None:
    """Deletes an event or a memory and refuses its value in its scope from now on, however it is written."""
    sure(yes, "Delete it, and refuse what it says from now on?")
    forgotten = _rejected(app, scope, record_id)
    say(f"rejected, {len(forgotten.event_ids)} events deleted")
    write_json({"deleted": list(forgotten.event_ids)})


@rejections.command("list")
def list_rejections(app: App, scope: Scope, as_json: AsJson = False) -> None:
    """The rejections of a user, the oldest first: ids, times and scopes. The values themselves are kept nowhere."""
    found = [one for page in pages(lambda after: app.deletion.values.page(scope, _PAGE, after)) for one in page.values]
    write_list("rejections", found, as_json, _rejection_json, _rejection_line)


def _rejection_json(one: RejectedValue) -> dict[str, Any]:
    return {"id": one.id, "time": iso(one.at), "key_id": one.key}


def _rejection_line(one: RejectedValue) -> str:
    whose = ", ".join(name for name in (one.persona_id, one.household_id) if name)
    return f"{one.id}  {one.at:%Y-%m-%d %H:%M:%S}  key {one.key}  {whose}".rstrip()


@rejections.command()
def lift(app: App, rejection_id: Annotated[str, typer.Argument(help="As `list` shows it.")], scope: UserScope) -> None:
    """Lets a value in again; what was deleted stays deleted."""
    app.deletion.values.lift(scope, rejection_id, _order("lift", rejection_id))
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
def list_keys(app: App, tenant: Tenant = LOCAL_TENANT, as_json: AsJson = False) -> None:
    """The keys, the newest first: new rejections take that one. None before the first value was rejected."""
    _show_keys(app.deletion.suppression.keys(tenant), as_json)


@keys.command()
def rotate(app: App, yes: Sure = False, tenant: Tenant = LOCAL_TENANT, as_json: AsJson = False) -> None:
    """Makes a new key for what is rejected from now on; the old ones stay, to check what was rejected under them."""
    sure(yes, "Make a new key? It cannot be taken back.")
    _show_keys(app.deletion.suppression.rotate(tenant, utc_now()), as_json)


def _show_keys(found: tuple[ValueKey, ...], as_json: bool) -> None:
    if as_json:
        write_json({"keys": [key.id for key in found]})
        return
    for place, key in enumerate(found):
        write_line(f"{key.id}  {'old' if place else 'in use'}")
    say(f"{len(found)} keys")


def erase(app: App, scope: UserScope, yes: Sure = False, as_json: AsJson = False) -> None:
    """Erases a user everywhere and prints the report. What was recorded before is refused for ever."""
    sure(yes, f"Erase {scope.user_id} for ever?")
    over, now = time.monotonic() + _ERASING_SECONDS, utc_now()
    erasure = app.deletion.users.erase(scope, now, now, _OPERATOR, lambda: over - time.monotonic())
    say(f"erasure {erasure.id}: nothing of {scope.user_id} is read any more")
    job = followed(app, scope.tenant, app.jobs.read(scope.tenant, erasure.id), over)
    _show_report(erasure.id, app.deletion.users.report(scope.tenant, erasure.id), as_json)
    if job.status is JobStatus.FAILED:
        say("error: not all of it was reached: see the job of the same id")
        raise typer.Exit(_FAILED)


def erasure(
    app: App,
    erasure_id: Annotated[str, typer.Argument(help="As `recollect erase` or the HTTP API named it.")],
    tenant: Tenant = LOCAL_TENANT,
    as_json: AsJson = False,
) -> None:
    """Prints the report of an erasure: what was reached, and which copies lapse when."""
    _show_report(erasure_id, app.deletion.users.report(tenant, erasure_id), as_json)


def _show_report(erasure_id: str, report: ErasureReport, as_json: bool) -> None:
    status, lapses = "running" if report.running else "done", report.erasure.lapses
    if as_json:
        document = {
            "erasure_id": erasure_id,
            "status": status,
            "reached": dict(report.reached),
            "lapses": [{"part": part, "until": iso(until)} for part, until in lapses],
            "verified": report.verified,
            "at": iso(report.erasure.at),
        }
        write_json(document)
        return
    write_line(f"{erasure_id}  {status}{', verified' if report.verified else ''}")
    for part, count in sorted(report.reached.items()):
        write_line(f"reached  {part}: {count}")
    for part, until in lapses:
        write_line(f"lapses   {part}: {iso(until)}")


def tombstones(app: App) -> None:
    """Applies deletions that are kept outside of the table and that it does not know of. Safe to run at any time."""
    applied = counted(app.deletion.tombstones.apply(utc_now(), seconds_from_now(_APPLYING_SECONDS)))
    state = app.deletion.tombstones.check()
    write_line(f"applied: {applied}" if applied else "nothing to apply")
    say(state.detail)
    if not state.ready:
        raise NotReady("deletions are left that could not be applied")
