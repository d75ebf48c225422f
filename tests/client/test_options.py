"""Whatever a route takes its methods of the client take: the document's fields and parameters against what is sent."""

import asyncio
import inspect
import json
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict
from urllib.parse import parse_qsl

import httpx

from client.conftest import KEY
from recollect.client import AsyncRecollect, RetryPolicy
from recollect.client.types import ContextOptions, SearchOptions
from recollect.entrypoints.http.openapi import document
from recollect.jobs.job import KINDS

PAGING = {"cursor"}
"""What a method gives by itself: it goes through all pages."""
UNASKED: Mapping[str, set[str]] = {
    "DELETE /v1/users/{user_id}/conversations/{conversation_id}": {"limit"},  # of a call: it makes as many as it takes
    "GET /docs": {"subject"},  # pages for people
    "POST /v1/merge-rules/import": {"version"},  # passed over by the server
    "POST /v1/merge-rules/match": {"existing"},  # no condition asks for it
}
WHOLE = "whole"
"""A field of what stands for a whole body: whoever gives that gives every field."""
AS_GIVEN = {"search": SearchOptions, "context": ContextOptions}
"""The options of the methods that take the user in either order."""


def test_every_option_of_a_route_is_one_of_its_method() -> None:
    sent = asyncio.run(_sent())
    missing: dict[str, set[str]] = {}
    for operation, fields in _offered().items():
        given = set().union(*(names for place, names in sent if re.fullmatch(_pattern(operation), place)))
        lacking = fields - given - UNASKED.get(operation, set())
        missing |= {operation: lacking} if lacking and WHOLE not in given else {}
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
    return dict(found)


async def _sent() -> list[tuple[str, set[str]]]:
    """What each method of the client sends when all its options are given: the operation, and the names of fields."""
    sent: list[tuple[str, set[str]]] = []

    def noted(request: httpx.Request) -> httpx.Response:
        query = set(parse_qsl(request.url.query.decode(), keep_blank_values=True))
        body = json.loads(request.content) if request.content else {}
        names = {name for name, _ in query} | (set(body) if isinstance(body, dict) else set())
        sent.append((f"{request.method} {request.url.path}", names))
        return httpx.Response(200, json={})

    client = AsyncRecollect("http://here", KEY, retries=RetryPolicy(tries=1), transport=httpx.MockTransport(noted))
    for name, method in inspect.getmembers(client, inspect.ismethod):
        if not name.startswith("_") and name not in ("close", "local"):
            every = {**_values(method), **(_of_type(AS_GIVEN[name]) | {"user_id": "given"} if name in AS_GIVEN else {})}
            no = {name: False for name, value in every.items() if value is True}
            named = inspect.signature(method).parameters.values()
            left = {one.name for one in named if one.default is None and one.kind is not one.KEYWORD_ONLY}
            for call in (every, every | no, {name: value for name, value in every.items() if name not in left}):
                for kind in KINDS if "kind" in call else [""]:
                    await _called(method, call | ({"kind": kind} if kind else {}))
    return sent


async def _called(method: Callable[..., Any], options: Mapping[str, Any]) -> None:
    """Calls it with these, up to the first page; what it makes of an empty answer does not count."""
    with suppress(Exception):
        answer = method(**options)
        if isinstance(answer, AsyncIterator):
            await anext(answer)
        else:
            await answer


def _values(method: Callable[..., Any]) -> dict[str, Any]:
    types = get_type_hints(method, include_extras=True)
    found: dict[str, Any] = {}
    for name, one in inspect.signature(method).parameters.items():
        if one.kind is one.VAR_KEYWORD:
            options = get_args(types[name])
            found |= _of_type(options[0]) if options and is_typeddict(options[0]) else {WHOLE: "given"}
        elif one.kind is not one.VAR_POSITIONAL:
            found[name] = _value(types[name])
    return found


def _of_type(options: type) -> dict[str, Any]:
    return {name: _value(kind) for name, kind in get_type_hints(options).items()}


def _value(kind: Any) -> Any:
    """Something of that type that is neither None nor a default; an object has what a memory has, and `WHOLE`."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return _value(next(one for one in parts if one is not type(None)))
    if origin is Literal:
        return parts[-1]
    if kind in (bool, int, float):
        return True if kind is bool else 7
    if kind is datetime:
        return datetime(2024, 5, 1)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"id": "given", "version": 7, WHOLE: True}
    return ["given"] if isinstance(origin, type) and issubclass(origin, Sequence) else "given"
