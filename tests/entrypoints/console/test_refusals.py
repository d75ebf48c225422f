"""Every form of the console refused in every way: what was typed stays, and what is pressed again is done once."""

import json
import re
from collections.abc import Iterator
from urllib.parse import unquote

import pytest

from entrypoints.console.sending import READS, TYPED, Sent, api_of, forms_of, refusing, through
from entrypoints.console.test_foreign_ids import OWNER, Kept, filled
from entrypoints.console.test_weight import PAGES
from entrypoints.console.visiting import Visitor, visible
from entrypoints.http.calling import Caller
from entrypoints.http.conftest import opened
from recollect.app import App
from recollect.entrypoints.console.endpoint import views
from recollect.entrypoints.http.dispatch import Answer
from recollect.entrypoints.http.messages import Call
from recollect.entrypoints.http.routing import find_route

ANNA = "/console/users/anna"
STATUSES = (400, 409, 412, 413, 422, 429, 500, 503)
OTHERS = {"/users/{user_id}/import", "/rules/preview"}
"""A file stays chosen in the browser; a preview writes nothing."""


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kept]:
    with opened(tmp_path_factory.mktemp("refused")) as app:
        yield Kept(app, filled(app))


@pytest.fixture(scope="module")
def forms(kept: Kept) -> dict[str, Sent]:
    """One form of each route, as a browser has it."""
    other = kept.api().post("/v1/memories", {"user_id": "anna", "content": "I have a boat"})["id"]
    ids = {**kept.ids, "kind": "reconcile", "namespace": "notes", "key": "hours", "other_id": other}
    paths = [one.format(**ids, record_id="none", user_id="anna") for one in PAGES]
    pages = [str(kept.ask(OWNER, "GET", path).body) for path in paths]
    preview = through(kept.app, api_of(kept.app, OWNER), "/console/rules/preview", {"own": TYPED["own"]}, OWNER)
    routes = [route for route, _ in views()]
    found = [one for page in (*pages, str(preview.body)) for one in forms_of(page)]
    return {
        find_route(routes, Call(method="POST", path=unquote(one.action)))[0].path.removeprefix("/console"): one
        for one in found
        if "sign" not in one.action
    }


def test_there_is_a_form_for_every_route(forms: dict[str, Sent]) -> None:
    assert set(forms) == {route.path.removeprefix("/console") for route, _ in views() if route.method == "POST"}


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize(
    "route",
    sorted({route.path.removeprefix("/console") for route, _ in views() if route.method == "POST"} - OTHERS),
)
def test_what_was_typed_stays_whatever_is_refused(kept: Kept, forms: dict[str, Sent], route: str, status: int) -> None:
    form = forms[route]
    sent = form.filled_in()
    sent |= {"winner": "amended"} if "older_words" in sent else {}
    answer = through(kept.app, refusing(kept.app, status), unquote(form.action), sent, OWNER)
    page = str(answer.body)
    assert answer.status == status
    assert 'role="alert"' in page
    back = [one for one in forms_of(page) if form.action in (one.action, one.action.removesuffix("/preview"))]
    held = [{name: one.holds.get(name) for name in form.typed | {"once"} if name in sent} for one in back]
    assert {name: sent[name] for name in form.typed | {"once"} if name in sent} in held


def test_a_form_whose_page_is_gone_shows_what_was_typed(kept: Kept) -> None:
    path = f"{ANNA}/memories/none/edit"
    answer = through(kept.app, api_of(kept.app, OWNER), path, {"content": "I sail <b>", "version": "1"}, OWNER)
    assert (answer.status, "I sail &lt;b&gt;" in str(answer.body)) == (404, True)


class Losing:
    """The API, which does what is asked, and once does not say so."""

    def __init__(self, app: App) -> None:
        self._inner, self._lost = api_of(app), False

    def __call__(self, call: Call) -> Answer:
        answer = self._inner(call)
        if call.method == "GET" or call.path in READS or self._lost:
            return answer
        self._lost = True
        return Answer(503, {}, json.dumps({"type": "x", "title": "No answer", "status": 503}))


def test_what_was_done_without_an_answer_is_done_once_when_it_is_pressed_again(app: App, caller: Caller) -> None:
    caller.added("My goal is to run a marathon.")
    caller.post("/v1/users/anna/summaries?force=true", {})
    (goal,) = caller.get("/v1/users/anna/goals").json["goals"]
    for path, typed in (
        (f"{ANNA}/new", {"content": "I row"}),
        (f"{ANNA}/goals/{goal['id']}/check-in", {"date": "2025-03-04", "status": "kept"}),
    ):
        losing = Losing(app)
        fields = {**typed, "once": "one-press"}
        refused = through(app, losing, path, fields)
        assert (refused.status, "it is done once" in str(refused.body)) == (503, True)
        (again,) = [one for one in forms_of(str(refused.body)) if one.action == path]
        assert through(app, losing, path, again.holds).status == 303
    assert [one["content"] for one in caller.get("/v1/users/anna/memories").json["memories"]].count("I row") == 1
    (goal,) = caller.get("/v1/users/anna/goals").json["goals"]
    assert len(goal["history"]) == 1


def test_other_words_by_the_same_form_are_another_request(app: App, caller: Caller) -> None:
    for content in ("I row", "I row boats", "I row"):
        assert through(app, api_of(app), f"{ANNA}/new", {"content": content, "once": "a"}).status == 303
    assert len(caller.get("/v1/users/anna/memories").json["memories"]) == 2


@pytest.mark.parametrize("is_gone", [False, True])
def test_half_of_setting_right_is_told_and_finished(app: App, caller: Caller, *, is_gone: bool) -> None:
    (event,) = caller.added("I own two boats")
    inner = api_of(app)

    def dispatch(call: Call) -> Answer:
        if call.method != "DELETE":
            return inner(call)
        if is_gone:
            inner(call)
        return Answer(503, {}, json.dumps({"type": "x", "title": "No answer", "status": 503}))

    path = f"{ANNA}/events/{event}"
    sent = {"content": "I own three boats", "version": "1", "once": "a", "forget": "true"}
    answer = through(app, dispatch, f"{path}/correct", sent)
    assert answer.status == (303 if is_gone else 503)
    if not is_gone:
        assert "What is right is remembered now" in str(answer.body)
        (form,) = forms_of(str(answer.body))
        assert form.action == f"{path}/forget"
        assert through(app, inner, form.action, form.holds).status == 303
    assert caller.get(f"/v1/users/anna/events/{event}").status == 404
    assert [one["content"] for one in caller.get("/v1/users/anna/memories").json["memories"]] == ["I own three boats"]


def test_who_is_told_of_a_change_meanwhile_may_replace_it(caller: Caller, visitor: Visitor) -> None:
    memory = caller.post("/v1/memories", {"user_id": "anna", "content": "Ada lives in Paris"}).json["id"]
    path = f"{ANNA}/memories/{memory}/edit"
    visitor.get(path)
    caller.patch(f"/v1/users/anna/memories/{memory}", {"content": "Ada lives in Rome"}, if_match="*")
    refused = visitor.post(path, content="Ada lives in Bonn")
    assert re.search("says now: Ada lives in Rome", visible(refused))
    assert "Ada lives in Bonn</textarea>" in refused.text
    assert visitor.post(path, content="Ada lives in Bonn").status == 303
    assert caller.get(f"/v1/users/anna/memories/{memory}").json["content"] == "Ada lives in Bonn"
