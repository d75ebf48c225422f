"""Summaries and goals through both clients."""

import asyncio
from datetime import UTC, date, datetime
from uuid import uuid4

import pytest

from client.conftest import KEY
from recollect.client import AsyncRecollect, NotFound, Recollect, VersionMismatch

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


def test_the_same_by_asyncio(server_url: str) -> None:
    async def run() -> None:
        user = f"user {uuid4().hex}"
        async with AsyncRecollect(server_url, KEY) as memory:
            await memory.add_events(user, [{"content": "I plan to meditate every day.", "timestamp": SAID}])
            made = await memory.summarize(user, force=True)
            assert [one async for one in memory.summaries(user)] == [made["summary"]]
            (goal,) = await memory.goals(user)
            await memory.check_in(user, goal["id"], "2024-06-01", "completed")
            patched = await memory.patch_goal(user, goal["id"], {"status": "abandoned"}, version=2)
            assert (patched["status"], len(patched["history"])) == ("abandoned", 1)

    asyncio.run(run())
