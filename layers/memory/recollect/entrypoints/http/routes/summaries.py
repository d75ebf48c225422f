"""Summaries and goals of a user (api.md, *Summaries*)."""

import json
import time
from typing import Any

from recollect.app import App
from recollect.core.errors import InvalidInput
from recollect.core.ids import IdSeed
from recollect.entrypoints.http.fields import Field, Shape, choice, identifier, in_query, refuse, text, whole
from recollect.entrypoints.http.idempotency import REPLAYED, claim_of
from recollect.entrypoints.http.messages import Reply, Request
from recollect.entrypoints.http.preconditions import etag, matches, require
from recollect.entrypoints.http.routing import COMMON_STATUSES, READ_STATUSES, Route
from recollect.entrypoints.http.run_once import Answer, run_once
from recollect.entrypoints.http.summarizing import list_summaries, make_summary
from recollect.entrypoints.http.summary_json import goal_json
from recollect.summaries.goals import LONGEST_FREQUENCY, LONGEST_GOAL, CheckIn, CheckInStatus, Goal, GoalStatus
from recollect.summaries.model_answer import check_in_date

_CHECK_INS_ROUTE = "POST /v1/users/{user_id}/goals/{goal_id}/check-ins"


def _line(longest: int) -> Field:
    """One line of at most so many characters, without blanks around it and breaks in it."""
    bounded = text(max_bytes=4 * longest, blank=False)

    def read(value: Any) -> str:
        line = " ".join(bounded.read(value).split())
        if len(line) > longest:
            raise refuse(f"must have at most {longest} characters")
        return line

    return Field(read, {"type": "string", "minLength": 1, "maxLength": longest})


def _date() -> Field:
    def read(value: Any) -> str:
        try:
            return check_in_date(value)
        except InvalidInput:
            raise refuse("not a date: YYYY-MM-DD, or a time") from None

    return Field(read, {"anyOf": [{"type": "string", "maxLength": 64}, {"type": "number"}]})


_PERSONA = {"persona_id": identifier().described("Absent: every persona.")}
_OWN_PERSONA = {"persona_id": identifier().described("Absent: the default persona.")}
LIST_QUERY = Shape(
    "SummariesQuery", {**_PERSONA, "limit": in_query(whole(1, 200, default=50)), "cursor": text(max_bytes=4096)}
)
MAKE_QUERY = Shape(
    "SummarizeQuery",
    {
        **_OWN_PERSONA,
        "force": choice("true", "false", default="false").described("Makes one before it is due."),
    },
)
GOALS_QUERY = Shape("GoalsQuery", _PERSONA)
GOAL_QUERY = Shape("GoalQuery", {"persona_id": identifier().described("Where given, the goal must be that persona's.")})
GOAL_PATCH = Shape(
    "GoalPatch",
    {
        "goal": _line(LONGEST_GOAL),
        "status": choice(*GoalStatus),
        "check_in_frequency": _line(LONGEST_FREQUENCY).described("Such as `daily`, in any words."),
    },
)
CHECK_IN = Shape(
    "CheckIn",
    {
        "date": _date().needed().described("The day meant. A second word on it replaces the first."),
        "status": choice(*CheckInStatus).needed(),
    },
)


def list_goals(app: App, request: Request) -> Reply:
    """All goals, in the order they were made."""
    scope = request.scope({**request.query, "user_id": request.path["user_id"]})
    goals = app.summaries.goals.listed(scope, every_persona=scope.persona_id is None)
    return Reply(200, {"goals": [goal_json(goal) for goal in goals]}, log={"returned": len(goals)})


def patch_goal(app: App, request: Request) -> Reply:
    """Changes a goal in the version that `If-Match` names."""
    headers = request.call.headers
    require(headers)
    if not request.values:
        raise InvalidInput("names nothing to change", ("body",))
    scope = request.scope({**request.query, "user_id": request.path["user_id"]})
    changes = dict(request.values)
    if "status" in changes:
        changes["status"] = GoalStatus(changes["status"])
    goal = app.summaries.goals.patch(
        scope, request.path["goal_id"], changes, lambda version: matches(headers, version), request.now
    )
    return _goal_reply(200, goal)


def check_in(app: App, request: Request) -> Reply:
    """Notes whether an occasion was kept."""
    scope = request.scope({**request.query, "user_id": request.path["user_id"]})
    goal_id, values = request.path["goal_id"], request.values
    entry = CheckIn(values["date"], CheckInStatus(values["status"]))

    def work(_seed: IdSeed) -> Answer:
        return Answer(201, {"goal_id": app.summaries.goals.check_in(scope, goal_id, entry, request.now).id})

    seed = app.ids.seed(int(time.time() * 1000))
    named = json.dumps([scope.user_id, scope.persona_id, goal_id])
    claim = claim_of(request, f"{_CHECK_INS_ROUTE} {named}", seed)
    answer = run_once(app.parts.idempotency, claim, work) if claim else work(seed)
    return _goal_reply(answer.status, app.summaries.goals.one(scope, goal_id), answer.replayed)


def _goal_reply(status: int, goal: Goal, replayed: bool = False) -> Reply:
    headers = {"ETag": etag(goal.version), **(REPLAYED if replayed else {})}
    return Reply(status, goal_json(goal), headers, log={"version": goal.version, "status": goal.status.value})


_USER = "/v1/users/{user_id}"
_GOAL = f"{_USER}/goals/{{goal_id}}"
ROUTES = (
    Route(
        method="GET",
        path=f"{_USER}/summaries",
        operation="listSummaries",
        summary="Summaries, newest first",
        handle=list_summaries,
        query=LIST_QUERY,
        answer="SummariesPage",
        statuses=(200, *READ_STATUSES),
    ),
    Route(
        method="POST",
        path=f"{_USER}/summaries",
        operation="summarize",
        summary="Makes a summary where one is due, or forced",
        handle=make_summary,
        query=MAKE_QUERY,
        answer="SummaryMade",
        statuses=(200, 201, 409, 413, 502, *READ_STATUSES),
        idempotent=True,
    ),
    Route(
        method="GET",
        path=f"{_USER}/goals",
        operation="listGoals",
        summary="The goals that the user follows, or has followed",
        handle=list_goals,
        query=GOALS_QUERY,
        answer="GoalsList",
        statuses=(200, *READ_STATUSES),
    ),
    Route(
        method="PATCH",
        path=_GOAL,
        operation="patchGoal",
        summary="Changes a goal",
        handle=patch_goal,
        query=GOAL_QUERY,
        body=GOAL_PATCH,
        answer="Goal",
        statuses=(200, 404, 409, 412, 428, *COMMON_STATUSES),
        needs_version=True,
    ),
    Route(
        method="POST",
        path=f"{_GOAL}/check-ins",
        operation="checkIn",
        summary="Notes whether an occasion of a goal was kept or missed",
        handle=check_in,
        query=GOAL_QUERY,
        body=CHECK_IN,
        answer="Goal",
        statuses=(201, 404, 409, *COMMON_STATUSES),
        idempotent=True,
    ),
)
