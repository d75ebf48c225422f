"""What the published document promises of an answer."""

import json
from functools import cache
from typing import Any

from openapi_schema_validator import OAS31Validator

from entrypoints.http.calling import Answered
from recollect.entrypoints.http.openapi import document_json


@cache
def document() -> dict[str, Any]:
    """The document as it is published, made once for all tests; it is left as it is."""
    made: dict[str, Any] = json.loads(document_json())
    return made


def check(answer: Answered, operation: dict[str, Any]) -> None:
    """The answer is one that the document promises."""
    described = operation["responses"][str(answer.status)]
    media = answer.headers["content-type"].partition(";")[0]
    root = {**described["content"][media]["schema"], "components": {"schemas": _closed_schemas()}}
    OAS31Validator(root).validate(answer.json if media.endswith("json") else answer.text)


@cache
def _closed_schemas() -> Any:
    return _closed(document()["components"]["schemas"])


def _closed(schema: Any) -> Any:
    """The schema with every object closed, so that a field nobody described is found."""
    if isinstance(schema, list):
        return [_closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {name: _closed(value) for name, value in schema.items()}
    return {"additionalProperties": False, **inner} if "properties" in inner else inner
