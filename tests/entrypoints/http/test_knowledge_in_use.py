"""`POST /v1/knowledge/resolve` and `/learn`: queries made plain, corrections learnt."""

import pytest

from entrypoints.http.calling import Caller
from entrypoints.http.test_knowledge import DOCUMENT, at, put, resolved
from knowledge.test_knowledge import CLIENT_NAME, VIP_USER

CONFIRMED = "I have learnt that 'cost' refers to 'total_amount' for future queries."


@pytest.mark.spec("S-22", "S-23", "S-24", "S-30")
def test_a_query_is_resolved(caller: Caller) -> None:
    put(caller, "vocabulary", "users:client_name", CLIENT_NAME)
    put(caller, "rule", "vip_user", VIP_USER)
    assert resolved(caller, "Client_Name of each VIP user", "users", filter="age > 18") == {
        "text": "name of each VIP user",
        "filter": "(age > 18) AND (orders_count > 100 AND status == 'active')",
        "replacements": [{"key": "users:client_name", "term": "client_name", "target": "name", "count": 1}],
        "rules": [{"key": "vip_user", "condition": "orders_count > 100 AND status == 'active'"}],
        "comments": ["Applying learnt rule: 'vip_user'"],
        "diagnostics": {"skipped": 0, "cut": False},
    }
    assert resolved(caller, "vip_user", "users")["filter"] == "orders_count > 100 AND status == 'active'"
    elsewhere = resolved(caller, "client_names of vip_user", "orders")
    assert (elsewhere["text"], elsewhere["filter"], elsewhere["rules"]) == ("client_names of vip_user", None, [])
    assert resolved(caller, "vip_user", "users", comments="none")["comments"] == []
    told = resolved(caller, "client_name", "users", comments="all")["comments"]
    assert told == ["Applying learnt mapping: 'client_name' -> 'name'"]


@pytest.mark.spec("S-25", "S-26", "S-27", "S-28", "S-29")
def test_the_documents_correction_is_learnt(caller: Caller) -> None:
    body = {"text": DOCUMENT, "store": "orders"}
    dry = caller.post("/v1/knowledge/learn", {**body, "dry_run": True})
    assert caller.get("/v1/knowledge").json == {"entries": []}
    answer = caller.post("/v1/knowledge/learn", body)
    assert answer.status == dry.status == 200
    value = {
        "target": "total_amount",
        "type": "synonym",
        "description": "Users refer to the 'total_amount' field as 'cost'",
        "confidence": 1.0,
        "source": "user_instruction",
    }
    parameters = {"namespace": "vocabulary", "key": "orders:cost", "value": value, "action": "upsert"}
    told = {"tool_call": {"tool": "manage_knowledge", "parameters": parameters}, "confirmation": CONFIRMED}
    assert answer.json == {**told, "stored": True}
    assert dry.json == {**told, "stored": False}
    assert caller.get(at("vocabulary", "orders:cost")).json["value"] == value
    assert resolved(caller, "cost", "orders")["text"] == "total_amount"


@pytest.mark.spec("S-27")
def test_without_a_store_it_holds_everywhere(caller: Caller) -> None:
    learnt = caller.post("/v1/knowledge/learn", {"text": DOCUMENT}).json
    assert learnt["tool_call"]["parameters"]["key"] == "global:cost"
    assert resolved(caller, "cost", "anything")["text"] == "total_amount"


@pytest.mark.spec("S-25")
@pytest.mark.parametrize("text", ["", "Do you think by 'cost' I mean 'total_amount'?", "By 'cost' I don't mean 'a'"])
def test_nothing_is_learnt_from_what_teaches_nothing(caller: Caller, text: str) -> None:
    answer = caller.post("/v1/knowledge/learn", {"text": text})
    assert (answer.status, answer.json) == (200, {"stored": False})
    assert caller.get("/v1/knowledge").json == {"entries": []}


def test_learning_twice_with_one_key_stores_once(caller: Caller) -> None:
    body = {"text": DOCUMENT, "store": "orders"}
    caller.twice("/v1/knowledge/learn", body, "k")
    assert caller.get(at("vocabulary", "orders:cost")).json["version"] == 1
    other = caller.post("/v1/knowledge/learn", {**body, "store": "users"}, idempotency_key="k")
    assert other.status == 422
    bad = caller.post("/v1/knowledge/learn", {**body, "store": "a:b"}, idempotency_key="j")
    assert (bad.status, bad.locs) == (422, {("body", "store")})
