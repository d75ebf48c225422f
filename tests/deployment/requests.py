"""A request for each route of the template, as the HTTP API hands it to the function that serves the route.

The envelope is that of `events/retrieval.http-search.json`. The routes are the template's; what a route wants to be
told stands here, or in the file under `events/` that is of this route.
"""

import base64
import copy
import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, unquote

from deployment.template import FUNCTIONS, PUBLIC_ROUTES, ROOT, routes, sample_events

NOBODYS = "018f4cf3-a400-7000-8000-000000000001"
SNEAKERS = "~c2hvcDpzbmVha2Vycw"
"""`shop:sneakers`, as a path holds it."""

_PLACES = {
    "user_id": "anna",
    "namespace": "vocabulary",
    "key": SNEAKERS,
    "name": "newest-wins",
    "sequence": "1",
    "arbitration_id": f"018f4cf3-a400-7000-8000-000000000002.{NOBODYS}",
    "conflict_id": f"018f4cf3-a400-7000-8000-000000000002.{NOBODYS}",
}
_OLD: dict[str, Any] = {
    "id": "m-old", "user_id": "nora", "content": "I live in Paris.", "importance": 0.9,
    "timestamp": "2023-02-01T18:30:00Z", "source": "user", "keywords": ["home"],
}  # fmt: skip
_NEW: dict[str, Any] = {
    "id": "m-new", "user_id": "nora", "content": "I moved to Lyon in March.", "importance": 0.7,
    "timestamp": "2024-05-06T09:00:00Z", "source": "user", "keywords": ["home", "Lyon"],
}  # fmt: skip
_LINE: dict[str, Any] = {
    "v": 1, "kind": "event", "given": "time", "origin": {"user_id": "anna", "event_id": NOBODYS},
    "event": {
        "format": 1, "id": NOBODYS, "user_id": "anna", "conversation_id": "c1", "role": "user",
        "content": "I always drink tea", "content_type": "userinput", "source": "user", "importance": 0.4,
        "timestamp": "2024-05-01T12:00:00.000000Z", "recorded_at": "2024-05-01T12:00:00.000000Z",
    },
}  # fmt: skip
_BODIES: dict[str, Any] = {
    "POST /v1/analyze": {"text": "Remind me to call the landlord tomorrow at nine."},
    "POST /v1/feedback": {"user_id": "anna", "positive": True},
    "POST /v1/signals": {"type": "healthy", "source": "operator"},
    "POST /v1/memories": {"user_id": "anna", "content": "Anna drinks green tea", "keywords": ["tea"]},
    "POST /v1/memories/delete": {"user_id": "anna", "key": "nothing", "dry_run": True},
    "PATCH /v1/users/{user_id}/memories/{memory_id}": {"content": "Anna drinks black tea"},
    "POST /v1/users/{user_id}/goals": {"goal": "Run a marathon", "check_in_frequency": "weekly"},
    "PATCH /v1/users/{user_id}/goals/{goal_id}": {"status": "completed"},
    "POST /v1/users/{user_id}/goals/{goal_id}/check-ins": {"date": "2024-05-06", "status": "completed"},
    "POST /v1/users/{user_id}/memories/{memory_id}/merge": {
        "other": "018f4cf3-a400-7000-8000-000000000002",
        "other_version": 1,
    },
    "POST /v1/users/{user_id}/conflicts/{conflict_id}/resolve": {"winner": NOBODYS},
    "POST /v1/users/{user_id}/arbitrations/{arbitration_id}/revert": {"content": "Anna drinks green tea"},
    "POST /v1/users/{user_id}/events/{event_id}/correct": {"content": "Anna drinks green tea"},
    "POST /v1/users/{user_id}/conversations/{conversation_id}/log": {"entries": [{"payload": {"said": "tea"}}]},
    "PATCH /v1/users/{user_id}/conversations/{conversation_id}/log/entries/{sequence}": {"payload": {"said": "coffee"}},
    "POST /v1/users/{user_id}/import": json.dumps(_LINE) + "\n",
    "POST /v1/jobs/reindex": {"from": "vectors"},
    "POST /v1/jobs/restore": {"snapshot_id": NOBODYS},
    "PUT /v1/rules": {"summary": {"messages": 40}},
    "PUT /v1/knowledge/{namespace}/{key}": {
        "value": {"target": "category:shoes", "description": "What customers call shoes."}
    },
    "POST /v1/knowledge/resolve": {"text": "red sneakers", "store": "shop", "filter": "price < 100"},
    "POST /v1/knowledge/learn": {"text": "When I say sneakers, I mean shoes.", "store": "shop"},
    "POST /v1/arbitrations": {"candidate": _NEW, "existing": [_OLD], "apply": True},
    "POST /v1/merges": {"first": _OLD, "second": _NEW, "options": {"contentStrategy": "concatenate"}},
    "POST /v1/merge-rules/import": {"rules": [{"name": "gentle", "extends": "default"}]},
    "POST /v1/merge-rules/match": {"candidate": _NEW},
    "PUT /v1/merge-rules/{name}": {"priority": 5, "conditions": {"userId": "anna", "source": ["user"]}},
    "PATCH /v1/merge-rules/{name}": {"priority": 6},
    "PUT /store/items": {"namespace": ["users", "anna"], "key": "tea", "value": {"text": "Anna drinks green tea."}},
    "DELETE /store/items": {"namespace": ["users", "anna"], "key": "tea"},
    "POST /store/items/delete": {"namespace_prefix": ["users", "anna"], "dry_run": True},
    "POST /store/batch": {"operations": [{"get": {"namespace": ["users", "anna"], "key": "tea"}}]},
}
_QUERIES = {"GET /store/items": "namespace=users.anna&key=tea"}
"""Of routes that cannot do without one."""
_SAMPLES = {
    event["routeKey"]: event for name in FUNCTIONS for event in sample_events(name).values() if "routeKey" in event
}
_OPENAPI = json.loads((ROOT / "docs/openapi.json").read_text("utf-8"))["paths"]
SERVED_BY = {route: name for name in FUNCTIONS for route in routes(name)}
"""The function of each route."""


def http_event(route: str, *ids: str, body: Any = None, query: str = "") -> dict[str, Any]:
    """A request of a route, with these ids in its path; without a body of its own it has the usual one.

    A text is a body as it is, anything else one of JSON.
    """
    method, template = route.split(" ")
    query = query or _QUERIES.get(route, "")
    values = iter(ids)
    path = re.sub(r"\{(\w+)\}", lambda found: next(values, _PLACES.get(found[1], NOBODYS)), template)
    event = copy.deepcopy(sample_events("retrieval")["http-search"])
    event |= {"routeKey": route, "rawPath": path, "rawQueryString": query}
    event["requestContext"] |= {"routeKey": route}
    event["requestContext"]["http"] |= {"method": method, "path": path}
    if query:
        event["queryStringParameters"] = dict(parse_qsl(query))
    if any(one["name"] == "If-Match" for one in _operation(route).get("parameters", ())):
        event["headers"]["if-match"] = "*"
    if route in PUBLIC_ROUTES:
        del event["headers"]["authorization"], event["requestContext"]["authorizer"]
    given = _body_of(route) if body is None else body if isinstance(body, str) else json.dumps(body)
    return {**event, "body": given} if given is not None else {n: part for n, part in event.items() if n != "body"}


def signed_event(method: str, target: str, body: bytes | None, headers: Mapping[str, str]) -> dict[str, Any]:
    """A request that its client has signed: the API decodes the path, no authorizer looks at it; bytes in base64."""
    path, _, query = target.partition("?")
    event = copy.deepcopy(sample_events("retrieval")["http-search"])
    event |= {"routeKey": f"{method} /memories/{{proxy+}}", "rawPath": unquote(path), "rawQueryString": query}
    event["requestContext"] |= {"routeKey": event["routeKey"]}
    event["requestContext"]["http"] |= {"method": method, "path": unquote(path)}
    del event["requestContext"]["authorizer"]
    event["headers"] = {name.lower(): value for name, value in headers.items()}
    return {**event, "body": base64.b64encode(body or b"").decode(), "isBase64Encoded": True}


def _body_of(route: str) -> str | None:
    body = _BODIES.get(route, _SAMPLES.get(route, {}).get("body"))
    if body is None and "requestBody" in _operation(route):
        body = {}
    return body if body is None or isinstance(body, str) else json.dumps(body)


def _operation(route: str) -> Mapping[str, Any]:
    method, path = route.split(" ")
    operation: Mapping[str, Any] = _OPENAPI.get(path, {}).get(method.lower(), {})
    return operation


def good_statuses(route: str) -> set[int]:
    """What the document promises to a good request, and 404 where the path names what nobody made."""
    promised = {int(status) for status in _operation(route).get("responses", {}) if status.startswith("2")}
    named = re.findall(r"\{(\w+)\}", route.replace("{user_id}", "").replace("{namespace}/", "/"))
    return promised | ({404} if named else set())
