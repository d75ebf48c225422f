"""The relevance scorer: keywords and recency, exactly the formula (R-32 to R-38, P-6, P-15)."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from recollect.domain.keywords import split_words
from recollect.domain.retrieval_record import RetrievalRecord

KEYWORD_WEIGHT = 0.6
RECENCY_WEIGHT = 0.4
RECENCY_DAYS = 90.0
_WHOLE_WORD_LETTERS = 2
_DAY_SECONDS = 86_400.0


@dataclass(frozen=True, slots=True)
class Relevance:
    """A record's scores, each in [0, 1]."""

    relevance: float
    keyword_match: float
    recency: float


NOT_RELEVANT = Relevance(0.0, 0.0, 0.0)


class Matcher:
    """One record's text, folded once, so that many keywords can be looked for in it."""

    __slots__ = ("_folded", "_text", "_words")

    def __init__(self, record: RetrievalRecord) -> None:
        self._text = record.searched
        self._folded = folded(self._text)
        self._words: frozenset[str] | None = None

    def has(self, keyword: str) -> bool:
        """Whether a folded keyword occurs: inside a word too, one of two ASCII characters as a whole word (R-37)."""
        if keyword not in self._folded:
            return False
        return not _whole_word_only(keyword) or keyword in self._all_words()

    def _all_words(self) -> frozenset[str]:
        if self._words is None:
            self._words = frozenset(folded(word) for word in split_words(self._text))
        return self._words


def folded(text: str) -> str:
    """Text as it is compared: upper() brings together what casefold() alone leaves apart (R-36)."""
    return text.upper().casefold()


def folded_keywords(keywords: Iterable[str]) -> tuple[str, ...]:
    """Keywords as `Matcher.has` takes them, in order, repeats included."""
    return tuple(map(folded, keywords))


def score(record: RetrievalRecord, keywords: Iterable[str], now: datetime) -> Relevance:
    """0.6 times the keyword score and 0.4 times the recency score (R-32).

    Raises ValueError for a record without an instant.
    """
    return scored(record, Matcher(record), folded_keywords(keywords), now)


def scored(record: RetrievalRecord, matcher: Matcher, keywords: tuple[str, ...], now: datetime) -> Relevance:
    """The same with a matcher and folded keywords that are there already."""
    keyword_match, recency = _share(matcher, keywords), recency_score(record, now)
    return Relevance(_clamped(KEYWORD_WEIGHT * keyword_match + RECENCY_WEIGHT * recency), keyword_match, recency)


def keyword_match_score(record: RetrievalRecord, keywords: Iterable[str]) -> float:
    """The share of the keywords that the record holds in any field; 0 of none (R-33, R-38)."""
    return _share(Matcher(record), folded_keywords(keywords))


def recency_score(record: RetrievalRecord, now: datetime) -> float:
    """1 at this instant and after it, falling to 0 in 90 days; days are fractional (R-34)."""
    if record.instant is None:
        raise ValueError("a record without an instant")
    days = (now - record.instant).total_seconds() / _DAY_SECONDS
    return _clamped(1.0 - days / RECENCY_DAYS)


def _share(matcher: Matcher, keywords: tuple[str, ...]) -> float:
    return sum(1 for keyword in keywords if matcher.has(keyword)) / len(keywords) if keywords else 0.0


def _whole_word_only(keyword: str) -> bool:
    return len(keyword) <= _WHOLE_WORD_LETTERS and keyword.isascii()


def _clamped(value: float) -> float:
    return min(1.0, max(0.0, value))
