"""What a browser test does by links and forms, as the console's routes name it, and all that there is to do."""

from collections.abc import Iterable, Iterator
from html.parser import HTMLParser
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest
from playwright.sync_api import BrowserContext, Request

from recollect.core.errors import RecollectError
from recollect.entrypoints.console.endpoint import views
from recollect.entrypoints.console.sessions import PATH
from recollect.entrypoints.console.visit import FETCHED
from recollect.entrypoints.http.messages import Call
from recollect.entrypoints.http.problems import Declined
from recollect.entrypoints.http.routing import Route, find_route

ROUTES = [route for route, _ in views()]
_TOLD = "sent: "
_TELL = """document.addEventListener("htmx:configRequest", ({ detail }) => {
  const filled = [...detail.formData].filter(([_, value]) => value instanceof File ? value.size : value);
  console.debug("sent: " + [detail.verb, detail.path, ...filled.map(([name]) => name)].join(" "));
});"""
"""Playwright has no body of a request with a file: the page tells which fields it sends."""


def action(method: str, path: str) -> str:
    """The route behind a path of the console, as `GET /users/{user_id}`."""
    try:
        route, _ = find_route(ROUTES, Call(method=method, path=path))
    except (RecollectError, Declined):
        return f"{method} {path}"
    return of_route(route)


def of_route(route: Route) -> str:
    return f"{route.method} {route.path.removeprefix(PATH) or '/'}"


def drives(*actions: str) -> pytest.MarkDecorator:
    """Says that a test sends these by a link or a form: routes, and fields of forms; it fails where it does not."""
    return pytest.mark.drives(*actions)


class Driven:
    """The requests of a context that a page has sent: what is merely opened by its address is not among them."""

    def __init__(self, context: BrowserContext) -> None:
        self._requests: list[Request] = []
        self._files: set[str] = set()
        context.on("request", lambda request: self._requests.append(request))
        context.add_init_script(_TELL)
        context.on("page", lambda page: page.on("download", lambda file: self._files.add(_download(file.url))))
        context.on("console", lambda message: self._hear(message.text))

    def actions(self) -> set[str]:
        """Each route, and each field of a form that was filled in."""
        sent = [one for one in self._requests if "referer" in one.all_headers()]
        return {done for one in sent for done in self._of(one)} | self._files

    def check(self, node: pytest.Item) -> None:
        """That a test has sent what it says that it drives."""
        said = {one for mark in node.iter_markers("drives") for one in mark.args}
        missing = sorted(said - self.actions())
        assert not missing, f"the browser has not sent {missing}"

    def _hear(self, text: str) -> None:
        if text.startswith(_TOLD):
            verb, path, *names = text.removeprefix(_TOLD).split()
            self._files |= {f"{action(verb.upper(), unquote(path))}?{name}" for name in names}

    def _of(self, request: Request) -> Iterator[str]:
        parts = urlsplit(request.url)
        path = unquote(parts.path)
        named = action(request.method, PATH + path.removeprefix(FETCHED) if path.startswith(FETCHED) else path)
        yield named
        for name in _fields(request, parts.query):
            yield f"{named}?{name}"


def _download(url: str) -> str:
    return action("GET", unquote(urlsplit(url).path))


def _fields(request: Request, query: str) -> Iterable[str]:
    body = b"" if "multipart" in request.headers.get("content-type", "") else request.post_data_buffer or b""
    pairs = parse_qsl(query if request.method == "GET" else body.decode())
    return [name for name, value in pairs if value]


def forms_of(path: str, page: str) -> set[str]:
    """The fields of the forms of a page, of which a browser sends what somebody fills in."""
    found = _Forms(path)
    found.feed(page)
    return found.fields


class _Forms(HTMLParser):
    """Reads fields with the route that their form is sent to."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self._path, self._form = path.partition("?")[0], ""
        self._named: dict[str, str] = {}
        self._found: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        if tag == "form":
            target = unquote((given.get("action") or self._path).partition("?")[0])
            self._form = action((given.get("method") or "get").upper(), target)
            self._named[given.get("id") or ""] = self._form
        elif tag in ("input", "textarea", "select", "button") and given.get("name") and _is_filled_in(given):
            self._found.append((given.get("form") or "", f"{self._form}?{given['name']}"))

    def handle_endtag(self, tag: str) -> None:
        self._form = "" if tag == "form" else self._form

    @property
    def fields(self) -> set[str]:
        """Of the whole page: a field may stand before the form that it is of."""
        return {f"{self._named[form]}?{one.partition('?')[2]}" if form else one for form, one in self._found}


def _is_filled_in(given: dict[str, str | None]) -> bool:
    return given.get("type") != "hidden" and "hidden" not in given
