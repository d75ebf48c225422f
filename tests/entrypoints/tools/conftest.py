"""An app in a folder of its own, and calls to its tools."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from entrypoints.http.conftest import settings_in
from recollect.app import App
from recollect.bootstrap import open_app
from recollect.core.scope import Scope
from recollect.entrypoints.tools.registry import IDS_OF_A_CALL, ToolRegistry, ToolResult
from recollect.tool_calls.call import ToolCall

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
def app(tmp_path: Path) -> Iterator[App]:
    opened = open_app(settings_in(tmp_path))
    yield opened
    opened.parts.close()


@pytest.fixture
def call(app: App) -> Calling:
    return Calling(app)
