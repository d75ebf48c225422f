"""`recollect reject` and `recollect rejections`: values that must never come back, and letting one in again."""

from datetime import UTC, datetime
from typing import Annotated

import typer

from recollect.app import App
from recollect.core.errors import NotFound
from recollect.core.scope import Scope
from recollect.core.time import iso
from recollect.deletion.forget_events import Forgotten
from recollect.deletion.reject import Rejecting
from recollect.deletion.rejected_values import RejectedValue
from recollect.entrypoints.cli.console import say, write_json, write_line
from recollect.entrypoints.cli.opening import opened
from recollect.entrypoints.cli.options import (
    LOCAL_TENANT,
    AsJson,
    Household,
    Persona,
    Sure,
    Tenant,
    User,
    scope_of,
    sure,
)
from recollect.memories.audit import Actor, ActorKind
from recollect.memories.memory import Memory

_PAGE = 200
_OPERATOR = Actor(ActorKind.ADMIN, "cli")

rejections = typer.Typer(help="Values that were rejected.", no_args_is_help=True)


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
def listed(
    user: User,
    persona: Persona = None,
    household: Household = None,
    tenant: Tenant = LOCAL_TENANT,
    as_json: AsJson = False,
) -> None:
    """The rejections of a user, the oldest first: ids, times and scopes. The values themselves are kept nowhere."""
    scope = scope_of(user, persona, household, tenant)
    with opened() as app:
        found = _all(app, scope)
    if as_json:
        write_json({"rejections": [{"id": one.id, "time": iso(one.at), "key_id": one.key_id} for one in found]})
        return
    for one in found:
        whose = ", ".join(name for name in (one.persona_id, one.household_id) if name)
        write_line(f"{one.id}  {one.at:%Y-%m-%d %H:%M:%S}  key {one.key_id}  {whose}".rstrip())
    say(f"{len(found)} rejections")


@rejections.command()
def lift(
    rejection_id: Annotated[str, typer.Argument(help="As `list` shows it.")],
    user: User,
    tenant: Tenant = LOCAL_TENANT,
) -> None:
    """Lets a value in again; what was deleted stays deleted."""
    with opened() as app:
        app.deletion.reject.lift(scope_of(user, None, None, tenant), rejection_id, _order("lift", rejection_id))
    say("lifted")


def _rejected(app: App, scope: Scope, record_id: str) -> Forgotten:
    memory = _memory(app, scope, record_id)
    order = _order("delete", record_id)
    if memory is None:
        return app.deletion.reject.event(
            scope, record_id, order, lambda: app.deletion.forget(scope, event_id=record_id, now=order.now)
        )
    owner = Scope(scope.tenant, scope.user_id, memory.persona_id, memory.household_id)
    with app.deletion.reject.rejected(owner, memory.content, order):
        return app.deletion.forget.memory(scope, memory, now=order.now, actor=_OPERATOR)


def _memory(app: App, scope: Scope, record_id: str) -> Memory | None:
    try:
        return app.memories.keep.one(scope, record_id, _now())
    except NotFound:
        return None


def _all(app: App, scope: Scope) -> list[RejectedValue]:
    found: list[RejectedValue] = []
    after: str | None = None
    while True:
        page = app.deletion.reject.page(scope, _PAGE, after)
        found += page.values
        after = page.more
        if after is None:
            return found


def _order(via: str, target_id: str) -> Rejecting:
    return Rejecting(now=_now(), actor=_OPERATOR, via=via, target_ids=(target_id,))


def _now() -> datetime:
    return datetime.now(UTC)
