"""Erasing a user, and how far that is (api.md, *Deleting*)."""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from recollect.app import App
from recollect.core.errors import Forbidden, NotFound
from recollect.core.time import iso
from recollect.deletion.erase import ErasureReport
from recollect.entrypoints.http.fields import Shape
from recollect.entrypoints.http.messages import Reply, Request
from recollect.entrypoints.http.routing import READ_STATUSES, Route
from recollect.jobs.run import LEAST_SECONDS
from recollect.memories.audit import Actor, ActorKind

_AT_ONCE_SECONDS = LEAST_SECONDS + 3.0
_RESERVE_SECONDS = 5.0


def erase_user(app: App, request: Request) -> Reply:
    """From the answer on nothing of the user's is read; the rest follows."""
    scope = request.scope({"user_id": request.path["user_id"]})
    actor = Actor(ActorKind.USER, scope.user_id)
    over = time.monotonic() + request.call.remaining_seconds

    def left() -> float:
        return over - time.monotonic()

    erasure = app.deletion.erase(scope, request.now, _real_now(), actor, left)
    if request.call.request_id is None:
        _go_on(app, scope.tenant, erasure.id, left)
    log = {"erasure_id": erasure.id, "events": erasure.counts.get("events", 0)}
    return Reply(202, {"erasure_id": erasure.id}, log=log)


def get_erasure(app: App, request: Request) -> Reply:
    """An erasure of this tenant; one of another user's is not found."""
    report = app.deletion.erase.report(request.principal.tenant, request.path["erasure_id"])
    try:
        request.scope({"user_id": report.erasure.user_id})
    except Forbidden:
        raise NotFound("no such erasure") from None
    return Reply(200, _report_json(report), log={"running": report.running})


def _go_on(app: App, tenant: str, erasure_id: str, left: Callable[[], float]) -> None:
    """On a laptop most are done before anybody asks; in the cloud the function `jobs` has the rights for it."""
    until = left() - min(_AT_ONCE_SECONDS, left() - _RESERVE_SECONDS)
    if left() > until:
        app.run_jobs.one(tenant, erasure_id, _real_now, lambda: left() - until)


def _report_json(report: ErasureReport) -> dict[str, Any]:
    return {
        "status": "running" if report.running else "done",
        "reached": dict(report.reached),
        "lapses": [{"part": part, "until": iso(until)} for part, until in report.erasure.lapses],
        "verified": report.verified,
        "at": iso(report.erasure.at),
    }


def _real_now() -> datetime:
    return datetime.now(UTC)


ROUTES = (
    Route(
        method="DELETE",
        path="/v1/users/{user_id}",
        operation="eraseUser",
        summary="Erases a user everywhere; what was recorded before is refused for ever, the user may start anew",
        handle=erase_user,
        query=Shape("EraseQuery", {}),
        answer="ErasureAccepted",
        statuses=(202, *READ_STATUSES),
    ),
    Route(
        method="GET",
        path="/v1/erasures/{erasure_id}",
        operation="getErasure",
        summary="How far an erasure is: what was reached, and which copies lapse when",
        handle=get_erasure,
        answer="Erasure",
        statuses=(200, 404, *READ_STATUSES),
    ),
)
