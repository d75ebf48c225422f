"""Importance of a content: its type's base score, and one boost for importance keywords (K-01 to K-14)."""

from recollect.domain.event import ContentType
from recollect.domain.phrases import found
from recollect.domain.rules import Rules

_HIGHEST = 1.0
_DECIMAL_PLACES = 10


def content_type_of(name: str | None) -> ContentType:
    """The type of that name, whatever its case; an unknown, empty or absent one is `default` (K-93)."""
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
    """min(base + boost, 1.0), the boost added once whatever number of keywords; rounded to 10 places (K-09 to K-14)."""
    base = base_score(content_type, rules)
    boost = rules.scoring.boost if importance_keywords(content, rules) else 0.0
    return round(min(base + boost, _HIGHEST), _DECIMAL_PLACES)
