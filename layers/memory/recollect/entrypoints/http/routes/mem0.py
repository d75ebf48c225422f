"""mem0's API, so that its client is a client of ours unchanged (mem0ai 2.2.1; docs/integrations/mem0.md).

A stack has it where it takes API keys, which mem0's client sends as `Authorization: Token`. What mem0 calls a bad
filter is a 400 here too; its client reads `detail` in `application/json` alone.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from functools import wraps
from typing import Annotated, Any

from pydantic import ConfigDict, Field

from recollect.app import App
from recollect.core.errors import Conflict, Forbidden, InvalidInput, NotFound, VersionMismatch
from recollect.core.filter import AllOf, Condition, Operator, holds
from recollect.core.idempotency import retry_on_conflict
from recollect.core.scope import Scope
from recollect.core.time import EARLIEST, iso, parse_instant
from recollect.entrypoints.http.mem0.entities import (
    ENTITIES,
    UPDATED_AT,
    Entities,
    kind_and_name,
    own_metadata,
    owner_of,
    reserved_metadata,
    split_memory_id,
)
from recollect.entrypoints.http.mem0.filters import Selection, selection_of
from recollect.entrypoints.http.mem0.memories import (
    Asked,
    end_of_day,
    every_memory,
    filtered_form,
    found,
    histories_json,
    in_pages,
    memories_of,
    memory_json,
    selected,
)
from recollect.entrypoints.http.mem0.storing import Addition, added_as_given, added_by_rules, said_in
from recollect.entrypoints.http.messages import Reply, Request, user_in
from recollect.entrypoints.http.models import (
    CONTENT_BYTES,
    Content,
    Identifier,
    Instant,
    Maybe,
    Metadata,
    RequestModel,
    Text,
    json_text,
)
from recollect.entrypoints.http.problems import Kind, problem, reply_to
from recollect.entrypoints.http.routes.forgetting import erase_user
from recollect.entrypoints.http.routing import Routes
from recollect.memories.memory import Memory
from recollect.memories.save import MemoryChange
from recollect.retrieval.filters import TimeWindow
from recollect.timeline.timeline import WindowQuery

DEFAULT_THRESHOLD = 0.1
DEFAULT_TOP_K = 10
MOST_TOP_K = 1_000
MOST_IN_BATCH = 1_000
MOST_USERS = 1_000
_PAGE_SIZE = 100
_MOST_MESSAGES = 100
_EVENTS_PAGE = 100
_JSON = "application/json"
_BAD_REQUEST = Kind(400, "bad-request", "The request is none of mem0's")


class Mem0Body(RequestModel):
    """A body of mem0's; what it tells mem0's own model, such as `custom_instructions`, is passed over."""

    model_config = ConfigDict(extra="ignore")


class Mem0Query(RequestModel):
    org_id: Maybe[str] = None
    project_id: Maybe[str] = None


class EntitiesQuery(Mem0Query):
    user_id: Maybe[Identifier] = None
    agent_id: Maybe[Identifier] = None
    app_id: Maybe[Identifier] = None
    run_id: Maybe[Identifier] = None


class PageQuery(Mem0Query):
    page: Annotated[str, Field(pattern=r"^[1-9][0-9]{0,5}$")] = "1"
    page_size: Annotated[str, Field(pattern=r"^[1-9][0-9]{0,3}$")] = str(_PAGE_SIZE)


class DeleteQuery(Mem0Query):
    delete_linked: Maybe[str] = None


class Mem0Message(Mem0Body):
    role: Maybe[str] = None
    content: Any = None


class AddMemories(Mem0Body):
    messages: Annotated[list[Mem0Message], Field(min_length=1, max_length=_MOST_MESSAGES)]
    user_id: Maybe[Identifier] = None
    agent_id: Maybe[Identifier] = None
    app_id: Maybe[Identifier] = None
    run_id: Maybe[Identifier] = None
    filters: Any = None
    metadata: Maybe[Metadata] = None
    infer: Maybe[bool] = None
    timestamp: Maybe[Instant] = None
    expiration_date: Maybe[str] = None


class Selecting(Mem0Body):
    """Entities stand in `filters`, as mem0's third version has it."""

    user_id: Any = None
    agent_id: Any = None
    app_id: Any = None
    run_id: Any = None
    filters: Any = None
    start_date: Maybe[Instant] = None
    end_date: Maybe[Instant] = None
    categories: Maybe[list[str]] = None


class SearchMemories(Selecting):
    query: Annotated[str, Text(CONTENT_BYTES, blank=False)]
    top_k: Annotated[int, Field(ge=1, le=MOST_TOP_K)] = DEFAULT_TOP_K
    threshold: Maybe[Annotated[float, Field(ge=0, le=1)]] = None
    rerank: Maybe[bool] = None
    reference_date: Any = None


class UpdateMemory(Mem0Body):
    cleared_by_null = frozenset({"expiration_date"})

    text: Maybe[Content] = None
    metadata: Maybe[Metadata] = None
    expiration_date: str | None = None
    timestamp: Any = None


class BatchEntry(UpdateMemory):
    memory_id: str


class BatchOfMemories(Mem0Body):
    memories: Annotated[list[BatchEntry], Field(min_length=1, max_length=MOST_IN_BATCH)]


class Mem0Feedback(Mem0Body):
    memory_id: str
    feedback: Maybe[str] = None


routes = Routes()
Handler = Callable[..., Reply]


def as_mem0(handler: Handler) -> Handler:
    """Answers a refusal as mem0's client reads it: bad input with 400, every one as `application/json`."""

    @wraps(handler)
    def answered(*given: Any, **more: Any) -> Reply:
        try:
            return handler(*given, **more)
        except InvalidInput as error:
            place = ".".join(map(str, error.loc))
            refused = problem(_BAD_REQUEST, f"{place}: {error}" if place else str(error))
        except (NotFound, Conflict, Forbidden, VersionMismatch) as error:
            refused = reply_to(error)
        return replace(refused, content_type=_JSON)

    return answered


def _answered(body: Any, **log: Any) -> Reply:
    return Reply(200, json_text(body), log=log)


@routes.get("/v1/ping/", query=Mem0Query, documented=False)
@as_mem0
def ping_mem0(_app: App, request: Request) -> Reply:
    """Says that the key is known."""
    tenant = request.principal.tenant
    return _answered({"status": "ok", "org_id": "recollect", "project_id": tenant, "user_email": None})


@routes.post("/v3/memories/add/", documented=False)
@as_mem0
def add_mem0_memories(app: App, request: Request, body: AddMemories) -> Reply:
    """Stores messages, and the memories that they make, at once."""
    addition = _addition(body)
    scope = _scope(request, addition.entities.owner)
    add = added_as_given if body.infer is False else added_by_rules
    results = add(app, scope.tenant, addition, request.now) if addition.said else []
    app.timeline.known_users.note(scope, request.now)
    shown = {"status": "SUCCEEDED", "message": "The messages are stored.", "results": results}
    return _answered(shown, messages=len(addition.said), memories=len(results))


def _addition(body: AddMemories) -> Addition:
    given = body.filters if isinstance(body.filters, dict) else {}
    named = {name: getattr(body, name) or given.get(name) for name in ENTITIES}
    return Addition(
        said=said_in([{"role": one.role or "user", "content": one.content} for one in body.messages]),
        entities=Entities.of(named),
        metadata=body.metadata or {},
        timestamp=body.timestamp,
        expires_at=_expiry(body.expiration_date),
    )


def _expiry(given: str | None) -> datetime | None:
    """The end of the day that is given; None for the last day there is, which means never. Raises InvalidInput."""
    if given is None:
        return None
    try:
        day = date.fromisoformat(given)
    except ValueError:
        raise InvalidInput("must be a date, YYYY-MM-DD", ("expiration_date",)) from None
    if day.year < EARLIEST.year:
        raise InvalidInput("must lie in 1900 or later", ("expiration_date",))
    return None if day == date.max else end_of_day(datetime(day.year, day.month, day.day, tzinfo=UTC))


@routes.post("/v3/memories/search/", documented=False)
@as_mem0
def search_mem0_memories(app: App, request: Request, body: SearchMemories) -> Reply:
    """Finds memories."""
    asked = Asked(
        text=body.query,
        wanted=body.top_k,
        least_score=DEFAULT_THRESHOLD if body.threshold is None else body.threshold,
        rerank=bool(body.rerank),
        as_of=_reference(body.reference_date),
        now=request.now,
    )
    results = found(app, request.principal.tenant, _selection(request, body), asked)
    return _answered({"results": results}, returned=len(results))


def _reference(given: object) -> datetime | None:
    """The instant that is asked about: of a day its end."""
    if given is None:
        return None
    moment = parse_instant(given)
    of_a_day = isinstance(given, str) and len(given.strip()) == len("2024-05-01")
    return moment + timedelta(days=1, microseconds=-1) if of_a_day else moment


def _selection(request: Request, body: Selecting) -> Selection:
    misplaced = next((name for name in ENTITIES if getattr(body, name) is not None), None)
    if misplaced is not None:
        raise InvalidInput("stands in filters", (misplaced,))
    if body.categories:
        raise InvalidInput("no memory has categories here: filter by metadata", ("categories",))
    selection = selection_of(body.filters)
    for owner in selection.owners:
        request.check_user(owner)
    bounds = ((Operator.GTE, body.start_date), (Operator.LTE, body.end_date))
    between = [Condition(("created_at",), operator, iso(at)) for operator, at in bounds if at is not None]
    return replace(selection, filter=AllOf((selection.filter, *between))) if between else selection


@routes.post("/v3/memories/", documented=False)
@as_mem0
def list_mem0_memories(app: App, request: Request, query: PageQuery, body: Selecting) -> Reply:
    """A page of the memories that filters select, with how many there are."""
    chosen = selected(app, request.principal.tenant, _selection(request, body), request.now)
    listed = [memory_json(memory) for memory in chosen]
    return _answered(in_pages(listed, int(query.page), int(query.page_size), "/v3/memories/"), count=len(listed))


_MEMORY = "/v1/memories/{memory_id}/"


@routes.get(_MEMORY, query=Mem0Query, documented=False)
@as_mem0
def get_mem0_memory(app: App, request: Request) -> Reply:
    """One memory."""
    _, memory = _memory(app, request, request.path["memory_id"])
    return _answered(memory_json(memory))


@routes.add("PUT", _MEMORY, query=Mem0Query, documented=False)
@as_mem0
def update_mem0_memory(app: App, request: Request, body: UpdateMemory) -> Reply:
    """Other words, other metadata, another end."""
    return _answered(memory_json(_updated(app, request, request.path["memory_id"], body)))


@routes.delete(_MEMORY, query=DeleteQuery, documented=False)
@as_mem0
def delete_mem0_memory(app: App, request: Request) -> Reply:
    """Deletes a memory with the messages that it was made from."""
    _delete(app, request, request.path["memory_id"])
    return _answered({"message": "Memory deleted successfully!"})


@routes.get(f"{_MEMORY}history/", query=Mem0Query, documented=False)
@as_mem0
def get_mem0_history(app: App, request: Request) -> Reply:
    """Every version of a memory, the oldest first."""
    scope, memory = _memory(app, request, request.path["memory_id"])
    return _answered(histories_json(app.memories.versions.read(scope, memory, request.now)))


def _memory(app: App, request: Request, given: str) -> tuple[Scope, Memory]:
    owner, memory_id = split_memory_id(given)
    scope = _scope(request, owner)
    return scope, app.memories.store.one(scope, memory_id, request.now)


def _scope(request: Request, owner: str) -> Scope:
    request.check_user(owner)
    return Scope(request.principal.tenant, owner)


def _updated(app: App, request: Request, given: str, body: UpdateMemory) -> Memory:
    if body.timestamp is not None:
        raise InvalidInput("the time of a memory stays: delete it and add another", ("timestamp",))
    return retry_on_conflict(lambda: _updated_once(app, request, given, body), "the memory")


def _updated_once(app: App, request: Request, given: str, body: UpdateMemory) -> Memory:
    scope, memory = _memory(app, request, given)
    kept = {**reserved_metadata(memory.metadata), UPDATED_AT: iso(request.now)}
    own = own_metadata(memory.metadata if body.metadata is None else body.metadata)
    changes: dict[str, Any] = {"metadata": {**own, **kept}}
    changes |= {"content": body.text} if body.text is not None else {}
    changes |= {"expires_at": _expiry(body.expiration_date)} if "expiration_date" in body.model_fields_set else {}
    change = MemoryChange(changes, user_in(scope), lambda version: version == memory.version)
    return app.memories.store.patch(scope, memory.id, change, request.now)


def _delete(app: App, request: Request, given: str) -> None:
    scope, memory = _memory(app, request, given)
    app.deletion.events.memory(scope, memory, now=request.now, actor=user_in(scope))


@routes.delete("/v1/memories/", documented=False)
@as_mem0
def delete_mem0_memories(app: App, request: Request, query: EntitiesQuery) -> Reply:
    """Erases an entity; of several named ones what they have in common is deleted."""
    entities = Entities.of(query.given())
    scope = _scope(request, entities.owner)
    if entities.only_owner:
        return _erased(app, request, scope.user_id, "Memories deleted successfully!")
    deleted = _delete_common(app, request, scope, entities)
    return _answered({"message": "Memories deleted successfully!"}, deleted=deleted)


def _erased(app: App, request: Request, owner: str, message: str) -> Reply:
    erased = erase_user(app, replace(request, path={"user_id": owner}))
    return Reply(200, json_text({"message": message}), log=erased.log)


def _delete_common(app: App, request: Request, scope: Scope, entities: Entities) -> int:
    """Memories with all of these entities, ended ones too, then what was said with them and made no memory."""
    wanted = selection_of({name: value for name, value in entities.shown.items() if value is not None}).filter
    chosen = [one for one in every_memory(app, scope, request.now) if holds(wanted, filtered_form(one))]
    for memory in chosen:
        with suppress(NotFound):  # it went with the events of one before it
            app.deletion.events.memory(scope, memory, now=request.now, actor=user_in(scope))
    said = list(_said_with(app, scope, entities, request.now))
    for event_id in said:
        app.deletion.events.forget(scope, event_id=event_id, now=request.now)
    return len(chosen) + len(said)


def _said_with(app: App, scope: Scope, entities: Entities, now: datetime) -> Iterator[str]:
    asked = WindowQuery(now=now, window=TimeWindow(), limit=_EVENTS_PAGE, conversation_id=entities.run_id)
    while True:
        page = app.timeline.listing.window(scope, asked)
        yield from (event.id for event in page.events if entities.kept.items() <= event.metadata.items())
        if page.more is None:
            return
        asked = replace(asked, after=page.more)


@routes.get("/v1/entities/", query=PageQuery, documented=False)
@as_mem0
def list_mem0_entities(app: App, request: Request) -> Reply:
    """Users, agents, apps and runs that have memories."""
    page = app.timeline.known_users.page(request.principal.tenant, MOST_USERS, None)
    principal = request.principal
    reached = [one for one in page.user_ids if not principal.limited_to_subject or one == principal.subject]
    there = [owner for owner in reached if _has_memories(app, _scope(request, owner), request.now)]
    listed = [{"id": owner, "name": name, "type": kind} for owner in there for kind, name in [kind_and_name(owner)]]
    return _answered({"count": len(listed), "next": None, "previous": None, "results": listed}, count=len(listed))


def _has_memories(app: App, scope: Scope, now: datetime) -> bool:
    return next(memories_of(app, scope, now), None) is not None


@routes.delete("/v2/entities/{entity_type}/{entity_name}/", query=Mem0Query, documented=False)
@as_mem0
def delete_mem0_entity(app: App, request: Request) -> Reply:
    """Erases a user, an agent, an app or a run with everything that it owns."""
    name = f"{request.path['entity_type']}_id"
    if name not in ENTITIES:
        raise NotFound("no such type of entity")
    owner = owner_of(name, request.path["entity_name"])
    return _erased(app, request, owner, "Entity deleted successfully!")


_BATCH = "/v1/batch/"


@routes.add("PUT", _BATCH, documented=False)
@as_mem0
def update_mem0_batch(app: App, request: Request, body: BatchOfMemories) -> Reply:
    """Updates several memories, each by itself."""
    for one in body.memories:
        _updated(app, request, one.memory_id, one)
    return _answered({"message": f"Successfully updated {len(body.memories)} memories"})


@routes.delete(_BATCH, documented=False)
@as_mem0
def delete_mem0_batch(app: App, request: Request, body: BatchOfMemories) -> Reply:
    """Deletes several memories, each by itself."""
    for one in body.memories:
        _delete(app, request, one.memory_id)
    return _answered({"message": f"Successfully deleted {len(body.memories)} memories"})


@routes.post("/v1/feedback/", documented=False)
@as_mem0
def take_mem0_feedback(app: App, request: Request, body: Mem0Feedback) -> Reply:
    """Takes an opinion about a memory; it is logged as a decision, and nothing is stored."""
    _memory(app, request, body.memory_id)
    return _answered({"message": "Feedback taken.", "memory_id": body.memory_id, "feedback": body.feedback})
