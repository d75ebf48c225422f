"""mem0's wire on the laptop's server: whose a memory is, its filters, and what its client need not ask for."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entrypoints.http.calling import Answered, Caller, Cloud, Laptop
from entrypoints.http.conftest import opened
from recollect.app import App
from recollect.contracts.examples import an_event
from recollect.core.errors import InvalidInput, NotFound
from recollect.core.filter import holds
from recollect.core.ids import id_fault
from recollect.entrypoints.http.mem0.entities import Entities, entity_of, memory_id_of, owner_of, split_memory_id
from recollect.entrypoints.http.mem0.filters import in_index, selection_of
from recollect.entrypoints.http.routing import path_id
from recollect.retrieval.attributes import event_fields

ANNA = {"user_id": "anna"}
TEA = "I drink green tea every morning"
UUID = "0190163d-8694-739b-aea5-966c26f8ad91"
SEEN = {
    "id": f"{UUID}.anna",
    "memory": "Likes Jam",
    "user_id": "anna",
    "run_id": "trip",
    "metadata": {"n": 3, "tags": ["a", "b"], "deep": {"x": "y"}},
    "categories": [],
    "created_at": "2026-05-01T12:00:00.000000Z",
    "updated_at": "2026-05-02T12:00:00.000000Z",
}
OWNER_IDS = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=16)


@pytest.fixture
def mem0(laptop: Laptop) -> Caller:
    return Caller(laptop)


def ok(answer: Answered) -> Any:
    assert answer.status == 200, answer.text
    return answer.json


def add(mem0: Caller, *texts: str, headers: dict[str, str] | None = None, **more: Any) -> list[dict[str, Any]]:
    messages = [{"role": "user", "content": text} for text in texts]
    body = {"messages": messages, **(more if {"user_id", "agent_id", "run_id"} & more.keys() else {**ANNA, **more})}
    return list(ok(mem0.post("/v3/memories/add/", body, **headers or {}))["results"])


def listed(mem0: Caller, **body: Any) -> list[str]:
    return [one["memory"] for one in ok(mem0.post("/v3/memories/", {"filters": ANNA, **body}))["results"]]


def found(mem0: Caller, query: str, **body: Any) -> list[str]:
    answer = mem0.post("/v3/memories/search/", {"query": query, "filters": ANNA, **body})
    return [one["memory"] for one in ok(answer)["results"]]


@pytest.mark.parametrize(
    ("filters", "passes"),
    [
        ({}, True),
        ({"run_id": "trip"}, True),
        ({"run_id": "*"}, True),
        ({"agent_id": "*"}, False),
        ({"agent_id": None}, True),
        ({"run_id": None}, False),
        ({"agent_id": {"ne": "bot"}}, True),
        ({"run_id": ["trip", "home"]}, True),
        ({"metadata": {"n": 3}}, True),
        ({"metadata": {"n": {"gt": 3}}}, False),
        ({"metadata": {"n": {"gte": 3, "lt": 4}}}, True),
        ({"metadata": {"tags": {"contains": "a"}}}, True),
        ({"metadata": {"deep": {"x": "y"}}}, True),
        ({"metadata": {"deep": {"x": {"ne": "y"}}}}, False),
        ({"keywords": {"icontains": "jam"}}, True),
        ({"keywords": {"contains": "jam"}}, False),
        ({"created_at": {"gte": "2026-05-01", "lt": "2026-05-02"}}, True),
        ({"created_at": {"gt": 1_777_636_800}}, False),
        ({"updated_at": {"gt": "2026-05-01T12:00:00+00:00"}}, True),
        ({"memory_ids": [f"{UUID}.anna"]}, True),
        ({"categories": {"contains": "food"}}, False),
        ({"NOT": [{"run_id": "trip"}, {"run_id": "home"}]}, False),
        ({"NOT": {"run_id": "home"}}, True),
        ({"OR": [{"run_id": "home"}, {"metadata": {"n": 3}}]}, True),
        ({"OR": [{"run_id": "home"}, {"AND": [{"run_id": "trip"}, {"metadata": {"n": 4}}]}]}, False),
    ],
)
def test_a_filter_means_what_mem0_means(filters: dict[str, Any], passes: bool) -> None:
    assert holds(selection_of({**ANNA, **filters}).filter, SEEN) is passes


@pytest.mark.parametrize(
    ("filters", "owners"),
    [
        (ANNA, ["anna"]),
        ({"user_id": {"in": ["anna", "ben"]}}, ["anna", "ben"]),
        ({"user_id": {"eq": "anna"}, "agent_id": "bot"}, ["anna"]),
        ({"agent_id": "bot", "run_id": "trip"}, ["agent:bot"]),
        ({"app_id": "shop"}, ["app:shop"]),
        ({"run_id": "trip"}, ["run:trip"]),
        ({"AND": [{"agent_id": "bot"}, {"AND": [ANNA]}]}, ["anna"]),
        ({"OR": [ANNA, {"agent_id": "bot"}, ANNA]}, ["anna", "agent:bot"]),
        ({"agent_id": "bot", "OR": [ANNA, {"user_id": "ben"}]}, ["anna", "ben"]),
        ({"agent_id": "bot", "OR": [{"metadata": {"n": 1}}, {"metadata": {"n": 2}}]}, ["agent:bot"]),
        ({"user_id": "*", "agent_id": "bot"}, ["agent:bot"]),
    ],
)
def test_whose_memories_a_filter_names(filters: dict[str, Any], owners: list[str]) -> None:
    assert list(selection_of(filters).owners) == owners


@pytest.mark.parametrize(
    "filters",
    [
        None,
        {},
        [],
        "anna",
        {"user_id": "*"},
        {"metadata": {"n": 1}},
        {"NOT": [ANNA]},
        {"OR": [ANNA, {"metadata": {"n": 1}}]},
        {**ANNA, "colour": "red"},
        {**ANNA, "and": []},
        {**ANNA, "AND": {}},
        {**ANNA, "AND": [1]},
        {**ANNA, "run_id": {"like": "x"}},
        {**ANNA, "run_id": {}},
        {**ANNA, "created_at": "soon"},
        {**ANNA, "metadata": {"a$b": 1}},
        {**ANNA, "metadata": {"n": {"in": 3}}},
        {"user_id": 5},
        {"agent_id": 5},
        {"user_id": "x" * 92},
        {"agent_id": "ü" * 64},
        {**ANNA, "AND": [{"metadata": {"n": n}} for n in range(70)]},
    ],
)
def test_what_is_no_filter_of_mem0s_is_a_400(mem0: Caller, filters: Any) -> None:
    answer = mem0.post("/v3/memories/search/", {"query": "tea", "filters": filters})
    assert (answer.status, answer.headers["content-type"]) == (400, "application/json")
    assert isinstance(answer.json["detail"], str)


@pytest.mark.parametrize(
    ("filters", "narrows"),
    [
        ({"run_id": "home"}, True),
        ({"agent_id": "*"}, True),
        ({"run_id": None}, True),
        ({"user_id": {"in": ["ben", "cid"]}}, True),
        ({"metadata": {"n": {"gt": 3}}}, True),
        ({"NOT": {"metadata": {"deep": {"x": "y"}}}}, True),
        ({"created_at": {"gt": "2026-05-02"}}, True),
        ({"OR": [{"run_id": "home"}, {"metadata": {"n": 4}}]}, True),
        ({"keywords": {"contains": "no such word"}}, False),
        ({"NOT": {"keywords": {"icontains": "jam"}}}, False),
        ({"OR": [{"run_id": "home"}, {"memory_ids": ["x"]}]}, False),
        ({"updated_at": {"gt": "2030-05-02"}}, False),
    ],
)
def test_an_index_leaves_out_what_it_tells_and_nothing_else(filters: dict[str, Any], narrows: bool) -> None:
    kept = {"mem0_run_id": "trip", "n": 3, "deep": {"x": "y"}}
    seen = event_fields(an_event(timestamp=datetime(2026, 5, 1, 12, tzinfo=UTC), metadata=kept))
    assert not holds(selection_of({**ANNA, **filters}).filter, SEEN)
    assert holds(in_index(selection_of({**ANNA, **filters}).filter, "anna"), seen) is not narrows


@given(st.sampled_from(["user_id", "agent_id", "app_id", "run_id"]), OWNER_IDS)
def test_an_id_names_its_owner_in_one_segment_of_a_path(name: str, value: str) -> None:
    try:
        owner = owner_of(name, value)
    except InvalidInput:
        assert id_fault(value) is not None
        return
    given_id = memory_id_of(owner, UUID)
    assert split_memory_id(given_id) == (owner, UUID)
    assert path_id(given_id, ()) == given_id
    assert "/" not in given_id
    assert name == "user_id" or entity_of(owner) == {name: value}


@pytest.mark.parametrize("given_id", ["", ".", UUID, f"{UUID}.", ".anna", f"{UUID}.~?", "a b"])
def test_another_id_is_no_memory(given_id: str) -> None:
    with pytest.raises(NotFound):
        split_memory_id(given_id)


def test_an_owner_is_the_first_that_is_named() -> None:
    entities = Entities.of({"run_id": "trip", "agent_id": "bot", "user_id": None})
    assert (entities.owner, entities.kept) == ("agent:bot", {"mem0_agent_id": "bot", "mem0_run_id": "trip"})
    assert Entities.of_memory("agent:bot", entities.kept) == entities
    with pytest.raises(InvalidInput):
        _ = Entities().owner


def test_messages_are_events_of_their_run_and_make_memories_at_once(mem0: Caller) -> None:
    messages = [
        {"role": "system", "content": "Be brief"},
        {"role": "user", "content": [{"type": "text", "text": TEA}, {"type": "image_url", "image_url": {}}]},
        {"role": "assistant", "content": "Noted"},
        {"role": "user", "content": "What do I drink?"},
    ]
    body = {"messages": messages, "user_id": "anna", "run_id": "talk", "metadata": {"n": 1}, "version": "v2"}
    (made,) = ok(mem0.post("/v3/memories/add/", body))["results"]
    assert (made["memory"], made["event"], made["metadata"], made["run_id"]) == (TEA, "ADD", {"n": 1}, "talk")
    said = mem0.timeline(conversation_id="talk").json["events"]
    assert [one["content"] for one in said] == ["What do I drink?", "Noted", TEA]
    assert listed(mem0) == [TEA]
    assert found(mem0, "tea in the morning", threshold=0) == [TEA]
    assert add(mem0, TEA)[0]["event"] == "NONE"


def test_of_an_agent_its_own_words_are_memories(mem0: Caller) -> None:
    body = {"messages": [{"role": "assistant", "content": "I answer in French"}]}
    (made,) = ok(mem0.post("/v3/memories/add/", {**body, "filters": {"agent_id": "helper"}}))["results"]
    assert (made["agent_id"], made["user_id"]) == ("helper", None)
    assert ok(mem0.post("/v3/memories/add/", {**body, **ANNA}))["results"] == []


def test_a_search_narrows_by_entities_and_metadata(mem0: Caller) -> None:
    for n in range(3):
        add(mem0, f"I drink tea number {n}", infer=False, user_id="anna", run_id=f"r{n}", metadata={"n": n})
    assert found(mem0, "tea", filters={**ANNA, "run_id": "r1"}) == ["I drink tea number 1"]
    assert found(mem0, "tea", filters={**ANNA, "metadata": {"n": 2}}) == ["I drink tea number 2"]
    assert len(found(mem0, "tea", top_k=2)) == 2
    assert len(found(mem0, "tea", filters={"OR": [ANNA, {"agent_id": "nobody"}]})) == 3


def test_a_reference_date_asks_of_the_past(mem0: Caller) -> None:
    for year in (2024, 2025):
        add(mem0, f"I like tea of {year}", infer=False, timestamp=f"{year}-03-01T12:00:00Z")
    assert found(mem0, "tea", reference_date="2024-03-01") == ["I like tea of 2024"]
    assert found(mem0, "tea", reference_date="2024-02-29") == []
    assert len(found(mem0, "tea", reference_date=1_767_225_600)) == 2
    assert listed(mem0, start_date="2025-01-01") == ["I like tea of 2025"]
    assert listed(mem0, end_date="2025-01-01") == ["I like tea of 2024"]


def test_a_memory_is_there_through_its_last_day(mem0: Caller) -> None:
    (made,) = add(mem0, TEA, infer=False, expiration_date="2026-05-01", headers={"x_recollect_now": "2026-04-01"})
    path = f"/v1/memories/{made['id']}/"
    assert mem0.get(path, x_recollect_now="2026-05-01T23:59:59Z").json["expiration_date"] == "2026-05-01"
    assert mem0.get(path, x_recollect_now="2026-05-02").status == 404
    at = {"x_recollect_now": "2026-04-02"}
    assert ok(mem0.put(path, {"expiration_date": None}, **at))["expiration_date"] is None
    assert ok(mem0.put(path, {"expiration_date": "9999-12-31"}, **at))["expiration_date"] is None, "never"
    assert ok(mem0.put(path, {"expiration_date": "2999-01-31"}, **at))["expiration_date"] == "2999-01-31"
    assert [mem0.put(path, {"expiration_date": day}, **at).status for day in ("soon", "1850-01-01")] == [400, 400]


def test_an_update_keeps_whose_it_is(mem0: Caller) -> None:
    (made,) = add(mem0, TEA, infer=False, user_id="anna", run_id="talk", metadata={"n": 1})
    path = f"/v1/memories/{made['id']}/"
    assert ok(mem0.put(path, {"metadata": {"n": 2, "mem0_run_id": "other"}}))["run_id"] == "talk"
    after = ok(mem0.get(path))
    assert (after["memory"], after["metadata"], after["run_id"]) == (TEA, {"n": 2}, "talk")
    assert found(mem0, TEA, filters={**ANNA, "metadata": {"n": 2}}) == [TEA]
    assert mem0.put(path, {"timestamp": 5}).status == 400


def test_what_two_entities_have_in_common_is_deleted_with_what_was_said(mem0: Caller) -> None:
    for run in ("a", "b"):
        messages = [{"role": "user", "content": f"I like run {run}"}, {"role": "assistant", "content": "Good"}]
        ok(mem0.post("/v3/memories/add/", {"messages": messages, "user_id": "anna", "run_id": run}))
    ok(mem0.delete("/v1/memories/?user_id=anna&run_id=a"))
    assert listed(mem0) == ["I like run b"]
    assert {one["conversation_id"] for one in mem0.timeline().json["events"]} == {"b"}
    assert mem0.delete("/v1/memories/").status == 400


def test_a_deletion_reaches_what_holds_no_more(mem0: Caller) -> None:
    for city in ("Paris", "Lyon"):
        saved = {"user_id": "anna", "content": f"I live in {city}", "key": "city", "metadata": {"mem0_run_id": "a"}}
        assert mem0.post("/v1/memories", saved).status == 201
    everything = mem0.get("/v1/users/anna/memories").json["memories"]
    assert {one["status"] for one in everything} == {"active", "superseded"}
    ok(mem0.delete("/v1/memories/?user_id=anna&run_id=a"))
    assert mem0.get("/v1/users/anna/memories").json["memories"] == []


def test_an_erased_user_starts_anew(mem0: Caller) -> None:
    for infer in (True, False):
        (made,) = add(mem0, TEA, infer=infer)
        ok(mem0.delete("/v1/memories/?user_id=anna"))
        assert (listed(mem0), found(mem0, TEA)) == ([], [])
        assert mem0.get(f"/v1/memories/{made['id']}/").status == 404
    add(mem0, TEA)
    assert (listed(mem0), found(mem0, TEA)) == ([TEA], [TEA])


def test_a_number_is_found_however_it_is_written(mem0: Caller) -> None:
    add(mem0, TEA, infer=False, metadata={"n": 3.0, "kind": "drink"})
    assert found(mem0, TEA, filters={**ANNA, "metadata": {"n": 3, "kind": "drink"}}) == [TEA]


def test_names_of_any_characters_come_back(mem0: Caller) -> None:
    name = "Zoë / #1"
    add(mem0, TEA, infer=False, user_id=name)
    (made,) = ok(mem0.post("/v3/memories/", {"filters": {"user_id": name}}))["results"]
    assert ok(mem0.get(f"/v1/memories/{quote(made['id'], safe='')}/"))["user_id"] == name
    assert [one["name"] for one in ok(mem0.get("/v1/entities/"))["results"]] == [name]


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/v3/memories/search/", {"query": "tea", "user_id": "anna", "filters": ANNA}, 400),
        ("/v3/memories/search/", {"query": "tea", "filters": ANNA, "categories": ["food"]}, 400),
        ("/v3/memories/search/", {"query": " ", "filters": ANNA}, 422),
        ("/v3/memories/add/", {"messages": [{"role": "user", "content": TEA}]}, 400),
        ("/v3/memories/add/", {"messages": [{"role": "user", "content": 5}], **ANNA}, 400),
        ("/v3/memories/add/", {"messages": [], **ANNA}, 422),
        ("/v1/feedback/", {"memory_id": f"{UUID}.anna", "feedback": "POSITIVE"}, 404),
        ("/v1/exports/", {"schema": "{}"}, 404),
        ("/v1/summary/", {}, 404),
    ],
)
def test_what_is_refused(mem0: Caller, path: str, body: dict[str, Any], status: int) -> None:
    assert mem0.post(path, body).status == status


def test_a_rejected_value_is_not_stored_again(mem0: Caller) -> None:
    (made,) = add(mem0, TEA, infer=False)
    memory_id = made["id"].partition(".")[0]
    assert mem0.delete(f"/v1/users/anna/memories/{memory_id}?reject=true").status == 204
    for infer in (True, False):
        body = {"messages": [{"role": "user", "content": TEA}], **ANNA, "infer": infer}
        answer = mem0.post("/v3/memories/add/", body)
        assert (answer.status, answer.headers["content-type"]) == (409, "application/json")


@pytest.fixture
def two_tenants(tmp_path: Path) -> Iterator[App]:
    keys = '{"key-a": {"tenant": "acme"}, "key-b": {"tenant": "other"}}'
    with opened(tmp_path, RECOLLECT_API_KEYS=keys) as app:
        yield app


def test_a_tenant_sees_its_own(two_tenants: App) -> None:
    laptop = Laptop(two_tenants)
    mem0 = Caller(laptop)
    (made,) = add(mem0, TEA, infer=False, headers={"authorization": "Token key-a"})
    path = f"/v1/memories/{made['id']}/"
    statuses = [mem0.get(path, authorization=f"Token {key}").status for key in ("key-a", "key-b", "key-c")]
    laptop.close()
    assert statuses == [200, 404, 401]


def test_no_function_of_the_cloud_has_these_routes(cloud: Cloud) -> None:
    assert Caller(cloud).get("/v1/ping/").status == 404
