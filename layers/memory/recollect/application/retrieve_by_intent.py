"""Retrieval by intent: dates, candidates, analysis, privacy, match gate, relevance, the best 15 (R-06, R-46).

The use case behind `POST /v1/search` in mode `intent`. Whatever fails on the way, but for reading the records, is
logged and answered by date (R-112).
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from recollect.application.intent_answer import IntentAnswer, answered
from recollect.application.intent_candidates import Candidates, IntentCandidates
from recollect.application.intent_log import IntentLog, Times
from recollect.application.keep_rules import GivenRules, settled
from recollect.domain.analysis import QueryAnalysis, analyze
from recollect.domain.date_based import FallbackReason, date_window
from recollect.domain.date_phrases import named_dates
from recollect.domain.filters import SearchFilters, TimeWindow
from recollect.domain.intent import Classifier, Intent, classify
from recollect.domain.intent_fallback import fallback_reason
from recollect.domain.intent_retrieval import MOST_RESULTS, RetrievalResult, retrieve, retrieve_by_date
from recollect.domain.keywords import extract_keywords
from recollect.domain.rules import Rules
from recollect.domain.scope import Scope
from recollect.domain.space_reach import SpaceReach, active_alone, space_reach


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
