"""What leaves the store and comes back: exports and imports of a user, snapshots of a tenant.

`docs/operations.md`: *Back up*, *Restore*, *One user: export and import*.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from recollect.app import App
from recollect.archive.item_transfer import ItemLine, read_item_line
from recollect.archive.log_transfer import read_log_line
from recollect.archive.record_line import RecordLine, line_fault, read_line
from recollect.archive.transfer import ExportPage, ImportOrder, LineOutcome, LinesPage
from recollect.core.errors import OutOfTime, StoredDataError
from recollect.core.event import EventRef
from recollect.core.scope import Scope
from recollect.core.time import from_iso, iso
from recollect.entrypoints.http.cursors import listing_of, open_cursor, page_reply, seal, start_of
from recollect.entrypoints.http.headers import Answer, Attempt, countdown, idempotent
from recollect.entrypoints.http.messages import Reply, Request, user_in
from recollect.entrypoints.http.models import (
    AnswerModel,
    Count,
    Counts,
    Cursor,
    Maybe,
    Narrowed,
    Paged,
    Time,
    embedding_dimension,
    page_of,
    utf8,
)
from recollect.entrypoints.http.routing import USER, Routes, path_segment
from recollect.session_log.lasting import Logged

NDJSON = "application/x-ndjson"
_AT_ONCE = 100
_RESERVE_SECONDS = 2.0
_NAMED_AT_MOST = 20
_ITEMS = "items"
_LOGS = "logs"


class ExportQuery(Narrowed):
    cursor: Maybe[Cursor] = None


class LineFault(AnswerModel):
    line: Count
    message: str


class ImportAnswer(AnswerModel):
    created: Count
    duplicate: Count
    refused: Count
    invalid: Count
    errors: Maybe[list[LineFault]] = None


class SnapshotAnswer(AnswerModel):
    id: str
    created_at: Time
    counts: Counts
    user_id: Maybe[str] = None


SnapshotsPage = page_of("SnapshotsPage", "snapshots", SnapshotAnswer)


@dataclass(slots=True)
class GivenPage:
    """The lines of a page that can be stored, and what is wrong with the others."""

    lines: list[RecordLine] = field(default_factory=list)
    items: list[ItemLine] = field(default_factory=list)
    logged: list[Logged] = field(default_factory=list)
    faults: list[dict[str, Any]] = field(default_factory=list)


routes = Routes()


@routes.get(f"{USER}/export", answer=str, media=NDJSON)
def export_user(app: App, request: Request, query: ExportQuery) -> Reply:
    """A page of a user's records as NDJSON; `Link` names the next one.

    They come oldest first, after them the items of applications that are the user's, and the logs of conversations.
    """
    scope = request.scope(query)
    listing = listing_of(app, "export", scope, query)
    at, after = (None, None) if query.cursor is None else open_cursor(query.cursor, listing, 2)
    page, more = _exported(app, scope, at, after, request.now)
    headers = {}
    if more is not None:
        cursor = seal(more, listing)
        path = f"/v1/users/{path_segment(scope.user_id)}/export"
        headers["Link"] = f'<{path}?{urlencode({**listing.filters, "cursor": cursor})}>; rel="next"'
    return Reply(200, page.text, headers, NDJSON, {"returned": page.lines})


def _exported(
    app: App, scope: Scope, at: str | None, after: str | None, now: datetime
) -> tuple[ExportPage | LinesPage, list[str | None] | None]:
    """A page, and the place of the next: an event's id and instant, or a word for items or logs with their own."""
    if at == _LOGS:
        logs = app.archive.log_exports.page(scope, after or None)
        return logs, None if logs.more is None else [_LOGS, logs.more]
    if at == _ITEMS:
        items = app.archive.item_exports.page(scope, after or None, now)
        return items, _logs_of(app, scope) if items.more is None else [_ITEMS, items.more]
    page = app.segments.exports.page(scope, None if at is None else EventRef(at, from_iso(str(after))), now)
    if page.more is not None:
        return page, [page.more.id, iso(page.more.timestamp)]
    wider = scope.persona_id is None and scope.household_id is None
    if not wider:
        return page, None
    return page, [_ITEMS, ""] if app.archive.item_exports.any(scope, now) else _logs_of(app, scope)


def _logs_of(app: App, scope: Scope) -> list[str | None] | None:
    """The place of the user's logs; None where there are none."""
    return [_LOGS, ""] if app.archive.log_exports.any(scope) else None


@routes.post(f"{USER}/import", answer=ImportAnswer, errors=(409,), takes_lines=True, idempotent=True)
def import_user(app: App, request: Request) -> Reply:
    """Stores a page of an export; what was deleted is refused.

    The answer counts what became of its lines.
    """
    scope = request.scope()
    given = read_page(request.call.body, embedding_dimension(app.settings))
    left = countdown(request.call.remaining_seconds - _RESERVE_SECONDS)

    def work(_attempt: Attempt) -> Answer:
        counts = _imported(app, scope, given, request, left)
        return Answer(200, {outcome.value: counts[outcome] for outcome in LineOutcome})

    answer = idempotent(app, request, work, about=scope.user_id)
    shown = ImportAnswer.model_validate({**answer.body, "errors": given.faults[:_NAMED_AT_MOST]})
    return Reply(answer.status, shown, answer.headers, log=answer.body)


def read_page(body: bytes, dimension: int) -> GivenPage:
    """The lines of NDJSON; an empty one is none. Raises NotJson where the body is not UTF-8."""
    page = GivenPage()
    for number, line in enumerate(utf8(body).split("\n"), start=1):
        take_line(page, number, line, dimension)
    return page


def take_line(page: GivenPage, number: int, text: str, dimension: int | None) -> None:
    """Adds a line to the page, or what is wrong with it; an empty one is none. `dimension` is None where unknown."""
    if not text.strip():
        return
    try:
        item = read_item_line(text)
        if item is not None:
            page.items.append(item)
            return
        logged = read_log_line(text)
        if logged is not None:
            page.logged.append(logged)
            return
        line = read_line(text)
    except StoredDataError:
        page.faults.append({"line": number, "message": "is no line of an export"})
        return
    fault = line_fault(line, dimension)
    if fault is None:
        page.lines.append(line)
    else:
        page.faults.append({"line": number, "message": f"{fault} is invalid"})


def _imported(
    app: App, scope: Scope, given: GivenPage, request: Request, left: Callable[[], float]
) -> Counter[LineOutcome]:
    """In slices, so that a call that runs out of time has stored whole ones. Raises OutOfTime."""
    order = ImportOrder(actor=user_in(scope), via="import", now=request.now)
    counts: Counter[LineOutcome] = Counter({LineOutcome.INVALID: len(given.faults)})
    for start in range(0, len(given.lines), _AT_ONCE):
        if start and left() < 0:
            raise OutOfTime(f"{start} of {len(given.lines)} records are stored: send the page again")
        counts.update(app.archive.imports.import_lines(scope, given.lines[start : start + _AT_ONCE], order).counts)
    for start in range(0, len(given.items), _AT_ONCE):
        if (start or given.lines) and left() < 0:
            raise OutOfTime(f"the records and {start} of {len(given.items)} items are stored: send the page again")
        counts.update(app.archive.item_imports.import_lines(scope, given.items[start : start + _AT_ONCE], request.now))
    for start in range(0, len(given.logged), _AT_ONCE):
        if (start or given.lines or given.items) and left() < 0:
            raise OutOfTime(f"all but {len(given.logged) - start} entries of logs are stored: send the page again")
        part = given.logged[start : start + _AT_ONCE]
        counts.update(app.archive.log_imports.import_lines(scope, part, request.now))
    return counts


@routes.get("/v1/snapshots", answer=SnapshotsPage, admin=True)
def list_snapshots(app: App, request: Request, query: Paged) -> Reply:
    """The tenant's snapshots, the newest first."""
    tenant = request.principal.tenant
    listing = listing_of(app, "snapshots", Scope(tenant, ""))
    page = app.segments.snapshots.page(tenant, query.limit, start_of(query, listing))
    return page_reply(SnapshotsPage, page.snapshots, page.more, listing)
