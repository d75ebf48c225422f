"""The TypeScript client's types and operations, written from the OpenAPI document.

clients/typescript/src/schemas.ts has an interface for each schema; operations.ts a method for each operation, whose
arguments are one object: what stands in the path, in the query and in the body, by its name.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

SCHEMAS_FILE = "clients/typescript/src/schemas.ts"
OPERATIONS_FILE = "clients/typescript/src/operations.ts"

_HEADER = "// Generated from docs/openapi.json by `make docs`.\n"
_PLAIN_NAME = re.compile("[A-Za-z_][A-Za-z0-9_]*")
_KINDS = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}
_NOT_FOR_PROGRAMS = frozenset({"docs", "openapi"})
_READS = frozenset(
    {"analyze", "buildContext", "listItemNamespaces", "matchMergeRule", "mergeStatements", "resolveKnowledge"}
    | {"search", "searchItems"}
)
"""Operations that only read although they are POSTs: they may be repeated."""

Schema = Mapping[str, Any]


def schemas_file(document: str) -> str:
    """The text of schemas.ts."""
    schemas = json.loads(document)["components"]["schemas"]
    made = "".join(f"\n{_declared(name, schema)}" for name, schema in sorted(schemas.items()))
    return f"{_HEADER}\nexport type JsonObject = {{ [name: string]: unknown }};\n{made}"


def operations_file(document: str) -> str:
    """The text of operations.ts."""
    read = json.loads(document)
    operations = [
        (path, method, one)
        for path, methods in read["paths"].items()
        for method, one in methods.items()
        if one["operationId"] not in _NOT_FOR_PROGRAMS
    ]
    arguments = "".join(_arguments(one) for _, _, one in operations)
    methods = "\n".join(_method(path, method, one, read["components"]["schemas"]) for path, method, one in operations)
    used = sorted(set(re.findall(r"\bschemas\.([A-Za-z]+)", arguments + methods)))
    imported = "".join(f"  {name},\n" for name in used)
    named = re.sub(r"\bschemas\.", "", arguments), re.sub(r"\bschemas\.", "", methods)
    return (
        f'{_HEADER}\nimport type {{\n{imported}}} from "./schemas.js";\n'
        'import type { RequestOptions, Transport } from "./transport.js";\n'
        f"{named[0]}\n/** A method for each operation of the server. */\nexport class Operations {{\n"
        f"  constructor(private readonly transport: Transport) {{}}\n\n{named[1]}}}\n"
    )


def _declared(name: str, schema: Schema) -> str:
    comment = _comment(schema, "")
    if schema.get("properties"):
        return f"{comment}export interface {name} {{\n{_fields(schema, '  ')}}}\n"
    return f"{comment}export type {name} = {_type(schema)};\n"


def _fields(schema: Schema, indent: str) -> str:
    required = schema.get("required", ())
    return "".join(
        f"{_comment(one, indent)}{indent}{_key(name)}{'' if name in required else '?'}: {_type(one)};\n"
        for name, one in schema["properties"].items()
    )


def _comment(schema: Schema, indent: str) -> str:
    text = str(schema.get("description", "")).replace("*/", "*\\/")
    return f"{indent}/** {text} */\n" if text else ""


def _key(name: str) -> str:
    return name if _PLAIN_NAME.fullmatch(name) else json.dumps(name)


def _type(schema: Schema, prefix: str = "") -> str:
    """The type of a value; names of schemas get the prefix."""
    if "$ref" in schema:
        return prefix + str(schema["$ref"]).rpartition("/")[2]
    if "enum" in schema:
        return " | ".join(json.dumps(one) for one in schema["enum"])
    if "anyOf" in schema:
        return " | ".join(dict.fromkeys(_type(one, prefix) for one in schema["anyOf"]))
    kinds = schema.get("type")
    if isinstance(kinds, list):
        return " | ".join(_type({**schema, "type": kind}, prefix) for kind in kinds)
    if kinds == "array":
        return f"Array<{_type(schema['items'], prefix)}>"
    return _object(schema, prefix) if kinds == "object" else _KINDS.get(str(kinds), "unknown")


def _object(schema: Schema, prefix: str) -> str:
    if schema.get("properties"):
        required = schema.get("required", ())
        parts = (
            f"{_key(name)}{'' if name in required else '?'}: {_type(one, prefix)}"
            for name, one in schema["properties"].items()
        )
        return f"{{ {'; '.join(parts)} }}"
    values = schema.get("additionalProperties")
    return f"{{ [name: string]: {_type(values, prefix)} }}" if isinstance(values, dict) and values else "JsonObject"


def _name_of_arguments(operation: Schema) -> str:
    name = str(operation["operationId"])
    return f"{name[0].upper()}{name[1:]}Arguments"


def _parameters(operation: Schema) -> list[Schema]:
    """Those of path and query; what stands in headers is an option of every call."""
    return [one for one in operation["parameters"] if one["in"] in ("path", "query")]


def _body(operation: Schema) -> tuple[str, str | None]:
    """How it goes out, "json", "ndjson" or "none", and the name of its schema."""
    content = operation.get("requestBody", {}).get("content", {})
    if "application/json" in content:
        return "json", _type(content["application/json"]["schema"], "schemas.")
    return ("ndjson", None) if content else ("none", None)


def _arguments(operation: Schema) -> str:
    """The interface of what a method takes; nothing where it takes nothing, or what a body's schema says."""
    body, schema = _body(operation)
    parameters = _parameters(operation)
    if not parameters and body != "ndjson":
        return ""
    fields = {one["name"]: _field_of(one) for one in parameters}
    required = [one["name"] for one in parameters if one["required"]]
    if body == "ndjson":
        fields["lines"] = {"type": "string", "description": "JSON Lines."}
        required.append("lines")
    written = _fields({"properties": fields, "required": required}, "  ")
    head = f"\nexport interface {_name_of_arguments(operation)}" + (f" extends {schema}" if schema else "")
    return f"{head} {{\n{written}}}\n"


def _field_of(parameter: Schema) -> Schema:
    """A parameter as a field; how an id is written in a path is the client's matter."""
    description = "" if parameter["in"] == "path" else parameter.get("description", "")
    return {**parameter["schema"], "description": description}


def _method(path: str, method: str, operation: Schema, schemas: Schema) -> str:
    kind, answer = _answer(operation)
    body, _ = _body(operation)
    call = {
        "method": method.upper(),
        "path": path,
        "query": [one["name"] for one in _parameters(operation) if one["in"] == "query"],
        "body": body,
        "answer": kind,
        "keyed": any(one["name"] == "Idempotency-Key" for one in operation["parameters"]),
        "repeatable": method in ("get", "put", "delete") or operation["operationId"] in _READS,
        "answers": _other_answers(operation["responses"]),
    }
    written = ", ".join(f"{name}: {json.dumps(value)}" for name, value in call.items())
    takes, given = _taken(operation, schemas)
    return (
        f"  /** {operation['summary']}. `{method.upper()} {path}` */\n"
        f"  {operation['operationId']}({takes}options?: RequestOptions): Promise<{answer}> {{\n"
        f"    return this.transport.send({{ {written} }}, {given}, options);\n  }}\n"
    )


def _taken(operation: Schema, schemas: Schema) -> tuple[str, str]:
    """The first parameter of a method and what it hands on."""
    body, schema = _body(operation)
    if body == "none" and not _parameters(operation):
        return "", "{}"
    kind = _name_of_arguments(operation) if _parameters(operation) or schema is None else schema
    of_body = schemas[schema.removeprefix("schemas.")].get("required") if schema else body == "ndjson"
    needs = of_body or any(one["required"] for one in _parameters(operation))
    return f"given: {kind}{'' if needs else ' = {}'}, ", "given"


def _answer(operation: Schema) -> tuple[str, str]:
    """How a good answer comes, "json", "text" or "none", and its type."""
    good = [one for status, one in operation["responses"].items() if status.startswith("2")]
    for media, content in good[0].get("content", {}).items():
        schema = content["schema"]
        return ("json", _type(schema, "schemas.")) if media == "application/json" else ("text", "string")
    return "none", "void"


def _other_answers(responses: Mapping[str, Schema]) -> Sequence[int]:
    """Statuses from 400 that come with an answer of the operation's own and no problem."""
    return list(_bad_with_answers(responses))


def _bad_with_answers(responses: Mapping[str, Schema]) -> Iterator[int]:
    for status, one in responses.items():
        if status[0] in "45" and "application/json" in one.get("content", {}):
            yield int(status)
