"""MCP over HTTP: streamable, without sessions, every answer one JSON document. An ASGI application.

The same credentials as everywhere else; the user is the token's subject, or stands in a header that is set once.
"""

import logging
from collections.abc import Mapping
from contextlib import suppress
from time import perf_counter

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from recollect.app import App
from recollect.core.errors import Forbidden, InvalidInput
from recollect.core.ids import id_fault
from recollect.core.scope import Scope
from recollect.entrypoints.http.access_log import AccessLog
from recollect.entrypoints.http.aws import call_of
from recollect.entrypoints.http.dispatch import Authenticate
from recollect.entrypoints.http.gate import Message, Receive, Send, send_reply
from recollect.entrypoints.http.headers import now_of
from recollect.entrypoints.http.messages import LOCAL_SECONDS, Call, Reply
from recollect.entrypoints.http.problems import WRONG_METHOD, Declined, reply_to
from recollect.entrypoints.http.routing import Route
from recollect.entrypoints.mcp.server import Caller, Context, build_server
from recollect.settings import Principal

PATH = "/mcp"
USER_HEADER = "X-Recollect-User"
PERSONA_HEADER = "X-Recollect-Persona"
_CALLER = "recollect.caller"

logging.getLogger("mcp").setLevel(logging.CRITICAL)  # its lines quote requests; ours tell the same by counts


def _nothing(_app: App, _request: object) -> Reply:
    raise Declined(WRONG_METHOD, "this path speaks MCP")


_ROUTE = Route(method="POST", path=PATH, operation="mcp", summary="MCP", handle=_nothing)


class McpEndpoint:
    """Answers POSTs at any path. `default_user` is meant where neither token nor header names one; empty: nobody."""

    def __init__(self, app: App, authenticate: Authenticate, log: AccessLog, default_user: str = "") -> None:
        self._app = app
        self._authenticate = authenticate
        self._log = log
        self._default_user = default_user
        self._server = build_server(app, _caller_in)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """One request: refused by a problem, or the protocol's answer to it."""
        if scope["type"] != "http":
            return
        started, call = perf_counter(), _call_in(scope)
        principal, error, status = None, None, _StatusOf(send)
        try:
            principal = self._authenticate(call)
            if call.method != "POST":
                raise Declined(WRONG_METHOD, "this path knows POST alone", {"Allow": "POST"})
            scope[_CALLER] = Caller(self._whose(principal, call.headers), now_of(call.headers, self._app.settings))
            await self._serve(scope, receive, status.send)
        except Exception as caught:  # noqa: BLE001 - the last resort, as in the dispatcher: only its type is logged
            error = caught
            if not status.sent:
                await send_reply(reply_to(caught), status.send)
        self._log.request(call, _ROUTE, principal, Reply(status.status, ""), perf_counter() - started, error)

    async def _serve(self, scope: Message, receive: Receive, send: Send) -> None:
        """A manager for each request: it serves one event loop once, and Lambda has a new one at any time."""
        manager = StreamableHTTPSessionManager(self._server, json_response=True, stateless=True)
        async with manager.run():
            await manager.handle_request(scope, receive, send)

    def _whose(self, principal: Principal, headers: Mapping[str, str]) -> Scope:
        """The user of the token, else of the header. Raises Forbidden for another's, InvalidInput for none."""
        named = headers.get(USER_HEADER.lower())
        user = named if named is not None else self._default_user
        if principal.limited_to_subject:
            if named not in (None, principal.subject):
                raise Forbidden("the credentials are another user's")
            user = principal.subject or ""
        persona = headers.get(PERSONA_HEADER.lower())
        for header, value in ((USER_HEADER, user), (PERSONA_HEADER, persona)):
            fault = id_fault(value) if value is not None else None
            if fault is not None:
                raise InvalidInput(fault, ("header", header))
        return Scope(principal.tenant, user, persona)


def _caller_in(context: Context) -> Caller:
    caller = context.request.scope[_CALLER] if context.request is not None else None
    if not isinstance(caller, Caller):
        raise RuntimeError("a request came past the endpoint")
    return caller


def _call_in(scope: Message) -> Call:
    """The request without its body: of an HTTP API's event, where there is one, with the claims in it."""
    event = scope.get("aws.event")
    if event is not None:
        return call_of(event, LOCAL_SECONDS)
    headers = {name.decode("latin-1").lower(): _text(value) for name, value in scope["headers"]}
    return Call(
        method=scope["method"],
        path=scope["path"],
        query=(),
        headers=headers,
        body=b"",
        claims=None,
        remaining_seconds=LOCAL_SECONDS,
    )


def _text(value: bytes) -> str:
    with suppress(UnicodeDecodeError):
        return value.decode()
    return value.decode("latin-1")


class _StatusOf:
    """Sends on, and remembers for the log whether and with which status."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.sent = False
        self.status = 500

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.sent, self.status = True, message["status"]
        await self._send(message)
