"""`/v1/knowledge`: entries with versions, the prompt section, queries resolved, corrections learnt."""

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from entrypoints.http.calling import Answered, Caller, Cloud, Laptop
from entrypoints.http.promised import check, document
from entrypoints.http.test_ids_in_paths import IDS, encoded
from knowledge.test_knowledge import CLIENT_NAME, VIP_USER
from recollect.app import App
from recollect.core.items import ItemKey, ItemPath, ItemWrite, of_tenant
from recollect.entrypoints.http.routing import path_segment

DOCUMENT = "No, by 'cost' I mean the 'total_amount' field"


def at(namespace: str, key: str) -> str:
    """The path of an entry."""
    return f"/v1/knowledge/{path_segment(namespace)}/{path_segment(key)}"


def put(caller: Caller, namespace: str, key: str, value: Any, **headers: str) -> Answered:
    """PUT of a value."""
    return caller.put(at(namespace, key), {"value": value}, **headers)


def delete(caller: Caller, namespace: str, key: str, **headers: str) -> Answered:
    """DELETE of an entry."""
    return caller.delete(at(namespace, key), **headers)


def prompt(caller: Caller, **query: str) -> str:
    """The prompt section."""
    answer = caller.get("/v1/knowledge", {"format": "prompt", **query})
    assert answer.status == 200, answer.text
    assert set(answer.json) == {"prompt"}
    return str(answer.json["prompt"])


def resolved(caller: Caller, text: str, store: str, **more: Any) -> Any:
    """A query made plain."""
    answer = caller.post("/v1/knowledge/resolve", {"text": text, "store": store, **more})
    assert answer.status == 200, answer.text
    return answer.json


@pytest.mark.spec("S-02", "S-11", "S-17")
@pytest.mark.parametrize("as_text", [True, False])
def test_the_documents_entries_are_put_and_read(caller: Caller, as_text: bool) -> None:
    for namespace, key, text in (("vocabulary", "users:client_name", CLIENT_NAME), ("rule", "vip_user", VIP_USER)):
        answer = put(caller, namespace, key, text if as_text else json.loads(text), x_recollect_now="2024-05-01")
        assert (answer.status, answer.headers["etag"]) == (200, '"1"')
        read = caller.get(at(namespace, key))
        assert read.json == answer.json
        assert json.loads(text).items() <= read.json["value"].items()
        assert {name: read.json[name] for name in ("namespace", "key", "version", "updated_at")} == {
            "namespace": namespace,
            "key": key,
            "version": 1,
            "updated_at": "2024-05-01T00:00:00.000000Z",
        }


@pytest.mark.spec("S-02", "S-04", "S-39")
@pytest.mark.parametrize(
    ("namespace", "key", "value", "loc"),
    [
        ("vocabulary", "cost", {"target": "t"}, ("path", "key")),
        ("vocabulary", "orders:cost", {}, ("body", "value", "target")),
        ("rule", "r", {"condition": "c", "applies_to": ["a", 2]}, ("body", "value", "applies_to", 1)),
        ("notes", "n", [[[[[[[[[1]]]]]]]]], ("body", "value")),
        ("notes", "n", None, ("body", "value")),
    ],
)
def test_what_breaks_a_schema_is_422_and_names_the_place(
    caller: Caller, namespace: str, key: str, value: Any, loc: tuple[Any, ...]
) -> None:
    answer = put(caller, namespace, key, value)
    assert (answer.status, answer.locs) == (422, {loc})
    assert caller.get("/v1/knowledge").json == {"entries": []}


@pytest.mark.spec("S-39")
def test_a_namespace_of_ones_own_takes_any_json(caller: Caller) -> None:
    for value in ({"a": [None]}, [1], "text", 0, False, ""):
        assert put(caller, "notes", "n", value).json["value"] == value
    assert prompt(caller) == ""


def test_versions_are_kept_and_asked_for(caller: Caller) -> None:
    assert put(caller, "notes", "n", 1, if_match='"1"').status == 412
    assert put(caller, "notes", "n", 1, if_match="*").status == 412
    assert put(caller, "notes", "n", 1).headers["etag"] == '"1"'
    for name, status in (('"2"', 412), ('W/"1"', 412), ("1", 412), ("", 412), ('"0", "1"', 200), ("*", 200)):
        assert put(caller, "notes", "n", 2, if_match=name).status == status, name
    assert caller.get(at("notes", "n")).json["version"] == 3
    assert delete(caller, "notes", "n", if_match='"2"').status == 412
    gone = delete(caller, "notes", "n", if_match='"3"')
    assert (gone.status, gone.text) == (204, "")
    assert [caller.get(at("notes", "n")).status, delete(caller, "notes", "n").status] == [404, 404]
    assert caller.get(at("vocabulary", "no-such")).status == 404


def test_of_two_writers_with_one_version_one_is_told(laptop: Laptop) -> None:
    put(Caller(laptop), "notes", "n", "first")
    body = json.dumps({"value": "mine"}).encode()

    async def both() -> list[int]:
        send = [laptop.send_async("PUT", at("notes", "n"), body, {"If-Match": '"1"'}) for _ in range(8)]
        return [answer.status for answer in await asyncio.gather(*send)]

    assert sorted(laptop._runner.run(both())) == [200] + [412] * 7
    assert Caller(laptop).get(at("notes", "n")).json["version"] == 2


def test_keys_and_namespaces_of_every_class_stay_apart(caller: Caller) -> None:
    for position, name in enumerate(IDS):
        path = f"/v1/knowledge/{encoded(name)}/{encoded(name)}"
        assert caller.put(path, {"value": position}).status == 200, name
    for position, name in enumerate(IDS):
        (entry,) = caller.get(f"/v1/knowledge/{encoded(name)}").json["entries"]
        assert (entry["namespace"], entry["key"], entry["value"]) == (name, name, position)
    listed = caller.get("/v1/knowledge", {"limit": "200"}).json["entries"]
    names = [entry["namespace"] for entry in listed]
    assert names == sorted(IDS, key=str.encode)


def test_lists_go_on_by_cursors_that_belong_to_them(app: App, caller: Caller) -> None:
    for number in range(7):
        put(caller, "notes", f"n{number}", number)
        put(caller, "rule", f"r{number}", {"condition": "c"})
    found = [entry["key"] for entry in caller.walk("/v1/knowledge", "entries", limit=3)]
    assert found == [f"n{n}" for n in range(7)] + [f"r{n}" for n in range(7)]
    cursor = caller.get("/v1/knowledge/notes", {"limit": "1"}).json["next_cursor"]
    assert caller.get("/v1/knowledge/notes", {"cursor": cursor}).json["entries"][0]["key"] == "n1"
    globex = Caller(Cloud(app, {"tenant": "globex"}))
    for one, path in ((caller, "/v1/knowledge"), (caller, "/v1/knowledge/rule"), (globex, "/v1/knowledge/notes")):
        answer = one.get(path, {"cursor": cursor})
        assert (answer.status, answer.locs) == (422, {("query", "cursor")}), path
    assert caller.get("/v1/knowledge", {"limit": "201"}).status == 422


def test_tenants_share_nothing(app: App, caller: Caller) -> None:
    globex = Caller(Cloud(app, {"tenant": "globex"}))
    put(caller, "vocabulary", "orders:cost", {"target": "total"})
    assert globex.get("/v1/knowledge").json == {"entries": []}
    assert globex.get(at("vocabulary", "orders:cost")).status == 404
    assert delete(globex, "vocabulary", "orders:cost").status == 404
    assert resolved(globex, "cost", "orders")["text"] == "cost"
    assert prompt(globex) == ""
    put(globex, "vocabulary", "orders:cost", {"target": "other"})
    assert resolved(caller, "cost", "orders")["text"] == "total"


@pytest.mark.spec("S-31", "S-33", "S-34", "S-35", "S-36", "S-37", "S-38")
def test_the_documents_prompt_byte_for_byte(caller: Caller) -> None:
    put(caller, "rule", "vip_user", {"condition": "count > 100"})
    put(caller, "vocabulary", "orders:cost", {"target": "amount"})
    put(caller, "vocabulary", "users:client_name", CLIENT_NAME)
    put(caller, "notes", "n", "in no prompt")
    assert prompt(caller) == (
        "[Semantic Memory]\n"
        "The following terms have special meanings in this database:\n"
        '- "client_name" (users) -> Mapped to field: "name"\n'
        '- "cost" (orders) -> Mapped to field: "amount"\n'
        "\n"
        "[Business Rules]\n"
        '- "vip_user": Apply filter "count > 100"'
    )
    assert "client_name" not in prompt(caller, store="orders")


def test_resolve_and_learn_are_names_of_namespaces_too(caller: Caller) -> None:
    for name in ("resolve", "learn"):
        assert put(caller, name, "k", name).status == 200
        assert [entry["value"] for entry in caller.get(f"/v1/knowledge/{name}").json["entries"]] == [name]
        assert caller.get(at(name, "k")).json["value"] == name
        wrong = caller.put(f"/v1/knowledge/{name}", {})
        assert (wrong.status, wrong.headers["allow"]) == (405, "GET, POST")
    assert caller.post("/v1/knowledge/rule", {}).status == 405


@pytest.mark.spec("S-02")
def test_a_malformed_legacy_value_is_skipped_and_logged_as_a_number(app: App, caller: Caller) -> None:
    key = ItemKey(ItemPath("llm_knowledge", ("meaning", "rule")), "vip_user")
    from datetime import UTC, datetime

    app.parts.items.write(of_tenant("local"), [ItemWrite(key, {"value": {"condition": ["secret"]}})], datetime.now(UTC))
    put(caller, "vocabulary", "orders:cost", {"target": "total"})
    assert '- "cost" (orders)' in prompt(caller)
    assert resolved(caller, "cost vip_user", "orders")["diagnostics"] == {"skipped": 1, "cut": False}
    lines = caller.surface.log.getvalue().splitlines()
    assert [json.loads(line)["outcome"].get("skipped") for line in lines][-2:] == [1, 1]
    assert not any("secret" in line or "cost" in line for line in lines)


@given(text=st.text(max_size=80), store=st.text(min_size=1, max_size=9), namespace=st.text(min_size=1, max_size=5))
@settings(max_examples=40)
def test_whatever_is_sent_is_answered(cloud: Cloud, text: str, store: str, namespace: str) -> None:
    caller = Caller(cloud)
    assert put(caller, "vocabulary", f"{store[:5]}:{text[:40]}", {"target": text}).status in (200, 422)
    for path in ("/v1/knowledge/resolve", "/v1/knowledge/learn"):
        assert caller.post(path, {"text": text, "store": store}).status in (200, 422)
    path = f"/v1/knowledge/{encoded(namespace)}"
    assert caller.get(path).status in (200, 422)


def test_large_texts_are_refused_and_a_resolved_text_stays_within_an_answer(caller: Caller) -> None:
    assert caller.post("/v1/knowledge/learn", {"text": "a" * 1_000_000}).status == 422
    put(caller, "vocabulary", "s:a", {"target": "t" * 256})
    answer = caller.post("/v1/knowledge/resolve", {"text": "a " * 32_000, "store": "s"})
    assert answer.status == 422
    assert len(answer.text) < 1_000
    assert resolved(caller, "a " * 1_000, "s")["replacements"][0]["count"] == 1_000


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_answers_are_what_the_document_promises(caller: Caller) -> None:
    paths = document()["paths"]
    entry, namespace = paths["/v1/knowledge/{namespace}/{key}"], paths["/v1/knowledge/{namespace}"]
    check(put(caller, "vocabulary", "users:client", {"target": "name"}), entry["put"])
    check(put(caller, "rule", "vip_user", VIP_USER), entry["put"])
    check(put(caller, "rule", "vip_user", {}), entry["put"])
    check(put(caller, "rule", "vip_user", VIP_USER, if_match='"9"'), entry["put"])
    check(caller.get(at("rule", "vip_user")), entry["get"])
    check(caller.get(at("rule", "none")), entry["get"])
    check(caller.get("/v1/knowledge/rule", {"limit": "1"}), namespace["get"])
    for query in ({"limit": "1"}, {"format": "prompt"}, {"format": "odd"}):
        check(caller.get("/v1/knowledge", query), paths["/v1/knowledge"]["get"])
    asked = {"text": "client of vip_user", "store": "users"}
    check(caller.post("/v1/knowledge/resolve", asked), paths["/v1/knowledge/resolve"]["post"])
    check(caller.post("/v1/knowledge/resolve", {**asked, "text": ""}), paths["/v1/knowledge/resolve"]["post"])
    for text in (DOCUMENT, "nothing"):
        check(caller.post("/v1/knowledge/learn", {"text": text}), paths["/v1/knowledge/learn"]["post"])
    check(delete(caller, "rule", "vip_user", if_match='"9"'), entry["delete"])
    assert delete(caller, "rule", "vip_user").status == 204
    check(delete(caller, "rule", "vip_user"), entry["delete"])


@pytest.mark.spec("P-22")
def test_credentials_of_one_user_write_in_that_users_name(app: App) -> None:
    object.__setattr__(app.settings, "subject_claim", "sub")
    anna, ben = (Caller(Cloud(app, {"tenant": "local", "sub": name, "scope": "openid"})) for name in ("anna", "ben"))
    (event_id,) = anna.added("The zebra sings at midnight")
    gone = anna.delete(f"/v1/users/anna/events/{event_id}?reject=true")
    assert gone.status == 204
    refused = put(anna, "notes", "songs", "the ZEBRA sings at midnight")
    check(refused, document()["paths"]["/v1/knowledge/{namespace}/{key}"]["put"])
    taught = anna.post("/v1/knowledge/learn", {"text": "No, by 'zebra' I mean the 'The zebra sings at midnight' field"})
    assert (refused.status, taught.status) == (409, 409)
    assert put(ben, "notes", "songs", "The zebra sings at midnight").status == 200
    assert put(anna, "notes", "songs", "la la la").status == 200
    assert delete(anna, "notes", "songs").status == 204
    entries = anna.get("/v1/users/anna/audit").json["entries"]
    found = [(one["action"], one["via"], one["actor"]["kind"]) for one in entries if one["via"] == "knowledge"]
    person = ("knowledge", "user")
    assert found == [("delete", *person), ("patch", *person), ("refuse", *person), ("refuse", *person)]
    assert "zebra" not in json.dumps(entries).lower()
