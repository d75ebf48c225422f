"""JSON schemas of the answers about arbitration, merging and merge rules: a part of `schemas.ANSWERS`."""

from typing import Any

from recollect.arbitration.arbiter import Action, Strategy
from recollect.arbitration.detection import SignalType
from recollect.entrypoints.http.fields import Schema
from recollect.entrypoints.http.option_fields import rule_schema
from recollect.entrypoints.http.schema_pieces import (
    COUNT,
    FREE,
    NUMBER,
    SHARE,
    TEXT,
    TEXTS,
    TIME,
    many,
    ref,
    shape,
    words,
)

_RULE: dict[str, Schema] = rule_schema()["properties"]

STATEMENT_SHOWN = shape(
    {"id": TEXT, "user_id": TEXT, "content": TEXT, "importance": SHARE, "timestamp": TIME, "keywords": TEXTS},
    {"persona_id": TEXT, "source": TEXT, "embedding": many(NUMBER)},
)

ARBITRATION_ANSWERS: dict[str, Any] = {
    "StatementShown": STATEMENT_SHOWN,
    "ConflictSignal": shape(
        {"type": words(*SignalType), "score": SHARE},
        {"memory_id": TEXT, "keywords": TEXTS, "deltaMs": NUMBER, "windowMs": COUNT, "delta": NUMBER},
    ),
    "ConflictFound": shape({"memory_id": TEXT, "signals": many(ref("ConflictSignal")), "severity": NUMBER}),
    "Verdict": shape(
        {"action": words(*Action), "confidence": SHARE, "reason": TEXT, "strategy": words(*Strategy)},
        {"winner": TEXT, "loser": TEXT, "merged": ref("StatementShown")},
    ),
    "ArbitrationAnswer": shape(
        {"conflicts": many(ref("ConflictFound")), "result": ref("Verdict"), "rule": TEXT},
        {"stored": {"type": "object", "additionalProperties": TEXT}, "refused": TEXTS},
    ),
    "MergeAnswer": shape(
        {
            "merged": ref("StatementShown"),
            "statistics": shape(
                {
                    "contentLength": COUNT,
                    "keywordsCount": COUNT,
                    "importanceDelta": NUMBER,
                    "deduplicatedCount": COUNT,
                }
            ),
        }
    ),
    "MergeRule": shape({"name": TEXT, "version": COUNT, "resolved": FREE}, _RULE),
    "MergeRulesPage": shape({"version": COUNT, "rules": many(ref("MergeRule"))}, {"next_cursor": TEXT}),
    "MergeRuleMatch": shape({"name": TEXT, "rule": shape({"name": TEXT, "version": COUNT}, _RULE)}),
}
