"""The tools as a turn uses them."""

from datetime import datetime

from recollect.app import App
from recollect.context.turn import ExecutedCall
from recollect.core.ids import IdSeed
from recollect.core.scope import Scope
from recollect.entrypoints.tools.registry import ToolRegistry
from recollect.entrypoints.tools.result import Status, result_document
from recollect.tool_calls.call import ToolCall

_WITHOUT_A_MODEL = ("extractive",)


class TurnTools:
    """The registry over one app; who only quotes is told of no tools."""

    def __init__(self, app: App) -> None:
        self._registry = ToolRegistry(app)
        self._told = app.settings.model != _WITHOUT_A_MODEL

    @property
    def instructions(self) -> str | None:
        """What a model is told of the tools."""
        return self._registry.instructions if self._told else None

    def execute(self, scope: Scope, call: ToolCall, seed: IdSeed, now: datetime, conversation_id: str) -> ExecutedCall:
        """In the user's scope and the turn's conversation, whatever the call says."""
        result = self._registry.execute(scope, call, seed, now, conversation_id)
        return ExecutedCall(
            call=call,
            tool=None if result.status is Status.UNKNOWN_TOOL else result.tool,
            status=result.status.value,
            message=result.message,
            result=result_document(result),
        )
