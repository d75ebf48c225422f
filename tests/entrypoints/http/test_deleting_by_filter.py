"""`POST /v1/memories/delete`: what a filter selects goes as if each had been deleted by itself."""

import json
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import pytest

from entrypoints.http.calling import Answered, Caller
from recollect.app import App
from recollect.core.scope import SHARED_OWNER

OLD = {"metadata.old": True}


def saved(caller: Caller, content: str, **more: Any) -> str:
    answer = caller.post("/v1/memories", {"user_id": "anna", "content": content, **more})
    assert answer.status == 201, answer.text
    return str(answer.json["id"])


def said(caller: Caller, content: str, **more: Any) -> Answered:
    event = {"role": "user", "content": content, "importance": 0.9, "timestamp": "2025-01-01T10:00:00Z", **more}
    return caller.post("/v1/events", {"user_id": "anna", "conversation_id": "c", "events": [event]})


def delete(caller: Caller, **more: Any) -> dict[str, Any]:
    answer = caller.post("/v1/memories/delete", {"user_id": "anna", **more})
    assert answer.status == 200, answer.text
    return dict(answer.json)


def listed(caller: Caller, user: str = "anna") -> set[str]:
    return {one["content"] for one in caller.get(f"/v1/users/{user}/memories").json["memories"]}


def project(app: App) -> None:
    assert app.projection.reconciliation.run(datetime.now(UTC)).failed == {}


def test_a_dry_run_counts_and_the_real_one_deletes(app: App, caller: Caller) -> None:
    ids = {saved(caller, f"old fact {n}", metadata={"old": True}) for n in range(3)}
    saved(caller, "new fact", metadata={"old": False})
    project(app)
    counted = delete(caller, filter=OLD, dry_run=True)
    assert (counted["matched"], counted["deleted"], set(counted["memory_ids"])) == (3, 0, ids)
    assert len(listed(caller)) == 4
    assert delete(caller, filter=OLD)["deleted"] == 3
    assert delete(caller, filter=OLD)["matched"] == 0
    assert listed(caller) == {"new fact"}
    found = caller.post("/v1/search", {"user_id": "anna", "query": "old fact"}).json["results"]
    assert {one["content"] for one in found} == {"new fact"}


def test_words_of_memories_select_what_is_listed_and_deleted(caller: Caller) -> None:
    saved(caller, "She lives in PARIS")
    saved(caller, "She drinks tea")
    wanted = {"content": {"icontains": "paris"}}
    path = f"/v1/users/anna/memories?filter={quote(json.dumps(wanted))}"
    assert [one["content"] for one in caller.get(path).json["memories"]] == ["She lives in PARIS"]
    assert delete(caller, filter=wanted)["deleted"] == 1
    assert listed(caller) == {"She drinks tea"}


def test_a_memory_is_of_no_one_conversation_which_has_a_route_of_its_own(app: App, caller: Caller) -> None:
    said(caller, "I always take the train to Lyon")
    project(app)
    refused = caller.post("/v1/memories/delete", {"user_id": "anna", "filter": {"conversation_id": "c"}})
    assert (refused.status, refused.locs) == (422, {("body", "filter")})
    assert caller.delete("/v1/users/anna/conversations/c").json["deleted"] == 1
    assert listed(caller) == set()


def test_what_is_gone_stays_gone_when_it_is_said_again_and_when_all_is_derived_anew(app: App, caller: Caller) -> None:
    said(caller, "I always take the train to Lyon", metadata={"old": True})
    project(app)
    assert delete(caller, filter=OLD)["deleted"] == 1
    again = said(caller, "I always take the train to Lyon", metadata={"old": True})
    assert [one["status"] for one in again.json["results"]] == ["refused"]
    assert caller.post("/v1/jobs/reindex?wait=true", {"from": "events"}).status in (200, 202)
    project(app)
    assert listed(caller) == set()


def test_it_goes_on_where_a_call_ended(caller: Caller) -> None:
    for n in range(5):
        saved(caller, f"old fact {n}", metadata={"old": True})
    first = delete(caller, filter=OLD, limit=2)
    assert first["deleted"] == 2
    with_cursor = {"filter": OLD, "limit": 2, "cursor": first["next_cursor"]}
    assert delete(caller, **with_cursor)["deleted"] == 2
    assert delete(caller, filter=OLD)["deleted"] == 1
    other = caller.post("/v1/memories/delete", {"user_id": "ben", **with_cursor})
    assert other.status == 422


def test_the_same_key_gives_the_same_answer(caller: Caller) -> None:
    saved(caller, "old fact", metadata={"old": True})
    body = {"user_id": "anna", "filter": OLD}
    first, again = (caller.post("/v1/memories/delete", body, idempotency_key="k") for _ in range(2))
    assert first.json["deleted"] == 1
    assert (again.json, again.headers["idempotent-replayed"]) == (first.json, "true")


def test_another_user_s_and_another_place_s_memories_stay(caller: Caller) -> None:
    for whose in ({"user_id": "ben"}, {"user_id": None, "namespace": ["org", "a"]}, {"user_id": None, "app_id": "x"}):
        saved(caller, "old fact", metadata={"old": True}, **whose)
    assert delete(caller, filter=OLD)["matched"] == 0
    assert delete(caller, user_id=None, namespace_prefix=["org"], filter=OLD)["deleted"] == 1
    assert (len(listed(caller, "ben")), len(listed(caller, SHARED_OWNER))) == (1, 1)


@pytest.mark.parametrize(
    "body", [{}, {"filter": {}}, {"filter": {"and": []}}, {"filter": {"colour": 1}}, {"filter": OLD, "limit": 501}]
)
def test_nothing_named_and_nonsense_are_refused(caller: Caller, body: dict[str, Any]) -> None:
    saved(caller, "fact")
    assert caller.post("/v1/memories/delete", {"user_id": "anna", **body}).status == 422
    assert listed(caller) == {"fact"}
