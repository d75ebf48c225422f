"""`/v1/knowledge`: what terms and rules mean to a tenant, how a query reads by them, and what a text teaches."""

from typing import Annotated, Any

from pydantic import Field

from recollect.app import App
from recollect.core.errors import NotFound, VersionMismatch
from recollect.core.items import of_tenant
from recollect.core.scope import Scope
from recollect.entrypoints.http.cursors import listing_of, page_reply, start_of
from recollect.entrypoints.http.headers import Answer, Attempt, idempotent
from recollect.entrypoints.http.messages import Reply, Request, etag, user_in
from recollect.entrypoints.http.models import (
    CONTENT_BYTES,
    AnswerModel,
    Count,
    Free,
    Identifier,
    Maybe,
    OneOf,
    Paged,
    RequestModel,
    Shows,
    Text,
)
from recollect.entrypoints.http.problems import located
from recollect.entrypoints.http.representations import KnowledgeEntryAnswer
from recollect.entrypoints.http.routing import Routes
from recollect.knowledge.entries import KnowledgeEntry
from recollect.knowledge.resolution import Commenting, ManageKnowledge
from recollect.knowledge.use_cases import KnowledgeAuthor, Lesson, Resolved, lesson_of

_ENTRY = "/v1/knowledge/{namespace}/{key}"
_SOURCES = {"namespace": ("path",), "key": ("path",), "value": ("body",), "store": ("body",)}
_COMMENTING = {"rules": Commenting(), "all": Commenting(terms=True), "none": Commenting(rules=False)}
_Text = Annotated[str, Text(CONTENT_BYTES)]


class KnowledgeQuery(Paged):
    format: Annotated[str, OneOf("entries", "prompt")] = Field(
        "entries", description="`prompt`: the sections of a prompt."
    )
    store: Maybe[Identifier] = Field(None, description="With `format=prompt`: only what holds in this store.")


class KnowledgeValue(RequestModel):
    value: Any = Field(
        description="In `vocabulary` {target, type?, description?, confidence?, source?}, in `rule` {condition, "
        "applies_to?, description?}, in `correction` {instruction, trigger}, each as an object or as its JSON text; in "
        "any other namespace any JSON of at most 16 KiB."
    )


class ResolveRequest(RequestModel):
    text: _Text
    store: Identifier = Field(description="The current store; its terms go before global ones.")
    filter: Maybe[_Text] = Field(None, description="The filter of the query so far; never read, only joined.")
    comments: Annotated[str, OneOf(*_COMMENTING)] = Field("rules", description="What the comments tell of.")


class LearnRequest(RequestModel):
    text: _Text = Field(description="What the user said.")
    store: Maybe[Identifier] = Field(None, description="Absent: what is learnt holds in every store.")
    dry_run: Maybe[bool] = Field(None, description="Says what would be stored, and stores nothing.")


class KnowledgePage(AnswerModel):
    entries: Maybe[list[KnowledgeEntryAnswer]] = None
    next_cursor: Maybe[str] = None
    prompt: Maybe[str] = None


class Replacement(AnswerModel):
    key: str
    term: str
    target: str
    count: Count


class AppliedRule(AnswerModel):
    key: str
    condition: str


class ResolveDiagnostics(AnswerModel):
    skipped: Count
    cut: bool


class KnowledgeResolved(AnswerModel):
    text: str
    filter: Annotated[str | None, Shows({"type": ["string", "null"]})]
    replacements: list[Replacement]
    rules: list[AppliedRule]
    comments: list[str]
    diagnostics: ResolveDiagnostics


class ManageKnowledgeCall(AnswerModel):
    tool: Annotated[str, OneOf("manage_knowledge")]
    parameters: Free


class KnowledgeLearnt(AnswerModel):
    stored: bool
    tool_call: Maybe[ManageKnowledgeCall] = None
    confirmation: Maybe[str] = None


routes = Routes()


@routes.add("PUT", _ENTRY, answer=KnowledgeEntryAnswer, errors=(409, 412))
def put_knowledge(app: App, request: Request, body: KnowledgeValue) -> Reply:
    """Makes or replaces an entry."""
    with located(_SOURCES.get):
        entry = app.knowledge.put(
            request.principal.tenant,
            request.path["namespace"],
            request.path["key"],
            body.value,
            request.now,
            expected=_expected_for_writing(app, request),
            author=_author(request),
        )
    return _entry_reply(entry)


@routes.get(_ENTRY, answer=KnowledgeEntryAnswer, errors=(404,))
def get_knowledge(app: App, request: Request) -> Reply:
    """One entry."""
    return _entry_reply(_entry(app, request))


@routes.delete(_ENTRY, good=(204,), errors=(404, 412))
def delete_knowledge(app: App, request: Request) -> Reply:
    """Deletes an entry."""
    expected = _expected(request, _entry(app, request))
    place = request.path["namespace"], request.path["key"]
    app.knowledge.delete(request.principal.tenant, *place, request.now, expected, _author(request))
    return Reply(204, "")


@routes.get("/v1/knowledge/{namespace}", answer=KnowledgePage)
def list_namespace(app: App, request: Request, query: Paged) -> Reply:
    """The entries of a namespace.

    A page of it, by key.
    """
    return _page(app, request, query, request.path["namespace"])


@routes.get("/v1/knowledge", answer=KnowledgePage)
def list_knowledge(app: App, request: Request, query: KnowledgeQuery) -> Reply:
    """All entries, or what a prompt says of them.

    A page of entries, by namespace and key.
    """
    if query.format == "entries":
        return _page(app, request, query, None)
    section = app.knowledge.section(request.principal.tenant, query.store)
    log = {"entries": len(section.entries), "skipped": section.skipped, "cut": section.cut}
    return Reply(200, KnowledgePage(prompt=section.text or ""), log=log)


def _page(app: App, request: Request, query: Paged, namespace: str | None) -> Reply:
    tenant = request.principal.tenant
    listing = listing_of(app, f"knowledge {namespace}", of_tenant(tenant))
    page = app.knowledge.listed(tenant, namespace, query.limit, start_of(query, listing))
    return page_reply(KnowledgePage, page.entries, page.more, listing)


@routes.post("/v1/knowledge/resolve", answer=KnowledgeResolved)
def resolve_knowledge(app: App, request: Request, body: ResolveRequest) -> Reply:
    """A query with learnt terms and rules applied."""
    commenting, tenant = _COMMENTING[body.comments], request.principal.tenant
    shown = _resolved(app.knowledge.resolve(tenant, body.text, body.store, body.filter, commenting))
    counts = {"replaced": len(shown.replacements), "rules": len(shown.rules)}
    return Reply(200, shown, log=counts | shown.diagnostics.document())


@routes.post("/v1/knowledge/learn", answer=KnowledgeLearnt, errors=(409,), idempotent=True)
def learn_knowledge(app: App, request: Request, body: LearnRequest) -> Reply:
    """Learns what a text says a word means.

    A replay reads it from the request's own text.
    """

    def work(_attempt: Attempt) -> Answer:
        asked = request.principal.tenant, body.text, body.store, request.now
        lesson = app.knowledge.learn(*asked, dry_run=bool(body.dry_run), author=_author(request))
        return Answer(200, {"learnt": lesson is not None})

    with located(_SOURCES.get):
        lesson = lesson_of(body.text, body.store)
        answer = idempotent(app, request, work)
    shown = _learnt(lesson, bool(body.dry_run))
    return answer.reply(shown, {"learnt": lesson is not None, "stored": shown.stored})


def call_json(call: ManageKnowledge) -> dict[str, Any]:
    """A call of the tool `manage_knowledge`."""
    parameters = {"namespace": call.namespace, "key": call.key, "value": dict(call.value), "action": call.action}
    return {"tool": "manage_knowledge", "parameters": parameters}


def _entry(app: App, request: Request) -> KnowledgeEntry:
    with located(_SOURCES.get):
        return app.knowledge.get(request.principal.tenant, request.path["namespace"], request.path["key"])


def _author(request: Request) -> KnowledgeAuthor | None:
    """In whose name it is written, where the credentials are one user's."""
    principal = request.principal
    if not principal.limited_to_subject or principal.subject is None:
        return None
    scope = Scope(principal.tenant, principal.subject)
    return KnowledgeAuthor(scope, user_in(scope))


def _entry_reply(entry: KnowledgeEntry) -> Reply:
    shown = KnowledgeEntryAnswer.model_validate(entry)
    return Reply(200, shown, etag(entry.version), log={"version": entry.version})


def _expected_for_writing(app: App, request: Request) -> int | None:
    """The version to replace; None for any. Raises VersionMismatch where the request names one that is not there."""
    if not request.names_version:
        return None
    try:
        return _expected(request, _entry(app, request))
    except NotFound:
        raise VersionMismatch("there is nothing that this could be the version of") from None


def _expected(request: Request, entry: KnowledgeEntry) -> int | None:
    return request.expected(entry.version, "the entry changed since it was read")


def _resolved(found: Resolved) -> KnowledgeResolved:
    return KnowledgeResolved.made_of(found.resolution, diagnostics=found)


def _learnt(lesson: Lesson | None, dry_run: bool) -> KnowledgeLearnt:
    if lesson is None:
        return KnowledgeLearnt(stored=False)
    call = ManageKnowledgeCall.model_validate(call_json(lesson.call))
    return KnowledgeLearnt(stored=not dry_run, tool_call=call, confirmation=lesson.confirmation)
