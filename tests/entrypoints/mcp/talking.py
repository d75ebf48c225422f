"""The package's own client, on each transport."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar

import httpx2
import mcp_types as types
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from recollect.app import App
from recollect.core.scope import Scope
from recollect.memories.memory import Memory
from recollect.memories.reading import MemoryQuery

T = TypeVar("T")
Talk = Callable[[Client], Awaitable[T]]
URL = "http://localhost:8700/mcp"
MODES = ("auto", "legacy")
ALL_TOOLS = [
    "recall_context", "manage_knowledge", "save_memory", "search_memory", "forget_memory", "record_event", "track_goal",
    "list_memories", "get_memory", "update_memory", "delete_memory",
    "create_entities", "create_relations", "add_observations", "delete_entities", "delete_observations",
    "delete_relations", "read_graph", "search_nodes", "open_nodes",
]  # fmt: skip


def over_asgi(application: Any, talk: Talk[T], headers: Mapping[str, str], mode: str = "auto") -> T:
    async def run() -> T:
        transport = httpx2.ASGITransport(application)
        async with (
            httpx2.AsyncClient(transport=transport, headers=dict(headers)) as http,
            Client(streamable_http_client(URL, http_client=http), mode=mode) as client,
        ):
            return await talk(client)

    return asyncio.run(run())


def over(transport: Any, talk: Talk[T], mode: str = "auto") -> T:
    async def run() -> T:
        async with Client(transport, mode=mode) as client:
            return await talk(client)

    return asyncio.run(run())


async def remember_and_find(client: Client) -> list[str]:
    """Saves a memory, finds it, and asks for the context with it."""
    listed = await client.list_tools()
    assert [tool.name for tool in listed.tools] == ALL_TOOLS
    saved = await client.call_tool("save_memory", {"content": "Anna lives in Lyon", "importance": 0.9})
    assert not saved.is_error
    found = await client.call_tool("search_memory", {"query": "Where does Anna live?"})
    context = await client.call_tool("recall_context", {"input": "Where does Anna live?"})
    assert "Anna lives in Lyon" in text_of(context)
    return [one["content"] for one in found.structured_content["result"]["results"]]


def text_of(result: types.CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, types.TextContent)
    return content.text


def memories_of(app: App, scope: Scope) -> list[Memory]:
    return list(app.memories.listing.page(scope, MemoryQuery(), 10, None, datetime.now(UTC)).memories)
