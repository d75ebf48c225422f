"""`POST /v1/events` and `/v1/analyze`: statuses, defaults, duplicates, and keys that make a request count once."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from entrypoints.http.calling import Answered, Caller, Cloud
from recollect.app import App
from recollect.core.errors import Unavailable
from recollect.core.ids import id_milliseconds

NOON = "2024-05-01T12:00:00Z"


def statuses(answer: Any) -> list[str]:
    """What became of each event."""
    return [one["status"] for one in answer.json["results"]]


@pytest.mark.spec("K-05", "K-09", "K-61")
def test_created_events_are_described_and_can_be_read_at_once(caller: Caller) -> None:
    answer = caller.add({"content": "I always drink tea"}, {"content": "Noted", "role": "assistant"})
    assert answer.status == 201
    first, second = answer.json["results"]
    assert first == {
        "status": "created",
        "event_id": first["event_id"],
        "importance": 0.6,
        "tags": ["preference"],
        "content_type": "userinput",
    }
    assert (second["content_type"], second["importance"]) == ("assistantresponse", 0.3)
    stored = caller.get(f"/v1/users/anna/events/{second['event_id']}").json
    assert (stored["role"], stored["source"], stored["event_type"]) == ("bot", "conversation", "conversation")
    assert stored["conversation_id"] == answer.json["conversation_id"]
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.spec("P-20")
def test_what_is_said_again_is_a_duplicate(caller: Caller) -> None:
    said = {"content": "I live in Lisbon", "timestamp": NOON}
    first = caller.add(said, conversation_id="c")
    again = caller.add(said, said | {"timestamp": 1714564800}, said | {"timestamp": 1714564800000}, conversation_id="c")
    assert (again.status, statuses(again)) == (200, ["duplicate"] * 3)
    assert {one["event_id"] for one in again.json["results"]} == {first.json["results"][0]["event_id"]}
    assert caller.add(said, conversation_id="d").status == 201
    untimed = {"content": "hello"}
    assert (caller.add(untimed).status, caller.add(untimed).status) == (201, 201)


def test_given_values_stand(caller: Caller) -> None:
    given = {
        "content": "My number is 5",
        "speaker": "Anna",
        "event_type": "reminder",
        "source": "skill",
        "timestamp": "2024-05-01T14:00:00+02:00",
        "importance": 0.123,
        "key": "number",
        "space_id": "home",
        "title": "t",
        "category": "c",
        "notes": "n",
        "views": 3,
        "is_private": True,
        "expires_at": "2199-01-01",
        "metadata": {"a": [1, None, "ü"]},
    }
    (event_id,) = [one["event_id"] for one in caller.add(given, persona_id="p", household_id="h").json["results"]]
    stored = caller.get(f"/v1/users/anna/events/{event_id}").json
    times = {"timestamp": "2024-05-01T12:00:00.000000Z", "expires_at": "2199-01-01T00:00:00.000000Z"}
    assert {name: stored[name] for name in given} == given | times
    assert (stored["persona_id"], stored["household_id"], stored["user_id"]) == ("p", "h", "anna")
    assert "embedding" not in stored


def test_the_test_clock_sets_the_time_and_ids_keep_the_real_one(caller: Caller) -> None:
    answer = caller.post("/v1/events", {"user_id": "anna", "events": [{"content": "x"}]}, x_recollect_now=NOON)
    event_id = answer.json["results"][0]["event_id"]
    stored = caller.get(f"/v1/users/anna/events/{event_id}").json
    assert stored["timestamp"] == stored["recorded_at"] == "2024-05-01T12:00:00.000000Z"
    assert id_milliseconds(event_id) > 1_750_000_000_000
    wrong = caller.get("/v1/users/anna/events", x_recollect_now="noon")
    assert (wrong.status, wrong.locs) == (422, {("header", "X-Recollect-Now")})


def test_a_key_makes_a_request_count_once(caller: Caller) -> None:
    body = {"user_id": "anna", "events": [{"content": "one"}, {"content": ""}, {"content": "two", "speaker": "Anna"}]}
    assert caller.twice("/v1/events", body, "🦊 key").status == 201
    assert len(caller.timeline().json["events"]) == 2
    other = caller.post("/v1/events", {**body, "user_id": "bert"}, idempotency_key="🦊 key")
    assert (other.status, other.json["type"]) == (422, "urn:recollect:problem:idempotency-key-reused")
    assert {"results", "conversation_id"}.isdisjoint(other.json)
    later = caller.post("/v1/events", body, idempotency_key="🦊 key", x_recollect_now="2199-01-01")
    assert "idempotent-replayed" not in later.headers


@pytest.mark.spec("P-20")
def test_an_events_own_key_makes_it_one_whatever_its_time_and_conversation(caller: Caller) -> None:
    said = {"content": "I live in Lisbon", "idempotency_key": "🦊 m-1"}
    first = caller.add(said | {"timestamp": NOON}, conversation_id="c")
    (event_id,) = [one["event_id"] for one in first.json["results"]]
    later = said | {"timestamp": "2024-05-02", "importance": 0.9}
    again = caller.add(said, later, said | {"timestamp": NOON}, persona_id="p")
    assert (again.status, statuses(again), again.json["conversation_id"]) == (200, ["duplicate"] * 3, "c")
    assert {one["event_id"] for one in again.json["results"]} == {event_id}
    assert caller.get(f"/v1/users/anna/events/{event_id}").json["idempotency_key"] == "🦊 m-1"
    assert caller.add(said, user="ben").status == 201
    assert len(caller.timeline(last_days=10_000).json["events"]) == 1
    twice = {"content": "Good", "idempotency_key": "m-2"}
    assert statuses(caller.add(twice | {"timestamp": NOON}, twice)) == ["created", "duplicate"]
    assert caller.delete(f"/v1/users/anna/events/{event_id}").status == 204
    assert caller.add(said).json["results"] == [{"status": "refused", "reason": "deleted"}]


def test_an_events_own_key_with_other_words_is_refused(caller: Caller) -> None:
    said = {"content": "I live in Lisbon", "idempotency_key": "m-1", "timestamp": NOON}
    event_id = caller.add(said).json["results"][0]["event_id"]
    others: list[dict[str, Any]] = [{"content": "I live in Porto"}, {"role": "assistant"}, {"speaker": "Ana"}]
    refused = {"status": "refused", "event_id": event_id, "reason": "key_reused"}
    for other in others:
        answer = caller.add(said | other | {"timestamp": "2024-05-02"}, conversation_id="d")
        assert (answer.status, answer.json["type"]) == (422, "urn:recollect:problem:idempotency-key-reused")
        assert answer.json["results"] == [refused]
    mixed = caller.add(said | others[0], {"content": "tea"}, said, said | {"idempotency_key": "m-2"})
    assert (mixed.status, statuses(mixed)) == (201, ["refused", "created", "duplicate", "created"])
    assert mixed.json["results"][0] == refused
    new = {"idempotency_key": "m-3"}
    assert statuses(caller.add({"content": "one"} | new, {"content": "two"} | new)) == ["created", "refused"]


def test_a_replay_finds_the_first_of_an_events_own_key_wherever_it_lies(caller: Caller) -> None:
    (event_id,) = caller.added("one", idempotency_key="m-1", timestamp=NOON)
    body = {"user_id": "anna", "events": [{"content": "one", "idempotency_key": "m-1"}]}
    assert statuses(caller.twice("/v1/events", body, "k")) == ["duplicate"]
    caller.delete(f"/v1/users/anna/events/{event_id}")
    replayed = caller.post("/v1/events", body, idempotency_key="k")
    assert replayed.json["results"] == [{"status": "refused", "event_id": event_id, "reason": "deleted"}]


def test_what_was_stored_before_a_failure_is_not_stored_again_under_its_own_key(
    app: App, caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    events = [{"content": text, "idempotency_key": text} for text in ("one", "two", "three")]
    append = app.parts.timeline.append

    def half(_self: Any, scope: Any, writes: Any) -> Any:
        append(scope, writes[:1])
        raise Unavailable("the table is away")

    monkeypatch.setattr(type(app.parts.timeline), "append", half)
    assert caller.add(*events).status == 503
    monkeypatch.undo()
    assert statuses(caller.add(*events)) == ["duplicate", "created", "created"]
    assert len(caller.timeline().json["events"]) == 3


def test_of_what_is_not_to_be_derived_the_answers_say_so(app: App, caller: Caller) -> None:
    (event_id,) = caller.added("Always remember: the printer is on fire", derive=False)
    app.projection.reconciliation.run(datetime.now(UTC))
    stored = caller.get(f"/v1/users/anna/events/{event_id}").json
    assert (stored["derive"], stored["importance"] >= 0.6) == (False, True)
    assert caller.get("/v1/users/anna/memories").json["memories"] == []
    assert caller.post("/v1/search", {"user_id": "anna", "query": "printer"}).json["results"] == []
    wrong = caller.add({"content": "x", "derive": False, "key": "k"}, {"content": "x", "derive": "no"})
    assert wrong.locs == {("body", "events", 0, "key"), ("body", "events", 1, "derive")}


@pytest.mark.parametrize("role", ["tool", "system"])
def test_what_nobody_said_is_refused_with_the_place_where_it_belongs(caller: Caller, role: str) -> None:
    ((loc, message),) = caller.add({"content": "x", "role": role}).faults
    assert loc == ("body", "events", 0, "role")
    assert message.startswith("must be one of user, bot, assistant: ")
    assert message.endswith("POST /v1/users/{user_id}/conversations/{conversation_id}/log")
    log = "/v1/users/anna/conversations/c/log"
    assert log in message.replace("{user_id}", "anna").replace("{conversation_id}", "c")
    assert caller.post(log, {"entries": [{"payload": "x", "role": role}]}).status == 201


def test_another_body_is_answered_with_what_the_first_one_stored(caller: Caller) -> None:
    def sent(*contents: str, **more: Any) -> Answered:
        events = [{"content": one, "role": "assistant"} for one in contents]
        return caller.post("/v1/events", {"user_id": "anna", "events": events, **more}, idempotency_key="k")

    first = sent("Good morning", "", persona_id="work")
    other = sent("Hello", persona_id="work")
    assert (other.status, other.json["conversation_id"]) == (422, first.json["conversation_id"])
    assert other.json["results"] == first.json["results"][:1]
    assert "results" not in sent("Hello", persona_id="home").json
    event_id = first.json["results"][0]["event_id"]
    assert caller.delete(f"/v1/users/anna/events/{event_id}").status == 204
    assert "results" not in sent("Hello", persona_id="work").json


@pytest.mark.parametrize("key", ["", "x" * 129, "."])
def test_a_key_is_an_id(caller: Caller, key: str) -> None:
    answer = caller.post("/v1/events", {"user_id": "anna", "events": [{"content": "x"}]}, idempotency_key=key)
    assert (answer.status, answer.locs) == (422, {("header", "Idempotency-Key")})
    assert caller.timeline().json["events"] == []


def test_a_request_under_way_is_in_conflict_and_a_failed_one_goes_on(
    app: App, cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    caller = Caller(cloud)
    body = {"user_id": "anna", "events": [{"content": "one"}, {"content": "two"}]}
    timeline, seen = app.parts.timeline, []
    append = timeline.append

    def half(scope: Any, writes: Any) -> Any:
        seen.append(caller.post("/v1/events", body, idempotency_key="k"))
        append(scope, writes[:1])
        raise Unavailable("the table is away")

    monkeypatch.setattr(type(timeline), "append", lambda _self, scope, writes: half(scope, writes))
    failed = caller.post("/v1/events", body, idempotency_key="k")
    assert (failed.status, failed.headers["retry-after"]) == (503, "1")
    assert (seen[0].status, seen[0].headers["retry-after"]) == (409, "1")
    stored = {one["id"] for one in caller.timeline().json["events"]}
    monkeypatch.undo()
    retried = caller.post("/v1/events", body, idempotency_key="k")
    assert (retried.status, statuses(retried)) == (201, ["created", "created"])
    assert stored < {one["event_id"] for one in retried.json["results"]}
    assert len(caller.timeline().json["events"]) == 2


def test_a_record_holds_no_text_and_a_replay_names_what_is_gone(
    app: App, cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    caller, kept = Caller(cloud), []
    complete = type(app.parts.idempotency).complete

    def noting(store: Any, claim: Any, status: int, body: Any) -> None:
        kept.append(body)
        complete(store, claim, status, body)

    monkeypatch.setattr(type(app.parts.idempotency), "complete", noting)
    event = {"content": "secret", "title": "secret", "metadata": {"secret": "secret"}, "speaker": "secret"}
    body = {"user_id": "secret", "events": [event, {"content": "x", "secret": 1}]}
    first = caller.post("/v1/events", body, idempotency_key="secret")
    assert "secret" not in json.dumps(kept)
    monkeypatch.setattr(type(app.parts.timeline), "read", lambda *_: {})
    again = caller.post("/v1/events", body, idempotency_key="secret")
    event_id = first.json["results"][0]["event_id"]
    assert again.json["results"][0] == {"status": "refused", "event_id": event_id, "reason": "deleted"}
    assert again.json["results"][1] == first.json["results"][1]


def test_keys_of_two_tenants_are_two(app: App) -> None:
    body = {"user_id": "anna", "events": [{"content": "x"}]}
    for tenant in ("acme", "globex"):
        answer = Caller(Cloud(app, {"tenant": tenant})).post("/v1/events", body, idempotency_key="k")
        assert (answer.status, answer.headers.get("idempotent-replayed")) == (201, None)


@pytest.mark.spec("K-38a", "R-20", "R-26")
def test_analyze_tells_the_decisions_and_stores_nothing(caller: Caller) -> None:
    answer = caller.post("/v1/analyze", {"text": "What was my blood pressure today, 120/80?", "content_type": "poem"})
    assert answer.status == 200
    assert answer.json["content_type"] == "default"
    assert answer.json["needs_web_search"] is True
    assert answer.json["intent"] == "question"
    assert {"type": "measurement", "value": "120/80", "normalized": "120/80"} in answer.json["entities"]
    empty = caller.post("/v1/analyze", {"text": ""})
    assert (empty.status, empty.json["keywords"], empty.json["tags"], empty.json["entities"]) == (200, [], [], [])
    assert caller.timeline().json["events"] == []
