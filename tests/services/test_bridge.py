"""The bridge from episodic to semantic memory: what is told, promoted, pruned, warned of, deferred (A-58 to A-68)."""

import json
from datetime import datetime
from typing import Any

import pytest

from recollect.memories.audit import content_hash
from recollect.timeline.bus import EPISODIC_PRUNED, EPISODIC_SAVED, EPISODIC_WARNING, SEMANTIC_SAVED
from services.serving import USER, Service, ago

FLAT_KEYS = {"userId", "personaId", "eventType", "timestamp", "importance", "content", "segmentId"}
DIAGNOSTICS = {"timelineLagMs", "segmentCount"}
LATE_MINUTES = 5


def late(service: Service, content: str, **more: Any) -> str:
    """The id of an important event that is saved five minutes after its time, and projected."""
    event_id = service.say(content, **{"importance": 0.9, "timestamp": ago(minutes=LATE_MINUTES), **more})
    service.settle()
    return event_id


def in_time(service: Service, content: str, **more: Any) -> str:
    """The same of one that is saved at once."""
    return late(service, content, timestamp=ago(seconds=0), **more)


def audit(service: Service) -> list[dict[str, Any]]:
    return list(service.caller.get(f"/v1/users/{USER}/audit", {"limit": 200}).json["entries"])


@pytest.mark.spec("A-58", "A-59", "A-61")
def test_a_saved_event_is_broadcast_with_flat_keys_and_diagnostics(service: Service) -> None:
    moment = ago(minutes=LATE_MINUTES)
    said = service.say(
        "I like tea", scope={"persona_id": "work"}, event_type="emotion", importance=0.25, timestamp=moment
    )
    bare = service.say("no persona")
    service.settle()
    told = {one["eventId"]: one for one in service.bus(EPISODIC_SAVED)}
    assert told.keys() == {said, bare}
    detail = told[said]
    assert detail.keys() == {"eventId"} | FLAT_KEYS | DIAGNOSTICS
    assert (detail["userId"], detail["personaId"], detail["eventType"]) == (USER, "work", "emotion")
    assert (detail["importance"], detail["content"]) == (0.25, "I like tea")
    assert datetime.fromisoformat(detail["timestamp"]) == datetime.fromisoformat(moment)
    assert detail["segmentId"] == service.app.projection.steps.segments.known(service.scope(), [said])[said]
    assert (told[bare]["personaId"], told[bare].keys()) == (None, detail.keys())
    lag = LATE_MINUTES * 60_000
    assert lag <= detail["timelineLagMs"] < lag + 60_000
    assert 0 <= told[bare]["timelineLagMs"] < 60_000
    assert detail["segmentCount"] == service.app.projection.steps.segments.count(service.scope()) == 1


@pytest.mark.spec("A-60", "P-10")
def test_an_event_becomes_a_memory_where_both_policies_let_it_pass(service: Service) -> None:
    cases: dict[str, tuple[dict[str, Any], bool]] = {
        "weighty talk": ({"importance": 0.6}, True),
        "light talk": ({"importance": 0.59}, False),
        "a task": ({"importance": 0.6, "event_type": "task"}, True),
        "a light task": ({"importance": 0.1, "event_type": "task"}, False),
        "a reminder": ({"importance": 1.0, "event_type": "reminder"}, True),
        "a mood": ({"importance": 1.0, "event_type": "emotion"}, False),
        "a liking": ({"importance": 1.0, "event_type": "preference"}, False),
        "anything": ({"importance": 1.0, "event_type": "custom"}, False),
    }
    ids = {text: service.say(text, **event) for text, (event, _) in cases.items()}
    service.settle()
    passed = {text for text, (_, becomes) in cases.items() if becomes}
    memories = service.memories()
    assert memories.keys() == passed
    assert all(memories[text]["source_event_ids"] == [ids[text]] for text in passed)
    assert {one["content"] for one in service.bus(SEMANTIC_SAVED)} == passed
    assert {text for text in cases if service.ledger(ids[text])} == passed
    service.rules(bridge={"min_importance": 0, "event_types": ["emotion"]})
    service.say("a faint mood", importance=0.1, event_type="emotion")
    service.say("a second task", importance=1.0, event_type="task")
    service.settle()
    assert service.memories().keys() == passed | {"a faint mood"}


@pytest.mark.spec("A-60", "P-19")
def test_a_keyed_event_always_becomes_a_memory_and_is_the_value_before_it_has(service: Service) -> None:
    service.rules(bridge={"enabled": False})
    service.say("Paris", key="city", importance=0.0, event_type="custom", timestamp=ago(days=2))
    service.say("Lyon", key="city", importance=0.0, event_type="custom", timestamp=ago(days=1))
    service.say("no key", importance=1.0)
    for _ in service.pending_and_projected():
        found = service.found(query="Paris Lyon city")
        assert ("Lyon" in found, "Paris" in found) == (True, False)
    memories = service.memories()
    assert {text: one["status"] for text, one in memories.items()} == {"Lyon": "active", "Paris": "superseded"}


@pytest.mark.spec("A-62", "A-63", "A-64", "A-65")
def test_what_retention_prunes_is_told_and_its_memories_go_of_the_same_user_and_persona(
    service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", logger="recollect")
    service.rules(retention=[{"older_than_days": 30}])
    old: dict[str, Any] = {"importance": 0.8, "timestamp": ago(days=40)}
    pruned = {scope or "": service.say("I love jazz", scope=persona(scope), **old) for scope in (None, "coach")}
    kept = service.say("I love jazz", scope=persona("cook"), importance=0.8)
    bens = service.say("I love jazz", user="ben", importance=0.8)
    twice = [service.say("I love rock", importance=0.8, timestamp=moment) for moment in (ago(days=40), ago(days=1))]
    service.settle()
    assert len(service.memories()["I love rock"]["source_event_ids"]) == 2
    assert service.job("retain")["counts"]["pruned"] == 3
    service.settle()
    told = {one["personaId"]: one for one in service.bus(EPISODIC_PRUNED)}
    assert {name: one["ids"] for name, one in told.items() if name} == {"coach": [pruned["coach"]]}
    assert set(told[None]["ids"]) == {pruned[""], twice[0]}
    for one in told.values():
        hashes = {content_hash(service.tenant, USER, text) for text in ("I love jazz", "I love rock")}
        assert len(one["hashes"]) == len(one["ids"])
        assert set(one["hashes"]) <= hashes
        assert (one["userId"], one["reason"]) == (USER, "retention[0]")
        assert "love" not in json.dumps(one)
    memories = service.memories()
    assert (memories["I love jazz"]["id"], memories["I love jazz"]["persona_id"]) == (kept, "cook")
    assert memories["I love rock"]["source_event_ids"] == [twice[1]], "something else still says so"
    assert service.memories("ben")["I love jazz"]["id"] == bens
    assert service.found(query="I love jazz", persona_id="coach") == []
    _is_in_the_audit(service, {*pruned.values(), twice[0]}, caplog)


def _is_in_the_audit(service: Service, gone: set[str], caplog: pytest.LogCaptureFixture) -> None:
    entries = [one for one in audit(service) if one.get("outcome") == "pruned"]
    assert {event_id for one in entries for event_id in one["event_ids"]} == gone
    assert {(one["actor"]["kind"], one["actor"]["id"], one["via"]) for one in entries} == {("job", "retain", "retain")}
    assert "love" not in json.dumps(entries)
    lines = [record.__dict__ for record in caplog.records if record.getMessage() == "pruned"]
    assert {event_id for line in lines for event_id in line["event_ids"]} == gone
    assert {line["persona"] is None for line in lines} == {True, False}
    assert not any("love" in str(value) for line in lines for value in line.values())


def persona(name: str | None) -> dict[str, str]:
    return {"persona_id": name} if name else {}


@pytest.mark.spec("A-62", "A-63", "A-64", "A-65")
def test_a_deletion_by_hand_is_told_without_a_word_and_takes_the_memory_along(service: Service) -> None:
    gone, stays = in_time(service, "told once"), in_time(service, "told too")
    bens = service.say("told once", user="ben", importance=0.9)
    service.settle()
    service.delete(f"events/{gone}")
    service.settle()
    assert [set(service.memories(user)) for user in (USER, "ben")] == [{"told too"}, {"told once"}]
    (told,) = service.bus(EPISODIC_PRUNED)
    hashes = [content_hash(service.tenant, USER, "told once")]
    assert told == {"userId": USER, "personaId": None, "ids": [gone], "hashes": hashes, "reason": "deleted"}
    left = {one["eventId"] for one in service.bus(EPISODIC_SAVED)}
    assert left == {stays, bens}, "the log keeps no word of what is gone"
    (entry,) = [one for one in audit(service) if one["action"] == "delete"]
    assert gone in entry["target_ids"]
    assert (entry["actor"], "told once" in json.dumps(entry)) == ({"kind": "user", "id": USER}, False)


@pytest.mark.spec("A-66")
def test_a_warning_is_forwarded_with_its_severity_and_hints(service: Service) -> None:
    answer = service.signal("warning", severity="critical", reason="write latency")
    assert (answer["suspended"], answer["forwarded"]) == (True, True)
    (told,) = service.bus(EPISODIC_WARNING)
    hints = told.pop("hints")
    assert told == {"severity": "critical", "reason": "write latency", "source": "monitor"}
    assert hints
    assert all(isinstance(hint, str) for hint in hints)
    service.signal("healthy")
    assert len(service.bus(EPISODIC_WARNING)) == 1


@pytest.mark.spec("A-67", "P-10")
def test_after_a_warning_nothing_is_promoted_until_a_healthy_signal_and_a_reconciliation(service: Service) -> None:
    service.signal("warning")
    said = late(service, "late words")
    again = service.restarted()
    assert (again.memories(), again.ledger(said)) == ({}, ["deferred"])
    assert again.reconcile_bridge() == 0, "it is suspended still"
    assert again.signal("healthy")["suspended"] is False
    assert again.memories() == {}, "the signal itself promotes nothing"
    assert again.reconcile_bridge() == 1
    assert again.memories()["late words"]["id"] == said
    assert again.ledger(said) == ["deferred", "promoted", "reconciled"]
    assert again.reconcile_bridge() == 0
    assert [one["memoryId"] for one in again.bus(SEMANTIC_SAVED)] == [said]


@pytest.mark.spec("A-67", "P-10")
def test_an_event_in_time_ends_the_suspension_and_is_promoted_itself(service: Service) -> None:
    service.signal("warning")
    late(service, "too late")
    assert service.memories() == {}
    in_time(service, "in time")
    assert service.memories().keys() == {"in time"}
    late(service, "late again")
    assert service.memories().keys() == {"in time", "late again"}
    assert service.reconcile_bridge() == 1
    assert service.memories().keys() == {"in time", "late again", "too late"}


@pytest.mark.spec("A-67", "P-10")
def test_what_counts_as_in_time_is_ten_seconds_and_a_rule(service: Service) -> None:
    assert service.caller.get("/v1/rules").json["rules"]["bridge"]["healthy_lag_ms"] == 10_000
    service.rules(bridge={"healthy_lag_ms": 10 * LATE_MINUTES * 60_000})
    service.signal("warning")
    late(service, "not so late here")
    assert service.memories().keys() == {"not so late here"}


@pytest.mark.spec("A-68", "P-19")
def test_only_automatic_promotion_is_suspended(service: Service) -> None:
    service.signal("warning")
    told_late = {"importance": 0.9, "timestamp": ago(minutes=LATE_MINUTES)}
    service.told({"content": "waits", **told_late}, {"content": "Paris", "key": "city", **told_late})
    service.saved("saved directly")
    service.settle()
    assert service.memories().keys() == {"Paris", "saved directly"}
    assert service.found(query="saved directly")[0] == "saved directly"
    assert {one["content"] for one in service.bus(SEMANTIC_SAVED)} == {"Paris", "saved directly"}
    assert service.reconcile_bridge() == 0
