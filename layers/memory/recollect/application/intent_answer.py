"""The answer of a retrieval by intent: results, counts, and how it compares with the date-based mode."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from recollect.application.candidates import candidate_of_event
from recollect.application.intent_candidates import Candidates
from recollect.application.intent_log import Times
from recollect.application.search_memory import SearchDiagnostics, SearchResult
from recollect.domain.analysis import QueryAnalysis
from recollect.domain.context_truncation import truncated
from recollect.domain.date_based import DATE_BASED, FallbackReason, newest_records
from recollect.domain.filters import DropReason
from recollect.domain.intent_retrieval import RetrievalResult, RetrievalStats, ScoredRecord
from recollect.domain.privacy_filter import PrivacyFilter
from recollect.domain.ranking import Ranked
from recollect.domain.relevance import KEYWORD_WEIGHT, RECENCY_WEIGHT
from recollect.domain.retrieval_record import RetrievalRecord
from recollect.domain.space_reach import SpaceReach

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
