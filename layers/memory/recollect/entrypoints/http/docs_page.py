"""`/docs`: the OpenAPI document as one page of plain HTML: no script, nothing loaded from anywhere."""

import base64
import hashlib
import json
from functools import cache
from html import escape
from typing import Any

from recollect.entrypoints.http.openapi import document
from recollect.entrypoints.http.published import Published, publish

_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "code,pre{font:14px/1.4 ui-monospace,monospace}pre{overflow:auto;padding:1rem;background:#8881}"
    "summary{cursor:pointer;padding:.3rem 0}summary b{display:inline-block;min-width:4rem}"
    "td{padding:.1rem 1rem .1rem 0;vertical-align:top}"
)
_DIGEST = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
HEADERS = {
    "Content-Security-Policy": (
        f"default-src 'none'; style-src 'sha256-{_DIGEST}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
}


@cache
def published() -> Published:
    """The page as `/docs` answers it."""
    return publish(page(), "text/html; charset=utf-8")


def page() -> str:
    """The page."""
    found = document()
    info = found["info"]
    operations = "".join(
        _operation(method, path, operation, found["components"]["schemas"])
        for path, methods in found["paths"].items()
        for method, operation in methods.items()
    )
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(info["title"])}</title>'
        f"<style>{_STYLE}</style><h1>{escape(info['title'])} {escape(info['version'])}</h1>"
        f'<p>{escape(info["description"])}</p><p><a href="/v1/openapi.json">/v1/openapi.json</a></p>{operations}</html>'
    )


def _operation(method: str, path: str, operation: dict[str, Any], schemas: dict[str, Any]) -> str:
    parameters = "".join(
        f"<tr><td><code>{escape(one['name'])}</code><td>{one['in']}<td>{escape(one.get('description', ''))}"
        for one in operation["parameters"]
    )
    answers = ", ".join(f"{status} {escape(one['description'])}" for status, one in operation["responses"].items())
    title = f"<b>{method.upper()}</b> <code>{escape(path)}</code> {escape(operation['summary'])}"
    return (
        f"<details><summary>{title}</summary>"
        f"<p>{escape(operation.get('description', ''))}</p><table>{parameters}</table>"
        f"{_schema_of('Body', _body(operation), schemas)}<p>Answers: {answers}</p>"
        f"{_schema_of('Answer', _answer(operation), schemas)}</details>"
    )


def _body(operation: dict[str, Any]) -> str | None:
    return _name_in(operation["requestBody"]) if "requestBody" in operation else None


def _answer(operation: dict[str, Any]) -> str | None:
    good = next(answer for status, answer in operation["responses"].items() if status < "300")
    return _name_in(good) if "content" in good else None


def _name_in(described: dict[str, Any]) -> str | None:
    content = next(iter(described["content"].values()))
    return str(content["schema"]["$ref"]).rsplit("/", 1)[-1] if "$ref" in content["schema"] else None


def _schema_of(title: str, name: str | None, schemas: dict[str, Any]) -> str:
    if name is None:
        return ""
    text = json.dumps(schemas[name], ensure_ascii=False, indent=1)
    return f"<details><summary>{title}: {escape(name)}</summary><pre>{escape(text)}</pre></details>"
