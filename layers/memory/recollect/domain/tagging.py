"""Tags of a content, by the keywords of each category (K-43 to K-53)."""

from itertools import chain

from recollect.domain.phrases import found
from recollect.domain.rules import Rules


def extract_tags(content: str, rules: Rules) -> tuple[str, ...]:
    """The categories any of whose keywords occurs in the content, each once, in the order of the rules (K-50)."""
    hits = frozenset(found(content, chain.from_iterable(rules.tags.values()), rules.matching.word_boundary))
    return tuple(category for category, keywords in rules.tags.items() if not hits.isdisjoint(keywords))
