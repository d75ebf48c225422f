"""The function `mcp`: HTTP API events through Mangum, behind the authorizer's claims."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from entrypoints.mcp.conftest import opened
from entrypoints.mcp.talking import memories_of
from recollect.app import App
from recollect.core.scope import Scope
from recollect.entrypoints.lambda_handlers import mcp_handler

EVENT = Path(__file__).resolve().parents[3] / "events" / "mcp.http.json"
CONTEXT: Any = SimpleNamespace(aws_request_id="request-1", get_remaining_time_in_millis=lambda: 10_000)

pytestmark = pytest.mark.usefixtures("loop")


def event(
    tool: str = "", headers: dict[str, str] | None = None, claims: Any = None, **arguments: Any
) -> dict[str, Any]:
    """The recorded event, with another call, other headers (None takes one away) or other claims."""
    recorded: dict[str, Any] = json.loads(EVENT.read_text("utf-8"))
    if tool:
        body = json.loads(recorded["body"])
        body["params"] = {"name": tool, "arguments": arguments}
        recorded["body"] = json.dumps(body)
    merged = {**recorded["headers"], **(headers or {})}
    recorded["headers"] = {name: value for name, value in merged.items() if value}
    if claims is not None:
        recorded["requestContext"]["authorizer"]["jwt"]["claims"] = claims
    return recorded


def answer(app: App, sent: dict[str, Any]) -> tuple[int, Any]:
    """Status and body."""
    answered = mcp_handler(app)(sent, CONTEXT)
    assert answered["isBase64Encoded"] is False
    return answered["statusCode"], json.loads(answered["body"])


def test_the_recorded_event_is_answered(app: App) -> None:
    saved = answer(app, event("save_memory", content="Anna lives in Lyon"))
    assert (saved[0], saved[1]["result"]["isError"]) == (200, False)
    status, body = answer(app, event())
    assert status == 200
    (found,) = body["result"]["structuredContent"]["result"]["results"]
    assert found["content"] == "Anna lives in Lyon"
    assert len(memories_of(app, Scope("acme", "anna"))) == 1


def test_one_handler_answers_many_events(app: App) -> None:
    handler = mcp_handler(app)
    assert [handler(event(), CONTEXT)["statusCode"] for _ in range(3)] == [200, 200, 200]


def test_without_claims_or_tenant_nobody_is_served(app: App) -> None:
    bare = event()
    del bare["requestContext"]["authorizer"]
    assert answer(app, bare)[0] == 401
    assert answer(app, event(claims={"sub": "anna"}))[0] == 403


def test_the_header_names_the_user_where_the_token_does_not(app: App) -> None:
    assert answer(app, event(headers={"x-recollect-user": ""}))[0] == 422
    answer(app, event("save_memory", {"x-recollect-user": "bob"}, content="x"))
    assert len(memories_of(app, Scope("acme", "bob"))) == 1


def test_with_a_subject_claim_the_token_names_the_user_and_no_header_another(tmp_path: Path) -> None:
    with opened(tmp_path, RECOLLECT_SUBJECT_CLAIM="sub") as app:
        assert answer(app, event("save_memory", {"x-recollect-user": ""}, content="x"))[0] == 200
        assert len(memories_of(app, Scope("acme", "anna"))) == 1
        assert answer(app, event("save_memory", {"x-recollect-user": "bob"}, content="x"))[0] == 403
        assert answer(app, event(claims={"tenant": "acme"}, headers={"x-recollect-user": ""}))[0] == 422


def test_a_stream_is_refused_at_once(app: App) -> None:
    get = event()
    get["requestContext"]["http"]["method"] = "GET"
    assert answer(app, get)[0] == 405


def test_no_default_user_in_the_cloud(tmp_path: Path) -> None:
    with opened(tmp_path, RECOLLECT_MCP_USER="anna") as app:
        assert answer(app, event(headers={"x-recollect-user": ""}))[0] == 422
