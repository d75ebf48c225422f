"""Calls the same routes in both ways: as an HTTP API event to the Lambda handler, and through ASGI to the laptop's."""

import asyncio
import base64
import gzip
import io
import itertools
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, Protocol
from urllib.parse import quote, unquote, urlencode

import httpx

from recollect.app import App
from recollect.entrypoints.http.access_log import AccessLog
from recollect.entrypoints.http.aws import build_handler
from recollect.entrypoints.http.routes import GROUPS
from recollect.entrypoints.http.routing import path_segment
from recollect.entrypoints.http.server import build_asgi

ORIGIN = "http://localhost:8700"
LOCAL_CLAIMS = {"tenant": "local", "scope": "openid recollect/admin"}
CONTEXT: Any = SimpleNamespace(get_remaining_time_in_millis=lambda: 10_000, aws_request_id="request-1")
_names = itertools.count()


@dataclass(frozen=True, slots=True)
class Answered:
    """Status, headers in lower case, and the text."""

    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def json(self) -> Any:
        """The body."""
        return json.loads(self.text)

    @property
    def faults(self) -> set[tuple[tuple[Any, ...], str]]:
        """The problem's errors."""
        return {(tuple(one["loc"]), one["message"]) for one in self.json["errors"]}

    @property
    def locs(self) -> set[tuple[Any, ...]]:
        """Where the problem's errors are."""
        return {loc for loc, _ in self.faults}


class Surface(Protocol):
    """One of the two ways; `lines` are the log lines so far."""

    name: str
    log: io.StringIO

    def send(self, method: str, target: str, body: bytes | None, headers: Mapping[str, str]) -> Answered:
        """Sends a request; `target` is percent-encoded."""


@dataclass
class Cloud:
    """Recorded HTTP API events, format 2.0. The API decodes the path, and hands over the claims of the token."""

    app: App
    claims: Mapping[str, Any] | None = field(default_factory=lambda: LOCAL_CLAIMS)
    scopes: list[str] | None = None
    name: str = "cloud"
    as_base64: bool = False
    source: str = "203.0.113.7"
    log: io.StringIO = field(default_factory=io.StringIO)

    def __post_init__(self) -> None:
        access_log = AccessLog("INFO", self.log, f"cloud-{next(_names)}")
        self._handler = build_handler(self.app, GROUPS, access_log)

    def send(self, method: str, target: str, body: bytes | None, headers: Mapping[str, str]) -> Answered:
        """The function's answer to the event."""
        return self.handle(self.event(method, target, body, headers))

    def handle(self, event: dict[str, Any]) -> Answered:
        """The function's answer to an event that is ready."""
        answer = self._handler(event, CONTEXT)
        lower = {name.lower(): value for name, value in answer["headers"].items()}
        body = base64.b64decode(answer["body"]) if answer["isBase64Encoded"] else answer["body"].encode()
        plain = gzip.decompress(body) if lower.get("content-encoding") == "gzip" else body
        assert answer["isBase64Encoded"] or plain is body
        return Answered(answer["statusCode"], lower, plain.decode())

    def event(self, method: str, target: str, body: bytes | None, headers: Mapping[str, str]) -> dict[str, Any]:
        """As API Gateway makes it of a request."""
        encoded, _, query = target.partition("?")
        path = unquote(encoded)
        context: dict[str, Any] = {
            "http": {"method": method, "path": path, "protocol": "HTTP/1.1", "sourceIp": self.source},
            "requestId": "JKJaXmPLvHcESHA=",
            "routeKey": "$default",
            "stage": "$default",
        }
        if self.claims is not None:
            context["authorizer"] = {"jwt": {"claims": dict(self.claims), "scopes": self.scopes}}
        event = {"version": "2.0", "rawPath": path, "rawQueryString": query, "requestContext": context}
        event["headers"] = {name.lower(): value for name, value in headers.items()}
        return {**event, **self._body(body)}

    def _body(self, body: bytes | None) -> dict[str, Any]:
        if body is None:
            return {"isBase64Encoded": False}
        try:
            plain = None if self.as_base64 else body.decode()
        except UnicodeDecodeError:
            plain = None
        encoded = base64.b64encode(body).decode()
        return {"body": plain if plain is not None else encoded, "isBase64Encoded": plain is None}


class Laptop:
    """The laptop's ASGI application, gate included, as uvicorn calls it."""

    name = "laptop"

    def __init__(self, app: App) -> None:
        self.log = io.StringIO()
        self._asgi = build_asgi(app, log=AccessLog("INFO", self.log, f"laptop-{next(_names)}"))
        self._runner = asyncio.Runner()

    def send(self, method: str, target: str, body: bytes | None, headers: Mapping[str, str]) -> Answered:
        """The server's answer to the request."""
        return self._runner.run(self.send_async(method, target, body, headers))

    async def send_async(self, method: str, target: str, body: bytes | None, headers: Mapping[str, str]) -> Answered:
        """The same, for requests side by side."""
        transport = httpx.ASGITransport(self._asgi)
        url = httpx.URL(ORIGIN).copy_with(raw_path=target.encode())
        async with httpx.AsyncClient(transport=transport) as client:
            encoded = [(name.encode(), value.encode()) for name, value in headers.items()]
            answer = await client.send(client.build_request(method, url, content=body, headers=encoded))
        return Answered(answer.status_code, dict(answer.headers), answer.text)

    def close(self) -> None:
        """Ends the loop."""
        self._runner.close()


@dataclass(frozen=True, slots=True)
class Caller:
    """Short ways to call a surface."""

    surface: Surface

    def post(self, path: str, body: Any, /, **headers: str) -> Answered:
        """A JSON body, or bytes as they are; `x_recollect_now="…"` is the header X-Recollect-Now."""
        return self._send("POST", path, body, headers)

    def put(self, path: str, body: Any, /, **headers: str) -> Answered:
        """As `post`."""
        return self._send("PUT", path, body, headers)

    def patch(self, path: str, body: Any, /, **headers: str) -> Answered:
        """As `post`."""
        return self._send("PATCH", path, body, headers)

    def delete(self, path: str, /, **headers: str) -> Answered:
        """Without a body."""
        return self.surface.send("DELETE", path, None, _headers(headers))

    def twice(self, path: str, body: Any, /, key: str = "once", **headers: str) -> Answered:
        """The answer to a request that is sent twice under a key: the second time it is the first one, replayed."""
        first, again = (self.post(path, body, idempotency_key=key, **headers) for _ in range(2))
        assert (again.status, again.json) == (first.status, first.json)
        assert ("idempotent-replayed" in first.headers, again.headers["idempotent-replayed"]) == (False, "true")
        return first

    def walk(self, path: str, name: str, /, **query: Any) -> list[Any]:
        """All entries of a list, over its pages, which hold no more than `limit` where one is given."""
        found: list[Any] = []
        while True:
            page = self.get(path, query).json
            assert len(page[name]) <= query.get("limit", 200)
            found += page[name]
            if "next_cursor" not in page:
                return found
            query["cursor"] = page["next_cursor"]

    def get(self, path: str, query: Mapping[str, Any] | None = None, /, **headers: str) -> Answered:
        """Query values are encoded; the path is as given."""
        target = f"{path}?{urlencode(query, quote_via=quote)}" if query else path
        return self.surface.send("GET", target, None, _headers(headers))

    def _send(self, method: str, path: str, body: Any, headers: Mapping[str, str]) -> Answered:
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.surface.send(method, path, raw, _headers(headers))

    def add(self, *events: Mapping[str, Any], user: str = "anna", **more: Any) -> Answered:
        """Ingests events of a user."""
        return self.post("/v1/events", {"user_id": user, "events": list(events), **more})

    def added(self, *contents: str, user: str = "anna", **more: Any) -> list[str]:
        """The ids of new events with these contents."""
        answer = self.add(*({"content": content, **more} for content in contents), user=user)
        assert answer.status == 201, answer.text
        return [result["event_id"] for result in answer.json["results"]]

    def timeline(self, user: str = "anna", **query: Any) -> Answered:
        """A page of the user's events."""
        return self.get(f"/v1/users/{quote(path_segment(user), safe='')}/events", query)


def _headers(given: Mapping[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in given.items()}
