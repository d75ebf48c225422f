"""What was decided between memories, what is still open, and a person's word on both (api.md, *Arbitration*)."""

from collections.abc import Mapping
from typing import Any

from recollect.app import App
from recollect.contradictions.decisions import ConflictStatus, DecisionStatus, Step
from recollect.contradictions.ledger import DecisionFilter
from recollect.core.scope import Scope
from recollect.entrypoints.http.contradiction_json import conflict_json, decision_json
from recollect.entrypoints.http.cursors import Listing, open_cursor, seal
from recollect.entrypoints.http.deciding import resolve_conflict, revert_decision
from recollect.entrypoints.http.fields import Shape, choice, identifier, in_query, text, whole
from recollect.entrypoints.http.messages import Reply, Request
from recollect.entrypoints.http.routing import COMMON_STATUSES, READ_STATUSES, Route

_NARROWING = {"persona_id": identifier(), "household_id": identifier()}
_LIST = {**_NARROWING, "limit": in_query(whole(1, 200, default=50)), "cursor": text(max_bytes=4096)}
DECISIONS_QUERY = Shape(
    "DecisionsQuery",
    {
        "status": choice(*DecisionStatus).described("Whether it holds, was taken back, or fell with its winner."),
        "step": choice(*Step).described("What decided."),
        "winner": identifier(),
        "loser": identifier(),
        **_LIST,
    },
)
CONFLICTS_QUERY = Shape("ConflictsQuery", {"status": choice(*ConflictStatus), **_LIST})
DECIDING_QUERY = Shape("DecidingQuery", _NARROWING)
RESOLUTION = Shape("Resolution", {"winner": identifier().needed().described("The one of the two that counts.")})


def list_decisions(app: App, request: Request) -> Reply:
    """A page of the ledger, what the newest records won first."""
    query, scope = request.query, _scope(request)
    listing = _listing(app, "arbitrations", scope, query)
    wanted = DecisionFilter(
        status=DecisionStatus(query["status"]) if "status" in query else None,
        step=Step(query["step"]) if "step" in query else None,
        winner=query.get("winner"),
        loser=query.get("loser"),
    )
    page = app.contradictions.decisions(scope, query["limit"], _after(query, listing), wanted)
    return _page("arbitrations", [decision_json(scope, one) for one in page.decisions], page.more, listing)


def list_conflicts(app: App, request: Request) -> Reply:
    """A page of conflicts as they stand, those of the newest records first."""
    query, scope = request.query, _scope(request)
    listing = _listing(app, "conflicts", scope, query)
    status = ConflictStatus(query["status"]) if "status" in query else None
    page = app.contradictions.conflicts(scope, query["limit"], _after(query, listing), status, request.now)
    return _page("conflicts", [conflict_json(one) for one in page.conflicts], page.more, listing)


def _page(name: str, found: list[dict[str, Any]], more: str | None, listing: Listing) -> Reply:
    body: dict[str, Any] = {name: found}
    if more is not None:
        body["next_cursor"] = seal([more], listing)
    return Reply(200, body, log={"returned": len(found)})


def _after(query: Mapping[str, Any], listing: Listing) -> str | None:
    return open_cursor(query["cursor"], listing, 1)[0] if "cursor" in query else None


def _listing(app: App, name: str, scope: Scope, query: Mapping[str, Any]) -> Listing:
    filters = {key: value for key, value in query.items() if key not in ("limit", "cursor")}
    return Listing(f"{app.settings.engines}:{app.settings.table}", name, scope, filters)


def _scope(request: Request) -> Scope:
    return request.scope({**request.query, "user_id": request.path["user_id"]})


_USER = "/v1/users/{user_id}"
ROUTES = (
    Route(
        method="GET",
        path=f"{_USER}/arbitrations",
        operation="listDecisions",
        summary="What was decided between memories, by which rule, and how to undo it",
        handle=list_decisions,
        query=DECISIONS_QUERY,
        answer="DecisionsPage",
        statuses=(200, *READ_STATUSES),
    ),
    Route(
        method="POST",
        path=f"{_USER}/arbitrations/{{arbitration_id}}/revert",
        operation="revertDecision",
        summary="Takes a decision back: the loser counts again; it is not decided so again",
        handle=revert_decision,
        query=DECIDING_QUERY,
        answer="DecisionReverted",
        statuses=(200, 404, 409, *READ_STATUSES),
        idempotent=True,
    ),
    Route(
        method="GET",
        path=f"{_USER}/conflicts",
        operation="listConflicts",
        summary="Memories of which no rule can tell which counts, with the arbiter's proposal",
        handle=list_conflicts,
        query=CONFLICTS_QUERY,
        answer="ConflictsPage",
        statuses=(200, *READ_STATUSES),
    ),
    Route(
        method="POST",
        path=f"{_USER}/conflicts/{{conflict_id}}/resolve",
        operation="resolveConflict",
        summary="A person's word on which of the two counts; the other one is superseded",
        handle=resolve_conflict,
        query=DECIDING_QUERY,
        body=RESOLUTION,
        answer="ConflictResolved",
        statuses=(200, 404, 409, *COMMON_STATUSES),
        idempotent=True,
    ),
)
