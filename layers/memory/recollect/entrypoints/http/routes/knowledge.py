"""`/v1/knowledge`: what terms and rules mean to a tenant, how a query reads by them, and what a text teaches."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from recollect.app import App
from recollect.core.errors import InvalidInput, NotFound, VersionMismatch
from recollect.core.ids import IdSeed
from recollect.core.items import of_tenant
from recollect.core.scope import Scope
from recollect.entrypoints.http.cursors import Listing, open_cursor, seal
from recollect.entrypoints.http.fields import Field, Shape, choice, flag, identifier, in_query, text, whole
from recollect.entrypoints.http.idempotency import REPLAYED, claim_of
from recollect.entrypoints.http.messages import Reply, Request
from recollect.entrypoints.http.preconditions import HEADER, etag, expects, matches
from recollect.entrypoints.http.questions import TEXT_BYTES
from recollect.entrypoints.http.representations import knowledge_json
from recollect.entrypoints.http.routing import COMMON_STATUSES, READ_STATUSES, Route
from recollect.entrypoints.http.run_once import Answer, run_once
from recollect.knowledge.entries import KnowledgeEntry
from recollect.knowledge.learning import ManageKnowledge
from recollect.knowledge.resolution import Commenting
from recollect.knowledge.use_cases import KnowledgeAuthor, Lesson, Resolved, lesson_of
from recollect.memories.audit import Actor, ActorKind

_LEARN_ROUTE = "POST /v1/knowledge/learn"
_SOURCES = {"namespace": "path", "key": "path", "value": "body", "store": "body"}
_COMMENTING = {"rules": Commenting(), "all": Commenting(terms=True), "none": Commenting(rules=False)}
_PAGE = {"limit": in_query(whole(1, 200, default=50)), "cursor": text(max_bytes=4096)}

LIST_QUERY = Shape("KnowledgeListQuery", _PAGE)
ALL_QUERY = Shape(
    "KnowledgeQuery",
    {
        **_PAGE,
        "format": choice("entries", "prompt", default="entries").described("`prompt`: the sections of a prompt."),
        "store": identifier().described("With `format=prompt`: only what holds in this store."),
    },
)
VALUE_BODY = Shape(
    "KnowledgeValue",
    {
        "value": Field(lambda value: value, {})
        .needed()
        .described(
            "In `vocabulary` {target, type?, description?, confidence?, source?}, in `rule` {condition, applies_to?, "
            "description?}, in `correction` {instruction, trigger}, each as an object or as its JSON text; in any "
            "other namespace any JSON of at most 16 KiB."
        )
    },
)
RESOLVE_BODY = Shape(
    "ResolveRequest",
    {
        "text": text(max_bytes=TEXT_BYTES).needed(),
        "store": identifier().needed().described("The current store; its terms go before global ones."),
        "filter": text(max_bytes=TEXT_BYTES).described("The filter of the query so far; never read, only joined."),
        "comments": choice(*_COMMENTING, default="rules").described("What the comments tell of."),
    },
)
LEARN_BODY = Shape(
    "LearnRequest",
    {
        "text": text(max_bytes=TEXT_BYTES).needed().described("What the user said."),
        "store": identifier().described("Absent: what is learnt holds in every store."),
        "dry_run": flag().described("Says what would be stored, and stores nothing."),
    },
)


def put_entry(app: App, request: Request) -> Reply:
    """Makes or replaces an entry."""
    with _located():
        entry = app.knowledge.put(
            request.principal.tenant,
            request.path["namespace"],
            request.path["key"],
            request.values["value"],
            request.now,
            expected=_expected_for_writing(app, request),
            author=_author(request),
        )
    return _entry_reply(entry)


def get_entry(app: App, request: Request) -> Reply:
    """One entry."""
    return _entry_reply(_entry(app, request))


def delete_entry(app: App, request: Request) -> Reply:
    """Deletes an entry."""
    expected = _expected(request, _entry(app, request))
    place = request.path["namespace"], request.path["key"]
    app.knowledge.delete(request.principal.tenant, *place, request.now, expected, _author(request))
    return Reply(204, "")


def list_namespace(app: App, request: Request) -> Reply:
    """A page of a namespace, by key."""
    return _page(app, request, request.path["namespace"])


def list_all(app: App, request: Request) -> Reply:
    """A page of everything, by namespace and key; or what a prompt says of it."""
    if request.query["format"] == "entries":
        return _page(app, request, None)
    section = app.knowledge.section(request.principal.tenant, request.query.get("store"))
    log = {"entries": len(section.entries), "skipped": section.skipped, "cut": section.cut}
    return Reply(200, {"prompt": section.text or ""}, log=log)


def resolve(app: App, request: Request) -> Reply:
    """Replaces learnt terms and adds the conditions of learnt rules."""
    values = request.values
    commenting = _COMMENTING[values["comments"]]
    tenant = request.principal.tenant
    found = app.knowledge.resolve(tenant, values["text"], values["store"], values.get("filter"), commenting)
    body = _resolved_json(found)
    log = {"replaced": len(body["replacements"]), "rules": len(body["rules"]), **body["diagnostics"]}
    return Reply(200, body, log=log)


def learn(app: App, request: Request) -> Reply:
    """Learns what the text says a word means. A replay tells it from the request's own text."""
    values = request.values
    seed = app.ids.seed(int(time.time() * 1000))

    def work(_seed: IdSeed) -> Answer:
        asked = values["text"], values.get("store"), request.now
        dry_run, author = values.get("dry_run", False), _author(request)
        lesson = app.knowledge.learn(request.principal.tenant, *asked, dry_run=dry_run, author=author)
        return Answer(200, {"learnt": lesson is not None})

    with _located():
        lesson = lesson_of(values["text"], values.get("store"))
        claim = claim_of(request, _LEARN_ROUTE, seed)
        answer = run_once(app.parts.idempotency, claim, work) if claim else work(seed)
    body = _learnt_json(lesson, values.get("dry_run", False))
    log = {"learnt": lesson is not None, "stored": body["stored"], "replayed": answer.replayed}
    return Reply(answer.status, body, REPLAYED if answer.replayed else {}, log=log)


def call_json(call: ManageKnowledge) -> dict[str, Any]:
    """A call of the tool `manage_knowledge`."""
    parameters = {"namespace": call.namespace, "key": call.key, "value": dict(call.value), "action": call.action}
    return {"tool": "manage_knowledge", "parameters": parameters}


def _entry(app: App, request: Request) -> KnowledgeEntry:
    with _located():
        return app.knowledge.get(request.principal.tenant, request.path["namespace"], request.path["key"])


def _author(request: Request) -> KnowledgeAuthor | None:
    """In whose name it is written, where the credentials are one user's."""
    principal = request.principal
    if not principal.limited_to_subject or principal.subject is None:
        return None
    scope = Scope(principal.tenant, principal.subject)
    return KnowledgeAuthor(scope, Actor(ActorKind.USER, principal.subject))


def _entry_reply(entry: KnowledgeEntry) -> Reply:
    return Reply(200, knowledge_json(entry), {"ETag": etag(entry.version)}, log={"version": entry.version})


def _expected_for_writing(app: App, request: Request) -> int | None:
    """The version to replace; None for any. Raises VersionMismatch where the request names one that is not there."""
    if HEADER.lower() not in request.call.headers:
        return None
    try:
        return _expected(request, _entry(app, request))
    except NotFound:
        raise VersionMismatch("there is nothing that this could be the version of") from None


def _expected(request: Request, entry: KnowledgeEntry) -> int | None:
    headers = request.call.headers
    if not matches(headers, entry.version):
        raise VersionMismatch("the entry changed since it was read")
    return entry.version if expects(headers) else None


def _page(app: App, request: Request, namespace: str | None) -> Reply:
    query, tenant = request.query, request.principal.tenant
    deployment = f"{app.settings.engines}:{app.settings.table}"
    listing = Listing(deployment, "knowledge", of_tenant(tenant), {"namespace": namespace})
    after = open_cursor(query["cursor"], listing, 1)[0] if "cursor" in query else None
    page = app.knowledge.listed(tenant, namespace, query["limit"], after)
    body: dict[str, Any] = {"entries": [knowledge_json(entry) for entry in page.entries]}
    if page.more is not None:
        body["next_cursor"] = seal([page.more], listing)
    return Reply(200, body, log={"returned": len(page.entries)})


def _resolved_json(found: Resolved) -> dict[str, Any]:
    resolution = found.resolution
    return {
        "text": resolution.text,
        "filter": resolution.filter,
        "replacements": [
            {"key": one.key, "term": one.term, "target": one.target, "count": one.count}
            for one in resolution.replacements
        ],
        "rules": [{"key": rule.key, "condition": rule.condition} for rule in resolution.rules],
        "comments": list(resolution.comments),
        "diagnostics": {"skipped": found.skipped, "cut": found.cut},
    }


def _learnt_json(lesson: Lesson | None, dry_run: bool) -> dict[str, Any]:
    if lesson is None:
        return {"stored": False}
    return {"stored": not dry_run, "tool_call": call_json(lesson.call), "confirmation": lesson.confirmation}


@contextmanager
def _located() -> Iterator[None]:
    """Says of what the domain refuses whether it stood in the path or in the body."""
    try:
        yield
    except InvalidInput as error:
        part = _SOURCES.get(str(error.loc[0])) if error.loc else None
        if part is None:
            raise
        raise InvalidInput(str(error), (part, *error.loc)) from None


_ENTRY = "/v1/knowledge/{namespace}/{key}"
_READ = (200, *READ_STATUSES)
_WRITE = (200, *COMMON_STATUSES)


def _route(method: str, path: str, operation: str, summary: str, handle: Any, answer: str, **more: Any) -> Route:
    return Route(method=method, path=path, operation=operation, summary=summary, handle=handle, answer=answer, **more)


ROUTES = (
    _route("PUT", _ENTRY, "putKnowledge", "Makes or replaces an entry", put_entry, "KnowledgeEntry",
           body=VALUE_BODY, statuses=(409, 412, *_WRITE)),
    _route("GET", _ENTRY, "getKnowledge", "One entry", get_entry, "KnowledgeEntry", statuses=(404, *_READ)),
    _route("DELETE", _ENTRY, "deleteKnowledge", "Deletes an entry", delete_entry, "Nothing",
           statuses=(204, 404, 412, *READ_STATUSES)),
    _route("GET", "/v1/knowledge/{namespace}", "listNamespace", "The entries of a namespace", list_namespace,
           "KnowledgePage", query=LIST_QUERY, statuses=_READ),
    _route("GET", "/v1/knowledge", "listKnowledge", "All entries, or what a prompt says of them", list_all,
           "KnowledgePage", query=ALL_QUERY, statuses=_READ),
    _route("POST", "/v1/knowledge/resolve", "resolveKnowledge", "A query with learnt terms and rules applied", resolve,
           "KnowledgeResolved", body=RESOLVE_BODY, statuses=_WRITE),
    _route("POST", "/v1/knowledge/learn", "learnKnowledge", "Learns what a text says a word means", learn,
           "KnowledgeLearnt", body=LEARN_BODY, statuses=(409, *_WRITE), idempotent=True),
)  # fmt: skip
