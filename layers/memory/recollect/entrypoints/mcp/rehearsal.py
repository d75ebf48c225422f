"""What the function `mcp` answers to itself while it starts (`entrypoints.http.rehearsal`)."""

from collections.abc import Mapping
from typing import Any

from recollect.entrypoints.http.rehearsal import Rehearsal


def _call(tool: str, **arguments: Any) -> Rehearsal:
    return _asked("tools/call", {"name": tool, "arguments": arguments})


def _asked(method: str, params: Mapping[str, Any]) -> Rehearsal:
    return Rehearsal("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": method, "params": params})


REHEARSALS = (
    _call("recall_context", input="Which city did I move to?"),
    _call("search_memory", query="Which city did I move to?", top_k=3),
    _call("save_memory", content="On Monday I moved to Lyon."),
    _asked("tools/list", {}),
)
"""Reads and writes as an assistant asks for them; what they would write is not written."""
