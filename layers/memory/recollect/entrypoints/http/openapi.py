"""The OpenAPI 3.1 document, generated from the table of routes; docs/openapi.json is a copy of it."""

import json
from functools import cache
from http import HTTPStatus
from typing import Any

from recollect import __version__
from recollect.entrypoints.http.event_drafts import EVENT
from recollect.entrypoints.http.fields import Field, Schema, Shape
from recollect.entrypoints.http.problems import PROBLEM_TYPE
from recollect.entrypoints.http.published import Published, publish
from recollect.entrypoints.http.routes import GROUPS, routes_of
from recollect.entrypoints.http.routing import Route
from recollect.entrypoints.http.schema_pieces import ref
from recollect.entrypoints.http.schemas import ANSWERS

_ID_IN_PATH = "An id outside of `[A-Za-z0-9._-]` is written `~` and the unpadded base64url of its UTF-8."
_WITHOUT_BODY = (204, 304)
_CONTENT_TYPES = {"Page": "text/html", "Lines": "application/x-ndjson"}
_DESCRIPTION = (
    "Long-term memory for conversational agents. Times are ISO 8601 in UTC; on input also epoch seconds, or "
    "milliseconds from 10^11 up. Unknown fields and parameters are refused by name; null is taken as absent. "
    "The tenant comes from the credentials alone."
)


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
    paths: dict[str, dict[str, Any]] = {}
    for group, route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(group, route)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Recollect", "version": __version__, "description": _DESCRIPTION},
        "tags": [{"name": group} for group in GROUPS],
        "paths": paths,
        "components": {
            "schemas": {**_bodies([route for _, route in routes]), **ANSWERS},
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
    }


def _bodies(routes: list[Route]) -> dict[str, Schema]:
    shapes = [EVENT, *(route.body for route in routes if route.body is not None)]
    return {shape.name: shape.schema() for shape in shapes}


def _operation(group: str, route: Route) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": route.operation,
        "summary": route.summary,
        "tags": [group],
        "parameters": [*_path_parameters(route), *_query_parameters(route.query), *_header_parameters(route)],
        "responses": {str(status): _response(route, status) for status in sorted(set(route.statuses))},
        "security": [{"bearer": []}] if route.needs_credentials else [],
    }
    if route.admin:
        operation["description"] = "Administrators only."
    if route.body is not None:
        content = {"application/json": {"schema": ref(route.body.name)}}
        operation["requestBody"] = {"required": not route.body_optional, "content": content}
    if route.takes_lines:
        operation["requestBody"] = {"required": True, "content": {"application/x-ndjson": {"schema": ref("Lines")}}}
    return operation


def _path_parameters(route: Route) -> list[dict[str, Any]]:
    schema = {"type": "string", "minLength": 1}
    return [
        {"name": name, "in": "path", "required": True, "description": _ID_IN_PATH, "schema": schema}
        for name in route.names
    ]


def _query_parameters(query: Shape | None) -> list[dict[str, Any]]:
    fields: dict[str, Field] = dict(query.fields) if query else {}
    return [_query_parameter(name, field) for name, field in fields.items()]


def _query_parameter(name: str, field: Field) -> dict[str, Any]:
    schema = dict(field.schema)
    description = schema.pop("description", None)
    if field.default is not None:
        schema["default"] = field.default
    parameter = {"name": name, "in": "query", "required": field.required, "schema": schema}
    return {**parameter, "description": description} if description else parameter


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


def _response(route: Route, status: int) -> dict[str, Any]:
    if status in _WITHOUT_BODY:
        return {"description": HTTPStatus(status).phrase}
    good = status < 300 or route.answer == "Readiness"
    content_type = _CONTENT_TYPES.get(route.answer, "application/json")
    content = {content_type if good and status != 422 else PROBLEM_TYPE: {"schema": ref(_schema(route, status))}}
    return {"description": HTTPStatus(status).phrase, "content": content}


def _schema(route: Route, status: int) -> str:
    own = status < 300 or (route.answer == "Readiness" and status == 503)
    return route.answer if own else "Problem"
