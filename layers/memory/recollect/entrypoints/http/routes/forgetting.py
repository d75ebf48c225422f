"""Deleting: one event, or a slot with its whole history (api.md, *Deleting*)."""

from recollect.app import App
from recollect.application.forget_events import Forgotten
from recollect.entrypoints.http.fields import Shape, identifier
from recollect.entrypoints.http.messages import Reply, Request
from recollect.entrypoints.http.preconditions import matches
from recollect.entrypoints.http.routing import READ_STATUSES, Route

FORGET_QUERY = Shape("ForgetQuery", {"persona_id": identifier(), "household_id": identifier()})
SLOT_QUERY = Shape(
    "SlotQuery",
    {
        "persona_id": identifier().described("Absent: the default persona's slot."),
        "household_id": identifier().described("Absent: the slot without a household."),
    },
)


def delete_event(app: App, request: Request) -> Reply:
    """Deletes one event, in the version that `If-Match` names."""
    scope = request.scope({**request.query, "user_id": request.path["user_id"]})
    event_id, headers = request.path["event_id"], request.call.headers
    forgotten = app.forget(scope, event_id=event_id, now=request.now, accepts=lambda version: matches(headers, version))
    return _gone(forgotten)


def delete_key(app: App, request: Request) -> Reply:
    """Deletes all values that a slot has had."""
    scope = request.scope({**request.query, "user_id": request.path["user_id"]})
    return _gone(app.forget(scope, key=request.path["key"], now=request.now))


def _gone(forgotten: Forgotten) -> Reply:
    return Reply(204, "", log={"deleted": len(forgotten.event_ids)})


_USER = "/v1/users/{user_id}"
ROUTES = (
    Route(
        method="DELETE",
        path=f"{_USER}/events/{{event_id}}",
        operation="deleteEvent",
        summary="Deletes an event and what was derived from it; the same event sent again is refused",
        handle=delete_event,
        query=FORGET_QUERY,
        answer="Nothing",
        statuses=(204, 404, 412, *READ_STATUSES),
    ),
    Route(
        method="DELETE",
        path=f"{_USER}/keys/{{key}}",
        operation="deleteKey",
        summary="Deletes a slot with its whole history; no older value comes back",
        handle=delete_key,
        query=SLOT_QUERY,
        answer="Nothing",
        statuses=(204, 404, *READ_STATUSES),
    ),
)
