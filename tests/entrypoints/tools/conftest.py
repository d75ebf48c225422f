"""An app in a folder of its own, and calls to its tools."""

from datetime import UTC, datetime
from typing import Any

import pytest

from entrypoints.http.conftest import app
from recollect.app import App
from recollect.core.scope import Scope
from recollect.entrypoints.tools.registry import IDS_OF_A_CALL, ToolRegistry, ToolResult
from recollect.tool_calls.protocol import ToolCall

__all__ = ["app"]

NOW = datetime(2024, 5, 1, 9, tzinfo=UTC)
ANNA = Scope("local", "anna")


class Calling:
    """Calls tools in a scope, Anna's unless another is given."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.registry = ToolRegistry(app)

    def __call__(self, tool: str, scope: Scope = ANNA, /, **parameters: Any) -> ToolResult:
        return self.make(ToolCall(tool, parameters), scope)

    def make(self, call: ToolCall, scope: Scope = ANNA) -> ToolResult:
        """One call with ids of its own."""
        return self.registry.execute(scope, call, self.app.ids.seed(0, IDS_OF_A_CALL), NOW)


@pytest.fixture
def call(app: App) -> Calling:
    return Calling(app)
