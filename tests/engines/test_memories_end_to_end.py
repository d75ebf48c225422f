"""Memories on the real engines: saved, found before and after the stream, promoted, edited, deleted, written twice."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import pytest

from engines.conftest import Answer, Deployment
from engines.test_end_to_end import events
from recollect.core.items import ItemPath
from recollect.core.scope import Scope

pytestmark = pytest.mark.engines

LYON = "Anna lives in Lyon"
OSLO = "Anna moved to Oslo"
MODES: dict[str, dict[str, Any]] = {"hybrid": {}, "lexical": {}, "semantic": {"min_similarity": 0.9}}
MEMORIES = "/v1/users/anna/memories"


def save(deployment: Deployment, content: str = LYON, tenant: str = "acme", once: str = "", **more: Any) -> Answer:
    body = {"user_id": "anna", "content": content, **more}
    headers = {"idempotency-key": once} if once else {}
    return deployment.call("retrieval", "POST", "/v1/memories", body, tenant, headers)


def saved(deployment: Deployment, content: str = LYON, **more: Any) -> dict[str, Any]:
    answer = save(deployment, content, **more)
    assert answer.status == 201, answer.body
    return dict(answer.body)


def patch(deployment: Deployment, memory_id: str, version: int | None = None, **changes: Any) -> Answer:
    headers = {"if-match": "*" if version is None else f'"{version}"'}
    return deployment.call("retrieval", "PATCH", f"{MEMORIES}/{memory_id}", changes, headers=headers)


def delete(deployment: Deployment, memory_id: str, tenant: str = "acme") -> int:
    return deployment.call("retrieval", "DELETE", f"{MEMORIES}/{memory_id}", tenant=tenant).status


def get(deployment: Deployment, path: str, tenant: str = "acme") -> Any:
    answer = deployment.call("retrieval", "GET", path, tenant=tenant)
    return answer.body if answer.status == 200 else answer.status


def results(deployment: Deployment, query: str, tenant: str = "acme", **more: Any) -> list[dict[str, Any]]:
    answer = deployment.call("retrieval", "POST", "/v1/search", {"user_id": "anna", "query": query, **more}, tenant)
    assert answer.status == 200, answer.body
    return list(answer.body["results"])


def contents(deployment: Deployment, query: str, **more: Any) -> list[str]:
    return [one["content"] for one in results(deployment, query, **more)]


def drain(deployment: Deployment) -> None:
    deployment.pump.drain()
    assert deployment.pump.given_up == 0
    assert deployment.app.projection.reconcile(datetime.now(UTC)).failed == {}


@pytest.mark.spec("A-19", "A-20", "A-22", "A-26")
def test_a_saved_memory_is_found_before_and_after_the_stream(deployment: Deployment) -> None:
    memory = saved(deployment, keywords=["city"], importance=0.8, metadata={"a": [1, None]})
    assert memory["embedding_id"] == f"hashing.1/{memory['id']}"
    for _ in range(2):
        for mode, more in MODES.items():
            (found,) = results(deployment, LYON, mode=mode, **more)
            assert (found["id"], found["kind"], found["content"]) == (memory["id"], "memory", LYON), mode
            assert (found["keywords"], found["importance"], found["metadata"]) == (["city"], 0.8, {"a": [1, None]})
        asked = {"user_id": "anna", "input": "Where does Anna live?"}
        answer = deployment.call("context", "POST", "/v1/context", asked).body
        assert [item["id"] for item in answer["items"]] == [memory["id"]]
        assert get(deployment, f"{MEMORIES}/{memory['id']}") == memory
        assert get(deployment, "/v1/users/anna/events")["events"] == []
        drain(deployment)
    (told,) = get(deployment, "/v1/bus?type=memory:semantic:saved")["events"]
    assert memory["id"] in str(told["detail"])


@pytest.mark.spec("A-21")
def test_it_is_saved_once_by_however_many(deployment: Deployment) -> None:
    with ThreadPoolExecutor(6) as threads:
        answers = list(threads.map(lambda _: save(deployment), range(6)))
    assert sorted(answer.status for answer in answers) == [200] * 5 + [201]
    assert len({answer.body["id"] for answer in answers}) == 1
    drain(deployment)
    assert save(deployment, f" {LYON}\n").status == 200
    assert contents(deployment, LYON) == [LYON]
    assert len(get(deployment, MEMORIES)["memories"]) == 1


@pytest.mark.spec("A-21")
def test_a_replay_writes_nothing_and_names_what_is_gone(deployment: Deployment) -> None:
    first, again = save(deployment, once="k1"), save(deployment, once="k1")
    assert (again.status, again.body) == (201, first.body)
    assert delete(deployment, first.body["id"]) == 204
    assert save(deployment, once="k1").body == {"refused": [first.body["id"]]}
    assert get(deployment, MEMORIES) == {"memories": []}


@pytest.mark.spec("A-26")
def test_an_edit_is_shown_at_once_and_found_by_its_words(deployment: Deployment) -> None:
    said = deployment.call("ingest", "POST", "/v1/events", events(LYON, importance=0.9))
    event_id = said.body["results"][0]["event_id"]
    direct = saved(deployment, "Anna's cat is called Tom", key="cat")
    drain(deployment)
    for memory_id, content in ((event_id, OSLO), (direct["id"], "Anna's dog is called Rex")):
        assert patch(deployment, memory_id, 1, content=content).status == 200
        assert patch(deployment, memory_id, 1, content="late").status == 412
    for _ in range(2):
        assert set(contents(deployment, f"{LYON} cat Tom")) == {OSLO, "Anna's dog is called Rex"}
        assert contents(deployment, "lives Lyon", mode="lexical") == []
        assert contents(deployment, "cat Tom", mode="lexical") == []
        assert contents(deployment, "moved Oslo", mode="lexical") == [OSLO]
        assert contents(deployment, LYON, mode="semantic", min_similarity=0.9) == []
        assert contents(deployment, OSLO, mode="semantic", min_similarity=0.9) == [OSLO]
        drain(deployment)
    history = get(deployment, f"{MEMORIES}/{event_id}/history")["history"]
    assert [(one["version"], one["content"], one["actor"]["kind"]) for one in history] == [
        (1, LYON, "job"), (2, OSLO, "user"),
    ]  # fmt: skip


def test_of_two_writers_one_wins_and_the_history_holds_what_happened(deployment: Deployment) -> None:
    memory = saved(deployment)
    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(lambda n: patch(deployment, memory["id"], 1, content=f"writer {n}"), range(4)))
    assert sorted(answer.status for answer in answers) == [200, 412, 412, 412]
    (winner,) = (answer.body for answer in answers if answer.status == 200)
    history = get(deployment, f"{MEMORIES}/{memory['id']}/history")["history"]
    assert [one["content"] for one in history] == [LYON, winner["content"]]


@pytest.mark.spec("P-22")
@pytest.mark.parametrize("count", [2, 20])
def test_a_deleted_memory_takes_its_events_with_it(deployment: Deployment, count: int) -> None:
    said = [events(LYON, day=day, importance=0.9) for day in range(1, count + 1)]
    for one in said:
        assert deployment.call("ingest", "POST", "/v1/events", one).status == 201
    drain(deployment)
    (found,) = results(deployment, LYON)
    assert len(found["source_event_ids"]) == count
    first = deployment.call("retrieval", "DELETE", f"/v1/users/anna/events/{found['id']}")
    assert first.status == 204
    (moved,) = get(deployment, MEMORIES)["memories"]
    assert set(moved["source_event_ids"]) == set(found["source_event_ids"]) - {found["id"]}
    drain(deployment)
    assert [one["id"] for one in results(deployment, LYON)] == [moved["id"]]
    assert delete(deployment, moved["id"]) == 204
    for _ in range(2):
        assert results(deployment, LYON) == []
        assert get(deployment, MEMORIES) == {"memories": []}
        assert get(deployment, f"{MEMORIES}/{moved['id']}") == 404
        drain(deployment)
    again = deployment.call("ingest", "POST", "/v1/events", said[0]).body["results"]
    assert again == [{"status": "refused", "reason": "deleted"}]
    anna = Scope("acme", "anna")
    for collection in ("memories", "memory_versions", "memory_contents"):
        assert deployment.app.parts.items.page(anna, ItemPath(collection), 10, None).items == ()


@pytest.mark.spec("A-21", "P-19")
def test_a_slot_has_one_value_whatever_the_projector_does(deployment: Deployment) -> None:
    first, second, third = (saved(deployment, city, key="city") for city in ("Lyon", "Oslo", "Lyon"))
    for _ in range(2):
        listed = {one["id"]: one for one in get(deployment, f"{MEMORIES}?key=city")["memories"]}
        assert [listed[one["id"]]["status"] for one in (first, second, third)] == ["superseded", "superseded", "active"]
        assert contents(deployment, "Lyon Oslo") == ["Lyon"]
        drain(deployment)
