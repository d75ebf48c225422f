"""What the arbiter says, as a conflict keeps it: ids, scores, reasons, no content."""

from typing import Any

from recollect.domain.arbitration import Verdict
from recollect.domain.conflict_detection import Conflict, SignalType


def signals_of(conflict: Conflict) -> tuple[dict[str, Any], ...]:
    """The signals with their details; of common keywords their number alone."""
    return tuple(
        {"type": one.type.value, "score": one.score, **_details(one.type, dict(one.details))}
        for one in conflict.signals
    )


def proposal_of(verdict: Verdict) -> dict[str, Any]:
    """The verdict without what would be merged: that is made where it is applied."""
    ids = {"winner": verdict.winner, "loser": verdict.loser}
    told = {"action": verdict.action.value, "strategy": verdict.strategy.value, "reason": verdict.reason}
    named = {name: one.id for name, one in ids.items() if one is not None}
    return {**told, **named, "confidence": verdict.confidence}


def _details(kind: SignalType, details: dict[str, Any]) -> dict[str, Any]:
    if kind is not SignalType.KEYWORD:
        return details
    return {"keywords": len(details["keywords"])}
