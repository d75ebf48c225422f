"""`GET …/arbitrations`, `POST …/revert`, `GET …/conflicts`, `POST …/resolve` (P-24)."""

from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from embedded.setting import judged
from entrypoints.http.calling import Answered, Caller, Cloud
from entrypoints.http.conftest import settings_in
from entrypoints.http.promised import check, document
from recollect.app import App
from recollect.bootstrap import open_app
from recollect.contradictions.decisions import OpenConflict, Step, conflict_document, conflict_key
from recollect.core.items import ItemWrite
from recollect.core.scope import Scope
from recollect.entrypoints.http.routing import path_segment
from recollect.memories.memory import Lapse
from recollect.memories.storage import memory_document, memory_in, memory_key

PARIS, LYON = "I live in Paris.", "I moved to Lyon."
ARBITRATIONS, CONFLICTS = "/v1/users/{user_id}/arbitrations", "/v1/users/{user_id}/conflicts"
REVERT, RESOLVE = f"{ARBITRATIONS}/{{arbitration_id}}/revert", f"{CONFLICTS}/{{conflict_id}}/resolve"
PAIR = "018f4cf3-a400-7000-8000-000000000002.018f4cf3-a400-7000-8000-000000000001"


@pytest.fixture
def caller(app: App, request: pytest.FixtureRequest) -> Caller:
    """The laptop's server; the cloud's functions share all of it."""
    return Caller(request.getfixturevalue("laptop"))


def settle(app: App) -> None:
    for _ in range(8):
        if not app.projection.reconciliation.run(datetime.now(UTC)).projected:
            return


def say(app: App, caller: Caller, *contents: str, user: str = "anna", **more: Any) -> list[str]:
    """Ids of events a day apart, projected one after another."""
    ids = []
    for day, content in enumerate(contents, start=1):
        event = {"content": content, "timestamp": f"2024-04-{day:02}T09:00:00Z", "importance": 0.9, **more}
        answer = caller.post("/v1/events", {"user_id": user, "conversation_id": "c", "events": [event]})
        ids.append(answer.json["results"][0]["event_id"])
        settle(app)
    return ids


def left_open(app: App, older: str, newer: str, user: str = "anna") -> str:
    now = datetime.now(UTC)
    proposal = {"action": "keep", "winner": newer}
    made = OpenConflict(newer=newer, older=older, at=now, step=Step.ARBITER, rule="default", proposal=proposal)
    conflict = replace(made, ended=((0, 6),))
    write = ItemWrite(conflict_key(conflict.id), conflict_document(conflict))
    app.parts.items.write(Scope("local", user), [write], now)
    return conflict.id


def checked(answer: Answered, path: str, method: str = "get") -> Any:
    check(answer, document()["paths"][path][method])
    return answer.json


def contents(caller: Caller, query: str = "Where do I live?") -> list[str]:
    found = caller.post("/v1/search", {"user_id": "anna", "query": query}).json["results"]
    return [one["content"] for one in found]


@pytest.mark.spec("P-24")
def test_a_decision_is_listed_and_taken_back(app: App, caller: Caller) -> None:
    old, new = say(app, caller, PARIS, LYON)
    assert contents(caller) == [LYON]
    (decision,) = checked(caller.get("/v1/users/anna/arbitrations"), ARBITRATIONS)["arbitrations"]
    assert (decision["id"], decision["winner"], decision["loser"]) == (f"{new}.{old}", new, old)
    assert (decision["step"], decision["outcome"], decision["status"]) == ("judge", "superseded", "applied")
    assert decision["revert"] == f"/v1/users/anna/arbitrations/{new}.{old}/revert"
    reverted = checked(caller.post(decision["revert"], None), REVERT, "post")
    assert (reverted["status"], reverted["memory"]["id"], reverted["memory"]["status"]) == ("reverted", old, "active")
    settle(app)
    assert sorted(contents(caller)) == sorted([PARIS, LYON])
    entries = checked(caller.get("/v1/users/anna/audit"), "/v1/users/{user_id}/audit")["entries"]
    told = [(one["action"], one["actor"]["kind"]) for one in entries if one["target_ids"] == [old, new]]
    assert told == [("revert", "user"), ("supersede", "job")]
    checked(caller.get("/v1/users/anna/ledger"), "/v1/users/{user_id}/ledger")
    again = caller.post(decision["revert"], None)
    check(again, document()["paths"][REVERT]["post"])
    assert again.status == 409
    for name, value, count in (
        ("status", "reverted", 1), ("status", "applied", 0), ("step", "judge", 1), ("step", "key", 0),
        ("loser", old, 1),
        ("winner", old, 0), ("persona_id", "coach", 0),
    ):  # fmt: skip
        assert len(caller.get("/v1/users/anna/arbitrations", {name: value}).json["arbitrations"]) == count, name


@pytest.mark.spec("P-22", "P-24")
def test_lists_tell_the_words_where_that_is_asked_for_of_one_or_of_a_page(app: App, caller: Caller) -> None:
    old, new = say(app, caller, PARIS, LYON)
    path = "/v1/users/anna/arbitrations"
    assert "words" not in caller.get(path).json["arbitrations"][0]
    (decision,) = checked(caller.get(path, {"words": "true"}), ARBITRATIONS)["arbitrations"]
    told = decision["words"]
    assert (told["loser"]["content"], told["winner"]["quote"], told["whole"]) == (PARIS, LYON, True)
    one, other = say(app, caller, "The lamp glows at night", "Rivers bend beyond the hill")
    conflict = left_open(app, one, other)
    page = checked(caller.get("/v1/users/anna/conflicts", {"words": "true", "status": "open"}), CONFLICTS)
    (words,) = [each["words"] for each in page["conflicts"] if each["id"] == conflict]
    assert words["ended"] == [[0, 6]]
    assert words["older"]["quote"] == "The lamp glows at night"
    assert words["newer"]["timestamp"].startswith("2024-04-02")
    for listed, found in (("arbitrations", f"{new}.{old}"), ("conflicts", conflict)):
        for user, named, count in (("anna", found, 1), ("anna", "none", 0), ("bob", found, 0)):
            answer = caller.get(f"/v1/users/{user}/{listed}", {"id": named, "words": "true"})
            assert len(answer.json[listed]) == count, (listed, user, named)
    assert caller.get(path, {"id": f"{new}.{old}", "status": "reverted"}).json["arbitrations"] == []
    caller.delete(f"/v1/users/anna/memories/{old}", if_match="*")
    (decision,) = checked(caller.get(path, {"words": "true"}), ARBITRATIONS)["arbitrations"]
    assert "loser" not in decision["words"]


@pytest.mark.spec("P-22", "P-24")
def test_a_retried_revert_makes_one_copy_of_a_keyed_value(app: App, caller: Caller) -> None:
    old, new = say(app, caller, "Paris", "Lyon", key="home")
    (decision,) = caller.get("/v1/users/anna/arbitrations", {"step": "key"}).json["arbitrations"]
    assert (decision["winner"], decision["loser"], decision["rule"]) == (new, old, "key")
    first = caller.post(decision["revert"], None, idempotency_key="k1")
    replayed = caller.post(decision["revert"], None, idempotency_key="k1")
    assert replayed.headers["idempotent-replayed"] == "true"
    assert first.json["memory"]["id"] == replayed.json["memory"]["id"] not in (old, new)
    assert caller.post(decision["revert"], None).status == 409
    settle(app)
    current = caller.get("/v1/users/anna/memories", {"key": "home", "status": "active"}).json["memories"]
    assert [(one["content"], one["origin"]) for one in current] == [("Paris", "direct")]
    assert len(caller.get("/v1/users/anna/memories", {"key": "home"}).json["memories"]) == 3


@pytest.mark.spec("P-24")
def test_a_try_that_was_not_answered_goes_on(app: App, caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was done, and the answer was lost: the same request again is told what the first one did."""
    from recollect.core.errors import Unavailable

    old, _ = say(app, caller, PARIS, LYON)
    (decision,) = caller.get("/v1/users/anna/arbitrations").json["arbitrations"]

    def lost(*_: Any) -> None:
        raise Unavailable("the store is away")

    with monkeypatch.context() as patched:
        patched.setattr(app.contradictions.reversal, "_changes", SimpleNamespace(reproject=lost))
        assert caller.post(decision["revert"], None, idempotency_key="k2").status == 503
    answer = caller.post(decision["revert"], None, idempotency_key="k2")
    assert (answer.status, answer.json["memory"]["id"]) == (200, old)


@pytest.mark.spec("P-24")
def test_a_conflict_is_listed_and_resolved(app: App, caller: Caller) -> None:
    old, new = say(app, caller, "The lamp glows at night", "Rivers bend beyond the hill")
    conflict_id = left_open(app, old, new)
    (conflict,) = checked(caller.get("/v1/users/anna/conflicts", {"status": "open"}), CONFLICTS)["conflicts"]
    assert (conflict["id"], conflict["newer"], conflict["older"], conflict["status"]) == (
        conflict_id, new, old, "open",
    )  # fmt: skip
    assert (conflict["proposal"], conflict["ended"]) == ({"action": "keep", "winner": new}, [[0, 6]])
    target = f"/v1/users/anna/conflicts/{conflict_id}/resolve"
    wrong_ones: list[Any] = [
        {"winner": new, "both": True},
        {"both": False},
        {},
        {"winner": new, "x": 1},
        {"winner": "me"},
    ]
    for body, status in *((one, 422) for one in wrong_ones), (b"{", 400):
        wrong = caller.post(target, body)
        check(wrong, document()["paths"][RESOLVE]["post"])
        assert wrong.status == status
    for headers in ({}, {"idempotency_key": "r"}, {"idempotency_key": "r"}):
        resolved = checked(caller.post(target, {"winner": old}, **headers), RESOLVE, "post")
        assert (resolved["status"], resolved["winner"], resolved["decision_id"]) == ("settled", old, f"{old}.{new}")
    assert caller.post(target, {"winner": new}).status == 409
    assert caller.get("/v1/users/anna/conflicts", {"status": "open"}).json["conflicts"] == []
    memory = caller.get(f"/v1/users/anna/memories/{new}").json
    assert (memory["status"], memory["superseded_by"], memory["settled_by"]) == ("superseded", old, "user")
    reverted = caller.post(f"/v1/users/anna/arbitrations/{old}.{new}/revert", None)
    assert reverted.status == 200
    (conflict,) = caller.get("/v1/users/anna/conflicts", {"status": "open"}).json["conflicts"]
    assert "winner" not in conflict
    for headers in ({}, {"idempotency_key": "b"}, {"idempotency_key": "b"}):
        both = checked(caller.post(target, {"both": True}, **headers), RESOLVE, "post")
        assert (both["status"], both.get("winner"), both.get("decision_id")) == ("settled", None, None)
    statuses = [caller.get(f"/v1/users/anna/memories/{one}").json["status"] for one in (old, new)]
    assert statuses == ["active", "active"]


def test_lists_are_walked_by_a_cursor_of_their_own(app: App, caller: Caller) -> None:
    ids = say(app, caller, "zebra sings", "kettle boils", "lamp glows", "river bends")
    made = [left_open(app, older, newer) for older, newer in pairwise(ids)]
    first = caller.get("/v1/users/anna/conflicts", {"limit": 2, "status": "open"}).json
    asked = {"limit": 1, "status": "open", "cursor": first["next_cursor"]}
    rest = caller.get("/v1/users/anna/conflicts", asked).json
    assert [one["id"] for one in (*first["conflicts"], *rest["conflicts"])] == made[::-1]
    for other in ("/v1/users/anna/arbitrations", "/v1/users/ben/conflicts"):
        assert caller.get(other, {"cursor": first["next_cursor"]}).status == 422
    assert caller.get("/v1/users/anna/conflicts", {"status": "settled", "cursor": first["next_cursor"]}).status == 422
    assert caller.get("/v1/users/anna/conflicts", {"limit": 0}).status == 422


def test_what_is_another_users_is_not_found(app: App, caller: Caller) -> None:
    old, new = say(app, caller, PARIS, LYON)
    conflict = left_open(app, old, new)
    assert caller.post(f"/v1/users/ben/arbitrations/{new}.{old}/revert", None).status == 404
    assert caller.post(f"/v1/users/ben/conflicts/{conflict}/resolve", {"winner": new}).status == 404
    assert caller.post(f"/v1/users/anna/arbitrations/{PAIR}/revert", None).status == 404
    hard = path_segment("é/ü")
    assert caller.post(f"/v1/users/anna/arbitrations/{hard}/revert", None).status == 404
    assert caller.post(f"/v1/users/{hard}/conflicts/{hard}/resolve", {"winner": new}).status == 404


@pytest.mark.spec("P-24")
def test_a_memory_with_a_part_that_does_not_hold_is_shown(app: App, caller: Caller) -> None:
    old, new = say(app, caller, "The lamp glows at night", "Rivers bend beyond the hill")
    scope = Scope("local", "anna")
    item = app.parts.items.get(scope, [memory_key(old)])[memory_key(old)]
    lapse = Lapse(by=new, start=0, end=14, since=datetime(2024, 4, 1, tzinfo=UTC), rule="test")
    document = memory_document(replace(memory_in(item.value), lapses=(lapse,)))
    app.parts.items.write(scope, [ItemWrite(item.key, document)], datetime.now(UTC))
    memory = checked(caller.get(f"/v1/users/anna/memories/{old}"), "/v1/users/{user_id}/memories/{memory_id}")
    assert [(one["by"], one["start"], one["end"]) for one in memory["lapses"]] == [(new, 0, 14)]
    assert caller.get("/v1/users/anna/memories").status == 200
    assert "lapses" not in caller.get(f"/v1/users/anna/memories/{new}").json


def test_it_lasts_through_a_restart(tmp_path: Path) -> None:
    app = judged(open_app(settings_in(tmp_path)))
    caller = Caller(Cloud(app))
    old, new = say(app, caller, PARIS, LYON)
    assert caller.post(f"/v1/users/anna/arbitrations/{new}.{old}/revert", None).status == 200
    app.parts.close()
    app = judged(open_app(settings_in(tmp_path)))
    settle(app)
    caller = Caller(Cloud(app))
    assert sorted(contents(caller)) == sorted([PARIS, LYON])
    app.parts.close()
