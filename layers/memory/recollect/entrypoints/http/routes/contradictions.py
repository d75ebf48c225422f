"""What was decided between memories, what is still open, and a person's word on both (`docs/decisions.md`)."""

from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from typing import Annotated, Any, Self, TypeVar

from pydantic import Field, model_validator

from recollect.app import App
from recollect.arbitration.merge_memories import MergeOrder
from recollect.contradictions.decide_again import can_be_made_again
from recollect.contradictions.decisions import ConflictStatus, Decision, DecisionStatus, Outcome, Step
from recollect.contradictions.ledger import ConflictPage, DecisionFilter, DecisionPage
from recollect.contradictions.resolve import OlderWords, Reverted, RevertOrder, Settling
from recollect.contradictions.told import Said, ToldConflict, ToldDecision
from recollect.core.errors import NotFound
from recollect.core.ids import LONGEST_ID
from recollect.core.scope import Scope
from recollect.entrypoints.http.cursors import listing_of, page_reply, start_of
from recollect.entrypoints.http.headers import Answer, Attempt, idempotent
from recollect.entrypoints.http.messages import Reply, Request, etag, user_in
from recollect.entrypoints.http.models import (
    AnswerModel,
    Content,
    Count,
    Free,
    Identifier,
    Maybe,
    Narrowed,
    OneOf,
    Paged,
    RequestModel,
    Share,
    Some,
    Text,
    Time,
    YesOrNo,
    fault,
    fitted,
    page_of,
)
from recollect.entrypoints.http.representations import MemoryAnswer, memory_if_there
from recollect.entrypoints.http.routes.memories import MemoryPatch, changes_of
from recollect.entrypoints.http.routing import USER, Routes, path_segment

_DecisionStatus = Annotated[DecisionStatus, OneOf(*DecisionStatus)]
_ConflictStatus = Annotated[ConflictStatus, OneOf(*ConflictStatus)]
_Step = Annotated[Step, OneOf(*Step)]
_Found = TypeVar("_Found")


class _Worded(Narrowed, Paged):
    """A list that tells the words of both sides where that is asked for: reads of its own."""

    id: Maybe[Annotated[str, Text(2 * LONGEST_ID + 1)]] = Field(None, description="Only the one of this id.")
    words: YesOrNo = Field("false", description="Adds `words`: what both said, and what of it ended or is in doubt.")


class DecisionsQuery(_Worded):
    status: Maybe[_DecisionStatus] = Field(
        None, description="Whether it holds, was taken back, or fell with its winner."
    )
    step: Maybe[_Step] = Field(None, description="What decided.")
    winner: Maybe[Identifier] = None
    loser: Maybe[Identifier] = None


class ConflictsQuery(_Worded):
    status: Maybe[_ConflictStatus] = None
    record: Maybe[Identifier] = Field(None, description="Only those of which this memory, or event, is a side.")


class Resolution(RequestModel):
    """`winner`, or `both`, with `older` where that one is set right with it."""

    winner: Maybe[Identifier] = Field(None, description="The one of the two that counts.")
    both: Maybe[bool] = Field(None, description="True: both hold; the conflict is settled and no memory changes.")
    older: Maybe[Content] = Field(
        None, description="With `both`: what the older one says from now on. `If-Match` names its version."
    )

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.winner is None) is not bool(self.both):
            raise fault("must have a winner, or both")
        if self.older is not None and not self.both:
            raise fault("says what the older one says without both")
        return self


class CountsAgain(MemoryPatch):
    """What is set right of the memory that counts again; where a part of it did end, `content` without that part."""


class MemoryMerge(RequestModel):
    other: Identifier = Field(description="The memory that is taken up.")
    other_version: Annotated[int, Field(ge=1)] = Field(description="Its version, as it was read.")
    content: Maybe[Content] = Field(
        None, description="What the memory says then; absent: both texts, without what they have in common."
    )


class QuotedWords(AnswerModel):
    """What a record said."""

    content: str = Field(description="All of it; of the record that counts, and of a conflict's, what holds now.")
    quote: str = Field(description="Of a long one the clauses that this is about, with … for the rest.")
    timestamp: Time

    @classmethod
    def of(cls, said: Said | None, quote: str) -> Self | None:
        """None for a record that is gone."""
        return None if said is None else cls(content=said.words, quote=quote, timestamp=said.at)


_GONE = "Absent: deleted, expired or rejected."
_Places = Some[list[Count]]


class DecisionWords(AnswerModel):
    """What a decision ended, of what, and what holds instead."""

    winner: Maybe[QuotedWords] = Field(None, description=_GONE)
    loser: Maybe[QuotedWords] = Field(None, description=_GONE)
    ended: _Places = Field(None, description="Start and end, exclusive, of the loser's words that ended.")
    whole: bool = Field(description="Whether this decision left nothing of it.")
    since: Maybe[Time] = Field(None, description="The day from which they do not hold, where that was told before.")
    until: Maybe[Time] = Field(None, description="When they hold again.")
    left: Maybe[str] = Field(None, description="What holds of the loser by now, shortened; absent: all or nothing.")
    nothing_left: bool = Field(description="Whether nothing of the loser holds by now, whatever ended it.")

    @classmethod
    def of(cls, told: ToldDecision) -> Self:
        """The words of one decision."""
        sides = told.sides
        both = {"winner": QuotedWords.of(sides.newer, told.now), "loser": QuotedWords.of(sides.older, told.was)}
        return cls.made_of(told, told.ended, **both, ended=sides.places, left=told.left or None)


class ConflictWords(AnswerModel):
    """What both sides of a conflict say, and what of the older is in doubt."""

    newer: Maybe[QuotedWords] = Field(None, description=_GONE)
    older: Maybe[QuotedWords] = Field(None, description=_GONE)
    ended: _Places = Field(
        None, description="Start and end, exclusive, of the older's words that are in doubt, where they are still said."
    )

    @classmethod
    def of(cls, told: ToldConflict) -> Self:
        """The words of one conflict."""
        sides = told.sides
        newer, older = QuotedWords.of(sides.newer, told.newer), QuotedWords.of(sides.older, told.older)
        return cls.made_of(newer=newer, older=older, ended=sides.places)


class DecisionAnswer(AnswerModel, title="Decision"):
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
    reapply: Maybe[str] = Field(None, description="Where it was taken back and can be made again.")
    words: Maybe[DecisionWords] = Field(None, description="With `words=true`.")

    @classmethod
    def of(cls, scope: Scope, decision: Decision, **more: Any) -> Self:
        """A decision, with the path that takes it back where it holds, or that makes it again."""
        shown = cls.model_validate(decision)
        path = f"/v1/users/{path_segment(scope.user_id)}/arbitrations/{path_segment(decision.id)}"
        revert = f"{path}/revert" if decision.status is DecisionStatus.APPLIED else None
        reapply = f"{path}/reapply" if can_be_made_again(decision) else None
        return shown.model_copy(update={"revert": revert, "reapply": reapply, **more})


class DecisionReverted(DecisionAnswer, title="DecisionReverted"):
    memory: Maybe[MemoryAnswer] = None


class MemoriesMerged(AnswerModel):
    memory: Maybe[MemoryAnswer] = Field(None, description="Absent in a replay where it was deleted since.")
    decision: Maybe[DecisionAnswer] = Field(
        None, description="What took the other one in; absent in a replay where it was taken back since."
    )


class ConflictAnswer(AnswerModel, title="Conflict"):
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
    confidence: Maybe[Share] = Field(
        None, description="The judge's, that the newer one changes the older; absent where it read neither."
    )
    ended: Some[list[Count]] = Field(
        None, description="Start and end, exclusive, of what would end of the older one's words; absent: not told."
    )
    words: Maybe[ConflictWords] = Field(None, description="With `words=true`.")


class ConflictResolved(ConflictAnswer, title="ConflictResolved"):
    decision_id: Maybe[str] = None


DecisionsPage = page_of("DecisionsPage", "arbitrations", DecisionAnswer)
ConflictsPage = page_of("ConflictsPage", "conflicts", ConflictAnswer)


def decision_json(scope: Scope, decision: Decision) -> dict[str, Any]:
    """A decision, with the path that takes it back where it holds."""
    return DecisionAnswer.of(scope, decision).document()


conflict_json = ConflictAnswer.json_of
routes = Routes()


def _if_there(read: Callable[[], _Found]) -> Sequence[_Found]:
    try:
        return (read(),)
    except NotFound:
        return ()


@routes.get(f"{USER}/arbitrations", answer=DecisionsPage)
def list_decisions(app: App, request: Request, query: DecisionsQuery) -> Reply:
    """What was decided between memories, by which rule, and how to undo it."""
    scope = request.scope(query)
    listing = listing_of(app, "arbitrations", scope, query)
    wanted = DecisionFilter(status=query.status, step=query.step, winner=query.winner, loser=query.loser)
    use, telling, named = app.contradictions.decisions, app.contradictions.telling, query.id

    def read(limit: int) -> tuple[list[DecisionAnswer], str | None]:
        if named is None:
            page = use.page(scope, limit, start_of(query, listing), wanted)
        else:
            page = DecisionPage(tuple(filter(wanted.admits, _if_there(lambda: use.one(scope, named)))), None)
        asked = page.decisions if query.words == "true" else ()
        told = [DecisionWords.of(one) for one in telling.decisions(scope, asked, request.now)]
        shown = zip_longest(page.decisions, told)
        return [DecisionAnswer.of(scope, one, words=words) for one, words in shown], page.more

    return page_reply(DecisionsPage, *fitted(read, query.limit), listing)


@routes.post(
    f"{USER}/arbitrations/{{arbitration_id}}/revert",
    answer=DecisionReverted,
    errors=(404, 409, 412),
    idempotent=True,
    body_optional=True,
)
def revert_decision(app: App, request: Request, query: Narrowed, body: CountsAgain) -> Reply:
    """Takes a decision back: the loser counts again, in other words where they are given.

    It is not decided so again by itself. `If-Match` names the loser's version.
    """
    return _decided_anew(app, request, query, app.contradictions.reversal.revert, changes_of(body))


@routes.post(
    f"{USER}/arbitrations/{{arbitration_id}}/reapply",
    answer=DecisionReverted,
    errors=(404, 409, 412),
    idempotent=True,
)
def reapply_decision(app: App, request: Request, query: Narrowed) -> Reply:
    """Makes a decision again that was taken back: the loser is what the decision had made of it.

    `If-Match` names the loser's version.
    """
    return _decided_anew(app, request, query, app.contradictions.again.reapply, {})


def _decided_anew(
    app: App,
    request: Request,
    query: Narrowed,
    use: Callable[[Scope, str, RevertOrder], Reverted],
    changes: Mapping[str, Any],
) -> Reply:
    scope, decision_id = request.scope(query), request.path["arbitration_id"]

    def work(attempt: Attempt) -> Answer:
        app.timeline.limits.take(scope.tenant, 1, app.rules.resolved(scope.tenant))
        order = RevertOrder(
            actor=user_in(scope), now=request.now, again=attempt.again, changes=changes, accepts=request.accepts
        )
        return Answer(200, {"id": decision_id}, use(scope, decision_id, order))

    answer = idempotent(app, request, work, about=[*request.path.values(), query.given()])
    done = answer.made
    if done is None:
        done = app.contradictions.reversal.current(scope, app.contradictions.decisions.one(scope, decision_id))
    memory = memory_if_there(app, scope, done.memory_id, request.now)
    shown = DecisionReverted.of(scope, done.decision, memory=memory and MemoryAnswer.model_validate(memory))
    return answer.reply(shown, {"changed": 0 if answer.replayed else 1})


@routes.get(f"{USER}/conflicts", answer=ConflictsPage)
def list_conflicts(app: App, request: Request, query: ConflictsQuery) -> Reply:
    """Memories of which no rule can tell which counts, with the arbiter's proposal."""
    scope = request.scope(query)
    listing = listing_of(app, "conflicts", scope, query)
    use, telling, named = app.contradictions.conflicts, app.contradictions.telling, query.id

    def read(limit: int) -> tuple[list[ConflictAnswer], str | None]:
        if named is None:
            page = use.page(scope, limit, start_of(query, listing), query.status, request.now, query.record)
        else:
            found = _if_there(lambda: use.one(scope, named, request.now))
            page = ConflictPage(tuple(one for one in found if query.status in (None, one.status)), None)
        asked = page.conflicts if query.words == "true" else ()
        told = [ConflictWords.of(one) for one in telling.conflicts(scope, asked, request.now)]
        shown = zip_longest(page.conflicts, told)
        return [ConflictAnswer.made_of(one, words=words) for one, words in shown], page.more

    return page_reply(ConflictsPage, *fitted(read, query.limit), listing)


@routes.post(
    f"{USER}/conflicts/{{conflict_id}}/resolve", answer=ConflictResolved, errors=(404, 409, 412), idempotent=True
)
def resolve_conflict(app: App, request: Request, query: Narrowed, body: Resolution) -> Reply:
    """A person's word on which of the two counts, so that the other one is superseded; or that both hold.

    With `older` both hold in one step with an edit of that one.
    """
    scope, conflict_id = request.scope(query), request.path["conflict_id"]
    use, settling = app.contradictions.resolution, Settling(actor=user_in(scope))

    def work(_attempt: Attempt) -> Answer:
        app.timeline.limits.take(scope.tenant, 1, app.rules.resolved(scope.tenant))
        if body.older is not None:
            older = OlderWords(content=body.older, actor=settling.actor, accepts=request.accepts)
            use.amend_older(scope, conflict_id, older, request.now)
            return Answer(200, {"id": conflict_id, "decision_id": None})
        if body.winner is None:
            use.keep_both(scope, conflict_id, settling.actor, request.now)
            return Answer(200, {"id": conflict_id, "decision_id": None})
        resolved = use.resolve(scope, conflict_id, body.winner, settling, request.now)
        return Answer(200, {"id": conflict_id, "decision_id": resolved.decision_id})

    answer = idempotent(app, request, work, about=[*request.path.values(), query.given()])
    conflict = app.contradictions.conflicts.one(scope, conflict_id, request.now)
    shown = ConflictResolved.made_of(conflict, decision_id=answer.body["decision_id"] or None)
    return answer.reply(shown, {"resolved": 0 if answer.replayed else 1})


@routes.post(f"{USER}/conflicts/{{conflict_id}}/reopen", answer=ConflictAnswer, errors=(404, 409), idempotent=True)
def reopen_conflict(app: App, request: Request, query: Narrowed) -> Reply:
    """Takes back that both hold: the conflict is open again."""
    scope, conflict_id = request.scope(query), request.path["conflict_id"]

    def work(_attempt: Attempt) -> Answer:
        app.timeline.limits.take(scope.tenant, 1, app.rules.resolved(scope.tenant))
        app.contradictions.resolution.reopen(scope, conflict_id, user_in(scope), request.now)
        return Answer(200, {"id": conflict_id})

    answer = idempotent(app, request, work, about=[*request.path.values(), query.given()])
    conflict = app.contradictions.conflicts.one(scope, conflict_id, request.now)
    return answer.reply(ConflictAnswer.made_of(conflict), {"reopened": 0 if answer.replayed else 1})


@routes.post(
    f"{USER}/memories/{{memory_id}}/merge",
    answer=MemoriesMerged,
    errors=(404, 409, 412, 428),
    idempotent=True,
    needs_version=True,
)
def merge_memories(app: App, request: Request, query: Narrowed, body: MemoryMerge) -> Reply:
    """One memory takes up another; the other stays, as merged into it.

    It names the sources of both. Reverting the decision makes both what they were.
    """
    scope, memory_id = request.scope(query), request.path["memory_id"]

    def work(attempt: Attempt) -> Answer:
        app.timeline.limits.take(scope.tenant, 1, app.rules.resolved(scope.tenant))
        order = MergeOrder(
            kept=memory_id,
            other=body.other,
            accepts=request.accepts,
            other_version=body.other_version,
            content=body.content,
            actor=user_in(scope),
            now=request.now,
            again=attempt.again,
        )
        return Answer(200, {"id": memory_id}, app.arbitration.by_hand.merge(scope, order))

    answer = idempotent(app, request, work, about=[*request.path.values(), query.given()])
    decision = app.arbitration.by_hand.decided(scope, memory_id, body.other)
    memory = memory_if_there(app, scope, memory_id, request.now)
    shown = MemoriesMerged(
        memory=None if memory is None else MemoryAnswer.model_validate(memory),
        decision=None if decision is None else DecisionAnswer.of(scope, decision),
    )
    version = etag(memory.version) if memory is not None else {}
    return answer.reply(shown, {"merged": 0 if answer.replayed else 1}, version)
