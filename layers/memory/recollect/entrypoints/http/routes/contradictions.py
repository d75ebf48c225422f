"""What was decided between memories, what is still open, and a person's word on both (api.md, *Arbitration*)."""

from typing import Annotated, Any, Self

from pydantic import ConfigDict, Field

from recollect.app import App
from recollect.contradictions.decisions import ConflictStatus, Decision, DecisionStatus, OpenConflict, Outcome, Step
from recollect.contradictions.ledger import DecisionFilter
from recollect.contradictions.resolve import Reverted, RevertOrder
from recollect.core.errors import NotFound
from recollect.core.scope import Scope
from recollect.entrypoints.http.cursors import cursor_to, listing_of, start_of
from recollect.entrypoints.http.headers import Answer, Attempt, idempotent, replay_of
from recollect.entrypoints.http.messages import Reply, Request, user_in
from recollect.entrypoints.http.models import (
    AnswerModel,
    Count,
    Free,
    Identifier,
    Maybe,
    Narrowed,
    OneOf,
    Paged,
    RequestModel,
    Share,
    Time,
)
from recollect.entrypoints.http.representations import MemoryAnswer
from recollect.entrypoints.http.routing import Routes, path_segment

_USER = "/v1/users/{user_id}"
_DecisionStatus = Annotated[DecisionStatus, OneOf(*DecisionStatus)]
_ConflictStatus = Annotated[ConflictStatus, OneOf(*ConflictStatus)]
_Step = Annotated[Step, OneOf(*Step)]


class DecisionsQuery(Narrowed, Paged):
    status: Maybe[_DecisionStatus] = Field(
        None, description="Whether it holds, was taken back, or fell with its winner."
    )
    step: Maybe[_Step] = Field(None, description="What decided.")
    winner: Maybe[Identifier] = None
    loser: Maybe[Identifier] = None


class ConflictsQuery(Narrowed, Paged):
    status: Maybe[_ConflictStatus] = None


class Resolution(RequestModel):
    winner: Identifier = Field(description="The one of the two that counts.")


class DecisionAnswer(AnswerModel):
    model_config = ConfigDict(title="Decision")

    id: str
    winner: str
    loser: str
    at: Time
    step: _Step
    rule: str
    outcome: Annotated[str, OneOf(*Outcome)]
    reason: str
    before: Count
    after: Count
    confidence: Share
    status: _DecisionStatus
    until: Maybe[Time] = None
    revert: Maybe[str] = None

    @classmethod
    def of(cls, scope: Scope, decision: Decision, **more: Any) -> Self:
        """A decision, with the path that takes it back where it holds."""
        shown = cls.model_validate(decision)
        path = f"/v1/users/{path_segment(scope.user_id)}/arbitrations/{path_segment(decision.id)}/revert"
        holds = decision.status is DecisionStatus.APPLIED
        return shown.model_copy(update={"revert": path if holds else None, **more})


class DecisionReverted(DecisionAnswer):
    model_config = ConfigDict(title="DecisionReverted")

    memory: Maybe[MemoryAnswer] = None


class DecisionsPage(AnswerModel):
    arbitrations: list[DecisionAnswer]
    next_cursor: Maybe[str] = None


class ConflictAnswer(AnswerModel):
    model_config = ConfigDict(title="Conflict")

    id: str
    newer: str
    older: str
    at: Time
    step: _Step
    rule: str
    signals: list[Free]
    severity: Share
    status: _ConflictStatus
    proposal: Maybe[Free] = None
    winner: Maybe[str] = None


class ConflictResolved(ConflictAnswer):
    model_config = ConfigDict(title="ConflictResolved")

    decision_id: Maybe[str] = None


class ConflictsPage(AnswerModel):
    conflicts: list[ConflictAnswer]
    next_cursor: Maybe[str] = None


def decision_json(scope: Scope, decision: Decision) -> dict[str, Any]:
    """A decision, with the path that takes it back where it holds."""
    return DecisionAnswer.of(scope, decision).document()


def conflict_json(conflict: OpenConflict) -> dict[str, Any]:
    """A conflict as it stands."""
    return ConflictAnswer.model_validate(conflict).document()


routes = Routes()


@routes.get(f"{_USER}/arbitrations", answer=DecisionsPage)
def list_decisions(app: App, request: Request, query: DecisionsQuery) -> Reply:
    """What was decided between memories, by which rule, and how to undo it."""
    scope = request.scope(query)
    listing = listing_of(app, "arbitrations", scope, query)
    wanted = DecisionFilter(status=query.status, step=query.step, winner=query.winner, loser=query.loser)
    page = app.contradictions.decisions.page(scope, query.limit, start_of(query, listing), wanted)
    found = [DecisionAnswer.of(scope, one) for one in page.decisions]
    shown = DecisionsPage(arbitrations=found, next_cursor=cursor_to(page.more, listing))
    return Reply(200, shown, log={"returned": len(found)})


@routes.post(
    f"{_USER}/arbitrations/{{arbitration_id}}/revert", answer=DecisionReverted, errors=(404, 409), idempotent=True
)
def revert_decision(app: App, request: Request, query: Narrowed) -> Reply:
    """Takes a decision back: the loser counts again; it is not decided so again."""
    scope, decision_id = request.scope(query), request.path["arbitration_id"]
    done: list[Reverted] = []

    def work(attempt: Attempt) -> Answer:
        app.timeline.write_limits.take(scope.tenant, 1, app.rules.resolved(scope.tenant))
        order = RevertOrder(actor=user_in(scope), now=request.now, again=attempt.again)
        done.append(app.contradictions.reversal.revert(scope, decision_id, order))
        return Answer(200, {"id": decision_id})

    answer = idempotent(app, request, work, about=[*request.path.values(), query.given()])
    if not done:
        done.append(app.contradictions.reversal.current(scope, app.contradictions.decisions.one(scope, decision_id)))
    shown = DecisionReverted.of(scope, done[0].decision, memory=_memory(app, scope, done[0].memory_id, request))
    return _reply(answer, shown, "reverted")


@routes.get(f"{_USER}/conflicts", answer=ConflictsPage)
def list_conflicts(app: App, request: Request, query: ConflictsQuery) -> Reply:
    """Memories of which no rule can tell which counts, with the arbiter's proposal."""
    scope = request.scope(query)
    listing = listing_of(app, "conflicts", scope, query)
    page = app.contradictions.conflicts.page(scope, query.limit, start_of(query, listing), query.status, request.now)
    found = [ConflictAnswer.model_validate(one) for one in page.conflicts]
    shown = ConflictsPage(conflicts=found, next_cursor=cursor_to(page.more, listing))
    return Reply(200, shown, log={"returned": len(found)})


@routes.post(f"{_USER}/conflicts/{{conflict_id}}/resolve", answer=ConflictResolved, errors=(404, 409), idempotent=True)
def resolve_conflict(app: App, request: Request, query: Narrowed, body: Resolution) -> Reply:
    """A person's word on which of the two counts; the other one is superseded."""
    scope, conflict_id = request.scope(query), request.path["conflict_id"]

    def work(_attempt: Attempt) -> Answer:
        app.timeline.write_limits.take(scope.tenant, 1, app.rules.resolved(scope.tenant))
        resolved = app.contradictions.resolution.resolve(scope, conflict_id, body.winner, user_in(scope), request.now)
        return Answer(200, {"id": conflict_id, "decision_id": resolved.decision_id})

    answer = idempotent(app, request, work, about=[*request.path.values(), query.given()])
    conflict = ConflictResolved.model_validate(app.contradictions.conflicts.one(scope, conflict_id, request.now))
    decided = {"decision_id": answer.body["decision_id"] or None}
    return _reply(answer, conflict.model_copy(update=decided), "resolved")


def _memory(app: App, scope: Scope, memory_id: str, request: Request) -> MemoryAnswer | None:
    try:
        return MemoryAnswer.of(app.memories.store.one(scope, memory_id, request.now))
    except NotFound:
        return None


def _reply(answer: Answer, body: AnswerModel, name: str) -> Reply:
    log = {name: 0 if answer.replayed else 1, "replayed": answer.replayed}
    return Reply(answer.status, body, replay_of(answer), log=log)
