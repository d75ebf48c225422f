"""Events come in: `POST /v1/events`, and `POST /v1/analyze`, which says what the rules make of a text."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field, ValidationError
from pydantic_core import core_schema

from recollect.app import App
from recollect.core.errors import InvalidInput, KeyReused
from recollect.core.event import ContentType, Event, EventRef, EventType, Role, Source
from recollect.core.scope import Labels, Scope
from recollect.core.time import from_iso, iso
from recollect.entrypoints.http.analysis import Analyzed
from recollect.entrypoints.http.headers import Answer, Attempt, idempotent
from recollect.entrypoints.http.messages import Reply, Request
from recollect.entrypoints.http.models import (
    CONTENT_BYTES,
    LARGEST_WHOLE,
    AnswerModel,
    Content,
    Fault,
    Identifier,
    Importance,
    Instant,
    Maybe,
    Metadata,
    OneOf,
    RequestModel,
    Share,
    SourceName,
    SpokenType,
    Text,
    Vector,
    Whose,
    embedding_dimension,
    packed,
)
from recollect.entrypoints.http.problems import INVALID, fault_list, faults_of, kind_of, problem
from recollect.entrypoints.http.routing import Routes
from recollect.timeline.ingest import KEY_REUSED, FieldError, IngestAnswer, IngestStatus, InvalidDraft
from recollect.timeline.record import EventDraft

MOST_EVENTS = 100
_KEY_REUSED = KeyReused("each event's idempotency key came with another text, role or speaker")
_Title = Annotated[str, Text(4 * 1024)]
_AnyText = Annotated[str, Text(CONTENT_BYTES)]
_Name = Annotated[str, Text(1024)]
_Names = Annotated[list[_Name], Field(min_length=0, max_length=1000)]


_NO_PERSON = (
    ": an event is what somebody said. What a tool or the system says stands in the conversation's log, "
    "POST /v1/users/{user_id}/conversations/{conversation_id}/log"
)


class NewEvent(RequestModel):
    role: Maybe[Annotated[str, OneOf("user", "bot", "assistant", hint=_NO_PERSON)]] = Field(
        None,
        description="`assistant` is stored, shown and filtered by as `bot`; absent: `user`. What a tool or the system "
        "says belongs in the conversation's log.",
    )
    speaker: Maybe[Identifier] = Field(None, description="Name of who spoke.")
    content: Content = Field(description="At most 64 KiB of UTF-8.")
    content_type: Maybe[Annotated[str, Text(128)]] = Field(
        None,
        description=f"One of {', '.join(ContentType)}; an unknown one is scored as `default`. "
        "Absent: `userinput`, for a bot `assistantresponse`.",
    )
    event_type: Maybe[SpokenType] = Field(None, description="Absent: `conversation`.")
    source: Maybe[SourceName] = Field(None, description="Absent: `user`, for a bot `conversation`.")
    timestamp: Maybe[Instant] = Field(None, description="When it was said; absent: now. Without a zone it is UTC.")
    importance: Maybe[Importance] = Field(
        None, description="Used as given, without boost; absent: scored by the rules."
    )
    key: Maybe[Identifier] = Field(
        None, description="The slot whose value this is: the newest event of a key is its value."
    )
    space_id: Maybe[Identifier] = None
    title: Maybe[_Title] = None
    category: Maybe[_Title] = None
    notes: Maybe[Annotated[str, Text(16 * 1024)]] = None
    views: Maybe[Annotated[int, Field(ge=0, le=LARGEST_WHOLE)]] = None
    is_private: Maybe[bool] = Field(None, description="Private events are listed and exported, and never found.")
    derive: Maybe[bool] = Field(
        None,
        description="False: it stays in the timeline and in its conversation's window, and nothing is derived of it: "
        "no memory, summary, goal or contradiction, and no search finds it. Without `key` and `embedding`.",
    )
    idempotency_key: Maybe[Identifier] = Field(
        None,
        description="A user has one event of it: a redelivery is a `duplicate` at whatever time and in whatever "
        "conversation, with another text, role or speaker `refused` (`key_reused`).",
    )
    expires_at: Maybe[Instant] = Field(None, description="Gone from every read from that instant on.")
    embedding: Maybe[Vector] = Field(None, description="The caller's own vector, of the embedder's dimension.")
    metadata: Maybe[Metadata] = Field(
        None,
        description="At most 16 KiB of JSON, 8 levels. `source_id` names an importer's turn: with it, an event of the "
        "same time, conversation and role is a duplicate whatever its text.",
    )


class _ByItself:
    """An entry of a list that is read by itself: what is wrong with it stays with it."""

    def __get_pydantic_core_schema__(self, _source: Any, handler: Any) -> core_schema.CoreSchema:
        return core_schema.no_info_wrap_validator_function(_event_or_faults, handler(NewEvent))


def _event_or_faults(value: Any, read: Any) -> NewEvent | InvalidDraft:
    try:
        event: NewEvent = read(value)
    except ValidationError as error:
        return InvalidDraft(faults_of(error))
    return event


class EventsRequest(Whose):
    """The events; agent, app and namespace are those of each of them."""

    persona_id: Maybe[Identifier] = Field(None, description="Absent: the default persona.")
    household_id: Maybe[Identifier] = None
    conversation_id: Maybe[Identifier] = Field(None, description="Absent: a new conversation, named in the answer.")
    events: Annotated[
        list[Annotated[NewEvent | InvalidDraft, _ByItself()]], Field(min_length=1, max_length=MOST_EVENTS)
    ] = Field(description="A bad one does not refuse the others.")


class Ingested(AnswerModel, title="IngestResult"):
    status: Annotated[str, OneOf(*IngestStatus)]
    event_id: Maybe[str] = None
    importance: Maybe[Share] = None
    tags: Maybe[list[str]] = None
    content_type: Maybe[Annotated[str, OneOf(*ContentType)]] = None
    reason: Maybe[str] = None
    errors: Maybe[list[Fault]] = None


class EventsAnswer(AnswerModel):
    conversation_id: str
    results: list[Ingested]


class AnalyzeText(RequestModel):
    text: _AnyText = Field(description="May be empty.")
    content_type: Maybe[Annotated[str, Text(128)]] = Field(None, description="Absent: `userinput`.")
    history: Maybe[Annotated[list[_AnyText], Field(min_length=0, max_length=50)]] = Field(
        None, description="The conversation before it, oldest first."
    )
    spaces: Maybe[_Names] = Field(None, description="Names of known spaces.")
    categories: Maybe[_Names] = Field(None, description="Phrases of known categories.")


class Analysis(Analyzed):
    content_type: Annotated[str, OneOf(*ContentType)]
    importance: Share
    importance_keywords: list[str]
    tags: list[str]
    needs_web_search: bool
    web_search_keywords: list[str]
    rules_version: str


routes = Routes()


@routes.post("/v1/events", answer=EventsAnswer, good=(200, 201), errors=(409,), idempotent=True)
def add_events(app: App, request: Request, body: EventsRequest) -> Reply:
    """Stores 1 to 100 events; answers once they are durable.

    201 if any was created, 422 if all were invalid or came with an idempotency key of another event's words, else 200.
    A request's idempotency key that came with another body is a 422 too, whose `results` are those of the first
    request: what that stored stands.
    """
    scope = request.scope(body)
    drafts = [_draft(event, app, body.labels) for event in body.events]
    if all(isinstance(draft, InvalidDraft) for draft in drafts):
        return _all_invalid(body, drafts)
    rules, marks = app.begin_rules(scope.tenant), app.begin_marks(scope)  # beside the claim of the key

    def work(attempt: Attempt) -> Answer:
        app.timeline.limits.take(scope.tenant, len(drafts), rules.result())
        ingested = app.timeline.events.ingest(
            scope, body.conversation_id, drafts, attempt.seed, request.now, rules.result(), marks.result()
        )
        return _record(ingested)

    try:
        answer = idempotent(app, request, work, ids=len(drafts) + 1)
    except KeyReused as error:
        return _of_the_first(app, scope, error)
    found = _current(app, scope, answer) if answer.replayed else answer.body
    results = [_with_errors(result, draft) for result, draft in zip(found["results"], drafts, strict=True)]
    if all(result.reason == KEY_REUSED for result in results):
        more = {"conversation_id": found["conversation_id"], "results": [result.document() for result in results]}
        return problem(kind_of(_KEY_REUSED), str(_KEY_REUSED), more=more)
    shown = EventsAnswer(conversation_id=found["conversation_id"], results=results)
    return answer.reply(shown, {"events": len(drafts), **_counts(results)})


def _draft(event: NewEvent | InvalidDraft, app: App, labels: Labels) -> EventDraft | InvalidDraft:
    if isinstance(event, InvalidDraft):
        return event
    try:
        return EventDraft(**event.given() | _for_the_domain(event, app), labels=labels)
    except InvalidInput as error:
        return InvalidDraft((FieldError(error.loc, str(error)),))


def _for_the_domain(event: NewEvent, app: App) -> dict[str, Any]:
    role = Role.BOT if event.role in ("bot", "assistant") else Role.USER
    if role is Role.BOT and event.source is Source.USER:
        raise InvalidInput("a bot's words are not the user's: source user goes with role user only", ("source",))
    event_type = EventType(event.event_type or EventType.CONVERSATION)
    embedding = packed(event.embedding, embedding_dimension(app.settings), ("embedding",))
    return {"role": role, "event_type": event_type, "embedding": embedding}


def _record(ingested: IngestAnswer) -> Answer:
    """What an idempotency record holds: ids and statuses; `at` finds the events again. No text, no errors."""
    created = any(result.status is IngestStatus.CREATED for result in ingested.results)
    results = [Ingested.made_of(one, one.event, errors=None).document() for one in ingested.results]
    at = [iso(one.at) if one.at is not None else None for one in ingested.results]
    body = {"conversation_id": ingested.conversation_id, "results": results, "at": at}
    return Answer(201 if created else 200, body)


def _current(app: App, scope: Scope, answer: Answer) -> Mapping[str, Any]:
    """A replayed answer, with what was deleted or erased since named as refused."""
    refs = _refs_in(answer.body)
    gone = {ref.id for ref in refs} - _there(app, scope, refs).keys()
    results = [_refused(one) if one.get("event_id") in gone else one for one in answer.body["results"]]
    return {**answer.body, "results": results}


def _of_the_first(app: App, scope: Scope, error: KeyReused) -> Reply:
    """The problem, with what the first request stored of this user's: a key is of a tenant, and may be another's."""
    first = error.first or {"results": [], "at": []}
    there = {
        event_id
        for event_id, event in _there(app, scope, _refs_in(first)).items()
        if scope.admits(event.persona_id, event.household_id)
    }
    results = [one for one in first["results"] if one.get("event_id") in there]
    more = {"conversation_id": first["conversation_id"], "results": results} if results else None
    return problem(kind_of(error), str(error), more=more)


def _refs_in(record: Mapping[str, Any]) -> list[EventRef]:
    places = zip(record["results"], record["at"], strict=True)
    return [EventRef(result["event_id"], from_iso(at)) for result, at in places if at and "event_id" in result]


def _there(app: App, scope: Scope, refs: Sequence[EventRef]) -> Mapping[str, Event]:
    return app.parts.timeline.read(scope, refs) if refs else {}


def _refused(result: Mapping[str, Any]) -> dict[str, Any]:
    return {"status": IngestStatus.REFUSED.value, "event_id": result["event_id"], "reason": "deleted"}


def _with_errors(result: Mapping[str, Any], draft: EventDraft | InvalidDraft) -> Ingested:
    """The faults of an invalid event come from the request itself, those of a replayed one too."""
    errors = fault_list(draft.errors) if isinstance(draft, InvalidDraft) else None
    return Ingested.model_validate({**result, "errors": errors})


def _all_invalid(body: EventsRequest, drafts: Sequence[EventDraft | InvalidDraft]) -> Reply:
    """Nothing to store: a problem, which claims no idempotency key."""
    invalid = [draft for draft in drafts if isinstance(draft, InvalidDraft)]
    faults = [
        FieldError(("body", "events", position, *fault.loc), fault.message)
        for position, draft in enumerate(invalid)
        for fault in draft.errors
    ]
    results = [{"status": IngestStatus.INVALID.value, "errors": fault_list(draft.errors)} for draft in invalid]
    named = {} if body.conversation_id is None else {"conversation_id": body.conversation_id}
    return problem(INVALID, "none of the events is valid", faults, more={"results": results, **named})


def _counts(results: Sequence[Ingested]) -> dict[str, int]:
    statuses = [result.status for result in results]
    return {status: statuses.count(status) for status in IngestStatus if status in statuses}


@routes.post("/v1/analyze", answer=Analysis)
def analyze(app: App, request: Request, body: AnalyzeText) -> Reply:
    """What ingest and retrieval would decide of a text, storing nothing."""
    from recollect.intent.analysis import AnalyzeRequest, analyze_text

    rules = app.rules.resolved(request.principal.tenant)
    found = analyze_text(AnalyzeRequest(**body.given()), request.now, rules)
    log = {"tags": len(found.tags), "keywords": len(found.query.keywords)}
    return Reply(200, Analysis.made_of(found.query, found, rules_version=rules.version), log=log)
