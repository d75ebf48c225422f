"""AgentCore's wire on a stack: boto3's clients by the events of an HTTP API, at the handler of the function."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from entrypoints.http.calling import LOCAL_CLAIMS, ORIGIN, Cloud
from entrypoints.http.conftest import opened
from entrypoints.http.test_agentcore import AT, KEYS, SECRETS, TEA, AgentCore
from recollect.app import App
from recollect.entrypoints.http.agentcore.wire import STACK_EVENT_BYTES, sent_paths
from recollect.entrypoints.http.aws import agentcore_handler
from recollect.entrypoints.http.routes import routes_of

ODD = ("team/anna", "a b@é+~*", "50%", "x/sessions/y", "support:team/a", "a/sessions", "a/sessions/sessions/events/b")


@dataclass
class Function(Cloud):
    """The function behind an API whose stage has a name, or none: the path begins with it."""

    claims: Mapping[str, Any] | None = None
    stage: str = "$default"
    changed: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._handler = agentcore_handler(self.app)

    def event(self, method: str, target: str, body: bytes | None, headers: Mapping[str, str]) -> dict[str, Any]:
        """As API Gateway makes it, with headers that are changed on the way."""
        event = super().event(method, target, body, {**headers, **self.changed})
        event["requestContext"] |= {"stage": self.stage}
        return event

    @property
    def origin(self) -> str:
        """Where clients find the API."""
        return ORIGIN if self.stage == "$default" else f"{ORIGIN}/{self.stage}"

    def of(self, tenant: str, secret: str | None = None) -> AgentCore:
        """The clients of a tenant."""
        return AgentCore.of(self, tenant, secret or SECRETS[tenant], origin=self.origin)


@pytest.fixture
def app(tmp_path: Path) -> Any:
    with opened(tmp_path, RECOLLECT_SIGNING_KEYS=json.dumps(KEYS)) as app:
        yield app


@pytest.mark.parametrize("function", [{}, {"stage": "prod"}, {"as_base64": True}], ids=str)
def test_boto3_is_answered_by_its_signature_whoever_the_actor_is(app: App, function: dict[str, Any]) -> None:
    aws = Function(app, **function).of("acme")
    memory = aws.memory()
    assert [one["id"] for one in aws.control.list_memories()["memories"]] == [memory]
    for actor in ODD:
        event = aws.said(memory, f"{TEA}, says {actor}", actor)
        asked = {"memoryId": memory, "actorId": actor, "sessionId": "s", "eventId": event["eventId"]}
        assert aws.data.get_event(**asked)["event"]["payload"] == event["payload"]
        assert [one["eventId"] for one in aws.events(memory, actor)] == [event["eventId"]]
        sessions = aws.data.list_sessions(memoryId=memory, actorId=actor)["sessionSummaries"]
        assert [one["actorId"] for one in sessions] == [actor]
        assert f"{TEA}, says {actor}" in aws.found(memory, "tea", namespace=f"/facts/{actor}/")
        aws.data.delete_event(**asked)
        assert aws.events(memory, actor) == []
    aws.control.delete_memory(memoryId=memory)
    assert aws.control.list_memories()["memories"] == []


def test_the_tenant_is_the_access_keys_alone(app: App) -> None:
    memory = Function(app).of("acme").memory()
    others = Function(app, claims={"tenant": "acme", "scope": "recollect/admin"}).of("globex")
    assert others.control.list_memories()["memories"] == []
    with pytest.raises(ClientError, match="ResourceNotFoundException"):
        others.said(memory, TEA)


def test_no_route_is_answered_without_a_signature(app: App) -> None:
    names = {"memory_id": "m", "actor_id": "a", "session_id": "s", "event_id": "e", "record_id": "r"}
    for claims in (None, LOCAL_CLAIMS):
        function = Function(app, claims=claims)
        for route in routes_of(["agentcore"]):
            for headers in ({}, {"authorization": "Bearer acme"}, {"x-api-key": "acme"}):
                answer = function.send(route.method, route.path.format(**names), b"{}", headers)
                assert answer.status == 403, (route.template, answer)
                assert answer.headers["x-amzn-errortype"] == "AccessDeniedException"


@pytest.mark.parametrize(
    "changed", [{"host": "other.example.com"}, {"x-amz-date": "20240101T000000Z"}, {"content-type": "text/plain"}]
)
def test_what_was_changed_on_the_way_is_refused(app: App, changed: dict[str, str]) -> None:
    with pytest.raises(ClientError, match="AccessDeniedException"):
        Function(app, changed=changed).of("acme").memory()


def test_no_stranger_makes_an_error_of_ours(app: App) -> None:
    function = Function(app)
    now = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    scope = f"Credential=acme/{now[:8]}/eu-west-1/bedrock-agentcore/aws4_request"
    signature = f"AWS4-HMAC-SHA256 {scope}, SignedHeaders=content-type;host;x-amz-date, Signature={'0' * 64}"
    signed = {"authorization": signature, "host": "a", "content-type": "b", "x-amz-date": now}
    for place in ("rawPath", "rawQueryString", "host", "content-type", "authorization"):
        for text in ("\ud800", "é", "%", "\x00"):
            event = function.event("POST", "/memories/", b"{}", signed)
            of = event if place in event else event["headers"]
            of[place] += text
            assert function.handle(event).status in (403, 404), (place, ascii(text))


def test_a_wrong_secret_is_refused(app: App) -> None:
    with pytest.raises(ClientError, match="AccessDeniedException"):
        Function(app).of("acme", SECRETS["globex"]).memory()


def test_what_is_stored_can_be_read_again_and_more_is_refused_before(app: App) -> None:
    """A blob of quotes is twice as long in Lambda's JSON."""
    aws = Function(app).of("acme")
    memory = aws.memory()
    given = {"memoryId": memory, "actorId": "anna", "sessionId": "s", "eventTimestamp": AT}
    blob = '"' * (STACK_EVENT_BYTES // 2 - 500)
    event = aws.data.create_event(payload=[{"blob": blob}], **given)["event"]
    assert event["payload"] == [{"blob": blob}]
    with pytest.raises(ClientError, match="ValidationException"):
        aws.data.create_event(payload=[{"blob": f"{blob}{'x' * 1500}"}], **given)
    assert len(aws.events(memory)) == 1


@pytest.mark.parametrize(
    ("decoded", "sent"),
    [
        ("/memories/", "/memories/"),
        ("/memories/m/details", "/memories/m/details"),
        ("/memories/m/actor/anna/sessions", "/memories/m/actor/anna/sessions"),
        ("/memories/m/actor/team/anna/sessions/s", "/memories/m/actor/team%2Fanna/sessions/s"),
        ("/memories/m/actor/a/b/c/sessions/s/events/1#2", "/memories/m/actor/a%2Fb%2Fc/sessions/s/events/1%232"),
        ("/memories/m/actor/a/sessions/s/t/sessions/s", "/memories/m/actor/a%2Fsessions%2Fs%2Ft/sessions/s"),
        ("/memories/m/actor/a%2Fb/sessions", "/memories/m/actor/a%252Fb/sessions"),
        ("/memories/m/actor//sessions", "/memories/m/actor//sessions"),
    ],
)
def test_a_decoded_path_is_encoded_as_botocore_sent_it(decoded: str, sent: str) -> None:
    assert sent_paths(decoded) == [sent]


def test_of_an_actor_with_sessions_in_the_name_several_paths_may_have_been_sent() -> None:
    assert sent_paths("/memories/m/actor/a/sessions/sessions") == [
        "/memories/m/actor/a/sessions/sessions",
        "/memories/m/actor/a%2Fsessions/sessions",
    ]
    assert len(sent_paths("/memories/m/actor/a/sessions/b/events/sessions")) == 2
    assert len(sent_paths("/memories/m/actor/" + "a/sessions/" * 1_000 + "sessions")) == 2
