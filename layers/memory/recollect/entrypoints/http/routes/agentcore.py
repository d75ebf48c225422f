"""Bedrock AgentCore Memory's API: boto3 and what is built on it are clients of ours (docs/integrations/agentcore.md).

Paths, bodies and answers are those of botocore 1.44.5, `bedrock-agentcore` and `bedrock-agentcore-control`. What a
model would be told (prompts, extraction of a strategy's own) is kept and not used: no model is asked.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from recollect.app import App
from recollect.core.errors import InvalidInput, RecollectError
from recollect.core.items import is_deeper
from recollect.entrypoints.http.agentcore import memories, records
from recollect.entrypoints.http.agentcore.events import (
    EventFilter,
    Session,
    create_event,
    delete_event,
    forget_derived,
    get_event,
    list_events,
    metadata_filter,
)
from recollect.entrypoints.http.agentcore.memories import AgentMemory, memory_of
from recollect.entrypoints.http.agentcore.models import (
    ChangedRecord,
    CreateEvent,
    CreateMemory,
    CreateRecords,
    DeleteRecords,
    Items,
    ListEvents,
    ListRecords,
    ListSessions,
    MemoryQuery,
    NewRecord,
    PageBody,
    RecordQueryString,
    RetrieveRecords,
    UpdateMemory,
    UpdateRecords,
)
from recollect.entrypoints.http.agentcore.records import RecordQuery, expiry_of, record_filter
from recollect.entrypoints.http.agentcore.wire import WIRE, Kept, code_of, epoch, label, opened, sealed, user_of
from recollect.entrypoints.http.headers import Answer, Attempt, GivenKey, countdown, idempotent
from recollect.entrypoints.http.messages import Reply, Request
from recollect.entrypoints.http.models import RequestModel, json_text
from recollect.entrypoints.http.routing import Routes
from recollect.items.item import NamespacedItem

_DEPTH = 64
_DELETING_SECONDS = 5.0
"""Of a request that deletes a memory, what is left for its answer."""


routes = Routes()
_OPTIONS: dict[str, Any] = {"documented": False, "wire": WIRE}
_MEMORY = "/memories/{memory_id}"
_ACTOR = f"{_MEMORY}/actor/{{actor_id}}"
_SESSION = f"{_ACTOR}/sessions/{{session_id}}"
_EVENT = f"{_SESSION}/events/{{event_id}}"
_RECORD = f"{_MEMORY}/memoryRecords/{{record_id}}"


def _answered(status: int, body: Mapping[str, Any], **log: Any) -> Reply:
    return Reply(status, json_text(body), log=log)


def _given(body: RequestModel) -> dict[str, Any]:
    """The fields of a request that it has, by AgentCore's names."""
    return body.model_dump(by_alias=True, exclude_none=True)


def _token(request: Request, client_token: str | None) -> GivenKey | None:
    return None if client_token is None else GivenKey(client_token, request.call.body)


@routes.post("/memories/create", **_OPTIONS)
def create_agent_memory(app: App, request: Request, body: CreateMemory) -> Reply:
    """Makes a memory."""
    kept = Kept.of(app, request)
    kept.check_operator()

    def work(attempt: Attempt) -> Answer:
        return Answer(202, {"id": memories.created(kept, _given(body), attempt.seed.nth(0))})

    answer = idempotent(app, request, work, key=_token(request, body.client_token))
    return _answered(202, {"memory": memory_of(kept, answer.body["id"]).shown})


@routes.post("/memories/", **_OPTIONS)
def list_agent_memories(app: App, request: Request, body: PageBody) -> Reply:
    """The tenant's memories, by their ids."""
    kept = Kept.of(app, request)
    kept.check_operator()
    (after,) = opened(kept, "memories", body.next_token)
    found, more = memories.listed(kept, body.max_results, after)
    return _answered(200, {"memories": [one.summary for one in found], **sealed(kept, "memories", more)})


@routes.get(f"{_MEMORY}/details", query=MemoryQuery, **_OPTIONS)
def get_agent_memory(app: App, request: Request) -> Reply:
    """One memory; of one that is being deleted some more is deleted."""
    kept = Kept.of(app, request)
    memory = AgentMemory(kept.found(memories.MEMORIES, request.path["memory_id"], "memory"))
    if memory.is_leaving:
        _delete_memory(kept, memory, request)
        memory = AgentMemory(kept.found(memories.MEMORIES, memory.id, "memory"))
    return _answered(200, {"memory": memory.shown})


@routes.add("PUT", f"{_MEMORY}/update", **_OPTIONS)
def update_agent_memory(app: App, request: Request, body: UpdateMemory) -> Reply:
    """Changes what a memory is described by."""
    kept = Kept.of(app, request)
    kept.check_operator()
    memory_id, changes = request.path["memory_id"], _given(body)

    def work(attempt: Attempt) -> Answer:
        memories.updated(kept, memory_id, changes, attempt)
        return Answer(202, {})

    idempotent(app, request, work, about=memory_id, key=_token(request, body.client_token))
    return _answered(202, {"memory": memory_of(kept, memory_id).shown})


@routes.delete(f"{_MEMORY}/delete", query=MemoryQuery, **_OPTIONS)
def delete_agent_memory(app: App, request: Request) -> Reply:
    """Deletes a memory, its events with what was derived from them, and its records."""
    kept = Kept.of(app, request)
    kept.check_operator()
    memory = AgentMemory(kept.found(memories.MEMORIES, request.path["memory_id"], "memory"))
    _delete_memory(kept, memory, request)
    return _answered(202, {"memoryId": memory.id, "status": "DELETING"})


def _delete_memory(kept: Kept, memory: AgentMemory, request: Request) -> None:
    left = countdown(request.call.remaining_seconds)
    memories.deleted(kept, memory, lambda item: forget_derived(kept, item), lambda: left() > _DELETING_SECONDS)


def _memory(app: App, request: Request) -> tuple[Kept, AgentMemory]:
    kept = Kept.of(app, request)
    return kept, memory_of(kept, request.path["memory_id"])


def _session(app: App, request: Request) -> tuple[Kept, Session]:
    kept, memory = _memory(app, request)
    return kept, Session(memory, request.path["actor_id"], request.path["session_id"])


@routes.post(f"{_MEMORY}/events", **_OPTIONS)
def create_agent_event(app: App, request: Request, body: CreateEvent) -> Reply:
    """Stores an event; what user and assistant say in it is remembered."""
    kept, memory = _memory(app, request)
    kept.scope(body.actor_id)
    given = {**_given(body), "eventTimestamp": body.event_timestamp, "payload": _payload(body.payload)}

    def work(attempt: Attempt) -> Answer:
        session = Session(memory, body.actor_id, body.session_id or attempt.seed.nth(0))
        return Answer(201, {"id": create_event(kept, session, given, attempt), "session": session.session})

    sent = json_text(_given(body) | {"eventTimestamp": None}).encode()  # a client that sends again has another time
    key = None if body.client_token is None else GivenKey(body.client_token, sent)
    answer = idempotent(app, request, work, ids=len(body.payload) + 2, about=[memory.id, body.actor_id], key=key)
    stored = Session(memory, body.actor_id, answer.body["session"])
    return _answered(201, {"event": get_event(kept, stored, answer.body["id"])}, parts=len(body.payload))


def _payload(given: Items) -> Items:
    """Checked: each part is one of the three kinds. Raises InvalidInput."""
    for place, part in enumerate(given):
        if len(part) != 1 or not part.keys() <= {"conversational", "blob", "json"}:
            raise InvalidInput("must be one of conversational, blob, json", ("payload", place))
        if "conversational" in part and not _is_said(part["conversational"]):
            raise InvalidInput("must have a role and a text of at most 100,000 characters", ("payload", place))
        if is_deeper(part, _DEPTH):
            raise InvalidInput("is nested too deeply", ("payload", place))
    return given


def _is_said(said: Any) -> bool:
    content = said.get("content") if isinstance(said, dict) else None
    text = content.get("text") if isinstance(content, dict) else None
    return isinstance(text, str) and 1 <= len(text) <= 100_000 and isinstance(said.get("role"), str)


@routes.get(_EVENT, **_OPTIONS)
def get_agent_event(app: App, request: Request) -> Reply:
    """One event."""
    kept, session = _session(app, request)
    return _answered(200, {"event": get_event(kept, session, request.path["event_id"])})


@routes.delete(_EVENT, **_OPTIONS)
def delete_agent_event(app: App, request: Request) -> Reply:
    """Deletes an event and what was derived from it."""
    kept, session = _session(app, request)
    delete_event(kept, session, request.path["event_id"])
    return _answered(200, {"eventId": request.path["event_id"]})


@routes.post(_SESSION, **_OPTIONS)
def list_agent_events(app: App, request: Request, body: ListEvents) -> Reply:
    """Events of a session, the newest first."""
    kept, session = _session(app, request)
    branch = body.filter.branch
    wanted = EventFilter(
        metadata=metadata_filter(body.filter.event_metadata or ()),
        branch=branch.name if branch else None,
        with_parents=branch is not None and branch.include_parent_branches,
    )
    name = f"events {session.events}"
    (after,) = opened(kept, name, body.next_token)
    events, more = list_events(kept, session, wanted, body.max_results, after, with_payloads=body.include_payloads)
    return _answered(200, {"events": events, **sealed(kept, name, more)}, returned=len(events))


@routes.post(f"{_ACTOR}/sessions", **_OPTIONS)
def list_agent_sessions(app: App, request: Request, body: ListSessions) -> Reply:
    """Sessions of an actor, by their names; those that have events where only these are asked for."""
    kept, memory = _memory(app, request)
    actor = request.path["actor_id"]
    owner = kept.scope(actor).user_id
    namespace = memory.at("sessions", label(actor))
    (after,) = opened(kept, f"sessions {namespace}", body.next_token)
    items, more = kept.page(namespace, body.max_results, after)
    shown = [
        {"sessionId": item.value["session"], "actorId": actor, "createdAt": epoch(item.created_at)}
        for item in items
        if item.owner == owner and (body.filter.event_filter is None or _has_events(kept, memory, item))
    ]
    return _answered(200, {"sessionSummaries": shown, **sealed(kept, f"sessions {namespace}", more)})


def _has_events(kept: Kept, memory: AgentMemory, session: NamespacedItem) -> bool:
    return bool(kept.page(memory.at("events", session.place.namespace[-1], session.place.key), 1, None)[0])


@routes.post(f"{_MEMORY}/actors", **_OPTIONS)
def list_agent_actors(app: App, request: Request, body: PageBody) -> Reply:
    """Actors of a memory."""
    kept, memory = _memory(app, request)
    kept.check_operator()
    (after,) = opened(kept, f"actors {memory.id}", body.next_token)
    items, more = kept.page(memory.at("actors"), body.max_results, after)
    actors = [(item.owner, str(item.value.get("actor", ""))) for item in items]
    shown = [{"actorId": actor} for owner, actor in actors if owner == user_of(actor)]
    return _answered(200, {"actorSummaries": shown, **sealed(kept, f"actors {memory.id}", more)})


def _query(body: RetrieveRecords | ListRecords, strategy: str | None, conditions: Sequence[Any] | None) -> RecordQuery:
    if (body.namespace is None) == (body.namespace_path is None):
        raise InvalidInput("one of namespace and namespacePath is needed", ("namespace",))
    return RecordQuery(
        namespace=body.namespace or body.namespace_path or "",
        below=body.namespace is None,
        strategy=strategy,
        filter=record_filter(conditions or ()),
    )


@routes.post(f"{_MEMORY}/retrieve", **_OPTIONS)
def retrieve_agent_records(app: App, request: Request, body: RetrieveRecords) -> Reply:
    """Finds records: those that were put, and memories of the actor."""
    kept, memory = _memory(app, request)
    asked = body.search_criteria
    wanted = _query(body, asked.memory_strategy_id, asked.metadata_filters)
    found = records.retrieve(
        kept, memory, wanted, asked.search_query, min(asked.top_k, body.max_results or asked.top_k)
    )
    return _answered(200, {"memoryRecordSummaries": found}, returned=len(found))


@routes.post(f"{_MEMORY}/memoryRecords", **_OPTIONS)
def list_agent_records(app: App, request: Request, body: ListRecords) -> Reply:
    """Records of a namespace: those that were put, then memories of the actor."""
    kept, memory = _memory(app, request)
    wanted = _query(body, body.memory_strategy_id, body.metadata_filters)
    name = f"records {memory.id} {wanted.namespace} {wanted.below}"
    stage, place = opened(kept, name, body.next_token, 2)
    if stage in (None, "stored"):
        offset = int(place or 0)
        found, is_more = records.list_stored(kept, memory, wanted, body.max_results, offset)
        if is_more:
            more = sealed(kept, name, "stored", str(offset + body.max_results))
            return _answered(200, {"memoryRecordSummaries": found, **more})
        place = None
    else:
        found = []
    derived, after = records.list_derived(kept, memory, wanted, body.max_results - len(found), place)
    more = {} if after is None else sealed(kept, name, "derived", after)
    return _answered(200, {"memoryRecordSummaries": [*found, *derived], **more})


@routes.get(f"{_MEMORY}/memoryRecord/{{record_id}}", query=RecordQueryString, **_OPTIONS)
def get_agent_record(app: App, request: Request) -> Reply:
    """One record."""
    kept, memory = _memory(app, request)
    return _answered(200, {"memoryRecord": records.get_record(kept, memory, request.path["record_id"])})


@routes.delete(_RECORD, query=RecordQueryString, **_OPTIONS)
def delete_agent_record(app: App, request: Request) -> Reply:
    """Deletes a record."""
    kept, memory = _memory(app, request)
    records.delete_record(kept, memory, request.path["record_id"])
    return _answered(200, {"memoryRecordId": request.path["record_id"]})


@routes.post(f"{_MEMORY}/memoryRecords/batchCreate", **_OPTIONS)
def create_agent_records(app: App, request: Request, body: CreateRecords) -> Reply:
    """Puts records, each by itself."""
    kept, memory = _memory(app, request)
    ttl = expiry_of(body.record_expiry_specification)

    def work(attempt: Attempt) -> Answer:
        app.timeline.limits.take(kept.tenant, len(body.records), app.rules.resolved(kept.tenant))
        ids = [f"mem-{attempt.seed.nth(place)}" for place in range(len(body.records))]
        outcomes = [
            _outcome(record_id, _putting(kept, memory, one, record_id, ttl), one.request_identifier)
            for one, record_id in zip(body.records, ids, strict=True)
        ]
        return Answer(201, _sorted_out(outcomes))

    ids = max(1, len(body.records))
    answer = idempotent(app, request, work, ids=ids, about=memory.id, key=_token(request, body.client_token))
    return _answered(201, answer.body, records=len(body.records))


def _putting(kept: Kept, memory: AgentMemory, record: NewRecord, record_id: str, ttl: Any) -> Callable[[], None]:
    given = {**_given(record), "timestamp": record.timestamp}
    return lambda: records.put_record(kept, memory, given, record_id, ttl)


@routes.post(f"{_MEMORY}/memoryRecords/batchUpdate", **_OPTIONS)
def update_agent_records(app: App, request: Request, body: UpdateRecords) -> Reply:
    """Changes records, each by itself."""
    kept, memory = _memory(app, request)
    app.timeline.limits.take(kept.tenant, len(body.records), app.rules.resolved(kept.tenant))
    outcomes = [_outcome(one.memory_record_id, _changing(kept, memory, one)) for one in body.records]
    return _answered(200, _sorted_out(outcomes), records=len(body.records))


def _changing(kept: Kept, memory: AgentMemory, record: ChangedRecord) -> Callable[[], None]:
    given = {**_given(record), "timestamp": record.timestamp}
    return lambda: records.update_record(kept, memory, given)


@routes.post(f"{_MEMORY}/memoryRecords/batchDelete", **_OPTIONS)
def delete_agent_records(app: App, request: Request, body: DeleteRecords) -> Reply:
    """Deletes records, each by itself."""
    kept, memory = _memory(app, request)
    names = [one.memory_record_id for one in body.records]
    outcomes = [_outcome(name, _deleting(kept, memory, name)) for name in names]
    return _answered(200, _sorted_out(outcomes), records=len(names))


def _deleting(kept: Kept, memory: AgentMemory, record_id: str) -> Callable[[], None]:
    return lambda: records.delete_record(kept, memory, record_id)


def _outcome(record_id: str, work: Callable[[], None], identifier: str | None = None) -> dict[str, Any]:
    """What became of one record; a failure of ours is the whole request's."""
    shown: dict[str, Any] = {"memoryRecordId": record_id, "status": "SUCCEEDED"}
    shown |= {} if identifier is None else {"requestIdentifier": identifier}
    try:
        work()
    except RecollectError as error:
        status = code_of(error)
        if status >= 500:
            raise
        return {**shown, "status": "FAILED", "errorCode": status, "errorMessage": str(error)}
    return shown


def _sorted_out(outcomes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {
        name: [one for one in outcomes if one["status"] == status]
        for name, status in (("successfulRecords", "SUCCEEDED"), ("failedRecords", "FAILED"))
    }


@routes.post(f"{_MEMORY}/extractionJobs", **_OPTIONS)
def list_agent_extraction_jobs(app: App, request: Request) -> Reply:
    """Jobs whose extraction failed: none, since nothing is extracted by a model."""
    _memory(app, request)
    return _answered(200, {"jobs": []})
