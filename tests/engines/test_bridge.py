"""The bridge on DynamoDB: promotion behind the stream, deferral, reconciliation, ledger, the bus (A-58 to A-68)."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from engines.conftest import Deployment, lambda_context
from recollect.entrypoints.http.aws import http_handler

pytestmark = pytest.mark.engines


@pytest.fixture
def bridge(deployment: Deployment) -> Deployment:
    """The deployment, with a function that serves the bridge too."""
    served = http_handler("retrieval", "bridge", "forgetting", app=deployment.app)
    return replace(deployment, handlers={**deployment.handlers, "bridge": served})


def say(bridge: Deployment, content: str, ago: timedelta, **more: Any) -> str:
    """The id of an important event that was said so long ago, projected by the stream."""
    moment = (datetime.now(UTC) - ago).isoformat()
    event = {"content": content, "importance": 0.9, "timestamp": moment, **more}
    answer = bridge.call("ingest", "POST", "/v1/events", {"user_id": "anna", "events": [event]})
    assert answer.status == 201
    bridge.pump.drain()
    assert bridge.pump.given_up == 0
    return str(answer.body["results"][0]["event_id"])


def outcomes(bridge: Deployment, event_id: str) -> list[str]:
    """What the ledger tells of an event, newest first."""
    answer = bridge.call("bridge", "GET", f"/v1/users/anna/ledger?event_id={event_id}")
    return [entry["outcome"] for entry in answer.body["entries"]]


def published(bridge: Deployment, kind: str) -> list[dict[str, Any]]:
    """What the bus took of a type."""
    return list(bridge.call("bridge", "GET", f"/v1/bus?type={kind}").body["events"])


def signal(bridge: Deployment, kind: str) -> Any:
    """`POST /v1/signals`."""
    return bridge.call("bridge", "POST", "/v1/signals", {"type": kind, "source": "test", "reason": "latency"}).body


@pytest.mark.spec("A-23", "A-44", "A-58", "A-59", "A-60", "A-61", "A-66", "A-67", "P-10", "P-19")
def test_what_a_suspended_bridge_defers_the_schedule_promotes(bridge: Deployment) -> None:
    assert signal(bridge, "warning")["suspended"]
    late = say(bridge, "late words", timedelta(minutes=5))
    keyed = say(bridge, "Paris", timedelta(minutes=5), key="city")
    dull = say(bridge, "dull words", timedelta(minutes=5), importance=0.5)
    assert [outcomes(bridge, one) for one in (late, keyed, dull)] == [["deferred"], ["promoted"], []]
    bridge.handlers["project"]({"task": "reconcile"}, lambda_context())
    assert outcomes(bridge, late) == ["deferred"]
    fresh = say(bridge, "words in time", timedelta(0))
    assert outcomes(bridge, fresh) == ["promoted"]
    assert outcomes(bridge, late) == ["deferred"]
    bridge.handlers["project"]({"task": "reconcile"}, lambda_context())
    assert outcomes(bridge, late) == ["reconciled", "promoted", "deferred"]
    made = {one["detail"]["memoryId"]: one["detail"]["content"] for one in published(bridge, "memory:semantic:saved")}
    assert made == {late: "late words", keyed: "Paris", fresh: "words in time"}
    saved = published(bridge, "memory:episodic:saved")
    assert {one["id"] for one in saved} == {late, keyed, dull, fresh}
    assert {one["id"]: one["detail"]["timelineLagMs"] >= 300_000 for one in saved}[late]
    (warning,) = published(bridge, "memory:episodic:warning")
    assert (warning["detail"]["severity"], warning["detail"]["reason"]) == ("medium", "latency")


def test_a_deleted_event_leaves_the_bus_with_its_memory(bridge: Deployment) -> None:
    gone = say(bridge, "to be gone", timedelta(0))
    assert {one["id"] for one in published(bridge, "memory:episodic:saved")} == {gone}
    assert len(published(bridge, "memory:semantic:saved")) == 1
    assert bridge.call("bridge", "DELETE", f"/v1/users/anna/events/{gone}").status == 204
    bridge.pump.drain()
    (pruned,) = bridge.call("bridge", "GET", "/v1/bus").body["events"]
    assert (pruned["type"], pruned["detail"]["ids"]) == ("memory:episodic:pruned", [gone])
