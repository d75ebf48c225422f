"""`POST /v1/events` and `POST /v1/analyze`."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

from recollect.app import App
from recollect.core.event import EventRef
from recollect.core.ids import IdSeed
from recollect.core.scope import Scope
from recollect.core.time import from_iso, iso
from recollect.entrypoints.http.event_drafts import CONTENT_BYTES, drafts_of, embedding_dimension
from recollect.entrypoints.http.fields import Field, Shape, identifier, list_of, text
from recollect.entrypoints.http.idempotency import REPLAYED, claim_of
from recollect.entrypoints.http.messages import Reply, Request
from recollect.entrypoints.http.problems import INVALID, fault_list, problem
from recollect.entrypoints.http.routing import COMMON_STATUSES, Route
from recollect.entrypoints.http.run_once import Answer, run_once
from recollect.timeline.ingest import FieldError, IngestAnswer, IngestResult, IngestStatus, InvalidDraft
from recollect.timeline.record import EventDraft

MOST_EVENTS = 100
_EVENTS_ROUTE = "POST /v1/events"

EVENTS_BODY = Shape(
    "EventsRequest",
    {
        "user_id": identifier().needed(),
        "persona_id": identifier().described("Absent: the default persona."),
        "household_id": identifier(),
        "conversation_id": identifier().described("Absent: a new conversation, named in the answer."),
        "events": list_of(Field(lambda value: value, {"$ref": "#/components/schemas/NewEvent"}), 1, MOST_EVENTS)
        .needed()
        .described("A bad one does not refuse the others."),
    },
)
_SOME_TEXT = text(max_bytes=CONTENT_BYTES)
_NAME = text(max_bytes=1024)
ANALYZE_BODY = Shape(
    "AnalyzeRequest",
    {
        "text": _SOME_TEXT.needed().described("May be empty."),
        "content_type": text(max_bytes=128).described("Absent: `userinput`."),
        "history": list_of(_SOME_TEXT, 0, 50).described("The conversation before it, oldest first."),
        "spaces": list_of(_NAME, 0, 1000).described("Names of known spaces."),
        "categories": list_of(_NAME, 0, 1000).described("Phrases of known categories."),
    },
)


def add_events(app: App, request: Request) -> Reply:
    """Stores the events that are valid; 201 if any was created, 422 if all were invalid, else 200."""
    values = request.values
    scope = request.scope(values)
    drafts = drafts_of(values["events"], embedding_dimension(app.settings))
    if all(isinstance(draft, InvalidDraft) for draft in drafts):
        return _all_invalid(values, drafts)
    seed = app.ids.seed(int(time.time() * 1000), len(drafts) + 1)
    answer = _stored_once(app, request, scope, drafts, seed)
    body = _with_errors(_current(app, scope, answer) if answer.replayed else answer.body, drafts)
    log = {"events": len(drafts), "replayed": answer.replayed, **_counts(body["results"])}
    return Reply(answer.status, body, REPLAYED if answer.replayed else {}, log=log)


def _stored_once(
    app: App, request: Request, scope: Scope, drafts: Sequence[EventDraft | InvalidDraft], seed: IdSeed
) -> Answer:
    rules, marks = app.begin_rules(scope.tenant), app.begin_marks(scope)  # beside the claim of the key

    def work(seed: IdSeed) -> Answer:
        conversation_id = request.values.get("conversation_id")
        app.timeline.write_limits.take(scope.tenant, len(drafts), rules.result())
        ingested = app.timeline.ingest(
            scope, conversation_id, drafts, seed, request.now, rules.result(), marks.result()
        )
        return _record(ingested, drafts)

    claim = claim_of(request, _EVENTS_ROUTE, seed)
    return run_once(app.parts.idempotency, claim, work) if claim else work(seed)


def _record(ingested: IngestAnswer, drafts: Sequence[EventDraft | InvalidDraft]) -> Answer:
    """What an idempotency record holds: ids and statuses; `at` finds the events again. No text, no errors."""
    created = any(result.status is IngestStatus.CREATED for result in ingested.results)
    results = [_result(result) for result in ingested.results]
    at = [_timestamp(result, draft) for result, draft in zip(ingested.results, drafts, strict=True)]
    body = {"conversation_id": ingested.conversation_id, "results": results, "at": at}
    return Answer(201 if created else 200, body)


def _result(result: IngestResult) -> dict[str, Any]:
    known: dict[str, Any] = {"status": result.status.value, "event_id": result.event_id, "reason": result.reason}
    if result.event is not None:
        event = result.event
        known |= {"importance": event.importance, "tags": list(event.tags), "content_type": event.content_type.value}
    return {name: value for name, value in known.items() if value is not None}


def _timestamp(result: IngestResult, draft: EventDraft | InvalidDraft) -> str | None:
    moment = result.event.timestamp if result.event else getattr(draft, "timestamp", None)
    return iso(moment) if moment else None


def _current(app: App, scope: Scope, answer: Answer) -> Mapping[str, Any]:
    """A replayed answer, with what was deleted or erased since named as refused."""
    results = [dict(result) for result in answer.body["results"]]
    places = zip(results, answer.body["at"], strict=True)
    refs = [EventRef(result["event_id"], from_iso(at)) for result, at in places if at and "event_id" in result]
    there = app.parts.timeline.read(scope, refs) if refs else {}
    gone = {ref.id for ref in refs} - there.keys()
    return {**answer.body, "results": [_refused(one) if one.get("event_id") in gone else one for one in results]}


def _refused(result: Mapping[str, Any]) -> dict[str, Any]:
    return {"status": IngestStatus.REFUSED.value, "event_id": result["event_id"], "reason": "deleted"}


def _with_errors(body: Mapping[str, Any], drafts: Sequence[EventDraft | InvalidDraft]) -> dict[str, Any]:
    """The answer; the faults of invalid events are told from the request itself, a replayed one too."""
    results = [
        {**result, "errors": fault_list(draft.errors)} if isinstance(draft, InvalidDraft) else result
        for result, draft in zip(body["results"], drafts, strict=True)
    ]
    return {"conversation_id": body["conversation_id"], "results": results}


def _all_invalid(values: Mapping[str, Any], drafts: Sequence[EventDraft | InvalidDraft]) -> Reply:
    """Nothing to store: a problem, which claims no idempotency key."""
    invalid = [draft for draft in drafts if isinstance(draft, InvalidDraft)]
    results = [{"status": IngestStatus.INVALID.value, "errors": fault_list(draft.errors)} for draft in invalid]
    faults = [
        FieldError(("body", "events", position, *fault.loc), fault.message)
        for position, draft in enumerate(invalid)
        for fault in draft.errors
    ]
    more = {"results": results} | (
        {"conversation_id": values["conversation_id"]} if "conversation_id" in values else {}
    )
    return problem(INVALID, "none of the events is valid", faults, more=more)


def _counts(results: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    statuses = [result["status"] for result in results]
    return {status: statuses.count(status) for status in IngestStatus if status in statuses}


def analyze(app: App, request: Request) -> Reply:
    """What the rules decide of a text, storing nothing."""
    from recollect.rules.use_cases import AnalyzeRequest, analyze_text

    asked = AnalyzeRequest(**request.values)
    rules = app.rules.resolved(request.principal.tenant)
    found = analyze_text(asked, request.now, rules)
    return Reply(
        200,
        {
            "content_type": found.content_type,
            "importance": found.importance,
            "importance_keywords": found.importance_keywords,
            "tags": found.tags,
            "needs_web_search": found.needs_web_search,
            "web_search_keywords": found.web_search_keywords,
            "keywords": found.query.keywords,
            "entities": [
                {"type": entity.type, "value": entity.value, "normalized": entity.normalized}
                for entity in found.query.entities
            ],
            "intent": found.query.intent,
            "intent_confidence": found.query.intent_confidence,
            "rules_version": rules.version,
        },
        log={"tags": len(found.tags), "keywords": len(found.query.keywords)},
    )


ROUTES = (
    Route(
        method="POST",
        path="/v1/events",
        operation="addEvents",
        summary="Stores 1 to 100 events; answers once they are durable",
        handle=add_events,
        body=EVENTS_BODY,
        answer="EventsAnswer",
        statuses=(200, 201, 409, *COMMON_STATUSES),
        idempotent=True,
    ),
    Route(
        method="POST",
        path="/v1/analyze",
        operation="analyze",
        summary="What ingest and retrieval would decide of a text, storing nothing",
        handle=analyze,
        body=ANALYZE_BODY,
        answer="Analysis",
        statuses=(200, *COMMON_STATUSES),
    ),
)
