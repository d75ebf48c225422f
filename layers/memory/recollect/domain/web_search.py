"""Whether an input asks for current information from the web (K-38 to K-42)."""

from recollect.domain.phrases import found
from recollect.domain.rules import Rules


def web_search_keywords(text: str, rules: Rules) -> tuple[str, ...]:
    """What in the text triggers a search, in the order of the rules; empty when nothing does.

    Keywords of current information (K-38); where there is none, a question pattern and the temporal words
    that go with it (K-40).
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
