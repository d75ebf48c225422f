"""POST /v1/analyze: what the rules read out of a text."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from recollect.intent.analysis import QueryAnalysis, analyze
from recollect.rules.groups import Rules
from recollect.rules.importance import (
    content_type_of,
    extract_tags,
    importance_keywords,
    needs_web_search,
    score,
    web_search_keywords,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalyzeRequest:
    """A text and its surroundings; an absent `content_type` is userinput."""

    text: str
    content_type: str | None = None
    history: Sequence[str] = ()
    spaces: Sequence[str] = ()
    categories: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TextAnalysis:
    """The decisions of the rules on a text, each with its reasons."""

    content_type: str
    importance: float
    importance_keywords: tuple[str, ...]
    tags: tuple[str, ...]
    needs_web_search: bool
    web_search_keywords: tuple[str, ...]
    query: QueryAnalysis


def analyze_text(request: AnalyzeRequest, now: datetime, rules: Rules) -> TextAnalysis:
    """Applies K-01 to K-14, K-38 to K-53 and the query analysis of R-08; stores nothing."""
    given = "userinput" if request.content_type is None else request.content_type
    content_type = content_type_of(given)
    return TextAnalysis(
        content_type=content_type,
        importance=score(request.text, content_type, rules),
        importance_keywords=importance_keywords(request.text, rules),
        tags=extract_tags(request.text, rules),
        needs_web_search=needs_web_search(request.text, rules),
        web_search_keywords=web_search_keywords(request.text, rules),
        query=analyze(request.text, request.history, request.spaces, request.categories, now, rules),
    )
