"""The bridge: signals about the episodic store, the audit of a user, and the ledger in it (`docs/memories.md`)."""

from typing import Annotated, Any, Self

from pydantic import Field

from recollect.app import App
from recollect.entrypoints.http.cursors import listing_of, page_reply, start_of
from recollect.entrypoints.http.headers import Answer, Attempt, idempotent
from recollect.entrypoints.http.messages import Reply, Request
from recollect.entrypoints.http.models import (
    AnswerModel,
    Free,
    Identifier,
    Maybe,
    OneOf,
    Paged,
    RequestModel,
    Text,
    Time,
    page_of,
)
from recollect.entrypoints.http.representations import ActorAnswer
from recollect.entrypoints.http.routing import USER, Routes
from recollect.memories.audit import OUTCOMES, Action, AuditEntry, audit_json
from recollect.memories.audit_log import AuditFilter
from recollect.memories.deferred_promotion import DEFAULT_SEVERITY, Signal, SignalType

_Action = Annotated[Action, OneOf(*Action)]
_Outcome = Annotated[str, OneOf(*OUTCOMES)]


class SignalRequest(RequestModel):
    type: Annotated[SignalType, OneOf(*SignalType)] = Field(
        description="A warning suspends automatic promotion, healthy resumes it."
    )
    source: Annotated[str, Text(256, blank=False)] = Field(description="Who tells.")
    severity: Maybe[Annotated[str, Text(64, blank=False)]] = Field(
        None, description=f"Such as low, high; absent: {DEFAULT_SEVERITY}."
    )
    reason: Maybe[Annotated[str, Text(1024, blank=False)]] = Field(
        None, description="Such as write latency; no contents."
    )


class SignalAnswer(AnswerModel):
    type: Annotated[str, OneOf(*SignalType)]
    suspended: bool
    event_id: Maybe[str] = None
    forwarded: Maybe[bool] = None


class AuditQuery(Paged):
    target_id: Maybe[Identifier] = None
    action: Maybe[_Action] = None


class LedgerQuery(Paged):
    outcome: Maybe[_Outcome] = None
    event_id: Maybe[Identifier] = None


class AuditEntryAnswer(AnswerModel, title="AuditEntry"):
    id: str
    at: Time
    actor: ActorAnswer
    action: _Action
    target_ids: list[str]
    via: str
    rule: Maybe[str] = None
    reason: Maybe[str] = None
    event_ids: Maybe[list[str]] = None
    outcome: Maybe[_Outcome] = None
    before: Maybe[Free] = None
    after: Maybe[Free] = None
    also: Maybe[Free] = Field(
        None, description="The version of another memory that the same change made, such as of one that took it up."
    )

    @classmethod
    def of(cls, entry: AuditEntry) -> Self:
        """An entry without contents."""
        return cls.model_validate({"id": entry.id, **audit_json(entry)})


AuditPage = page_of("AuditPage", "entries", AuditEntryAnswer)
routes = Routes()


@routes.post("/v1/signals", answer=SignalAnswer, errors=(409,), idempotent=True, admin=True)
def signal(app: App, request: Request, body: SignalRequest) -> Reply:
    """Warns of the episodic store, which suspends automatic promotion, or says that it is healthy again.

    A warning is forwarded on the bus.
    """

    def work(attempt: Attempt) -> Answer:
        sent = Signal(id=attempt.seed.nth(0), **body.given())
        outcome = app.memories.signals.receive(request.principal.tenant, sent, request.now)
        answer: dict[str, Any] = {"type": body.type.value, "suspended": outcome.suspended}
        if outcome.event_id is not None:
            answer |= {"event_id": outcome.event_id, "forwarded": outcome.forwarded}
        return Answer(200, answer)

    answer = idempotent(app, request, work)
    return answer.reply(SignalAnswer.model_validate(answer.body), answer.body)


@routes.get(f"{USER}/audit", answer=AuditPage)
def list_audit(app: App, request: Request, query: AuditQuery) -> Reply:
    """Every change and refusal of a user's memory, newest first, without contents."""
    return _page(app, request, query, "audit", AuditFilter(target_id=query.target_id, action=query.action))


@routes.get(f"{USER}/ledger", answer=AuditPage)
def list_ledger(app: App, request: Request, query: LedgerQuery) -> Reply:
    """What the bridge made of events, newest first: outcome, memories, or the failure."""
    wanted = AuditFilter(event_id=query.event_id, outcome=query.outcome, decisions=True)
    return _page(app, request, query, "ledger", wanted)


def _page(app: App, request: Request, query: Paged, name: str, wanted: AuditFilter) -> Reply:
    scope = request.scope()
    listing = listing_of(app, name, scope, query)
    page = app.memories.audit.page(scope, query.limit, start_of(query, listing), wanted)
    return page_reply(AuditPage, [AuditEntryAnswer.of(entry) for entry in page.entries], page.more, listing)
