"""`POST /v1/users/{user_id}/summaries` and the list of what it made."""

import json
import time
from typing import Any

from recollect.app import App
from recollect.core.ids import IdSeed
from recollect.core.scope import Scope
from recollect.entrypoints.http.cursors import Listing, open_cursor, seal
from recollect.entrypoints.http.idempotency import REPLAYED, claim_of
from recollect.entrypoints.http.messages import Reply, Request
from recollect.entrypoints.http.representations import within_page
from recollect.entrypoints.http.run_once import Answer, run_once
from recollect.entrypoints.http.summary_json import summary_json
from recollect.summaries.storage import key_of
from recollect.summaries.summarize import IDS, NotDue, SummaryOrder
from recollect.summaries.summary import Summary

_ROUTE = "POST /v1/users/{user_id}/summaries"
_DAYS_DIGITS = 6
_LONGEST_SECONDS = 28.0  # an HTTP API answers for the function after 30


def list_summaries(app: App, request: Request) -> Reply:
    """A page of summaries, newest first; without a persona those of all of them."""
    query = request.query
    scope = request.scope({**query, "user_id": request.path["user_id"]})
    listing = Listing(f"{app.settings.engines}:{app.settings.table}", "summaries", scope)
    after = open_cursor(query["cursor"], listing, 1)[0] if "cursor" in query else None
    page = app.summaries.read.page(scope, query["limit"], after)
    shown = within_page([summary_json(summary) for summary in page.summaries])
    if len(shown) < len(page.summaries):
        page = app.summaries.read.page(scope, len(shown), after)
    body: dict[str, Any] = {"summaries": [summary_json(summary) for summary in page.summaries]}
    if page.more is not None:
        body["next_cursor"] = seal([page.more], listing)
    return Reply(200, body, log={"returned": len(page.summaries)})


def make_summary(app: App, request: Request) -> Reply:
    """Makes a summary where one is due, or forced: 201, else 200."""
    scope = request.scope({**request.query, "user_id": request.path["user_id"]})
    fresh = app.ids.seed(int(time.time() * 1000), IDS)
    made: list[Summary] = []

    def work(seed: IdSeed) -> Answer:
        answer = app.summaries.summarize(scope, _order(app, request, seed, scope))
        if isinstance(answer, NotDue):
            return Answer(200, _not_due_json(answer))
        made.append(answer.summary)
        return Answer(201, _record(answer.summary))

    claim = claim_of(request, f"{_ROUTE} {_asked(request, scope)}", fresh)
    answer = run_once(app.parts.idempotency, claim, work) if claim else work(fresh)
    log = {"due": answer.body["due"], "reason": answer.body.get("reason"), "replayed": answer.replayed}
    body = _answer_json(app, scope, answer, made[0] if made else None)
    return Reply(answer.status, body, REPLAYED if answer.replayed else {}, log=log)


def _asked(request: Request, scope: Scope) -> str:
    """What else makes it another request: there is no body to tell."""
    return json.dumps([scope.user_id, scope.persona_id, request.query["force"]])


def _order(app: App, request: Request, seed: IdSeed, scope: Scope) -> SummaryOrder:
    over = time.monotonic() + min(request.call.remaining_seconds, _LONGEST_SECONDS)
    return SummaryOrder(
        now=request.now,
        rules=app.rules.resolved(scope.tenant).summary,
        seed=seed,
        remaining_seconds=lambda: over - time.monotonic(),
        force=request.query["force"] == "true",
    )


def _not_due_json(answer: NotDue) -> dict[str, Any]:
    days = round(answer.days_since, _DAYS_DIGITS)
    return {"due": False, "messages_since": answer.messages_since, "days_since": days}


def _record(summary: Summary) -> dict[str, Any]:
    """What an idempotency record holds: no text."""
    return {"due": True, "reason": summary.reason.value, "summary_id": summary.id, "key": key_of(summary)}


def _answer_json(app: App, scope: Scope, answer: Answer, made: Summary | None) -> dict[str, Any]:
    """The answer; a replayed one reads the summary as it is now, and names it where it is gone."""
    if not answer.body["due"]:
        return dict(answer.body)
    known = {"due": True, "reason": answer.body["reason"]}
    summary = made or app.summaries.read.one(scope, answer.body["key"])
    if summary is None:
        return {**known, "summary": None, "refused": [answer.body["summary_id"]]}
    return {**known, "summary": summary_json(summary)}
