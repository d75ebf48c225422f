"""Summaries and goals of a user (`docs/summaries.md`)."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field, RootModel

from recollect.app import App
from recollect.core.errors import InvalidInput, NotFound
from recollect.core.ids import IdSeed
from recollect.core.scope import Scope
from recollect.entrypoints.http.cursors import listing_of, page_reply, start_of
from recollect.entrypoints.http.headers import Answer, Attempt, countdown, idempotent
from recollect.entrypoints.http.messages import NO_HEADERS, Reply, Request, etag
from recollect.entrypoints.http.models import (
    AnswerModel,
    Count,
    Identifier,
    Maybe,
    OneOf,
    Paged,
    Read,
    RequestModel,
    Text,
    YesOrNo,
    fault,
    fitted,
    page_of,
)
from recollect.entrypoints.http.representations import GoalAnswer, SummaryAnswer
from recollect.entrypoints.http.routing import USER, Routes
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
from recollect.summaries.storage import key_of
from recollect.summaries.summarize import IDS, NotDue, SummaryOrder
from recollect.summaries.summary import Reason, Summary

_GOALS = f"{USER}/goals"
_GOAL = f"{_GOALS}/{{goal_id}}"
_DAYS_DIGITS = 6
_LONGEST_SECONDS = 28.0  # an HTTP API answers for the function after 30


class _Line(Text):
    """One line of at most so many characters, without blanks around it and breaks in it."""

    def __init__(self, longest: int) -> None:
        super().__init__(4 * longest, blank=False)
        self._longest = longest

    def _check(self, value: str) -> str:
        line = " ".join(super()._check(value).split())
        if len(line) > self._longest:
            raise fault(f"must have at most {self._longest} characters")
        return line

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        return {**super().__get_pydantic_json_schema__(schema, handler), "maxLength": self._longest}


def _day(value: Any) -> str:
    try:
        return check_in_date(value)
    except InvalidInput:
        raise fault("not a date: YYYY-MM-DD, or a time") from None


_Day = Annotated[str, Read(_day, {"anyOf": [{"type": "string", "maxLength": 64}, {"type": "number"}]})]


class GoalsQuery(RequestModel):
    persona_id: Maybe[Identifier] = Field(None, description="Absent: every persona.")


class SummariesQuery(GoalsQuery, Paged):
    pass


class NewGoalQuery(RequestModel):
    persona_id: Maybe[Identifier] = Field(None, description="Absent: the default persona.")


class SummarizeQuery(NewGoalQuery):
    force: YesOrNo = Field("false", description="Makes one before it is due.")


class GoalQuery(RequestModel):
    persona_id: Maybe[Identifier] = Field(None, description="Where given, the goal must be that persona's.")


_Frequency = Maybe[Annotated[str, _Line(LONGEST_FREQUENCY)]]
_OFTEN = "Such as `daily`, in any words."


class NewGoal(RequestModel):
    goal: Annotated[str, _Line(LONGEST_GOAL)] = Field(description="What the user wants to reach.")
    check_in_frequency: _Frequency = Field(None, description=_OFTEN)


class GoalPatch(RequestModel):
    goal: Maybe[Annotated[str, _Line(LONGEST_GOAL)]] = None
    status: Maybe[Annotated[GoalStatus, OneOf(*GoalStatus)]] = None
    check_in_frequency: _Frequency = Field(None, description=_OFTEN)


class CheckInBody(RequestModel, title="CheckIn"):
    date: _Day = Field(description="The day meant. A second word on it replaces the first.")
    status: Annotated[CheckInStatus, OneOf(*CheckInStatus)]


SummariesPage = page_of("SummariesPage", "summaries", SummaryAnswer)


class SummaryMade(AnswerModel):
    due: bool
    reason: Maybe[Annotated[str, OneOf(*Reason)]] = None
    messages_since: Maybe[Count] = None
    days_since: Maybe[float] = None


class SummaryWritten(SummaryMade, title="SummaryMade"):
    """One was due. A replayed answer reads the summary as it is now, and names it where it is gone."""

    summary: SummaryAnswer | None = None
    refused: Maybe[list[str]] = None


class GoalsList(AnswerModel):
    goals: list[GoalAnswer]


class GoalRefused(AnswerModel):
    refused: list[str]


class GoalAdded(RootModel[GoalAnswer | GoalRefused], defer_build=True):
    """The goal; of a replayed answer whose goal was deleted since, its id."""


routes = Routes()


@routes.get(f"{USER}/summaries", answer=SummariesPage)
def list_summaries(app: App, request: Request, query: SummariesQuery) -> Reply:
    """Summaries, newest first.

    Without a persona they are those of all of them.
    """
    scope = request.scope(query)
    listing = listing_of(app, "summaries", scope)
    after, doubted = start_of(query, listing), app.contradictions.doubts.doubted(scope)

    def read(limit: int) -> tuple[list[SummaryAnswer], str | None]:
        page = app.summaries.stored.page(scope, limit, after)
        return [SummaryAnswer.model_validate(summary.doubted(doubted)) for summary in page.summaries], page.more

    return page_reply(SummariesPage, *fitted(read, query.limit), listing)


@routes.post(f"{USER}/summaries", answer=SummaryWritten, good=(200, 201), errors=(409, 413, 502), idempotent=True)
def summarize(app: App, request: Request, query: SummarizeQuery) -> Reply:
    """Makes a summary where one is due, or forced.

    201 where one was made, else 200.
    """
    scope = request.scope(query)

    def work(attempt: Attempt) -> Answer:
        answer = app.summaries.conversations.summarize(scope, _order(app, request, query, attempt.seed))
        if isinstance(answer, NotDue):
            days = round(answer.days_since, _DAYS_DIGITS)
            return Answer(200, {"due": False, "messages_since": answer.messages_since, "days_since": days})
        return Answer(201, _record(answer.summary), answer.summary)

    answer = idempotent(app, request, work, ids=IDS, about=[scope.user_id, scope.persona_id, query.force])
    log = {"due": answer.body["due"], "reason": answer.body.get("reason")}
    return answer.reply(_made(app, scope, answer), log)


def _order(app: App, request: Request, query: SummarizeQuery, seed: IdSeed) -> SummaryOrder:
    return SummaryOrder(
        now=request.now,
        rules=app.rules.resolved(request.principal.tenant).summary,
        seed=seed,
        remaining_seconds=countdown(min(request.call.remaining_seconds, _LONGEST_SECONDS)),
        force=query.force == "true",
    )


def _record(summary: Summary) -> dict[str, Any]:
    """What an idempotency record holds: no text."""
    return {"due": True, "reason": summary.reason.value, "summary_id": summary.id, "key": key_of(summary)}


def _made(app: App, scope: Scope, answer: Answer) -> SummaryMade:
    if not answer.body["due"]:
        return SummaryMade.model_validate(answer.body)
    summary = answer.made or app.summaries.stored.one(scope, answer.body["key"])
    refused = [answer.body["summary_id"]] if summary is None else None
    if summary is not None:
        summary = summary.doubted(app.contradictions.doubts.doubted(scope))
    return SummaryWritten.made_of(due=True, reason=answer.body["reason"], summary=summary, refused=refused)


@routes.get(_GOALS, answer=GoalsList)
def list_goals(app: App, request: Request, query: GoalsQuery) -> Reply:
    """The goals that the user follows, or has followed.

    They come in the order they were made.
    """
    scope = request.scope(query)
    goals = app.summaries.goals.listed(scope, every_persona=scope.persona_id is None)
    return Reply(200, GoalsList.made_of(goals=goals), log={"returned": len(goals)})


@routes.post(_GOALS, answer=GoalAdded, good=(200, 201), errors=(409,), idempotent=True)
def add_goal(app: App, request: Request, query: NewGoalQuery, body: NewGoal) -> Reply:
    """Sets a goal; where one has the same words already, answers 200 with that one, active again.

    An idempotency record holds its id alone.
    """
    scope = request.scope(query)

    def work(attempt: Attempt) -> Answer:
        own = own_goal(attempt.seed.nth(0), body.goal, body.check_in_frequency, scope.persona_id)
        added = app.summaries.goals.add(scope, own, request.now)
        return Answer(201 if added.created else 200, {"id": added.goal.id}, added.goal)

    answer = idempotent(app, request, work, about=[scope.user_id, scope.persona_id])
    goal = answer.made or _goal_if_there(app, scope, answer.body["id"])
    log = {"created": answer.status == 201, "refused": goal is None}
    if goal is None:
        return answer.reply(GoalRefused(refused=[answer.body["id"]]), log)
    return answer.reply(GoalAnswer.model_validate(goal), log, etag(goal.version))


def _goal_if_there(app: App, scope: Scope, goal_id: str) -> Goal | None:
    try:
        return app.summaries.goals.one(scope, goal_id)
    except NotFound:
        return None


@routes.add("PATCH", _GOAL, answer=GoalAnswer, errors=(404, 409, 412, 428), needs_version=True)
def patch_goal(app: App, request: Request, query: GoalQuery, body: GoalPatch) -> Reply:
    """Changes a goal."""
    changes = body.given()
    if not changes:
        raise InvalidInput("names nothing to change", ("body",))
    scope, goal_id = request.scope(query), request.path["goal_id"]
    return _goal_reply(200, app.summaries.goals.patch(scope, goal_id, changes, request.accepts, request.now))


@routes.post(f"{_GOAL}/check-ins", answer=GoalAnswer, good=(201,), errors=(404, 409), idempotent=True)
def check_in(app: App, request: Request, query: GoalQuery, body: CheckInBody) -> Reply:
    """Notes whether an occasion of a goal was kept or missed."""
    scope, goal_id = request.scope(query), request.path["goal_id"]
    entry = CheckIn(body.date, body.status)

    def work(_attempt: Attempt) -> Answer:
        return Answer(201, {"goal_id": app.summaries.goals.check_in(scope, goal_id, entry, request.now).id})

    answer = idempotent(app, request, work, about=[scope.user_id, scope.persona_id, goal_id])
    return _goal_reply(answer.status, app.summaries.goals.one(scope, goal_id), answer.headers)


def _goal_reply(status: int, goal: Goal, headers: Mapping[str, str] = NO_HEADERS) -> Reply:
    log = {"version": goal.version, "status": goal.status.value}
    return Reply(status, GoalAnswer.model_validate(goal), {**etag(goal.version), **headers}, log=log)
