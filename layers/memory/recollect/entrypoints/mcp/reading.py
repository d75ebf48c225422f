"""What an MCP client reads beside the tools: graph and memories as resources, the context as a prompt.

Both come from the registry's tools, so that what they show and refuse is the same.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import mcp_types as types
from mcp.shared.exceptions import MCPError

from recollect.entrypoints.http.models import json_text
from recollect.entrypoints.tools.registry import ToolResult
from recollect.tool_calls.protocol import ToolCall

GRAPH_URI = "memory://knowledge-graph"
MEMORIES_URI = "memory://memories"
RECALL_PROMPT = "with_memory"
_MOST_MEMORIES = 100
_JSON = "application/json"

Execute = Callable[[ToolCall], ToolResult]


@dataclass(frozen=True, slots=True)
class _Readable:
    """A resource, and the call whose result it shows."""

    resource: types.Resource
    call: ToolCall


_RESOURCES: Mapping[str, _Readable] = {
    GRAPH_URI: _Readable(
        types.Resource(
            uri=GRAPH_URI,
            name="knowledge-graph",
            title="Knowledge graph",
            description="All entities and relations of the user's knowledge graph.",
            mime_type=_JSON,
        ),
        ToolCall("read_graph", {}),
    ),
    MEMORIES_URI: _Readable(
        types.Resource(
            uri=MEMORIES_URI,
            name="memories",
            title="Memories",
            description="What is remembered of the user and holds now, the last made first.",
            mime_type=_JSON,
        ),
        ToolCall("list_memories", {"limit": _MOST_MEMORIES}),
    ),
}
LISTED_RESOURCES = types.ListResourcesResult(resources=[one.resource for one in _RESOURCES.values()])
LISTED_PROMPTS = types.ListPromptsResult(
    prompts=[
        types.Prompt(
            name=RECALL_PROMPT,
            title="With memory",
            description="What the user says, with what is remembered that matters for it.",
            arguments=[types.PromptArgument(name="input", description="What the user says.", required=True)],
        )
    ]
)


def read_resource(uri: str, execute: Execute) -> types.ReadResourceResult:
    """The resource of that URI. Raises MCPError where there is none, or it cannot be read now."""
    readable = _RESOURCES.get(uri)
    if readable is None:
        raise MCPError(types.INVALID_PARAMS, f"there is no such resource; there are {', '.join(_RESOURCES)}")
    text = json_text(_found(execute(readable.call)))
    return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, mime_type=_JSON, text=text)])


def get_prompt(name: str, arguments: Mapping[str, str], execute: Execute) -> types.GetPromptResult:
    """The context for an input, fenced, and the input. Raises MCPError for another prompt, and without an input."""
    if name != RECALL_PROMPT:
        raise MCPError(types.INVALID_PARAMS, f"there is no such prompt; there is {RECALL_PROMPT}")
    said = arguments.get("input", "")
    recalled = _found(execute(ToolCall("recall_context", {"input": said})))
    texts = (recalled["text"], said)
    messages = [types.PromptMessage(role="user", content=types.TextContent(text=one)) for one in texts]
    return types.GetPromptResult(messages=messages)


def _found(result: ToolResult) -> dict[str, Any]:
    if not result.ok:
        raise MCPError(types.INVALID_PARAMS if result.faults else types.INTERNAL_ERROR, result.message)
    return dict(result.result)
