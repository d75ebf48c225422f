"""The console of a stack: a function that has no rights of its own and asks the API, with the token of whoever looks.

The authorizer takes a token from a header alone, which a browser sends for no page that it opens. So what is opened is
a shell without data (`GET /console…`, without credentials). Its script asks for the pages, at `/console-pages/…`, with
the token, which that tab of the browser keeps. A page is made from calls of the API, at the name of the request.
"""

import json
from urllib.parse import urlencode

import urllib3
from urllib3.exceptions import HTTPError

from recollect.core.errors import Unavailable
from recollect.entrypoints.console.api import Dispatch
from recollect.entrypoints.console.endpoint import PAGE_HEADERS, Console
from recollect.entrypoints.console.rendering import render
from recollect.entrypoints.console.sessions import PATH
from recollect.entrypoints.console.visit import FETCHED, HTML
from recollect.entrypoints.http.credentials import Authenticate
from recollect.entrypoints.http.dispatch import Answer, RequestLog, rendered
from recollect.entrypoints.http.messages import Call, Reply
from recollect.entrypoints.http.problems import reply_to

_LEFT_SECONDS = 1.0
_FORWARDED = ("authorization", "if-match", "idempotency-key")


class ConsoleElsewhere:
    """Answers the shell to everybody, and pages by the API at `base_url`, for whom the authorizer has let through."""

    def __init__(self, authenticate: Authenticate, log: RequestLog) -> None:
        self._authenticate = authenticate
        self._log = log
        self._pool = urllib3.PoolManager(retries=False)
        self._consoles: dict[str, Console] = {}

    def answer(self, call: Call, base_url: str) -> Answer:
        """A page, a file of the console's own, or the shell."""
        if call.path.startswith((f"{FETCHED}/", f"{PATH}/static/")):
            return self._console(base_url).answer(call)
        return rendered(Reply(200, render("shell.html", {}), PAGE_HEADERS, HTML))

    def _console(self, base_url: str) -> Console:
        """One for each name of the API: it has two at most."""
        if base_url not in self._consoles:
            self._consoles[base_url] = Console(over_http(self._pool, base_url), self._authenticate, self._log)
        return self._consoles[base_url]


def over_http(pool: urllib3.PoolManager, base_url: str) -> Dispatch:
    """Asks the routes of a server; one that cannot be reached is a problem like any other. No redirect is followed."""

    def dispatch(call: Call) -> Answer:
        query = f"?{urlencode(call.query)}" if call.query else ""
        headers = {name: call.headers[name] for name in _FORWARDED if name in call.headers}
        if call.body:
            headers["content-type"] = "application/x-ndjson" if call.path.endswith("/import") else "application/json"
        timeout = urllib3.Timeout(total=max(_LEFT_SECONDS, call.remaining_seconds - _LEFT_SECONDS))
        url = f"{base_url}{call.path}{query}"
        try:
            found = pool.request(call.method, url, body=call.body, headers=headers, timeout=timeout, redirect=False)
        except HTTPError:
            return rendered(reply_to(Unavailable("the API does not answer")))
        return Answer(found.status, _named(dict(found.headers)), _problem_of(found.status, found.data.decode()))

    return dispatch


def _named(headers: dict[str, str]) -> dict[str, str]:
    """`Link` as the pages look for it: HTTP/2 has names in lower case."""
    return {name.title(): value for name, value in headers.items()}


def _problem_of(status: int, body: str) -> str:
    """The body; of an answer that is the gateway's own, such as a throttle's, a problem."""
    if status < 400 or body.startswith('{"type"'):
        return body
    return json.dumps({"title": "The API refused this", "status": status, "detail": f"The API answered {status}."})
