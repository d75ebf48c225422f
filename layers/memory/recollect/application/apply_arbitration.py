"""Applies the arbiter's verdict on two stored memories: the loser is kept with its status (P-24, A-77 to A-90)."""

from dataclasses import replace
from datetime import datetime

from recollect.application.decided import PROJECT, Decided
from recollect.application.merge_parts import MergeParts
from recollect.application.read_memories import KeptMemory, ReadMemories
from recollect.domain.arbitration import Action, Verdict
from recollect.domain.arbitration_policy import Arbitration
from recollect.domain.audit import Actor
from recollect.domain.decisions import Decision, Outcome, Step
from recollect.domain.errors import Conflict, NotFound, VersionMismatch
from recollect.domain.memory import Memory, MemoryStatus
from recollect.domain.scope import Scope
from recollect.domain.statement import Statement

ARBITER = "arbiter"
_TRIES = 8
_STATUS = {
    Outcome.SUPERSEDED: MemoryStatus.SUPERSEDED,
    Outcome.MERGED: MemoryStatus.MERGED,
    Outcome.REJECTED: MemoryStatus.REJECTED,
}


class ApplyArbitration:
    """Both memories must be stored. One that is no longer active decides nothing and loses nothing."""

    def __init__(self, read: ReadMemories, decided: Decided, merge: MergeParts) -> None:
        self._read = read
        self._decided = decided
        self._merge = merge

    def __call__(
        self, scope: Scope, candidate: Statement, arbitration: Arbitration, now: datetime, actor: Actor = PROJECT
    ) -> list[KeptMemory]:
        """The memories that changed. Raises NotFound where one is not stored, Conflict where they never rest."""
        if arbitration.arbitrated is None:
            return []
        for _ in range(_TRIES):
            try:
                return self._applied(scope, candidate, arbitration.arbitrated.existing, arbitration, now, actor)
            except VersionMismatch:
                continue
        raise Conflict("the memories change all the time")

    def _applied(
        self,
        scope: Scope,
        candidate: Statement,
        existing: Statement,
        arbitration: Arbitration,
        now: datetime,
        actor: Actor,
    ) -> list[KeptMemory]:
        verdict = arbitration.verdict
        loser, winner = self._sides(scope, candidate, existing, verdict)
        if any(one.memory.status is not MemoryStatus.ACTIVE for one in (loser, winner)):
            return []
        decision = _decision(loser.memory, winner.memory, verdict, arbitration.rule, now)
        after = _lost(loser.memory, winner.memory, decision)
        if verdict.merged is None:
            return [self._decided.changed(scope, loser, after, [decision], now, actor)]
        merged = replace(
            winner.memory,
            content=verdict.merged.content,
            importance=verdict.merged.importance,
            keywords=verdict.merged.keywords,
        )
        return self._merge.into(scope, loser, winner, after, merged, [decision], now, actor)

    def _sides(
        self, scope: Scope, candidate: Statement, existing: Statement, verdict: Verdict
    ) -> tuple[KeptMemory, KeptMemory]:
        """Loser and winner; what is merged is merged into the candidate."""
        loser_id = verdict.loser.id if verdict.loser is not None else existing.id
        winner_id = candidate.id if loser_id == existing.id else existing.id
        kept = self._read.kept(scope, [loser_id, winner_id])
        if loser_id not in kept or winner_id not in kept:
            raise NotFound("no such memory")
        return kept[loser_id], kept[winner_id]


def _decision(loser: Memory, winner: Memory, verdict: Verdict, rule: str, now: datetime) -> Decision:
    outcomes = {Action.KEEP: Outcome.SUPERSEDED, Action.MERGE: Outcome.MERGED, Action.REJECT: Outcome.REJECTED}
    return Decision(
        winner=winner.id,
        loser=loser.id,
        at=now,
        step=Step.ARBITER,
        rule=rule,
        outcome=outcomes[verdict.action],
        reason=verdict.reason,
        before=loser.version,
        after=loser.version + 1,
        confidence=verdict.confidence,
    )


def _lost(loser: Memory, winner: Memory, decision: Decision) -> Memory:
    """The loser as it will be: it held until the other came, or not at all where that was there before."""
    ends = max(loser.valid_from, winner.valid_from)
    status = _STATUS[decision.outcome]
    return replace(loser, status=status, superseded_by=winner.id, valid_to=ends, settled_by=ARBITER)
