"""`…/conversations/{conversation_id}/log` on both surfaces: exact, in order, whole, edits, branches, erasure."""

from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from entrypoints.http.calling import Answered, Caller, Cloud
from entrypoints.http.test_credentials import with_settings
from recollect.app import App
from recollect.core.items import ItemKey, ItemWrite
from recollect.core.scope import Scope
from recollect.core.time import iso, utc_now
from recollect.entrypoints.http.headers import new_seed
from recollect.session_log.entries import ENTRIES, VERSIONS, Draft, entries_path, head_key
from recollect.session_log.store import LogStore
from recollect.session_log.use_cases import Appending

LOG = "/v1/users/anna/conversations/monday/log"


def append(caller: Caller, *entries: Any, path: str = LOG, **headers: str) -> Answered:
    bodies = [one if isinstance(one, dict) else {"payload": one} for one in entries]
    return caller.post(path, {"entries": bodies}, **headers)


def payloads(caller: Caller, path: str = LOG, **query: Any) -> list[Any]:
    return [one["payload"] for one in caller.walk(path, "entries", **query)]


def test_entries_are_kept_exactly_and_in_order(caller: Caller) -> None:
    call = {"type": "function_call", "arguments": "{}", "nested": [None, {"é": 1.5}], "content": ""}
    answer = append(caller, {"payload": call, "role": "assistant"}, {"payload": None, "role": "tool"}, {"blob": "AAE="})
    assert (answer.status, [one["sequence"] for one in answer.json["results"]]) == (201, [1, 2, 3])
    append(caller, "four")
    first, second, third, fourth = caller.get(LOG).json["entries"]
    assert (first["sequence"], first["payload"], first["role"]) == (1, call, "assistant")
    assert (second["payload"], second["role"]) == (None, "tool")
    assert (third["blob"], third["payload"]) == ("AAE=", None)
    assert fourth["sequence"] == 4
    assert [one["sequence"] for one in caller.get(LOG, {"order": "desc", "limit": "2"}).json["entries"]] == [4, 3]


def test_a_reading_goes_on_where_it_ended_in_either_order(caller: Caller) -> None:
    for start in range(0, 30, 3):
        append(caller, *range(start, start + 3))
    for limit in (1, 2, 4, 7, 100):
        assert payloads(caller, limit=limit) == list(range(30))
        assert payloads(caller, order="desc", limit=limit) == list(reversed(range(30)))


def test_large_appends_are_stored_whole_or_not_at_all(caller: Caller) -> None:
    append(caller, *(f"{n:03d}" + "x" * 150_000 for n in range(12)))
    assert [one[:3] for one in payloads(caller)] == [f"{n:03d}" for n in range(12)]
    assert append(caller, "small", "x" * 262_144).status == 422
    assert append(caller, *("x" * 200_000 for _ in range(11))).status == 422
    assert append(caller, *({"payload": n, "entry_key": f"{n}"} for n in range(25))).status == 422
    assert len(payloads(caller)) == 12


def test_an_entry_of_a_known_key_is_not_appended_again(caller: Caller) -> None:
    keyed = {"payload": "a", "entry_key": "one"}
    append(caller, keyed)
    again = append(caller, keyed, "b").json["results"]
    assert again == [{"sequence": 1, "status": "duplicate"}, {"sequence": 2, "status": "created"}]
    assert payloads(caller) == ["a", "b"]
    caller.post(f"{LOG}/pop", {})
    caller.post(f"{LOG}/pop", {})
    assert append(caller, keyed).json["results"] == [{"sequence": 3, "status": "created"}]
    assert append(caller, keyed, keyed).status == 422


def test_an_entry_is_edited_on_its_version_and_what_it_was_stays(caller: Caller) -> None:
    append(caller, {"payload": "one", "role": "user", "entry_key": "k"}, "two")
    entry = f"{LOG}/entries/1"
    assert (caller.get(entry).headers["etag"], caller.get(entry).json["payload"]) == ('"1"', "one")
    assert caller.surface.send("PATCH", entry, b'{"payload": 1}', {}).status == 428
    assert caller.patch(entry, {"payload": {"n": None}}, if_match='"1"').headers["etag"] == '"2"'
    assert caller.patch(entry, {"blob": "AAE=", "role": "tool"}, if_match='"1"').status == 412
    edited = caller.patch(entry, {"blob": "AAE=", "role": "tool"}, if_match='"2"').json
    assert (edited["version"], edited["blob"], edited["payload"], edited["role"]) == (3, "AAE=", None, "tool")
    assert caller.get(LOG).json["entries"][0] == edited
    history = caller.walk(f"{entry}/history", "versions", limit=1)
    assert [(one["payload"], one["role"], one["version"]) for one in history] == [
        ("one", "user", 1),
        ({"n": None}, "user", 2),
    ]
    assert append(caller, {"payload": 1, "entry_key": "k"}).json["results"][0] == {"sequence": 1, "status": "duplicate"}


def test_of_two_tries_of_a_request_at_once_one_appends(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """The claim of the first lapses while it works; the second appends before the first one's write."""
    scope, seed, drafts = Scope("local", "anna"), new_seed(app), [Draft(payload="once")]
    append_to = partial(app.logs.append, scope, "monday", drafts, utc_now())
    write = type(app.parts.items).write

    def raced(*given: Any) -> Any:
        monkeypatch.setattr(type(app.parts.items), "write", write)
        append_to(Appending(request=seed, again=True))
        return write(*given)

    monkeypatch.setattr(type(app.parts.items), "write", raced)
    assert [one.sequence for one in append_to(Appending(request=seed))] == [1]
    assert payloads(Caller(Cloud(app))) == ["once"]


def test_an_edit_that_is_sent_twice_is_made_once(caller: Caller) -> None:
    append(caller, "one")
    entry, headers = f"{LOG}/entries/1", {"if_match": '"1"', "idempotency_key": "k"}
    first, again = (caller.patch(entry, {"payload": "two"}, **headers) for _ in range(2))
    assert (first.json, first.headers["etag"]) == (again.json, again.headers["etag"])
    assert again.headers["idempotent-replayed"] == "true"
    assert len(caller.get(f"{entry}/history").json["versions"]) == 1
    caller.patch(entry, {"payload": "three"}, if_match='"2"')
    later = caller.patch(entry, {"payload": "two"}, **headers)
    assert (later.json, later.headers["etag"]) == (first.json, first.headers["etag"])
    caller.delete(entry)
    assert caller.patch(entry, {"payload": "two"}, **headers).status == 404


def test_an_entry_is_removed_with_what_it_was(caller: Caller) -> None:
    append(caller, "one", {"payload": "two", "entry_key": "k"}, "three")
    entry = f"{LOG}/entries/2"
    caller.patch(entry, {"payload": "2"}, if_match="*")
    assert caller.delete(entry, if_match='"1"').status == 412
    assert caller.delete(entry, if_match='"2"').status == 204
    assert (caller.delete(entry).status, caller.get(entry).status, caller.get(f"{entry}/history").status) == (404,) * 3
    assert payloads(caller) == ["one", "three"]
    assert append(caller, {"payload": "two", "entry_key": "k"}).json["results"][0]["sequence"] == 4
    assert caller.get("/v1/users/anna/logs").json["logs"][0]["entries"] == 3


def test_a_removal_that_stopped_half_way_is_ended_by_the_next(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    caller = Caller(Cloud(app))
    append(caller, {"payload": "a secret"}, {"payload": "b"})
    path = f"{LOG}/entries/1"
    caller.patch(path, {"payload": "edited"}, if_match="*")
    with monkeypatch.context() as stopped:
        stopped.setattr(LogStore, "remove", lambda *_: 1 / 0)
        assert caller.delete(path).status == 500
    assert "a secret" in exported(caller)
    assert caller.delete(path).status == 404
    assert "a secret" not in exported(caller)


def test_a_pop_that_stopped_half_way_is_ended_by_the_next(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    caller, scope = Caller(Cloud(app)), Scope("local", "anna")
    append(caller, "a", {"payload": "a secret"})
    caller.patch(f"{LOG}/entries/2", {"payload": "edited"}, if_match="*")
    with monkeypatch.context() as stopped:
        stopped.setattr(LogStore, "remove", lambda *_: 1 / 0)
        assert caller.post(f"{LOG}/pop", {}).status == 500
    assert ("a secret" in exported(caller), payloads(caller)) == (False, ["a"])
    assert len(app.parts.items.page(scope, VERSIONS, 9, None).items) == 1
    assert caller.post(f"{LOG}/pop", {}).json["entry"]["payload"] == "a"
    assert app.parts.items.page(scope, VERSIONS, 9, None).items == ()


def test_a_branch_goes_on_from_an_entry(caller: Caller) -> None:
    append(caller, 1, 2, 3)
    assert caller.post(LOG, {"entries": [{"payload": "a"}], "branch": "retry"}).status == 404
    begun = {"entries": [{"payload": "a"}], "branch": "retry", "root": 2}
    assert caller.twice(LOG, begun, "begin").json["results"][0]["sequence"] == 4
    append(caller, 5)
    caller.post(LOG, {"entries": [{"payload": "b"}], "branch": "retry"})
    caller.post(LOG, {"entries": [{"payload": "x"}], "branch": "of it", "root": 4})
    assert payloads(caller) == [1, 2, 3, 5]
    for limit in (1, 3, 100):
        assert payloads(caller, limit=limit, branch="retry") == ["a", "b"]
        assert payloads(caller, limit=limit, branch="of it", include_parents="true") == [1, 2, "a", "x"]
        backwards = payloads(caller, limit=limit, branch="retry", include_parents="true", order="desc")
        assert backwards == ["b", "a", 2, 1]
        assert payloads(caller, limit=limit, every_branch="true") == [1, 2, 3, "a", 5, "b", "x"]
    assert caller.get(f"{LOG}/branches").json["branches"] == [
        {"name": "retry", "root": 2, "parent": "main"},
        {"name": "of it", "root": 4, "parent": "retry"},
    ]
    assert caller.get(f"{LOG}/entries/4").json["branch"] == "retry"
    assert caller.post(LOG, {**begun, "root": 3}).status == 409
    assert caller.post(LOG, {**begun, "branch": "other", "root": 70}).locs == {("body", "root")}
    assert caller.get(LOG, {"branch": "other"}).status == 404
    popped = [caller.post(f"{LOG}/pop?branch=retry", {}).json.get("entry", {}).get("payload") for _ in range(3)]
    assert (popped, payloads(caller)) == (["b", "a", None], [1, 2, 3, 5])
    caller.delete(LOG)
    assert (payloads(caller), caller.get(f"{LOG}/branches").json["branches"]) == ([], [])


def test_a_pop_looks_through_a_bounded_part_of_other_branches(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    caller, looked_at = Caller(Cloud(app)), 0
    read = type(app.parts.items).page

    def page(self: Any, *asked: Any, **more: Any) -> Any:
        nonlocal looked_at
        found = read(self, *asked, **more)
        looked_at += len(found.items)
        return found

    monkeypatch.setattr(type(app.parts.items), "page", page)
    monkeypatch.setattr("recollect.session_log.use_cases._MOST_POPPED_OVER", 20)
    append(caller, 1)
    append(caller, 2)
    append(caller, 3)
    for n in range(50):
        caller.post(LOG, {"entries": [{"payload": n}], "branch": "b", "root": 1})
    append(caller, 4)
    assert caller.delete(f"{LOG}/entries/54").status == 204
    answers = [caller.post(f"{LOG}/pop", {}) for _ in range(3)]
    assert [one.status for one in answers] == [429, 429, 200]
    assert (answers[2].json["entry"]["payload"], looked_at <= 100) == (3, True)
    looked_at = 0
    assert caller.post(f"{LOG}/pop", {}).json["entry"]["payload"] == 2
    assert looked_at <= 10
    append(caller, 5)
    answers = [caller.post(f"{LOG}/pop", {}) for _ in range(5)]
    assert [one.json["entry"]["payload"] for one in answers if one.status == 200 and one.json] == [5, 1]
    assert len(payloads(caller, branch="b")) == 50


def test_a_log_from_before_branches_goes_on(app: App) -> None:
    """As 0.1.0's first builds stored it."""
    scope, path, digest = Scope("local", "anna"), entries_path("monday"), head_key("monday")
    head = {"conversation_id": "monday", "next": 3, "begins": 1, "count": 2, "id": app.ids.fresh()}
    batch = {"entries": [{"at": "2026-05-01T12:00:00.000000Z", "payload": n} for n in (1, 2)], "id": app.ids.fresh()}
    writes = [ItemWrite(digest, head), ItemWrite(ItemKey(path, "000000000001"), batch)]
    app.parts.items.write(scope, writes, utc_now())
    caller = Caller(Cloud(app))
    caller.post(LOG, {"entries": [{"payload": "a"}], "branch": "b", "root": 1})
    caller.patch(f"{LOG}/entries/2", {"payload": "two"}, if_match='"1"')
    assert payloads(caller, every_branch="true") == [1, "two", "a"]


def test_a_reading_is_bounded_in_bytes(caller: Caller) -> None:
    for _ in range(3):
        append(caller, *("x" * 240_000 for _ in range(8)))
    page = caller.get(LOG, {"limit": "1000"})
    assert 1 < len(page.json["entries"]) < 24
    assert len(page.text) < 4_500_000
    assert len(payloads(caller, limit=1000)) == 24


def test_a_repeated_request_whose_claim_lapsed_does_not_append_twice(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """The function ends between the commit and the answer; the client asks again when the claim has lapsed."""
    caller = Caller(Cloud(app))

    def ended(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as stopped:
        stopped.setattr(app.parts.idempotency, "complete", ended)
        with pytest.raises(KeyboardInterrupt):
            append(caller, 1, {"payload": 2, "entry_key": "two"}, idempotency_key="k")
    append(caller, 3)
    later = {"idempotency_key": "k", "x_recollect_now": iso(utc_now() + timedelta(minutes=5))}
    again = append(caller, 1, {"payload": 2, "entry_key": "two"}, **later)
    assert again.json["results"] == [{"sequence": n, "status": "created"} for n in (1, 2)]
    assert payloads(caller) == [1, 2, 3]


def test_a_repeated_edit_whose_claim_lapsed_finds_it_made(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    caller = Caller(Cloud(app))
    append(caller, 1)

    def ended(*_: Any) -> None:
        raise KeyboardInterrupt

    entry, same = f"{LOG}/entries/1", {"idempotency_key": "k", "if_match": '"1"'}
    with monkeypatch.context() as stopped:
        stopped.setattr(app.parts.idempotency, "complete", ended)
        with pytest.raises(KeyboardInterrupt):
            caller.patch(entry, {"payload": 2}, **same)
    later = {**same, "x_recollect_now": iso(utc_now() + timedelta(minutes=5))}
    assert caller.patch(entry, {"payload": 3}, **later).status == 422
    assert caller.patch(entry, {"payload": 2}, **later).json["version"] == 2
    assert caller.patch(entry, {"payload": 2}, if_match='"1"').status == 412


def test_a_request_that_is_sent_twice_appends_once(caller: Caller) -> None:
    caller.twice(LOG, {"entries": [{"payload": 1}, {"payload": 2}]}, "key-1")
    assert payloads(caller) == [1, 2]


def test_the_last_entry_is_popped(caller: Caller) -> None:
    append(caller, 1, 2)
    append(caller, 3)
    popped = [caller.post(f"{LOG}/pop", {}).json.get("entry", {}).get("payload") for _ in range(4)]
    assert popped == [3, 2, 1, None]
    assert append(caller, 4).json["results"][0]["sequence"] == 4


def test_a_cleared_log_is_empty_and_its_sequences_go_on(caller: Caller) -> None:
    for _ in range(40):
        append(caller, {"payload": 1, "entry_key": f"{_}"})
    assert (caller.delete(LOG).status, caller.delete(LOG).status) == (204, 204)
    assert payloads(caller) == []
    assert caller.get("/v1/users/anna/logs").json["logs"] == []
    assert caller.delete("/v1/users/anna/conversations/other/log").status == 204
    assert append(caller, {"payload": 2, "entry_key": "0"}).json["results"] == [{"sequence": 41, "status": "created"}]
    assert payloads(caller) == [2]


def test_what_a_stopped_clearing_left_is_never_read(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    caller = Caller(Cloud(app))
    append(caller, {"payload": 1, "entry_key": "one"}, 2)
    with monkeypatch.context() as stopped:
        stopped.setattr(LogStore, "remove_before", lambda *_: None)
        caller.delete(LOG)
    assert caller.post(f"{LOG}/pop", {}).json == {}
    assert append(caller, {"payload": 3, "entry_key": "one"}).json["results"][0] == {"sequence": 3, "status": "created"}
    assert payloads(caller) == payloads(caller, order="desc") == [3]
    caller.delete(LOG)
    assert app.parts.items.page(Scope("local", "anna"), ENTRIES, 9, None).items == ()


def test_logs_and_users_are_listed(caller: Caller) -> None:
    append(caller, 1, 2)
    append(caller, 1, path="/v1/users/anna/conversations/tuesday/log")
    append(caller, 1, path="/v1/users/ben/conversations/monday/log")
    logs = caller.walk("/v1/users/anna/logs", "logs", limit=1)
    shown = {one["conversation_id"]: (one["entries"], one["last_sequence"]) for one in logs}
    assert shown == {"monday": (2, 2), "tuesday": (1, 1)}
    assert [one["user_id"] for one in caller.walk("/v1/users", "users", limit=1)] == ["anna", "ben"]


def test_nothing_is_derived_from_a_log(caller: Caller) -> None:
    append(caller, {"payload": {"role": "user", "content": "Remember: my sister is called Ada"}, "role": "user"})
    assert caller.post("/v1/search", {"user_id": "anna", "query": "sister Ada"}).json["results"] == []
    assert caller.timeline().json["events"] == []
    assert caller.get("/v1/users/anna/memories").json["memories"] == []


@pytest.mark.parametrize(
    ("body", "loc"),
    [
        ({"entries": []}, ("body", "entries")),
        ({"entries": [{}]}, ("body", "entries", 0)),
        ({"entries": [{"payload": 1, "blob": "AAE="}]}, ("body", "entries", 0)),
        ({"entries": [{"blob": "no base64"}]}, ("body", "entries", 0, "blob")),
        ({"entries": [{"payload": 1, "role": "robot"}]}, ("body", "entries", 0, "role")),
        ({"entries": [{"payload": 1}, {"payload": "x" * 262_144}]}, ("body", "entries", 1)),
        (b'{"entries": [{"payload": ["\\ud800"]}]}', ("body", "entries", 0)),
        (b'{"entries": [{"payload": {"\\udc00": 1}}]}', ("body", "entries", 0)),
        (b'{"entries": [{"payload": 1e999}]}', ("body", "entries", 0)),
        (b'{"entries": [{"payload": ' + b"[" * 65 + b"]" * 65 + b"}]}", ("body", "entries", 0, "payload")),
    ],
)
def test_what_is_wrong_is_refused_where_it_is(caller: Caller, body: Any, loc: tuple[Any, ...]) -> None:
    answer = caller.post(LOG, body)
    assert (answer.status, answer.locs) == (422, {loc})


def test_tenants_and_users_do_not_meet(app: App) -> None:
    acme, globex = (Caller(Cloud(app, {"tenant": name})) for name in ("acme", "globex"))
    append(acme, 1)
    assert payloads(globex) == []
    assert globex.get("/v1/users").json["users"] == []
    with_settings(app, subject_claim="sub")
    anna, ben = (Caller(Cloud(app, {"tenant": "acme", "sub": name})) for name in ("anna", "ben"))
    assert payloads(anna) == [1]
    assert (ben.get(LOG).status, append(ben, 2).status, ben.delete(LOG).status) == (403, 403, 403)
    assert anna.get("/v1/users").status == 403


def test_an_erasure_reaches_the_log_and_leaves_what_is_said_afterwards(app: App) -> None:
    caller = Caller(Cloud(app))
    path = f"/v1/users/anna/conversations/{app.ids.fresh()}/log"  # named before the erasure
    append(caller, {"payload": 1, "entry_key": "one"}, path=path)
    erasure = caller.delete("/v1/users/anna").json["erasure_id"]
    assert payloads(caller, path) == []
    assert append(caller, {"payload": 2, "entry_key": "one"}, path=path).json["results"][0]["status"] == "created"
    assert app.job_runs.one("local", erasure, utc_now, lambda: 60.0) is not None
    assert payloads(caller, path) == [2]


def exported(caller: Caller, user: str = "anna") -> str:
    text, target = "", f"/v1/users/{user}/export"
    while target:
        page = caller.get(target)
        text, target = text + page.text, page.headers.get("link", "").partition(">")[0].removeprefix("<")
    return text


def test_an_export_has_the_logs_and_an_import_brings_back_what_was_not_removed(app: App) -> None:
    caller = Caller(Cloud(app))
    append(caller, {"payload": {"n": 1}, "role": "tool", "entry_key": "one"}, {"blob": "AAE="}, {"payload": None})
    caller.post(f"{LOG}/pop", {})
    append(caller, "four")
    before, text = caller.get(LOG).json["entries"], exported(caller)
    assert text.count("\n") == 3
    assert caller.post("/v1/users/anna/import", text.encode()).json["duplicate"] == 3
    assert caller.post("/v1/users/ben/import", text.encode()).json["created"] == 3
    copied = "/v1/users/ben/conversations/monday/log"
    assert caller.get(copied).json["entries"] == before
    assert append(caller, {"payload": 1, "entry_key": "one"}, "five", path=copied).json["results"] == [
        {"sequence": 1, "status": "duplicate"},
        {"sequence": 5, "status": "created"},
    ]
    caller.delete(LOG)
    assert caller.post("/v1/users/anna/import", text.encode()).json["duplicate"] == 3
    assert caller.delete("/v1/users/anna").status == 202
    assert caller.post("/v1/users/anna/import", text.encode()).json["refused"] == 3
    assert payloads(caller) == []


def test_branches_and_history_are_exported_and_imported(app: App) -> None:
    caller = Caller(Cloud(app))
    append(caller, 1, 2)
    caller.post(LOG, {"entries": [{"payload": "a"}], "branch": "b", "root": 1})
    append(caller, 4)
    for n in range(3):
        caller.patch(f"{LOG}/entries/3", {"payload": n}, if_match="*")
    text = exported(caller)
    assert caller.post("/v1/users/ben/import", text.encode()).json["created"] == 7
    copied = "/v1/users/ben/conversations/monday/log"
    everything = {"every_branch": "true"}
    assert caller.get(copied, everything).json == caller.get(LOG, everything).json
    assert payloads(caller, copied, branch="b", include_parents="true") == [1, 2]
    history = [caller.get(f"{path}/entries/3/history").json for path in (LOG, copied)]
    assert history[0] == history[1]
    assert [one["payload"] for one in history[0]["versions"]] == ["a", 0, 1]
    assert caller.post("/v1/users/ben/import", text.encode()).json["duplicate"] == 7
    assert caller.delete("/v1/users/ben").status == 202
    assert (caller.get(copied, everything).json["entries"], exported(caller, "ben")) == ([], "")


def test_a_user_who_logs_while_an_erasure_runs_stays_listed(app: App) -> None:
    caller = Caller(Cloud(app))
    append(caller, 1)
    erasure = caller.delete("/v1/users/anna").json["erasure_id"]
    append(caller, 2)
    assert app.job_runs.one("local", erasure, utc_now, lambda: 60.0) is not None
    assert [one["user_id"] for one in caller.get("/v1/users").json["users"]] == ["anna"]


def test_a_line_that_is_nested_more_deeply_than_a_request_may_be_is_invalid(app: App) -> None:
    caller = Caller(Cloud(app))
    at = '"at":"2026-05-01T12:00:00Z"'
    for levels, invalid in ((64, 0), (65, 1), (900, 1)):
        deep = "[" * levels + "]" * levels
        line = f'{{"v":1,"kind":"log","conversation_id":"c","sequence":{levels},{at},"payload":{deep}}}'
        assert caller.post("/v1/users/anna/import", line.encode()).json["invalid"] == invalid
        value = '{"a":' * (levels - 33) + "1" + "}" * (levels - 33)
        item = f'{{"v":1,"kind":"item","namespace":["n"],"key":"k","value":{value},"revision":"r","index":[]}}'
        assert caller.post("/v1/users/anna/import", item.encode()).json["invalid"] == int(levels > 65)


@pytest.mark.parametrize(
    "line",
    [
        '{"v":1,"kind":"log","conversation_id":"c","sequence":0,"at":"2026-05-01T12:00:00Z","payload":1}',
        '{"v":1,"kind":"log","conversation_id":"c","sequence":1,"at":"2026-05-01T12:00:00Z"}',
        '{"v":1,"kind":"log","conversation_id":"","sequence":1,"at":"2026-05-01T12:00:00Z","payload":1}',
        '{"v":1,"kind":"log","conversation_id":"c","sequence":1,"at":"noon","payload":1}',
        '{"v":1,"kind":"log","conversation_id":"c","sequence":1,"at":"2026-05-01T12:00:00Z","blob":"="}',
        '{"v":1,"kind":"log_version","conversation_id":"c","sequence":1,"at":"2026-05-01T12:00:00Z","payload":1}',
        '{"v":1,"kind":"log","conversation_id":"c","sequence":1,"at":"2026-05-01T12:00:00Z","payload":1,"version":0}',
        '{"v":1,"kind":"log","conversation_id":"c","sequence":2,"at":"2026-05-01T12:00:00Z","payload":1,'
        '"branch":{"name":"b","root":2,"parent":"main"}}',
        '{"v":1,"kind":"log","conversation_id":"c","sequence":2,"at":"2026-05-01T12:00:00Z","payload":1,"branch":"b"}',
    ],
)
def test_a_line_that_breaks_a_rule_is_invalid(app: App, line: str) -> None:
    caller = Caller(Cloud(app))
    answer = caller.post("/v1/users/anna/import", line.encode()).json
    assert (answer["invalid"], payloads(caller, "/v1/users/anna/conversations/c/log")) == (1, [])
