"""A query analysed: keywords, entities, intent, and what the conversation adds (R-08 to R-25)."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from recollect.domain.entities import Entity, extract_entities
from recollect.domain.intent import Classifier, IntentName, classify, classify_or_question
from recollect.domain.keywords import extract_keywords, is_stop_word, query_words
from recollect.domain.rules import Rules

LOOKBACK_LIMIT = 2
LONG_QUERY_WORDS = 100
_LONG_UNSPACED_KEYWORDS = 1_000

_OPENERS = frozenset({"and", "also", "but", "then", "et", "und", "и", "а"})
_OPENING_PAIRS = frozenset({("what", "about"), ("how", "about"), ("et", "pour"), ("und", "was")})
_PRONOUNS = frozenset({
    "it", "its", "they", "them", "their", "he", "him", "his", "she", "her", "hers", "он", "она", "оно", "они", "его",
    "её", "ее", "их", "ему", "ей", "им", "lui", "leur", "eux", "ihn", "ihm", "ihnen", "ellos", "ellas",
})  # fmt: skip
_DEMONSTRATIVES = frozenset({"this", "that", "these", "those"})


@dataclass(frozen=True, slots=True)
class QueryContext:
    """What the conversation gave to a follow-up: how many messages were read, and the keywords that they added."""

    messages: int
    keywords: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class QueryAnalysis:
    """R-09. `keywords` are the query's own, in its order, then those of `context`; confidence in [0, 1]."""

    original_query: str
    keywords: tuple[str, ...]
    entities: tuple[Entity, ...]
    intent: IntentName
    intent_confidence: float
    context: QueryContext | None = None


def analyze(
    query: str | None,
    history: Sequence[str],
    spaces: Iterable[str],
    categories: Iterable[str],
    now: datetime,
    rules: Rules,
    classifier: Classifier = classify,
    extractor: Callable[[str], tuple[str, ...]] = extract_keywords,
) -> QueryAnalysis:
    """Analyses one query; None is an empty one. Raises on no text at all (R-P19).

    `history`: the conversation before it, oldest first; at most its last two messages are read (R-P20).
    `spaces`, `categories`: known names. `now` carries a zone. `classifier` may be a richer one (P-7),
    `extractor` a watched one.
    """
    text = query or ""
    words = extractor(text)
    intent = classify_or_question(text, words, classifier)
    own = _capped(text, words, rules.intent.max_keywords)
    context = _context(words, own, history, rules)
    entities = extract_entities(text, spaces, categories, now)
    keywords = own + (context.keywords if context else ())
    return QueryAnalysis(text, keywords, entities, intent.name, intent.confidence, context)


def _capped(text: str, keywords: tuple[str, ...], max_keywords: int) -> tuple[str, ...]:
    """Of a text of more than 100 words the first distinct keywords that are no stop words (R-25, P-6)."""
    # A text without spaces counts as one word, however long: its keywords tell.
    if len(query_words(text)) <= LONG_QUERY_WORDS and len(keywords) <= _LONG_UNSPACED_KEYWORDS:
        return keywords
    distinct = tuple(dict.fromkeys(keywords))
    content = tuple(keyword for keyword in distinct if not is_stop_word(keyword))
    return (content or distinct)[:max_keywords]


def _context(words: Sequence[str], own: Iterable[str], history: Sequence[str], rules: Rules) -> QueryContext | None:
    lookback = min(rules.intent.context_lookback, LOOKBACK_LIMIT)
    recent = history[-lookback:] if lookback > 0 else ()
    if not recent or not _refers_back(words):
        return None
    known = frozenset(own)
    said = (_capped(text, extract_keywords(text), rules.intent.max_keywords) for text in recent)
    added = dict.fromkeys(keyword for keywords in said for keyword in keywords if keyword not in known)
    return QueryContext(len(recent), tuple(added))


def _refers_back(words: Sequence[str]) -> bool:
    """Whether a query follows up what was said before it, or points to it with a pronoun (R-24)."""
    if not words:
        return False
    if words[0] in _OPENERS or tuple(words[:2]) in _OPENING_PAIRS:
        return True
    return any(_points_back(word, following) for word, following in zip(words, [*words[1:], ""], strict=True))


def _points_back(word: str, following: str) -> bool:
    # "this month" names a month; "is that still so" points to something said.
    if word in _DEMONSTRATIVES:
        return not following or is_stop_word(following)
    return word in _PRONOUNS
