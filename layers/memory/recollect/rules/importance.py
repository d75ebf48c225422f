"""What the rules decide of one text.

Importance (K-01 to K-14), tags (K-43 to K-53), need of a web search (K-38 to K-42).
"""

from itertools import chain

from recollect.core.event import ContentType
from recollect.rules.groups import Rules
from recollect.text.phrases import found

_HIGHEST = 1.0
_DECIMAL_PLACES = 10


def content_type_of(name: str | None) -> ContentType:
    """The type of that name, in any case; an unknown, empty or absent name is `default` (K-93)."""
    try:
        return ContentType((name or "").strip().lower())
    except ValueError:
        return ContentType.DEFAULT


def base_score(content_type: str | None, rules: Rules) -> float:
    """The score of a content type without a boost, in [0, 1] (K-01 to K-07)."""
    base = rules.scoring.base
    return base.get(content_type_of(content_type), base[ContentType.DEFAULT])


def importance_keywords(content: str, rules: Rules) -> tuple[str, ...]:
    """The importance keywords found in the content, in the order of the rules (K-10)."""
    return found(content, rules.scoring.keywords, rules.matching.word_boundary)


def score(content: str, content_type: str | None, rules: Rules) -> float:
    """min(base + boost, 1.0), rounded to 10 places; several keywords add the boost once (K-09 to K-14)."""
    base = base_score(content_type, rules)
    boost = rules.scoring.boost if importance_keywords(content, rules) else 0.0
    return round(min(base + boost, _HIGHEST), _DECIMAL_PLACES)


def extract_tags(content: str, rules: Rules) -> tuple[str, ...]:
    """The categories with a keyword in the content, each once, in the order of the rules (K-50)."""
    hits = frozenset(found(content, chain.from_iterable(rules.tags.values()), rules.matching.word_boundary))
    return tuple(category for category, keywords in rules.tags.items() if not hits.isdisjoint(keywords))


def web_search_keywords(text: str, rules: Rules) -> tuple[str, ...]:
    """What in the text triggers a web search, in the order of the rules; empty where nothing does.

    Keywords of current information (K-38); without one, a question pattern together with temporal words (K-40).
    """
    keywords = found(text, rules.web_search.keywords, rules.matching.word_boundary)
    return keywords or _timely_question(text, rules)


def needs_web_search(text: str, rules: Rules) -> bool:
    """Keyword, or question pattern with a temporal word (K-42); a pattern alone does not trigger (K-41)."""
    return bool(web_search_keywords(text, rules))


def _timely_question(text: str, rules: Rules) -> tuple[str, ...]:
    patterns = found(text, rules.web_search.patterns, rules.matching.word_boundary)
    temporal = found(text, rules.web_search.temporal, rules.matching.word_boundary)
    return patterns + temporal if patterns and temporal else ()
