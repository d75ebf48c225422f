"""`recollect decisions` and `recollect conflicts`: what was decided between memories, and what is still open."""

from collections.abc import Iterator
from typing import Annotated

import typer
from rich.text import Text

from recollect.app import App
from recollect.contradictions.decisions import ConflictStatus, Decision, DecisionStatus, OpenConflict, Step
from recollect.contradictions.ledger import DecisionFilter
from recollect.contradictions.resolve import RevertOrder
from recollect.core.errors import NotFound
from recollect.core.scope import Scope
from recollect.core.time import utc_now
from recollect.entrypoints.cli.console import one_line, say, write_json, write_line
from recollect.entrypoints.cli.opening import (
    LOCAL_TENANT,
    AsJson,
    Household,
    Persona,
    Tenant,
    User,
    opened,
    pages,
    scope_of,
)
from recollect.entrypoints.http.representations import memory_json
from recollect.entrypoints.http.routes.contradictions import conflict_json, decision_json
from recollect.memories.audit import Actor, ActorKind

_PAGE = 200
_SHOWN = 120
_UNSEEN = "(gone)"

decisions = typer.Typer(help="What was decided between memories, and why.", no_args_is_help=True)
conflicts = typer.Typer(help="Memories of which no rule can tell which counts.", no_args_is_help=True)


@decisions.command("list")
def list_decisions(
    user: User,
    status: Annotated[DecisionStatus | None, typer.Option(help="Only those.")] = None,
    step: Annotated[Step | None, typer.Option(help="Only what this decided.")] = None,
    persona: Persona = None,
    household: Household = None,
    tenant: Tenant = LOCAL_TENANT,
    as_json: AsJson = False,
) -> None:
    """Lists decisions, what the newest records won first; with --json as JSON Lines."""
    scope, count = scope_of(user, persona, household, tenant), 0
    with opened() as app:
        for decision in _decisions(app, scope, DecisionFilter(status=status, step=step)):
            count += 1
            if as_json:
                write_json(decision_json(scope, decision), indent=None)
            else:
                _write_decision(app, scope, decision)
    say(f"{count} decisions")


@decisions.command()
def revert(
    decision_id: Annotated[str, typer.Argument(help="The decision's id, as `list` shows it.")],
    user: User,
    persona: Persona = None,
    household: Household = None,
    tenant: Tenant = LOCAL_TENANT,
) -> None:
    """Takes a decision back and prints the memory that counts now; it is not decided so again."""
    scope, now = scope_of(user, persona, household, tenant), utc_now()
    with opened() as app:
        reverted = app.contradictions.reversal.revert(scope, decision_id, RevertOrder(actor=_actor(scope), now=now))
        memory = app.memories.store.one(scope, reverted.memory_id, now)
    write_json(memory_json(memory))
    say("reverted")


@conflicts.command("list")
def list_conflicts(
    user: User,
    status: Annotated[ConflictStatus | None, typer.Option(help="Only those.")] = None,
    persona: Persona = None,
    household: Household = None,
    tenant: Tenant = LOCAL_TENANT,
    as_json: AsJson = False,
) -> None:
    """Lists conflicts, those of the newest records first; with --json as JSON Lines."""
    scope, count = scope_of(user, persona, household, tenant), 0
    with opened() as app:
        for conflict in _conflicts(app, scope, status):
            count += 1
            if as_json:
                write_json(conflict_json(conflict), indent=None)
            else:
                _write_conflict(app, scope, conflict)
    say(f"{count} conflicts")


@conflicts.command()
def resolve(
    conflict_id: Annotated[str, typer.Argument(help="The conflict's id, as `list` shows it.")],
    user: User,
    winner: Annotated[str, typer.Option(help="The id of the one that counts.")],
    persona: Persona = None,
    household: Household = None,
    tenant: Tenant = LOCAL_TENANT,
) -> None:
    """Says which of the two counts; the other one is superseded by it."""
    scope = scope_of(user, persona, household, tenant)
    with opened() as app:
        resolved = app.contradictions.resolution.resolve(scope, conflict_id, winner, _actor(scope), utc_now())
    write_json(conflict_json(resolved.conflict))
    say("resolved")


def _decisions(app: App, scope: Scope, wanted: DecisionFilter) -> Iterator[Decision]:
    for page in pages(lambda after: app.contradictions.decisions.page(scope, _PAGE, after, wanted)):
        yield from page.decisions


def _conflicts(app: App, scope: Scope, status: ConflictStatus | None) -> Iterator[OpenConflict]:
    now = utc_now()
    for page in pages(lambda after: app.contradictions.conflicts.page(scope, _PAGE, after, status, now)):
        yield from page.conflicts


def _write_decision(app: App, scope: Scope, decision: Decision) -> None:
    about = f"{decision.outcome.value}  {decision.step.value}:{decision.rule}  {decision.status.value}"
    write_line(Text(f"{decision.id}  {decision.at:%Y-%m-%d %H:%M}  ", style="dim").append(about, style="not dim"))
    write_line(f"    now: {_said(app, scope, decision.winner)}")
    write_line(f"    was: {_said(app, scope, decision.loser)}")


def _write_conflict(app: App, scope: Scope, conflict: OpenConflict) -> None:
    about = f"{conflict.status.value}  {conflict.step.value}:{conflict.rule}"
    write_line(Text(f"{conflict.id}  {conflict.at:%Y-%m-%d %H:%M}  ", style="dim").append(about, style="not dim"))
    for record_id in (conflict.newer, conflict.older):
        chosen = "  *" if record_id == conflict.winner else "   "
        write_line(f"{chosen} {record_id}  {_said(app, scope, record_id)}")


def _said(app: App, scope: Scope, record_id: str) -> str:
    """In the words of its memory; of its event where it is none."""
    try:
        return one_line(app.memories.store.one(scope, record_id, utc_now()).content, _SHOWN)
    except NotFound:
        return _event(app, scope, record_id)


def _event(app: App, scope: Scope, record_id: str) -> str:
    try:
        return one_line(app.timeline.listing.one(scope, record_id, utc_now()).content, _SHOWN)
    except NotFound:
        return _UNSEEN


def _actor(scope: Scope) -> Actor:
    return Actor(ActorKind.USER, scope.user_id)
