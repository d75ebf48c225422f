"""Deleting: an event, a slot with its history, a rejected value, a whole user (`docs/memories.md`, *Gone*)."""

from collections.abc import Callable
from typing import Annotated, Self

from pydantic import Field

from recollect.app import App
from recollect.core.errors import Forbidden, NotFound
from recollect.core.event import EventRef
from recollect.core.scope import Scope
from recollect.core.time import from_iso, iso, utc_now
from recollect.deletion.erase import ErasureReport
from recollect.deletion.forget_conversation import WholeConversation
from recollect.deletion.forget_events import Forgotten
from recollect.deletion.reject import Rejecting
from recollect.deletion.rejected_values import RejectedValue
from recollect.entrypoints.http.cursors import listing_of, open_cursor, page_reply, seal, start_of
from recollect.entrypoints.http.headers import countdown
from recollect.entrypoints.http.messages import Reply, Request, user_in
from recollect.entrypoints.http.models import (
    AnswerModel,
    Count,
    Counts,
    Identifier,
    Limit,
    Maybe,
    Narrowed,
    OneOf,
    Paged,
    RequestModel,
    Time,
    YesOrNo,
    page_of,
)
from recollect.entrypoints.http.routing import USER, Routes
from recollect.jobs.run import LEAST_SECONDS

MOST_SECONDS = 6.0
"""Of one call that deletes many."""
_AT_ONCE_SECONDS = LEAST_SECONDS + 3.0
_RESERVE_SECONDS = 5.0


class Rejectable(Narrowed):
    """A query that deletes, and may reject the value that is deleted."""

    reject: YesOrNo = Field("false", description="Refuses the value in its scope from now on, however it is written.")


class SlotQuery(RequestModel):
    persona_id: Maybe[Identifier] = Field(None, description="Absent: the default persona's slot.")
    household_id: Maybe[Identifier] = Field(None, description="Absent: the slot without a household.")


class LiftQuery(RequestModel):
    persona_id: Maybe[Identifier] = Field(None, description="Absent: every persona.")
    household_id: Maybe[Identifier] = None


class RejectionsQuery(LiftQuery, Paged):
    pass


class RejectionScope(AnswerModel):
    user_id: str
    persona_id: Maybe[str] = None
    household_id: Maybe[str] = None


class Rejection(AnswerModel):
    id: str
    time: Time
    scope: RejectionScope

    @classmethod
    def of(cls, user_id: str, value: RejectedValue) -> Self:
        """A rejected value, without its text."""
        return cls(id=value.id, time=value.at, scope=RejectionScope.made_of(value, user_id=user_id))


RejectionsPage = page_of("RejectionsPage", "rejections", Rejection)


class ConversationQuery(Narrowed, Paged):
    limit: Limit = Field(200, description="Events of this call.")


class ConversationDeleted(AnswerModel):
    deleted: Count = Field(description="Events of this call; where there is a `next_cursor`, there may be more.")
    next_cursor: Maybe[str] = None


class ErasureAccepted(AnswerModel):
    erasure_id: str


class CopyLapse(AnswerModel):
    part: str
    until: Time


class ErasureAnswer(AnswerModel, title="Erasure"):
    status: Annotated[str, OneOf("running", "done")]
    reached: Counts
    lapses: list[CopyLapse]
    verified: bool
    at: Time

    @classmethod
    def of(cls, report: ErasureReport) -> Self:
        """How far an erasure is."""
        lapses = [CopyLapse(part=part, until=until) for part, until in report.erasure.lapses]
        return cls.made_of(report, report.erasure, status="running" if report.running else "done", lapses=lapses)


routes = Routes()


@routes.delete(f"{USER}/events/{{event_id}}", good=(204,), errors=(404, 412))
def delete_event(app: App, request: Request, query: Rejectable) -> Reply:
    """Deletes an event and what was derived from it; the same event sent again is refused."""
    scope, event_id, accepts = request.scope(query), request.path["event_id"], request.accepts

    def forget() -> Forgotten:
        return app.deletion.events.forget(scope, event_id=event_id, now=request.now, accepts=accepts)

    if query.reject == "false":
        return _gone(forget())
    order = rejecting(request, scope, "delete", event_id)
    return _gone(app.deletion.values.event(scope, event_id, order, forget, accepts))


@routes.delete(f"{USER}/keys/{{key}}", good=(204,), errors=(404,))
def delete_key(app: App, request: Request, query: SlotQuery) -> Reply:
    """Deletes a slot with its whole history; no older value comes back."""
    return _gone(app.deletion.events.forget(request.scope(query), key=request.path["key"], now=request.now))


@routes.delete(f"{USER}/conversations/{{conversation_id}}", answer=ConversationDeleted, good=(200,), errors=(409,))
def delete_conversation(app: App, request: Request, query: ConversationQuery) -> Reply:
    """Deletes the events of a conversation, each as by itself; at the end its log is cleared, and it is not listed.

    A call ends after `limit` events or some seconds; `next_cursor` leads on. Of a persona or a household only its
    events go.
    """
    scope, conversation_id = request.scope(query), request.path["conversation_id"]
    listing = listing_of(app, f"delete conversation {conversation_id}", scope, query)
    place = None if query.cursor is None else open_cursor(query.cursor, listing, 2)
    after = None if place is None else EventRef(place[0], from_iso(place[1]))
    left = countdown(min(request.call.remaining_seconds - _RESERVE_SECONDS, MOST_SECONDS))
    whole = WholeConversation(conversation_id, query.limit, after, left)
    part = app.deletion.conversations.delete(scope, whole, request.now, user_in(scope))
    more = None if part.more is None else seal([part.more.id, iso(part.more.timestamp)], listing)
    return Reply(200, ConversationDeleted(deleted=part.deleted, next_cursor=more), log={"deleted": part.deleted})


def _gone(forgotten: Forgotten) -> Reply:
    return Reply(204, "", log={"deleted": len(forgotten.event_ids)})


def rejecting(request: Request, scope: Scope, via: str, *target_ids: str) -> Rejecting:
    """The order that a user's request gives."""
    return Rejecting(now=request.now, actor=user_in(scope), via=via, target_ids=target_ids)


@routes.get(f"{USER}/rejections", answer=RejectionsPage)
def list_rejections(app: App, request: Request, query: RejectionsQuery) -> Reply:
    """The values that were rejected: ids, times and scopes, no text."""
    scope = request.scope(query)
    listing = listing_of(app, "rejections", scope, query)
    page = app.deletion.values.page(scope, query.limit, start_of(query, listing))
    return page_reply(RejectionsPage, [Rejection.of(scope.user_id, one) for one in page.values], page.more, listing)


@routes.delete(f"{USER}/rejections/{{rejection_id}}", good=(204,), errors=(404,))
def lift_rejection(app: App, request: Request, query: LiftQuery) -> Reply:
    """Lets a rejected value in again; what was deleted stays deleted."""
    scope, rejection_id = request.scope(query), request.path["rejection_id"]
    app.deletion.values.lift(scope, rejection_id, rejecting(request, scope, "lift", rejection_id))
    return Reply(204, "", log={"lifted": 1})


@routes.delete(USER, answer=ErasureAccepted, good=(202,))
def erase_user(app: App, request: Request) -> Reply:
    """Erases a user everywhere; what was recorded before is refused for ever, the user may start anew.

    From the answer on nothing of the user's is read; the rest follows.
    """
    scope = request.scope()
    left = countdown(request.call.remaining_seconds)
    erasure = app.deletion.users.erase(scope, request.now, utc_now(), user_in(scope), left)
    if request.call.request_id is None:
        _go_on(app, scope.tenant, erasure.id, left)
    log = {"erasure_id": erasure.id, "events": erasure.counts.get("events", 0)}
    return Reply(202, ErasureAccepted(erasure_id=erasure.id), log=log)


def _go_on(app: App, tenant: str, erasure_id: str, left: Callable[[], float]) -> None:
    """On a laptop most are done before anybody asks; in the cloud the function `jobs` has the rights for it."""
    until = left() - min(_AT_ONCE_SECONDS, left() - _RESERVE_SECONDS)
    if left() > until:
        app.job_runs.one(tenant, erasure_id, utc_now, lambda: left() - until)


@routes.get("/v1/erasures/{erasure_id}", answer=ErasureAnswer, errors=(404,))
def get_erasure(app: App, request: Request) -> Reply:
    """How far an erasure is: what was reached, and which copies lapse when.

    One of another user's is not found.
    """
    report = app.deletion.users.report(request.principal.tenant, request.path["erasure_id"])
    try:
        request.check_user(report.erasure.user_id)
    except Forbidden:
        raise NotFound("no such erasure") from None
    return Reply(200, ErasureAnswer.of(report), log={"running": report.running})
