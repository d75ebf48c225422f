"""Signals, audit and ledger as routes: forms, credentials, pages, repetitions (A-66, A-67)."""

import json

import pytest

from entrypoints.http.calling import Caller
from entrypoints.http.test_bridge import bus, project, say, signal
from recollect.app import App


def test_a_signal_sent_twice_under_a_key_is_forwarded_once(caller: Caller) -> None:
    assert caller.twice("/v1/signals", {"type": "warning", "source": "m"}).status == 200
    assert len(bus(caller, "memory:episodic:warning")) == 1


def test_the_audit_is_paged_and_filtered(app: App, caller: Caller) -> None:
    ids = say(caller, *({"content": f"number {n}", "importance": 0.9} for n in range(7)))
    project(app)
    whole = caller.get("/v1/users/anna/audit").json["entries"]
    assert sorted(one["target_ids"][0] for one in whole) == sorted(ids)
    assert [one["id"] for one in whole] == sorted((one["id"] for one in whole), reverse=True)
    assert "number" not in json.dumps(whole)
    assert caller.walk("/v1/users/anna/audit", "entries", limit=2) == whole
    (one,) = caller.get("/v1/users/anna/audit", {"target_id": ids[3]}).json["entries"]
    assert (one["target_ids"], one["action"], one["actor"]) == ([ids[3]], "create", {"kind": "job", "id": "project"})
    assert caller.get("/v1/users/anna/audit", {"action": "delete"}).json["entries"] == []
    assert caller.get("/v1/users/berta/audit").json == {"entries": []}
    cursor = caller.get("/v1/users/anna/audit", {"limit": 2}).json["next_cursor"]
    assert caller.get("/v1/users/anna/ledger", {"limit": 2, "cursor": cursor}).locs == {("query", "cursor")}
    assert caller.get("/v1/users/anna/audit", {"action": "other"}).locs == {("query", "action")}
    assert caller.get("/v1/users/anna/ledger", {"outcome": "other"}).locs == {("query", "outcome")}


@pytest.mark.spec("A-66", "A-67")
def test_a_warning_is_forwarded_with_severity_reason_and_hints(caller: Caller) -> None:
    answer = signal(caller, "warning", severity="critical", reason="write latency")
    assert answer.status == 200, answer.text
    assert answer.json["suspended"] is True
    assert answer.json["forwarded"] is True
    (event,) = bus(caller, "memory:episodic:warning")
    assert event["id"] == answer.json["event_id"]
    hints = event["detail"].pop("hints")
    assert event["detail"] == {"severity": "critical", "reason": "write latency", "source": "monitor"}
    assert hints
    assert all(isinstance(hint, str) for hint in hints)
