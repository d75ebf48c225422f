"""Arbitration and merge rules through both clients, against the real routes."""

import asyncio
from typing import Any
from uuid import uuid4

import pytest

from client.conftest import KEY
from recollect.client import AsyncRecollect, Conflict, NotFound, Recollect, Unprocessable, VersionMismatch


@pytest.fixture
def name() -> str:
    """A rule that no other test names: the tenant is everybody's."""
    return f"Regel/{uuid4().hex}"


def m(statement_id: str, **changes: Any) -> dict[str, Any]:
    plain = {"user_id": "ana", "content": "I like tea", "importance": 0.5, "timestamp": "2025-05-01T09:00:00Z"}
    return {"id": statement_id, **plain, **changes}


def test_a_pair_is_decided_and_merged(server_url: str) -> None:
    with Recollect(server_url, KEY) as memory:
        new, old = m("new", keywords=["tea"], importance=0.9), m("old", keywords=["tea"])
        assert memory.arbitrate(new, [old], rule="default")["result"]["winner"] == "new"
        options = {"priorityImportance": False}
        assert memory.arbitrate(new, [old], options=options)["result"]["action"] == "merge"
        merged = memory.merge(new, old, options={"contentStrategy": "concatenate"})
        assert merged["merged"]["content"] == "I like tea\nI like tea"
        with pytest.raises(Unprocessable):
            memory.merge(new, {**old, "user_id": "ben"})


def test_a_rule_with_its_versions(server_url: str, name: str) -> None:
    with Recollect(server_url, KEY) as memory:
        rule = memory.put_merge_rule(name, {"priority": 1, "conditions": {"userId": name}})
        assert memory.merge_rule(name) == rule
        assert memory.match_merge_rule(m("new", user_id=name))["name"] == name
        changed = memory.patch_merge_rule(name, {"priority": None}, version=rule["version"])
        assert "priority" not in changed["resolved"]
        with pytest.raises(VersionMismatch):
            memory.put_merge_rule(name, {}, version=rule["version"])
        with pytest.raises(VersionMismatch):
            memory.delete_merge_rule(name, version=rule["version"])
        with pytest.raises(Conflict):
            memory.delete_merge_rule("default")
        memory.delete_merge_rule(name, version=changed["version"])
        with pytest.raises(NotFound):
            memory.merge_rule(name)


def test_an_export_is_imported(server_url: str, name: str) -> None:
    with Recollect(server_url, KEY) as memory:
        memory.put_merge_rule(name, {"enabled": False})
        rules = [rule for rule in memory.merge_rules() if rule["name"] == name]
        memory.delete_merge_rule(name)
        memory.import_merge_rules(rules)
        assert name in {rule["name"] for rule in memory.merge_rules(limit=1)}
        memory.delete_merge_rule(name)


def test_the_same_with_asyncio(server_url: str, name: str) -> None:
    async def work() -> None:
        async with AsyncRecollect(server_url, KEY) as memory:
            decided = await memory.arbitrate(m("new", keywords=["tea"], importance=0.9), [m("old", keywords=["tea"])])
            assert decided["result"]["loser"] == "old"
            assert (await memory.merge(m("a"), m("b")))["statistics"]["contentLength"] == 10
            rule = await memory.put_merge_rule(name, {"enabled": False})
            assert await memory.merge_rule(name) == rule
            rule = await memory.patch_merge_rule(name, {"enabled": True, "conditions": {"userId": name}})
            assert (await memory.match_merge_rule(m("new", user_id=name)))["name"] == name
            assert name in [one["name"] async for one in memory.merge_rules(limit=2)]
            await memory.import_merge_rules([rule])
            await memory.delete_merge_rule(name)

    asyncio.run(work())
