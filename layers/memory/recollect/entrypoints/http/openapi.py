"""The OpenAPI 3.1 document, made of the table of routes, its models and the examples; docs/openapi.json is a copy.

`/docs` shows it as a page (`reference`).
"""

import json
from collections.abc import Iterable, Mapping
from functools import cache
from http import HTTPStatus
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode

from recollect import __version__
from recollect.entrypoints.http.examples import examples
from recollect.entrypoints.http.messages import Published, publish
from recollect.entrypoints.http.models import AnswerModel, Count, Fault, Maybe, Schema
from recollect.entrypoints.http.problems import PROBLEM_TYPE
from recollect.entrypoints.http.routes import GROUPS, SECTIONS, routes_of
from recollect.entrypoints.http.routes.ingest import Ingested
from recollect.entrypoints.http.routing import Route

_ID_IN_PATH = "An id outside of `[A-Za-z0-9._-]` is written `~` and the unpadded base64url of its UTF-8."
_WITHOUT_BODY = (204, 304)
_COMPONENTS = "#/components/schemas/"
_LINES: Schema = {"schema": {"type": "string"}}
_DESCRIPTION = (
    "Long-term memory for conversational agents. Times are ISO 8601 in UTC; on input also epoch seconds, or "
    "milliseconds from 10^11 up. Unknown fields and parameters are refused by name; null is taken as absent. "
    "The tenant comes from the credentials alone."
)


class Problem(AnswerModel):
    """What `problems.problem` answers: every answer that is no good one."""

    type: str
    title: str
    status: Count
    detail: str
    errors: list[Fault]
    conversation_id: Maybe[str] = None
    results: Maybe[list[Ingested]] = None
    input_event_id: Maybe[str] = None


@cache
def document_json() -> str:
    """The document as text, the same on every run."""
    return json.dumps(document(), ensure_ascii=False, indent=1) + "\n"


@cache
def published() -> Published:
    """The document as `/v1/openapi.json` answers it."""
    return publish(document_json(), "application/json")


def document() -> dict[str, Any]:
    """The document of all routes."""
    routes = [(group, route) for group in GROUPS for route in routes_of([group]) if route.documented]
    schemas = _Schemas(route for _, route in routes)
    paths: dict[str, dict[str, Any]] = {}
    for group, route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(group, route, schemas)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Recollect", "version": __version__, "description": _DESCRIPTION},
        "tags": [
            {"name": group, "x-displayName": title, "description": text} for group, (title, text) in SECTIONS.items()
        ],
        "paths": paths,
        "components": {
            "schemas": schemas.components,
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
    }


def _tag(group: str, title: str, text: str) -> dict[str, str]:
    return {"name": group, "x-displayName": title, "description": text}


class _Schemas:
    """The JSON schemas of all models: of requests as they are read, of answers as they go out."""

    def __init__(self, routes: Iterable[Route]) -> None:
        asked: list[tuple[Any, JsonSchemaMode]] = [(Problem, "serialization")]
        for route in routes:
            asked += [(route.body, "validation")] if route.body is not None else []
            asked += [(route.answer, "serialization")] if route.answer is not None else []
        adapters = {key: TypeAdapter(key[0]) for key in dict.fromkeys(asked)}
        inputs = [(key, key[1], adapter.core_schema) for key, adapter in adapters.items()]
        generator = GenerateJsonSchema(ref_template=_COMPONENTS + "{model}")
        by_key, definitions = generator.generate_definitions(inputs)
        names = {str(key): str(schema["title"]) for key, schema in definitions.items()}
        if len(set(names.values())) < len(names):
            raise ValueError("two models have one title: a subclass inherits its parent's unless it names its own")
        self.components = {names[key]: _plain(schema, names) for key, schema in sorted(definitions.items())}
        self._schemas = {key: _plain(schema, names) for (key, _), schema in by_key.items()}

    def taken(self, model: Any) -> Schema:
        """What a route takes."""
        return dict(self._schemas[model, "validation"])

    def given(self, model: Any) -> Schema:
        """What a route gives."""
        return dict(self._schemas[model, "serialization"])


def _plain(schema: Any, names: dict[str, str]) -> Any:
    """Without the titles and nulls that only Python needs, and with components named by their titles."""
    if isinstance(schema, list):
        return [_plain(one, names) for one in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {key: one for key, one in schema.items() if not _is_of_python(key, one)}
    if "$ref" in kept:
        kept["$ref"] = _COMPONENTS + names[kept["$ref"].removeprefix(_COMPONENTS)]
    properties = {name: _plain(one, names) for name, one in kept.pop("properties", {}).items()}
    plain = {key: _plain(one, names) for key, one in kept.items()}
    return {**plain, "properties": properties} if properties or "properties" in schema else plain


def _is_of_python(key: str, value: Any) -> bool:
    return (key == "title" and isinstance(value, str)) or (key == "default" and value is None)


def _operation(group: str, route: Route, schemas: _Schemas) -> dict[str, Any]:
    example = examples().get(route.operation, {})
    statuses = sorted(set(route.statuses))
    operation: dict[str, Any] = {
        "operationId": route.operation,
        "summary": route.summary,
        "tags": [group],
        "parameters": [_with_example(one, example) for one in _parameters(route)],
        "responses": {str(status): _response(route, status, schemas, example) for status in statuses},
        "security": [{"bearer": []}] if route.needs_credentials else [],
    }
    if route.admin:
        operation["description"] = "Administrators only."
    if route.body is not None:
        media = {"schema": schemas.taken(route.body), **({"example": example["body"]} if "body" in example else {})}
        content = {"application/json": media}
        operation["requestBody"] = {"required": not route.body_optional, "content": content}
    if route.takes_lines:
        lines = {**_LINES, **({"example": example["lines"]} if "lines" in example else {})}
        operation["requestBody"] = {"required": True, "content": {"application/x-ndjson": lines}}
    return operation


def _parameters(route: Route) -> list[dict[str, Any]]:
    return [*_path_parameters(route), *_query_parameters(route), *_header_parameters(route)]


def _with_example(parameter: dict[str, Any], example: Mapping[str, Any]) -> dict[str, Any]:
    """With the value that the example gives it."""
    given = example.get("headers" if parameter["in"] == "header" else parameter["in"], {})
    return {**parameter, "example": given[parameter["name"]]} if parameter["name"] in given else parameter


def _path_parameters(route: Route) -> list[dict[str, Any]]:
    schema = {"type": "string", "minLength": 1}
    return [
        {"name": name, "in": "path", "required": True, "description": _ID_IN_PATH, "schema": schema}
        for name in route.names
    ]


def _query_parameters(route: Route) -> list[dict[str, Any]]:
    if route.query is None:
        return []
    schema = _plain(route.query.model_json_schema(), {})
    required = schema.get("required", [])
    return [_query_parameter(name, one, name in required) for name, one in schema["properties"].items()]


def _query_parameter(name: str, field: Schema, required: bool) -> dict[str, Any]:
    schema = {key: value for key, value in field.items() if key != "description"}
    parameter = {"name": name, "in": "query", "required": required, "schema": schema}
    return {**parameter, "description": field["description"]} if "description" in field else parameter


def _header_parameters(route: Route) -> list[dict[str, Any]]:
    parameters = []
    if route.idempotent:
        meaning = "The same key and body within 24 hours: the same answer, with `Idempotent-Replayed: true`."
        parameters.append(_header("Idempotency-Key", meaning, {"minLength": 1, "maxLength": 128}))
    if route.needs_version:
        parameters.append(_header("If-Match", "An ETag of the object, or `*`.", {}, required=True))
    return parameters


def _header(name: str, meaning: str, limits: Schema, *, required: bool = False) -> dict[str, Any]:
    schema = {"type": "string", **limits}
    return {"name": name, "in": "header", "required": required, "description": meaning, "schema": schema}


def _response(route: Route, status: int, schemas: _Schemas, example: Mapping[str, Any]) -> dict[str, Any]:
    described = {"description": HTTPStatus(status).phrase}
    if status in _WITHOUT_BODY:
        return described
    if status in route.good:
        shown = {"example": example["answer"]} if example.get("status") == status and "answer" in example else {}
        return {**described, "content": {route.media: {"schema": schemas.given(route.answer), **shown}}}
    return {**described, "content": {PROBLEM_TYPE: {"schema": schemas.given(Problem)}}}
