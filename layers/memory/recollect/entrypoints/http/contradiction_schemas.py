"""JSON schemas of the answers about decisions and conflicts: a part of `schemas.ANSWERS`."""

from typing import Any

from recollect.contradictions.decisions import ConflictStatus, DecisionStatus, Outcome, Step
from recollect.entrypoints.http.fields import Schema
from recollect.entrypoints.http.schema_pieces import COUNT, FREE, SHARE, TEXT, TIME, many, ref, shape, words

_DECISION: dict[str, Schema] = {
    "id": TEXT,
    "winner": TEXT,
    "loser": TEXT,
    "at": TIME,
    "step": words(*Step),
    "rule": TEXT,
    "outcome": words(*Outcome),
    "reason": TEXT,
    "before": COUNT,
    "after": COUNT,
    "confidence": SHARE,
    "status": words(*DecisionStatus),
}
_OF_SOME_DECISIONS: dict[str, Schema] = {"until": TIME, "revert": TEXT}
_CONFLICT: dict[str, Schema] = {
    "id": TEXT,
    "newer": TEXT,
    "older": TEXT,
    "at": TIME,
    "step": words(*Step),
    "rule": TEXT,
    "signals": many(FREE),
    "severity": SHARE,
    "status": words(*ConflictStatus),
}
_OF_SOME_CONFLICTS: dict[str, Schema] = {"proposal": FREE, "winner": TEXT}

CONTRADICTION_ANSWERS: dict[str, Any] = {
    "Decision": shape(_DECISION, _OF_SOME_DECISIONS),
    "DecisionsPage": shape({"arbitrations": many(ref("Decision"))}, {"next_cursor": TEXT}),
    "DecisionReverted": shape(_DECISION, {**_OF_SOME_DECISIONS, "memory": ref("Memory")}),
    "Conflict": shape(_CONFLICT, _OF_SOME_CONFLICTS),
    "ConflictsPage": shape({"conflicts": many(ref("Conflict"))}, {"next_cursor": TEXT}),
    "ConflictResolved": shape(_CONFLICT, {**_OF_SOME_CONFLICTS, "decision_id": TEXT}),
}
