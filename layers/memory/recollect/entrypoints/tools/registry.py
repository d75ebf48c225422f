"""The tools by name, and the registry: a name and words in, a result out that a model can read (A-05, A-06).

A tool's module, and pydantic with it, is imported when the tool is first called: functions that only read or ingest
never pay for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from importlib import import_module
from typing import TYPE_CHECKING, Any

from recollect.app import App
from recollect.core import errors
from recollect.core.errors import RecollectError
from recollect.core.ids import IdSeed
from recollect.core.scope import NO_LABELS, Labels, Scope
from recollect.timeline.ingest import FieldError
from recollect.tool_calls.protocol import ToolCall

if TYPE_CHECKING:
    from recollect.context.turn import ExecutedCall
    from recollect.entrypoints.tools.tool import Tool


class Status(StrEnum):
    """How a call ended. Only `unavailable` may go better another time."""

    DONE = "done"
    UNKNOWN_TOOL = "unknown_tool"
    INVALID_PARAMETERS = "invalid_parameters"
    NOT_FOUND = "not_found"
    REFUSED = "refused"
    CONFLICT = "conflict"
    UNAVAILABLE = "unavailable"
    FAILED = "failed"


_BY_ERROR: Mapping[type[errors.RecollectError], Status] = {
    errors.InvalidInput: Status.INVALID_PARAMETERS,
    errors.NotFound: Status.NOT_FOUND,
    errors.Forbidden: Status.REFUSED,
    errors.Conflict: Status.CONFLICT,
    errors.VersionMismatch: Status.CONFLICT,
    errors.Unavailable: Status.UNAVAILABLE,
}
_TOLD = frozenset({Status.INVALID_PARAMETERS, Status.NOT_FOUND, Status.REFUSED, Status.CONFLICT})


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """`message` is one sentence; `result` what the tool found or stored, by ids.

    `wrote`: the call was one that writes, so a replay must not make it again; `stored` are ids of events.
    """

    tool: str
    status: Status
    message: str
    result: Mapping[str, Any] = field(default_factory=dict)
    faults: tuple[FieldError, ...] = ()
    stored: tuple[str, ...] = ()
    wrote: bool = False

    @property
    def ok(self) -> bool:
        """Whether the tool did what was asked."""
        return self.status is Status.DONE


def result_of_error(tool: str, error: errors.RecollectError, *, wrote: bool) -> ToolResult:
    """A failure as a model reads it: our own sentences, never the message of an unexpected error."""
    status = next((_BY_ERROR[base] for base in type(error).__mro__ if base in _BY_ERROR), Status.FAILED)
    told = {Status.UNAVAILABLE: "a part of the memory does not answer now", Status.FAILED: "the tool failed"}
    message = str(error) if status in _TOLD else told[status]
    faults = (FieldError(error.loc, str(error)),) if isinstance(error, errors.InvalidInput) and error.loc else ()
    return ToolResult(tool=tool, status=status, message=message, faults=faults, wrote=wrote)


def result_document(result: ToolResult) -> dict[str, Any]:
    """The result as JSON."""
    shown: dict[str, Any] = {"tool": result.tool, "ok": result.ok, "status": result.status.value}
    shown |= {"message": result.message}
    if result.ok:
        return {**shown, "result": dict(result.result)}
    faults = [{"loc": list(fault.loc), "message": fault.message} for fault in result.faults]
    return {**shown, "errors": faults} if faults else shown


IDS_OF_A_CALL = 4
_FAULTS_AT_MOST = 20
_NAME_SHOWN = 64
_WITHOUT_A_MODEL = ("extractive",)


@dataclass(frozen=True, slots=True)
class Entry:
    """A tool as a model reads of it; `module` of this package holds it.

    `reads_only` and `deletes` are hints for whoever asks a person before a call is made. An `unlabelled` one acts on
    what is of all that a user says: it is not there where an agent, an application or a namespace is set.
    """

    module: str
    parameters: str
    description: str
    reads_only: bool = False
    deletes: bool = False
    unlabelled: bool = False


BUILT_IN: Mapping[str, Entry] = {
    "manage_knowledge": Entry(
        "knowledge",
        '{namespace, key?, value?, action?: "upsert" | "delete" | "read" | "list"}',
        "Keeps what words and rules mean. In namespace vocabulary a key is {store}:{term} and the value "
        "{target, description?}; in rule the key is a concept and the value {condition, applies_to?, description?}; "
        "in correction the value is {instruction, trigger}. The action is upsert unless another is named.",
        deletes=True,
    ),
    "save_memory": Entry(
        "memories",
        "{content, importance?: 0 to 1, keywords?: [text], key?}",
        "Remembers a fact about the user. With a key it becomes that key's current value.",
    ),
    "search_memory": Entry(
        "memories",
        "{query, top_k?: 1 to 100}",
        "Finds what was said or remembered earlier, best first.",
        reads_only=True,
    ),
    "forget_memory": Entry(
        "memories", "{id} or {key}", "Deletes one memory by its id, or all that a key ever held.", deletes=True
    ),
    "record_event": Entry(
        "memories",
        '{content, event_type?: "conversation" | "task" | "reminder" | "emotion" | "preference" | "custom", '
        "timestamp?}",
        "Writes down something that happened or is due, at its time.",
    ),
    "track_goal": Entry(
        "memories",
        '{goal, status?: "active" | "completed" | "abandoned", check_in_frequency?}',
        "Follows a goal of the user's over conversations, or says that it is done or given up.",
        unlabelled=True,
    ),
}

WITH_RECALL: Mapping[str, Entry] = {
    "recall_context": Entry(
        "memories",
        '{input, conversation_id?, token_budget?, store?, form?: "prompt" | "messages"}',
        "What is remembered that matters for what the user says now: recent, related and important memories, "
        "summary, goals, knowledge. Call it before you answer.",
        reads_only=True,
    ),
    **BUILT_IN,
}
"""For a model whose context somebody else builds: it asks for its memory itself."""

GRAPH: Mapping[str, Entry] = {
    "create_entities": Entry(
        "graph",
        "{entities: [{name, entityType, observations: [text]}]}",
        "Creates entities in the knowledge graph; one whose name is there already is skipped.",
    ),
    "create_relations": Entry(
        "graph",
        "{relations: [{from, to, relationType}]}",
        "Creates relations between entities in the knowledge graph, in the active voice.",
    ),
    "add_observations": Entry(
        "graph",
        "{observations: [{entityName, contents: [text]}]}",
        "Adds observations to entities of the knowledge graph.",
    ),
    "delete_entities": Entry(
        "graph",
        "{entityNames: [text]}",
        "Deletes entities of the knowledge graph and their relations.",
        deletes=True,
    ),
    "delete_observations": Entry(
        "graph",
        "{deletions: [{entityName, observations: [text]}]}",
        "Deletes observations of entities of the knowledge graph.",
        deletes=True,
    ),
    "delete_relations": Entry(
        "graph",
        "{relations: [{from, to, relationType}]}",
        "Deletes relations of the knowledge graph.",
        deletes=True,
    ),
    "read_graph": Entry("graph", "{}", "Reads the whole knowledge graph.", reads_only=True),
    "search_nodes": Entry(
        "graph",
        "{query}",
        "Finds entities of the knowledge graph whose name, type or observations have the query, and their relations.",
        reads_only=True,
    ),
    "open_nodes": Entry(
        "graph",
        "{names: [text]}",
        "Opens entities of the knowledge graph by their names, and their relations.",
        reads_only=True,
    ),
}
"""The reference memory server's tools, by its names."""

KEPT_MEMORIES: Mapping[str, Entry] = {
    "list_memories": Entry(
        "kept_memories",
        "{limit?: 1 to 100, status?, cursor?}",
        "Lists what is remembered of the user, the last made first.",
        reads_only=True,
    ),
    "get_memory": Entry("kept_memories", "{id}", "Shows one memory by its id.", reads_only=True),
    "update_memory": Entry(
        "kept_memories",
        "{id, content?, importance?: 0 to 1, keywords?: [text], version?}",
        "Corrects a memory by its id; its earlier words stay in its history.",
        deletes=True,
    ),
    "delete_memory": Entry("kept_memories", "{id}", "Deletes one memory by its id.", deletes=True),
}
"""Memories by their ids, for whoever shows them to a person."""

OF_MCP: Mapping[str, Entry] = {**WITH_RECALL, **KEPT_MEMORIES, **GRAPH}
"""All that the MCP server offers."""

_CALLING = """\
You can call tools. A call is a block of its own in your answer: the tool's name, one JSON object, the end marker.
[[ABP_TOOL:search_memory]]
{"query": "where the user lives"}
[[END_ABP_TOOL]]
Call a tool only where it helps with what the user says now. The tools:
"""


def instructions_on(catalogue: Mapping[str, Entry]) -> str:
    """The part of a model's instructions that describes the tools."""
    return _CALLING + "\n".join(
        f"- {name} {entry.parameters}: {entry.description}" for name, entry in catalogue.items()
    )


def within(labels: Labels, catalogue: Mapping[str, Entry]) -> Mapping[str, Entry]:
    """The tools of a catalogue that can stay within these labels."""
    if labels == NO_LABELS:
        return catalogue
    return {name: entry for name, entry in catalogue.items() if not entry.unlabelled}


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

    def described(self) -> Iterator[ToolDescription]:
        """All of them, in order."""
        for name, entry in self._catalogue.items():
            yield ToolDescription(name, entry, self._tool(name).parameters.model_json_schema())

    def faults(self, call: ToolCall) -> tuple[FieldError, ...]:
        """What is wrong with the parameters of a call to a known tool; nothing of an unknown one's (A-05)."""
        return self._checked(call)[1] if call.tool in self._catalogue else ()

    def execute(
        self,
        scope: Scope,
        call: ToolCall,
        seed: IdSeed,
        now: datetime,
        conversation_id: str | None = None,
        labels: Labels = NO_LABELS,
    ) -> ToolResult:
        """Does what is asked in that scope and within `labels`, or says why not; never raises for what a model wrote.

        `seed` has `IDS_OF_A_CALL` ids: the same call with the same seed stores nothing twice. A call whose JSON had
        to be repaired is held to the same names and bounds.
        """
        from recollect.entrypoints.tools.tool import Invocation

        catalogue = within(labels, self._catalogue)
        if call.tool not in catalogue:
            return _unknown(call.tool, catalogue)
        parameters, faults = self._checked(call)
        if parameters is None:
            return _invalid(call.tool, faults)
        tool = self._tool(call.tool)
        wrote = tool.writes(parameters)
        try:
            outcome = tool.run(Invocation(self._app, scope, seed, now, conversation_id, labels), parameters)
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
        """The result of a call that was made before, from its stored outcome; the tool does not run again."""
        parameters, faults = self._checked(call)
        if parameters is None:
            return _invalid(call.tool, faults)
        said = self._tool(call.tool).say(parameters, result)
        return ToolResult(tool=call.tool, status=Status.DONE, message=said, result=result, wrote=True)

    def _tool(self, name: str) -> Tool:
        tools: Mapping[str, Tool] = import_module(f"{__package__}.{self._catalogue[name].module}").TOOLS
        return tools[name]

    def _checked(self, call: ToolCall) -> tuple[Any, tuple[FieldError, ...]]:
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


def _unknown(name: str, catalogue: Mapping[str, Entry]) -> ToolResult:
    message = f"there is no such tool; there are {', '.join(catalogue)}"
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


class TurnTools:
    """The registry as a turn of these labels uses it; a model that only quotes gets no instructions about tools."""

    def __init__(self, app: App, labels: Labels = NO_LABELS) -> None:
        self._registry = ToolRegistry(app)
        self._labels = labels
        self._instructs = app.settings.model != _WITHOUT_A_MODEL

    @property
    def instructions(self) -> str | None:
        """The part of a model's instructions that describes the tools."""
        return instructions_on(within(self._labels, BUILT_IN)) if self._instructs else None

    def execute(self, scope: Scope, call: ToolCall, seed: IdSeed, now: datetime, conversation_id: str) -> ExecutedCall:
        """In the user's scope, the turn's conversation and its labels, whatever the call says."""
        from recollect.context.turn import ExecutedCall

        result = self._registry.execute(scope, call, seed, now, conversation_id, self._labels)
        return ExecutedCall(
            call=call,
            tool=None if result.status is Status.UNKNOWN_TOOL else result.tool,
            status=result.status.value,
            message=result.message,
            result=result_document(result),
        )
