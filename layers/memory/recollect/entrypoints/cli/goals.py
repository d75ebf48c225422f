"""`recollect goals`: what a user wants to reach, set, changed and ended by the person."""

from typing import Annotated, Any, TypeAlias

import typer

from recollect.app import App
from recollect.core.errors import InvalidInput
from recollect.core.scope import Scope
from recollect.core.time import utc_now
from recollect.entrypoints.cli.commands import AsJson, CommandGroup, PersonaScope, whole_id
from recollect.entrypoints.cli.console import required_text, say, write_json, write_list
from recollect.entrypoints.http.representations import goal_json
from recollect.summaries.goals import (
    LONGEST_FREQUENCY,
    LONGEST_GOAL,
    CheckIn,
    CheckInStatus,
    Goal,
    GoalStatus,
    own_goal,
)
from recollect.summaries.model_answer import check_in_date

GoalId: TypeAlias = Annotated[str, typer.Argument(metavar="GOAL", help="Its id as `list` shows it, or how it begins.")]
Often: TypeAlias = Annotated[
    str | None, typer.Option("--check-in-frequency", help="How often it is to be kept, such as `daily`, in any words.")
]

goals = CommandGroup(help="Lists, sets, changes and ends a user's goals.", no_args_is_help=True)


@goals.command("list")
def list_goals(
    app: App,
    scope: PersonaScope,
    status: Annotated[GoalStatus | None, typer.Option(help="Only those.")] = None,
    as_json: AsJson = False,
) -> None:
    """Lists goals in the order they were made; without --persona those of every persona."""
    found = [one for one in _all(app, scope) if status in (None, one.status)]
    write_list("goals", found, as_json, goal_json, _line)


@goals.command()
def add(
    app: App,
    goal: Annotated[str, typer.Argument(help="What the user wants to reach.")],
    scope: PersonaScope,
    check_in_frequency: Often = None,
) -> None:
    """Sets a goal and prints it; one of the same words is active again. Without --persona the default persona's."""
    often = None if check_in_frequency is None else _frequency(check_in_frequency)
    own = own_goal(app.ids.fresh(), _goal(goal), often, scope.persona_id)
    added = app.summaries.goals.add(scope, own, utc_now())
    write_json(goal_json(added.goal))
    say("added" if added.created else "known already")


@goals.command()
def edit(
    app: App,
    goal_id: GoalId,
    scope: PersonaScope,
    goal: Annotated[str | None, typer.Option(help="Other words.")] = None,
    status: Annotated[GoalStatus | None, typer.Option(help="Where it stands.")] = None,
    check_in_frequency: Often = None,
) -> None:
    """Changes a goal, whatever its version, and prints it; no summary and no tool call undoes that."""
    changes: dict[str, Any] = {} if goal is None else {"goal": _goal(goal)}
    changes |= {} if status is None else {"status": status}
    changes |= {} if check_in_frequency is None else {"check_in_frequency": _frequency(check_in_frequency)}
    if not changes:
        raise InvalidInput("nothing to change: see --help")
    write_json(goal_json(_changed(app, scope, goal_id, changes)))


@goals.command()
def end(
    app: App,
    goal_id: GoalId,
    scope: PersonaScope,
    abandoned: Annotated[bool, typer.Option("--abandoned", help="It is given up, and not reached.")] = False,
) -> None:
    """Says that a goal is reached, or given up, and prints it; it stays in the list."""
    status = GoalStatus.ABANDONED if abandoned else GoalStatus.COMPLETED
    write_json(goal_json(_changed(app, scope, goal_id, {"status": status})))
    say(status.value)


@goals.command("check-in")
def check_in(
    app: App,
    goal_id: GoalId,
    scope: PersonaScope,
    date: Annotated[str | None, typer.Option(help="The day meant, YYYY-MM-DD; absent: today, in UTC.")] = None,
    missed: Annotated[bool, typer.Option("--missed", help="It was not kept.")] = False,
) -> None:
    """Notes that an occasion was kept, or missed, and prints the goal; a second word on a day replaces the first."""
    now = utc_now()
    day = check_in_date(f"{now:%Y-%m-%d}" if date is None else date)
    entry = CheckIn(day, CheckInStatus.MISSED if missed else CheckInStatus.COMPLETED)
    write_json(goal_json(app.summaries.goals.check_in(scope, _id(app, scope, goal_id), entry, now)))


def _all(app: App, scope: Scope) -> list[Goal]:
    return app.summaries.goals.listed(scope, every_persona=scope.persona_id is None)


def _id(app: App, scope: Scope, given: str) -> str:
    return whole_id(given, [one.id for one in _all(app, scope)], "goal")


def _changed(app: App, scope: Scope, given: str, changes: dict[str, Any]) -> Goal:
    return app.summaries.goals.patch(scope, _id(app, scope, given), changes, _any, utc_now())


def _goal(text: str) -> str:
    return _one_line(text, "the goal", LONGEST_GOAL)


def _frequency(text: str) -> str:
    return _one_line(text, "--check-in-frequency", LONGEST_FREQUENCY)


def _one_line(text: str, what: str, longest: int) -> str:
    line = " ".join(required_text(text, what).split())
    if len(line) > longest:
        raise InvalidInput(f"{what}: at most {longest} characters")
    return line


def _any(_version: int) -> bool:
    return True


def _line(goal: Goal) -> str:
    kept = sum(1 for one in goal.history if one.status is CheckInStatus.COMPLETED)
    often = f", {goal.check_in_frequency}" if goal.check_in_frequency else ""
    checked = f", {kept} of {len(goal.history)} kept" if goal.history else ""
    return " ".join(f"{goal.id}  {goal.status.value}  {goal.goal}{often}{checked}".split("\n"))
