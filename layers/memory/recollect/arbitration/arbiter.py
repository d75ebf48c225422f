"""Which of two conflicting statements counts (A-69 to A-107, P-12, P-24).

In this order: importance, recency, source, each where it is enabled and differs; then the weighted score, which merges
two of nearly equal score; and the default strategy where the scores are equal. `weigh` is all of it for one candidate:
detect, arbitrate the most severe conflict, merge.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from enum import StrEnum
from typing import Any

from recollect.arbitration.detection import (
    Conflict,
    DetectionOptions,
    SignalType,
    Statement,
    detect,
    most_severe,
    similarity,
    trust,
)
from recollect.arbitration.merging import MergeOptions, merge
from recollect.rules.values import TOLERANCE, Choice, Flag, Number, grouped, option

KEEP_CANDIDATE, KEEP_EXISTING, REJECT = "keep-candidate", "keep-existing", "reject"
MERGE_CONFIDENCE = 0.6
SOURCE_CONFIDENCE = 0.7
DEFAULT_CONFIDENCE = 0.5
_HOUR = timedelta(hours=1)
_FULL_HOURS = 24.0


class Action(StrEnum):
    """The outcome for the candidate."""

    KEEP = "keep"
    MERGE = "merge"
    REJECT = "reject"


class Strategy(StrEnum):
    """The factor that decided. `none`: there was no conflict."""

    IMPORTANCE = "importance"
    RECENCY = "recency"
    SOURCE = "source"
    MULTI_FACTOR = "multi-factor"
    DEFAULT = "default"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Weights:
    """The weight of each factor in the score (A-84); together 1."""

    importance: float = option(Number(0, 1), 0.4, "Weight of the importance")
    recency: float = option(Number(0, 1), 0.3, "Weight of the recency: 1 of the newer, 1 - hours/24 of the older")
    source: float = option(Number(0, 1), 0.2, "Weight of the source's trust, from user 1 to inferred 0.2, unknown 0")
    semantic: float = option(Number(0, 1), 0.1, "Weight of the cosine of the two, the same for both")

    @property
    def total(self) -> float:
        """Their sum."""
        return self.importance + self.recency + self.source + self.semantic


@dataclass(frozen=True, slots=True)
class ArbitrationOptions:
    """Which factors decide, and what happens where none does."""

    priority_importance: bool = option(Flag(), True, "Whether the more important of two wins")
    priority_recency: bool = option(Flag(), True, "Whether the newer of two wins")
    priority_source: bool = option(Flag(), True, "Whether the one of the more trusted source wins")
    allow_merge: bool = option(Flag(), True, "Whether two may be merged")
    merge_threshold: float = option(Number(0, 1), 0.2, "Difference of the scores below which they are merged")
    default_strategy: str = option(
        Choice((KEEP_CANDIDATE, KEEP_EXISTING, REJECT)), KEEP_CANDIDATE, "What happens where the scores are equal"
    )
    weights: Weights = field(default_factory=Weights, metadata=grouped("What each factor weighs; together 1"))


@dataclass(frozen=True, slots=True)
class Verdict:
    """The decision about a candidate; `confidence` 0 to 1.

    `keep`: the winner counts, the loser does not; without a loser there was no conflict. `merge`: the two become
    `merged`, and neither wins. `reject`: the candidate is the loser.
    """

    action: Action
    confidence: float
    reason: str
    strategy: Strategy
    winner: Statement | None = None
    loser: Statement | None = None
    merged: Statement | None = None


_Rule = Callable[[Statement, Statement], Verdict | None]


def decide(candidate: Statement, existing: Statement, options: ArbitrationOptions) -> Verdict:
    """The verdict on one pair (P-12). Raises InvalidInput for vectors of different length.

    A verdict that merges has no `merged` yet: `merging.merge` makes it.
    """
    rules: tuple[tuple[bool, _Rule], ...] = (
        (options.priority_importance, _by_importance),
        (options.priority_recency, _by_recency),
        (options.priority_source, _by_source),
    )
    verdicts = (rule(candidate, existing) for enabled, rule in rules if enabled)
    decided = next((verdict for verdict in verdicts if verdict is not None), None)
    return decided or _by_score(candidate, existing, options)


def scores(candidate: Statement, existing: Statement, weights: Weights) -> tuple[float, float]:
    """The weighted scores of the two, each 0 to 1 (A-84)."""
    alike = max(0.0, similarity(candidate.embedding, existing.embedding) or 0.0)
    newest = max(candidate.timestamp, existing.timestamp)

    def score(one: Statement) -> float:
        recency = max(0.0, 1 - (newest - one.timestamp) / _HOUR / _FULL_HOURS)
        return (
            weights.importance * one.importance
            + weights.recency * recency
            + weights.source * trust(one.source)
            + weights.semantic * alike
        )

    return score(candidate), score(existing)


def _by_importance(candidate: Statement, existing: Statement) -> Verdict | None:
    delta = candidate.importance - existing.importance
    if abs(delta) <= TOLERANCE:
        return None
    confidence = min(1.0, 2 * abs(delta))
    return _won(candidate, existing, delta, confidence, "the more important one", Strategy.IMPORTANCE)


def _by_recency(candidate: Statement, existing: Statement) -> Verdict | None:
    hours = (candidate.timestamp - existing.timestamp) / _HOUR
    if hours == 0:
        return None
    return _won(candidate, existing, hours, min(1.0, abs(hours) / _FULL_HOURS), "the newer one", Strategy.RECENCY)


def _by_source(candidate: Statement, existing: Statement) -> Verdict | None:
    delta = trust(candidate.source) - trust(existing.source)
    if abs(delta) <= TOLERANCE:
        return None
    return _won(candidate, existing, delta, SOURCE_CONFIDENCE, "the one of the more trusted source", Strategy.SOURCE)


def _by_score(candidate: Statement, existing: Statement, options: ArbitrationOptions) -> Verdict:
    ours, theirs = scores(candidate, existing, options.weights)
    delta = ours - theirs
    if options.allow_merge and abs(delta) < options.merge_threshold - TOLERANCE:
        reason = "the scores differ by less than the merge threshold"
        return Verdict(Action.MERGE, MERGE_CONFIDENCE, reason, Strategy.MULTI_FACTOR)
    if abs(delta) <= TOLERANCE:
        return _by_default(candidate, existing, options.default_strategy)
    confidence = min(1.0, 2 * abs(delta))
    return _won(candidate, existing, delta, confidence, "the one of the higher score", Strategy.MULTI_FACTOR)


def _by_default(candidate: Statement, existing: Statement, strategy: str) -> Verdict:
    winner, loser = (candidate, existing) if strategy == KEEP_CANDIDATE else (existing, candidate)
    action = Action.REJECT if strategy == REJECT else Action.KEEP
    reason = f"nothing tells the two apart: the default strategy {strategy}"
    return Verdict(action, DEFAULT_CONFIDENCE, reason, Strategy.DEFAULT, winner, loser)


def _won(
    candidate: Statement, existing: Statement, advantage: float, confidence: float, reason: str, strategy: Strategy
) -> Verdict:
    """The candidate wins where its advantage is positive."""
    winner, loser = (candidate, existing) if advantage > 0 else (existing, candidate)
    return Verdict(Action.KEEP, confidence, reason, strategy, winner, loser)


@dataclass(frozen=True, slots=True)
class ArbitrationPolicy:
    """All options of a decision, and the name of the merge rule they come from."""

    detection: DetectionOptions = field(default_factory=DetectionOptions)
    arbitration: ArbitrationOptions = field(default_factory=ArbitrationOptions)
    merge: MergeOptions = field(default_factory=MergeOptions)
    rule: str = "default"


@dataclass(frozen=True, slots=True)
class Arbitration:
    """A decision: the conflicts in the order of the existing memories, the verdict, the rule's name.

    `arbitrated` is the conflict that the verdict is about, None without a content conflict. `stored` maps each stored
    statement's id to its memory's id.
    """

    conflicts: tuple[Conflict, ...]
    arbitrated: Conflict | None
    verdict: Verdict
    rule: str
    stored: Mapping[str, str] = field(default_factory=dict)


def weigh(candidate: Statement, existing: Sequence[Statement], policy: ArbitrationPolicy) -> Arbitration:
    """The verdict on the most severe content conflict (A-89); without one the candidate is kept (P-11). Stores nothing.

    A merged statement has the candidate's id, its words last. Raises InvalidInput as `detect` does.
    """
    conflicts = detect(candidate, existing, policy.detection)
    arbitrated = most_severe(conflicts)
    if arbitrated is None:
        verdict = Verdict(Action.KEEP, 1.0, "nothing that it contradicts", Strategy.NONE, winner=candidate)
        return Arbitration(conflicts, None, verdict, policy.rule)
    verdict = decide(candidate, arbitrated.existing, policy.arbitration)
    if verdict.action is Action.MERGE:
        merged = merge(arbitrated.existing, candidate, policy.merge).statement
        verdict = replace(verdict, merged=replace(merged, id=candidate.id))
    return Arbitration(conflicts, arbitrated, verdict, policy.rule)


def signals_of(conflict: Conflict) -> tuple[dict[str, Any], ...]:
    """The signals with their details, as a conflict stores them; no content: of common keywords only the number."""
    return tuple(
        {"type": one.type.value, "score": one.score, **_details(one.type, dict(one.details))}
        for one in conflict.signals
    )


def proposal_of(verdict: Verdict) -> dict[str, Any]:
    """The verdict as a conflict stores it: ids, scores, reasons, no content."""
    ids = {"winner": verdict.winner, "loser": verdict.loser}
    decided = {"action": verdict.action.value, "strategy": verdict.strategy.value, "reason": verdict.reason}
    named = {name: one.id for name, one in ids.items() if one is not None}
    return {**decided, **named, "confidence": verdict.confidence}


def _details(kind: SignalType, details: dict[str, Any]) -> dict[str, Any]:
    if kind is not SignalType.KEYWORD:
        return details
    return {"keywords": len(details["keywords"])}
