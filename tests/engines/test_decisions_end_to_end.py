"""Decisions on the real engines: made by the stream, listed, taken back, resolved, and gone with their origin."""

from datetime import UTC, datetime
from typing import Any

import pytest

from engines.conftest import Deployment
from engines.test_memories_end_to_end import drain, get
from recollect.contradictions.decisions import OpenConflict, Step, conflict_document, conflict_key
from recollect.core.items import ItemWrite
from recollect.core.scope import Scope

pytestmark = pytest.mark.engines

USER = "/v1/users/anna"


def say(deployment: Deployment, *said: str, **more: Any) -> list[str]:
    """Ids of events a day apart, each projected before the next comes."""
    ids = []
    for day, content in enumerate(said, start=1):
        event = {"content": content, "timestamp": f"2024-04-{day:02}T09:00:00Z", "importance": 0.9, **more}
        answer = deployment.call("ingest", "POST", "/v1/events", {"user_id": "anna", "events": [event]})
        ids.append(answer.body["results"][0]["event_id"])
        settle(deployment)
    return ids


def settle(deployment: Deployment) -> None:
    for _ in range(3):
        drain(deployment)


def post(deployment: Deployment, path: str, body: Any = None, once: str = "") -> tuple[int, Any]:
    answer = deployment.call("retrieval", "POST", path, body, headers={"idempotency-key": once} if once else {})
    return answer.status, answer.body


@pytest.mark.spec("P-22", "P-24")
def test_an_older_value_of_a_key_comes_back_once_and_goes_with_its_origin(deployment: Deployment) -> None:
    old, new = say(deployment, "Paris", "Lyon", key="home")
    path = f"{USER}/arbitrations/{new}.{old}/revert"
    status, first = post(deployment, path, once="k")
    assert status == 200
    assert post(deployment, path, once="k")[1]["memory"]["id"] == first["memory"]["id"]
    assert post(deployment, path)[0] == 409
    settle(deployment)
    active = get(deployment, f"{USER}/memories?key=home&status=active")["memories"]
    assert [(one["id"], one["content"]) for one in active] == [(first["memory"]["id"], "Paris")]
    assert deployment.call("retrieval", "DELETE", f"{USER}/events/{old}").status == 204
    settle(deployment)
    assert {one["id"] for one in get(deployment, f"{USER}/memories?key=home")["memories"]} == {new}
    assert get(deployment, f"{USER}/memories?key=home&status=active")["memories"] == []


@pytest.mark.spec("P-24")
def test_a_conflict_is_resolved_and_open_again(deployment: Deployment) -> None:
    old, new = say(deployment, "The lamp glows at night", "Rivers bend beyond the hill")
    now = datetime.now(UTC)
    conflict = OpenConflict(newer=new, older=old, at=now, step=Step.CUE, rule="test")
    write = ItemWrite(conflict_key(conflict.id), conflict_document(conflict))
    deployment.app.parts.items.write(Scope("acme", "anna"), [write], now)
    assert [one["id"] for one in get(deployment, f"{USER}/conflicts?status=open")["conflicts"]] == [conflict.id]
    for _ in range(2):
        status, resolved = post(deployment, f"{USER}/conflicts/{conflict.id}/resolve", {"winner": new})
        assert (status, resolved["winner"]) == (200, new)
    assert post(deployment, f"{USER}/conflicts/{conflict.id}/resolve", {"winner": old})[0] == 409
    assert get(deployment, f"{USER}/memories/{old}")["superseded_by"] == new
    assert post(deployment, f"{USER}/arbitrations/{resolved['decision_id']}/revert")[0] == 200
    settle(deployment)
    assert [one["id"] for one in get(deployment, f"{USER}/conflicts?status=open")["conflicts"]] == [conflict.id]
    assert get(deployment, f"{USER}/memories/{old}")["status"] == "active"
