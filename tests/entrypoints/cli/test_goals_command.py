"""`recollect goals`: a goal is set, changed, checked in and ended by the person."""

import json
from typing import Any

import pytest

from entrypoints.cli.conftest import Run
from entrypoints.cli.running import ANA, say
from recollect.app import App
from recollect.core.scope import Scope
from recollect.core.time import utc_now
from recollect.summaries.goals import GoalStatus

USER = ("--user", "ana")
OTHER = Scope("local", "ana", "coach")


def shown(run: Run, *arguments: str) -> Any:
    """What a command prints as JSON."""
    result = run("goals", *arguments, *USER)
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def test_a_goal_is_set_in_a_persons_words_and_once(run: Run, app: App) -> None:
    added = run("goals", "add", "Run a  marathon", "--check-in-frequency", "weekly", *USER)
    goal = json.loads(added.stdout)
    assert (goal["goal"], goal["status"], goal["source"], goal["version"]) == ("Run a marathon", "active", "user", 1)
    assert added.stderr == "added\n"
    assert run("goals", "list", *USER).stdout == f"{goal['id']}  active  Run a marathon, weekly\n"
    again = run("goals", "add", "run a marathon", *USER)
    assert (json.loads(again.stdout)["id"], again.stderr) == (goal["id"], "known already\n")
    assert app.summaries.goals.listed(OTHER) == []
    assert json.loads(run("goals", "add", "Paint", "--persona", "coach", *USER).stdout)["persona_id"] == "coach"


@pytest.mark.parametrize(("options", "status"), [((), "completed"), (("--abandoned",), "abandoned")])
def test_a_goal_that_is_ended_stays_ended_and_in_the_list(
    run: Run, app: App, options: tuple[str, ...], status: str
) -> None:
    goal = shown(run, "add", "Run a marathon")
    ended = run("goals", "end", goal["id"], *options, *USER)
    assert (json.loads(ended.stdout)["status"], ended.stderr) == (status, f"{status}\n")
    told = app.summaries.goals.track(ANA, "Run a marathon", GoalStatus.ACTIVE, None, utc_now())
    assert told.status.value == status
    assert shown(run, "list", "--status", "active", "--json") == {"goals": []}
    assert [one["id"] for one in shown(run, "list", "--status", status, "--json")["goals"]] == [goal["id"]]
    assert shown(run, "add", "Run a marathon")["status"] == "active"


def test_a_goal_is_changed_and_named_by_how_its_id_begins(run: Run) -> None:
    first, second = (shown(run, "add", text)["id"] for text in ("Run a marathon", "Learn Spanish"))
    length = next(n for n in range(1, 37) if first[:n] != second[:n])
    edited = shown(run, "edit", first[:length], "--goal", "Run two", "--status", "completed")
    assert (edited["id"], edited["goal"], edited["status"], edited["version"]) == (first, "Run two", "completed", 2)
    assert shown(run, "edit", second, "--check-in-frequency", "daily")["check_in_frequency"] == "daily"
    several = run("goals", "end", first[: length - 1], *USER)
    assert several.exit_code == 2
    assert "2 goals begin so" in several.stderr


def test_occasions_are_noted_by_day_and_counted(run: Run) -> None:
    goal = shown(run, "add", "Meditate", "--check-in-frequency", "daily")["id"]
    shown(run, "check-in", goal, "--date", "2024-05-01", "--missed")
    shown(run, "check-in", goal, "--date", "2024-05-01")
    missed = shown(run, "check-in", goal, "--missed")
    today = f"{utc_now():%Y-%m-%d}"
    assert missed["history"] == [
        {"date": "2024-05-01", "status": "completed"},
        {"date": today, "status": "missed"},
    ]
    assert run("goals", "list", *USER).stdout == f"{goal}  active  Meditate, daily, 1 of 2 kept\n"


def test_what_was_rejected_is_no_goal(run: Run, app: App) -> None:
    (event,) = say(app, "Run a marathon")
    assert run("reject", event, *USER, "--yes").exit_code == 0
    refused = run("goals", "add", "run a marathon", *USER)
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert "rejected" in refused.stderr
