"""How the tests of built functions put their questions."""

import base64
import copy
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from deployment.built import RunningFunction
from deployment.requests import SERVED_BY, http_event, signed_event
from deployment.template import sample_events
from entrypoints.http.calling import Answered
from recollect.adapters.aws import keys
from recollect.core.event import EventRef
from recollect.core.scope import Scope
from recollect.core.time import from_iso

Functions = dict[str, RunningFunction]
EVENTS, SEARCH, CONTEXT, TURN = (f"POST /v1/{name}" for name in ("events", "search", "context", "turns"))


@dataclass
class SignedRequests:
    """What boto3's clients send, at a function behind the HTTP API."""

    function: RunningFunction
    name: str = "built"
    log: io.StringIO = field(default_factory=io.StringIO)

    def send(self, method: str, target: str, body: bytes | None, headers: Mapping[str, str]) -> Answered:
        """The function's answer to the event."""
        answer = self.function.invoke(signed_event(method, target, body, headers))
        text = base64.b64decode(answer["body"]).decode() if answer["isBase64Encoded"] else answer["body"]
        return Answered(answer["statusCode"], {name.lower(): value for name, value in answer["headers"].items()}, text)


def asked(functions: Functions, route: str, *ids: str, body: Any = None, query: str = "") -> dict[str, Any]:
    answer: dict[str, Any] = functions[SERVED_BY[route]].invoke(http_event(route, *ids, body=body, query=query))
    return answer


def of(user: str, route: str) -> dict[str, Any]:
    event = http_event(route)
    return {**event, "body": json.dumps(json.loads(event["body"]) | {"user_id": user})}


def said(answer: dict[str, Any]) -> dict[str, Any]:
    assert answer["statusCode"] in (200, 201, 202), answer
    body: dict[str, Any] = json.loads(answer["body"])
    return body


def ingested(functions: Functions, user: str) -> str:
    results = said(functions["ingest"].invoke(of(user, EVENTS)))["results"]
    return str(results[0]["event_id"])


def found(functions: Functions, user: str) -> dict[str, Any]:
    return said(functions["retrieval"].invoke(of(user, SEARCH)))


def projected(functions: Functions, user: str, event_id: str, kind: str = "stream-insert", times: int = 1) -> Any:
    record = copy.deepcopy(sample_events("project")[kind]["Records"][0])
    ref = EventRef(event_id, from_iso("2024-05-06T09:00:00Z"))
    record["dynamodb"]["Keys"] = keys.event_key(Scope("acme", user), ref).attributes
    return functions["project"].invoke({"Records": [record] * times})
