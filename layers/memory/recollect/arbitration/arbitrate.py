"""The merge rule of a candidate, and the arbiter's verdict on stored memories (A-69 to A-123, P-24)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any, Protocol

from recollect.arbitration.arbiter import Action, Arbitration, ArbitrationOptions, ArbitrationPolicy, Verdict, weigh
from recollect.arbitration.detection import Statement, detection_options
from recollect.arbitration.merge_rules import MergeRuleRegistry
from recollect.arbitration.registry import MergeRuleStore
from recollect.contradictions.decisions import Decision, Outcome, Step
from recollect.contradictions.ledger import PROJECT, DecisionWriter
from recollect.contradictions.merged import MergeParts
from recollect.core.errors import InvalidInput, NotFound
from recollect.core.ids import IdSeed
from recollect.core.retry import retry_on_conflict
from recollect.core.scope import Scope
from recollect.memories.audit import Actor
from recollect.memories.memory import Memory, MemoryStatus
from recollect.memories.reading import ReadMemories, StoredMemory
from recollect.rules.groups import Rules
from recollect.rules.values import TOLERANCE, Place, read_options

ARBITER = "arbiter"
_STATUS = {
    Outcome.SUPERSEDED: MemoryStatus.SUPERSEDED,
    Outcome.MERGED: MemoryStatus.MERGED,
    Outcome.REJECTED: MemoryStatus.REJECTED,
}


@dataclass(frozen=True, slots=True)
class ArbitrationRequest:
    """A candidate, and the statements that it may contradict.

    `options` are merged over those of the rule, in its own groups: `detection`, `arbitration`, `merge`. `rule` names
    the merge rule whatever its conditions; None: the first one that the candidate meets.
    """

    candidate: Statement
    existing: tuple[Statement, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    rule: str | None = None


class ChoosePolicy:
    """The tenant's thresholds, over them the merge rule's options, over them the request's own (A-120 to A-123)."""

    def __init__(self, merge_rules: MergeRuleStore) -> None:
        self._merge_rules = merge_rules

    def choose(self, tenant: str, request: ArbitrationRequest, rules: Rules) -> ArbitrationPolicy:
        """Raises InvalidInput at ("rule",) for an unknown rule, at ("options", "weights") where the weights do not sum
        to 1.
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
        """The policy for a candidate without options."""
        return self.choose(scope.tenant, ArbitrationRequest(candidate), rules)


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
    """Who applies a verdict and when; `seed` gives the ids of new memories, the same in a retry."""

    actor: Actor
    seed: IdSeed
    now: datetime


class DecisionStore(Protocol):
    """Stores a decision: the winner or the merged statement, the loser with its status, the ledger's entry."""

    def arbitrate(
        self,
        scope: Scope,
        candidate: Statement,
        existing: Sequence[Statement],
        policy: ArbitrationPolicy,
        applying: Applying,
    ) -> Arbitration:
        """Decides and stores, without `existing` against the stored memories. Idempotent for the same seed."""


class Arbitrate:
    """The use case behind `POST /v1/arbitrations`."""

    def __init__(self, policy: ChoosePolicy, decisions: Callable[[], DecisionStore]) -> None:
        self._policy = policy
        self._decisions = decisions

    def weighed(self, tenant: str, request: ArbitrationRequest, rules: Rules) -> Arbitration:
        """The decision about the given statements; stores nothing. Raises InvalidInput as `ChoosePolicy`."""
        return weigh(request.candidate, request.existing, self._policy.choose(tenant, request, rules))

    def applied(self, scope: Scope, request: ArbitrationRequest, rules: Rules, applying: Applying) -> Arbitration:
        """Decides and stores. Raises InvalidInput as `ChoosePolicy`, and what storing raises."""
        policy = self._policy.choose(scope.tenant, request, rules)
        return self._decisions().arbitrate(scope, request.candidate, request.existing, policy, applying)


class ApplyArbitration:
    """Applies a verdict to two stored memories; the loser stays, with its status (A-77 to A-90)."""

    def __init__(self, read: ReadMemories, decided: DecisionWriter, merge: MergeParts) -> None:
        self._read = read
        self._decided = decided
        self._merge = merge

    def apply(
        self, scope: Scope, candidate: Statement, arbitration: Arbitration, now: datetime, actor: Actor = PROJECT
    ) -> list[StoredMemory]:
        """The memories that changed; none where one is no longer active. Raises NotFound where one is not stored,
        Conflict.
        """
        if arbitration.arbitrated is None:
            return []
        existing = arbitration.arbitrated.existing
        apply = partial(self._applied, scope, candidate, existing, arbitration, now, actor)
        return retry_on_conflict(apply, "one of the memories")

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
        """Loser and winner; a merge is into the candidate."""
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
    """Valid until the winner's start, or never where the winner is older."""
    ends = max(loser.valid_from, winner.valid_from)
    status = _STATUS[decision.outcome]
    return replace(loser, status=status, superseded_by=winner.id, valid_to=ends, settled_by=ARBITER)
