"""Decisions and conflicts through the client."""

import time
from uuid import uuid4

import pytest

from client.conftest import KEY
from recollect.client import Conflict, NotFound, Recollect, Unprocessable
from recollect.client.calls import post_once

PARIS, LYON = "I live in Paris.", "I moved to Lyon."
PAIR = "018f4cf3-a400-7000-8000-000000000002.018f4cf3-a400-7000-8000-000000000001"


@pytest.fixture
def user() -> str:
    """Somebody without a memory."""
    return f"anna-{uuid4().hex}"


def moved(client: Recollect, user: str) -> str:
    """The decision's id, once it was made."""
    for day, content in enumerate((PARIS, LYON), start=1):
        client.add_events(user, [{"content": content, "timestamp": f"2024-04-0{day}T09:00:00Z"}])
    for _ in range(200):
        found = list(client.decisions(user, status="applied", limit=1))
        if found:
            return str(found[0]["id"])
        time.sleep(0.05)
    raise AssertionError("nothing was decided")


def test_a_decision_is_listed_and_taken_back(server_url: str, user: str) -> None:
    with Recollect(server_url, KEY) as client:
        decision_id = moved(client, user)
        reverted = client.revert_decision(user, decision_id)
        assert (reverted["status"], reverted["memory"]["content"]) == ("reverted", PARIS)
        with pytest.raises(Conflict):
            client.revert_decision(user, decision_id)
        assert [one["status"] for one in client.decisions(user, step="cue")] == ["reverted"]
        assert list(client.decisions(user, persona_id="coach")) == []
        assert list(client.conflicts(user, status="open", limit=1)) == []
        with pytest.raises(NotFound):
            client.resolve_conflict(user, PAIR, "x")
        with pytest.raises(Unprocessable):
            client.conflicts(user, status="x").__next__()  # type: ignore[arg-type]


def test_a_call_has_a_key_and_ids_of_any_script() -> None:
    query = {"persona_id": "p", "household_id": None}
    call = post_once(None, "users", "né", "conflicts", "a/b", "resolve", body={"winner": "w"}, query=query)
    assert call.path == "/v1/users/~bsOp/conflicts/~YS9i/resolve"
    assert (call.body, call.query) == ({"winner": "w"}, {"persona_id": "p"})
    assert len(call.headers["Idempotency-Key"]) == 32
    assert post_once("k", "users", "anna").headers == {"Idempotency-Key": "k"}
