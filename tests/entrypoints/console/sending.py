"""Forms as a browser has them, sent to a console that asks an API of the test's choice."""

import io
import json
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import urlencode

from entrypoints.console.test_foreign_ids import OWNER
from entrypoints.console.visiting import FORM
from recollect.app import App
from recollect.entrypoints.console.api import Dispatch
from recollect.entrypoints.console.endpoint import Console
from recollect.entrypoints.http.access_log import AccessLog
from recollect.entrypoints.http.dispatch import Answer, Dispatcher
from recollect.entrypoints.http.messages import Call
from recollect.entrypoints.http.routes import GROUPS, routes_of
from recollect.settings import Principal

LOCAL = Principal("local", admin=True)
READS = ("/v1/search", "/v1/merges", "/v1/knowledge/resolve")
TYPED = {
    "own": '{"context": {"recent": 6}}',
    "value": '{"open": "ten"}',
    "confirmed": "anna",
    "importance": "0.25",
    "date": "2025-03-04",
    "winner": "both",
}
"""Where other words would be refused by the page itself."""


@dataclass
class Sent:
    """A form of a page: its fields with what they hold; `typed` are those that somebody sees."""

    action: str
    holds: dict[str, str] = field(default_factory=dict)
    typed: set[str] = field(default_factory=set)

    def filled_in(self) -> dict[str, str]:
        """As somebody sends it who changes every text."""
        said = {name: TYPED.get(name, f"typed & {name}") for name in self.typed if name not in ("status", "words")}
        return {**self.holds, **said}


class _Forms(HTMLParser):
    """The forms of a page that are sent by POST."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[Sent] = []
        self._form: Sent | None = None
        self._text: str | None = None
        self._select = ""

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attributes}
        if tag == "form":
            self._form = Sent(given.get("action", "")) if given.get("method") == "post" else None
            self.found += [self._form] if self._form else []
        name, kind = given.get("name", ""), given.get("type", "")
        if self._form is None:
            return
        if tag == "select":
            self._select = name
            self._form.typed.add(name)
        elif tag == "option" and ("selected" in given or self._select not in self._form.holds):
            self._form.holds.pop(self._select, None)
            self._text = self._select
        elif tag == "textarea" or (tag == "input" and name and kind not in ("checkbox", "radio")):
            self._form.holds[name] = given.get("value", "")
            self._form.typed |= {name} if kind != "hidden" and "hidden" not in given else set()
            self._text = name if tag == "textarea" else None
        elif tag == "input" and name and ("checked" in given or kind == "radio"):
            self._form.typed.add(name)
            self._form.holds |= {name: given["value"]} if "checked" in given else {}

    def handle_endtag(self, tag: str) -> None:
        self._text = None
        self._form = None if tag == "form" else self._form

    def handle_data(self, data: str) -> None:
        if self._text is not None and self._form is not None:
            self._form.holds[self._text] = self._form.holds.get(self._text, "") + data.removeprefix("\n")


def forms_of(page: str) -> list[Sent]:
    parser = _Forms()
    parser.feed(page)
    return parser.found


def through(app: App, dispatch: Dispatch, path: str, fields: dict[str, str], principal: Principal = LOCAL) -> Answer:
    """The console's answer to a form, where it asks the API by `dispatch`."""
    console = Console(dispatch, lambda _: principal, AccessLog("CRITICAL", io.StringIO(), "refusals"))
    headers = {"authorization": "Bearer any", "content-type": FORM}
    return console.answer(Call(method="POST", path=path, headers=headers, body=urlencode(fields).encode()))


def api_of(app: App, principal: Principal = LOCAL) -> Dispatch:
    return Dispatcher(app, routes_of(GROUPS), lambda _: principal, AccessLog("CRITICAL", io.StringIO(), "api")).dispatch


def refusing(app: App, status: int) -> Dispatch:
    """The API, which refuses every write."""
    inner, problem = (
        api_of(app, OWNER),
        {"type": "of-a-test", "title": "No", "status": status, "detail": "Refused by a test."},
    )
    return lambda call: (
        inner(call) if call.method == "GET" or call.path in READS else Answer(status, {}, json.dumps(problem))
    )
