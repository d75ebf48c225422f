"""`POST /v1/turns`: one line of a user's in, an answer out, and both remembered."""

import secrets
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from recollect.app import App
from recollect.context.rendering import Fence, fence_for
from recollect.context.sources import ContextQuestion
from recollect.context.turn import IDS_OF_A_TURN, TurnAnswer, TurnRequest, answer_of
from recollect.core.event import Event
from recollect.core.scope import Scope
from recollect.entrypoints.http.headers import Answer, Attempt, idempotent
from recollect.entrypoints.http.messages import Reply, Request
from recollect.entrypoints.http.models import (
    AnswerModel,
    Content,
    Count,
    Fault,
    Free,
    Identifier,
    Labelled,
    Maybe,
    Shows,
)
from recollect.entrypoints.http.routes.context import (
    ContextShown,
    Contextual,
    context_log,
    context_request,
    context_shown,
)
from recollect.entrypoints.http.routing import Routes
from recollect.entrypoints.tools.registry import TurnTools
from recollect.retrieval.filters import SearchFilters

_TextOrNull = Annotated[str | None, Shows({"type": ["string", "null"]})]


class TurnBody(Contextual, Labelled, title="TurnRequest"):
    user_id: Identifier
    persona_id: Maybe[Identifier] = Field(None, description="Absent: stored for the default persona.")
    household_id: Maybe[Identifier] = Field(None, description="Absent: stored for no household.")
    conversation_id: Maybe[Identifier] = Field(None, description="Absent: a new one, named in the answer.")
    input: Content = Field(description="What the user says.")
    explain: Maybe[bool] = Field(
        None, description="Adds `why` to each result; to a search and a context, the near misses."
    )


class TurnToolCall(AnswerModel):
    tool: str
    status: str
    ok: Maybe[bool] = None
    message: Maybe[str] = None
    parameters: Maybe[Free] = None
    action: Maybe[str] = None
    result: Maybe[Free] = None
    errors: Maybe[list[Fault]] = None


class TurnShown(AnswerModel, title="TurnAnswer"):
    conversation_id: str
    response: _TextOrNull
    input_event_id: str
    response_event_id: _TextOrNull
    tool_calls: list[TurnToolCall]
    model: Maybe[str] = None
    context: Maybe[ContextShown] = None
    refused: Maybe[list[str]] = None
    quoted_calls: Maybe[Count] = None


routes = Routes()


@routes.post("/v1/turns", answer=TurnShown, errors=(409, 502), idempotent=True)
def take_turn(app: App, request: Request, body: TurnBody) -> Reply:
    """One turn: stores the input, answers it from memory by the model, stores the answer.

    Tool calls of the model are made before it answers. Labels are those of all that is stored, and of all that is seen.
    """
    scope = request.scope(body)
    fence = fence_for(secrets.token_hex(16))

    def work(attempt: Attempt) -> Answer:
        asked = _turn_request(request, body, fence, resumed=attempt.again)
        rules = app.rules.resolved(scope.tenant)
        app.timeline.limits.take_turn(scope.tenant, rules)
        taken = app.context.turn.take(scope, asked, attempt.seed, request.now, rules, TurnTools(app, body.labels))
        return Answer(200, _record(taken), taken)

    kept = idempotent(app, request, work, ids=IDS_OF_A_TURN)
    if kept.replayed:
        return _replayed(app, scope, request, kept)
    return Reply(kept.status, _shown(kept.made, fence, bool(body.explain)), log=_log(kept.made))


def _turn_request(request: Request, body: TurnBody, fence: Fence, *, resumed: bool) -> TurnRequest:
    filters = SearchFilters(now=request.now)
    question = ContextQuestion(text=body.input, filters=filters, conversation_id=body.conversation_id, store=body.store)
    context = context_request(body, question, fence)
    return TurnRequest(context=context, seconds=request.call.remaining_seconds, labels=body.labels, resumed=resumed)


def _shown(answer: TurnAnswer, fence: Fence, explain: bool) -> TurnShown:
    calls = [TurnToolCall.made_of(one.call, **one.result) for one in answer.tool_calls]
    context = context_shown(answer.context, fence, explain) if answer.context else None
    return TurnShown.made_of(answer, tool_calls=calls, context=context)


def _record(answer: TurnAnswer) -> dict[str, Any]:
    """What an idempotency record holds: ids and statuses. A tool's name is the model's text, unless there is one."""
    return {
        "conversation_id": answer.conversation_id,
        "input_event_id": answer.input_event_id,
        "response_event_id": answer.response_event_id,
        "tool_calls": [{"tool": one.tool or "unknown", "status": one.status} for one in answer.tool_calls],
    }


def _replayed(app: App, scope: Scope, request: Request, kept: Answer) -> Reply:
    """The first answer, its text read back by id, without the context; what is gone since is named as refused."""
    ids = [kept.body[name] for name in ("input_event_id", "response_event_id") if kept.body[name] is not None]
    there = {event_id: _current(app, scope, request, event_id) for event_id in ids}
    gone = [event_id for event_id, event in there.items() if event is None]
    body: dict[str, Any] = {**kept.body, "response": None}
    response = there.get(kept.body["response_event_id"])
    if response is not None:
        answer = answer_of(response, kept.body["input_event_id"])
        body |= {"response": answer.response, "model": answer.model}
    return kept.reply(TurnShown.model_validate({**body, "refused": gone or None}), {})


def _current(app: App, scope: Scope, request: Request, event_id: str) -> Event | None:
    event = app.parts.timeline.find(scope, event_id)
    return None if event is None or event.expired(request.now) else event


def _log(answer: TurnAnswer) -> Mapping[str, Any]:
    """Counts and decisions; no text."""
    statuses = [one.status for one in answer.tool_calls]
    counts = {status: statuses.count(status) for status in dict.fromkeys(statuses)}
    log = {"model": answer.model, "tool_calls": counts, "quoted_calls": answer.quoted_calls}
    return {**log, **(context_log(answer.context) if answer.context else {})}
