"""Fifteen calls of mem0's own client, unchanged, against a running server: each test is one call.

mem0 publishes no suite that speaks to a server, so what each call must give is said here. COMPAT_URL is the server;
each test is a tenant of its own, by the keys `compat-0`, `compat-1`, … of which it knows COMPAT_KEYS.
"""

import itertools
import os
from typing import Any

os.environ["MEM0_TELEMETRY"] = "False"

import pytest
from mem0 import MemoryClient  # type: ignore[import-not-found]
from mem0.exceptions import MemoryNotFoundError, ValidationError  # type: ignore[import-not-found]

_KEYS = int(os.environ["COMPAT_KEYS"])
_numbers = itertools.count(_KEYS - 1, -1)
ANNA = {"user_id": "anna"}
TEA, CITY = "I drink green tea every morning", "I moved to Lyon in May"


@pytest.fixture
def client() -> MemoryClient:
    """mem0's client, of a tenant without memories."""
    return MemoryClient(api_key=f"compat-{next(_numbers)}", host=os.environ["COMPAT_URL"])


@pytest.fixture
def ids(client: MemoryClient) -> list[str]:
    """The ids of two memories of Anna's."""
    results = [client.add(text, user_id="anna", infer=False)["results"][0] for text in (TEA, CITY)]
    return [one["id"] for one in results]


def listed(client: MemoryClient, **filters: Any) -> list[str]:
    """The texts of what `get_all` gives, sorted."""
    return sorted(one["memory"] for one in client.get_all(filters=filters)["results"])


def test_ping(client: MemoryClient) -> None:
    assert client.project_id is not None
    with pytest.raises(ValueError, match="key is unknown"):
        MemoryClient(api_key="unknown", host=os.environ["COMPAT_URL"])


def test_add_messages(client: MemoryClient) -> None:
    messages = [
        {"role": "user", "content": TEA},
        {"role": "assistant", "content": "Noted!"},
        {"role": "user", "content": "Do you know where I live?"},
    ]
    answer = client.add(messages, user_id="anna", run_id="talk", metadata={"place": "kitchen"})
    assert answer["status"] == "SUCCEEDED"
    assert [(one["memory"], one["event"], one["run_id"]) for one in answer["results"]] == [(TEA, "ADD", "talk")]
    assert listed(client, **ANNA) == [TEA]


def test_add_as_given(client: MemoryClient) -> None:
    answer = client.add("ok", agent_id="helper", infer=False, expiration_date="2999-01-31")
    (one,) = answer["results"]
    assert (one["memory"], one["agent_id"], one["user_id"]) == ("ok", "helper", None)
    assert one["expiration_date"] == "2999-01-31"
    assert listed(client, agent_id="helper") == ["ok"]


def test_search(client: MemoryClient, ids: list[str]) -> None:
    results = client.search("Which tea do I drink in the morning?", filters=ANNA, top_k=1)["results"]
    assert [one["id"] for one in results] == ids[:1]
    assert 0.1 <= results[0]["score"] <= 1
    assert client.search("tea", filters=ANNA, threshold=1.0)["results"] == []


def test_search_with_filters(client: MemoryClient) -> None:
    for n, drink in enumerate(("tea", "coffee", "water")):
        client.add(f"I drink {drink}", user_id="anna", infer=False, metadata={"n": n, "drink": drink})
    filters = {"AND": [ANNA, {"metadata": {"n": {"gte": 1}}}, {"NOT": [{"metadata": {"drink": "water"}}]}]}
    assert [one["memory"] for one in client.search("drink", filters=filters)["results"]] == ["I drink coffee"]
    either = {"AND": [ANNA, {"OR": [{"keywords": {"icontains": "TEA"}}, {"metadata": {"n": {"in": [2]}}}]}]}
    assert {one["memory"] for one in client.search("drink", filters=either)["results"]} == {
        "I drink tea",
        "I drink water",
    }
    with pytest.raises(ValidationError, match="no field"):
        client.search("drink", filters={**ANNA, "colour": "red"})


def test_get_all_in_pages(client: MemoryClient, ids: list[str]) -> None:
    pages = [client.get_all(filters=ANNA, page=page, page_size=1) for page in (1, 2)]
    assert [page["count"] for page in pages] == [2, 2]
    assert [one["id"] for page in pages for one in page["results"]] == ids[::-1]
    assert (pages[0]["previous"], pages[1]["next"]) == (None, None)


def test_get(client: MemoryClient, ids: list[str]) -> None:
    assert client.get(ids[0])["memory"] == TEA
    with pytest.raises(MemoryNotFoundError):
        client.get("unknown")


def test_update(client: MemoryClient, ids: list[str]) -> None:
    client.update(ids[1], text="I moved to Nice in June", metadata={"sure": True})
    changed = client.get(ids[1])
    assert (changed["memory"], changed["metadata"]) == ("I moved to Nice in June", {"sure": True})
    assert changed["updated_at"] > changed["created_at"]


def test_history(client: MemoryClient, ids: list[str]) -> None:
    client.update(ids[1], text="I moved to Nice in June")
    history = client.history(ids[1])
    assert [(one["event"], one["old_memory"], one["new_memory"]) for one in history] == [
        ("ADD", None, CITY),
        ("UPDATE", CITY, "I moved to Nice in June"),
    ]


def test_delete(client: MemoryClient, ids: list[str]) -> None:
    client.delete(ids[0])
    assert listed(client, **ANNA) == [CITY]


def test_delete_all(client: MemoryClient) -> None:
    for text, user in ((TEA, "anna"), (CITY, "anna"), (TEA, "ben")):
        client.add(text, user_id=user, infer=False)
    client.add("I fly to Oslo", user_id="anna", run_id="trip", infer=False)
    client.delete_all(user_id="anna", run_id="trip")
    assert listed(client, **ANNA) == [TEA, CITY]
    client.delete_all(user_id="anna")
    assert (listed(client, **ANNA), listed(client, user_id="ben")) == ([], [TEA])


def test_users_and_delete_users(client: MemoryClient) -> None:
    client.add(TEA, user_id="anna", infer=False)
    client.add("I answer briefly", agent_id="helper", infer=False)
    found = {(one["type"], one["name"]) for one in client.users()["results"]}
    assert found == {("user", "anna"), ("agent", "helper")}
    client.delete_users(agent_id="helper")
    assert [one["name"] for one in client.users()["results"]] == ["anna"]


def test_batch_update(client: MemoryClient, ids: list[str]) -> None:
    client.batch_update([{"memory_id": ids[0], "text": "I drink coffee"}, {"memory_id": ids[1], "text": "I am home"}])
    assert listed(client, **ANNA) == ["I am home", "I drink coffee"]


def test_batch_delete(client: MemoryClient, ids: list[str]) -> None:
    client.batch_delete([{"memory_id": one} for one in ids])
    assert listed(client, **ANNA) == []


def test_feedback(client: MemoryClient, ids: list[str]) -> None:
    assert client.feedback(ids[0], feedback="POSITIVE")["feedback"] == "POSITIVE"
