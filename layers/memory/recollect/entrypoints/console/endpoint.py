"""The console's door: who looks, whether a form is this browser's, which page, and what is said of an error."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import import_module
from time import perf_counter
from typing import Self
from urllib.parse import quote, urlencode, urlsplit

from recollect.app import App
from recollect.core.errors import Forbidden, Unauthenticated
from recollect.entrypoints.console.api import Api, Dispatch, Refusal
from recollect.entrypoints.console.assets import asset
from recollect.entrypoints.console.forms import form_of
from recollect.entrypoints.console.rendering import compile_templates
from recollect.entrypoints.console.sessions import PATH, Session
from recollect.entrypoints.console.views.data import NDJSON
from recollect.entrypoints.console.visit import (
    FETCHED,
    LEVELS,
    START,
    View,
    Views,
    Visit,
    is_light,
)
from recollect.entrypoints.http.credentials import Authenticate
from recollect.entrypoints.http.dispatch import Answer, Dispatcher, RequestLog, rendered
from recollect.entrypoints.http.messages import Call, Reply
from recollect.entrypoints.http.problems import reply_to
from recollect.entrypoints.http.routes import GROUPS, routes_of
from recollect.entrypoints.http.routing import Route, find_route, path_ids
from recollect.entrypoints.http.warm_up import USER as NOBODY_ID
from recollect.entrypoints.http.warm_up import as_nobody, unheard_log
from recollect.settings import Principal

_SUBJECTS = ("users", "memories", "asking", "decisions", "derived", "data", "imports", "tenant", "operations")
_SENT_ON = ("authorization", "x-api-key", "host", "origin", "x-recollect-now", "x-recollect-tenant")
"""The headers of a browser's request that the API sees: versions and idempotency are the pages' own matter."""
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
PAGE_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "Referrer-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
}
_OF_NOBODY = ("", "/timeline", "/decisions", "/summaries", "/data", "/erase", "/ask", "/memories/none")
_PRIMED = ("", *(f"/users/{NOBODY_ID}{one}" for one in _OF_NOBODY), "/operations", "/knowledge", "/rules")
_STALE = "The form was not made for this browser, or is too old. Go back, load the page again, and repeat it."
_TOO_LONG = "What was asked for is longer than a page may be. The API has it."
_NOT_SHOWN_AGAIN = "It was not taken, and is longer than a page may be. Go back: the form there still has it."
_STAYS = {"HX-Reswap": "none ignoreTitle:true", "HX-Trigger": '{"too-long": "It was not taken. Make it shorter."}'}
"""In the shell the page that is there stays, with what was typed, and its script tells this."""
_ELSEWHERE = "The request came from another site."


def views() -> Views:
    """All pages."""
    declared = [import_module(f"recollect.entrypoints.console.views.{one}").views for one in _SUBJECTS]
    return Views([page for subject in declared for page in subject])


class Console:
    """Answers requests at `/console` for one app, by the credentials that the API takes; nothing escapes it."""

    def __init__(
        self,
        dispatch: Dispatch,
        authenticate: Authenticate,
        log: RequestLog,
        *,
        has_keys: bool = False,
    ) -> None:
        """`dispatch` asks the API. `has_keys`: people sign in with a key of this server."""
        self._dispatch = dispatch
        self._authenticate = authenticate
        self._log = log
        self._has_keys = has_keys
        declared = views()
        self._views = {id(route): view for route, view in declared}
        self._routes = [route for route, _ in declared]

    @classmethod
    def over(cls, app: App, authenticate: Authenticate, log: RequestLog) -> Self:
        """That of a process which has the whole app."""
        dispatch = Dispatcher(app, routes_of(GROUPS), authenticate, log).dispatch
        return cls(dispatch, authenticate, log, has_keys=app.settings.has_keys)

    def answer(self, call: Call) -> Answer:
        """The page, or what is said of an error, with a line in the log."""
        started = perf_counter()
        seen: list[Route] = []
        session, error = Session.of(call.headers), None
        principal: Principal | None = None
        try:
            principal = self._principal_of(call, session)
            reply = self._reply(call, session, principal, seen)
        except Exception as caught:  # noqa: BLE001 - the last resort, as in the dispatcher: only its type is logged
            error = caught
            reply = self._explained(caught, call, session, principal)
        fixed = {**PAGE_HEADERS, **_pushed(call), **self._kept(call, session, reply)}
        reply = replace(reply, headers={**fixed, **reply.headers})
        self._log.request(call, seen[0] if seen else None, principal, reply, perf_counter() - started, error)
        return _whole(reply) if reply.content_type == NDJSON else rendered(reply)

    def _reply(self, call: Call, session: Session, principal: Principal | None, seen: list[Route]) -> Reply:
        path = _page_path(call.path)
        if path.startswith(f"{PATH}/static/"):
            return asset(path.removeprefix(f"{PATH}/static/"), call)
        _check_origin(call)
        if call.method == "POST":
            self._check_form(call, session)
        if path in (f"{PATH}/sign-in", f"{PATH}/sign-out") and call.method == "POST":
            return self._signed_in(call) if path.endswith("in") else _signed_out()
        visit = self._visit(call, session, principal)
        if principal is None:
            return visit.page("sign_in.html", 401, wrong=False)
        route, segments = find_route(self._routes, replace(call, path=path.rstrip("/")))
        seen.append(route)
        return _light(self._views[id(route)], self._visit(call, session, principal, path_ids(segments)))

    def _visit(
        self, call: Call, session: Session, principal: Principal | None, ids: Mapping[str, str] | None = None
    ) -> Visit:
        headers = {name: call.headers[name] for name in _SENT_ON if name in call.headers}
        headers |= self._credentials(session)
        known = principal or Principal("")
        return Visit(
            call=call,
            principal=known,
            api=Api(self._dispatch, replace(call, headers=headers), known),
            form_token=session.form_token,
            ids=ids or {},
            is_fetched=call.path.startswith(f"{FETCHED}/"),
            can_sign_out=bool(self._credentials(session)),
        )

    def _credentials(self, session: Session) -> dict[str, str]:
        """The header of the key that somebody has signed in with, where this server has keys."""
        return {"authorization": f"Bearer {session.key}"} if self._has_keys and session.key is not None else {}

    def _principal_of(self, call: Call, session: Session) -> Principal | None:
        """Who asks; None for nobody who is known."""
        try:
            return self._authenticate(replace(call, headers={**call.headers, **self._credentials(session)}))
        except Unauthenticated:
            return None

    def _check_form(self, call: Call, session: Session) -> None:
        """Raises Forbidden where another site may have sent it: only a header's credentials come by no form."""
        if call.is_authorized or "authorization" in call.headers:
            return
        if not session.accepts(form_of(call).get("form_token", "")):
            raise Forbidden(_STALE)

    def _signed_in(self, call: Call) -> Reply:
        given = form_of(call).get("key", "").strip()
        session = Session.signed_in(given)
        if self._principal_of(call, session) is None:
            return self._visit(call, Session.of(call.headers), None).page("sign_in.html", 401, wrong=True)
        return Reply(303, "", {"Location": PATH, "Set-Cookie": session.cookie(secure=_is_secure(call))})

    def _kept(self, call: Call, session: Session, reply: Reply) -> Mapping[str, str]:
        """The cookie of a session that begins, with the page whose forms are made for it."""
        if not session.is_new or not reply.content_type.startswith("text/html") or call.is_authorized:
            return {}
        return {"Set-Cookie": session.cookie(secure=_is_secure(call))}

    def _explained(self, error: Exception, call: Call, session: Session, principal: Principal | None) -> Reply:
        """A page of the problem that the API would answer."""
        if not isinstance(error, Refusal):
            reply = reply_to(error)
            body = reply.body if isinstance(reply.body, Mapping) else {}
            error = Refusal(reply.status, body)
        visit = self._visit(call, session, principal)
        if error.status == 401:
            return visit.page("sign_in.html", 401, wrong=False)
        return visit.page("problem.html", error.status, problem=error.problem, sentences=error.sentences)


def _light(view: View, visit: Visit) -> Reply:
    """What a view answers; of a page that is too heavy as much as it may weigh. A form is sent once."""
    for level in range(LEVELS if visit.call.method == "GET" else 1):
        reply = view(replace(visit, level=level))
        if is_light(reply):
            return reply
    told = _TOO_LONG if visit.call.method == "GET" else _NOT_SHOWN_AGAIN
    page = visit.page("problem.html", reply.status, problem={"title": "This page would be too long"}, sentences=[told])
    return replace(page, headers=_STAYS) if visit.is_fetched and visit.call.method == "POST" else page


def prime(app: App, is_wanted: Callable[[], bool]) -> list[int]:
    """Does what the first visit of a page would wait for: templates, and the modules and models behind its calls.

    It reads as `NOBODY`, writes nothing, and ends early where it is not wanted any more. The statuses of the pages.
    """
    compile_templates(is_wanted)
    console = Console.over(app, as_nobody, unheard_log(app.settings.log_level))
    return [console.answer(Call(method="GET", path=f"{PATH}{path}")).status for path in _PRIMED if is_wanted()]


def _page_path(path: str) -> str:
    """The page that is meant: what a script asks for stands at another path."""
    return PATH + path.removeprefix(FETCHED).removesuffix(START) if path.startswith(f"{FETCHED}/") else path


def _pushed(call: Call) -> dict[str, str]:
    """Which address the browser shows of a page that its script has asked for; not of a part that is asked again."""
    if call.method != "GET" or not call.path.startswith(f"{FETCHED}/") or "hx-boosted" not in call.headers:
        return {}
    query = f"?{urlencode(call.query)}" if call.query else ""
    return {"HX-Push-Url": quote(_page_path(call.path)) + query}


def _whole(reply: Reply) -> Answer:
    """An export as it is: a server of one's own has no bound on an answer."""
    return Answer(reply.status, {"Content-Type": NDJSON, "Cache-Control": "no-store", **reply.headers}, str(reply.body))


def _signed_out() -> Reply:
    cookie = Session.begun().cookie(secure=False)
    return Reply(303, "", {"Location": PATH, "Set-Cookie": cookie})


def _check_origin(call: Call) -> None:
    """Raises Forbidden for what another site's page sends (Fetch metadata; RFC 6454, 7)."""
    if call.method == "GET" and call.headers.get("sec-fetch-mode", "navigate") == "navigate":
        return
    origin = call.headers.get("origin")
    foreign = origin is not None and urlsplit(origin).netloc != call.headers.get("host", "")
    if foreign or call.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise Forbidden(_ELSEWHERE)


def _is_secure(call: Call) -> bool:
    return call.headers.get("x-forwarded-proto", "") == "https"
