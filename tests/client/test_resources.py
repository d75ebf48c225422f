"""Each resource through the client, against the real routes."""

import json
from datetime import UTC, date, datetime
from functools import partial
from typing import Any
from uuid import uuid4

import pytest

from client.conftest import HARD_IDS, until
from recollect.client import Conflict, NotFound, Recollect, Unprocessable, VersionMismatch
from recollect.client.types import NewEvent

PARIS, LYON = "I live in Paris.", "I moved to Lyon."
PAIR = "018f4cf3-a400-7000-8000-000000000002.018f4cf3-a400-7000-8000-000000000001"
SAID = datetime.now(UTC)
DOCUMENT = "No, by 'cost' I mean the 'total_amount' field"


def test_a_memory_from_its_making_to_its_end(memory: Recollect, user: str) -> None:
    until = datetime(2100, 1, 1, tzinfo=UTC)
    first = memory.save_memory(user, "Anna lives in Lyon", keywords=["city"], expires_at=until, importance=0.8)
    assert (first["version"], first["keywords"], first["expires_at"][:4]) == (1, ["city"], "2100")
    (found,) = memory.search(user, "Where does Anna live?")["results"]
    assert (found["id"], found["kind"], found["source_event_ids"]) == (first["id"], "memory", [])
    edited = memory.patch_memory(user, first["id"], {"content": "Anna moved", "expires_at": None}, version=1)
    assert (edited["version"], edited["content"], "expires_at" in edited) == (2, "Anna moved", False)
    for write in (memory.delete_memory, partial(memory.patch_memory, changes={"importance": 1.0})):
        with pytest.raises(VersionMismatch):
            write(user, first["id"], version=1)
    assert memory.patch_memory(user, first["id"], {"importance": 1.0})["version"] == 3
    assert [one["version"] for one in memory.memory_history(user, first["id"])] == [1, 2, 3]
    memory.delete_memory(user, first["id"], version=3)
    for gone in (memory.memory, memory.memory_history, memory.delete_memory):
        with pytest.raises(NotFound):
            gone(user, first["id"])


def test_every_page_of_every_scope(memory: Recollect, user: str) -> None:
    for number in range(5):
        memory.save_memory(user, f"memory {number}", persona_id="coach" if number % 2 else None)
    assert [one["content"] for one in memory.memories(user, limit=2)] == [f"memory {n}" for n in (4, 3, 2, 1, 0)]
    assert [one["content"] for one in memory.memories(user, persona_id="coach")] == ["memory 3", "memory 1"]
    assert list(memory.memories(user, status="superseded")) == []
    (one, *_) = memory.memories(user, persona_id="coach")
    with pytest.raises(NotFound):
        memory.memory(user, one["id"], persona_id="cook")


def test_a_decision_is_listed_and_taken_back(memory: Recollect, user: str) -> None:
    for day, content in enumerate((PARIS, LYON), start=1):
        memory.add_events(user, [{"content": content, "timestamp": f"2024-04-0{day}T09:00:00Z"}])
    (decision,) = until(lambda: list(memory.decisions(user, status="applied", limit=1)))
    reverted = memory.revert_decision(user, decision["id"])
    assert (reverted["status"], reverted["memory"]["content"]) == ("reverted", PARIS)
    with pytest.raises(Conflict):
        memory.revert_decision(user, decision["id"])
    assert [one["status"] for one in memory.decisions(user, step="judge")] == ["reverted"]
    assert list(memory.decisions(user, persona_id="coach")) == []
    assert list(memory.conflicts(user, status="open", limit=1)) == []
    with pytest.raises(NotFound):
        memory.resolve_conflict(user, PAIR, "x")
    with pytest.raises(NotFound):
        memory.resolve_conflict(user, PAIR, both=True)
    with pytest.raises(Unprocessable):
        memory.conflicts(user, status="x").__next__()  # type: ignore[arg-type]


def test_summaries_and_goals(memory: Recollect, user: str) -> None:
    memory.add_events(user, [{"content": "I plan to meditate every day.", "timestamp": SAID}])
    assert memory.summarize(user)["due"] is False
    made = memory.summarize(user, force=True, idempotency_key="k")
    assert made["reason"] == "forced"
    assert memory.summarize(user, force=True, idempotency_key="k") == made
    assert list(memory.summaries(user, limit=1)) == [made["summary"]]
    assert list(memory.summaries(user, persona_id="coach")) == []
    (goal,) = memory.goals(user)
    assert memory.check_in(user, goal["id"], date(2024, 6, 1), "missed")["history"] == [
        {"date": "2024-06-01", "status": "missed"}
    ]
    with pytest.raises(VersionMismatch):
        memory.patch_goal(user, goal["id"], {"status": "completed"}, version=1)
    assert memory.patch_goal(user, goal["id"], {"status": "completed"}, version=2)["status"] == "completed"
    assert memory.patch_goal(user, goal["id"], {"goal": "Walk"})["version"] == 4


def test_a_goal_is_set_by_the_person(memory: Recollect, user: str) -> None:
    goal = memory.add_goal(user, "Run a marathon", check_in_frequency="weekly", idempotency_key="k")
    assert (goal["goal"], goal["check_in_frequency"], goal["source"]) == ("Run a marathon", "weekly", "user")
    memory.patch_goal(user, goal["id"], {"status": "completed"})
    assert memory.add_goal(user, "Run a marathon", check_in_frequency="weekly", idempotency_key="k")["version"] == 2
    again = memory.add_goal(user, "run a marathon")
    assert (again["id"], again["status"], again["version"]) == (goal["id"], "active", 3)
    other = memory.add_goal(user, "Run a marathon", persona_id="coach")
    assert other["persona_id"] == "coach"
    assert memory.goals(user) == [again, other]
    with pytest.raises(Unprocessable):
        memory.add_goal(user, " ")


def test_signals_audit_and_ledger(memory: Recollect, user: str) -> None:
    told = memory.signal("warning", "test", severity="high", reason="latency")
    assert (told["suspended"], told["forwarded"]) == (True, True)
    assert told["event_id"] in {one["id"] for one in memory.bus("memory:episodic:warning")["events"]}
    assert memory.signal("healthy", "test") == {"type": "healthy", "suspended": False}
    events: list[NewEvent] = [{"content": f"words {n}", "importance": 0.9} for n in range(5)]
    ids = [one["event_id"] for one in memory.add_events(user, events)["results"]]
    entries = until(lambda: list(memory.audit(user, limit=2)), 5)
    assert {one["target_ids"][0] for one in entries} == set(ids)
    (one,) = memory.ledger(user, event_id=ids[2])
    assert (one["outcome"], one["event_ids"]) == ("promoted", [ids[2]])
    assert list(memory.audit(user, target_id=ids[2], action="delete")) == []
    assert list(memory.ledger(user, outcome="failed")) == []


@pytest.fixture
def store() -> str:
    """A store that no other test names: the tenant is everybody's."""
    return f"store-{uuid4().hex}"


def test_an_entry_with_its_versions(memory: Recollect, store: str) -> None:
    first = memory.put_knowledge(store, "k", {"free": None})
    assert memory.knowledge_entry(store, "k") == first
    assert memory.put_knowledge(store, "k", "again", version=1)["version"] == 2
    with pytest.raises(VersionMismatch):
        memory.put_knowledge(store, "k", 0, version=1)
    with pytest.raises(VersionMismatch):
        memory.delete_knowledge(store, "k", version=9)
    memory.delete_knowledge(store, "k", version=2)
    with pytest.raises(NotFound):
        memory.knowledge_entry(store, "k")


def test_every_page_of_knowledge(memory: Recollect, store: str) -> None:
    for key in HARD_IDS[:4]:
        memory.put_knowledge(store, key, {"of": key})
    found = {entry["key"]: entry["value"] for entry in memory.knowledge(store, limit=3)}
    assert found == {key: {"of": key} for key in HARD_IDS[:4]}
    assert {entry["key"] for entry in memory.knowledge() if entry["namespace"] == store} == found.keys()


def test_what_is_learnt_is_applied(memory: Recollect, store: str) -> None:
    assert memory.learn(DOCUMENT, store, dry_run=True)["stored"] is False
    learnt = memory.learn(DOCUMENT, store)
    assert learnt["confirmation"] == "I have learnt that 'cost' refers to 'total_amount' for future queries."
    assert memory.learn("Hello", store) == {"stored": False}
    rule = f"vip {store}"
    memory.put_knowledge("rule", rule, {"condition": "n > 1", "applies_to": [store]})
    assert memory.resolve(f"cost of {rule}", store, filter="a")["filter"] == "(a) AND (n > 1)"
    assert memory.resolve("cost", store, comments="all")["comments"]
    assert f'- "cost" ({store}) -> Mapped to field: "total_amount"' in memory.knowledge_prompt(store)


@pytest.fixture
def name() -> str:
    """A rule that no other test names: the tenant is everybody's."""
    return f"Regel/{uuid4().hex}"


def m(statement_id: str, **changes: Any) -> dict[str, Any]:
    plain = {"user_id": "ana", "content": "I like tea", "importance": 0.5, "timestamp": "2025-05-01T09:00:00Z"}
    return {"id": statement_id, **plain, **changes}


def test_a_pair_is_decided_and_merged(memory: Recollect) -> None:
    new, old = m("new", keywords=["tea"], importance=0.9), m("old", keywords=["tea"])
    assert memory.arbitrate(new, [old], rule="default")["result"]["winner"] == "new"
    options = {"priorityImportance": False}
    assert memory.arbitrate(new, [old], options=options)["result"]["action"] == "merge"
    merged = memory.merge(new, old, options={"contentStrategy": "concatenate"})
    assert merged["merged"]["content"] == "I like tea\nI like tea"


def test_a_rule_with_its_versions(memory: Recollect, name: str) -> None:
    rule = memory.put_merge_rule(name, {"priority": 1, "conditions": {"userId": name}})
    assert memory.merge_rule(name) == rule
    assert memory.match_merge_rule(m("new", user_id=name))["name"] == name
    changed = memory.patch_merge_rule(name, {"priority": None}, version=rule["version"])
    assert "priority" not in changed["resolved"]
    with pytest.raises(VersionMismatch):
        memory.put_merge_rule(name, {}, version=rule["version"])
    with pytest.raises(VersionMismatch):
        memory.delete_merge_rule(name, version=rule["version"])
    memory.delete_merge_rule(name, version=changed["version"])
    with pytest.raises(NotFound):
        memory.merge_rule(name)
    memory.import_merge_rules([changed])
    assert name in {rule["name"] for rule in memory.merge_rules(limit=1)}
    memory.delete_merge_rule(name)


def test_what_is_exported_is_imported(memory: Recollect, user: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recollect.archive.transfer.PAGE_BYTES", 1_500)
    other = f"other {uuid4().hex}"
    memory.add_events(user, [{"content": f"remark {n}"} for n in range(6)])
    pages = list(memory.export(user))
    assert len(pages) > 2
    lines = [json.loads(line) for page in pages for line in page.splitlines()]
    assert [line["event"]["content"] for line in lines] == [f"remark {n}" for n in range(6)]
    counts = [memory.import_page(other, page) for page in pages]
    assert sum(one["created"] for one in counts) == 6
    assert "".join(memory.export(user, persona_id="nobody")) == ""
    assert all(set(one) >= {"id", "created_at", "counts"} for one in memory.snapshots(limit=1))


@pytest.mark.spec("P-22")
def test_a_value_is_rejected_and_lifted_and_a_user_erased(memory: Recollect, user: str) -> None:
    said = memory.add_events(user, [{"content": "I hate liver"}])["results"][0]["event_id"]
    memory.delete_event(user, said, reject=True)
    assert memory.add_events(user, [{"content": "I HATE liver!"}])["results"][0]["status"] == "refused"
    (rejection,) = memory.rejections(user)
    memory.lift_rejection(user, rejection["id"])
    assert list(memory.rejections(user)) == []
    saved = memory.save_memory(user, "I hate liver")
    memory.delete_memory(user, saved["id"], reject=True)
    assert len(list(memory.rejections(user))) == 1
    memory.add_events(user, [{"content": "I like tea"}])
    erasure_id = memory.erase_user(user)
    assert list(memory.events(user)) == []
    until(lambda: [memory.erasure(erasure_id)] if memory.erasure(erasure_id)["status"] == "done" else [])
    assert memory.erasure(erasure_id)["verified"]
    with pytest.raises(NotFound):
        memory.erasure(str(uuid4()))
