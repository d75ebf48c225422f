"""Exports, imports and the list of snapshots (api.md, *Deleting*, *Operations*)."""

import json
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from recollect.app import App
from recollect.archive.record_line import RecordLine, line_fault, read_line
from recollect.archive.snapshot import snapshot_json
from recollect.archive.transfer import ImportOrder, LineOutcome
from recollect.core.errors import OutOfTime, StoredDataError
from recollect.core.event import EventRef
from recollect.core.ids import IdSeed
from recollect.core.scope import Scope
from recollect.core.time import from_iso, iso
from recollect.entrypoints.http.cursors import Listing, open_cursor, seal
from recollect.entrypoints.http.event_drafts import embedding_dimension
from recollect.entrypoints.http.idempotency import REPLAYED, claim_of
from recollect.entrypoints.http.ids import path_segment
from recollect.entrypoints.http.json_values import NotJson
from recollect.entrypoints.http.messages import Reply, Request
from recollect.entrypoints.http.run_once import Answer, run_once
from recollect.memories.audit import Actor, ActorKind

NDJSON = "application/x-ndjson"
_IMPORT_ROUTE = "POST /v1/users/{user_id}/import"
_AT_ONCE = 100
_RESERVE_SECONDS = 2.0
_NAMED_AT_MOST = 20


def export_page(app: App, request: Request) -> Reply:
    """A page of a user's records, oldest first; `Link` names the next one."""
    query = request.query
    scope = request.scope({**query, "user_id": request.path["user_id"]})
    filters = {name: value for name, value in query.items() if name != "cursor"}
    listing = Listing(f"{app.settings.engines}:{app.settings.table}", "export", scope, filters)
    after = None
    if "cursor" in query:
        event_id, at = open_cursor(query["cursor"], listing, 2)
        after = EventRef(event_id, from_iso(at))
    page = app.segments.export.page(scope, after, request.now)
    headers = {}
    if page.more is not None:
        cursor = seal([page.more.id, iso(page.more.timestamp)], listing)
        path = f"/v1/users/{path_segment(scope.user_id)}/export"
        headers["Link"] = f'<{path}?{urlencode({**filters, "cursor": cursor})}>; rel="next"'
    return Reply(200, page.text, headers, NDJSON, {"returned": page.lines})


def import_page(app: App, request: Request) -> Reply:
    """Stores a page of an export, and counts what became of its lines."""
    scope = request.scope({"user_id": request.path["user_id"]})
    given = read_page(request.call.body, embedding_dimension(app.settings))
    over = time.monotonic() + request.call.remaining_seconds - _RESERVE_SECONDS

    def work(_seed: IdSeed) -> Answer:
        return Answer(200, {**_counts(_imported(app, scope, given, request, over))})

    seed = app.ids.seed(int(time.time() * 1000))
    claim = claim_of(request, f"{_IMPORT_ROUTE} {json.dumps(scope.user_id)}", seed)
    answer = run_once(app.parts.idempotency, claim, work) if claim else work(seed)
    body = {**answer.body, "errors": given.faults[:_NAMED_AT_MOST]}
    return Reply(answer.status, body, REPLAYED if answer.replayed else {}, log=answer.body)


@dataclass(slots=True)
class GivenPage:
    """The lines of a page that can be stored, and what is wrong with the others."""

    lines: list[RecordLine] = field(default_factory=list)
    faults: list[dict[str, Any]] = field(default_factory=list)


def read_page(body: bytes, dimension: int) -> GivenPage:
    """The lines of NDJSON; an empty one is none. Raises NotJson where the body is not UTF-8."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        raise NotJson("the body is not UTF-8") from None
    page = GivenPage()
    for number, line in enumerate(text.split("\n"), start=1):
        take_line(page, number, line, dimension)
    return page


def take_line(page: GivenPage, number: int, text: str, dimension: int) -> None:
    """Adds a line to the page, or what is wrong with it; an empty one is none."""
    if not text.strip():
        return
    try:
        line = read_line(text)
    except StoredDataError:
        page.faults.append({"line": number, "message": "is no line of an export"})
        return
    fault = line_fault(line, dimension)
    if fault is None:
        page.lines.append(line)
    else:
        page.faults.append({"line": number, "message": f"{fault} is invalid"})


def _imported(app: App, scope: Scope, given: GivenPage, request: Request, over: float) -> Counter[LineOutcome]:
    """In slices, so that a call that runs out of time has stored whole ones. Raises OutOfTime."""
    order = ImportOrder(actor=Actor(ActorKind.USER, scope.user_id), via="import", now=request.now)
    counts: Counter[LineOutcome] = Counter({LineOutcome.INVALID: len(given.faults)})
    for start in range(0, len(given.lines), _AT_ONCE):
        if start and time.monotonic() > over:
            raise OutOfTime(f"{start} of {len(given.lines)} records are stored: send the page again")
        counts.update(app.archive.import_memories(scope, given.lines[start : start + _AT_ONCE], order).counts)
    return counts


def _counts(counts: Mapping[LineOutcome, int]) -> dict[str, int]:
    return {outcome.value: counts.get(outcome, 0) for outcome in LineOutcome}


def list_snapshots(app: App, request: Request) -> Reply:
    """The tenant's snapshots, the newest first."""
    query, tenant = request.query, request.principal.tenant
    listing = Listing(f"{app.settings.engines}:{app.settings.table}", "snapshots", Scope(tenant, ""))
    after = open_cursor(query["cursor"], listing, 1)[0] if "cursor" in query else None
    page = app.segments.snapshots.page(tenant, query["limit"], after)
    body: dict[str, Any] = {"snapshots": [snapshot_json(one) for one in page.snapshots]}
    if page.more is not None:
        body["next_cursor"] = seal([page.more], listing)
    return Reply(200, body, log={"returned": len(page.snapshots)})
