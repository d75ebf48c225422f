"""Whatever a route takes, the client's method of it takes: fields and parameters of the document, held against requests."""

import asyncio
import inspect
import json
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from types import UnionType
from typing import Any, Literal, Union, Unpack, get_args, get_origin, get_type_hints, is_typeddict
from urllib.parse import parse_qsl

import httpx

from client.conftest import KEY
from recollect.client import AsyncRecollect, RetryPolicy
from recollect.client.types import ContextOptions, SearchOptions
from recollect.entrypoints.http.openapi import document

PAGING = {"cursor"}
"""What a method gives by itself: it goes through all pages."""
NOT_OURS: Mapping[str, set[str]] = {}
"""Of a route what belongs to other clients' wires."""
AS_GIVEN = {"search": SearchOptions, "context": ContextOptions}
"""The options of the methods that take the user in either order."""


def test_every_option_of_a_route_is_one_of_its_method() -> None:
    sent = asyncio.run(_sent())
    missing = {}
    for operation, fields in _offered().items():
        given = set().union(*(names for place, names in sent if re.fullmatch(_pattern(operation), place)))
        missing |= {operation: lacking} if (lacking := fields - given - NOT_OURS.get(operation, set())) else {}
    assert missing == {}


def _pattern(operation: str) -> str:
    return re.sub(r"{\w+}", "[^/]+", operation)


def _offered() -> dict[str, set[str]]:
    """By operation the query parameters and the fields of the body."""
    told = document()
    return {
        f"{method.upper()} {path}": _parameters(told, operation) | _body(told, operation)
        for path, methods in told["paths"].items()
        for method, operation in methods.items()
    }


def _parameters(told: Mapping[str, Any], operation: Mapping[str, Any]) -> set[str]:
    named = (_resolved(told, one) for one in operation.get("parameters", ()))
    return {one["name"] for one in named if one["in"] == "query"} - PAGING


def _body(told: Mapping[str, Any], operation: Mapping[str, Any]) -> set[str]:
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    return set(_resolved(told, content.get("schema", {})).get("properties", {})) - PAGING


def _resolved(told: Mapping[str, Any], one: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Any = one
    while "$ref" in found:
        place: Any = told
        for name in found["$ref"].removeprefix("#/").split("/"):
            place = place[name]
        found = place
    return found
