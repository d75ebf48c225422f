"""Which merge rule holds for a candidate, and all that decides then (A-120 to A-123).

Step 3 alone: detector and arbiter on statements that are given, or on what is stored (A-69 to A-89, P-24).

Applies the arbiter's verdict on two stored memories: the loser is kept with its status (P-24, A-77 to A-90).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Protocol

from recollect.arbitration.arbiter import Action, Arbitration, ArbitrationOptions, ArbitrationPolicy, Verdict, weigh
from recollect.arbitration.detection import Statement, detection_options
from recollect.arbitration.merge_rules import MergeRuleRegistry
from recollect.arbitration.registry import KeepMergeRules
from recollect.contradictions.decisions import Decision, Outcome, Step
from recollect.contradictions.ledger import PROJECT, Decided
from recollect.contradictions.merged import MergeParts
from recollect.core.errors import Conflict, InvalidInput, NotFound, VersionMismatch
from recollect.core.ids import IdSeed
from recollect.core.scope import Scope
from recollect.memories.audit import Actor
from recollect.memories.memory import Memory, MemoryStatus
from recollect.memories.reading import ReadMemories, StoredMemory
from recollect.rules.groups import Rules
from recollect.rules.values import TOLERANCE, Place, read_options


@dataclass(frozen=True, slots=True)
class ArbitrationRequest:
    """What is to be decided.

    `options` are merged over those of the rule, in its own groups: `detection`, `arbitration`, `merge`. `rule` names
    the merge rule that holds whatever its conditions; None: the first one that the candidate meets.
    """

    candidate: Statement
    existing: tuple[Statement, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    rule: str | None = None


class ChoosePolicy:
    """The tenant's thresholds, over them the merge rule's options, over them the request's own."""

    def __init__(self, merge_rules: KeepMergeRules) -> None:
        self._merge_rules = merge_rules

    def __call__(self, tenant: str, request: ArbitrationRequest, rules: Rules) -> ArbitrationPolicy:
        """Raises InvalidInput at ("rule",) where no rule has that name, at ("options", "weights") where they do not
        sum to 1.
        """
        registry = self._merge_rules.registry(tenant)
        name = _name(registry, request)
        settings, options = registry.settings(name), request.options
        detection = settings.detection_over(detection_options(rules.conflict))
        arbitration = read_options(options.get("arbitration", {}), settings.arbitration, Place())
        _check_weights(arbitration)
        return ArbitrationPolicy(
            read_options(options.get("detection", {}), detection, Place()),
            arbitration,
            read_options(options.get("merge", {}), settings.merge, Place()),
            name,
        )

    def of(self, scope: Scope, candidate: Statement, rules: Rules) -> ArbitrationPolicy:
        """What decides about a candidate that nobody gave options for."""
        return self(scope.tenant, ArbitrationRequest(candidate), rules)


def _name(registry: MergeRuleRegistry, request: ArbitrationRequest) -> str:
    if request.rule is None:
        return registry.matching(request.candidate).name
    try:
        return registry.rule(request.rule).name
    except NotFound:
        raise InvalidInput("there is no merge rule of this name", ("rule",)) from None


def _check_weights(options: ArbitrationOptions) -> None:
    if abs(options.weights.total - 1) > TOLERANCE:
        raise InvalidInput("the weights, with those of the rule, must sum to 1", ("options", "weights"))


@dataclass(frozen=True, slots=True)
class Applying:
    """Who applies a verdict and when; `seed` gives the ids of what is made, the same in a retry."""

    actor: Actor
    seed: IdSeed
    now: datetime


class Apply(Protocol):
    """Stores what is decided: the winner or the merged statement, the loser with its status, the ledger's entry."""

    def __call__(
        self,
        scope: Scope,
        candidate: Statement,
        existing: Sequence[Statement],
        policy: ArbitrationPolicy,
        applying: Applying,
    ) -> Arbitration:
        """Decides and stores; without `existing` about what the store has. Again, with the same seed, is no harm."""


class Arbitrate:
    """Behind `POST /v1/arbitrations`."""

    def __init__(self, policy: ChoosePolicy, apply: Apply) -> None:
        self._policy = policy
        self._apply = apply

    def weighed(self, tenant: str, request: ArbitrationRequest, rules: Rules) -> Arbitration:
        """What would be decided of the given statements; stores nothing. Raises InvalidInput as `ChoosePolicy`."""
        return weigh(request.candidate, request.existing, self._policy(tenant, request, rules))

    def applied(self, scope: Scope, request: ArbitrationRequest, rules: Rules, applying: Applying) -> Arbitration:
        """Decides and stores. Raises InvalidInput as `ChoosePolicy`, and what storing raises."""
        policy = self._policy(scope.tenant, request, rules)
        return self._apply(scope, request.candidate, request.existing, policy, applying)


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
    ) -> list[StoredMemory]:
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
    ) -> list[StoredMemory]:
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
    ) -> tuple[StoredMemory, StoredMemory]:
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
