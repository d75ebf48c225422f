"""Reading: events as they stand, conversations, search, feedback, and the bus."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Annotated, Any, Self

from pydantic import Field

from recollect.app import App
from recollect.core.errors import InvalidInput
from recollect.core.event import EventRef
from recollect.core.time import from_iso, iso
from recollect.core.vectors import unit, vector_of
from recollect.entrypoints.http.analysis import QueryAnalysis
from recollect.entrypoints.http.cursors import Listing, listing_of, open_cursor, page_reply, seal, start_of
from recollect.entrypoints.http.messages import Reply, Request, etag
from recollect.entrypoints.http.models import (
    CONTENT_BYTES,
    IN_QUERY,
    AnswerModel,
    Count,
    Cursor,
    Free,
    Identifier,
    Instant,
    Limit,
    Maybe,
    NamespacePath,
    Narrowed,
    OneOf,
    Paged,
    RequestModel,
    SpokenType,
    Text,
    Time,
    Vector,
    embedding_dimension,
    fitted,
    page_of,
    within_page,
)
from recollect.entrypoints.http.representations import (
    Days,
    Dropped,
    EventAnswer,
    Filters,
    GivenTimes,
    History,
    MinSimilarity,
    Question,
    ResultAnswer,
    filters_of,
    window_of,
)
from recollect.entrypoints.http.routing import USER, Routes
from recollect.intent.analysis import IntentName
from recollect.intent.retrieve import IntentAnswer, IntentQuestion
from recollect.intent.scoring import DATE_BASED, FallbackReason
from recollect.retrieval.filters import DropReason, SearchFilters, TimeWindow
from recollect.retrieval.pipeline import RecallRequest
from recollect.retrieval.ranking import Mode
from recollect.retrieval.reasons import RELATED
from recollect.retrieval.search import SearchAnswer as Found
from recollect.retrieval.search import SearchDiagnostics as Seen
from recollect.rules.groups import Rules
from recollect.timeline.listing import DEFAULT_WINDOW
from recollect.timeline.timeline import COUNTED_RECORDS, WindowPage, WindowQuery

INTENT = "intent"
NEAR_MISSES = 5
FEEDBACK = "IntentFeedback"
_PAGE = 50
_BY_INTENT = 10


class EventsQuery(Narrowed):
    conversation_id: Maybe[Identifier] = None
    event_type: Maybe[SpokenType] = None
    agent_id: Maybe[Identifier] = None
    app_id: Maybe[Identifier] = None
    namespace: Maybe[NamespacePath] = Field(None, description="Exactly this one: its labels with slashes between.")
    namespace_prefix: Maybe[NamespacePath] = Field(None, description="This one and all below it.")
    start: Maybe[Instant] = Field(None, alias="from", description="Inclusive.")
    end: Maybe[Instant] = Field(None, alias="to", description="Inclusive.")
    last_days: Maybe[Annotated[Days, IN_QUERY]] = Field(None, description="Without any bound: the last 30 days.")
    top_k: Maybe[Limit] = Field(None, description="The same as `limit`; absent: 50.")
    limit: Maybe[Limit] = None
    cursor: Maybe[Cursor] = None


class EventsDiagnostics(AnswerModel):
    scanned: Count
    returned: Count
    filtered_by_context: Count
    filtered_by_window: Count
    dropped: Dropped
    exact: bool


class EventsPage(AnswerModel):
    events: list[EventAnswer]
    diagnostics: EventsDiagnostics
    next_cursor: Maybe[str] = None


class Conversation(AnswerModel):
    id: str
    started_at: Time


ConversationsPage = page_of("ConversationsPage", "conversations", Conversation)


class SearchRequest(Question):
    query: Maybe[Annotated[str, Text(CONTENT_BYTES, blank=False)]] = Field(
        None, description="This, or `vector`, or both."
    )
    vector: Maybe[Vector] = Field(None, description="The caller's own vector, of the embedder's dimension.")
    top_k: Maybe[Annotated[int, Field(ge=1, le=100)]] = Field(
        None, description="Absent: 10; 3 in semantic mode. By intent at most 15."
    )
    mode: Annotated[str, OneOf(*Mode, INTENT)] = Mode.HYBRID.value
    min_similarity: MinSimilarity = Field(
        None,
        description="Inclusive. Of a `vector` the cosine; of a `query` the embedder's calibrated similarity, at which "
        "0.7 is related. Absent: 0.7 in semantic mode, else none. Not used by intent.",
    )
    rerank: bool = Field(
        False,
        description="A second stage reads question and hit together, of the 30 best, where the deployment has one: "
        "better, and some 200 ms of a core. Not used by intent.",
    )
    time_window: Maybe[GivenTimes] = None
    filters: Maybe[Filters] = None
    history: Maybe[History] = Field(None, description="The conversation before it, oldest first.")


class RetrievalStats(AnswerModel):
    records_considered: Count
    records_matched: Count
    records_included: Count
    records_excluded_privacy: Count
    records_excluded_threshold: Count
    retrieval_time_ms: float
    tokens: Count
    date_based_records: Count
    date_based_tokens: Count
    token_savings: float


@dataclass(frozen=True, slots=True)
class Took:
    """What only a request knows: the rules that held for it, and its time."""

    rules_version: str
    duration_ms: float

    @classmethod
    def since(cls, started: float, rules: Rules) -> Self:
        """`started` is a `perf_counter`."""
        return cls(rules.version, _milliseconds_since(started))


class SearchDiagnostics(AnswerModel):
    matched_count: Count
    filtered_count: Count
    returned_count: Count
    dropped: Dropped
    exact: bool
    missing: list[str]
    tail: Count
    tail_cut: bool
    pending: Count
    rules_version: str
    duration_ms: float
    fallback: Maybe[Annotated[str, OneOf("timeline", "lexical", DATE_BASED)]] = None
    fallback_reason: Maybe[Annotated[str, OneOf(*FallbackReason)]] = None
    stats: Maybe[RetrievalStats] = None

    @classmethod
    def of(cls, seen: Seen, returned: int, took: Took, **of_intent: Any) -> Self:
        """What was counted, of a search by intent with its own statistics."""
        return cls.made_of(seen, took, returned_count=returned, fallback=seen.fallback or None, **of_intent)


class SearchAnswer(AnswerModel):
    results: list[ResultAnswer]
    diagnostics: SearchDiagnostics
    analysis: Maybe[QueryAnalysis] = None
    suggestion: Maybe[str] = None
    near_misses: Maybe[list[ResultAnswer]] = None


class FeedbackRequest(RequestModel):
    user_id: Identifier
    positive: bool = Field(description="Whether it helped.")
    mode: Annotated[str, OneOf(INTENT, "other")] = Field(INTENT, description="How it was found; only intent is shown.")


class FeedbackAnswer(AnswerModel):
    counted: bool


class BusQuery(RequestModel):
    type: Maybe[Annotated[str, Text(128)]] = None
    after: Maybe[Identifier] = None


class BusEvent(AnswerModel):
    id: str
    type: str
    time: Time
    detail: Free


class BusPage(AnswerModel):
    events: list[BusEvent]


routes = Routes()


@routes.get(f"{USER}/events", answer=EventsPage)
def list_events(app: App, request: Request, query: EventsQuery) -> Reply:
    """The timeline, newest first."""
    scope = request.scope(query)
    listing = listing_of(app, "events", scope, query)
    asked = _window_query(request, query, _place(query, listing))

    def read(limit: int) -> tuple[list[EventAnswer], WindowPage]:
        page = app.timeline.listing.window(scope, replace(asked, limit=limit))
        return [EventAnswer.model_validate(event) for event in page.events], page

    events, page = fitted(read, asked.limit)
    more = None if page.more is None else seal(_place_after(page.more, asked.window), listing)
    shown = EventsPage(events=list(events), diagnostics=_page_diagnostics(page), next_cursor=more)
    return Reply(200, shown, log={"returned": len(events), "scanned": page.scanned})


def _place(query: EventsQuery, listing: Listing) -> tuple[EventRef, TimeWindow] | None:
    if query.cursor is None:
        return None
    event_id, at, start, end = open_cursor(query.cursor, listing, 4)
    bounds = [from_iso(bound) if bound else None for bound in (start, end)]
    return EventRef(event_id, from_iso(at)), TimeWindow(*bounds)


def _place_after(ref: EventRef, window: TimeWindow) -> list[str | None]:
    """The last event of the page, and the window as it was resolved for the first: it must not slide in a walk."""
    bounds = [iso(bound) if bound else None for bound in (window.start, window.end)]
    return [ref.id, iso(ref.timestamp), *bounds]


def _window_query(request: Request, query: EventsQuery, place: tuple[EventRef, TimeWindow] | None) -> WindowQuery:
    if query.top_k is not None and query.limit is not None:
        raise InvalidInput("is the same as top_k: give one of them", ("query", "limit"))
    after, window = place or (None, window_of(query, request.now, ("query", "from"), DEFAULT_WINDOW))
    return WindowQuery(
        now=request.now,
        window=window,
        limit=query.top_k or query.limit or _PAGE,
        conversation_id=query.conversation_id,
        event_type=query.event_type,
        agent_id=query.agent_id,
        app_id=query.app_id,
        namespace=query.namespace,
        namespace_prefix=query.namespace_prefix,
        after=after,
    )


def _page_diagnostics(page: WindowPage) -> EventsDiagnostics:
    """Of this page: what was scanned is returned, or outside of the window, or filtered by anything else (A-51)."""
    outside = page.dropped.get(DropReason.WINDOW, 0)
    return EventsDiagnostics.made_of(
        page,
        returned=len(page.events),
        filtered_by_context=sum(page.dropped.values()) - outside,
        filtered_by_window=outside,
        dropped={str(reason): count for reason, count in page.dropped.items() if count},
        exact=page.scanned < COUNTED_RECORDS,
    )


@routes.get(f"{USER}/events/{{event_id}}", answer=EventAnswer, errors=(404,))
def get_event(app: App, request: Request, query: Narrowed) -> Reply:
    """One event."""
    event = app.timeline.listing.one(request.scope(query), request.path["event_id"], request.now)
    return Reply(200, EventAnswer.model_validate(event), etag(event.version))


@routes.get(f"{USER}/conversations", answer=ConversationsPage)
def list_conversations(app: App, request: Request, query: Paged) -> Reply:
    """The user's conversations, the last begun first."""
    scope = request.scope()
    listing = listing_of(app, "conversations", scope)
    page = app.timeline.listing.conversations(scope, query.limit, start_of(query, listing))
    return page_reply(ConversationsPage, page.conversations, page.more, listing)


@routes.post("/v1/search", answer=SearchAnswer)
def search(app: App, request: Request, body: SearchRequest) -> Reply:
    """Finds what was said: hybrid, semantic, lexical or by intent, with reasons.

    Engines nominate, the domain ranks, the timeline decides; by intent there is nothing to nominate.
    """
    if body.mode == INTENT:
        return _search_by_intent(app, request, body)
    started = perf_counter()
    scope = request.scope(body)
    recall = _recall_request(app, request, body)
    rules = app.begin_rules(scope.tenant)
    use = app.retrieval.memory if request.call.is_asked_for else app.retrieval.uncounted
    answer = use.search(scope, recall)
    shown = search_shown(answer, (body.query or "") if body.explain else None, Took.since(started, rules.result()))
    named = ("matched_count", "returned_count", "missing", "tail_cut", "pending")
    log = {name: getattr(shown.diagnostics, name) for name in named}
    return Reply(200, shown, log={**log, "mode": body.mode})


def search_shown(answer: Found, asked: str | None, took: Took) -> SearchAnswer:
    """The answer; `asked` is the question where each hit is to be explained, and the near misses are shown."""
    found, near = ([ResultAnswer.of(one, asked) for one in part] for part in (answer.results, answer.near_misses))
    fitting = within_page([*found, *near])
    results, behind = fitting[: len(found)], fitting[len(found) :]
    diagnostics = SearchDiagnostics.of(answer.diagnostics, len(results), took)
    near_misses = None if asked is None else list(behind)
    return SearchAnswer(results=list(results), diagnostics=diagnostics, near_misses=near_misses)


def _recall_request(app: App, request: Request, body: SearchRequest) -> RecallRequest:
    mode, given = Mode(body.mode), body.vector
    if body.query is None and (given is None or mode is Mode.LEXICAL):
        raise InvalidInput("query or vector is required" if given is None else "is required", ("body", "query"))
    dimension = embedding_dimension(app.settings)
    semantic = mode is Mode.SEMANTIC
    least = RELATED if semantic else None
    return RecallRequest(
        text=body.query or "",
        vector=unit(vector_of(given, dimension, ("body", "vector"))) if given else None,
        mode=mode,
        filters=filters_of(body, request.now, body.time_window, body.filters),
        wanted=body.top_k or (3 if semantic else 10),
        min_similarity=least if body.min_similarity is None else body.min_similarity,
        count=True,
        near_misses=NEAR_MISSES if body.explain else 0,
        rerank=body.rerank and body.query is not None,
    )


def _search_by_intent(app: App, request: Request, body: SearchRequest) -> Reply:
    """What the query is about, by keywords and recency; the newest records where it is too short for that."""
    started = perf_counter()
    scope = request.scope(body)
    rules = app.begin_rules(scope.tenant)
    filters = filters_of(body, request.now, body.time_window, body.filters)
    question = _intent_question(body, filters)
    answer = app.intent.retrieve(scope, question, rules)
    asked = question.text if body.explain else None
    shown = intent_shown(answer, asked, Took.since(started, rules.result()))
    return Reply(200, shown, log=_intent_log(answer), metrics=_intent_metrics(answer))


def _intent_question(body: SearchRequest, filters: SearchFilters) -> IntentQuestion:
    if body.query is None:
        raise InvalidInput("is required", ("body", "query"))
    return IntentQuestion(
        text=body.query,
        filters=filters,
        active_space_id=body.active_space_id,
        history=body.history or (),
        wanted=body.top_k or _BY_INTENT,
    )


def intent_shown(answer: IntentAnswer, asked: str | None, took: Took) -> SearchAnswer:
    """The answer; `asked` is the question where each hit is to be explained."""
    fitting = within_page([ResultAnswer.of(one, asked) for one in answer.results])
    stats = RetrievalStats.made_of(
        answer.stats,
        retrieval_time_ms=round(answer.stats.retrieval_time.total_seconds() * 1000, 3),
        tokens=answer.size.tokens,
        date_based_records=answer.date_based.records,
        date_based_tokens=answer.date_based.tokens,
        token_savings=round(answer.token_savings, 4),
    )
    of_intent = {"stats": stats, "fallback_reason": answer.fallback}
    diagnostics = SearchDiagnostics.of(answer.diagnostics, len(fitting), took, **of_intent)
    return SearchAnswer.made_of(answer, results=fitting, diagnostics=diagnostics)


def _intent_metrics(answer: IntentAnswer) -> dict[str, float]:
    """What the dashboard shows of one query (R-115 to R-119).

    Averages of the ones that are 0 or 1 are rates. A greeting is no query that ought to have found something, so it
    does not count among the fallbacks (R-117).
    """
    named = {intent: f"Intent{intent.value.capitalize()}" for intent in IntentName}
    intent = answer.analysis.intent if answer.analysis is not None else None
    counted = {} if intent is IntentName.GREETING else {"IntentFallbacks": int(answer.fallback is not None)}
    return {
        "IntentQueries": 1,
        "IntentRecords": answer.size.records,
        "IntentRecordsStage4": answer.date_based.records,
        "IntentTokens": answer.size.tokens,
        "IntentTokensStage4": answer.date_based.tokens,
        "IntentRetrievalMs": round(answer.times.total_ms, 3),
        "IntentZeroMatches": int(not answer.results),
        "IntentCrossSpace": int(answer.crosses_spaces),
        **({named[intent]: 1} if intent is not None else {}),
        **counted,
    }


def _intent_log(answer: IntentAnswer) -> dict[str, Any]:
    return {
        "mode": "intent",
        "matched_count": answer.diagnostics.matched_count,
        "returned_count": answer.diagnostics.returned_count,
        "fallback_reason": answer.fallback.value if answer.fallback is not None else None,
        "tail_cut": answer.diagnostics.tail_cut,
        "pending": answer.diagnostics.pending,
    }


def _milliseconds_since(started: float) -> float:
    return round((perf_counter() - started) * 1000, 1)


@routes.post("/v1/feedback", answer=FeedbackAnswer)
def give_feedback(_app: App, request: Request, body: FeedbackRequest) -> Reply:
    """Says whether a search helped; it is counted, and nothing is stored.

    The metric is 1 or 0, so that its average is the share of what helped (R-98).
    """
    request.scope(body)
    counted = body.mode == INTENT
    metrics: Mapping[str, Any] = {FEEDBACK: int(body.positive)} if counted else {}
    log = {"positive": body.positive, "mode": body.mode}
    return Reply(200, FeedbackAnswer(counted=counted), log=log, metrics=metrics)


@routes.get("/v1/bus", answer=BusPage, admin=True)
def list_bus(app: App, request: Request, query: BusQuery) -> Reply:
    """The tenant's last 1,000 published events, oldest first."""
    published = app.parts.publisher.published(request.principal.tenant, query.type, query.after)
    events = [BusEvent.model_validate(event) for event in published]
    return Reply(200, BusPage(events=list(within_page(events))), log={"returned": len(events)})
