"""Every page and form that takes an object's id: to whom it does not belong it is absent, and nothing is changed."""

import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

import pytest

from entrypoints.cli.running import left_open
from entrypoints.console.visiting import FORM
from entrypoints.http.conftest import opened
from recollect.app import App
from recollect.core.scope import Scope
from recollect.entrypoints.console.api import Api, user_path
from recollect.entrypoints.console.endpoint import Console, views
from recollect.entrypoints.http.access_log import AccessLog
from recollect.entrypoints.http.credentials import Authenticate
from recollect.entrypoints.http.dispatch import Answer, Dispatcher
from recollect.entrypoints.http.messages import Call
from recollect.entrypoints.http.routes import GROUPS, routes_of
from recollect.settings import Principal

OWNER = Principal("acme", admin=True)
STRANGERS = {
    "another tenant": (Principal("other", admin=True), "anna"),
    "another user of the tenant": (OWNER, "bert"),
    "who speaks for another user": (Principal("acme", subject="bert", limited_to_subject=True), "anna"),
}
"""Who asks, and below which user's path."""
NAMES = {"user_id", "kind", "namespace", "key"}
"""Parts of a path that are no id of an object."""
OBJECTS = sorted(
    (route.method, route.path)
    for route, _ in views()
    if set(re.findall(r"{(\w+)}", route.path)) - NAMES and not route.path.endswith("{record_id}")
)
"""All of them; a record's address only leads on to a memory's or an event's."""
FIELDS = {
    "version": "1", "content": "mine", "goal": "mine", "status": "completed", "date": "2025-03-04", "once": "mine-1",
    "winner": "both", "reject": "true",
}  # fmt: skip
_ID = "018f0000-0000-7000-8000-000000000000"
_SINGLE = ("event_id", "memory_id", "goal_id", "rejection_id", "job_id", "erasure_id")
NOTHING = {
    **dict.fromkeys(_SINGLE, _ID),
    **dict.fromkeys(("conflict_id", "decision_id", "reverted_id"), f"{_ID}.{_ID}"),
    "version": "1",
}
"""Ids of nothing at all."""
WORDS = ("Lyon", "marathon", "my sister", "nine to five")
LISTS = ("", "?q=live", "/timeline", "/decisions", "/summaries", "/data", "/erase", "/export", "/ask?q=Where+do+I+live")


@dataclass(frozen=True, slots=True)
class Kept:
    """A store with one object of each sort, and their ids by their names in paths."""

    app: App
    ids: Mapping[str, str]

    def ask(self, principal: Principal, method: str, path: str) -> Answer:
        """The console's answer; a form has fields that would do for the owner."""
        console = Console.over(self.app, _as(principal), AccessLog("ERROR", io.StringIO(), "foreign"))
        headers = {"authorization": "Bearer any", "content-type": FORM}
        place, _, query = path.partition("?")
        pairs = [tuple(one.split("=")) for one in query.split("&") if one]
        body = urlencode(FIELDS).encode() if method == "POST" else b""
        return console.answer(Call(method=method, path=place, query=pairs, headers=headers, body=body))  # type: ignore[arg-type]

    def api(self) -> Api:
        """The owner's calls of the API."""
        dispatch = Dispatcher(
            self.app, routes_of(GROUPS), _as(OWNER), AccessLog("ERROR", io.StringIO(), "owner")
        ).dispatch
        return Api(dispatch, Call(method="GET", path="/"), OWNER)

    def owned(self) -> str:
        """All that the owner has."""
        return str(self.ask(OWNER, "GET", "/console/users/anna/export").body)


def _as(principal: Principal) -> Authenticate:
    return lambda _call: principal


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kept]:
    with opened(tmp_path_factory.mktemp("foreign")) as app:
        yield Kept(app, filled(app))


def filled(app: App, user_id: str = "anna") -> dict[str, str]:
    """The ids of what a user has."""
    api = Kept(app, {}).api()

    def said(*texts: str, user: str = user_id) -> list[str]:
        events = {"user_id": user, "events": [{"content": text} for text in texts]}
        return [one["event_id"] for one in api.post("/v1/events", events)["results"]]

    def remembered(text: str) -> str:
        return str(api.post("/v1/memories", {"user_id": user_id, "content": text})["id"])

    event, smoking = said("My goal is to run a marathon.", "I smoke")
    api.post(user_path(user_id, "summaries"), force="true")
    api.send("DELETE", user_path(user_id, "events", smoking), query={"reject": "true"})
    memory, newer = remembered("I live in Lyon"), remembered("Ada is my aunt")
    settled, conflict, reverted = (
        left_open(app, older, newer, Scope("acme", user_id))
        for older in (memory, remembered("Ada is my sister"), remembered("Ada is my cousin"))
    )
    api.post(user_path(user_id, "conflicts", reverted, "resolve"), {"winner": newer})
    api.post(user_path(user_id, "arbitrations", reverted, "revert"))
    api.post(user_path(user_id, "conflicts", settled, "resolve"), {"winner": memory})
    api.send("PUT", "/v1/knowledge/notes/hours", {"value": {"open": "nine to five"}})
    said("I was here", user="zoe")
    return {
        "event_id": event,
        "memory_id": memory,
        "version": "1",
        "conflict_id": conflict,
        "decision_id": api.get(user_path(user_id, "arbitrations"), status="applied")["arbitrations"][0]["id"],
        "reverted_id": reverted,
        "goal_id": api.get(user_path(user_id, "goals"))["goals"][0]["id"],
        "rejection_id": api.get(user_path(user_id, "rejections"))["rejections"][0]["id"],
        "job_id": api.post("/v1/jobs/reconcile", {}, wait="true")["job_id"],
        "erasure_id": api.send("DELETE", "/v1/users/zoe").document["erasure_id"],
    }


CASES = [
    pytest.param(method, path, stranger, id=f"{method} {path} {stranger}")
    for method, path in OBJECTS
    for stranger, (principal, user) in STRANGERS.items()
    if "{user_id}" in path or (principal, user) != (OWNER, "bert")
]
"""What is the tenant's is that of all its users."""


@pytest.mark.parametrize(("method", "path", "stranger"), CASES)
def test_a_foreign_id_is_absent(kept: Kept, method: str, path: str, stranger: str) -> None:
    principal, user = STRANGERS[stranger]
    before = kept.owned()
    foreign = kept.ask(principal, method, path.format(**kept.ids, user_id=user))
    absent = kept.ask(principal, method, path.format(**NOTHING, user_id=user))
    assert foreign.status == absent.status == (403 if _is_for_administrators(path, principal) else 404)
    assert not [word for word in WORDS if word in str(foreign.body)]
    assert kept.owned() == before


def _is_for_administrators(path: str, principal: Principal) -> bool:
    return path.startswith("/console/jobs") and not principal.admin


@pytest.mark.parametrize("path", [path for method, path in OBJECTS if method == "GET"])
def test_the_owner_has_each_page(kept: Kept, path: str) -> None:
    assert kept.ask(OWNER, "GET", path.format(**kept.ids, user_id="anna")).status == 200


@pytest.mark.parametrize("stranger", STRANGERS)
def test_no_list_has_a_word_of_it(kept: Kept, stranger: str) -> None:
    principal, user = STRANGERS[stranger]
    for path in LISTS:
        answer = kept.ask(principal, "GET", f"/console/users/{user}{path}")
        assert not [word for word in WORDS if word in str(answer.body)], path


def test_another_tenants_entry_of_knowledge_is_one_to_be_made(kept: Kept) -> None:
    other = STRANGERS["another tenant"][0]
    entry = "/console/knowledge/notes/hours"
    assert [kept.ask(one, "GET", f"{entry}/delete").status for one in (OWNER, other)] == [200, 404]
    assert kept.ask(other, "POST", f"{entry}/delete").status == 404
    for path in (entry, "/console/knowledge"):
        shown = [WORDS[-1] in str(kept.ask(one, "GET", path).body) for one in (OWNER, other)]
        assert shown == [True, False], path
    assert "hours" not in str(kept.ask(other, "GET", "/console/knowledge").body)
