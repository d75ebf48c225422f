"""Both clients against the real routes."""

import asyncio
import inspect
import re
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from client.conftest import HARD_IDS, KEY, until
from recollect.client import (
    AsyncRecollect,
    KeyReused,
    NotFound,
    Recollect,
    RetryPolicy,
    Unauthenticated,
    Unprocessable,
    VersionMismatch,
)
from recollect.client.types import ContextDiagnostics, NewEvent, SearchDiagnostics
from recollect.jobs.job import KINDS

SAID = datetime(2024, 5, 1, 9, tzinfo=UTC)


def some_events(count: int) -> list[NewEvent]:
    return [
        {"content": f"remark number{n}", "timestamp": datetime(2024, 5, 1, 9, n % 60, tzinfo=UTC)} for n in range(count)
    ]


def test_what_is_added_is_found_and_read(memory: Recollect, user: str) -> None:
    answer = memory.add_events(user, [{"content": "I live in Porto", "timestamp": SAID, "speaker": "Ana"}])
    (result,) = answer["results"]
    assert result["status"] == "created"
    event = memory.event(user, result["event_id"])
    assert (event["speaker"], event["timestamp"]) == ("Ana", "2024-05-01T09:00:00.000000Z")
    found = memory.search(user, "Porto", mode="lexical", explain=True)["results"][0]
    assert found["id"] == event["id"]
    assert found["why"]
    assert "I live in Porto" in memory.context(user, "Where do I live?", token_budget=500)["prompt"]


def test_a_duplicate_and_a_key(memory: Recollect, user: str) -> None:
    statuses = [memory.add_events(user, some_events(1))["results"][0]["status"] for _ in range(2)]
    assert statuses == ["created", "duplicate"]
    ids = [
        memory.add_events(user, [{"content": "no time"}], idempotency_key=f"k-{user}")["results"][0]["event_id"]
        for _ in range(2)
    ]
    assert ids[0] == ids[1]


def test_what_is_deleted_stays_deleted(memory: Recollect, user: str) -> None:
    said: list[NewEvent] = [{"content": "my desk is number 12", "timestamp": SAID, "key": "desk"}]
    first = memory.add_events(user, [*said, {"content": "a remark", "timestamp": SAID}])["results"]
    with pytest.raises(VersionMismatch):
        memory.delete_event(user, first[1]["event_id"], version=99)
    memory.delete_event(user, first[1]["event_id"])
    memory.delete_key(user, "desk")
    assert list(memory.events(user, last_days=10_000)) == []
    assert memory.add_events(user, said)["results"][0]["status"] == "refused"
    with pytest.raises(NotFound):
        memory.delete_event(user, first[1]["event_id"])


def test_a_conversation_is_deleted_with_its_log_and_others_stay(memory: Recollect, user: str) -> None:
    for conversation, count in (("monday", 60), ("tuesday", 3)):
        memory.add_events(user, some_events(count), conversation_id=conversation)
        memory.append_log(user, conversation, [{"payload": 1}])
    assert memory.delete_conversation(user, "monday", persona_id="coach") == 0
    assert memory.delete_conversation(user, "monday") == 60
    assert memory.delete_conversation(user, "monday") == 0
    assert len(list(memory.events(user))) == 3
    assert [one["conversation_id"] for one in memory.logs(user)] == ["tuesday"]


def test_lists_go_through_all_pages(memory: Recollect, user: str) -> None:
    for conversation in range(7):
        memory.add_events(user, some_events(20), conversation_id=f"c{conversation}")
    events = list(memory.events(user, from_=datetime(2024, 1, 1, tzinfo=UTC), limit=15))
    assert len({event["id"] for event in events}) == len(events) == 140
    assert len(list(memory.events(user, from_="2024-01-01T00:00:00Z", conversation_id="c3"))) == 20
    assert len(list(memory.events(user))) == len(list(memory.events(user, last_days=10_000))), "all of it"


@pytest.mark.parametrize("user_id", HARD_IDS)
def test_ids_of_every_class(memory: Recollect, user_id: str, user: str) -> None:
    name = (user_id + user)[:128] if len(user_id) < 90 else user_id
    made = memory.add_events(name, [{"content": f"said by {user}", "timestamp": SAID}])["results"][0]
    assert memory.event(name, made["event_id"])["user_id"] == name
    assert [event["user_id"] for event in memory.events(name, last_days=10_000)] == [name]


def test_conversations_and_the_bus_follow(memory: Recollect, user: str) -> None:
    for number in range(3):
        memory.add_events(user, some_events(1), conversation_id=f"c{number}")
    listed = until(lambda: list(memory.conversations(user, limit=2)), 3)
    assert {conversation["id"] for conversation in listed} == {"c0", "c1", "c2"}
    assert memory.bus("memory:episodic:saved")["events"]


def test_analyze_health_ready_and_openapi(memory: Recollect) -> None:
    assert memory.analyze("I prefer tea")["importance"] > 0
    assert memory.health()["status"] == "ok"
    assert memory.ready()["ready"] is True
    assert "/v1/events" in memory.openapi()["paths"]


def test_rules_are_read_and_replaced(memory: Recollect) -> None:
    before = memory.rules()["version"]
    changed = memory.put_rules({"context": {"total": 4, "decay_half_life_days": None}}, version=before)
    assert changed["own"] == {"context": {"total": 4, "decay_half_life_days": None}}
    assert memory.rules() == changed
    with pytest.raises(VersionMismatch):
        memory.put_rules({}, version=before)
    with pytest.raises(Unprocessable):
        memory.put_rules({"context": {"total": -1}})
    assert memory.put_rules({})["version"] == before


def test_tool_calls_are_read_and_made_once(memory: Recollect, user: str) -> None:
    text = '[[ABP_TOOL:save_memory]]{"content": "Anna lives in Lyon"}[[END_ABP_TOOL]]'
    assert [call["tool"] for call in memory.tool_calls(text)["calls"]] == ["save_memory"]
    first, again = (memory.tool_calls(text, user_id=user, execute=True, idempotency_key=user) for _ in range(2))
    assert first == again
    assert [one["id"] for one in memory.memories(user)] == [first["results"][0]["result"]["id"]]


def test_a_turn_is_answered_and_remembered(memory: Recollect, user: str) -> None:
    memory.add_events(user, [{"content": "My violin teacher is Ms Okafor", "timestamp": SAID}])
    first, again = (memory.turn(user, "Who is my violin teacher?", idempotency_key=f"t-{user}") for _ in range(2))
    assert first["response"] == again["response"]
    assert "Ms Okafor" in str(first["response"])
    assert first["context"]["prompt"].endswith("Who is my violin teacher?")
    said = [(event["role"], event["id"]) for event in memory.events(user)][:2]
    assert said == [("bot", first["response_event_id"]), ("user", first["input_event_id"])]


def test_a_search_by_intent_and_what_was_thought_of_it(memory: Recollect, user: str) -> None:
    memory.add_events(user, [{"content": "blood pressure 120/80"}, {"content": "walked the dog"}])
    answer = memory.search(user, "What was my blood pressure?", mode="intent", top_k=5)
    assert [one["content"] for one in answer["results"]] == ["blood pressure 120/80"]
    assert memory.feedback(user, True) == {"counted": True}
    assert memory.feedback(user, False, mode="other") == {"counted": False}


def test_items_are_kept_found_listed_and_deleted(memory: Recollect, user: str) -> None:
    place = (["users", user], "taste")
    memory.put_item(*place, {"likes": "jam", "n": 1}, index=["likes"], ttl_minutes=5, user_id=user)
    item = memory.item(*place)
    assert item is not None
    assert (item["value"], item["version"], item["user_id"]) == ({"likes": "jam", "n": 1}, 1, user)
    with pytest.raises(VersionMismatch):
        memory.put_item(*place, {}, version=2)
    found = memory.search_items(["users", user], query="jam", where={"n": {"gte": 1}})
    assert [one["key"] for one in found] == ["taste"]
    assert memory.item_namespaces(["users", user]) == [["users", user]]
    memory.put_item(place[0], "own", {"likes": "tea"}, vectors=[[1, 0]], user_id=user)
    own = memory.search_items(["users", user], query_vector=[1, 0], filter={"likes": {"$ne": "jam"}}, refresh_ttl=False)
    assert [one["key"] for one in own] == ["own"]
    assert memory.item(place[0], "own", refresh_ttl=False) is not None
    assert memory.delete_items(["users", user], filter={"likes": "tea"})["matched"] == 1
    memory.delete_item(*place, version=1)
    assert memory.item(*place) is None
    assert memory.item_batch([{"get": {"namespace": place[0], "key": place[1]}}]) == [{}]


def test_a_log_is_appended_read_popped_and_cleared(memory: Recollect, user: str) -> None:
    place = (user, "monday")
    results = memory.append_log(*place, [{"payload": {"n": None}, "role": "tool"}, {"payload": 2}])["results"]
    assert [one["sequence"] for one in results] == [1, 2]
    assert [one["payload"] for one in memory.log(*place, limit=1)] == [{"n": None}, 2]
    assert [one["payload"] for one in memory.log(*place, newest_first=True)] == [2, {"n": None}]
    assert [one["conversation_id"] for one in memory.logs(user)] == ["monday"]
    assert user in [one["user_id"] for one in memory.users()]
    popped = memory.pop_log(*place)
    assert popped is not None
    assert (popped["sequence"], popped["payload"]) == (2, 2)
    memory.append_log(*place, [{"payload": "again"}], branch="retry", root=1)
    assert [one["payload"] for one in memory.log(*place, branch="retry", include_parents=True)][1:] == ["again"]
    assert [one["name"] for one in memory.log_branches(*place)] == ["retry"]
    edited = memory.edit_log_entry(*place, 3, {"payload": None}, version=1)
    assert (edited["version"], memory.log_entry(*place, 3)) == (2, edited)
    with pytest.raises(VersionMismatch):
        memory.edit_log_entry(*place, 3, {"payload": 1}, version=1)
    assert [one["payload"] for one in memory.log_entry_history(*place, 3)] == ["again"]
    memory.delete_log_entry(*place, 3, version=2)
    assert [one["sequence"] for one in memory.log(*place, every_branch=True)] == [1]
    assert memory.pop_log(*place, branch="retry") is None
    memory.clear_log(*place)
    assert (list(memory.log(*place)), memory.pop_log(*place)) == ([], None)


def test_the_types_of_diagnostics_name_what_the_document_names(memory: Recollect) -> None:
    schemas = memory.openapi()["components"]["schemas"]
    for type_ in (SearchDiagnostics, ContextDiagnostics):
        told = schemas[type_.__name__]
        assert set(told["required"]) == type_.__required_keys__
        assert set(told["properties"]) == type_.__required_keys__ | type_.__optional_keys__
        assert "pending" in told["required"]


def test_every_route_of_the_document_has_a_method(memory: Recollect) -> None:
    sent = [one.partition("?")[0] for one in asyncio.run(requests_sent(Recollect))]
    paths = memory.openapi()["paths"]
    operations = {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods} - {"GET /docs"}
    unserved = {one for one in operations if not any(re.fullmatch(re.sub(r"{\w+}", "given", one), s) for s in sent)}
    assert unserved == set()


def test_both_clients_send_the_same_requests() -> None:
    assert asyncio.run(requests_sent(AsyncRecollect)) == asyncio.run(requests_sent(Recollect))


async def requests_sent(client_type: Callable[..., Any]) -> list[str]:
    """What the methods of a client send, each called with what it needs: `GET /v1/users/given/events?` and a body."""
    sent: list[str] = []

    def noted(request: httpx.Request) -> httpx.Response:
        sent.append(f"{request.method} {request.url.path}?{request.url.query.decode()} {request.content.decode()}")
        return httpx.Response(200, json={})

    client = client_type("http://here", KEY, retries=RetryPolicy(tries=1), transport=httpx.MockTransport(noted))
    for name, method in inspect.getmembers(client, inspect.ismethod):
        if not name.startswith("_") and name not in ("close", "local"):
            await attempt(method)
    await attempt(client.knowledge, namespace="given")
    for either_order in (client.search, client.context):
        await attempt(either_order, user_id="given")
    for kind in KINDS:
        await attempt(client.run_job, kind=kind)
    await attempt(client.merge_memories, other={"id": "given", "version": 1})
    return sent


async def attempt(method: Callable[..., Any], **given: Any) -> None:
    """Calls it, up to the first page; what it makes of an empty answer does not count."""
    needed = [one for one in inspect.signature(method).parameters.values() if one.default is one.empty]
    plain = {one.name: "given" if one.annotation in (str, "str", int) else {} for one in needed}
    with suppress(Exception):
        answer = method(**plain | given)
        if isinstance(answer, AsyncIterator):
            await anext(answer)
        elif isinstance(answer, Iterator):
            next(answer)
        elif inspect.isawaitable(answer):
            await answer


def test_a_job_is_started_and_watched(memory: Recollect) -> None:
    ended = memory.run_job("reconcile", wait=True)
    assert ended["status"] == "done"
    assert memory.job(ended["job_id"]) == ended
    assert ended in list(memory.jobs(limit=1))
    assert memory.usage()["whole"]["messages"] >= 0
    with pytest.raises(NotFound):
        memory.run_job("dance")
    with pytest.raises(NotFound):
        memory.job("none")


def test_each_status_has_its_error_class(memory: Recollect, server_url: str, user: str) -> None:
    with pytest.raises(NotFound):
        memory.event(user, "none")
    with pytest.raises(Unprocessable) as caught:
        memory.add_events(user, [{"content": " "}])
    assert caught.value.problem["results"][0]["status"] == "invalid"
    with pytest.raises(Unprocessable) as caught:
        memory.search(user, "x", top_k=1000)
    assert caught.value.errors[0]["loc"] == ["body", "top_k"]
    stored = memory.add("one", user_id=user, idempotency_key=user)["results"]
    with pytest.raises(KeyReused) as reused:
        memory.add("two", user_id=user, idempotency_key=user)
    assert reused.value.results == stored
    with Recollect(server_url, "wrong") as stranger, pytest.raises(Unauthenticated):
        stranger.search(user, "x")


def test_the_asynchronous_client_does_the_same(for_asyncio: Callable[[], AsyncRecollect], user: str) -> None:
    async def story() -> None:
        async with for_asyncio() as memory:
            answer = await memory.add_events(user, some_events(60))
            assert [result["status"] for result in answer["results"]] == ["created"] * 60
            listed = [event["id"] async for event in memory.events(user, last_days=10_000, limit=25)]
            assert len(set(listed)) == 60
            assert (await memory.event(user, listed[0]))["id"] == listed[0]
            assert (await memory.search(user, "number7", mode="lexical"))["results"][0]["content"] == "remark number7"
            with pytest.raises(NotFound):
                await memory.event(user, "none")
            assert (await memory.turn(user, "hello", conversation_id="c"))["conversation_id"] == "c"

    asyncio.run(story())
