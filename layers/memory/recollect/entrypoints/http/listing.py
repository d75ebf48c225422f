"""Lists, read without ranking: the timeline, one event, conversations, the bus."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from recollect.app import App
from recollect.core.errors import InvalidInput
from recollect.core.event import EventRef
from recollect.core.scope import Scope
from recollect.core.time import from_iso, iso
from recollect.entrypoints.http.cursors import Listing, open_cursor, seal
from recollect.entrypoints.http.messages import Reply, Request
from recollect.entrypoints.http.questions import window_of
from recollect.entrypoints.http.representations import event_json, within_page
from recollect.retrieval.filters import DropReason, TimeWindow
from recollect.timeline.listing import DEFAULT_WINDOW
from recollect.timeline.timeline import COUNTED_RECORDS, WindowPage, WindowQuery

PAGE = 50


def list_events(app: App, request: Request) -> Reply:
    """A page of the timeline, newest first."""
    query = request.query
    scope = request.scope({**query, "user_id": request.path["user_id"]})
    listing = _listing(app, "events", scope, query)
    asked = _window_query(request, _place(query, listing))
    page = app.timeline.listing.window(scope, asked)
    events: Sequence[Mapping[str, Any]] = [event_json(event) for event in page.events]
    fitting = within_page(events)
    if len(fitting) < len(events):
        page = app.timeline.listing.window(scope, replace(asked, limit=len(fitting)))
        events = fitting
    body: dict[str, Any] = {"events": events, "diagnostics": _page_diagnostics(page)}
    if page.more is not None:
        body["next_cursor"] = seal(_place_after(page.more, asked.window), listing)
    return Reply(200, body, log={"returned": len(events), "scanned": page.scanned})


def _listing(app: App, name: str, scope: Scope, query: Mapping[str, Any]) -> Listing:
    """A cursor stays good for another limit, and for nothing else that is different."""
    filters = {key: value for key, value in query.items() if key not in ("limit", "top_k", "cursor")}
    return Listing(f"{app.settings.engines}:{app.settings.table}", name, scope, filters)


def _place(query: Mapping[str, Any], listing: Listing) -> tuple[EventRef, TimeWindow] | None:
    if "cursor" not in query:
        return None
    event_id, at, start, end = open_cursor(query["cursor"], listing, 4)
    bounds = [from_iso(bound) if bound else None for bound in (start, end)]
    return EventRef(event_id, from_iso(at)), TimeWindow(*bounds)


def _place_after(ref: EventRef, window: TimeWindow) -> list[str | None]:
    """The last event of the page, and the window as it was resolved for the first: it must not slide in a walk."""
    bounds = [iso(bound) if bound else None for bound in (window.start, window.end)]
    return [ref.id, iso(ref.timestamp), *bounds]


def _window_query(request: Request, place: tuple[EventRef, TimeWindow] | None) -> WindowQuery:
    query = request.query
    if "top_k" in query and "limit" in query:
        raise InvalidInput("is the same as top_k: give one of them", ("query", "limit"))
    after, window = place or (None, window_of(query, request.now, ("query", "from"), DEFAULT_WINDOW))
    return WindowQuery(
        now=request.now,
        window=window,
        limit=query.get("top_k", query.get("limit", PAGE)),
        conversation_id=query.get("conversation_id"),
        event_type=query.get("event_type"),
        after=after,
    )


def _page_diagnostics(page: WindowPage) -> dict[str, Any]:
    """Of this page: what was scanned is returned, or outside of the window, or filtered by anything else (A-51)."""
    outside = page.dropped.get(DropReason.WINDOW, 0)
    return {
        "scanned": page.scanned,
        "returned": len(page.events),
        "filtered_by_context": sum(page.dropped.values()) - outside,
        "filtered_by_window": outside,
        "dropped": {str(reason): count for reason, count in page.dropped.items() if count},
        "exact": page.scanned < COUNTED_RECORDS,
    }


def get_event(app: App, request: Request) -> Reply:
    """One event; another user's is not found."""
    scope = request.scope({**request.query, "user_id": request.path["user_id"]})
    event = app.timeline.listing.one(scope, request.path["event_id"], request.now)
    return Reply(200, event_json(event), {"ETag": f'"{event.version}"'})


def list_conversations(app: App, request: Request) -> Reply:
    """The user's conversations, the last begun first."""
    query = request.query
    scope = request.scope({"user_id": request.path["user_id"]})
    listing = _listing(app, "conversations", scope, query)
    after = open_cursor(query["cursor"], listing, 1)[0] if "cursor" in query else None
    page = app.timeline.listing.conversations(scope, query["limit"], after)
    found = [{"id": one.id, "started_at": iso(one.started_at)} for one in page.conversations]
    body: dict[str, Any] = {"conversations": found}
    if page.more is not None:
        body["next_cursor"] = seal([page.more], listing)
    return Reply(200, body, log={"returned": len(found)})


def list_bus(app: App, request: Request) -> Reply:
    """The tenant's last 1,000 published events, oldest first."""
    query = request.query
    published = app.parts.publisher.published(request.principal.tenant, query.get("type"), query.get("after"))
    events = [
        {"id": event.id, "type": event.type, "time": iso(event.time), "detail": dict(event.detail)}
        for event in published
    ]
    return Reply(200, {"events": within_page(events)}, log={"returned": len(events)})
