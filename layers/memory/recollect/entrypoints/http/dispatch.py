"""One request from end to end: route, who asks (api.md, *Who*), clock, values, the route's own work, one log line."""

import hmac
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Protocol

from recollect.app import App
from recollect.core.errors import Forbidden, Unauthenticated
from recollect.entrypoints.http.headers import now_of
from recollect.entrypoints.http.messages import VERSION, Call, Reply, Request
from recollect.entrypoints.http.models import DocumentModel, Nothing, RequestModel, answer_text, is_unicode, parse_json
from recollect.entrypoints.http.problems import INVALID, NEEDS_VERSION, TOO_LARGE, Declined, problem, read_as, reply_to
from recollect.entrypoints.http.routing import Route, find_route, path_ids, query_of
from recollect.settings import Principal, Settings

LOCAL = Principal("local", admin=True)
_LONGEST_TENANT = 128

Authenticate = Callable[[Call], Principal]


def token_credentials(settings: Settings) -> Authenticate:
    """The cloud: claims of a JWT. Without any 401, without a tenant in them 403; never an anonymous tenant."""

    def authenticate(call: Call) -> Principal:
        if call.claims is None:
            raise Unauthenticated("no token was checked for this request")
        tenant = checked_tenant(call.claims.get(settings.tenant_claim), "the token names no tenant")
        subject = call.claims.get(settings.subject_claim) if settings.subject_claim else None
        return Principal(tenant, settings.admin_scope in scopes_of(call.claims), subject, bool(settings.subject_claim))

    return authenticate


def checked_tenant(named: object, otherwise: str) -> str:
    """What is named, where it can be a tenant: 1 to 128 characters of Unicode. Raises Forbidden with `otherwise`."""
    if not isinstance(named, str) or not 1 <= len(named) <= _LONGEST_TENANT or not is_unicode(named):
        raise Forbidden(otherwise)
    return named


def scopes_of(claims: Mapping[str, Any]) -> frozenset[str]:
    """The scopes of a token, and the groups that Cognito names in it: its ID tokens have no scopes."""
    return _words(claims.get("scope") or claims.get("scp")) | _words(claims.get("cognito:groups"))


def _words(given: Any) -> frozenset[str]:
    """Of one text or a list; an HTTP API hands a list of a token over as the text "[a b]"."""
    words = given.strip("[]").replace(",", " ").split() if isinstance(given, str) else given
    return frozenset(word for word in words if isinstance(word, str)) if isinstance(words, list) else frozenset()


def key_credentials(settings: Settings) -> Authenticate:
    """The laptop: a key of RECOLLECT_API_KEYS; where none is set, the tenant `local`, admin.

    `Authorization: Bearer` or `Token` (mem0's clients) carries it, or `x-api-key` (LangGraph's).
    """

    def authenticate(call: Call) -> Principal:
        if not settings.api_keys:
            return LOCAL
        principal = _principal_of(_sent_key(call.headers), settings.api_keys)
        if principal is None:
            raise Unauthenticated("the key is unknown")
        return principal

    return authenticate


def _sent_key(headers: Mapping[str, str]) -> str:
    """The key that a request carries. Raises Unauthenticated for none."""
    scheme, _, given = headers.get("authorization", "").partition(" ")
    if scheme.lower() in ("bearer", "token"):
        return given.strip()
    if "x-api-key" not in headers:
        raise Unauthenticated("a key is needed: Authorization: Bearer …")
    return headers["x-api-key"].strip()


def _principal_of(given: str, keys: Mapping[str, Principal]) -> Principal | None:
    """Compares with every key in constant time."""
    sent, found = given.encode("utf-8", "replace"), None
    for key, principal in keys.items():
        if hmac.compare_digest(sent, key.encode("utf-8", "replace")):
            found = principal
    return found


BODY_BYTES = 5_000_000
ANSWER_BYTES = 6_000_000
"""Of a body as Lambda sends it (`sent_bytes`): the whole answer is JSON of 6,291,456 bytes at most."""
_ESCAPED = re.compile(r'[\x00-\x1f"\\]')

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
    """Answers calls for one app over some of its routes; nothing escapes it."""

    def __init__(self, app: App, routes: Sequence[Route], authenticate: Authenticate, log: RequestLog) -> None:
        self._app = app
        self._routes = tuple(routes)
        self._authenticate = authenticate
        self._log = log

    def dispatch(self, call: Call) -> Answer:
        """The answer, whatever happens: an error becomes its problem, an unexpected one a 500 without contents."""
        started = perf_counter()
        seen = _Seen()
        error: Exception | None = None
        try:
            reply = self._reply(call, seen)
            answer = rendered(reply)
        except Exception as caught:  # noqa: BLE001 - the last resort: logged by its type, answered as a problem
            error, reply = caught, reply_to(caught)
            answer = rendered(reply)
        self._log.request(call, seen.route, seen.principal, reply, perf_counter() - started, error)
        return answer

    def _reply(self, call: Call, seen: "_Seen") -> Reply:
        seen.route, segments = find_route(self._routes, call.method, call.path)
        route = seen.route
        seen.principal = principal = self._authenticate(call) if route.needs_credentials else LOCAL
        if route.admin and not principal.admin:
            raise Forbidden("this needs an administrator")
        if len(call.body) > BODY_BYTES:
            raise Declined(TOO_LARGE, f"a body has at most {BODY_BYTES} bytes")
        request = Request(
            principal=principal,
            now=now_of(call.headers, self._app.settings),
            route=route.template,
            path=path_ids(segments),
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
    return read_as(route.body, {} if route.body_optional and not call.body else parse_json(call.body), "body")


def sent_bytes(body: str | bytes) -> int:
    """How long a body is inside of Lambda's JSON: escaped, or in base64 where that is shorter."""
    return _in_base64(body) if isinstance(body, bytes) else min(_in_base64(body), _escaped(body))


def is_sent_in_base64(body: str | bytes) -> bool:
    """Whether that is shorter; bytes always are."""
    return isinstance(body, bytes) or _in_base64(body) < _escaped(body)


def _in_base64(body: str | bytes) -> int:
    return 4 * -(-len(body if isinstance(body, bytes) else body.encode()) // 3)


def _escaped(body: str) -> int:
    """A quote, a backslash and most of the control characters in JSON's texts take two; others, six."""
    return len(body.encode()) + sum(_ESCAPES.get(found, 5) for found in _ESCAPED.findall(body))


def rendered(reply: Reply) -> Answer:
    """The reply as it goes out. One that is too large for Lambda becomes a problem that says how to ask for less."""
    body = reply.body if isinstance(reply.body, str | bytes) else answer_text(reply.body)
    if sent_bytes(body) > ANSWER_BYTES:
        detail = f"the answer would have more than {ANSWER_BYTES} bytes: ask for fewer results or set token_budget"
        return rendered(problem(INVALID, detail))
    return Answer(reply.status, {"Content-Type": reply.content_type, **_STANDARD_HEADERS, **reply.headers}, body)
