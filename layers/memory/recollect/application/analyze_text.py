"""Analyze: what ingest and retrieval would decide of a text, storing nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from recollect.domain.analysis import QueryAnalysis, analyze
from recollect.domain.rules import Rules
from recollect.domain.scoring import content_type_of, importance_keywords, score
from recollect.domain.tagging import extract_tags
from recollect.domain.web_search import needs_web_search, web_search_keywords


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalyzeRequest:
    """A text, and what is known around it; `content_type` absent is userinput."""

    text: str
    content_type: str | None = None
    history: Sequence[str] = ()
    spaces: Sequence[str] = ()
    categories: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TextAnalysis:
    """The decisions of the rules, each with what led to it."""

    content_type: str
    importance: float
    importance_keywords: tuple[str, ...]
    tags: tuple[str, ...]
    needs_web_search: bool
    web_search_keywords: tuple[str, ...]
    query: QueryAnalysis


def analyze_text(request: AnalyzeRequest, now: datetime, rules: Rules) -> TextAnalysis:
    """Applies K-01 to K-14, K-38 to K-53 and the query analysis of R-08."""
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
