"""Retrieval by intent, the use case behind `POST /v1/search` in mode `intent`: its steps, its answer and its log.

Dates, candidates, analysis, privacy, match gate, relevance, the best 15 (R-06, R-46). Whatever fails on the way, but
for reading the records, is logged and answered by date (R-112). Log lines carry ids, counts, times and decisions (R-65,
R-67, R-72, R-74, R-99 to R-101, R-118); texts by length and keyed hash (P-18), unless the tenant's rules set
`logging.content`. The key is this process's own, so that nobody can guess them.
"""

import logging
import secrets
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cache
from types import MappingProxyType
from typing import Any

from recollect.core.scope import Scope
from recollect.intent.analysis import Classifier, Intent, QueryAnalysis, analyze, classify
from recollect.intent.candidates import Candidates, IntentCandidates
from recollect.intent.ranking import (
    MOST_RESULTS,
    RetrievalResult,
    RetrievalStats,
    ScoredRecord,
    fallback_reason,
    retrieve,
    retrieve_by_date,
    truncated,
)
from recollect.intent.scoring import (
    DATE_BASED,
    KEYWORD_WEIGHT,
    RECENCY_WEIGHT,
    FallbackReason,
    PrivacyFilter,
    Redaction,
    RetrievalRecord,
    SpaceReach,
    active_alone,
    date_window,
    newest_records,
    space_reach,
)
from recollect.retrieval.filters import DropReason, SearchFilters, TimeWindow
from recollect.retrieval.ranking import Ranked
from recollect.retrieval.search import SearchDiagnostics, SearchResult
from recollect.retrieval.unprojected import candidate_of_event
from recollect.rules.groups import Rules
from recollect.rules.use_cases import GivenRules, settled
from recollect.text.dates import named_dates
from recollect.text.terms import extract_keywords
from recollect.usage import Counted, uncounted

CATEGORY = "intent_retrieval"
LOW_CONFIDENCE = 0.5
SUGGESTION = "Nothing matches. Try fewer or other words, a longer time window, or name another space."
_TOP_SCORES = 10
_LOGGER = logging.getLogger(__name__)


@cache
def _redaction_key() -> bytes:
    """Of this process. Drawn by its first request: no other that goes on from a copy of its start has it."""
    return secrets.token_bytes(32)


@dataclass(frozen=True, slots=True, kw_only=True)
class IntentQuestion:
    """A query with its window, space and conversation. `history`: the messages before it, oldest first.

    A `filters.window` without ends means the last 14 days, or the dates that the query names.
    """

    text: str | None
    filters: SearchFilters
    active_space_id: str | None = None
    history: Sequence[str] = ()
    wanted: int = MOST_RESULTS

    @property
    def now(self) -> datetime:
        """What windows, recency and relative times count from: `as_of`, else now."""
        return self.filters.as_of or self.filters.now


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """Milliseconds of each part; `scored` is the number of records that were scored meanwhile."""

    extraction_ms: float = 0.0
    classification_ms: float = 0.0
    analysis_ms: float = 0.0
    scoring_ms: float = 0.0
    total_ms: float = 0.0
    scored: int = 0

    @property
    def records_per_second(self) -> float:
        """Scored records a second; 0 where none were scored, or in no time."""
        return self.scored / (self.scoring_ms / 1000) if self.scored and self.scoring_ms > 0 else 0.0


@dataclass(frozen=True, slots=True)
class Size:
    """What a model would be shown: records, and tokens of their truncated context (R-45)."""

    records: int
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class IntentAnswer:
    """The results and how they came about.

    `analysis` is None where retrieval by intent is switched off, or the analysis failed. `size` is of these records,
    `date_based` of the newest 20 among the same candidates. `suggestion`: only where nothing matched (R-75).
    """

    results: tuple[SearchResult, ...]
    diagnostics: SearchDiagnostics
    analysis: QueryAnalysis | None
    stats: RetrievalStats
    fallback: FallbackReason | None
    suggestion: str | None
    crosses_spaces: bool
    size: Size
    date_based: Size
    times: Times

    @property
    def token_savings(self) -> float:
        """The share of tokens saved against the newest 20; 0 where those have none."""
        return 1 - self.size.tokens / self.date_based.tokens if self.date_based.tokens else 0.0


@dataclass(slots=True)
class _Run:
    question: IntentQuestion
    rules: Rules
    reach: SpaceReach
    analysis: QueryAnalysis | None = None
    fallback: FallbackReason | None = None
    error: str | None = None
    times: Times = field(default_factory=Times)

    def failed(self, error: Exception) -> None:
        self.fallback, self.error = FallbackReason.ERROR, type(error).__name__


class RetrieveByIntent:
    """Pure steps over candidates that are read once; `classifier` may be a richer one (P-7)."""

    def __init__(
        self, candidates: IntentCandidates, classifier: Classifier = classify, counted: Counted = uncounted
    ) -> None:
        self._candidates = candidates
        self._classifier = classifier
        self._counted = counted

    def retrieve(self, scope: Scope, question: IntentQuestion, given_rules: GivenRules) -> IntentAnswer:
        """At most 15 records, by relevance; the newest ones where the query has no intent to go by (R-89).

        Raises what reading the records raises; nothing for any text (R-P19).
        """
        began = time.perf_counter()
        begun = self._candidates.begin(scope)
        rules = settled(given_rules)
        run = _Run(question, rules, active_alone(question.active_space_id))
        run.fallback = None if rules.intent.enabled else FallbackReason.DISABLED
        filters = replace(question.filters, window=_window(run))
        found = self._candidates.gather(scope, filters, begun)
        self._analyze(run, found)
        result = _retrieved(run, found).besides(found.unreadable)
        run.times = replace(run.times, total_ms=_ms_since(began))
        stats = replace(result.stats, retrieval_time=timedelta(milliseconds=run.times.total_ms))
        self._counted(scope.tenant, 1)
        return _answer(run, found, replace(result, stats=stats))

    def _analyze(self, run: _Run, found: Candidates) -> None:
        if run.fallback is not None:
            return
        began, question, stopwatch = time.perf_counter(), run.question, _Stopwatch()
        asked = question.text, question.history, found.spaces, found.categories, question.now
        timed = stopwatch.timed(self._classifier), stopwatch.keywords_of
        try:
            run.analysis = analyze(*asked, run.rules, *timed)
            run.reach = space_reach(run.analysis, question.active_space_id, run.rules.intent)
            run.fallback = fallback_reason(run.analysis, run.reach, run.rules.intent)
        except Exception as error:  # noqa: BLE001 - a query is never lost to its analysis (R-112, R-P19)
            run.failed(error)
        run.times = replace(stopwatch.times, analysis_ms=_ms_since(began))


@dataclass(slots=True)
class _Stopwatch:
    times: Times = field(default_factory=Times)

    def timed(self, classifier: Classifier) -> Classifier:
        def classified(query: str, keywords: Sequence[str]) -> Intent:
            began = time.perf_counter()
            try:
                return classifier(query, keywords)
            finally:
                self.times = replace(self.times, classification_ms=_ms_since(began))

        return classified

    def keywords_of(self, text: str) -> tuple[str, ...]:
        began = time.perf_counter()
        keywords = extract_keywords(text)
        self.times = replace(self.times, extraction_ms=_ms_since(began))
        return keywords


def _window(run: _Run) -> TimeWindow:
    """The query's dates narrow the window before anything is read."""
    question = run.question
    try:
        named = [] if run.fallback else [found.range for found in named_dates(question.text or "", question.now)]
        return date_window(question.filters.window, named, question.now)
    except Exception as error:  # noqa: BLE001 - as for the rest of the analysis
        run.failed(error)
        return date_window(question.filters.window, (), question.now)


def _retrieved(run: _Run, found: Candidates) -> RetrievalResult:
    question, rules = run.question, run.rules.intent
    if run.analysis is not None and run.fallback is None:
        began = time.perf_counter()
        try:
            space, now = question.active_space_id, question.now
            result = retrieve(run.analysis, found.records, space, rules, now, question.wanted)
            run.times = replace(run.times, scoring_ms=_ms_since(began), scored=result.stats.records_matched)
            return result
        except Exception as error:  # noqa: BLE001 - what cannot be scored is answered by date (R-112)
            run.failed(error)
    return retrieve_by_date(found.records, run.reach, rules, question.wanted)


def _answer(run: _Run, found: Candidates, result: RetrievalResult) -> IntentAnswer:
    """The answer for these records, best first, with the counts; logged."""
    privacy = PrivacyFilter(run.reach.allowed)
    results = tuple(_result(found, one, place) for place, one in enumerate(result.records, start=1))
    answer = IntentAnswer(
        results=results,
        diagnostics=_diagnostics(found, result, privacy, run.fallback),
        analysis=run.analysis,
        stats=result.stats,
        fallback=run.fallback,
        suggestion=None if results else SUGGESTION,
        crosses_spaces=run.reach.crosses,
        size=_size([one.record for one in result.records]),
        date_based=_size(newest_records(privacy.filter(found.records))),
        times=run.times,
    )
    _log_analysis(run)
    _log_result(result, answer)
    return answer


def _ms_since(began: float) -> float:
    return (time.perf_counter() - began) * 1000


def _size(records: Sequence[RetrievalRecord]) -> Size:
    return Size(len(records), truncated(records).tokens)


def _result(found: Candidates, one: ScoredRecord, place: int) -> SearchResult:
    event, memory = found.see(one.record.id)
    ranked = Ranked(candidate_of_event(event, (), None, {}), one.relevance_score or 0.0, *_signals(one))
    return SearchResult(event, memory, ranked, place)


def _signals(one: ScoredRecord) -> tuple[Mapping[str, float], Mapping[str, float]]:
    if one.relevance_score is None or one.keyword_match_score is None or one.recency_score is None:
        return MappingProxyType({}), MappingProxyType({})
    words, recency = one.keyword_match_score, one.recency_score
    signals = {"relevance": one.relevance_score, "keyword_match": words, "recency": recency}
    shares = {"keyword_match": KEYWORD_WEIGHT * words, "recency": RECENCY_WEIGHT * recency}
    return MappingProxyType(signals), MappingProxyType(shares)


def _diagnostics(
    found: Candidates, result: RetrievalResult, privacy: PrivacyFilter, fallback: FallbackReason | None
) -> SearchDiagnostics:
    """What did not match, or not well enough, counts as below the threshold; another space's as filtered."""
    reasons = Counter(reason for record in found.records if (reason := privacy.reason(record)) is not None)
    stats = result.stats
    allowed = stats.records_considered - stats.records_excluded_privacy
    matched = stats.records_matched - stats.records_excluded_threshold
    dropped = Counter(found.dropped) + reasons + Counter({DropReason.THRESHOLD: allowed - matched})
    return SearchDiagnostics(
        matched_count=matched,
        filtered_count=dropped.total(),
        returned_count=len(result.records),
        dropped={reason: count for reason, count in dropped.items() if count},
        exact=found.exact,
        fallback=DATE_BASED if fallback is not None else None,
        missing=(),
        tail=found.tail,
        tail_cut=found.tail_cut,
        pending=found.pending,
    )


def _log_analysis(run: _Run) -> None:
    """The analysis, whether it is in doubt (R-67, R-99), and why the date-based mode answers (R-65, R-112)."""
    if run.analysis is not None:
        fields = Redaction(_redaction_key(), run.rules.logging.content).analysis(run.analysis)
        confidence = run.analysis.intent_confidence
        _log("Query analyzed", "query_analysis", **fields, analysisTimeMs=round(run.times.analysis_ms, 3))
        if confidence <= LOW_CONFIDENCE:
            _log("Low confidence", "low_confidence", intent=run.analysis.intent.value, intentConfidence=confidence)
    if run.fallback is not None:
        named = {"error": run.error} if run.error is not None else {}
        level = logging.WARNING if named else logging.INFO
        _log("Date-based retrieval instead", "retrieval_fallback", level, reason=run.fallback.value, **named)


def _log_result(result: RetrievalResult, answer: IntentAnswer) -> None:
    """Records that cannot be read (R-72), the counts (R-100, R-118), a line for no match (R-74), the times (R-101)."""
    if result.unscorable:
        ids = list(result.unscorable)
        _log("Records cannot be scored", "records_unscorable", logging.WARNING, recordIds=ids)
    _log(
        "Intent-driven retrieval complete",
        "retrieval_complete",
        **_counts(result.stats),
        topScores=_top_scores(result),
        retrievalTimeMs=round(result.stats.retrieval_time.total_seconds() * 1000, 3),
        tokenSavingsVsStage4=round(answer.token_savings, 4),
        crossSpace=answer.crosses_spaces,
    )
    if not result.records:
        _log("No record matches", "zero_matches", **_counts(result.stats))
    times = answer.times
    _log(
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


def _log(message: str, event: str, level: int = logging.INFO, **fields: Any) -> None:
    _LOGGER.log(level, message, extra={"category": CATEGORY, "event": event, **fields})
