"""What retrieval by intent logs: the document's events with its fields (R-65, R-67, R-72, R-74, R-99 to R-101, R-118).

Lines carry ids, counts, times and decisions. Texts are told by length and keyed hash (P-18), unless the tenant's rules
set `logging.content`; the key is this process's own, so that hashes of one process compare and nobody can guess them.
"""

import logging
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from recollect.domain.analysis import QueryAnalysis
from recollect.domain.date_based import FallbackReason
from recollect.domain.intent_retrieval import RetrievalResult, RetrievalStats
from recollect.domain.redaction import Redaction

CATEGORY = "intent_retrieval"
LOW_CONFIDENCE = 0.5
_TOP_SCORES = 10
_KEY = secrets.token_bytes(32)
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """How long the parts took, in milliseconds; `scored` is how many records were compared meanwhile."""

    extraction_ms: float = 0.0
    classification_ms: float = 0.0
    analysis_ms: float = 0.0
    scoring_ms: float = 0.0
    total_ms: float = 0.0
    scored: int = 0

    @property
    def records_per_second(self) -> float:
        """Records that were scored in a second; 0 where none were, or in no time."""
        return self.scored / (self.scoring_ms / 1000) if self.scored and self.scoring_ms > 0 else 0.0


class IntentLog:
    """The lines of one query."""

    def __init__(self, *, content: bool) -> None:
        self._redaction = Redaction(_KEY, content)

    def analyzed(self, analysis: QueryAnalysis, times: Times) -> None:
        """The analysis, and a line of its own where the classifier was not sure (R-67, R-99)."""
        fields = self._redaction.analysis(analysis)
        _tell("Query analyzed", "query_analysis", **fields, analysisTimeMs=round(times.analysis_ms, 3))
        if analysis.intent_confidence <= LOW_CONFIDENCE:
            confidence = analysis.intent_confidence
            _tell("Low confidence", "low_confidence", intent=analysis.intent.value, intentConfidence=confidence)

    def fell_back(self, reason: FallbackReason, error: str | None) -> None:
        """Why the date-based mode answers (R-65, R-112); an error by its type."""
        named = {"error": error} if error is not None else {}
        level = logging.WARNING if error is not None else logging.INFO
        _tell("Date-based retrieval instead", "retrieval_fallback", level, reason=reason.value, **named)

    def unscorable(self, ids: Sequence[str]) -> None:
        """Records whose fields cannot be read (R-72)."""
        if ids:
            _tell("Records cannot be scored", "records_unscorable", logging.WARNING, recordIds=list(ids))

    def complete(self, result: RetrievalResult, savings: float, crosses: bool) -> None:
        """The counts of R-100, whether other spaces were asked for (R-118), and a line for no match (R-74)."""
        _tell(
            "Intent-driven retrieval complete",
            "retrieval_complete",
            **_counts(result.stats),
            topScores=_top_scores(result),
            retrievalTimeMs=round(result.stats.retrieval_time.total_seconds() * 1000, 3),
            tokenSavingsVsStage4=round(savings, 4),
            crossSpace=crosses,
        )
        if not result.records:
            _tell("No record matches", "zero_matches", **_counts(result.stats))

    def performance(self, times: Times) -> None:
        """The times of R-101."""
        _tell(
            "Retrieval performance",
            "performance",
            keywordExtractionMs=round(times.extraction_ms, 3),
            intentClassificationMs=round(times.classification_ms, 3),
            relevanceScoringMs=round(times.scoring_ms, 3),
            totalRetrievalMs=round(times.total_ms, 3),
            recordsPerSecond=round(times.records_per_second, 1),
        )


def _counts(stats: RetrievalStats) -> dict[str, int]:
    return {
        "recordsConsidered": stats.records_considered,
        "recordsMatched": stats.records_matched,
        "recordsIncluded": stats.records_included,
        "recordsExcludedPrivacy": stats.records_excluded_privacy,
        "recordsExcludedThreshold": stats.records_excluded_threshold,
    }


def _top_scores(result: RetrievalResult) -> list[dict[str, Any]]:
    scored = ((one.record.id, one.relevance_score) for one in result.records[:_TOP_SCORES])
    return [{"id": record_id, "score": round(score, 6)} for record_id, score in scored if score is not None]


def _tell(message: str, event: str, level: int = logging.INFO, **fields: Any) -> None:
    _LOG.log(level, message, extra={"category": CATEGORY, "event": event, **fields})
