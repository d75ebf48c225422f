"""Ranks candidates by intent: privacy, match gate, relevance, threshold, the best 15 (R-30, R-31, R-43, P-15).

Besides: when the date-based mode answers instead (R-64, R-89, R-111, R-112, R-P17, R-P18, P-15), and the context
truncator, which bounds what a model is shown (R-45).
"""

from collections.abc import Iterable, Sequence, Sized
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from typing import Self

from recollect.intent.analysis import QueryAnalysis
from recollect.intent.scoring import (
    NEVER,
    NOT_RELEVANT,
    FallbackReason,
    Matcher,
    MatchGate,
    PrivacyFilter,
    Relevance,
    RetrievalRecord,
    SpaceReach,
    content_keywords,
    folded_keywords,
    newest_records,
    scored,
    space_reach,
)
from recollect.rules.groups import IntentRules
from recollect.text.phrases import one_line
from recollect.text.sentences import count_tokens
from recollect.text.terms import is_stop_word, query_words

MOST_RESULTS = 15
"""Whatever the caller or the rules say (R-P8)."""


@dataclass(frozen=True, slots=True)
class ScoredRecord:
    """A record with its scores, each in [0, 1]; all None in a fallback, where nothing is scored."""

    record: RetrievalRecord
    relevance_score: float | None
    keyword_match_score: float | None
    recency_score: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalStats:
    """Counts of records: considered ≥ matched ≥ included. `records_matched` passed the match gate."""

    records_considered: int
    records_matched: int
    records_included: int
    records_excluded_privacy: int
    records_excluded_threshold: int
    retrieval_time: timedelta = timedelta()


@dataclass(frozen=True, slots=True)
class RetrievalResult:
    """At most 15 records, the most relevant first; in a fallback the newest first.

    `unscorable` names records whose fields cannot be read, which score 0.0 (R-71).
    """

    records: tuple[ScoredRecord, ...]
    stats: RetrievalStats
    unscorable: tuple[str, ...] = ()

    def besides(self, unreadable: Sequence[str]) -> Self:
        """With records that could not even be read: considered, and unscorable."""
        stats = replace(self.stats, records_considered=self.stats.records_considered + len(unreadable))
        return replace(self, stats=stats, unscorable=(*self.unscorable, *unreadable))


@dataclass(slots=True)
class _Scored:
    matched: int = 0
    reached: list[ScoredRecord] = field(default_factory=list)
    unscorable: list[str] = field(default_factory=list)


def retrieve(
    analysis: QueryAnalysis,
    candidates: Sequence[RetrievalRecord],
    active_space_id: str | None,
    rules: IntentRules,
    now: datetime,
    max_results: int = MOST_RESULTS,
) -> RetrievalResult:
    """The records that the query is about (R-30). `candidates` lie within the dates already, and are not capped.

    The smallest of `max_results`, `rules.max_results` and 15 limits the result. A record that cannot be read scores
    0.0.
    """
    reach = space_reach(analysis, active_space_id, rules)
    allowed = PrivacyFilter(reach.allowed).filter(candidates)
    gate = MatchGate.of(analysis, reach, allowed, require_match=rules.require_match)
    found = _scored_all(allowed, gate, folded_keywords(analysis.keywords), rules.relevance_threshold, now)
    best = _best(sorted(found.reached, key=_order, reverse=True), _limit(max_results, rules), reach)
    stats = _stats(candidates, allowed, best, found.matched, found.matched - len(found.reached))
    return RetrievalResult(tuple(best), stats, tuple(found.unscorable))


def retrieve_by_date(
    candidates: Sequence[RetrievalRecord], reach: SpaceReach, rules: IntentRules, max_results: int = MOST_RESULTS
) -> RetrievalResult:
    """The fallback: the newest visible records, unscored, at most as many as `retrieve` (P-17)."""
    allowed = PrivacyFilter(reach.allowed).filter(candidates)
    newest = newest_records(allowed, _limit(max_results, rules))
    records = tuple(ScoredRecord(record, None, None, None) for record in newest)
    return RetrievalResult(records, _stats(candidates, allowed, newest, len(allowed), 0))


def _stats(candidates: Sized, allowed: Sized, included: Sized, matched: int, below_threshold: int) -> RetrievalStats:
    return RetrievalStats(
        records_considered=len(candidates),
        records_matched=matched,
        records_included=len(included),
        records_excluded_privacy=len(candidates) - len(allowed),
        records_excluded_threshold=below_threshold,
    )


def _scored_all(
    records: Iterable[RetrievalRecord], gate: MatchGate, keywords: tuple[str, ...], threshold: float, now: datetime
) -> _Scored:
    found = _Scored()
    for record in records:
        matcher = Matcher(record)
        if gate.admits(record, matcher):
            found.matched += 1
            scores = _relevance(found, record, matcher, keywords, now)
            if scores.relevance >= threshold:
                one = ScoredRecord(record, scores.relevance, scores.keyword_match, scores.recency)
                found.reached.append(one)
    return found


def _best(ranked: Sequence[ScoredRecord], limit: int, reach: SpaceReach) -> list[ScoredRecord]:
    """Spaces that the query names are compared side by side: the best record of each comes first (R-P15)."""
    named: dict[str | None, ScoredRecord] = {}
    for one in ranked:
        if reach.mentions(one.record.space_id):
            named.setdefault(one.record.space_id, one)
    wanted = list(dict.fromkeys(one.record.id for one in [*named.values(), *ranked]))[:limit]
    return [one for one in ranked if one.record.id in wanted]


def _relevance(
    found: _Scored, record: RetrievalRecord, matcher: Matcher, keywords: tuple[str, ...], now: datetime
) -> Relevance:
    try:
        return scored(record, matcher, keywords, now)
    except ValueError:
        found.unscorable.append(record.id)
        return NOT_RELEVANT


def _limit(max_results: int, rules: IntentRules) -> int:
    return max(0, min(max_results, rules.max_results, MOST_RESULTS))


def _order(one: ScoredRecord) -> tuple[float, date, int, datetime, str]:
    """Relevance; of equal relevance the later day, then the more viewed, then the later instant (R-P9, R-P10)."""
    at = (one.record.instant or NEVER).astimezone(UTC)
    return one.relevance_score or 0.0, at.date(), one.record.views, at, one.record.id


def fallback_reason(analysis: QueryAnalysis, reach: SpaceReach, rules: IntentRules) -> FallbackReason | None:
    """The first reason that holds; None where the query suits retrieval by intent.

    Words are those of the raw query, between spaces, with a letter or digit. Stop words alone: by the query's own
    keywords, without those that the conversation adds.
    """
    if not rules.enabled:
        return FallbackReason.DISABLED
    own = _own_keywords(analysis)
    if not own:
        return FallbackReason.NO_KEYWORDS
    if len(query_words(analysis.original_query)) < rules.min_query_words:
        return FallbackReason.SHORT_QUERY
    if all(is_stop_word(word) for word in own):
        return FallbackReason.STOP_WORDS_ONLY
    needs_match = rules.require_match and not reach.mentioned
    return FallbackReason.NO_CONTENT_KEYWORD if needs_match and not content_keywords(analysis) else None


def _own_keywords(analysis: QueryAnalysis) -> tuple[str, ...]:
    added = len(analysis.context.keywords) if analysis.context else 0
    return analysis.keywords[: len(analysis.keywords) - added]


@dataclass(frozen=True, slots=True, kw_only=True)
class TruncationPolicy:
    """The document's bounds: records, tokens of all of them together, characters of a record's text."""

    records: int = 20
    tokens: int = 2000
    characters: int = 100


@dataclass(frozen=True, slots=True)
class TruncatedContext:
    """One line for each record that fits, in the records' order; `tokens` of all lines."""

    lines: tuple[str, ...]
    tokens: int


def truncated(records: Sequence[RetrievalRecord], policy: TruncationPolicy | None = None) -> TruncatedContext:
    """The first records that fit; the first one that does not fit ends it."""
    bounds = policy or TruncationPolicy()
    lines: list[str] = []
    total = 0
    for record in records[: bounds.records]:
        line = _line(record, bounds.characters)
        total += count_tokens(line)
        if total > bounds.tokens:
            return TruncatedContext(tuple(lines), total - count_tokens(line))
        lines.append(line)
    return TruncatedContext(tuple(lines), total)


def _line(record: RetrievalRecord, characters: int) -> str:
    day = record.instant.date().isoformat() if record.instant is not None else None
    texts = (one_line(text)[:characters] for text in (record.notes, record.content) if text)
    return " ".join(part for part in (day, record.title, record.category, *texts) if part)
