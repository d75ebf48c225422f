"""Knowledge through the client."""

from uuid import uuid4

import pytest

from client.conftest import KEY
from client.test_against_the_server import HARD_IDS
from recollect.client import NotFound, Recollect, Unprocessable, VersionMismatch

DOCUMENT = "No, by 'cost' I mean the 'total_amount' field"


@pytest.fixture
def store() -> str:
    """A store that no other test names: the tenant is everybody's."""
    return f"store-{uuid4().hex}"


def test_an_entry_with_its_versions(server_url: str, store: str) -> None:
    with Recollect(server_url, KEY) as memory:
        first = memory.put_knowledge(store, "k", {"free": None})
        assert memory.knowledge_entry(store, "k") == first
        assert memory.put_knowledge(store, "k", "again", version=1)["version"] == 2
        with pytest.raises(VersionMismatch):
            memory.put_knowledge(store, "k", 0, version=1)
        with pytest.raises(VersionMismatch):
            memory.delete_knowledge(store, "k", version=9)
        memory.delete_knowledge(store, "k", version=2)
        with pytest.raises(NotFound):
            memory.knowledge_entry(store, "k")
        with pytest.raises(Unprocessable):
            memory.put_knowledge("vocabulary", "no colon", {"target": "t"})


def test_hard_keys_and_every_page(server_url: str, store: str) -> None:
    with Recollect(server_url, KEY) as memory:
        for key in HARD_IDS:
            memory.put_knowledge(store, key, {"of": key})
        found = {entry["key"]: entry["value"] for entry in memory.knowledge(store, limit=3)}
        assert found == {key: {"of": key} for key in HARD_IDS}
        assert {entry["key"] for entry in memory.knowledge() if entry["namespace"] == store} == set(HARD_IDS)


def test_what_is_learnt_is_applied(server_url: str, store: str) -> None:
    with Recollect(server_url, KEY) as memory:
        assert memory.learn(DOCUMENT, store, dry_run=True)["stored"] is False
        learnt = memory.learn(DOCUMENT, store)
        assert learnt["confirmation"] == "I have learnt that 'cost' refers to 'total_amount' for future queries."
        assert memory.learn("Hello", store) == {"stored": False}
        rule = f"vip {store}"
        memory.put_knowledge("rule", rule, {"condition": "n > 1", "applies_to": [store]})
        assert memory.resolve(f"cost of {rule}", store, filter="a")["filter"] == "(a) AND (n > 1)"
        assert memory.resolve("cost", store, comments="all")["comments"]
        assert f'- "cost" ({store}) -> Mapped to field: "total_amount"' in memory.knowledge_prompt(store)
