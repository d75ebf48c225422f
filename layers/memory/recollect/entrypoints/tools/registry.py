"""The registry: a name and words in, a result out that a model can read (A-05, A-06).

A tool's module, and pydantic with it, is imported when the tool is first called: functions that only read or ingest
never pay for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from importlib import import_module
from typing import TYPE_CHECKING, Any

from recollect.app import App
from recollect.core.errors import RecollectError
from recollect.core.ids import IdSeed
from recollect.core.scope import Scope
from recollect.entrypoints.tools.catalogue import BUILT_IN, INSTRUCTIONS, Entry
from recollect.entrypoints.tools.result import Status, ToolResult, result_of_error
from recollect.timeline.ingest import FieldError
from recollect.tool_calls.call import ToolCall

if TYPE_CHECKING:
    from recollect.entrypoints.tools.tool import Tool

IDS_OF_A_CALL = 4
_FAULTS_AT_MOST = 20
_NAME_SHOWN = 64


@dataclass(frozen=True, slots=True)
class ToolDescription:
    """A tool as a protocol lists it; `schema` is the JSON schema of its parameters."""

    name: str
    entry: Entry
    schema: Mapping[str, Any]


class ToolRegistry:
    """The tools of a catalogue over one app."""

    def __init__(self, app: App, catalogue: Mapping[str, Entry] = BUILT_IN) -> None:
        self._app = app
        self._catalogue = catalogue

    @property
    def instructions(self) -> str:
        """What a model is told of the tools."""
        return INSTRUCTIONS

    def described(self) -> Iterator[ToolDescription]:
        """All of them, in order."""
        for name, entry in self._catalogue.items():
            yield ToolDescription(name, entry, self._tool(name).parameters.model_json_schema())

    def faults(self, call: ToolCall) -> tuple[FieldError, ...]:
        """What is wrong with the parameters of a call to a known tool; nothing of an unknown one's (A-05)."""
        return self._checked(call)[1] if call.tool in self._catalogue else ()

    def execute(
        self, scope: Scope, call: ToolCall, seed: IdSeed, now: datetime, conversation_id: str | None = None
    ) -> ToolResult:
        """Does what is asked in that scope, or says why not; never raises for what a model wrote.

        `seed` has `IDS_OF_A_CALL` ids: the same call with the same seed stores nothing twice. A call whose JSON had
        to be repaired is held to the same names and bounds.
        """
        from recollect.entrypoints.tools.tool import Invocation

        if call.tool not in self._catalogue:
            return self._unknown(call.tool)
        parameters, faults = self._checked(call)
        if parameters is None:
            return _invalid(call.tool, faults)
        tool = self._tool(call.tool)
        wrote = tool.writes(parameters)
        try:
            outcome = tool.run(Invocation(self._app, scope, seed, now, conversation_id), parameters)
        except RecollectError as error:
            return result_of_error(call.tool, error, wrote=wrote)
        said = tool.say(parameters, outcome.result)
        return ToolResult(
            tool=call.tool,
            status=Status.DONE,
            message=said,
            result=outcome.result,
            stored=outcome.stored,
            wrote=wrote,
        )

    def retold(self, call: ToolCall, result: Mapping[str, Any]) -> ToolResult:
        """The result of a call that was made before, told again from what it stored; nothing is done."""
        parameters, faults = self._checked(call)
        if parameters is None:
            return _invalid(call.tool, faults)
        said = self._tool(call.tool).say(parameters, result)
        return ToolResult(tool=call.tool, status=Status.DONE, message=said, result=result, wrote=True)

    def _tool(self, name: str) -> Tool:
        tools: Mapping[str, Tool] = import_module(f"{__package__}.{self._catalogue[name].module}").TOOLS
        return tools[name]

    def _checked(self, call: ToolCall) -> tuple[Any, tuple[FieldError, ...]]:
        """The parameters of a known tool, or None and what is wrong with them."""
        from pydantic import ValidationError

        model = self._tool(call.tool).parameters
        given = dict(call.parameters)
        if call.action is not None and "action" in model.model_fields:
            given.setdefault("action", call.action)
        try:
            return model.model_validate(given), ()
        except ValidationError as error:
            details = error.errors(include_url=False, include_context=False, include_input=False)
            return None, tuple(_fault(detail) for detail in details[:_FAULTS_AT_MOST])

    def _unknown(self, name: str) -> ToolResult:
        message = f"there is no such tool; there are {', '.join(self._catalogue)}"
        return ToolResult(tool=name, status=Status.UNKNOWN_TOOL, message=message)


def _fault(detail: Mapping[str, Any]) -> FieldError:
    """Pydantic's sentence, without its prefix for our own; unknown names are cut."""
    loc = tuple(part[:_NAME_SHOWN] if isinstance(part, str) else part for part in detail["loc"])
    if detail["type"] == "extra_forbidden":
        return FieldError(loc, "unknown field")
    return FieldError(loc, str(detail["msg"]).removeprefix("Value error, "))


def _invalid(tool: str, faults: tuple[FieldError, ...]) -> ToolResult:
    told = "; ".join(f"{'.'.join(map(str, fault.loc)) or tool}: {fault.message}" for fault in faults)
    return ToolResult(
        tool=tool, status=Status.INVALID_PARAMETERS, message=f"the parameters are invalid: {told}", faults=faults
    )
