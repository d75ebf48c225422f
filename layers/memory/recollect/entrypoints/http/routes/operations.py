"""What needs no credentials: health, readiness, the OpenAPI document and its page."""

from typing import Any

from recollect import __version__
from recollect.app import App
from recollect.entrypoints.http.messages import Reply, Request
from recollect.entrypoints.http.published import reply_published
from recollect.entrypoints.http.routing import Route
from recollect.search_index.health import PartState


def health(_app: App, _request: Request) -> Reply:
    """The process answers."""
    return Reply(200, {"status": "ok", "version": __version__})


def ready(app: App, _request: Request) -> Reply:
    """Whether every part answers: 200, or 503 until then (A-35, A-56)."""
    readiness = app.readiness()
    parts = {name: _part_json(state) for name, state in readiness.parts.items()}
    log = {"not_ready": [name for name, state in readiness.parts.items() if not state.ready]}
    return Reply(200 if readiness.ready else 503, {"ready": readiness.ready, "parts": parts}, log=log)


def _part_json(state: PartState) -> dict[str, Any]:
    shown = {"ready": state.ready, "detail": state.detail}
    return shown if state.pending is None else {**shown, "pending": state.pending}


def openapi(_app: App, request: Request) -> Reply:
    """The document that docs/openapi.json holds."""
    from recollect.entrypoints.http.openapi import published

    return reply_published(request, published())


def docs(_app: App, request: Request) -> Reply:
    """A page of the same, without a script and without anything from elsewhere."""
    from recollect.entrypoints.http.docs_page import HEADERS, published

    return reply_published(request, published(), HEADERS)


def _open_route(path: str, operation: str, summary: str, answer: str, handle: Any, *statuses: int) -> Route:
    return Route(
        method="GET",
        path=path,
        operation=operation,
        summary=summary,
        handle=handle,
        answer=answer,
        statuses=(200, *statuses),
        needs_credentials=False,
    )


ROUTES = (
    _open_route("/v1/health", "health", "The process answers", "Health", health, 422),
    _open_route("/v1/ready", "ready", "Whether every part answers", "Readiness", ready, 422, 503),
    _open_route("/v1/openapi.json", "openapi", "This document", "Document", openapi, 304, 422),
    _open_route("/docs", "docs", "This document as a page", "Page", docs, 304, 422),
)
