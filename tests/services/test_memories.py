"""Saved memories: written at once, edited, deleted with their events, one value of a slot (A-21, A-26, P-19, P-22)."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from entrypoints.http.calling import Answered
from recollect.core.items import ItemPath
from services.serving import USER, Service

LYON, OSLO = "Anna lives in Lyon", "Anna moved to Oslo"
MEMORIES = f"/v1/users/{USER}/memories"


def patch(service: Service, memory_id: str, version: int, content: str) -> Answered:
    return service.patch(f"{MEMORIES}/{memory_id}", f'"{version}"', {"content": content})


def history(service: Service, memory_id: str) -> list[dict[str, Any]]:
    return list(service.caller.get(f"{MEMORIES}/{memory_id}/history").json["history"])


@pytest.mark.spec("A-21")
def test_it_is_saved_once_by_however_many(service: Service) -> None:
    writers = [service.restarted() for _ in range(6)]
    with ThreadPoolExecutor(6) as threads:
        answers = list(threads.map(lambda one: one.save(LYON), writers))
    assert sorted(answer.status for answer in answers) == [200] * 5 + [201]
    assert len({answer.json["id"] for answer in answers}) == 1
    service.settle()
    assert service.save(f" {LYON}\n").status == 200
    assert service.found(query=LYON) == [LYON]
    assert service.memories().keys() == {LYON}


@pytest.mark.spec("A-21")
def test_a_replay_writes_nothing_and_names_what_is_deleted(service: Service) -> None:
    body = {"user_id": USER, "content": LYON}
    first, again = (service.caller.post("/v1/memories", body, idempotency_key="k1") for _ in range(2))
    assert (again.status, again.json) == (201, first.json)
    service.delete(f"memories/{first.json['id']}")
    refused = service.caller.post("/v1/memories", body, idempotency_key="k1")
    assert refused.json == {"refused": [first.json["id"]]}
    assert service.memories() == {}


@pytest.mark.spec("A-26")
def test_an_edit_is_shown_at_once_and_found_by_its_words(service: Service) -> None:
    event_id = service.say(LYON, importance=0.9)
    direct = service.saved("Anna's cat is called Tom", key="cat")
    service.settle()
    for memory_id, content in ((event_id, OSLO), (direct["id"], "Anna's dog is called Rex")):
        assert patch(service, memory_id, 1, content).status == 200
        assert patch(service, memory_id, 1, "late").status == 412
    for _ in service.pending_and_projected():
        assert set(service.found(query=f"{LYON} cat Tom")) == {OSLO, "Anna's dog is called Rex"}
        assert service.found(query="lives Lyon", mode="lexical") == []
        assert service.found(query="cat Tom", mode="lexical") == []
        assert service.found(query="moved Oslo", mode="lexical") == [OSLO]
        assert service.found(query=LYON, mode="semantic", min_similarity=0.9) == []
        assert service.found(query=OSLO, mode="semantic", min_similarity=0.9) == [OSLO]
    assert [(one["version"], one["content"], one["actor"]["kind"]) for one in history(service, event_id)] == [
        (1, LYON, "job"), (2, OSLO, "user"),
    ]  # fmt: skip


def test_of_two_writers_one_wins_and_the_history_holds_what_happened(service: Service) -> None:
    memory_id = service.saved(LYON)["id"]
    writers = [(service.restarted(), n) for n in range(4)]
    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(lambda one: patch(one[0], memory_id, 1, f"writer {one[1]}"), writers))
    assert sorted(answer.status for answer in answers) == [200, 412, 412, 412]
    (winner,) = (answer.json for answer in answers if answer.status == 200)
    assert [one["content"] for one in history(service, memory_id)] == [LYON, winner["content"]]


@pytest.mark.spec("P-22")
@pytest.mark.parametrize("count", [2, 20])
def test_a_deleted_memory_takes_its_events_with_it(service: Service, count: int) -> None:
    said = [{"content": LYON, "timestamp": f"2024-05-{day:02}T12:00:00Z", "importance": 0.9} for day in range(1, 21)]
    service.told(*said[:count])
    service.settle()
    (found,) = service.search(query=LYON)["results"]
    assert len(found["source_event_ids"]) == count
    service.delete(f"events/{found['id']}")
    moved = service.memories()[LYON]
    assert set(moved["source_event_ids"]) == set(found["source_event_ids"]) - {found["id"]}
    service.settle()
    assert [one["id"] for one in service.search(query=LYON)["results"]] == [moved["id"]]
    service.delete(f"memories/{moved['id']}")
    for _ in service.pending_and_projected():
        assert (service.found(query=LYON), service.memories()) == ([], {})
        assert service.caller.get(f"{MEMORIES}/{moved['id']}").status == 404
    assert service.told(said[0]) == [{"status": "refused", "reason": "deleted"}]
    for collection in ("memories", "memory_versions", "memory_contents"):
        assert service.app.parts.items.page(service.scope(), ItemPath(collection), 10, None).items == ()


@pytest.mark.spec("A-21", "P-19")
def test_a_slot_has_one_value_whatever_the_projector_does(service: Service) -> None:
    first, second, third = (service.saved(city, key="city")["id"] for city in ("Lyon", "Oslo", "Lyon"))
    for _ in service.pending_and_projected():
        listed = service.caller.get(MEMORIES, {"key": "city"}).json["memories"]
        statuses = {one["id"]: one["status"] for one in listed}
        assert [statuses[one] for one in (first, second, third)] == ["superseded", "superseded", "active"]
        assert service.found(query="Lyon Oslo") == ["Lyon"]
