"""Every route as a call: what is sent. Sync and async client share this, and nothing here speaks to a network."""

import base64
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Unpack
from uuid import uuid4

from recollect.client.shapes import (
    AnalyzeOptions,
    ContextOptions,
    EventOptions,
    Narrowing,
    NewEvent,
    SearchOptions,
)

_PLAIN_ID = re.compile("[A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request. `body` None sends none; `not_ready_is_an_answer`: a 503 with a JSON body is what was asked for."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    not_ready_is_an_answer: bool = False

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
    body = _present({"user_id": user_id, **narrowing, "conversation_id": conversation_id, "events": list(events)})
    headers = {"Idempotency-Key": idempotency_key or uuid4().hex}
    return Call(method="POST", path="/v1/events", body=body, headers=headers)


def analyze(text: str, **options: Unpack[AnalyzeOptions]) -> Call:
    """`POST /v1/analyze`."""
    return Call(method="POST", path="/v1/analyze", body=_present({"text": text, **options}))


def events(user_id: str, **options: Unpack[EventOptions]) -> Call:
    """`GET /v1/users/{user_id}/events`, the first page."""
    query = {name.rstrip("_"): value for name, value in options.items()}
    return Call(method="GET", path=f"/v1/users/{path_segment(user_id)}/events", query=_query(query))


def event(user_id: str, event_id: str, **options: Unpack[Narrowing]) -> Call:
    """`GET /v1/users/{user_id}/events/{event_id}`."""
    path = f"/v1/users/{path_segment(user_id)}/events/{path_segment(event_id)}"
    return Call(method="GET", path=path, query=_query(options))


def conversations(user_id: str, limit: int | None) -> Call:
    """`GET /v1/users/{user_id}/conversations`, the first page."""
    return Call(method="GET", path=f"/v1/users/{path_segment(user_id)}/conversations", query=_query({"limit": limit}))


def search(user_id: str, query: str | None, **options: Unpack[SearchOptions]) -> Call:
    """`POST /v1/search`."""
    return Call(method="POST", path="/v1/search", body=_present({"user_id": user_id, "query": query, **options}))


def context(user_id: str, text: str, **options: Unpack[ContextOptions]) -> Call:
    """`POST /v1/context`."""
    return Call(method="POST", path="/v1/context", body=_present({"user_id": user_id, "input": text, **options}))


def bus(event_type: str | None, after: str | None) -> Call:
    """`GET /v1/bus`."""
    return Call(method="GET", path="/v1/bus", query=_query({"type": event_type, "after": after}))


HEALTH = Call(method="GET", path="/v1/health")
READY = Call(method="GET", path="/v1/ready", not_ready_is_an_answer=True)
OPENAPI = Call(method="GET", path="/v1/openapi.json")


def _present(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _plain(value) for name, value in values.items() if value is not None}


def _query(values: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(value) for name, value in _present(values).items()}


def _plain(value: Any) -> Any:
    """The value as JSON has it: times in ISO 8601, arrays of numbers as lists."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return value.tolist() if hasattr(value, "tolist") else value
