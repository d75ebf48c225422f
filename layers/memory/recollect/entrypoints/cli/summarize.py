"""`recollect summarize` and `recollect goals`: what is remembered in short, and what a user follows."""

import time
from typing import Annotated

import typer

from recollect.core.scope import Scope
from recollect.core.time import utc_now
from recollect.entrypoints.cli.console import say, write_json, write_line
from recollect.entrypoints.cli.opening import LOCAL_TENANT, AsJson, Persona, Tenant, User, opened, scope_of
from recollect.entrypoints.http.representations import goal_json, summary_json
from recollect.summaries.goals import CheckInStatus, Goal
from recollect.summaries.summarize import IDS, NotDue, SummaryOrder
from recollect.summaries.summary import Summary

_SECONDS = 900.0


def summarize(
    user: User,
    force: Annotated[bool, typer.Option("--force", help="Make one before it is due.")] = False,
    persona: Persona = None,
    tenant: Tenant = LOCAL_TENANT,
    as_json: AsJson = False,
) -> None:
    """Makes a summary where one is due, and prints it. Without --persona that of the default persona."""
    scope = scope_of(user, persona, None, tenant)
    over = time.monotonic() + _SECONDS
    with opened() as app:
        order = SummaryOrder(
            now=utc_now(),
            rules=app.rules.resolved(tenant).summary,
            seed=app.ids.seed(int(time.time() * 1000), IDS),
            remaining_seconds=lambda: over - time.monotonic(),
            force=force,
        )
        made = app.summaries.conversations.summarize(scope, order)
    _show(None if isinstance(made, NotDue) else made.summary, as_json)
    if isinstance(made, NotDue):
        say(f"not due: {made.messages_since} messages and {made.days_since:.1f} days since the last summary")


def _show(summary: Summary | None, as_json: bool) -> None:
    if as_json:
        write_json({"due": False} if summary is None else {"due": True, "summary": summary_json(summary)})
    elif summary is not None:
        write_line(summary.text)
        say(f"{summary.message_count} messages until {summary.covered_until:%Y-%m-%d %H:%M}, by {summary.model}")


def goals(user: User, persona: Persona = None, tenant: Tenant = LOCAL_TENANT, as_json: AsJson = False) -> None:
    """Prints the goals of a user; without --persona those of every persona."""
    scope: Scope = scope_of(user, persona, None, tenant)
    with opened() as app:
        found = app.summaries.goals.listed(scope, every_persona=persona is None)
    if as_json:
        write_json({"goals": [goal_json(goal) for goal in found]})
        return
    for goal in found:
        write_line(_line(goal))
    say(f"{len(found)} goals")


def _line(goal: Goal) -> str:
    kept = sum(1 for one in goal.history if one.status is CheckInStatus.COMPLETED)
    often = f", {goal.check_in_frequency}" if goal.check_in_frequency else ""
    checked = f", {kept} of {len(goal.history)} kept" if goal.history else ""
    return " ".join(f"{goal.status.value}  {goal.goal}{often}{checked}".split("\n"))
