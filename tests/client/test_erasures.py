"""Rejected values and erasures through the client."""

import time
from uuid import uuid4

import pytest

from client.conftest import KEY
from recollect.client import NotFound, Recollect


@pytest.mark.spec("P-22")
def test_a_value_is_rejected_and_lifted_and_a_user_erased(server_url: str) -> None:
    user = f"user {uuid4().hex}"
    with Recollect(server_url, KEY) as memory:
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
        until = time.monotonic() + 20
        while memory.erasure(erasure_id)["status"] != "done" and time.monotonic() < until:
            time.sleep(0.1)
        assert memory.erasure(erasure_id)["verified"]
        with pytest.raises(NotFound):
            memory.erasure(str(uuid4()))
