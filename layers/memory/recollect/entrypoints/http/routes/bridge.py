"""The bridge: signals about the episodic store, the audit of a user, and the ledger in it (api.md, *Operations*)."""

import time
from collections.abc import Mapping
from typing import Any

from recollect.app import App
from recollect.core.ids import IdSeed
from recollect.entrypoints.http.cursors import Listing, open_cursor, seal
from recollect.entrypoints.http.fields import Shape, choice, identifier, in_query, text, whole
from recollect.entrypoints.http.idempotency import REPLAYED, claim_of
from recollect.entrypoints.http.messages import Reply, Request
from recollect.entrypoints.http.routing import COMMON_STATUSES, READ_STATUSES, Route
from recollect.entrypoints.http.run_once import Answer, run_once
from recollect.memories.audit import OUTCOMES, Action, AuditEntry, audit_json
from recollect.memories.audit_log import AuditFilter
from recollect.memories.deferred_promotion import DEFAULT_SEVERITY, Signal, SignalType

_SIGNALS_ROUTE = "POST /v1/signals"
_SOURCE_BYTES = 256
_REASON_BYTES = 1024

SIGNAL_BODY = Shape(
    "SignalRequest",
    {
        "type": choice(*SignalType).needed().described("A warning suspends automatic promotion, healthy resumes it."),
        "source": text(max_bytes=_SOURCE_BYTES, blank=False).needed().described("Who tells."),
        "severity": text(max_bytes=64, blank=False).described(f"Such as low, high; absent: {DEFAULT_SEVERITY}."),
        "reason": text(max_bytes=_REASON_BYTES, blank=False).described("Such as write latency; no contents."),
    },
)
_PAGE = {"limit": in_query(whole(1, 200, default=50)), "cursor": text(max_bytes=4096)}
AUDIT_QUERY = Shape("AuditQuery", {"target_id": identifier(), "action": choice(*Action), **_PAGE})
LEDGER_QUERY = Shape("LedgerQuery", {"outcome": choice(*OUTCOMES), "event_id": identifier(), **_PAGE})


def send_signal(app: App, request: Request) -> Reply:
    """Suspends or resumes automatic promotion; a warning is forwarded on the bus."""
    tenant, values = request.principal.tenant, request.values

    def work(seed: IdSeed) -> Answer:
        asked = {**values, "type": SignalType(values["type"])}
        outcome = app.memories.signal_bridge(tenant, Signal(id=seed.nth(0), **asked), request.now)
        body: dict[str, Any] = {"type": values["type"], "suspended": outcome.suspended}
        if outcome.event_id is not None:
            body |= {"event_id": outcome.event_id, "forwarded": outcome.forwarded}
        return Answer(200, body)

    seed = app.ids.seed(int(time.time() * 1000))
    claim = claim_of(request, _SIGNALS_ROUTE, seed)
    answer = run_once(app.parts.idempotency, claim, work) if claim else work(seed)
    log = {**answer.body, "replayed": answer.replayed}
    return Reply(answer.status, answer.body, REPLAYED if answer.replayed else {}, log=log)


def list_audit(app: App, request: Request) -> Reply:
    """What was changed and refused of a user's memory, newest first."""
    query = request.query
    action = Action(query["action"]) if "action" in query else None
    return _page(app, request, "audit", AuditFilter(target_id=query.get("target_id"), action=action))


def list_ledger(app: App, request: Request) -> Reply:
    """What became of events: the entries of the audit that tell an outcome."""
    query = request.query
    wanted = AuditFilter(event_id=query.get("event_id"), outcome=query.get("outcome"), decisions=True)
    return _page(app, request, "ledger", wanted)


def _page(app: App, request: Request, name: str, wanted: AuditFilter) -> Reply:
    query = request.query
    scope = request.scope({"user_id": request.path["user_id"]})
    filters = {key: value for key, value in query.items() if key not in ("limit", "cursor")}
    listing = Listing(f"{app.settings.engines}:{app.settings.table}", name, scope, filters)
    after = open_cursor(query["cursor"], listing, 1)[0] if "cursor" in query else None
    page = app.memories.audit(scope, query["limit"], after, wanted)
    body: dict[str, Any] = {"entries": [_entry_json(entry) for entry in page.entries]}
    if page.more is not None:
        body["next_cursor"] = seal([page.more], listing)
    return Reply(200, body, log={"returned": len(page.entries)})


def _entry_json(entry: AuditEntry) -> Mapping[str, Any]:
    return {"id": entry.id, **audit_json(entry)}


_USER = "/v1/users/{user_id}"
ROUTES = (
    Route(
        method="POST",
        path="/v1/signals",
        operation="signal",
        summary="Warns of the episodic store, which suspends automatic promotion, or says that it is healthy again",
        handle=send_signal,
        body=SIGNAL_BODY,
        answer="SignalAnswer",
        statuses=(200, 409, *COMMON_STATUSES),
        idempotent=True,
        admin=True,
    ),
    Route(
        method="GET",
        path=f"{_USER}/audit",
        operation="listAudit",
        summary="Every change and refusal of a user's memory, newest first, without contents",
        handle=list_audit,
        query=AUDIT_QUERY,
        answer="AuditPage",
        statuses=(200, *READ_STATUSES),
    ),
    Route(
        method="GET",
        path=f"{_USER}/ledger",
        operation="listLedger",
        summary="What the bridge made of events, newest first: outcome, memories, or the failure",
        handle=list_ledger,
        query=LEDGER_QUERY,
        answer="AuditPage",
        statuses=(200, *READ_STATUSES),
    ),
)
