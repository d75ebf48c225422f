"""`/store/*` on both surfaces: LangGraph's wire, versions, lifetimes, several operations at once, owners."""

from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from entrypoints.http.calling import Answered, Caller, Cloud, Laptop
from entrypoints.http.conftest import opened
from entrypoints.http.test_credentials import with_settings
from recollect.app import App

NOON = "2026-05-01T12:00:00Z"
PLACE = {"namespace": ["users", "anna"], "key": "k 1"}


def put(caller: Caller, value: Any, **more: Any) -> Answered:
    headers = {name: more.pop(name) for name in ("if_match", "if_none_match", "x_recollect_now") if name in more}
    return caller.put("/store/items", {**PLACE, "value": value, **more}, **headers)


def got(caller: Caller, namespace: str = "users.anna", key: str = "k 1", **headers: str) -> Any:
    answer = caller.get("/store/items", {"namespace": namespace, "key": key}, **headers)
    assert answer.status == 200, answer.text
    return answer.json


def delete(caller: Caller, **headers: str) -> Answered:
    return caller._send("DELETE", "/store/items", PLACE, headers)


def found(caller: Caller, **body: Any) -> list[Any]:
    answer = caller.post("/store/items/search", body)
    assert answer.status == 200, answer.text
    return list(answer.json["items"])


def test_an_item_is_put_read_replaced_and_deleted(caller: Caller) -> None:
    assert put(caller, {"a": 1, "b": {"c": [None]}}, x_recollect_now=NOON).status == 204
    item = got(caller)
    assert item == {
        **PLACE,
        "value": {"a": 1, "b": {"c": [None]}},
        "version": 1,
        "created_at": "2026-05-01T12:00:00.000000Z",
        "updated_at": "2026-05-01T12:00:00.000000Z",
    }
    assert put(caller, {"a": 2}, x_recollect_now="2026-05-01T13:00:00Z").headers["etag"] == '"2"'
    assert got(caller)["created_at"] == item["created_at"]
    assert got(caller)["value"] == {"a": 2}
    assert (delete(caller).status, delete(caller).status) == (204, 204)
    assert got(caller) is None


def test_versions_are_expected_by_headers(caller: Caller) -> None:
    assert put(caller, {}, if_match='"1"').status == 412
    assert put(caller, {}, if_none_match="*").status == 204
    assert put(caller, {}, if_none_match="*").status == 412
    assert put(caller, {"a": 2}, if_match='"1"').headers["etag"] == '"2"'
    assert put(caller, {"a": 3}, if_match='"1"').status == 412
    assert delete(caller, if_match='"1"').status == 412
    assert got(caller)["value"] == {"a": 2}
    assert delete(caller, if_match='"2"').status == 204
    assert delete(caller, if_match="*").status == 412


def test_a_read_begins_a_lifetime_anew(caller: Caller) -> None:
    put(caller, {}, ttl=2, x_recollect_now=NOON)
    later = {"x_recollect_now": "2026-05-01T12:01:00Z"}
    query = {"namespace": "users.anna", "key": "k 1", "refresh_ttl": "false"}
    assert caller.get("/store/items", query, **later).json["expires_at"] == "2026-05-01T12:02:00.000000Z"
    assert got(caller, **later)["expires_at"] == "2026-05-01T12:03:00.000000Z"
    assert got(caller, x_recollect_now="2026-05-01T12:03:00Z") is None


def test_items_are_searched_by_fields_and_by_meaning(caller: Caller) -> None:
    for key, text, n in (("1", "red apples and pears", 1), ("2", "a blue car", 2), ("3", "green apples", 3)):
        body = {"namespace": ["docs"], "key": key, "value": {"text": text, "n": n}, "index": ["text"]}
        caller.put("/store/items", body)
    assert [one["key"] for one in found(caller, namespace_prefix=["docs"])] == ["3", "2", "1"]
    assert [one["key"] for one in found(caller, filter={"n": {"$gte": 2}}, limit=1, offset=1)] == ["2"]
    assert [one["key"] for one in found(caller, where={"or": [{"n": 1}, {"text": {"icontains": "BLUE"}}]})] == [
        "2",
        "1",
    ]
    assert [one["key"] for one in found(caller, filter={"n": {"$lt": 3}}, where={"n": {"ne": 1}})] == ["2"]
    best = found(caller, query="a blue car", limit=3)
    assert (best[0]["key"], best[0]["score"] > 0.9) == ("2", True)
    assert found(caller, namespace_prefix=["doc"]) == []


def test_an_application_may_bring_its_own_vectors(caller: Caller) -> None:
    for key, vectors in (("1", [[1, 0], [0, 1]]), ("2", [[0.8, 0.6]])):
        caller.put("/store/items", {"namespace": ["docs"], "key": key, "value": {}, "vectors": vectors})
    assert [one["key"] for one in found(caller, query_vector=[0, 5])] == ["1", "2"]
    answer = caller.put("/store/items", {"namespace": ["d"], "key": "3", "value": {}, "vectors": [[1], [1, 2]]})
    assert answer.locs == {("body", "vectors")}


def test_namespaces_are_listed(caller: Caller) -> None:
    for namespace in (["a", "b", "c"], ["a", "d"], ["e"]):
        caller.put("/store/items", {"namespace": namespace, "key": "k", "value": {}})
    listed = [
        caller.post("/store/namespaces", body).json["namespaces"]
        for body in ({}, {"prefix": ["a"]}, {"prefix": ["*", "d"]}, {"suffix": ["c"]}, {"max_depth": 1, "limit": 1})
    ]
    assert listed == [
        [["a", "b", "c"], ["a", "d"], ["e"]],
        [["a", "b", "c"], ["a", "d"]],
        [["a", "d"]],
        [["a", "b", "c"]],
        [["a"]],
    ]


def test_in_a_batch_reads_see_what_was_there_and_the_last_put_counts(caller: Caller) -> None:
    put(caller, {"n": 1})
    operations: list[dict[str, Any]] = [
        {"put": {**PLACE, "value": {"n": 2}}},
        {"get": PLACE},
        {"put": {**PLACE, "value": {"n": 3}}},
        {"search": {"namespace_prefix": ["users"]}},
        {"list_namespaces": {}},
        {"get": {**PLACE, "key": "x"}},
        {"put": {**PLACE, "key": "x", "value": None}},
    ]
    answer = caller.post("/store/batch", {"operations": operations})
    assert answer.status == 200, answer.text
    results = answer.json["results"]
    assert results[1]["item"]["value"] == results[3]["items"][0]["value"] == {"n": 1}
    assert results[4] == {"namespaces": [["users", "anna"]]}
    assert [results[place] for place in (0, 2, 5, 6)] == [{}, {}, {}, {}]
    assert got(caller)["value"] == {"n": 3}


@pytest.mark.parametrize(
    ("path", "body", "loc"),
    [
        ("PUT /store/items", {**PLACE, "value": {}, "namespace": ["a.b"]}, ("body", "namespace", 0)),
        ("PUT /store/items", {**PLACE, "value": {}, "namespace": ["langgraph"]}, ("body", "namespace", 0)),
        ("PUT /store/items", {**PLACE, "value": {}, "namespace": []}, ("body", "namespace")),
        ("PUT /store/items", {**PLACE, "value": []}, ("body", "value")),
        ("PUT /store/items", {**PLACE, "value": {"a": "\ud800"}}, ("body", "value")),
        ("PUT /store/items", {**PLACE, "value": {"a": "x" * 300_000}}, ("body", "value")),
        ("PUT /store/items", {**PLACE, "value": {}, "ttl": 0}, ("body", "ttl")),
        ("PUT /store/items", {**PLACE, "value": {}, "index": [1]}, ("body", "index")),
        ("POST /store/items/search", {"filter": {"a') OR 1": 1}}, ("body",)),
        ("POST /store/items/search", {"where": {"a": {"like": 1}}}, ("body", "where", "a", "like")),
        ("POST /store/items/search", {"limit": 1001}, ("body", "limit")),
        ("POST /store/items/search", {"namespace_prefix": ["a", ""]}, ("body", "namespace_prefix", 1)),
        ("POST /store/namespaces", {"prefix": ["a."]}, ("body", "prefix", 0)),
        ("POST /store/batch", {"operations": [{}]}, ("body", "operations", 0)),
        ("POST /store/batch", {"operations": [{"get": {"namespace": ["a."], "key": "k"}}]}, ("body", "namespace", 0)),
    ],
)
def test_what_is_wrong_is_refused_where_it_is(caller: Caller, path: str, body: Any, loc: tuple[Any, ...]) -> None:
    method, target = path.split()
    answer = caller._send(method, target, body, {})
    assert (answer.status, answer.locs) == (422, {loc})


def test_a_query_names_labels_without_dots(caller: Caller) -> None:
    answer = caller.get("/store/items?" + urlencode({"namespace": "a..b", "key": "k"}))
    assert (answer.status, answer.locs) == (422, {("query", "namespace", 1)})


def test_tenants_do_not_meet(app: App) -> None:
    acme, globex = (Caller(Cloud(app, {"tenant": name})) for name in ("acme", "globex"))
    put(acme, {"a": 1})
    assert got(globex) is None
    assert found(globex) == []
    assert globex.post("/store/namespaces", {}).json == {"namespaces": []}
    assert delete(globex).status == 204
    assert got(acme)["value"] == {"a": 1}


def test_where_a_subject_is_named_only_their_own_items_are_there(app: App) -> None:
    with_settings(app, subject_claim="sub")
    anna, bert, nobody = (Caller(Cloud(app, {"tenant": "acme", "sub": name})) for name in ("anna", "bert", None))
    assert put(anna, {"a": 1}).status == 204
    assert got(anna)["user_id"] == "anna"
    assert (got(bert), found(bert)) == (None, [])
    assert bert.post("/store/namespaces", {}).json == {"namespaces": []}
    assert (put(bert, {}).status, delete(bert).status) == (403, 403)
    assert put(anna, {}, user_id="bert").status == 403
    assert nobody.post("/store/items/search", {}).status == 403
    assert got(anna)["value"] == {"a": 1}


def test_a_namespace_names_the_owner_and_an_erasure_reaches_the_items(tmp_path: Path) -> None:
    with opened(tmp_path, RECOLLECT_ITEM_OWNERS="users.{user_id}") as app:
        caller = Caller(Cloud(app))
        put(caller, {"a": 1})
        caller.put("/store/items", {"namespace": ["shared"], "key": "1", "value": {}, "user_id": "anna"})
        caller.put("/store/items", {"namespace": ["shared"], "key": "2", "value": {}, "user_id": "ben"})
        assert caller.delete("/v1/users/anna").status == 202
        assert [one["key"] for one in found(caller)] == ["2"]


def test_nobody_puts_anything_into_another_user_s_namespace(tmp_path: Path) -> None:
    with opened(tmp_path, RECOLLECT_ITEM_OWNERS="users.{user_id}") as app:
        with_settings(app, subject_claim="sub")
        bert = Caller(Cloud(app, {"tenant": "acme", "sub": "bert"}))
        for owner, status in (("anna", 403), ("bert", 204)):
            asked = {"namespace": ["users", owner], "key": "1", "value": {"planted": True}}
            assert bert.put("/store/items", asked).status == status


@pytest.mark.parametrize(
    "headers", [{"x_api_key": "key-a"}, {"authorization": "Token key-a"}, {"authorization": "Bearer key-a"}]
)
def test_a_key_comes_as_langgraph_mem0_and_others_send_it(tmp_path: Path, headers: dict[str, str]) -> None:
    with opened(tmp_path, RECOLLECT_API_KEYS='{"key-a": {"tenant": "acme"}}') as app, closing(Laptop(app)) as laptop:
        caller = Caller(laptop)
        assert caller.post("/store/namespaces", {}, **headers).status == 200
        assert caller.post("/store/namespaces", {}, **{name: f"{one}x" for name, one in headers.items()}).status == 401
        assert caller.post("/store/namespaces", {}).status == 401


def test_items_are_deleted_by_a_filter_and_only_one_s_own(app: App) -> None:
    with_settings(app, subject_claim="sub")
    anna, bert = (Caller(Cloud(app, {"tenant": "acme", "sub": name})) for name in ("anna", "bert"))
    put(anna, {"a": 1})
    body = {"where": {"a": 1}}
    assert bert.post("/store/items/delete", body).json["matched"] == 0
    assert anna.post("/store/items/delete", {**body, "dry_run": True}).json["matched"] == 1
    assert anna.post("/store/items/delete", body).json["deleted"] == 1
    assert got(anna) is None
    wrong: list[dict[str, Any]] = [{}, {"where": {"and": []}}, {"where": {"a": {"x": 1}}}]
    assert [anna.post("/store/items/delete", one).status for one in wrong] == [422] * 3
