"""Rejected values over HTTP: `?reject=true`, the list, and lifting one (api.md, *Deleting*)."""

from typing import Any

from recollect.app import App
from recollect.core.scope import Scope
from recollect.core.time import iso
from recollect.deletion.reject import Rejecting
from recollect.deletion.rejected_values import RejectedValue
from recollect.entrypoints.http.cursors import Listing, open_cursor, seal
from recollect.entrypoints.http.fields import Shape, choice, identifier, in_query, text, whole
from recollect.entrypoints.http.messages import Reply, Request
from recollect.memories.audit import Actor, ActorKind

_SCOPE = {"persona_id": identifier().described("Absent: every persona."), "household_id": identifier()}
REJECT = choice("true", "false", default="false").described(
    "Refuses the value in its scope from now on, however it is written."
)
LIST_QUERY = Shape(
    "RejectionsQuery", {**_SCOPE, "limit": in_query(whole(1, 200, default=50)), "cursor": text(max_bytes=4096)}
)
LIFT_QUERY = Shape("LiftQuery", _SCOPE)


def rejecting(request: Request, scope: Scope, via: str, *target_ids: str) -> Rejecting:
    """The order that a user's request gives."""
    actor = Actor(ActorKind.USER, scope.user_id)
    return Rejecting(now=request.now, actor=actor, via=via, target_ids=target_ids)


def list_rejections(app: App, request: Request) -> Reply:
    """Oldest first."""
    query = request.query
    scope = request.scope({**query, "user_id": request.path["user_id"]})
    filters = {name: value for name, value in query.items() if name in _SCOPE}
    listing = Listing(f"{app.settings.engines}:{app.settings.table}", "rejections", scope, filters)
    after = open_cursor(query["cursor"], listing, 1)[0] if "cursor" in query else None
    page = app.deletion.reject.page(scope, query["limit"], after)
    body: dict[str, Any] = {"rejections": [_rejection_json(scope, value) for value in page.values]}
    if page.more is not None:
        body["next_cursor"] = seal([page.more], listing)
    return Reply(200, body, log={"returned": len(page.values)})


def lift_rejection(app: App, request: Request) -> Reply:
    """Lifts one."""
    scope = request.scope({**request.query, "user_id": request.path["user_id"]})
    rejection_id = request.path["rejection_id"]
    app.deletion.reject.lift(scope, rejection_id, rejecting(request, scope, "lift", rejection_id))
    return Reply(204, "", log={"lifted": 1})


def _rejection_json(scope: Scope, value: RejectedValue) -> dict[str, Any]:
    named = {"user_id": scope.user_id, "persona_id": value.persona_id, "household_id": value.household_id}
    return {
        "id": value.id,
        "time": iso(value.at),
        "scope": {name: one for name, one in named.items() if one is not None},
    }
