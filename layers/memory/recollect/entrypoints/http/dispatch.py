"""One request from end to end: route, who asks, clock, values, the route's own work, one log line."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Protocol

from recollect.app import App
from recollect.core.errors import Forbidden
from recollect.entrypoints.http.credentials import LOCAL, Authenticate
from recollect.entrypoints.http.headers import now_of
from recollect.entrypoints.http.messages import VERSION, Call, Reply, Request
from recollect.entrypoints.http.models import DocumentModel, Nothing, RequestModel, answer_text, parse_json
from recollect.entrypoints.http.problems import INVALID, NEEDS_VERSION, TOO_LARGE, Declined, problem, read_as, reply_to
from recollect.entrypoints.http.routing import ANSWER_BYTES, Route, find_route, path_ids, query_of
from recollect.settings import Principal

_ESCAPED = re.compile(r'[\x00-\x1f"\\]')

_NOTHING = (b"", b"null")
_ESCAPES = dict.fromkeys('"\\\b\f\n\r\t', 1)
_STANDARD_HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}


@dataclass(frozen=True, slots=True)
class Answer:
    """What goes out: status, headers, and a text or bytes."""

    status: int
    headers: Mapping[str, str]
    body: str | bytes


class RequestLog(Protocol):
    """Writes a line about each request, without texts, ids of clients, or tokens."""

    def request(
        self,
        call: Call,
        route: Route | None,
        principal: Principal | None,
        reply: Reply,
        seconds: float,
        error: Exception | None,
        /,
    ) -> None:
        """How the request was answered; route and principal as far as they were found."""


class Dispatcher:
    """Answers calls for one app over some of its routes; nothing escapes it.

    On a server of one's own, `large` bodies and answers pass where a route's wire wants them.
    """

    def __init__(
        self, app: App, routes: Sequence[Route], authenticate: Authenticate, log: RequestLog, *, large: bool = False
    ) -> None:
        self._app = app
        self._routes = tuple(routes)
        self._authenticate = authenticate
        self._log = log
        self._large = large

    def dispatch(self, call: Call) -> Answer:
        """The answer, whatever happens: an error becomes its problem, an unexpected one a 500 without contents."""
        started = perf_counter()
        seen = _Seen()
        error: Exception | None = None
        try:
            reply = self._reply(call, seen)
            answer = rendered(reply, seen.route.wire.answer_bytes if seen.route and self._large else ANSWER_BYTES)
        except Exception as caught:  # noqa: BLE001 - the last resort: logged by its type, answered as a problem
            error, reply = caught, (seen.route.wire.refusal if seen.route else reply_to)(caught)
            answer = rendered(reply)
        self._log.request(call, seen.route, seen.principal, reply, perf_counter() - started, error)
        self._app.usage.write_due()
        return answer

    def _reply(self, call: Call, seen: "_Seen") -> Reply:
        seen.route, segments = find_route(self._routes, call)
        route = seen.route
        seen.principal = principal = self._authenticate(call) if route.needs_credentials else LOCAL
        if route.admin and not principal.admin:
            raise Forbidden("this needs an administrator")
        most = route.wire.body_bytes if self._large else route.wire.stack_body_bytes
        if len(call.body) > most:
            raise Declined(TOO_LARGE, f"a body has at most {most} bytes")
        request = Request(
            principal=principal,
            now=now_of(call.headers, self._app.settings),
            route=route.template,
            path=segments if route.wire.encoded_ids else path_ids(segments),
            query=query_of(call.query, route.query or Nothing),
            body=_body_of(route, call),
            call=call,
        )
        if route.needs_version and not request.names_version:
            raise Declined(NEEDS_VERSION, f"{VERSION} is missing: an ETag of the object, or *")
        return route.handle(self._app, request)


@dataclass(slots=True)
class _Seen:
    """How far a request has come: for the log line."""

    route: Route | None = None
    principal: Principal | None = None


def _body_of(route: Route, call: Call) -> RequestModel | DocumentModel | None:
    if route.body is None:
        return None
    nothing = route.body_optional and call.body.strip() in _NOTHING
    return read_as(route.body, {} if nothing else parse_json(call.body), "body")


def is_sent_within(body: str | bytes, most: int) -> bool:
    """Whether a body has at most so many bytes inside of Lambda's JSON: in base64, else escaped, which takes longer."""
    return _in_base64(body) <= most or (isinstance(body, str) and _escaped(body) <= most)


def is_sent_in_base64(body: str | bytes) -> bool:
    """Whether that is shorter; bytes always are."""
    return isinstance(body, bytes) or _in_base64(body) < _escaped(body)


def _in_base64(body: str | bytes) -> int:
    return 4 * -(-len(body if isinstance(body, bytes) else body.encode()) // 3)


def _escaped(body: str) -> int:
    """A quote, a backslash and most of the control characters in JSON's texts take two; others, six."""
    return len(body.encode()) + sum(_ESCAPES.get(found, 5) for found in _ESCAPED.findall(body))


def rendered(reply: Reply, most: int = ANSWER_BYTES) -> Answer:
    """The reply as it goes out. One that is too large becomes a problem that says how to ask for less."""
    body = reply.body if isinstance(reply.body, str | bytes) else answer_text(reply.body)
    if not is_sent_within(body, most):
        detail = f"the answer would have more than {most} bytes: ask for fewer results or set token_budget"
        return rendered(problem(INVALID, detail))
    return Answer(reply.status, {"Content-Type": reply.content_type, **_STANDARD_HEADERS, **reply.headers}, body)
