"""`POST /v1/tool-calls`: what a model's text asks for, and, where that is wanted, what comes of it."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import zip_longest
from typing import Any

from recollect.app import App
from recollect.core.errors import OutOfTime, Unavailable
from recollect.core.ids import IdSeed
from recollect.core.scope import Scope
from recollect.entrypoints.http.fields import Shape, flag, identifier, refuse, text
from recollect.entrypoints.http.idempotency import REPLAYED, claim_of
from recollect.entrypoints.http.messages import Reply, Request
from recollect.entrypoints.http.routing import COMMON_STATUSES, Route
from recollect.entrypoints.http.run_once import Answer, run_once
from recollect.entrypoints.tools.registry import IDS_OF_A_CALL, ToolRegistry
from recollect.entrypoints.tools.result import Status, ToolResult, result_document
from recollect.tool_calls.call import ToolCall, ToolRequests
from recollect.tool_calls.protocol import ReadingPolicy, read_tool_calls

TEXT_BYTES = 1024 * 1024
MOST_CALLS = 50
_ROUTE = "POST /v1/tool-calls"
_MARGIN_SECONDS = 1.0

TOOL_CALLS_BODY = Shape(
    "ToolCallsRequest",
    {
        "text": text(max_bytes=TEXT_BYTES).needed().described("What the model wrote."),
        "user_id": identifier().described("Whose memory the tools work on; needed with `execute`."),
        "persona_id": identifier(),
        "household_id": identifier(),
        "conversation_id": identifier().described("What the calls store is said in it; absent: in a new one."),
        "dual": flag().described("VCP is tried where no ABP block holds a request."),
        "strict": flag().described("Refuses a block whose end marker is missing."),
        "execute": flag().described(f"Makes the calls, in order, the first {MOST_CALLS} of them."),
    },
)


def call_tools(app: App, request: Request) -> Reply:
    """Reads the calls; makes them only where `execute` says so."""
    values = request.values
    found = read_tool_calls(values["text"], ReadingPolicy(values.get("dual", False), values.get("strict", False)))
    execute = values.get("execute", False)
    if execute and "user_id" not in values:
        raise refuse("is required to execute", "body", "user_id")
    scope = request.scope(values) if "user_id" in values else None
    if execute and scope is not None:
        return _executed(app, request, scope, found)
    return _reply(found, _parameter_warnings(ToolRegistry(app), found.calls))


def _executed(app: App, request: Request, scope: Scope, found: ToolRequests) -> Reply:
    registry, calls = ToolRegistry(app), found.calls[:MOST_CALLS]
    seed = app.ids.seed(int(time.time() * 1000), IDS_OF_A_CALL * max(1, len(calls)))
    results: list[ToolResult] = []

    def work(seed: IdSeed) -> Answer:
        results.extend(_make(registry, request, scope, calls, seed))
        return Answer(200, {"calls": [_record(result) for result in results]})

    claim = claim_of(request, _ROUTE, seed)
    answer = run_once(app.parts.idempotency, claim, work) if claim else work(seed)
    if answer.replayed:
        results = _replayed(app, registry, request, scope, calls, answer.body["calls"], seed)
    return _reply(found, _too_many(found.calls), results, answer.replayed)


def _make(
    registry: ToolRegistry, request: Request, scope: Scope, calls: Sequence[ToolCall], seed: IdSeed
) -> list[ToolResult]:
    """Makes the calls in order. Raises OutOfTime or Unavailable half-way: a retry with the same seed goes on."""
    ends, results = time.monotonic() + request.call.remaining_seconds - _MARGIN_SECONDS, list[ToolResult]()
    for position, call in enumerate(calls):
        if position and time.monotonic() > ends:
            raise OutOfTime(f"the time was used up after {position} of {len(calls)} calls were made")
        results.append(_one(registry, request, scope, call, position, seed))
        if results[-1].status is Status.UNAVAILABLE:
            raise Unavailable("a part of the memory does not answer now")
    return results


def _one(
    registry: ToolRegistry, request: Request, scope: Scope, call: ToolCall, position: int, seed: IdSeed
) -> ToolResult:
    own = IdSeed(seed.tick + position * IDS_OF_A_CALL, seed.tail)
    return registry.execute(scope, call, own, request.now, request.values.get("conversation_id"))


def _record(result: ToolResult) -> dict[str, Any] | None:
    """What an idempotency record holds of a call that writes: ids and statuses. None: it wrote nothing; look again."""
    if not result.wrote:
        return None
    kept = {"status": result.status.value, "result": dict(result.result), "stored": list(result.stored)}
    return kept if result.ok else {**kept, "message": result.message}


def _replayed(
    app: App,
    registry: ToolRegistry,
    request: Request,
    scope: Scope,
    calls: Sequence[ToolCall],
    records: Sequence[Mapping[str, Any] | None],
    seed: IdSeed,
) -> list[ToolResult]:
    """The first answer's results, writing nothing: what only reads is read again, what is gone since is refused."""
    return [
        _one(registry, request, scope, call, position, seed)
        if kept is None
        else _retold(app, registry, scope, call, kept)
        for position, (call, kept) in enumerate(zip_longest(calls, records))
    ]


def _retold(app: App, registry: ToolRegistry, scope: Scope, call: ToolCall, kept: Mapping[str, Any]) -> ToolResult:
    status = Status(kept["status"])
    if status is not Status.DONE:
        return ToolResult(tool=call.tool, status=status, message=kept["message"], wrote=True)
    if any(app.parts.timeline.find(scope, event_id) is None for event_id in kept["stored"]):
        return ToolResult(tool=call.tool, status=Status.REFUSED, message="it was deleted since", wrote=True)
    return registry.retold(call, kept["result"])


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
    statistics = asdict(found.statistics)
    body: dict[str, Any] = {
        "protocol": found.protocol.value,
        "calls": [_call_json(call) for call in found.calls],
        "text": found.text,
        "warnings": [*found.warnings, *more],
        "statistics": statistics,
    }
    log = {"protocol": found.protocol.value, "calls": len(found.calls), "warnings": len(body["warnings"])}
    if results is not None:
        body["results"] = [result_document(result) for result in results]
        log |= {"done": sum(result.ok for result in results), "replayed": replayed}
    return Reply(200, body, REPLAYED if replayed else {}, log=log, metrics=statistics)


def _call_json(call: ToolCall) -> dict[str, Any]:
    shown: dict[str, Any] = {"tool": call.tool, "parameters": dict(call.parameters)}
    return shown if call.action is None else {**shown, "action": call.action}


ROUTES = (
    Route(
        method="POST",
        path="/v1/tool-calls",
        operation="callTools",
        summary="Reads the tool calls in a model's text, and makes them where that is asked for",
        handle=call_tools,
        body=TOOL_CALLS_BODY,
        answer="ToolCallsAnswer",
        statuses=(200, 409, *COMMON_STATUSES),
        idempotent=True,
    ),
)
