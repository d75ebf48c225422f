"""Memories: saved directly, read, listed, edited, deleted, each with its history (`docs/memories.md`)."""

from typing import Annotated, Any, ClassVar

from pydantic import Field, RootModel

from recollect.app import App
from recollect.core.errors import InvalidInput
from recollect.core.scope import Scope
from recollect.deletion.forget_matching import MOST_AT_ONCE, Matching
from recollect.entrypoints.http.cursors import cursor_to, listing_of, open_cursor, page_reply, start_of
from recollect.entrypoints.http.headers import Answer, Attempt, countdown, idempotent
from recollect.entrypoints.http.messages import Reply, Request, etag, user_in
from recollect.entrypoints.http.models import (
    AnswerModel,
    Conditions,
    ConditionsText,
    Content,
    Count,
    Cursor,
    Identifier,
    Importance,
    Instant,
    Keywords,
    Maybe,
    Metadata,
    NamespaceLabels,
    NamespacePath,
    Narrowed,
    OneOf,
    Paged,
    RequestModel,
    SourceName,
    Vector,
    Whose,
    embedding_dimension,
    fitted,
    packed,
    page_of,
    within_page,
)
from recollect.entrypoints.http.representations import MemoryAnswer, MemoryVersionAnswer, filter_in, memory_if_there
from recollect.entrypoints.http.routes.forgetting import MOST_SECONDS, Rejectable, rejecting
from recollect.entrypoints.http.routing import USER, Routes
from recollect.memories.memory import Memory, MemoryDraft, MemoryStatus
from recollect.memories.reading import MemoryQuery
from recollect.memories.save import MemoryChange
from recollect.retrieval.attributes import MEMORY_FIELDS

_MEMORIES = f"{USER}/memories"
_MEMORY = f"{_MEMORIES}/{{memory_id}}"
_SELECTING = ("agent_id", "app_id", "namespace", "namespace_prefix", "status", "key", "filter")
_SAMPLES = 20
_RESERVE_SECONDS = 5.0
_NARROWED = ("status", "key", "source_event_id", "agent_id", "app_id", "namespace", "namespace_prefix")
_AS_GIVEN = ("content", "importance", "source", "timestamp", "key", "expires_at", "metadata")


class NewMemory(Whose):
    persona_id: Maybe[Identifier] = Field(None, description="Absent: the default persona.")
    household_id: Maybe[Identifier] = None
    content: Content = Field(description="One thing worth remembering; at most 64 KiB of UTF-8.")
    embedding: Maybe[Vector] = Field(
        None, description="The caller's own vector, of the embedder's dimension; absent: made here."
    )
    importance: Maybe[Importance] = Field(None, description="Absent: 0.5.")
    source: Maybe[SourceName] = Field(None, description="Absent: `user`.")
    keywords: Maybe[Keywords] = None
    timestamp: Maybe[Instant] = Field(None, description="Since when it holds; absent: now. Without a zone it is UTC.")
    key: Maybe[Identifier] = Field(None, description="The slot whose value this is: the newest of a key is its value.")
    expires_at: Maybe[Instant] = Field(None, description="Gone from every read from that instant on.")
    metadata: Maybe[Metadata] = Field(None, description="At most 16 KiB of JSON, 8 levels.")


class MemoryPatch(RequestModel):
    cleared_by_null: ClassVar[frozenset[str]] = frozenset({"expires_at"})

    content: Maybe[Content] = Field(
        None, description="Other words; those before stay in the history, and are found no longer."
    )
    importance: Maybe[Importance] = None
    keywords: Maybe[Keywords] = None
    expires_at: Instant | None = Field(None, description="Gone from every read from that instant on; null: never.")
    metadata: Maybe[Metadata] = Field(None, description="Replaces all of it. At most 16 KiB of JSON, 8 levels.")


class EventCorrection(RequestModel):
    content: Content = Field(description="What is remembered of the event from now on.")
    importance: Maybe[Importance] = None
    keywords: Maybe[Keywords] = None


class MemoriesQuery(Narrowed, Paged):
    status: Maybe[Annotated[MemoryStatus, OneOf(*MemoryStatus)]] = Field(
        None, description="Only those; `active` ones are current. Absent: all, with those that were superseded."
    )
    key: Maybe[Identifier] = None
    source_event_id: Maybe[Identifier] = Field(None, description="The memory that this event is in.")
    agent_id: Maybe[Identifier] = None
    app_id: Maybe[Identifier] = None
    namespace: Maybe[NamespacePath] = Field(None, description="Exactly this one: its labels with slashes between.")
    namespace_prefix: Maybe[NamespacePath] = Field(None, description="This one and all below it.")
    filter: Maybe[ConditionsText] = Field(None, description="The grammar of docs/filters.md, as JSON text.")


class DeleteMemories(Whose):
    """Which memories go: what is named must all hold; something must be named."""

    owners = (*Whose.owners, "namespace_prefix")

    persona_id: Maybe[Identifier] = Field(None, description="Absent: every persona.")
    household_id: Maybe[Identifier] = Field(None, description="Absent: every household.")
    namespace: Maybe[NamespaceLabels] = Field(None, description="Exactly this one.")
    namespace_prefix: Maybe[NamespaceLabels] = Field(None, description="This one and all below it.")
    status: Maybe[Annotated[MemoryStatus, OneOf(*MemoryStatus)]] = Field(None, description="Absent: ended ones too.")
    key: Maybe[Identifier] = None
    filter: Maybe[Conditions] = Field(None, description="The grammar of docs/filters.md.")
    dry_run: bool = Field(False, description="Counts, and deletes nothing.")
    limit: Annotated[int, Field(ge=1, le=MOST_AT_ONCE)] = Field(MOST_AT_ONCE, description="Memories of this call.")
    cursor: Maybe[Cursor] = Field(None, description="`next_cursor` of the call before.")


class MemoriesDeleted(AnswerModel):
    matched: Count = Field(description="Of this call; where there is a `next_cursor`, there may be more.")
    deleted: Count
    memory_ids: list[str] = Field(description="Some of them, at most 20.")
    next_cursor: Maybe[str] = None


MemoriesPage = page_of("MemoriesPage", "memories", MemoryAnswer)


class MemoryHistory(AnswerModel):
    history: list[MemoryVersionAnswer]


class MemoryRefused(AnswerModel):
    refused: list[str]


class MemorySaved(RootModel[MemoryAnswer | MemoryRefused], defer_build=True):
    """The memory; of a replayed answer whose memory was deleted since, its id."""


routes = Routes()


@routes.post("/v1/memories", answer=MemorySaved, good=(200, 201), errors=(409,), idempotent=True)
def save_memory(app: App, request: Request, body: NewMemory) -> Reply:
    """Saves one memory; where one already says the same, answers 200 with that one.

    An idempotency record holds its id alone.
    """
    scope = request.scope(body)
    draft = _draft(app, body)
    rules = app.begin_rules(scope.tenant)  # beside the claim of the key

    def work(attempt: Attempt) -> Answer:
        app.timeline.limits.take(scope.tenant, 1, rules.result())
        saved = app.memories.store.save(scope, draft, attempt.seed, request.now, user_in(scope), rules.result())
        return Answer(201 if saved.created else 200, {"id": saved.memory.id}, saved.memory)

    answer = idempotent(app, request, work)
    memory = answer.made or memory_if_there(app, scope, answer.body["id"], request.now)
    log = {"created": answer.status == 201, "refused": memory is None}
    if memory is None:
        return answer.reply(MemoryRefused(refused=[answer.body["id"]]), log)
    return answer.reply(MemoryAnswer.model_validate(memory), log, etag(memory.version))


def _draft(app: App, body: NewMemory) -> MemoryDraft:
    given: dict[str, Any] = {name: one for name, one in body.given().items() if name in _AS_GIVEN}
    embedding = packed(body.embedding, embedding_dimension(app.settings), ("body", "embedding"))
    return MemoryDraft(**given, embedding=embedding, keywords=tuple(body.keywords or ()), labels=body.labels)


@routes.get(_MEMORIES, answer=MemoriesPage)
def list_memories(app: App, request: Request, query: MemoriesQuery) -> Reply:
    """Memories, the last made first; superseded ones too, unless `status` is `active`."""
    scope = request.scope(query)
    listing = listing_of(app, "memories", scope, query)
    after = start_of(query, listing)
    given = {name: getattr(query, name) for name in _NARROWED}
    wanted = MemoryQuery(**given, where=filter_in(query.filter, MEMORY_FIELDS, "query"))

    def read(limit: int) -> tuple[list[MemoryAnswer], str | None]:
        page = app.memories.listing.page(scope, wanted, limit, after, request.now)
        return [MemoryAnswer.model_validate(memory) for memory in page.memories], page.more

    return page_reply(MemoriesPage, *fitted(read, query.limit), listing)


@routes.get(_MEMORY, answer=MemoryAnswer, errors=(404,))
def get_memory(app: App, request: Request, query: Narrowed) -> Reply:
    """One memory."""
    return _reply(_memory(app, request, request.scope(query)))


@routes.add("PATCH", _MEMORY, answer=MemoryAnswer, errors=(404, 409, 412, 428), needs_version=True)
def patch_memory(app: App, request: Request, query: Narrowed, body: MemoryPatch) -> Reply:
    """Edits a memory; what it was stays in its history."""
    changes = changes_of(body)
    if not changes:
        raise InvalidInput("names nothing to change", ("body",))
    scope = request.scope(query)
    change = MemoryChange(changes, user_in(scope), request.accepts)
    return _reply(app.memories.store.patch(scope, request.path["memory_id"], change, request.now))


def changes_of(body: RequestModel) -> dict[str, Any]:
    """What the body names, as a memory has it."""
    changes = body.given()
    return changes | ({"keywords": tuple(changes["keywords"])} if "keywords" in changes else {})


@routes.post(
    f"{USER}/events/{{event_id}}/correct", answer=MemoryAnswer, good=(201,), errors=(404, 409, 412), idempotent=True
)
def correct_event(app: App, request: Request, query: Narrowed, body: EventCorrection) -> Reply:
    """Sets right what is remembered of an event that has no memory yet.

    What was said stays. The memory's first version has those words, the second these; `If-Match` names the event's
    version.
    """
    scope, event_id = request.scope(query), request.path["event_id"]
    change = MemoryChange(changes_of(body), user_in(scope), request.accepts)

    def work(attempt: Attempt) -> Answer:
        app.timeline.limits.take(scope.tenant, 1, app.rules.resolved(scope.tenant))
        use = app.memories.corrections
        memory = use.correct(scope, event_id, change, request.now, again=attempt.again)
        return Answer(201, {"id": memory.id}, memory)

    answer = idempotent(app, request, work, about=[*request.path.values(), query.given()])
    memory = answer.made or app.memories.store.one(scope, answer.body["id"], request.now)
    return answer.reply(MemoryAnswer.model_validate(memory), {"version": memory.version}, etag(memory.version))


@routes.delete(_MEMORY, good=(204,), errors=(404, 412))
def delete_memory(app: App, request: Request, query: Rejectable) -> Reply:
    """Deletes a memory with the events it was made from; they are refused when they are sent again.

    With `reject` its value is refused from now on.
    """
    scope = request.scope(query)
    memory = _memory(app, request, scope)

    def forget() -> Reply:
        forgotten = app.deletion.events.memory(
            scope, memory, now=request.now, actor=user_in(scope), accepts=request.accepts
        )
        return Reply(204, "", log={"deleted": len(forgotten.event_ids)})

    if query.reject == "false":
        return forget()
    owner = Scope(scope.tenant, scope.user_id, memory.persona_id, memory.household_id)
    with app.deletion.values.rejected(owner, memory.content, rejecting(request, scope, "delete", memory.id)):
        return forget()


@routes.post("/v1/memories/delete", answer=MemoriesDeleted, idempotent=True)
def delete_memories(app: App, request: Request, body: DeleteMemories) -> Reply:
    """Deletes all memories that match, each as by itself; with `dry_run` it says how many there are.

    A call ends after 500 memories or some seconds; `next_cursor` leads on.
    """
    scope = request.scope(body)
    listing = listing_of(app, "delete", scope, body)
    left = countdown(min(request.call.remaining_seconds - _RESERVE_SECONDS, MOST_SECONDS))
    given = {name: getattr(body, name) for name in _SELECTING if name != "filter"}
    query = MemoryQuery(**given, where=filter_in(body.filter, MEMORY_FIELDS))
    if query == MemoryQuery():
        raise InvalidInput("names no memories: all of a user go with DELETE /v1/users/{user_id}", ("body", "filter"))
    after = None if body.cursor is None else str(open_cursor(body.cursor, listing, 1)[0])
    matching = Matching(query, body.limit, after, left)

    def work(_: Attempt) -> Answer:
        matched = app.deletion.matching.count(scope, matching, request.now) if body.dry_run else None
        found = matched or app.deletion.matching.delete(scope, matching, request.now, user_in(scope))
        deleted = 0 if body.dry_run else len(found.memory_ids)
        samples, more = found.memory_ids[:_SAMPLES], cursor_to(found.more, listing)
        shown = MemoriesDeleted(
            matched=len(found.memory_ids), deleted=deleted, memory_ids=list(samples), next_cursor=more
        )
        return Answer(200, shown.document())

    answer = idempotent(app, request, work)
    shown = MemoriesDeleted.model_validate(answer.body)
    return answer.reply(shown, {"matched": shown.matched, "deleted": shown.deleted})


@routes.get(f"{_MEMORY}/history", answer=MemoryHistory, errors=(404,))
def memory_history(app: App, request: Request, query: Narrowed) -> Reply:
    """Every version of a memory, the oldest first, each in the words that it told: without what of it had ended.

    Where they are too many for one answer, the first are left out.
    """
    scope = request.scope(query)
    versions = app.memories.versions.read(scope, _memory(app, request, scope), request.now)
    shown = within_page([MemoryVersionAnswer.of(one) for one in reversed(versions)])
    return Reply(200, MemoryHistory(history=list(reversed(shown))), log={"versions": len(versions)})


def _reply(memory: Memory) -> Reply:
    log = {"version": memory.version, "status": memory.status.value}
    return Reply(200, MemoryAnswer.model_validate(memory), etag(memory.version), log=log)


def _memory(app: App, request: Request, scope: Scope) -> Memory:
    return app.memories.store.one(scope, request.path["memory_id"], request.now)
