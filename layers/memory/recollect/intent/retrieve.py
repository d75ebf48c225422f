"""What retrieval by intent logs: the document's events with its fields (R-65, R-67, R-72, R-74, R-99 to R-101, R-118).

Lines carry ids, counts, times and decisions. Texts are told by length and keyed hash (P-18), unless the tenant's rules
set `logging.content`; the key is this process's own, so that hashes of one process compare and nobody can guess them.

The answer of a retrieval by intent: results, counts, and how it compares with the date-based mode.

Retrieval by intent: dates, candidates, analysis, privacy, match gate, relevance, the best 15 (R-06, R-46).

The use case behind `POST /v1/search` in mode `intent`. Whatever fails on the way, but for reading the records, is
logged and answered by date (R-112).
"""

import logging
import secrets
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
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


SUGGESTION = "Nothing matches. Try fewer or other words, a longer time window, or name another space."


@dataclass(frozen=True, slots=True)
class Size:
    """How much a model would be shown: records, and tokens of their truncated context (R-45)."""

    records: int
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class IntentAnswer:
    """The results and what led to them.

    `analysis` is None where there was none: retrieval by intent is switched off, or it failed. `size` is of these
    records, `date_based` of the newest 20 among the same candidates. `suggestion`: only where nothing matched (R-75).
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


def answered(
    found: Candidates,
    result: RetrievalResult,
    reach: SpaceReach,
    *,
    analysis: QueryAnalysis | None,
    fallback: FallbackReason | None,
    times: Times,
) -> IntentAnswer:
    """The records as they are answered, best first, with the counts."""
    privacy = PrivacyFilter(reach.allowed)
    results = tuple(_result(found, one, place) for place, one in enumerate(result.records, start=1))
    return IntentAnswer(
        results=results,
        diagnostics=_diagnostics(found, result, privacy, fallback),
        analysis=analysis,
        stats=result.stats,
        fallback=fallback,
        suggestion=None if results else SUGGESTION,
        crosses_spaces=reach.crosses,
        size=_size([one.record for one in result.records]),
        date_based=_size(newest_records(privacy.filter(found.records))),
        times=times,
    )


def _size(records: Sequence[RetrievalRecord]) -> Size:
    shown = truncated(records)
    return Size(len(records), shown.tokens)


def _result(found: Candidates, one: ScoredRecord, place: int) -> SearchResult:
    """The scores in the place of a ranking's signals; 0 and none where nothing was scored."""
    seen = found.see(one.record.id)
    signals, shares = _signals(one)
    candidate = candidate_of_event(seen.event, (), None, {})
    return SearchResult(seen.event, seen.memory, Ranked(candidate, one.relevance_score or 0.0, signals, shares), place)


def _signals(one: ScoredRecord) -> tuple[Mapping[str, float], Mapping[str, float]]:
    if one.relevance_score is None or one.keyword_match_score is None or one.recency_score is None:
        return MappingProxyType({}), MappingProxyType({})
    scores = {"keyword_match": one.keyword_match_score, "recency": one.recency_score}
    shares = {
        "keyword_match": KEYWORD_WEIGHT * one.keyword_match_score,
        "recency": RECENCY_WEIGHT * one.recency_score,
    }
    return MappingProxyType({"relevance": one.relevance_score, **scores}), MappingProxyType(shares)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class IntentQuestion:
    """A query, and the window, space and conversation it belongs to. `history`: the messages before it, oldest first.

    `filters.window` with neither end is no window: then the last 14 days are meant, or the dates that the query names.
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


@dataclass(slots=True)
class _Course:
    """One query on its way: what is known of it so far, and why it is answered by date."""

    question: IntentQuestion
    rules: Rules
    reach: SpaceReach
    analysis: QueryAnalysis | None = None
    fallback: FallbackReason | None = None
    error: str | None = None
    times: Times = field(default_factory=Times)

    def failed(self, error: Exception) -> None:
        """From now on it is answered by date."""
        self.fallback, self.error = FallbackReason.ERROR, type(error).__name__


class RetrieveByIntent:
    """Pure steps over candidates that are read once; `classifier` may be a richer one (P-7)."""

    def __init__(self, candidates: IntentCandidates, classifier: Classifier = classify) -> None:
        self._candidates = candidates
        self._classifier = classifier

    def __call__(self, scope: Scope, question: IntentQuestion, given_rules: GivenRules) -> IntentAnswer:
        """At most 15 records, by relevance; the newest ones where the query is none for it (R-89).

        Raises what reading the records raises; nothing for any text (R-P19).
        """
        began = time.perf_counter()
        begun = self._candidates.begin(scope)
        rules = settled(given_rules)
        course = _Course(question, rules, active_alone(question.active_space_id))
        course.fallback = None if rules.intent.enabled else FallbackReason.DISABLED
        filters = replace(question.filters, window=_window(course))
        found = self._candidates(scope, filters, begun)
        self._analyze(course, found)
        result = _retrieved(course, found).besides(found.unreadable)
        course.times = replace(course.times, total_ms=_ms_since(began))
        stats = replace(result.stats, retrieval_time=timedelta(milliseconds=course.times.total_ms))
        return _told(course, found, replace(result, stats=stats))

    def _analyze(self, course: _Course, found: Candidates) -> None:
        """With the names that the records bring: spaces and categories (R-21, R-22)."""
        if course.fallback is not None:
            return
        began, question, watch = time.perf_counter(), course.question, _Watch()
        classifier = watch.on_classifying(self._classifier)
        names = found.spaces, found.categories
        try:
            course.analysis = analyze(
                question.text, question.history, *names, question.now, course.rules, classifier, watch.extracted
            )  # fmt: skip
            course.reach = space_reach(course.analysis, question.active_space_id, course.rules.intent)
            course.fallback = fallback_reason(course.analysis, course.reach, course.rules.intent)
        except Exception as error:  # noqa: BLE001 - a query is never lost to its analysis (R-112, R-P19)
            course.failed(error)
        course.times = replace(watch.times, analysis_ms=_ms_since(began))


@dataclass(slots=True)
class _Watch:
    """Looks at the clock around the parts of an analysis."""

    times: Times = field(default_factory=Times)

    def on_classifying(self, classifier: Classifier) -> Classifier:
        """The classifier, watched."""

        def classified(query: str, keywords: Sequence[str]) -> Intent:
            began = time.perf_counter()
            try:
                return classifier(query, keywords)
            finally:
                self.times = replace(self.times, classification_ms=_ms_since(began))

        return classified

    def extracted(self, text: str) -> tuple[str, ...]:
        """The keywords, watched."""
        began = time.perf_counter()
        keywords = extract_keywords(text)
        self.times = replace(self.times, extraction_ms=_ms_since(began))
        return keywords


def _window(course: _Course) -> TimeWindow:
    """The dates that the query names narrow the window before anything is read; without analysis there are none."""
    question = course.question
    try:
        named = [] if course.fallback else [found.range for found in named_dates(question.text or "", question.now)]
        return date_window(question.filters.window, named, question.now)
    except Exception as error:  # noqa: BLE001 - as for the rest of the analysis
        course.failed(error)
        return date_window(question.filters.window, (), question.now)


def _retrieved(course: _Course, found: Candidates) -> RetrievalResult:
    """By intent; by date where the query is none for it, or where something fails."""
    question, rules = course.question, course.rules.intent
    if course.analysis is not None and course.fallback is None:
        began = time.perf_counter()
        try:
            result = retrieve(
                course.analysis, found.records, question.active_space_id, rules, question.now, question.wanted
            )
            course.times = replace(course.times, scoring_ms=_ms_since(began), scored=result.stats.records_matched)
            return result
        except Exception as error:  # noqa: BLE001 - what cannot be scored is answered by date (R-112)
            course.failed(error)
    return retrieve_by_date(found.records, course.reach, rules, question.wanted)


def _told(course: _Course, found: Candidates, result: RetrievalResult) -> IntentAnswer:
    """The answer, and the lines of the log."""
    answer = answered(
        found, result, course.reach, analysis=course.analysis, fallback=course.fallback, times=course.times
    )
    log = IntentLog(content=course.rules.logging.content)
    if course.analysis is not None:
        log.analyzed(course.analysis, course.times)
    if course.fallback is not None:
        log.fell_back(course.fallback, course.error)
    log.unscorable(result.unscorable)
    log.complete(result, answer.token_savings, answer.crosses_spaces)
    log.performance(course.times)
    return answer


def _ms_since(began: float) -> float:
    return (time.perf_counter() - began) * 1000
