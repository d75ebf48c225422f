"""How the tests of built functions put their questions."""

import copy
import json
import re
from collections.abc import Mapping
from typing import Any

from deployment.built import RunningFunction
from deployment.template import sample_events
from recollect.adapters.aws import keys
from recollect.core.event import EventRef
from recollect.core.scope import Scope
from recollect.core.time import from_iso

Functions = dict[str, RunningFunction]


def request(name: str, source: str, user: str) -> dict[str, Any]:
    """A sample request of another user."""
    event = copy.deepcopy(sample_events(name)[source])
    event["headers"].pop("idempotency-key", None)
    event["body"] = json.dumps(json.loads(event["body"]) | {"user_id": user})
    return event


def at(name: str, source: str, *ids: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A sample request with other ids in its path, and another body where one is given."""
    event, values = copy.deepcopy(sample_events(name)[source]), iter(ids)
    event["headers"].pop("idempotency-key", None)
    event["rawPath"] = re.sub(r"\{\w+\}", lambda _: next(values), event["routeKey"].partition(" ")[2])
    return event if body is None else {**event, "body": json.dumps(body)}


def said(answer: dict[str, Any]) -> dict[str, Any]:
    """The body of a good answer."""
    assert answer["statusCode"] in (200, 201, 202), answer
    body: dict[str, Any] = json.loads(answer["body"])
    return body


def ingested(functions: Functions, user: str) -> str:
    """The id of the event about Lyon, once it is durable."""
    results = said(functions["ingest"].invoke(request("ingest", "http-events", user)))["results"]
    return str(results[0]["event_id"])


def found(functions: Functions, user: str) -> dict[str, Any]:
    """What the sample search finds for a user."""
    return said(functions["retrieval"].invoke(request("retrieval", "http-search", user)))


def projected(functions: Functions, user: str, event_id: str, kind: str = "stream-insert", times: int = 1) -> Any:
    """The answer to change records of the event about Lyon."""
    record = copy.deepcopy(sample_events("project")[kind]["Records"][0])
    ref = EventRef(event_id, from_iso("2024-05-06T09:00:00Z"))
    record["dynamodb"]["Keys"] = keys.event_key(Scope("acme", user), ref).attributes
    return functions["project"].invoke({"Records": [record] * times})
