"""Deleting: one event, or a slot with its whole history (api.md, *Deleting*)."""

from recollect.app import App
from recollect.deletion.forget_events import Forgotten
from recollect.entrypoints.http.fields import Shape, identifier
from recollect.entrypoints.http.messages import Reply, Request
from recollect.entrypoints.http.preconditions import matches
from recollect.entrypoints.http.rejecting import (
    LIFT_QUERY,
    LIST_QUERY,
    REJECT,
    lift_rejection,
    list_rejections,
    rejecting,
)
from recollect.entrypoints.http.routes.erasures import ROUTES as ERASURE_ROUTES
from recollect.entrypoints.http.routing import READ_STATUSES, Route

FORGET_QUERY = Shape(
    "ForgetQuery",
    {
        "persona_id": identifier(),
        "household_id": identifier(),
        "reject": REJECT,
    },
)
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

    def accepts(version: int) -> bool:
        return matches(headers, version)

    def forget() -> Forgotten:
        return app.deletion.forget(scope, event_id=event_id, now=request.now, accepts=accepts)

    if request.query["reject"] == "false":
        return _gone(forget())
    order = rejecting(request, scope, "delete", event_id)
    return _gone(app.deletion.reject.event(scope, event_id, order, forget, accepts))


def delete_key(app: App, request: Request) -> Reply:
    """Deletes all values that a slot has had."""
    scope = request.scope({**request.query, "user_id": request.path["user_id"]})
    return _gone(app.deletion.forget(scope, key=request.path["key"], now=request.now))


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
    Route(
        method="GET",
        path=f"{_USER}/rejections",
        operation="listRejections",
        summary="The values that were rejected: ids, times and scopes, no text",
        handle=list_rejections,
        query=LIST_QUERY,
        answer="RejectionsPage",
        statuses=(200, *READ_STATUSES),
    ),
    Route(
        method="DELETE",
        path=f"{_USER}/rejections/{{rejection_id}}",
        operation="liftRejection",
        summary="Lets a rejected value in again; what was deleted stays deleted",
        handle=lift_rejection,
        query=LIFT_QUERY,
        answer="Nothing",
        statuses=(204, 404, *READ_STATUSES),
    ),
    *ERASURE_ROUTES,
)
