"""Statements over HTTP: `M` of api.md (*Arbitration*), and what arbitration answers about them."""

from collections.abc import Mapping
from typing import Any

from recollect.arbitration.arbiter import Arbitration, Verdict
from recollect.arbitration.detection import Conflict, Signal, Statement
from recollect.arbitration.merging import MergeStatistics
from recollect.core.time import iso
from recollect.entrypoints.http.event_drafts import CONTENT_BYTES, LONGEST_VECTOR
from recollect.entrypoints.http.fields import Field, Shape, finite, identifier, instant, list_of, nested, number, text

MOST_KEYWORDS = 50
MOST_EXISTING = 1_000
_KEYWORD_BYTES = 512
_SOURCE_BYTES = 128

_FIELDS: Mapping[str, Field] = {
    "id": identifier(),
    "user_id": identifier(),
    "content": text(max_bytes=CONTENT_BYTES, blank=False),
    "embedding": list_of(Field(lambda value: float(finite(value)), {"type": "number"}), 1, LONGEST_VECTOR).described(
        "Of any length, the same for all; absent: no semantic signal."
    ),
    "importance": number(0, 1),
    "timestamp": instant(),
    "source": text(max_bytes=_SOURCE_BYTES, blank=False).described(
        "user, conversation, skill, system, inferred, from the most trusted on; any other word, or none, ranks last."
    ),
    "keywords": list_of(text(max_bytes=_KEYWORD_BYTES, blank=False), 0, MOST_KEYWORDS),
    "persona_id": identifier().described("Absent: the default persona."),
}
_NEEDED = ("id", "user_id", "content", "importance", "timestamp")

STATEMENT = Shape("Statement", {name: one.needed() if name in _NEEDED else one for name, one in _FIELDS.items()})
PROFILE = Shape("StatementProfile", {name: one.needed() if name == "user_id" else one for name, one in _FIELDS.items()})
"""Of a candidate that is only to be matched: whatever of it no condition asks for may be left out."""


def one_statement() -> Field:
    """A statement."""
    return nested(STATEMENT)


def many_statements() -> Field:
    """A list of statements."""
    return list_of(one_statement(), 0, MOST_EXISTING)


def statement_of(values: Mapping[str, Any]) -> Statement:
    """The statement that was read."""
    given = dict(values)
    embedding = given.pop("embedding", None)
    return Statement(**given | {"keywords": tuple(values.get("keywords", ())), "embedding": _vector(embedding)})


def statement_json(statement: Statement) -> dict[str, Any]:
    """A statement as it is shown; what is not known is left out."""
    embedding = statement.embedding
    document = {
        "id": statement.id,
        "user_id": statement.user_id,
        "persona_id": statement.persona_id,
        "content": statement.content,
        "embedding": None if embedding is None else embedding.tolist(),
        "importance": statement.importance,
        "timestamp": iso(statement.timestamp),
        "source": statement.source,
        "keywords": list(statement.keywords),
    }
    return {name: value for name, value in document.items() if value is not None}


def arbitration_json(found: Arbitration) -> dict[str, Any]:
    """What was found and decided; of what was applied the memories too."""
    conflicts = [conflict_json(conflict) for conflict in found.conflicts]
    answer = {"conflicts": conflicts, "result": verdict_json(found.verdict), "rule": found.rule}
    return {**answer, "stored": dict(found.stored)} if found.stored else answer


def conflict_json(conflict: Conflict) -> dict[str, Any]:
    """A conflict with its signals."""
    signals = [signal_json(signal) for signal in conflict.signals]
    return {"memory_id": conflict.existing.id, "signals": signals, "severity": conflict.severity}


def signal_json(signal: Signal) -> dict[str, Any]:
    """A signal with its details."""
    return {"type": signal.type.value, "score": signal.score, **signal.details}


def verdict_json(verdict: Verdict) -> dict[str, Any]:
    """A verdict: winner and loser by their ids, what is merged as a whole."""
    document = {
        "action": verdict.action.value,
        "winner": verdict.winner.id if verdict.winner else None,
        "loser": verdict.loser.id if verdict.loser else None,
        "merged": statement_json(verdict.merged) if verdict.merged else None,
        "confidence": verdict.confidence,
        "reason": verdict.reason,
        "strategy": verdict.strategy.value,
    }
    return {name: value for name, value in document.items() if value is not None}


def statistics_json(statistics: MergeStatistics) -> dict[str, Any]:
    """What merging did, in the document's names (A-106)."""
    return {
        "contentLength": statistics.content_length,
        "keywordsCount": statistics.keywords_count,
        "importanceDelta": statistics.importance_delta,
        "deduplicatedCount": statistics.deduplicated_count,
    }


def _vector(values: list[float] | None) -> Any:
    if values is None:
        return None
    import numpy as np  # ingest's neighbours start without it

    return np.array(values, dtype=np.float64)
