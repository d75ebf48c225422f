"""Retrieval by intent over HTTP, on SQLite and on the real engines (R-01 to R-119, R-P1 to R-P20)."""

import json
from typing import Any

import pytest

from embedded.turning import ScriptedModel
from services.serving import USER, Service, ago

BP = "What was my blood pressure?"
WALK = "walked the dog around the lake"


def diary(service: Service, days: int = 17) -> None:
    """Fifty records and one: a measurement, a walk and a run a day."""
    events: list[dict[str, Any]] = []
    for day in range(days):
        events += [
            {"content": f"blood pressure {110 + day}/80", "timestamp": ago(days=day, minutes=1), "space_id": "Health"},
            {"content": f"{WALK}, {day}", "timestamp": ago(days=day, minutes=2), "space_id": "Health"},
            {"content": f"ran {day} miles", "timestamp": ago(days=day, minutes=3), "space_id": "Fitness"},
        ]
    service.told(*events)


def asked(service: Service, query: str, **more: Any) -> dict[str, Any]:
    return service.search(query=query, mode="intent", **more)


def found(service: Service, query: str, **more: Any) -> list[str]:
    return [one["content"] for one in asked(service, query, **more)["results"]]


@pytest.mark.spec("R-83", "R-84", "R-85", "R-86", "R-31", "R-21")
@pytest.mark.parametrize("settled", [False, True])
def test_blood_pressure_of_last_week(service: Service, settled: bool) -> None:
    diary(service)
    if settled:
        service.settle()
    answer = asked(service, "What was my blood pressure last week?", active_space_id="Health", top_k=100)
    assert [one["content"] for one in answer["results"]] == [f"blood pressure {110 + day}/80" for day in range(7)]
    stats = answer["diagnostics"]["stats"]
    assert (stats["records_considered"], stats["records_matched"], stats["records_included"]) == (21, 7, 7)
    assert (stats["records_excluded_privacy"], stats["records_excluded_threshold"]) == (7, 0)
    assert 0 < stats["tokens"] < stats["date_based_tokens"]
    assert stats["retrieval_time_ms"] > 0
    assert [one["type"] for one in answer["analysis"]["entities"]] == ["date", "category"]
    assert "fallback" not in answer["diagnostics"]


@pytest.mark.spec("R-87", "R-88", "R-108", "R-118", "R-P14", "R-P15")
def test_two_spaces_that_are_named_are_both_searched(service: Service) -> None:
    diary(service, 8)
    answer = asked(service, "Compare my Health and Fitness records", active_space_id="Health", top_k=15)
    assert {one["space_id"] for one in answer["results"]} == {"Health", "Fitness"}
    assert all(one["score"] >= 0.3 for one in answer["results"])
    assert [one["normalized"] for one in answer["analysis"]["entities"]] == ["Health", "Fitness"]
    alone = asked(service, "How many miles have I run?", active_space_id="Health")
    assert (alone["results"], alone["diagnostics"]["dropped"]["filter"]) == ([], 8)
    service.rules(intent={"allow_cross_space": False})
    own = asked(service, "Compare my Health and Fitness records", active_space_id="Health")
    assert {one["space_id"] for one in own["results"]} == {"Health"}


@pytest.mark.spec("R-73", "R-75", "R-76")
def test_no_match_suggests_a_broader_search_and_the_turn_goes_on(service: Service) -> None:
    diary(service, 3)
    answer = asked(service, "Where is my umbrella?")
    assert answer["results"] == []
    assert answer["suggestion"]
    assert "suggestion" not in asked(service, BP)
    talking = service.with_parts(model=ScriptedModel(["I do not know."]))
    turn = talking.caller.post("/v1/turns", {"user_id": USER, "input": "Where is my umbrella?"})
    assert (turn.status, turn.json["response"]) == (200, "I do not know.")


@pytest.mark.spec("R-39", "R-40", "R-41", "R-42", "R-80", "P-17", "R-P11", "R-P12")
def test_private_deleted_and_expired_records_are_in_no_answer(service: Service) -> None:
    events: list[dict[str, Any]] = [
        {"content": "blood pressure one", "timestamp": ago(hours=1)},
        {"content": "blood pressure two", "timestamp": ago(hours=2), "is_private": True},
        {"content": "blood pressure three", "timestamp": ago(hours=3)},
        {"content": "blood pressure four", "timestamp": ago(hours=4)},
    ]
    _, private, deleted, rejected = (str(one["event_id"]) for one in service.told(*events))
    service.say("blood pressure five", timestamp=ago(hours=5), expires_at=ago(hours=1))
    service.settle()
    for event_id, how in ((deleted, ""), (rejected, "?reject=true")):
        service.delete(f"events/{event_id}{how}")
    for query in (BP, "hello"):
        answer = asked(service, query)
        assert [one["content"] for one in answer["results"]] == ["blood pressure one"]
        assert answer["diagnostics"]["dropped"]["private"] == 1
        assert private not in json.dumps(answer)


@pytest.mark.spec("R-30", "R-43", "R-104", "R-P8")
def test_never_more_than_fifteen(service: Service) -> None:
    service.told(*({"content": f"blood pressure {n}", "timestamp": ago(hours=n + 1)} for n in range(20)))
    assert len(found(service, BP, top_k=100)) == 15
    assert len(found(service, "hello", top_k=100)) == 15
    assert found(service, BP, top_k=2) == ["blood pressure 0", "blood pressure 1"]
    assert len(found(service, BP)) == 10
    service.rules(intent={"max_results": 3})
    assert len(found(service, BP, top_k=100)) == 3


@pytest.mark.spec("R-01", "R-02", "R-44", "R-110", "R-113", "R-P16")
def test_the_window_is_fourteen_days_unless_another_is_asked_for(service: Service) -> None:
    for days in (1, 6, 13, 20, 80):
        service.say(f"blood pressure blood pressure {days}", timestamp=ago(days=days))
    counts = {
        days: len(asked(service, "hello", time_window={"last_days": days})["results"]) for days in (7, 14, 30, 90)
    }
    assert counts == {7: 2, 14: 3, 30: 4, 90: 5}
    assert asked(service, "hello")["diagnostics"]["stats"]["records_considered"] == 3
    wide = {"last_days": 90}
    assert len(found(service, "What was my blood pressure last week?", time_window=wide)) == 2
    assert len(service.listed(last_days=14, top_k=20)) == 3


@pytest.mark.spec("R-102", "R-103", "R-105", "R-111", "R-114", "P-15")
def test_a_tenants_rules_decide(service: Service) -> None:
    diary(service, 3)
    assert "fallback" not in asked(service, BP)["diagnostics"]
    service.rules(intent={"enabled": False})
    off = asked(service, BP)
    assert (off["diagnostics"]["fallback_reason"], "analysis" in off) == ("disabled", False)
    assert [(one["score"], one["scores"]) for one in off["results"]] == [(0, {})] * 9
    assert service.app.rules.resolved("another").intent.enabled
    service.rules(intent={"relevance_threshold": 0.99})
    assert found(service, BP) == []
    service.rules(intent={"require_match": False})
    assert len(found(service, BP)) == 9
    service.rules(intent={"min_query_words": 1})
    assert "fallback" not in asked(service, "pressure")["diagnostics"]


@pytest.mark.spec("P-19", "P-24")
def test_what_something_newer_replaced_does_not_come_back(service: Service) -> None:
    service.say("my favourite blood pressure cuff is red", timestamp=ago(days=3), key="cuff")
    service.say("my favourite blood pressure cuff is blue", timestamp=ago(days=1), key="cuff")
    for _ in service.pending_and_projected():
        assert found(service, "Which blood pressure cuff?") == ["my favourite blood pressure cuff is blue"]
    assert len(found(service, "Which blood pressure cuff?", include_superseded=True)) == 2
    then = found(service, "Which blood pressure cuff?", as_of=ago(days=2))
    assert then == ["my favourite blood pressure cuff is red"]


def test_memories_are_results_too_and_once(service: Service) -> None:
    saved = service.saved("my blood pressure is usually 118/76", timestamp=ago(hours=2))
    service.say("Remember that my blood pressure pills are white", timestamp=ago(hours=1), importance=0.9)
    for _ in service.pending_and_projected():
        results = asked(service, BP)["results"]
        assert {one["content"] for one in results} == {
            "my blood pressure is usually 118/76",
            "Remember that my blood pressure pills are white",
        }
        assert len(results) == 2
        (direct,) = [one for one in results if one["id"] == saved["id"]]
        assert direct["kind"] == "memory"


@pytest.mark.spec("R-22")
def test_a_space_is_known_though_nothing_of_it_is_in_the_window(service: Service) -> None:
    service.say("saw Lisbon", timestamp=ago(days=20), space_id="Travel")
    service.say("a secret", timestamp=ago(days=1), space_id="Secrets", is_private=True)
    service.settle()
    answer = asked(service, "What is in my Travel and Secrets?", active_space_id="Health")
    assert [one["normalized"] for one in answer["analysis"]["entities"]] == ["Travel"]


def test_a_query_is_required(service: Service) -> None:
    answer = service.caller.post("/v1/search", {"user_id": USER, "vector": [1.0] * 384, "mode": "intent"})
    assert (answer.status, answer.locs) == (422, {("body", "query")})


@pytest.mark.spec("R-97", "R-115", "R-117", "R-118", "R-119")
def test_the_log_line_carries_the_metrics(service: Service) -> None:
    diary(service, 3)
    for query in (BP, "Hello", "Where is my umbrella?"):
        asked(service, query)
    lines = [json.loads(line) for line in service.caller.surface.log.getvalue().splitlines() if "IntentQueries" in line]
    first, second, third = lines
    (directive,) = first["_aws"]["CloudWatchMetrics"]
    units = {one["Name"]: one["Unit"] for one in directive["Metrics"]}
    assert units["IntentRetrievalMs"] == "Milliseconds"
    assert set(units) <= set(first)
    assert (first["IntentQuestion"], first["IntentFallbacks"], first["IntentZeroMatches"]) == (1, 0, 0)
    assert first["IntentTokens"] < first["IntentTokensStage4"]
    assert second["IntentGreeting"] == 1
    assert "IntentFallbacks" not in second
    assert third["IntentZeroMatches"] == 1
    assert "blood" not in json.dumps(lines)


@pytest.mark.spec("R-98", "R-116")
def test_feedback_is_counted(service: Service) -> None:
    told: list[tuple[dict[str, Any], bool]] = [
        ({"positive": True}, True), ({"positive": False}, True), ({"positive": True, "mode": "other"}, False)
    ]  # fmt: skip
    for given, counted in told:
        answer = service.caller.post("/v1/feedback", {"user_id": USER, **given})
        assert (answer.status, answer.json) == (200, {"counted": counted})
    lines = [json.loads(line) for line in service.caller.surface.log.getvalue().splitlines()]
    assert [one["IntentFeedback"] for one in lines if "IntentFeedback" in one] == [1, 0]
    assert service.caller.post("/v1/feedback", {"user_id": USER}).locs == {("body", "positive")}
