"""Every route as a call: what is sent. Sync and async client share this, and nothing here speaks to a network."""

import base64
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, Unpack
from uuid import uuid4

from recollect.client.shapes import (
    AnalyzeOptions,
    ContextOptions,
    EventOptions,
    MemoryListOptions,
    MemoryOptions,
    Narrowing,
    NewEvent,
    SearchOptions,
    ToolCallOptions,
    TurnOptions,
)

_PLAIN_ID = re.compile("[A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request. `body` None sends none; `content` is one that is no JSON.

    `not_ready_is_an_answer`: a 503 with a JSON body is what was asked for.
    `timeout_seconds` None: the client's.
    """

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    content: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    not_ready_is_an_answer: bool = False
    timeout_seconds: float | None = None

    def after(self, cursor: str) -> "Call":
        """The next page of a list."""
        return replace(self, query={**self.query, "cursor": cursor})


def path_segment(value: str) -> str:
    """An id in a path: as it is where it is plain, else `~` and the unpadded base64url of its UTF-8 (api.md, *Ids*).

    Raises ValueError where the id is no Unicode text.
    """
    if _PLAIN_ID.fullmatch(value) and value not in (".", ".."):
        return value
    return "~" + base64.urlsafe_b64encode(value.encode()).decode().rstrip("=")


def add_events(
    user_id: str,
    events: Sequence[NewEvent],
    conversation_id: str | None,
    idempotency_key: str | None,
    narrowing: Narrowing,
) -> Call:
    """`POST /v1/events`, with a key of its own, so that it can be tried again."""
    body = present({"user_id": user_id, **narrowing, "conversation_id": conversation_id, "events": list(events)})
    headers = {"Idempotency-Key": idempotency_key or uuid4().hex}
    return Call(method="POST", path="/v1/events", body=body, headers=headers)


def analyze(text: str, **options: Unpack[AnalyzeOptions]) -> Call:
    """`POST /v1/analyze`."""
    return Call(method="POST", path="/v1/analyze", body=present({"text": text, **options}))


def events(user_id: str, **options: Unpack[EventOptions]) -> Call:
    """`GET /v1/users/{user_id}/events`, the first page."""
    query = {name.rstrip("_"): value for name, value in options.items()}
    return Call(method="GET", path=f"/v1/users/{path_segment(user_id)}/events", query=_query(query))


def event(user_id: str, event_id: str, **options: Unpack[Narrowing]) -> Call:
    """`GET /v1/users/{user_id}/events/{event_id}`."""
    path = f"/v1/users/{path_segment(user_id)}/events/{path_segment(event_id)}"
    return Call(method="GET", path=path, query=_query(options))


def delete_event(user_id: str, event_id: str, version: int | None, narrowing: Narrowing) -> Call:
    """`DELETE /v1/users/{user_id}/events/{event_id}`."""
    return replace(event(user_id, event_id, **narrowing), method="DELETE", headers=_if_match(version))


def delete_key(user_id: str, key: str, narrowing: Narrowing) -> Call:
    """`DELETE /v1/users/{user_id}/keys/{key}`."""
    path = f"/v1/users/{path_segment(user_id)}/keys/{path_segment(key)}"
    return Call(method="DELETE", path=path, query=_query(narrowing))


def conversations(user_id: str, limit: int | None) -> Call:
    """`GET /v1/users/{user_id}/conversations`, the first page."""
    return Call(method="GET", path=f"/v1/users/{path_segment(user_id)}/conversations", query=_query({"limit": limit}))


def save_memory(user_id: str, content: str, idempotency_key: str | None, **options: Unpack[MemoryOptions]) -> Call:
    """`POST /v1/memories`, with a key of its own, so that it can be tried again."""
    body = present({"user_id": user_id, "content": content, **options})
    headers = {"Idempotency-Key": idempotency_key or uuid4().hex}
    return Call(method="POST", path="/v1/memories", body=body, headers=headers)


def memories(user_id: str, **options: Unpack[MemoryListOptions]) -> Call:
    """`GET /v1/users/{user_id}/memories`, the first page."""
    return Call(method="GET", path=f"/v1/users/{path_segment(user_id)}/memories", query=_query(options))


def memory(user_id: str, memory_id: str, narrowing: Narrowing, part: str = "") -> Call:
    """`GET /v1/users/{user_id}/memories/{memory_id}`, or a part of it."""
    path = f"/v1/users/{path_segment(user_id)}/memories/{path_segment(memory_id)}{part}"
    return Call(method="GET", path=path, query=_query(narrowing))


def patch_memory(
    user_id: str, memory_id: str, changes: Mapping[str, Any], version: int | None, narrowing: Narrowing
) -> Call:
    """`PATCH /v1/users/{user_id}/memories/{memory_id}`; without a version whatever it is. None clears `expires_at`."""
    headers = {"If-Match": "*"} if version is None else _if_match(version)
    body = {name: plain(value) for name, value in changes.items()}
    return replace(memory(user_id, memory_id, narrowing), method="PATCH", body=body, headers=headers)


def delete_memory(user_id: str, memory_id: str, version: int | None, narrowing: Narrowing) -> Call:
    """`DELETE /v1/users/{user_id}/memories/{memory_id}`."""
    return replace(memory(user_id, memory_id, narrowing), method="DELETE", headers=_if_match(version))


def feedback(user_id: str, positive: bool, mode: str) -> Call:
    """`POST /v1/feedback`."""
    return Call(method="POST", path="/v1/feedback", body={"user_id": user_id, "positive": positive, "mode": mode})


def search(user_id: str, query: str | None, **options: Unpack[SearchOptions]) -> Call:
    """`POST /v1/search`."""
    return Call(method="POST", path="/v1/search", body=present({"user_id": user_id, "query": query, **options}))


def context(user_id: str, text: str, **options: Unpack[ContextOptions]) -> Call:
    """`POST /v1/context`."""
    return Call(method="POST", path="/v1/context", body=present({"user_id": user_id, "input": text, **options}))


def turn(
    user_id: str, text: str, idempotency_key: str | None, timeout_seconds: float, **options: Unpack[TurnOptions]
) -> Call:
    """`POST /v1/turns`, with a key of its own, so that a try again goes on where the first one stopped."""
    return Call(
        method="POST",
        path="/v1/turns",
        body=present({"user_id": user_id, "input": text, **options}),
        headers={"Idempotency-Key": idempotency_key or uuid4().hex},
        timeout_seconds=timeout_seconds,
    )


def tool_calls(text: str, idempotency_key: str | None, **options: Unpack[ToolCallOptions]) -> Call:
    """`POST /v1/tool-calls`, with a key of its own, so that it can be tried again."""
    headers = {"Idempotency-Key": idempotency_key or uuid4().hex}
    return Call(method="POST", path="/v1/tool-calls", body=present({"text": text, **options}), headers=headers)


def bus(event_type: str | None, after: str | None) -> Call:
    """`GET /v1/bus`."""
    return Call(method="GET", path="/v1/bus", query=_query({"type": event_type, "after": after}))


def put_rules(document: Mapping[str, Any], version: str | None) -> Call:
    """`PUT /v1/rules`; `null` in the document is a value of its own, and stays."""
    headers = {} if version is None else {"If-Match": f'"{version}"'}
    return Call(method="PUT", path="/v1/rules", body=dict(document), headers=headers)


def knowledge(namespace: str | None, limit: int | None) -> Call:
    """`GET /v1/knowledge`, or of one namespace, the first page."""
    path = "/v1/knowledge" if namespace is None else f"/v1/knowledge/{path_segment(namespace)}"
    return Call(method="GET", path=path, query=_query({"limit": limit}))


def knowledge_prompt(store: str | None) -> Call:
    """`GET /v1/knowledge?format=prompt`."""
    return Call(method="GET", path="/v1/knowledge", query=_query({"format": "prompt", "store": store}))


def knowledge_entry(namespace: str, key: str) -> Call:
    """`GET /v1/knowledge/{namespace}/{key}`."""
    return Call(method="GET", path=f"/v1/knowledge/{path_segment(namespace)}/{path_segment(key)}")


def put_knowledge(namespace: str, key: str, value: Any, version: int | None) -> Call:
    """`PUT /v1/knowledge/{namespace}/{key}`."""
    entry = knowledge_entry(namespace, key)
    return replace(entry, method="PUT", body={"value": plain(value)}, headers=_if_match(version))


def delete_knowledge(namespace: str, key: str, version: int | None) -> Call:
    """`DELETE /v1/knowledge/{namespace}/{key}`."""
    return replace(knowledge_entry(namespace, key), method="DELETE", headers=_if_match(version))


def resolve(text: str, store: str, filter_text: str | None, comments: str | None) -> Call:
    """`POST /v1/knowledge/resolve`."""
    body = present({"text": text, "store": store, "filter": filter_text, "comments": comments})
    return Call(method="POST", path="/v1/knowledge/resolve", body=body)


def learn(text: str, store: str | None, dry_run: bool, idempotency_key: str | None) -> Call:
    """`POST /v1/knowledge/learn`, with a key of its own, so that it can be tried again."""
    body = present({"text": text, "store": store, "dry_run": dry_run})
    headers = {"Idempotency-Key": idempotency_key or uuid4().hex}
    return Call(method="POST", path="/v1/knowledge/learn", body=body, headers=headers)


def summaries(user_id: str, persona_id: str | None, limit: int | None) -> Call:
    """`GET /v1/users/{user_id}/summaries`, the first page."""
    path = f"/v1/users/{path_segment(user_id)}/summaries"
    return Call(method="GET", path=path, query=_query({"persona_id": persona_id, "limit": limit}))


def summarize(user_id: str, persona_id: str | None, force: bool, idempotency_key: str | None) -> Call:
    """`POST /v1/users/{user_id}/summaries`, with a key of its own, so that it can be tried again."""
    query = _query({"persona_id": persona_id, "force": "true" if force else None})
    headers = {"Idempotency-Key": idempotency_key or uuid4().hex}
    return Call(method="POST", path=f"/v1/users/{path_segment(user_id)}/summaries", query=query, headers=headers)


def goals(user_id: str, persona_id: str | None) -> Call:
    """`GET /v1/users/{user_id}/goals`."""
    path = f"/v1/users/{path_segment(user_id)}/goals"
    return Call(method="GET", path=path, query=_query({"persona_id": persona_id}))


def patch_goal(user_id: str, goal_id: str, changes: Mapping[str, Any], version: int | None) -> Call:
    """`PATCH /v1/users/{user_id}/goals/{goal_id}`; without a version whatever it is."""
    path = f"/v1/users/{path_segment(user_id)}/goals/{path_segment(goal_id)}"
    headers = {"If-Match": "*"} if version is None else _if_match(version)
    return Call(method="PATCH", path=path, body=present(changes), headers=headers)


def check_in(user_id: str, goal_id: str, day: Any, status: str, idempotency_key: str | None) -> Call:
    """`POST /v1/users/{user_id}/goals/{goal_id}/check-ins`, with a key of its own."""
    path = f"/v1/users/{path_segment(user_id)}/goals/{path_segment(goal_id)}/check-ins"
    headers = {"Idempotency-Key": idempotency_key or uuid4().hex}
    return Call(method="POST", path=path, body=present({"date": day, "status": status}), headers=headers)


def _if_match(version: int | None) -> dict[str, str]:
    return {} if version is None else {"If-Match": f'"{version}"'}


RULES = Call(method="GET", path="/v1/rules")
HEALTH = Call(method="GET", path="/v1/health")
READY = Call(method="GET", path="/v1/ready", not_ready_is_an_answer=True)
OPENAPI = Call(method="GET", path="/v1/openapi.json")


def present(values: Mapping[str, Any]) -> dict[str, Any]:
    """What is there of the values, as JSON has it."""
    return {name: plain(value) for name, value in values.items() if value is not None}


def _query(values: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(value) for name, value in present(values).items()}


def plain(value: Any) -> Any:
    """The value as JSON has it: times in ISO 8601, arrays of numbers as lists."""
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {name: plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    return value.tolist() if hasattr(value, "tolist") else value
