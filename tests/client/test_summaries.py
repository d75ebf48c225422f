"""Summaries and goals through the client."""

from datetime import UTC, date, datetime
from uuid import uuid4

import pytest

from client.conftest import KEY
from recollect.client import NotFound, Recollect, VersionMismatch

SAID = datetime.now(UTC)


def test_summaries_and_goals(server_url: str) -> None:
    user = f"user {uuid4().hex}"
    with Recollect(server_url, KEY) as memory:
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
        with pytest.raises(NotFound):
            memory.check_in(user, "none", "2024-06-01", "missed")
