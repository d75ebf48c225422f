"""Memories by their ids, over MCP."""

from typing import Any

import pytest
from mcp import Client

from entrypoints.http.calling import Caller, Laptop
from entrypoints.http.conftest import laptop
from entrypoints.mcp.talking import memories_of, over_asgi, text_of
from recollect.app import App
from recollect.core.event import Source
from recollect.core.scope import Scope
from recollect.entrypoints.http.server import build_asgi
from recollect.memories.audit_log import AuditFilter

__all__ = ["laptop"]

ANNA = {"X-Recollect-User": "anna"}
INSTRUMENTS = ("violin", "cello", "flute", "piano", "harp")


async def called(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, text_of(result)
    return dict(result.structured_content["result"])


async def refused(client: Client, tool: str, **arguments: Any) -> str:
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    return str(result.structured_content["status"])


def test_memories_are_listed_in_pages_the_last_made_first(app: App) -> None:
    async def talk(client: Client) -> None:
        for one in INSTRUMENTS:
            await called(client, "save_memory", content=f"Anna plays the {one}")
        found, cursor = [], None
        for size in (2, 2, 1):
            page = await called(client, "list_memories", limit=2, **({"cursor": cursor} if cursor else {}))
            assert len(page["memories"]) == size
            found += [one["content"] for one in page["memories"]]
            cursor = page.get("next_cursor")
        assert cursor is None
        assert found == [f"Anna plays the {one}" for one in reversed(INSTRUMENTS)]
        assert await called(client, "list_memories", status="superseded") == {"memories": []}
        assert await refused(client, "list_memories", cursor="no-cursor") == "invalid_parameters"

    over_asgi(build_asgi(app), talk, ANNA)


def test_long_memories_come_in_more_pages_and_none_is_lost(app: App) -> None:
    async def talk(client: Client) -> None:
        for one in INSTRUMENTS:
            await called(client, "save_memory", content=f"{one} " * 2_000)
        found, cursor, pages = [], None, 0
        while pages == 0 or cursor:
            page = await called(client, "list_memories", **({"cursor": cursor} if cursor else {}))
            found += [one["content"].split()[0] for one in page["memories"]]
            cursor, pages = page.get("next_cursor"), pages + 1
        assert found == list(reversed(INSTRUMENTS))
        assert pages > 1

    over_asgi(build_asgi(app), talk, ANNA)


@pytest.mark.spec("P-22")
def test_a_memory_is_shown_changed_and_deleted_by_its_id(app: App) -> None:
    async def talk(client: Client) -> None:
        memory_id = (await called(client, "save_memory", content="Anna plays the violin"))["id"]
        shown = (await called(client, "get_memory", id=memory_id))["memory"]
        assert (shown["content"], shown["version"]) == ("Anna plays the violin", 1)
        changed = await called(client, "update_memory", id=memory_id, content="Anna plays the cello", version=1)
        assert changed == {"id": memory_id, "version": 2}
        assert await refused(client, "update_memory", id=memory_id, importance=0.9, version=1) == "conflict"
        assert await refused(client, "update_memory", id=memory_id) == "invalid_parameters"
        listed = await called(client, "list_memories")
        assert [one["content"] for one in listed["memories"]] == ["Anna plays the cello"]
        await called(client, "delete_memory", id=memory_id)
        for tool in ("get_memory", "delete_memory"):
            assert await refused(client, tool, id=memory_id) == "not_found"

    over_asgi(build_asgi(app), talk, ANNA)
    entries = app.memories.audit.page(Scope("local", "anna"), 10, None, AuditFilter()).entries
    actors = {(entry.actor.kind.value, entry.actor.id) for entry in entries}
    assert {("model", "update_memory"), ("model", "delete_memory")} <= actors


@pytest.mark.spec("P-22")
def test_words_that_a_model_writes_over_a_persons_are_inferred(app: App, laptop: Laptop) -> None:
    saved = Caller(laptop).post("/v1/memories", {"user_id": "anna", "content": "I play the violin"}).json

    async def talk(client: Client) -> None:
        await called(client, "update_memory", id=saved["id"], importance=0.9)
        assert (await called(client, "get_memory", id=saved["id"]))["memory"]["source"] == "user"
        await called(client, "update_memory", id=saved["id"], content="Anna plays the cello")

    over_asgi(build_asgi(app), talk, ANNA)
    (memory,) = memories_of(app, Scope("local", "anna"))
    assert (memory.content, memory.source) == ("Anna plays the cello", Source.INFERRED)


def test_another_users_memory_is_nobodys(app: App) -> None:
    async def save(client: Client) -> str:
        return str((await called(client, "save_memory", content="Anna plays the violin"))["id"])

    memory_id = over_asgi(build_asgi(app), save, ANNA)

    async def talk(client: Client) -> None:
        for tool, more in (("get_memory", {}), ("update_memory", {"importance": 0.1}), ("delete_memory", {})):
            assert await refused(client, tool, id=memory_id, **more) == "not_found"
        assert await called(client, "list_memories") == {"memories": []}

    over_asgi(build_asgi(app), talk, {"X-Recollect-User": "bob"})
