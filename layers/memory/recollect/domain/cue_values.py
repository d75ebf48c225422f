"""Values as clauses name them: where one ends, of what sort it is, when two are the same."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from recollect.domain.clauses import Token
from recollect.domain.cue_words import CueWords, singular
from recollect.text.terms import ENGLISH_STOP_WORDS, stem

_WEEKDAYS = r"(?:mon|tues?|wednes|thurs?|fri|satur|sun)days?|weekdays?|weekends?|tomorrow|today|tonight"
_MONTHS = (
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december"
    r"|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)"
)
_NUMBER = r"\d{1,12}(?:[.,]\d{1,12}){0,4}"
_COUNTED = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
)
_WORD_NUMBERS = MappingProxyType(
    {word: str(place) for place, word in enumerate(_COUNTED.split(), 1)}
    | {"thirty": "30", "forty": "40", "fifty": "50", "once": "1", "twice": "2", "noon": "12pm", "midnight": "12am"}
)


class Sort(StrEnum):
    """What a value is, as far as its form tells."""

    EMAIL = "email"
    PHONE = "phone"
    MONEY = "money"
    DATE = "date"
    DAY = "day"
    MONTH = "month"
    CLOCK = "clock"
    AMOUNT = "amount"
    NUMBER = "number"
    NAME = "name"
    WORDS = "words"


_SORTS: tuple[tuple[Sort, str], ...] = (
    (Sort.EMAIL, r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}"),
    (
        Sort.MONEY,
        rf"[$€£¥] ?{_NUMBER} ?[kKmM]?\b|\b{_NUMBER} ?[kKmM]?(?: thousand| million)? ?"
        r"(?:dollars?|euros?|pounds?|bucks|usd|eur|gbp|chf|quid|€|\$|£)|\b\d{2,4}[kK]\b",
    ),
    (
        Sort.DATE,
        rf"\b(?:the )?\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTHS}\b|\b{_MONTHS} (?:the )?\d{{1,2}}(?:st|nd|rd|th)?\b"
        r"|\b\d{4}-\d\d-\d\d\b|\bthe \d{1,2}(?:st|nd|rd|th)\b",
    ),
    (Sort.PHONE, r"\+?\d(?:[\d() /-]{5,22})\d"),
    (Sort.CLOCK, r"\b\d{1,2}:\d\d(?: ?(?:am|pm)\b)?|\b\d{1,2} ?(?:am|pm|a\.m|p\.m|o'clock)\b|\b(?:noon|midnight)\b"),
    (Sort.DAY, rf"\b(?:{_WEEKDAYS})\b"),
    (Sort.MONTH, rf"\b(?!may\b){_MONTHS}\b"),
    (
        Sort.AMOUNT,
        rf"\b{_NUMBER} ?(?:%|percent|kg|kilos?|lbs?|pounds?|km|miles?|k\b|mg|micrograms?|mcg|gb|tb|mb|ms|cm|minutes?"
        r"|mins?|hours?|hrs?|days?|weeks?|months?|years?|people|persons?|requests?|reqs?|users?|times|square)\b|\b\d{1,3}%",
    ),
    (Sort.NUMBER, rf"\b{_NUMBER}\b|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|once|twice)\b"),
)
_PATTERNS = tuple((sort, re.compile(pattern, re.IGNORECASE)) for sort, pattern in _SORTS)
_BARE_CLOCK = re.compile(r"(?<=\bat )\d{1,2}\b(?![:\d.])")
_ORDINAL = re.compile(r"^(\d+)(?:st|nd|rd|th)$")
_MOST_STEMS_KEPT = 20_000
_NO_LETTERS = frozenset("aistmd")
WHEN = frozenset({Sort.DATE, Sort.DAY, Sort.CLOCK, Sort.MONTH})


@dataclass(frozen=True, slots=True)
class Value:
    """A value found in a text: its sort, its words without what makes no difference, its place."""

    sort: Sort
    text: str
    span: tuple[int, int]


def typed_values(text: str) -> list[Value]:
    """The values whose form tells their sort, in the text's order, none within another."""
    taken: list[Value] = []
    for sort, pattern in (*_PATTERNS[:5], (Sort.CLOCK, _BARE_CLOCK), *_PATTERNS[5:]):
        for match in pattern.finditer(text):
            if not any(match.start() < one.span[1] and one.span[0] < match.end() for one in taken):
                taken.append(Value(sort, plain_value(match.group()), match.span()))
    return sorted(taken, key=lambda value: value.span)


def plain_value(text: str) -> str:
    """Lower case, numbers in digits, no articles, single spaces: what two writings of one value share."""
    text = re.sub(r"(?<=\d) ?(am|pm|a\.m|p\.m)\b\.?", lambda match: match[1].replace(".", ""), text.lower())
    text = re.sub(r"(?<=\d)(?:st|nd|rd|th)\b|(?<=\d)[,'](?=\d{3})|:00\b", "", text)
    found = (_WORD_NUMBERS.get(word, word) for word in re.findall(r"[\w.@+:/$€£%#-]{1,80}", text))
    return " ".join(singular(word) for word in found if word not in ("the", "a", "an", "of", "on", "at", "in"))[:200]


def same_value(one: str, other: str) -> bool:
    """Whether two plain values may mean the same: equal, or the one's words among the other's; numbers must agree,
    but for a year."""
    first, second = set(one.split()), set(other.split())
    if not first or not second or not (first <= second or second <= first):
        return False
    return all(re.fullmatch(r"\d{4}", word) or not word[:1].isdigit() for word in first ^ second)


def trimmed(tokens: Sequence[Token], words: CueWords) -> tuple[Token, ...]:
    """A value's tokens without the adjuncts behind it: "now", "with my brother", "since May"."""
    kept: list[Token] = []
    for token in tokens:
        if kept and token.word in words.lists["value_stops"]:
            break
        kept.append(token)
    while kept and (kept[-1].word in words.lists["value_tails"] or kept[-1].word in words.adverbs):
        kept.pop()
    while kept and kept[0].word in words.lists["value_heads"]:
        kept.pop(0)
    return tuple(kept)


def is_name(tokens: Sequence[Token]) -> bool:
    """Whether a value is written as a name, after an article at most."""
    inner = [token for token in tokens if token.word not in ("the", "a", "an", "my", "our")]
    return bool(inner) and inner[0].text[:1].isupper()


def is_place(tokens: Sequence[Token], words: CueWords) -> bool:
    """A name, a word for a dwelling or a region; in a text without capitals any word that is no other thing."""
    inner = [token.word for token in tokens if token.word not in words.lists["place_skips"]]
    if any(token.is_capital for token in tokens) or tokens[-1].word.endswith("'s"):
        return True
    if not inner:
        return False
    if any(word in words.lists["place_nouns"] for word in inner[:4]):
        return True
    first = tokens[0].word
    return (
        len(inner) <= 3
        and first not in words.lists["no_places"]
        and first not in ENGLISH_STOP_WORDS
        and first.isalpha()
    )


def content_stems(words: Iterable[str], rules: CueWords) -> tuple[str, ...]:
    """The words that carry meaning, as stems, each once; the numbers among them in digits."""
    skipped = rules.lists["empty"] | rules.lists["hedges"]
    found = (_WORD_NUMBERS.get(word, word) for word in words)
    kept = (
        word.lower().removesuffix("'s")
        for word in found
        if word.lower() not in ENGLISH_STOP_WORDS and word.lower() not in skipped
    )
    return tuple(dict.fromkeys(_stem(word, rules) for word in kept if word[:1].isalnum() and word not in _NO_LETTERS))


def _stem(word: str, rules: CueWords) -> str:
    known = rules.stems.get(word)
    if known is None:
        plain = _ORDINAL.sub(r"\1", word)
        known = stem(rules.lemma(plain)) if rules.is_verb(plain) else stem(singular(plain))
        if len(rules.stems) < _MOST_STEMS_KEPT:
            rules.stems[word] = known
    return known


def alike(one: str, other: str, related: Mapping[str, frozenset[str]]) -> bool:
    """Equal stems, two forms of a long word, or words that the rules hold for related."""
    if one == other or other in related.get(one, frozenset()):
        return True
    size = min(len(one), len(other))
    if "-" in one[size:] + other[size:]:
        return False
    return size >= 5 and one[: max(5, size - 2)] == other[: max(5, size - 2)]
