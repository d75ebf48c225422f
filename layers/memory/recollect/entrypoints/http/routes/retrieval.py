"""Reading: events as they stand, conversations, search, and the bus."""

from recollect.core.event import SPOKEN_TYPES
from recollect.entrypoints.http.event_drafts import vector
from recollect.entrypoints.http.feedback import FEEDBACK_BODY, give_feedback
from recollect.entrypoints.http.fields import Field, Shape, choice, identifier, in_query, instant, number, text, whole
from recollect.entrypoints.http.intent_searching import INTENT
from recollect.entrypoints.http.listing import PAGE, get_event, list_bus, list_conversations, list_events
from recollect.entrypoints.http.questions import (
    MOST_DAYS,
    TALK,
    TEXT_BYTES,
    WHEN,
    WHOSE,
    search_filters,
    search_window,
)
from recollect.entrypoints.http.routing import COMMON_STATUSES, READ_STATUSES, Route
from recollect.entrypoints.http.searching import search
from recollect.retrieval.ranking import Mode


def _limit(default: int | None = PAGE) -> Field:
    return in_query(whole(1, 200, default=default))


_NARROWING = {"persona_id": identifier(), "household_id": identifier()}
EVENTS_QUERY = Shape(
    "EventsQuery",
    {
        **_NARROWING,
        "conversation_id": identifier(),
        "event_type": choice(*SPOKEN_TYPES),
        "from": instant().described("Inclusive."),
        "to": instant().described("Inclusive."),
        "last_days": in_query(number(0, MOST_DAYS)).described("Without any bound: the last 30 days."),
        "top_k": _limit(None).described("The same as `limit`; absent: 50."),
        "limit": _limit(None),
        "cursor": text(max_bytes=4096),
    },
)
EVENT_QUERY = Shape("EventQuery", _NARROWING)
LIST_QUERY = Shape("ListQuery", {"limit": _limit(), "cursor": text(max_bytes=4096)})
BUS_QUERY = Shape("BusQuery", {"type": text(max_bytes=128), "after": identifier()})
SEARCH_BODY = Shape(
    "SearchRequest",
    {
        **WHOSE,
        "query": text(max_bytes=TEXT_BYTES, blank=False).described("This, or `vector`, or both."),
        "vector": vector().described("The caller's own vector, of the embedder's dimension."),
        "top_k": whole(1, 100).described("Absent: 10; 3 in semantic mode. By intent at most 15."),
        "mode": choice(*Mode, INTENT, default=Mode.HYBRID.value),
        "min_similarity": number(-1, 1).described(
            "Inclusive. Of a `vector` the cosine; of a `query` the embedder's calibrated similarity, at which 0.7 is "
            "related. Absent: 0.7 in semantic mode, else none. Not used by intent."
        ),
        "time_window": search_window(),
        "filters": search_filters(),
        **TALK,
        **WHEN,
    },
)

_USER = "/v1/users/{user_id}"
ROUTES = (
    Route(
        method="GET",
        path=f"{_USER}/events",
        operation="listEvents",
        summary="The timeline, newest first",
        handle=list_events,
        query=EVENTS_QUERY,
        answer="EventsPage",
        statuses=(200, *READ_STATUSES),
    ),
    Route(
        method="GET",
        path=f"{_USER}/events/{{event_id}}",
        operation="getEvent",
        summary="One event",
        handle=get_event,
        query=EVENT_QUERY,
        answer="Event",
        statuses=(200, 404, *READ_STATUSES),
    ),
    Route(
        method="GET",
        path=f"{_USER}/conversations",
        operation="listConversations",
        summary="The user's conversations, the last begun first",
        handle=list_conversations,
        query=LIST_QUERY,
        answer="ConversationsPage",
        statuses=(200, *READ_STATUSES),
    ),
    Route(
        method="POST",
        path="/v1/search",
        operation="search",
        summary="Finds what was said: hybrid, semantic, lexical or by intent, with reasons",
        handle=search,
        body=SEARCH_BODY,
        answer="SearchAnswer",
        statuses=(200, *COMMON_STATUSES),
    ),
    Route(
        method="POST",
        path="/v1/feedback",
        operation="giveFeedback",
        summary="Says whether a search helped; it is counted, and nothing is stored",
        handle=give_feedback,
        body=FEEDBACK_BODY,
        answer="FeedbackAnswer",
        statuses=(200, *COMMON_STATUSES),
    ),
    Route(
        method="GET",
        path="/v1/bus",
        operation="listBus",
        summary="The tenant's last 1,000 published events, oldest first",
        handle=list_bus,
        query=BUS_QUERY,
        answer="BusPage",
        statuses=(200, *READ_STATUSES),
        admin=True,
    ),
)
