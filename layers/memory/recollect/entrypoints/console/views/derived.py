"""Summaries and goals of a user: read with their evidence, made anew, changed."""

from collections.abc import Mapping
from typing import Any

from recollect.entrypoints.console.api import user_path
from recollect.entrypoints.console.visit import Views, Visit
from recollect.entrypoints.http.messages import Reply
from recollect.summaries.goals import CheckInStatus, GoalStatus

views = Views()
_USER = ("users", "{user_id}")
_GOAL = (*_USER, "goals", "{goal_id}")
_SHOWN = 10
_GOALS = 20


@views.get(*_USER, "summaries")
def summaries(visit: Visit) -> Reply:
    """The newest summaries, and the goals."""
    user_id = visit.ids["user_id"]
    page = visit.api.get(user_path(user_id, "summaries"), limit=visit.most(_SHOWN), cursor=visit.query.get("cursor"))
    goals = visit.api.get(user_path(user_id, "goals"))["goals"]
    begin = visit.start("goals", len(goals))
    end = begin + visit.most(_GOALS)
    return visit.page(
        "summaries.html",
        summaries=page["summaries"],
        more=page.get("next_cursor"),
        goals=goals[begin:end],
        more_goals=end if end < len(goals) else None,
        goal_statuses=list(GoalStatus),
        occasions=list(CheckInStatus),
    )


@views.post(*_USER, "summaries", of=summaries)
def summarize(visit: Visit) -> Reply:
    """Makes a summary of what is new, due or not."""
    user_id, form = visit.ids["user_id"], visit.form
    made = visit.api.post(user_path(user_id, "summaries"), once=form.get("once", ""), force="true")
    return visit.go("users", user_id, "summaries", done="summarized" if made["due"] else "not_due")


@views.post(*_GOAL, of=summaries)
def change_goal(visit: Visit) -> Reply:
    """Changes its words or where it stands, where it is still the version that was shown."""
    form = visit.form
    changes = {name: form[name] for name in ("goal", "status") if form.get(name, "").strip()}
    return _sent(visit, "PATCH", (), changes, "goal", version=form.get("version") or "0")


@views.post(*_GOAL, "check-in", of=summaries)
def check_in(visit: Visit) -> Reply:
    """Notes an occasion as kept or missed."""
    body = {name: visit.form.get(name, "") for name in ("date", "status")}
    return _sent(visit, "POST", ("check-ins",), body, "noted", once=visit.form.get("once", ""))


def _sent(visit: Visit, method: str, parts: tuple[str, ...], body: Mapping[str, Any], done: str, **how: Any) -> Reply:
    user_id = visit.ids["user_id"]
    path = user_path(user_id, "goals", visit.ids["goal_id"], *parts)
    visit.api.send(method, path, body, query={"persona_id": visit.form.get("persona_id")}, **how)
    return visit.go("users", user_id, "summaries", done=done)
