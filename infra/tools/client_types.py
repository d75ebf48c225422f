"""The client's types, written from the OpenAPI document: client/types.py."""

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from infra.tools.sync_client import formatted

FILE = "layers/memory/recollect/client/types.py"

_HEADER = '''"""Requests and responses as typed dicts, generated from the OpenAPI document by `make docs`.

The server may add fields; none of these is removed.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, NotRequired, Required, TypeAlias, TypedDict

Instant: TypeAlias = datetime | str | int | float
Json: TypeAlias = dict[str, Any]
'''
_KINDS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}
_OPTIONAL = "TypedDict, total=False"
_OWN = frozenset({"user_id", "content", "query", "input", "text", "cursor", "dry_run"})
"""What the client's methods take by names of their own."""

Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server sends: a schema, what the class is called, a sentence about it; `or_else` is a schema that the
    server sends in its place."""

    schema: str
    name: str
    sentence: str
    or_else: str | None = None


@dataclass(frozen=True, slots=True)
class Options:
    """What a method takes: a schema, or a path whose query is meant; `keeps` are parameters that `_OWN` has."""

    source: str
    name: str
    sentence: str
    keeps: Collection[str] = ()


_ANSWERS = (
    Answer("IngestResult", "IngestResult", "The outcome of one event."),
    Answer("EventsAnswer", "IngestAnswer", "One result per event, in order."),
    Answer("Event", "Event", "An event as stored."),
    Answer(
        "Memory",
        "Memory",
        "A memory in its current version; a retry's response has `refused` alone where it was deleted since.",
        or_else="MemoryRefused",
    ),
    Answer("SearchResult", "SearchResult", "One hit, best first. A directly saved memory has no conversation."),
    Answer(
        "SearchDiagnostics",
        "SearchDiagnostics",
        "How a search went; with `tail_cut`, `pending` counts only the newest 100 events without a vector.",
    ),
    Answer("SearchAnswer", "SearchAnswer", "Hits and diagnostics."),
    Answer("ContextDiagnostics", "ContextDiagnostics", "What was left out of a context, and how it was made."),
    Answer("ContextAnswer", "ContextAnswer", "The context for the next model call, and its reasons."),
    Answer(
        "TurnAnswer",
        "TurnAnswer",
        "The model's response; a replayed turn has no `context`, and may have no `response`.",
    ),
)
_OPTIONS = (
    Options("AnalyzeText", "AnalyzeOptions", "The surroundings of a text."),
    Options("NewMemory", "MemoryOptions", "Optional fields of a memory."),
    Options("/v1/users/{user_id}/memories", "MemoryListOptions", "Filters of memories; `limit` is a page's."),
    Options("DeleteMemories", "DeletionOptions", "Which memories are deleted together; `limit` is a call's."),
    Options("/v1/users/{user_id}/arbitrations", "DecisionListOptions", "Filters of decisions; `limit` is a page's."),
    Options("/v1/users/{user_id}/conflicts", "ConflictListOptions", "Filters of conflicts; `limit` is a page's."),
    Options(
        "/v1/users/{user_id}/events",
        "EventOptions",
        "A window of the timeline; `from_` and `to` inclusive; without any of them all of it.",
    ),
    Options(
        "ToolCallsRequest", "ToolCallOptions", "Whose memory the tools use, and how the text is parsed.", ("user_id",)
    ),
    Options("SearchRequest", "SearchOptions", "Options of a search."),
    Options("TurnRequest", "TurnOptions", "Options of a turn; without a persona it is the default persona's."),
    Options("ContextRequest", "ContextOptions", "Options of a context."),
)


def client_types_file(document: str) -> str:
    """The text of the file. Raises CalledProcessError where ruff cannot read what came out."""
    return formatted(_HEADER + "".join(f"\n\n{one}\n" for one in _classes(json.loads(document))), FILE)


def _classes(document: Schema) -> Iterator[str]:
    schemas = document["components"]["schemas"]
    names = {one.schema: one.name for one in _ANSWERS}
    new_event = schemas["NewEvent"]
    fields = {name: _given(one) for name, one in new_event["properties"].items()}
    required = {name: f"Required[{fields[name]}]" for name in new_event["required"]}
    yield _class("NewEvent", "One event to store.", fields | required, _OPTIONAL)
    for answer in _ANSWERS:
        schema = schemas[answer.schema]
        other = schemas[answer.or_else]["properties"] if answer.or_else else {}
        sent = {name: _sent(one, names) for name, one in {**schema["properties"], **other}.items()}
        optional = {name: f"NotRequired[{kind}]" for name, kind in sent.items() if name not in schema["required"]}
        yield _class(answer.name, answer.sentence, sent | optional)
    narrowing = {"persona_id": "str | None", "household_id": "str | None"}
    yield _class("Narrowing", "Persona and household; on a read their absence is no filter.", narrowing, _OPTIONAL)
    labels = {"agent_id": "str | None", "app_id": "str | None", "namespace": "Sequence[str] | None"}
    yield _class("Labelling", "Persona, household, agent, application and namespace.", labels, "Narrowing, total=False")
    written: dict[str, dict[str, str]] = {"Narrowing": narrowing, "Labelling": {**narrowing, **labels}}
    for options in _OPTIONS:
        parameters = _parameters(document, options.source).items()
        own = _OWN - set(options.keeps)
        taken = {_python(name): f"{_given(one)} | None" for name, one in parameters if name not in own}
        within = [name for name, other in written.items() if other.items() <= taken.items()]
        base = max(within, key=lambda name: len(written[name]), default="TypedDict")
        rest = {name: kind for name, kind in taken.items() if name not in written.get(base, {})}
        yield _class(options.name, options.sentence, rest, f"{base}, total=False")
        written[options.name] = taken


def _class(name: str, sentence: str, fields: Mapping[str, str], base: str = "TypedDict") -> str:
    return "\n".join(
        [f"class {name}({base}):", f'    """{sentence}"""', "", *(f"    {one}: {kind}" for one, kind in fields.items())]
    )


def _parameters(document: Schema, source: str) -> dict[str, Schema]:
    if not source.startswith("/"):
        return dict(document["components"]["schemas"][source]["properties"])
    query = document["paths"][source]["get"]["parameters"]
    return {one["name"]: one["schema"] for one in query if one["in"] == "query"}


def _python(name: str) -> str:
    return "from_" if name == "from" else name


def _given(schema: Schema) -> str:
    """The type of what a caller may pass: anything that JSON can be made of."""
    if "anyOf" in schema or schema.get("format") == "date-time":
        return "Instant"
    if "enum" in schema:
        return _literal(schema)
    if schema.get("format") == "labels":
        return "Sequence[str]"
    if "contentMediaType" in schema:
        return "Mapping[str, Any]"
    if schema.get("type") == "array":
        return f"Sequence[{_given(schema['items'])}]"
    return _KINDS.get(str(schema.get("type")), "Mapping[str, Any]")


def _sent(schema: Schema, names: Mapping[str, str]) -> str:
    """The type of what the server sends; an object of which the client knows no type is `Json`."""
    if "enum" in schema:
        return _literal(schema)
    kinds = schema.get("type", "object")
    if isinstance(kinds, list):
        kind = next(one for one in kinds if one != "null")
        return f"{_sent({**schema, 'type': kind}, names)} | None"
    if kinds == "array":
        return f"list[{_sent(schema['items'], names)}]"
    if isinstance(schema.get("additionalProperties"), dict):
        return f"dict[str, {_sent(schema['additionalProperties'], names)}]"
    return _KINDS.get(kinds) or names.get(str(schema.get("$ref", "")).rpartition("/")[2], "Json")


def _literal(schema: Schema) -> str:
    return f"Literal[{', '.join(json.dumps(one) for one in schema['enum'])}]"
