"""Memories through the client."""

from datetime import UTC, datetime
from uuid import uuid4

import pytest

from client.conftest import KEY
from client.test_against_the_server import HARD_IDS
from recollect.client import NotFound, Recollect, Unprocessable, VersionMismatch


@pytest.fixture
def user() -> str:
    """Somebody without a memory."""
    return f"anna-{uuid4().hex}"


def test_a_memory_from_its_making_to_its_end(server_url: str, user: str) -> None:
    with Recollect(server_url, KEY) as client:
        until = datetime(2100, 1, 1, tzinfo=UTC)
        first = client.save_memory(user, "Anna lives in Lyon", keywords=["city"], expires_at=until, importance=0.8)
        assert (first["version"], first["keywords"], first["expires_at"][:4]) == (1, ["city"], "2100")
        assert client.save_memory(user, "Anna lives in Lyon") == first
        (found,) = client.search(user, "Where does Anna live?")["results"]
        assert (found["id"], found["kind"], found["source_event_ids"]) == (first["id"], "memory", [])
        edited = client.patch_memory(user, first["id"], {"content": "Anna moved", "expires_at": None}, version=1)
        assert (edited["version"], edited["content"], "expires_at" in edited) == (2, "Anna moved", False)
        with pytest.raises(VersionMismatch):
            client.patch_memory(user, first["id"], {"importance": 1.0}, version=1)
        assert client.patch_memory(user, first["id"], {"importance": 1.0})["version"] == 3
        assert [one["version"] for one in client.memory_history(user, first["id"])] == [1, 2, 3]
        with pytest.raises(VersionMismatch):
            client.delete_memory(user, first["id"], version=1)
        client.delete_memory(user, first["id"], version=3)
        for gone in (client.memory, client.memory_history, client.delete_memory):
            with pytest.raises(NotFound):
                gone(user, first["id"])
        with pytest.raises(Unprocessable):
            client.save_memory(user, " ")


def test_every_page_of_every_scope(server_url: str, user: str) -> None:
    with Recollect(server_url, KEY) as client:
        for number in range(5):
            client.save_memory(user, f"memory {number}", persona_id="coach" if number % 2 else None)
        assert [one["content"] for one in client.memories(user, limit=2)] == [f"memory {n}" for n in (4, 3, 2, 1, 0)]
        assert [one["content"] for one in client.memories(user, persona_id="coach")] == ["memory 3", "memory 1"]
        assert list(client.memories(user, status="superseded")) == []
        (one, *_) = client.memories(user, persona_id="coach")
        with pytest.raises(NotFound):
            client.memory(user, one["id"], persona_id="cook")


def test_hard_ids(server_url: str, user: str) -> None:
    with Recollect(server_url, KEY) as client:
        for key in HARD_IDS:
            saved = client.save_memory(f"{key[:40]}{user}", "Lyon", key=key)
            assert [one["key"] for one in client.memories(saved["user_id"], key=key)] == [key]
            client.delete_memory(saved["user_id"], saved["id"])


def test_a_retry_of_a_deleted_one_says_so(server_url: str, user: str) -> None:
    with Recollect(server_url, KEY) as client:
        first = client.save_memory(user, "Lyon", idempotency_key=user)
        client.delete_memory(user, first["id"])
        assert dict(client.save_memory(user, "Lyon", idempotency_key=user)) == {"refused": [first["id"]]}
