"""A request of a browser as the pages see it: ids, fields, the API, and how to answer."""

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any
from urllib.parse import unquote

from recollect.entrypoints.console.api import Api, Refusal
from recollect.entrypoints.console.forms import form_of
from recollect.entrypoints.console.rendering import link, render
from recollect.entrypoints.console.sessions import PATH
from recollect.entrypoints.http.messages import Call, Reply
from recollect.entrypoints.http.routing import Route
from recollect.settings import Principal

HTML = "text/html; charset=utf-8"
FETCHED = "/console-pages"
"""Where the shell's script asks for pages behind an authorizer, which takes no cookie (`elsewhere`)."""
START = "/start"
"""The first page there: a route for all that is below a path needs something below it."""
MOST_BYTES = 85_000
"""Of a page; with the style and scripts, which a browser keeps, 150 KB."""
LEVELS = 8
"""A page that is too heavy is made anew at the next: with shorter previews, from the third on half of each list."""


@dataclass(frozen=True, kw_only=True)
class Visit:
    """Who looks, at what. `form_token` must be in every form; `is_fetched` where a script asked.

    `level`: see LEVELS. `refused`: why the form that was sent is shown again.
    """

    call: Call
    principal: Principal
    api: Api
    form_token: str
    ids: Mapping[str, str] = field(default_factory=dict)
    is_fetched: bool = False
    can_sign_out: bool = False
    level: int = 0
    refused: Refusal | None = None

    def most(self, count: int) -> int:
        """How many of a list are shown, of so many at most; one at least."""
        return max(1, count >> max(0, self.level - 1))

    def letters(self, count: int) -> int:
        """How many characters of a preview are shown, of so many at most."""
        return max(20, count >> 2 * self.level)

    def start(self, name: str, count: int) -> int:
        """Where in a list of so many the page begins, as the address says by that name."""
        asked = self.query.get(name, "")
        return int(asked) if asked in map(str, range(count)) else 0

    @cached_property
    def query(self) -> Mapping[str, str]:
        """The parameters of the address, blank ones left out."""
        return {name: value for name, value in self.call.query if value.strip()}

    @cached_property
    def form(self) -> Mapping[str, str]:
        """The fields that were sent."""
        return form_of(self.call)

    @property
    def problems(self) -> list[str]:
        """Why the form was not taken, for a person to read."""
        return [] if self.refused is None else self.refused.sentences

    def typed(self, name: str, stored: str = "", *target: str) -> str:
        """What a field holds: what was typed where its form is refused; of a page's many, that which is sent there."""
        sent = unquote(self.call.path).removeprefix(FETCHED).removeprefix(PATH)
        is_it = self.refused is not None and (not target or f"{PATH}{sent}" == unquote(link(*target)))
        return self.form.get(name, "") if is_it else stored

    @property
    def in_cloud(self) -> bool:
        """Whether it came through an API of AWS, which bounds requests and answers."""
        return self.call.request_id is not None

    def page(self, template: str, status: int = 200, **values: Any) -> Reply:
        """A page made of a template; of what a form has sent, and cannot be asked again, as much as it may weigh."""
        status = status if self.refused is None else self.refused.status
        if self.call.method == "POST" and self.refused is None:
            return self.fitted(template, status, **values)
        return Reply(status, self._rendered(template, values), content_type=HTML)

    def fitted(self, template: str, status: int = 200, **values: Any) -> Reply:
        """A page of values that stay, made at the first level at which it is not too heavy."""
        for level in range(LEVELS):
            reply = Reply(status, replace(self, level=level)._rendered(template, values), content_type=HTML)
            if is_light(reply):
                break
        return reply

    def _rendered(self, template: str, values: Mapping[str, Any]) -> str:
        whole = {
            "visit": self,
            "ids": self.ids,
            "user_id": self.ids.get("user_id"),
            "once": self.typed("once") or secrets.token_urlsafe(16),
            **values,
        }
        return render(template, whole)

    def go(self, *parts: str, at: str = "", **query: Any) -> Reply:
        """Another page, after something was done; `at` names the element there that is looked at."""
        target = link(*parts, **query) + (f"#{at}" if at else "")
        return Reply(303, "", {"Location": fetched(target) if self.is_fetched else target})


def is_light(reply: Reply) -> bool:
    """Whether it is no page, or one that is not too heavy."""
    return reply.content_type != HTML or len(str(reply.body).encode()) <= MOST_BYTES


def fetched(target: str) -> str:
    """Where a script asks for a page."""
    path, question, query = target.partition("?")
    return f"{FETCHED}{path.removeprefix(PATH) or START}{question}{query}"


View = Callable[[Visit], Reply]


class Views(list[tuple[Route, View]]):
    """The pages of a subject, in the order in which they stand."""

    def get(self, *parts: str) -> Callable[[View], View]:
        """Declares the page at a path below the console's."""
        return self._add("GET", parts)

    def post(self, *parts: str, of: View) -> Callable[[View], View]:
        """Declares what a form `of` a page does; refused, the page is shown again, with what was typed."""

        def declare(view: View) -> View:
            def sent(visit: Visit) -> Reply:
                try:
                    return view(visit)
                except Refusal as refused:
                    return shown_again(of, visit, refused)

            sent.__name__ = view.__name__
            self._add("POST", parts)(sent)
            return view

        return declare

    def _add(self, method: str, parts: tuple[str, ...]) -> Callable[[View], View]:
        path = "/".join((PATH, *parts))

        def declare(view: View) -> View:
            name = view.__name__
            route = Route(method=method, path=path, operation=name, summary=name, handle=_elsewhere)
            self.append((route, view))
            return view

        return declare


def shown_again(page: View, visit: Visit, refused: Refusal) -> Reply:
    """Raises what was refused where the page cannot be shown, or no other try would be taken."""
    if not refused.is_mendable:
        raise refused
    for level in range(LEVELS):
        try:
            reply = page(replace(visit, refused=refused, level=level))
        except Refusal:
            raise refused from None
        if is_light(reply):
            break
    return reply


def _elsewhere(*_: object) -> Reply:
    raise RuntimeError("the console shows its pages itself")
