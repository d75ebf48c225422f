"""The bridge over HTTP: what is published, what becomes a memory, signals, deferral, ledger (A-58 to A-68)."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from entrypoints.http.calling import Answered, Caller
from recollect.app import App
from recollect.core.scope import Scope
from recollect.memories.reading import ReadMemories
from recollect.memories.storage import MEMORIES, SAME_AS

NOW = datetime.now(UTC).replace(microsecond=0)
LATE = {"timestamp": (NOW - timedelta(minutes=5)).isoformat(), "importance": 0.9}
IN_TIME = {"timestamp": (NOW - timedelta(seconds=10)).isoformat(), "importance": 0.9}
FLAT_KEYS = {
    "userId",
    "personaId",
    "eventType",
    "timestamp",
    "importance",
    "content",
    "segmentId",
    "timelineLagMs",
    "segmentCount",
}


def say(caller: Caller, *events: dict[str, Any], user: str = "anna", **more: Any) -> list[str]:
    """The ids of events that arrive now."""
    answer = caller.post("/v1/events", {"user_id": user, "events": list(events), **more}, x_recollect_now=at())
    assert answer.status == 201, answer.text
    return [result["event_id"] for result in answer.json["results"]]


def at(**later: float) -> str:
    """An instant of the test's clock."""
    return (NOW + timedelta(**later)).isoformat()


def project(app: App) -> None:
    """What the stream reader does."""
    assert app.projection.reconciliation.run(NOW).failed == {}


def reconcile(app: App) -> int:
    """The bridge's reconciliation; how many were promoted."""
    run = app.memories.bridge.reconcile(NOW)
    assert run.deferred.complete
    return run.deferred.promoted


def signal(caller: Caller, kind: str, **more: Any) -> Answered:
    """`POST /v1/signals`."""
    return caller.post("/v1/signals", {"type": kind, "source": "monitor", **more}, x_recollect_now=at())


def bus(caller: Caller, kind: str) -> list[dict[str, Any]]:
    """What was published of that type."""
    return list(caller.get("/v1/bus", {"type": kind}).json["events"])


def ledger(caller: Caller, **query: Any) -> list[dict[str, Any]]:
    """Entries of the ledger, newest first."""
    answer = caller.get("/v1/users/anna/ledger", query)
    assert answer.status == 200, answer.text
    return list(answer.json["entries"])


def memories(app: App, user: str = "anna") -> set[str]:
    """Contents of what became a memory."""
    scope = Scope("local", user)
    items = app.parts.items.page(scope, MEMORIES, 100, None).items
    ids = [item.key.key for item in items if SAME_AS not in item.value]
    return {memory.content for memory in ReadMemories(app.parts.items).read(scope, ids).values()}


@pytest.mark.spec("A-44", "A-58", "A-59", "A-61")
def test_a_saved_event_is_published_with_flat_keys_and_diagnostics(app: App, caller: Caller) -> None:
    event = {"content": "I like tea", "event_type": "emotion", "timestamp": at(seconds=-3), "importance": 0.25}
    (event_id,) = say(caller, event, persona_id="work")
    project(app)
    (published,) = bus(caller, "memory:episodic:saved")
    assert published["id"] == event_id
    detail = published["detail"]
    assert detail.keys() == {"eventId", *FLAT_KEYS}
    assert {name: detail[name] for name in FLAT_KEYS - {"timestamp", "segmentId", "segmentCount"}} == {
        "userId": "anna",
        "personaId": "work",
        "eventType": "emotion",
        "importance": 0.25,
        "content": "I like tea",
        "timelineLagMs": 3000,
    }
    assert datetime.fromisoformat(detail["timestamp"]) == NOW - timedelta(seconds=3)
    assert isinstance(detail["segmentCount"], int)


@pytest.mark.spec("A-23")
def test_each_memory_is_published_once_and_a_duplicate_is_not(app: App, caller: Caller) -> None:
    first, _ = say(caller, {"content": "I live in Paris", **IN_TIME}, {"content": "I live in Paris ", **LATE})
    project(app)
    (again,) = say(caller, {"content": " I live in Paris", "importance": 0.9})
    project(app)
    (published,) = bus(caller, "memory:semantic:saved")
    assert published["detail"]["memoryId"] == first
    assert published["detail"]["content"] == "I live in Paris"
    assert published["detail"]["userId"] == "anna"
    assert published["id"] != first
    (entry,) = ledger(caller, event_id=again)
    assert (entry["outcome"], entry["target_ids"]) == ("duplicate", [first])


@pytest.mark.spec("A-67", "P-10")
def test_after_a_warning_nothing_is_promoted_until_it_is_healthy_and_then_by_reconciliation(
    app: App, caller: Caller
) -> None:
    signal(caller, "warning")
    (deferred,) = say(caller, {"content": "late words", **LATE})
    project(app)
    assert memories(app) == set()
    assert reconcile(app) == 0
    assert signal(caller, "healthy").json == {"type": "healthy", "suspended": False}
    assert memories(app) == set()
    assert reconcile(app) == 1
    assert memories(app) == {"late words"}
    assert reconcile(app) == 0
    outcomes = [(one["outcome"], one["event_ids"], one["actor"]["kind"]) for one in ledger(caller, event_id=deferred)]
    assert outcomes == [
        ("reconciled", [deferred], "job"),
        ("promoted", [deferred], "job"),
        ("deferred", [deferred], "job"),
    ]
    (published,) = bus(caller, "memory:semantic:saved")
    assert published["detail"]["memoryId"] == deferred


@pytest.mark.spec("A-67", "P-10", "A-61")
def test_an_event_in_time_ends_the_suspension_and_is_promoted(app: App, caller: Caller) -> None:
    signal(caller, "warning")
    say(caller, {"content": "late", **LATE})
    say(caller, {"content": "in time", **IN_TIME})
    say(caller, {"content": "late again", **LATE})
    project(app)
    assert memories(app) == {"in time", "late again"}
    assert reconcile(app) == 1
    assert memories(app) == {"late", "in time", "late again"}


@pytest.mark.spec("A-67")
def test_the_lag_that_counts_as_healthy_is_a_rule(app: App, caller: Caller) -> None:
    body = json.dumps({"bridge": {"healthy_lag_ms": 9_999}}).encode()
    assert caller.put("/v1/rules", body).status == 200
    signal(caller, "warning")
    say(caller, {"content": "in time", **IN_TIME})
    project(app)
    assert memories(app) == set()


@pytest.mark.spec("A-68")
def test_a_direct_save_is_never_suspended(app: App, caller: Caller) -> None:
    signal(caller, "warning")
    saved = caller.post("/v1/memories", {"user_id": "anna", "content": "saved directly"})
    assert saved.status == 201, saved.text
    project(app)
    assert memories(app) == {"saved directly"}
    (published,) = bus(caller, "memory:semantic:saved")
    assert published["detail"]["content"] == "saved directly"
    assert bus(caller, "memory:episodic:saved") == []


@pytest.mark.spec("P-17")
def test_a_private_event_is_not_published(app: App, caller: Caller) -> None:
    say(caller, {"content": "secret", "is_private": True, "importance": 1.0, "key": "k"})
    project(app)
    assert caller.get("/v1/bus").json == {"events": []}


@pytest.mark.spec("A-62", "A-63", "A-64")
def test_a_deletion_by_hand_is_published_without_a_word_and_takes_the_memory_along(app: App, caller: Caller) -> None:
    ours, other = (say(caller, {"content": "told once", **IN_TIME}, user=user)[0] for user in ("anna", "berta"))
    project(app)
    assert (memories(app), memories(app, "berta")) == ({"told once"}, {"told once"})
    assert caller.delete(f"/v1/users/anna/events/{ours}").status == 204
    project(app)
    assert (memories(app), memories(app, "berta")) == (set(), {"told once"})
    (pruned,) = bus(caller, "memory:episodic:pruned")
    assert pruned["detail"].pop("hashes")[0]
    assert pruned["detail"] == {"userId": "anna", "personaId": None, "ids": [ours], "reason": "deleted"}
    shown = caller.get("/v1/bus").json["events"]
    assert [one["detail"]["userId"] for one in shown if "content" in one["detail"]] == ["berta", "berta"]
    assert other in {one["id"] for one in shown}


@pytest.mark.spec("A-62", "A-63")
def test_a_deletion_of_a_slot_is_published_for_each_of_its_values(app: App, caller: Caller) -> None:
    ids = say(caller, {"content": "Paris", "key": "city"}, {"content": "Lyon", "key": "city"})
    secret = say(caller, {"content": "hidden", "key": "city", "is_private": True})
    assert secret
    project(app)
    assert caller.delete("/v1/users/anna/keys/city").status == 204
    project(app)
    assert sorted(one["detail"]["ids"][0] for one in bus(caller, "memory:episodic:pruned")) == sorted(ids)
