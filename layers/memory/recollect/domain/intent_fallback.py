"""When a search by intent becomes one by date, and why (R-64, R-89, R-111, R-112, R-P17, R-P18, P-15)."""

from recollect.domain.analysis import QueryAnalysis
from recollect.domain.date_based import FallbackReason
from recollect.domain.keywords import is_stop_word, query_words
from recollect.domain.match_gate import content_keywords
from recollect.domain.rules import IntentRules
from recollect.domain.space_reach import SpaceReach


def fallback_reason(analysis: QueryAnalysis, reach: SpaceReach, rules: IntentRules) -> FallbackReason | None:
    """The first reason that holds; None where the query is good for retrieval by intent.

    Words are those of the raw query, between spaces, with a letter or digit. Its own keywords alone tell whether it is
    of stop words only: what the conversation adds does not.
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
