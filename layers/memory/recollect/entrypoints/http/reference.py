"""`/docs`: the OpenAPI document as pages: one that lists every operation and schema, and one of each subject.

A subject's page has an example of each request, its answer, and the schemas that these name. A page loads nothing. Its
one script sends what a reader tries to the server that gave the page, with the reader's own token, which stays in the
page.
"""

import base64
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from recollect.core.errors import NotFound
from recollect.entrypoints.http.messages import Published, publish
from recollect.entrypoints.http.openapi import document

_FOLDER: Final = Path(__file__).parent
_STYLE: Final = (_FOLDER / "reference.css").read_text("utf-8")
_SCRIPT: Final = (_FOLDER / "reference.js").read_text("utf-8")
_LIMITS: Final = {
    "minimum": "≥ {}",
    "maximum": "≤ {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {}",
    "maxItems": "at most {}",
    "default": "default {}",
}
_SCHEMA: Final = "#/components/schemas/"
_REFERENCE: Final = re.compile(rf'"\$ref": "{_SCHEMA}([^"]+)"')
Described = Mapping[str, Any]


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


PAGE_HEADERS: Final = {
    "Content-Security-Policy": (
        f"default-src 'none'; style-src 'sha256-{_digest(_STYLE)}'; script-src 'sha256-{_digest(_SCRIPT)}'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
}


@cache
def published_page(subject: str | None = None) -> Published:
    """The page as `/docs` answers it. Raises NotFound for a subject that is none."""
    return publish(overview() if subject is None else page(subject), "text/html; charset=utf-8")


@cache
def _document() -> Described:
    """It is made once for all pages: that takes some tenths of a second."""
    return document()


def overview() -> str:
    """The first page: each operation and each schema, with a link to the page that describes it."""
    found = _document()
    listed = "".join(_listed(found, tag) for tag in found["tags"])
    places = {name: tag["name"] for tag in reversed(found["tags"]) for name in _schemas_of(found, tag["name"])}
    schemas = "".join(
        f'<li id="schema-{name}"><a href="?subject={places[name]}#schema-{name}">{name}</a>'
        for name in found["components"]["schemas"]
    )
    main = f'{listed}<h2 id="schemas">Schemas</h2><ul class="names">{schemas}</ul>'
    return _whole(found, f"<p>{escape(found['info']['description'])}</p>", main)


def page(subject: str) -> str:
    """That of a subject: its operations and the schemas that they name. Raises NotFound."""
    found = _document()
    for tag in found["tags"]:
        if tag["name"] == subject:
            operations = "".join(_operation(*one) for one in _operations(found, subject))
            names = _schemas_of(found, subject)
            schemas = {name: one for name, one in found["components"]["schemas"].items() if name in names}
            return _whole(found, "", f"{_heading(tag)}{operations}{_schemas(schemas)}")
    raise NotFound("no such subject")


def _whole(found: Described, about: str, main: str) -> str:
    info = found["info"]
    subjects = (f'<li><a href="?subject={tag["name"]}">{escape(tag["x-displayName"])}</a>' for tag in found["tags"])
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width"><title>{escape(info["title"])}: the API</title>'
        f"<style>{_STYLE}</style></head><body><header>{_back()}"
        f"<h1>{escape(info['title'])} {escape(info['version'])}</h1>{about}"
        '<p><a href="docs">All operations and schemas</a>, as a document: '
        '<a href="/v1/openapi.json">/v1/openapi.json</a>.</p>'
        '<p hidden><label>Token for what you try <input type="password" id="token" autocomplete="off"></label> '
        "It stays in this page. A laptop's server without keys needs none.</p></header>"
        f'<nav aria-label="Subjects"><ul>{"".join(subjects)}</ul></nav>'
        f"<main>{main}</main><script>{_SCRIPT}</script></body></html>"
    )


def _back() -> str:
    """To the console, where this process serves one."""
    return '<p><a href="/console">To the console</a></p>' if find_spec("jinja2") else ""


def _heading(tag: Described) -> str:
    return f'<h2 id="{tag["name"]}">{escape(tag["x-displayName"])}</h2><p>{escape(tag["description"])}</p>'


def _listed(found: Described, tag: Described) -> str:
    """A subject with its operations, each a link."""
    rows = "".join(
        f'<li id="{one["operationId"]}"><a href="?subject={tag["name"]}#{one["operationId"]}"><b>{method.upper()}</b> '
        f"<code>{escape(path)}</code></a> {escape(one['summary'])}"
        for method, path, one in _operations(found, tag["name"])
    )
    return f'{_heading(tag)}<ul class="operations">{rows}</ul>'


def _operations(found: Described, subject: str) -> Iterator[tuple[str, str, Described]]:
    """Method, path and description of each operation of a subject."""
    for path, methods in found["paths"].items():
        for method, operation in methods.items():
            if subject in operation["tags"]:
                yield method, path, operation


def _schemas_of(found: Described, subject: str) -> set[str]:
    """The schemas that a subject's operations name, and those that these name."""
    named, left = set[str](), {one for each in _operations(found, subject) for one in _references(each[2])}
    while left:
        named |= left
        left = {one for name in left for one in _references(found["components"]["schemas"][name])} - named
    return named


def _references(described: Described) -> list[str]:
    return _REFERENCE.findall(json.dumps(described))


def _operation(method: str, path: str, operation: Described) -> str:
    name, sent = operation["operationId"], _example(operation.get("requestBody", {}))
    answers = ", ".join(f"{status} {escape(one['description'])}" for status, one in operation["responses"].items())
    good = next(one for status, one in operation["responses"].items() if status < "300")
    media = next(iter(operation.get("requestBody", {}).get("content", ())), "")
    attributes = f'id="{name}" data-method="{method.upper()}" data-path="{escape(path)}" data-media="{media}"'
    return (
        f"<details {attributes}><summary><b>{method.upper()}</b> <code>{escape(path)}</code> "
        f"{escape(operation['summary'])}</summary><p>{escape(operation.get('description', ''))}</p>"
        f"{_parameters(operation['parameters'])}{_body(operation.get('requestBody', {}))}"
        f"{_code('Example', _curl(method, path, operation, sent))}{_sent(sent)}"
        f"{_code('Its answer', _example(good))}<p>Answers: {answers}. {_schema_named(good)}</p></details>"
    )


def _parameters(parameters: list[Described]) -> str:
    rows = "".join(map(_parameter, parameters))
    return f"<table><thead><tr><th>Parameter<th>in<th>type<th>meaning</thead>{rows}</table>" if rows else ""


def _parameter(one: Described) -> str:
    name, example = escape(one["name"]), escape(str(one.get("example", "")))
    return (
        f'<tr data-in="{one["in"]}" data-name="{name}" data-example="{example}"><td><code>{name}</code>'
        f"{_required(one.get('required', False))}<td>{one['in']}<td>{_type(one['schema'])}"
        f"<td>{escape(one.get('description', ''))}"
    )


def _body(described: Described) -> str:
    named = _schema_named(described)
    return f"<p>Body: {named}</p>" if named else ""


def _schema_named(described: Described) -> str:
    contents = described.get("content", {})
    return "".join(_type(one["schema"]) for one in contents.values())


def _example(described: Described) -> str | None:
    """What the example sends, or was answered, as text."""
    for one in described.get("content", {}).values():
        if "example" in one:
            given = one["example"]
            return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False, indent=2)
    return None


def _curl(method: str, path: str, operation: Described, sent: str | None) -> str:
    given = {one["name"]: one for one in operation["parameters"] if "example" in one}
    for name, one in given.items():
        path = path.replace(f"{{{name}}}", str(one["example"]))
    query = "&".join(f"{name}={one['example']}" for name, one in given.items() if one["in"] == "query")
    headers = [f"{name}: {one['example']}" for name, one in given.items() if one["in"] == "header"]
    headers += ["Content-Type: application/json"] if sent is not None else []
    parts = [f"curl -X {method.upper()} '$URL{path}{'?' + query if query else ''}'".replace("'$URL", '"$URL"\'')]
    parts += ['-H "Authorization: Bearer $TOKEN"'] if operation["security"] else []
    parts += [f"-H '{header}'" for header in headers]
    parts += ["-d '" + sent.replace("'", "'\\''") + "'"] if sent is not None else []
    return " \\\n  ".join(parts)


def _sent(sent: str | None) -> str:
    """What a form is filled with."""
    return "" if sent is None else f"<template>{escape(sent)}</template>"


def _code(title: str, text: str | None) -> str:
    return "" if text is None else f'<h3>{title}</h3><pre tabindex="0">{escape(text)}</pre>'


def _schemas(schemas: Described) -> str:
    """Schemas, each with its fields."""
    shown = "".join(
        f'<details id="schema-{name}"><summary><code>{name}</code></summary>{_fields(one)}</details>'
        for name, one in schemas.items()
    )
    return f'<h2 id="schemas">Schemas</h2><p>What requests take and answers hold.</p>{shown}'


def _fields(schema: Described) -> str:
    if not schema.get("properties"):
        return f"<p>{_type(schema)}</p>"
    required = schema.get("required", ())
    rows = "".join(
        f"<tr><td><code>{escape(name)}</code>{_required(name in required)}<td>{_type(one)}"
        f"<td>{escape(one.get('description', ''))}"
        for name, one in schema["properties"].items()
    )
    return f"<table><thead><tr><th>field<th>type<th>meaning</thead>{rows}</table>"


def _required(required: bool) -> str:
    return " <em>required</em>" if required else ""


def _type(schema: Described) -> str:
    """In words, with links to schemas."""
    limits = [text.format(escape(str(schema[name]))) for name, text in _LIMITS.items() if name in schema]
    return ", ".join([_sort(schema), *limits])


def _sort(schema: Described) -> str:
    if "$ref" in schema:
        name = str(schema["$ref"]).rsplit("/", 1)[-1]
        return f'<a href="#schema-{name}">{name}</a>'
    if "enum" in schema or "const" in schema:
        return " | ".join(f"<code>{escape(str(one))}</code>" for one in schema.get("enum", [schema.get("const")]))
    for choice in ("anyOf", "oneOf", "allOf"):
        if choice in schema:
            return " or ".join(dict.fromkeys(_sort(one) for one in schema[choice]))
    if schema.get("type") == "array":
        return f"list of {_sort(schema.get('items', {}))}"
    inner = schema.get("additionalProperties")
    if schema.get("type") == "object" and isinstance(inner, dict) and inner:
        return f"object of {_sort(inner)}"
    sort = schema.get("type", "any JSON")
    return escape(sort if isinstance(sort, str) else " or ".join(sort))
