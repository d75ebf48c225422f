"""Signals, audit and ledger as routes: forms, credentials, pages, repetitions (A-66, A-67)."""

import json
from typing import Any
from uuid import uuid4

import pytest

from entrypoints.http.calling import Caller, Cloud
from entrypoints.http.conftest import settings_in
from entrypoints.http.test_bridge import bus, project, say, signal
from recollect.app import App
from recollect.bootstrap import open_app


def test_signals_are_for_administrators(app: App) -> None:
    answer = signal(Caller(Cloud(app, {"tenant": "local", "scope": "openid"})), "warning")
    assert answer.status == 403


@pytest.mark.parametrize(
    ("body", "loc"),
    [
        ({"source": "m"}, ("body", "type")),
        ({"type": "warning"}, ("body", "source")),
        ({"type": "alarm", "source": "m"}, ("body", "type")),
        ({"type": "warning", "source": " "}, ("body", "source")),
        ({"type": "warning", "source": "m", "severity": 3}, ("body", "severity")),
        ({"type": "warning", "source": "m", "reason": "x" * 1025}, ("body", "reason")),
        ({"type": "warning", "source": "m", "tenant": "other"}, ("body", "tenant")),
    ],
)
def test_a_signal_that_is_none_is_refused(caller: Caller, body: dict[str, Any], loc: tuple[str, ...]) -> None:
    answer = caller.post("/v1/signals", body)
    assert (answer.status, answer.locs) == (422, {loc})


def test_a_signal_sent_twice_under_a_key_is_forwarded_once(caller: Caller) -> None:
    key = uuid4().hex
    body = {"type": "warning", "source": "m"}
    first, second = (caller.post("/v1/signals", body, idempotency_key=key) for _ in range(2))
    assert (second.status, second.json) == (200, first.json)
    assert second.headers["idempotent-replayed"] == "true"
    assert len(bus(caller, "memory:episodic:warning")) == 1


def test_the_audit_is_paged_and_filtered(app: App, caller: Caller) -> None:
    ids = say(caller, *({"content": f"number {n}", "importance": 0.9} for n in range(7)))
    project(app)
    whole = caller.get("/v1/users/anna/audit").json["entries"]
    assert sorted(one["target_ids"][0] for one in whole) == sorted(ids)
    assert [one["id"] for one in whole] == sorted((one["id"] for one in whole), reverse=True)
    assert "number" not in json.dumps(whole)
    seen: list[dict[str, Any]] = []
    query: dict[str, Any] = {"limit": 2}
    while True:
        page = caller.get("/v1/users/anna/audit", query).json
        assert len(page["entries"]) <= 2
        seen += page["entries"]
        if "next_cursor" not in page:
            break
        query["cursor"] = page["next_cursor"]
    assert seen == whole
    (one,) = caller.get("/v1/users/anna/audit", {"target_id": ids[3]}).json["entries"]
    assert (one["target_ids"], one["action"], one["actor"]) == ([ids[3]], "create", {"kind": "job", "id": "project"})
    assert caller.get("/v1/users/anna/audit", {"action": "delete"}).json["entries"] == []
    assert caller.get("/v1/users/berta/audit").json == {"entries": []}
    cursor = caller.get("/v1/users/anna/audit", {"limit": 2}).json["next_cursor"]
    assert caller.get("/v1/users/anna/ledger", {"limit": 2, "cursor": cursor}).locs == {("query", "cursor")}
    assert caller.get("/v1/users/anna/audit", {"action": "other"}).locs == {("query", "action")}
    assert caller.get("/v1/users/anna/ledger", {"outcome": "other"}).locs == {("query", "outcome")}


def test_another_subjects_audit_is_forbidden(app: App) -> None:
    limited = open_app(settings_in(app.settings.home, RECOLLECT_SUBJECT_CLAIM="sub"))
    caller = Caller(Cloud(limited, {"tenant": "local", "sub": "berta", "scope": "openid"}))
    assert caller.get("/v1/users/anna/audit").status == 403
    assert caller.get("/v1/users/berta/ledger").status == 200
    limited.parts.close()


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
