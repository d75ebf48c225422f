"""What the function `mcp` answers to itself while it starts (`entrypoints.http.warm_up`)."""

from collections.abc import Mapping
from typing import Any

from recollect.entrypoints.http.warm_up import WarmUp


def _call(tool: str, **arguments: Any) -> WarmUp:
    return _asked("tools/call", {"name": tool, "arguments": arguments})


def _asked(method: str, params: Mapping[str, Any]) -> WarmUp:
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return WarmUp("POST", "/mcp", body, embeds=method == "tools/call")


WARM_UPS = (
    _call("recall_context", input="Which city did I move to?"),
    _call("search_memory", query="Which city did I move to?", top_k=3),
    _call("save_memory", content="On Monday I moved to Lyon."),
    _asked("tools/list", {}),
)
"""Reads and writes as an assistant asks for them; what they would write is not written."""
