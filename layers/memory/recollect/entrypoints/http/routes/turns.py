"""`POST /v1/turns`: one line of a user's in, an answer out, and both remembered."""

import secrets
import time
from collections.abc import Mapping
from typing import Any

from recollect.app import App
from recollect.context.build import ContextRequest
from recollect.context.rendering import Fence, fence_for
from recollect.context.sources import ContextQuestion
from recollect.context.turn import IDS_OF_A_TURN, ExecutedCall, TurnAnswer, TurnRequest, answer_of
from recollect.core.event import Event
from recollect.core.ids import IdSeed
from recollect.core.scope import Scope
from recollect.entrypoints.http.event_drafts import CONTENT_BYTES
from recollect.entrypoints.http.fields import Shape, text
from recollect.entrypoints.http.idempotency import REPLAYED, claim_of
from recollect.entrypoints.http.messages import Reply, Request
from recollect.entrypoints.http.routes.context import CONTEXT_BODY, context_json, context_log
from recollect.entrypoints.http.routing import COMMON_STATUSES, Route
from recollect.entrypoints.http.run_once import Answer, run_once
from recollect.entrypoints.tools.registry import TurnTools
from recollect.retrieval.filters import SearchFilters

_ROUTE = "POST /v1/turns"
_AS_OF_A_CONTEXT = (
    "user_id", "conversation_id", "token_budget", "memory_tokens", "limits", "web_search", "store", "explain",
)  # fmt: skip

TURN_BODY = Shape(
    "TurnRequest",
    {
        **{name: CONTEXT_BODY.fields[name] for name in _AS_OF_A_CONTEXT},
        "persona_id": CONTEXT_BODY.fields["persona_id"].described("Absent: stored for the default persona."),
        "household_id": CONTEXT_BODY.fields["household_id"].described("Absent: stored for no household."),
        "conversation_id": CONTEXT_BODY.fields["conversation_id"].described("Absent: a new one, named in the answer."),
        "input": text(max_bytes=CONTENT_BYTES, blank=False).needed().described("What the user says."),
    },
)


def take_turn(app: App, request: Request) -> Reply:
    """Stores the input, builds the context, asks the model, executes its calls, stores the response."""
    scope = request.scope(request.values)
    fence = fence_for(secrets.token_hex(16))
    fresh = app.ids.seed(int(time.time() * 1000), IDS_OF_A_TURN)
    taken: list[TurnAnswer] = []

    def work(seed: IdSeed) -> Answer:
        asked = _turn_request(request, fence, resumed=seed != fresh)
        rules = app.begin_rules(scope.tenant)
        taken.append(app.context.turn(scope, asked, seed, request.now, rules, TurnTools(app)))
        return Answer(200, _record(taken[0]))

    claim = claim_of(request, _ROUTE, fresh)
    kept = run_once(app.parts.idempotency, claim, work) if claim else work(fresh)
    if kept.replayed:
        return _replayed(app, scope, request, kept)
    return Reply(kept.status, _turn_json(taken[0], fence, request.values.get("explain", False)), log=_log(taken[0]))


def _turn_request(request: Request, fence: Fence, *, resumed: bool) -> TurnRequest:
    values = request.values
    question = ContextQuestion(
        text=values["input"],
        filters=SearchFilters(now=request.now),
        conversation_id=values.get("conversation_id"),
        store=values.get("store"),
    )
    context = ContextRequest(
        question=question,
        fence=fence,
        limits=values.get("limits"),
        token_budget=values.get("token_budget"),
        memory_tokens=values["memory_tokens"],
        web_search=values["web_search"],
    )
    return TurnRequest(context=context, seconds=request.call.remaining_seconds, resumed=resumed)


def _turn_json(answer: TurnAnswer, fence: Fence, explain: bool) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "conversation_id": answer.conversation_id,
        "response": answer.response,
        "model": answer.model,
        "input_event_id": answer.input_event_id,
        "response_event_id": answer.response_event_id,
        "tool_calls": [_call_json(one) for one in answer.tool_calls],
        "quoted_calls": answer.quoted_calls,
    }
    return {**shown, "context": context_json(answer.context, fence, explain)} if answer.context else shown


def _call_json(executed: ExecutedCall) -> dict[str, Any]:
    call = executed.call
    shown: dict[str, Any] = {**executed.result, "tool": call.tool, "parameters": dict(call.parameters)}
    return {**shown, "action": call.action} if call.action is not None else shown


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
    return Reply(kept.status, {**body, "refused": gone} if gone else body, REPLAYED, log={"replayed": True})


def _current(app: App, scope: Scope, request: Request, event_id: str) -> Event | None:
    event = app.parts.timeline.find(scope, event_id)
    return None if event is None or event.expired(request.now) else event


def _log(answer: TurnAnswer) -> Mapping[str, Any]:
    """Counts and decisions; no text."""
    statuses = [one.status for one in answer.tool_calls]
    counts = {status: statuses.count(status) for status in dict.fromkeys(statuses)}
    log = {"model": answer.model, "tool_calls": counts, "quoted_calls": answer.quoted_calls}
    return {**log, **(context_log(answer.context) if answer.context else {})}


ROUTES = (
    Route(
        method="POST",
        path="/v1/turns",
        operation="takeTurn",
        summary="One turn: stores the input, answers it from memory by the model, stores the answer",
        handle=take_turn,
        body=TURN_BODY,
        answer="TurnAnswer",
        statuses=(200, 409, 502, *COMMON_STATUSES),
        idempotent=True,
    ),
)
