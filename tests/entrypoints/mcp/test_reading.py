"""Resources and the prompt, over MCP."""

import json
from typing import Any

import mcp_types as types
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from entrypoints.mcp.talking import MODES, over_asgi
from recollect.app import App
from recollect.entrypoints.http.server import build_asgi

ANNA = {"X-Recollect-User": "anna"}
ALICE = {"name": "Alice", "entityType": "person", "observations": ["plays the violin"]}


async def read(client: Client, uri: str) -> Any:
    (content,) = (await client.read_resource(uri)).contents
    assert isinstance(content, types.TextResourceContents)
    assert content.mime_type == "application/json"
    return json.loads(content.text)


@pytest.mark.parametrize("mode", MODES)
def test_the_graph_and_the_memories_are_resources(app: App, mode: str) -> None:
    async def talk(client: Client) -> None:
        listed = (await client.list_resources()).resources
        assert [one.uri for one in listed] == ["memory://knowledge-graph", "memory://memories"]
        await client.call_tool("create_entities", {"entities": [ALICE]})
        await client.call_tool("save_memory", {"content": "Anna lives in Lyon"})
        graph, memories = [await read(client, one.uri) for one in listed]
        assert graph == {"entities": [ALICE], "relations": []}
        assert [one["content"] for one in memories["memories"]] == ["Anna lives in Lyon"]

    over_asgi(build_asgi(app), talk, ANNA, mode)


def test_a_resource_is_the_callers_own(app: App) -> None:
    async def fill(client: Client) -> None:
        await client.call_tool("create_entities", {"entities": [ALICE]})

    async def look(client: Client) -> Any:
        return await read(client, "memory://knowledge-graph")

    over_asgi(build_asgi(app), fill, ANNA)
    empty: dict[str, Any] = {"entities": [], "relations": []}
    assert over_asgi(build_asgi(app), look, {"X-Recollect-User": "bob"}) == empty


@pytest.mark.parametrize("mode", MODES)
def test_the_prompt_has_what_matters_in_a_fence_and_the_input(app: App, mode: str) -> None:
    async def talk(client: Client) -> None:
        (prompt,) = (await client.list_prompts()).prompts
        assert [(one.name, one.required) for one in prompt.arguments or ()] == [("input", True)]
        await client.call_tool("save_memory", {"content": "Anna lives in Lyon", "importance": 0.9})
        made = await client.get_prompt(prompt.name, {"input": "Where does Anna live?"})
        contents = [message.content for message in made.messages]
        recalled, said = [one.text for one in contents if isinstance(one, types.TextContent)]
        assert "Anna lives in Lyon" in recalled.partition("<recalled-")[2]
        assert said == "Where does Anna live?"

    over_asgi(build_asgi(app), talk, ANNA, mode)


def test_what_is_not_there_is_refused_by_the_protocol(app: App) -> None:
    async def talk(client: Client) -> None:
        with pytest.raises(MCPError, match="memory://knowledge-graph"):
            await client.read_resource("memory://nothing")
        with pytest.raises(MCPError, match="with_memory"):
            await client.get_prompt("nothing", {})
        with pytest.raises(MCPError, match="input"):
            await client.get_prompt("with_memory", {})

    over_asgi(build_asgi(app), talk, ANNA)
