"""Signals, audit and ledger through the client."""

import time
from collections.abc import Callable
from uuid import uuid4

import pytest

from client.conftest import KEY
from recollect.client import Recollect, Unprocessable
from recollect.client.types import Json, NewEvent


def test_signals_audit_and_ledger(server_url: str) -> None:
    user = f"用户 {uuid4().hex}"
    with Recollect(server_url, KEY) as memory:
        told = memory.signal("warning", "test", severity="high", reason="latency")
        assert (told["suspended"], told["forwarded"]) == (True, True)
        assert told["event_id"] in {one["id"] for one in memory.bus("memory:episodic:warning")["events"]}
        assert memory.signal("healthy", "test") == {"type": "healthy", "suspended": False}
        events: list[NewEvent] = [{"content": f"words {n}", "importance": 0.9} for n in range(5)]
        ids = [one["event_id"] for one in memory.add_events(user, events)["results"]]
        entries = _until(lambda: list(memory.audit(user, limit=2)), 5)
        assert {one["target_ids"][0] for one in entries} == set(ids)
        (one,) = memory.ledger(user, event_id=ids[2])
        assert (one["outcome"], one["event_ids"]) == ("promoted", [ids[2]])
        assert list(memory.audit(user, target_id=ids[2], action="delete")) == []
        assert list(memory.ledger(user, outcome="failed")) == []
        with pytest.raises(Unprocessable):
            memory.signal("warning", " ")


def _until(read: Callable[[], list[Json]], count: int) -> list[Json]:
    """What is read, once there are so many; the projector works in the background."""
    for _ in range(200):
        found = read()
        if len(found) >= count:
            return found
        time.sleep(0.05)
    raise AssertionError("the events were never projected")
