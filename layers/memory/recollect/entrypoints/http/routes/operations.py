"""What needs no credentials: health, readiness, the OpenAPI document and its page."""

from typing import Annotated

from pydantic import Field

from recollect import __version__
from recollect.app import App
from recollect.entrypoints.http.messages import Reply, Request, reply_published
from recollect.entrypoints.http.models import AnswerModel, Count, Free, Maybe, OneOf, RequestModel
from recollect.entrypoints.http.routing import Routes


class Health(AnswerModel):
    status: Annotated[str, OneOf("ok")]
    version: str


class PartReadiness(AnswerModel):
    ready: bool
    detail: str
    pending: Maybe[Count] = None


class Readiness(AnswerModel):
    ready: bool
    parts: dict[str, PartReadiness]


class DocsQuery(RequestModel):
    subject: Maybe[str] = Field(None, description="The subject whose operations and schemas are described.")


routes = Routes()


@routes.get("/v1/health", answer=Health, needs_credentials=False)
def health(_app: App, _request: Request) -> Reply:
    """The process answers."""
    return Reply(200, Health(status="ok", version=__version__))


@routes.get("/v1/ready", answer=Readiness, good=(200, 503), needs_credentials=False)
def ready(app: App, _request: Request) -> Reply:
    """Whether every part answers.

    200, or 503 until then (A-35, A-56).
    """
    readiness = app.readiness.check()
    log = {"not_ready": [name for name, state in readiness.parts.items() if not state.ready]}
    return Reply(200 if readiness.ready else 503, Readiness.model_validate(readiness), log=log)


@routes.get("/v1/openapi.json", answer=Free, errors=(304,), needs_credentials=False)
def openapi(_app: App, request: Request) -> Reply:
    """This document."""
    from recollect.entrypoints.http.openapi import published

    return reply_published(request, published())


@routes.get("/docs", answer=str, media="text/html", errors=(304, 404), needs_credentials=False)
def docs(_app: App, request: Request, query: DocsQuery) -> Reply:
    """This document as pages.

    One lists every operation and schema, one of each subject describes them.
    """
    from recollect.entrypoints.http.reference import PAGE_HEADERS, published_page

    return reply_published(request, published_page(query.subject), PAGE_HEADERS)
