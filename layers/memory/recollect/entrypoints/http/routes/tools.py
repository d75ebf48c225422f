"""`POST /v1/tool-calls`: what a model's text asks for, and, where that is wanted, what comes of it."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import zip_longest
from typing import Annotated, Any

from pydantic import Field

from recollect.app import App
from recollect.core.errors import InvalidInput, OutOfTime, Unavailable
from recollect.core.ids import IdSeed
from recollect.core.scope import Scope
from recollect.entrypoints.http.headers import REPLAYED, Answer, Attempt, countdown, idempotent, new_seed
from recollect.entrypoints.http.messages import Reply, Request
from recollect.entrypoints.http.models import (
    AnswerModel,
    Count,
    Fault,
    Free,
    Identifier,
    Labelled,
    Maybe,
    OneOf,
    Text,
)
from recollect.entrypoints.http.routing import Routes
from recollect.entrypoints.tools.registry import IDS_OF_A_CALL, Status, ToolRegistry, ToolResult, result_document
from recollect.tool_calls.protocol import Protocol, ReadingPolicy, ToolCall, ToolRequests, read_tool_calls

TEXT_BYTES = 1024 * 1024
MOST_CALLS = 50
_MARGIN_SECONDS = 1.0


class ToolCallsRequest(Labelled):
    text: Annotated[str, Text(TEXT_BYTES)] = Field(description="What the model wrote.")
    user_id: Maybe[Identifier] = Field(None, description="Whose memory the tools work on; needed with `execute`.")
    persona_id: Maybe[Identifier] = None
    household_id: Maybe[Identifier] = None
    conversation_id: Maybe[Identifier] = Field(
        None, description="What the calls store is said in it; absent: in a new one."
    )
    dual: Maybe[bool] = Field(None, description="VCP is tried where no ABP block holds a request.")
    strict: Maybe[bool] = Field(None, description="Refuses a block whose end marker is missing.")
    execute: Maybe[bool] = Field(None, description=f"Makes the calls, in order, the first {MOST_CALLS} of them.")


class CallShown(AnswerModel):
    tool: str
    parameters: Free
    action: Maybe[str] = None


class ToolStatistics(AnswerModel):
    abp_ok: Count
    abp_failed: Count
    vcp_fallback: Count
    plain_text: Count


class ToolResultShown(AnswerModel, title="ToolResult"):
    tool: str
    ok: bool
    status: Annotated[str, OneOf(*Status)]
    message: str
    result: Maybe[Free] = None
    errors: Maybe[list[Fault]] = None


class ToolCallsAnswer(AnswerModel):
    protocol: Annotated[str, OneOf(*Protocol)]
    calls: list[CallShown]
    text: str
    warnings: list[str]
    statistics: ToolStatistics
    results: Maybe[list[ToolResultShown]] = None


routes = Routes()


@routes.post("/v1/tool-calls", answer=ToolCallsAnswer, errors=(409,), idempotent=True)
def call_tools(app: App, request: Request, body: ToolCallsRequest) -> Reply:
    """Reads the tool calls in a model's text, and makes them where that is asked for."""
    found = read_tool_calls(body.text, ReadingPolicy(bool(body.dual), bool(body.strict)))
    if body.execute and body.user_id is None:
        raise InvalidInput("is required to execute", ("body", "user_id"))
    scope = request.scope(body) if body.user_id is not None else None
    if body.execute and scope is not None:
        return _executed(app, request, body, scope, found)
    return _reply(found, _parameter_warnings(ToolRegistry(app), found.calls))


def _executed(app: App, request: Request, body: ToolCallsRequest, scope: Scope, found: ToolRequests) -> Reply:
    makes = _Makes(app, request, scope, body, found.calls[:MOST_CALLS])

    def work(attempt: Attempt) -> Answer:
        results = makes.all(attempt.seed)
        return Answer(200, {"calls": [_record(result) for result in results]}, results)

    answer = idempotent(app, request, work, ids=makes.ids)
    results = makes.again(answer.body["calls"]) if answer.replayed else answer.made
    return _reply(found, _too_many(found.calls), results, answer.replayed)


class _Makes:
    """Makes the calls of one request."""

    def __init__(
        self, app: App, request: Request, scope: Scope, body: ToolCallsRequest, calls: Sequence[ToolCall]
    ) -> None:
        self._app, self._request, self._scope = app, request, scope
        self._body, self._calls = body, calls
        self._registry = ToolRegistry(app)
        self.ids = IDS_OF_A_CALL * max(1, len(calls))

    def all(self, seed: IdSeed) -> list[ToolResult]:
        """In order. Raises OutOfTime or Unavailable half-way: a retry with the same seed goes on."""
        left, results = countdown(self._request.call.remaining_seconds - _MARGIN_SECONDS), list[ToolResult]()
        for position, call in enumerate(self._calls):
            if position and left() < 0:
                raise OutOfTime(f"the time was used up after {position} of {len(self._calls)} calls were made")
            results.append(self._one(call, position, seed))
            if results[-1].status is Status.UNAVAILABLE:
                raise Unavailable("a part of the memory does not answer now")
        return results

    def again(self, records: Sequence[Mapping[str, Any] | None]) -> list[ToolResult]:
        """The first answer's results, writing nothing: what only reads is read again, what is gone since is refused."""
        seed = new_seed(self._app, self.ids)
        return [
            self._one(call, position, seed) if kept is None else self._retold(call, kept)
            for position, (call, kept) in enumerate(zip_longest(self._calls, records))
        ]

    def _one(self, call: ToolCall, position: int, seed: IdSeed) -> ToolResult:
        own = IdSeed(seed.tick + position * IDS_OF_A_CALL, seed.tail)
        where = self._body.conversation_id, self._body.labels
        return self._registry.execute(self._scope, call, own, self._request.now, *where)

    def _retold(self, call: ToolCall, kept: Mapping[str, Any]) -> ToolResult:
        status = Status(kept["status"])
        if status is not Status.DONE:
            return ToolResult(tool=call.tool, status=status, message=kept["message"], wrote=True)
        if any(self._app.parts.timeline.find(self._scope, event_id) is None for event_id in kept["stored"]):
            return ToolResult(tool=call.tool, status=Status.REFUSED, message="it was deleted since", wrote=True)
        return self._registry.retold(call, kept["result"])


def _record(result: ToolResult) -> dict[str, Any] | None:
    """What an idempotency record holds of a call that writes: ids and statuses. None: it wrote nothing; look again."""
    if not result.wrote:
        return None
    kept = {"status": result.status.value, "result": dict(result.result), "stored": list(result.stored)}
    return kept if result.ok else {**kept, "message": result.message}


def _too_many(calls: Sequence[ToolCall]) -> list[str]:
    left = len(calls) - MOST_CALLS
    return [f"the last {left} calls were not made: one request makes {MOST_CALLS}"] if left > 0 else []


def _parameter_warnings(registry: ToolRegistry, calls: Sequence[ToolCall]) -> list[str]:
    """What the tools that are known would refuse (A-05)."""
    return [
        f"call {number}: {'.'.join(map(str, fault.loc)) or 'parameters'}: {fault.message}"
        for number, call in enumerate(calls[:MOST_CALLS], start=1)
        for fault in registry.faults(call)
    ]


def _reply(
    found: ToolRequests, more: Sequence[str] = (), results: Sequence[ToolResult] | None = None, replayed: bool = False
) -> Reply:
    documents = None if results is None else list(map(result_document, results))
    shown = ToolCallsAnswer.made_of(found, warnings=[*found.warnings, *more], results=documents)
    log = {"protocol": found.protocol.value, "calls": len(found.calls), "warnings": len(shown.warnings)}
    if results is not None:
        log |= {"done": sum(result.ok for result in results), "replayed": replayed}
    return Reply(200, shown, REPLAYED if replayed else {}, log=log, metrics=asdict(found.statistics))
