"""`DELETE …/conversations/{conversation_id}`: its events go as if each had been deleted by itself, and no others."""

from datetime import UTC, datetime
from typing import Any

import pytest

from entrypoints.http.calling import Answered, Caller, Cloud
from entrypoints.http.test_deleting_by_filter import listed, project, saved
from recollect.app import App

MONDAY = "/v1/users/anna/conversations/monday"
ANNA = {"user_id": "anna"}
AT = "2025-01-01T10:00:00Z"
TRAIN = "I always take the train to Lyon"


def say(caller: Caller, content: str, conversation: str = "monday", of: Any = ANNA, **more: Any) -> Answered:
    event = {"role": "user", "content": content, "importance": 0.9, "timestamp": AT, **more}
    return caller.post("/v1/events", {**of, "conversation_id": conversation, "events": [event]})


def deleted(caller: Caller, path: str = MONDAY) -> int:
    answer = caller.delete(path)
    assert answer.status == 200, answer.text
    assert "next_cursor" not in answer.json
    return int(answer.json["deleted"])


def told(caller: Caller, user: str = "anna") -> set[str]:
    return {one["content"] for one in caller.timeline(user, last_days=3650).json["events"]}


def conversations(caller: Caller) -> set[str]:
    return {one["id"] for one in caller.get("/v1/users/anna/conversations").json["conversations"]}


@pytest.mark.spec("P-22")
@pytest.mark.parametrize("projected", [False, True])
def test_its_events_and_what_was_made_of_them_go_and_stay_gone(app: App, caller: Caller, projected: bool) -> None:
    say(caller, TRAIN)
    say(caller, "I always drink green tea", "tuesday")
    say(caller, "it is over", expires_at="2025-01-02T00:00:00Z")
    saved(caller, "Anna plays the violin")
    if projected:
        project(app)
        assert TRAIN in listed(caller)
    assert (deleted(caller), deleted(caller)) == (2, 0)
    project(app)
    assert told(caller) == {"I always drink green tea"}
    assert listed(caller) == {"I always drink green tea", "Anna plays the violin"}
    assert conversations(caller) == {"tuesday"}
    found = caller.post("/v1/search", {"user_id": "anna", "query": "train to Lyon"}).json["results"]
    assert TRAIN not in {one["content"] for one in found}
    assert say(caller, TRAIN).json["results"] == [{"status": "refused", "reason": "deleted"}]
    say(caller, "I am back", timestamp="2025-01-03T10:00:00Z")
    project(app)
    assert conversations(caller) == {"monday", "tuesday"}


def test_of_a_memory_that_another_conversation_says_too_only_the_evidence_goes(app: App, caller: Caller) -> None:
    say(caller, TRAIN)
    say(caller, TRAIN, "tuesday", timestamp="2025-01-02T10:00:00Z")
    project(app)
    assert deleted(caller) == 1
    project(app)
    assert listed(caller) == {TRAIN}
    (memory,) = caller.get("/v1/users/anna/memories").json["memories"]
    assert len(memory["source_event_ids"]) == 1


def test_a_summary_says_nothing_of_it(app: App, caller: Caller) -> None:
    say(caller, "I plan to run the Lyon marathon in May")
    for day in range(30):
        say(caller, f"The bakery on street {day} sells bread", "tuesday")
    project(app)
    assert caller.post("/v1/users/anna/summaries?force=true", None).status in (200, 201)
    assert "marathon" in caller.get("/v1/users/anna/summaries").text
    assert deleted(caller) == 1
    assert "marathon" not in caller.get("/v1/users/anna/summaries").text


def test_other_users_tenants_and_personas_keep_theirs(app: App, caller: Caller) -> None:
    say(caller, "mine")
    say(caller, "of the coach", of={**ANNA, "persona_id": "coach"})
    say(caller, "ben's", of={"user_id": "ben"})
    other = Caller(Cloud(app, {"tenant": "globex"}))
    say(other, "another tenant's")
    log = f"{MONDAY}/log"
    caller.post(log, {"entries": [{"payload": 1}]})
    other.post(log, {"entries": [{"payload": 1}]})
    project(app)
    assert deleted(caller, f"{MONDAY}?persona_id=coach") == 1
    assert (told(caller), conversations(caller)) == ({"mine"}, {"monday"})
    assert len(caller.get(log).json["entries"]) == 1, "of a persona only its events go"
    assert deleted(caller) == 1
    assert caller.get(log).json["entries"] == []
    assert (told(caller, "ben"), told(other), conversations(other)) == ({"ben's"}, {"another tenant's"}, {"monday"})
    assert len(other.get(log).json["entries"]) == 1


def test_it_goes_on_where_a_call_ended(app: App, caller: Caller) -> None:
    for n in range(5):
        say(caller, f"remark {n}", timestamp=datetime(2025, 1, 1, n, tzinfo=UTC).isoformat())
    project(app)
    first = caller.delete(f"{MONDAY}?limit=2").json
    assert first["deleted"] == 2
    assert conversations(caller) == {"monday"}
    going_on = f"?limit=2&cursor={first['next_cursor']}"
    for wrong in ("/v1/users/ben/conversations/monday", "/v1/users/anna/conversations/tuesday"):
        assert caller.delete(f"{wrong}{going_on}").status == 422
    assert caller.delete(f"{MONDAY}{going_on}").json["deleted"] == 2
    assert told(caller) == {"remark 0"}
    assert deleted(caller) == 1
    for query in ("limit=0", "limit=201", "cursor=x", "colour=1"):
        assert caller.delete(f"{MONDAY}?{query}").status == 422
