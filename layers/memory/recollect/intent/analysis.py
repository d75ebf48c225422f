"""Analysis of a query: keywords, entities, intent, and what the conversation adds (R-08 to R-25).

Entities are dates, measurements, categories and spaces (R-11, R-19 to R-22); the intent's rules hold in every language
(R-26 to R-29, P-7). `analyze_text` is `POST /v1/analyze`.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from recollect.rules.groups import Rules
from recollect.rules.importance import (
    content_type_of,
    extract_tags,
    importance_keywords,
    needs_web_search,
    score,
    web_search_keywords,
)
from recollect.text.dates import named_dates
from recollect.text.phrases import fold, whole_word_positions
from recollect.text.terms import extract_keywords, is_stop_word, query_words

KNOWN_CATEGORIES = ("blood pressure", "medication")
LOOKBACK_LIMIT = 2
LONG_QUERY_WORDS = 100
_LONG_UNSPACED_KEYWORDS = 1_000
_UNITS = (
    "mmol/l|mg/dl|g/dl|mmhg|bpm|kcal|cal|kj|kwh|kg|mcg|µg|μg|mg|g|lbs?|oz|km/h|mph|km|cm|mm|mi|miles?|m|ft|ml|dl|l"
    "|°c|°f|hours?|minutes?|min|steps|%"
)
_MEASUREMENT = re.compile(
    r"(?<![\w./,-])(?:(?P<ratio>[0-9]{2,3}/[0-9]{2,3})(?![\w/])"
    rf"|(?P<number>[0-9]{{1,9}}(?:[.,][0-9]{{1,9}})?)\s?(?P<unit>{_UNITS})(?![\w/]))",
    re.IGNORECASE,
)
_QUESTION_MARKS = ("?", "\uff1f", "\u061f")
_GREETING_KEYWORDS = 2
_OPENERS = frozenset({"and", "also", "but", "then", "et", "und", "и", "а"})
_OPENING_PAIRS = frozenset({("what", "about"), ("how", "about"), ("et", "pour"), ("und", "was")})
_PRONOUNS = frozenset({
    "it", "its", "they", "them", "their", "he", "him", "his", "she", "her", "hers", "он", "она", "оно", "они", "его",
    "её", "ее", "их", "ему", "ей", "им", "lui", "leur", "eux", "ihn", "ihm", "ihnen", "ellos", "ellas",
})  # fmt: skip
_DEMONSTRATIVES = frozenset({"this", "that", "these", "those"})


class EntityType(StrEnum):
    """The types of R-11, spelt as the document spells them."""

    DATE = "date"
    MEASUREMENT = "measurement"
    CATEGORY = "category"
    SPACE_NAME = "spaceName"


@dataclass(frozen=True, slots=True)
class Entity:
    """`value` as in the query; `normalized` as it is compared.

    A date's `normalized` is a range `from/to` of ISO times in UTC, both inclusive; a measurement's is in lower case
    with one space before the unit; a category's is case-folded; a space's is the known space's own name.
    """

    type: EntityType
    value: str
    normalized: str


class IntentName(StrEnum):
    """The four intents (R-10); the default rules produce `question` and `greeting` only (P-7)."""

    QUESTION = "question"
    COMMAND = "command"
    STATEMENT = "statement"
    GREETING = "greeting"


@dataclass(frozen=True, slots=True)
class Intent:
    """An intent and the classifier's confidence, in [0, 1]."""

    name: IntentName
    confidence: float


Classifier = Callable[[str, Sequence[str]], Intent]
"""(query, keywords) → intent: the default rules, or what replaces them (P-7)."""

UNCLASSIFIED = Intent(IntentName.QUESTION, 0.5)
_ASKED = Intent(IntentName.QUESTION, 0.8)
_GREETED = Intent(IntentName.GREETING, 0.6)


@dataclass(frozen=True, slots=True)
class QueryContext:
    """What the conversation adds to a follow-up: how many messages were read, and their keywords."""

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


def classify(query: str, keywords: Sequence[str]) -> Intent:
    """Question mark: question, 0.8; two keywords or fewer: greeting, 0.6; else question, 0.5 (R-23, R-26 to R-28)."""
    if any(mark in query for mark in _QUESTION_MARKS):
        return _ASKED
    if len(keywords) <= _GREETING_KEYWORDS:
        return _GREETED
    return UNCLASSIFIED


def classify_or_question(query: str, keywords: Sequence[str], classifier: Classifier = classify) -> Intent:
    """The classifier's intent; one that fails leaves a question at 0.5 and retrieval goes on (R-66, R-68)."""
    try:
        return classifier(query, keywords)
    except Exception:  # noqa: BLE001 - a plugged-in classifier may fail in any way; a query is never lost to it
        return UNCLASSIFIED


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

    `history`: the conversation before it, oldest first; at most its last two messages are read (R-P20). `spaces`,
    `categories`: known names. `now` carries a zone. `classifier` may be a richer one (P-7).
    """
    text = query or ""
    words = extractor(text)
    intent = classify_or_question(text, words, classifier)
    own = _capped(text, words, rules.intent.max_keywords)
    context = _context(words, own, history, rules)
    entities = extract_entities(text, spaces, categories, now)
    keywords = own + (context.keywords if context else ())
    return QueryAnalysis(text, keywords, entities, intent.name, intent.confidence, context)


def extract_entities(text: str, spaces: Iterable[str], categories: Iterable[str], now: datetime) -> tuple[Entity, ...]:
    """The entities of a query, each once: dates, measurements, categories, spaces, each kind in the text's order.

    `now` carries a zone and is what "yesterday" counts from. Raises on no text at all.
    """
    known = [fold(category) for category in (*categories, *KNOWN_CATEGORIES)]
    found = [Entity(EntityType.DATE, one.text, str(one.range)) for one in named_dates(text, now)]
    found += _measurements(text)
    found += _known_names(text, known, EntityType.CATEGORY)
    found += _known_names(text, spaces, EntityType.SPACE_NAME)
    return tuple(dict.fromkeys(found))


def _measurements(text: str) -> Iterator[Entity]:
    for match in _MEASUREMENT.finditer(text):
        normalized = match["ratio"] or f"{match['number'].replace(',', '.')} {match['unit'].lower()}"
        yield Entity(EntityType.MEASUREMENT, match.group(), normalized)


def _known_names(text: str, names: Iterable[str], entity_type: EntityType) -> list[Entity]:
    """Whole words; a longer name hides a shorter one inside it (R-21, R-22)."""
    folded = fold(text)
    spelt: dict[str, list[str]] = {}  # two spaces may differ in case alone, and a mention means both
    for name in names:
        spelt.setdefault(fold(name), []).append(name)
    hidden = bytearray(len(folded))
    found: list[tuple[int, Entity]] = []
    for name in sorted(spelt, key=lambda name: (-len(name), name)):
        start = _first_visible(folded, name, hidden)
        if start is not None:
            value = text[start : start + len(name)] if len(folded) == len(text) else spelt[name][0]
            found += [(start, Entity(entity_type, value, known)) for known in spelt[name]]
    return [entity for _, entity in sorted(found, key=lambda pair: pair[0])]


def _first_visible(folded: str, name: str, hidden: bytearray) -> int | None:
    size = len(name)
    visible = [at for at in whole_word_positions(folded, name) if 1 not in hidden[at : at + size]]
    for start in visible:
        hidden[start : start + size] = b"\x01" * size
    return visible[0] if visible else None


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
    """Whether it follows up what was said before, or points to it with a pronoun (R-24)."""
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
