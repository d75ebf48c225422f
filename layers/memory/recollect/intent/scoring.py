"""Scores and filters of retrieval by intent: relevance (R-32 to R-38, P-6, P-15), the match gate before the threshold
(P-15, R-83, R-87), spaces (R-108, R-118, R-P14, R-P15), privacy (R-39 to R-42, P-17), the date-based mode, the
document's "Stage 4" (R-01, R-02, R-69, R-109), and redaction for logs (P-18).

The document's record in terms of ours (R-35, R-39 to R-41); a directly saved memory has `content` alone:

| the document  | here                                                                        |
|---------------|-----------------------------------------------------------------------------|
| title         | the event's `title`                                                         |
| category      | the event's `category`                                                      |
| notes         | the event's `notes`, and its `content` in the words of its memory           |
| created       | the event's `timestamp`: when it was said                                   |
| views         | the event's `views`, as the caller gave them; nothing here counts looks     |
| isPrivate     | the event's `is_private`                                                    |
| isDeleted     | it is deleted or rejected, or its memory is                                 |
| spaceId       | the event's `space_id`; a space's name is its id                            |
"""

import hashlib
import hmac
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from itertools import islice
from typing import Any, TypeAlias

from recollect.core.event import Event
from recollect.core.time import EARLIEST, LATEST
from recollect.intent.analysis import Entity, EntityType, QueryAnalysis
from recollect.retrieval.filters import DropReason, TimeWindow
from recollect.rules.groups import IntentRules
from recollect.text.dates import TimeRange
from recollect.text.phrases import fold, whole_word_positions
from recollect.text.terms import extract_keywords, is_stop_word, split_words

KEYWORD_WEIGHT = 0.6
RECENCY_WEIGHT = 0.4
RECENCY_DAYS = 90.0
DEFAULT_DAYS = 14
MOST_RECORDS = 20

DATE_BASED = "date_based"
"""The answer's name of the fallback."""

NEVER = datetime.min.replace(tzinfo=UTC)
_WHOLE_WORD_LETTERS = 2
_DAY_SECONDS = 86_400.0
_MOST_CATEGORIES = 20  # of those that one query names
_NO_CONTENT = (EntityType.DATE, EntityType.SPACE_NAME)
_HASH_DIGITS = 16
Logged: TypeAlias = "str | dict[str, int | str]"


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalRecord:
    """One record. Fields may be absent (R-70); without an instant that has a zone it cannot be scored (R-71)."""

    id: str
    title: str | None = None
    category: str | None = None
    notes: str | None = None
    content: str | None = None
    created_at: datetime | None = None
    views: int = 0
    is_private: bool = False
    is_deleted: bool = False
    space_id: str | None = None

    @property
    def instant(self) -> datetime | None:
        """When it was said; None where unknown."""
        return self.created_at if self.created_at is not None and self.created_at.tzinfo is not None else None

    @property
    def searched(self) -> str:
        """Every field that keywords are looked for in, each on lines of its own (R-35, R-38, R-70)."""
        return "\n".join(part for part in (self.title, self.category, self.notes, self.content) if part)


def record_of(event: Event, *, is_deleted: bool = False) -> RetrievalRecord:
    return RetrievalRecord(
        id=event.id,
        title=event.title,
        category=event.category,
        notes=event.notes,
        content=event.content,
        created_at=event.timestamp,
        views=event.views,
        is_private=event.is_private,
        is_deleted=is_deleted,
        space_id=event.space_id,
    )


@dataclass(frozen=True, slots=True)
class Relevance:
    """A record's scores, each in [0, 1]."""

    relevance: float
    keyword_match: float
    recency: float


NOT_RELEVANT = Relevance(0.0, 0.0, 0.0)


class Matcher:
    """One record's text, folded once for many keywords."""

    __slots__ = ("_folded", "_text", "_words")

    def __init__(self, record: RetrievalRecord) -> None:
        self._text = record.searched
        self._folded = folded(self._text)
        self._words: frozenset[str] | None = None

    def has(self, keyword: str) -> bool:
        """Whether a folded keyword occurs: inside a word too, one of two ASCII characters as a whole word (R-37)."""
        if keyword not in self._folded:
            return False
        inside_words = len(keyword) > _WHOLE_WORD_LETTERS or not keyword.isascii()
        return inside_words or keyword in self._all_words()

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


def scored(record: RetrievalRecord, matcher: Matcher, keywords: tuple[str, ...], now: datetime) -> Relevance:
    """0.6 times the keyword score and 0.4 times the recency score (R-32).

    The keyword score is the share of the folded keywords that the record holds in any field; 0 of none (R-33, R-38).
    Raises ValueError for a record without an instant.
    """
    held = sum(1 for keyword in keywords if matcher.has(keyword))
    keyword_match, recency = held / len(keywords) if keywords else 0.0, recency_score(record, now)
    return Relevance(_clamped(KEYWORD_WEIGHT * keyword_match + RECENCY_WEIGHT * recency), keyword_match, recency)


def recency_score(record: RetrievalRecord, now: datetime) -> float:
    """1 at this instant and after it, falling to 0 in 90 days; days are fractional (R-34)."""
    if record.instant is None:
        raise ValueError("a record without an instant")
    days = (now - record.instant).total_seconds() / _DAY_SECONDS
    return _clamped(1.0 - days / RECENCY_DAYS)


def _clamped(value: float) -> float:
    return min(1.0, max(0.0, value))


@dataclass(frozen=True, slots=True)
class SpaceReach:
    """The spaces that a query searches: `allowed` None is every space; `mentioned` count as a match.

    `crosses`: the query names a space besides the active one, and may search it.
    """

    allowed: frozenset[str] | None
    mentioned: frozenset[str]
    crosses: bool

    def mentions(self, space_id: str | None) -> bool:
        """Whether the query names this space."""
        return space_id is not None and space_id in self.mentioned


def space_reach(analysis: QueryAnalysis, active_space_id: str | None, rules: IntentRules) -> SpaceReach:
    """Without an active space every space is searched; where others are not allowed, naming one changes nothing."""
    named = frozenset(one.normalized for one in analysis.entities if one.type is EntityType.SPACE_NAME)
    own = frozenset() if active_space_id is None else frozenset((active_space_id,))
    if not rules.allow_cross_space and own:
        return SpaceReach(own, named & own, crosses=False)
    return SpaceReach(own | named if own else None, named, crosses=bool(named - own))


def active_alone(active_space_id: str | None) -> SpaceReach:
    """The reach before, and without, an analysis."""
    allowed = None if active_space_id is None else frozenset((active_space_id,))
    return SpaceReach(allowed, frozenset(), crosses=False)


def content_keywords(analysis: QueryAnalysis) -> tuple[str, ...]:
    """The keywords that are no stop words, date words or names of spaces, each once, in order."""
    named = (extract_keywords(entity.value) for entity in analysis.entities if entity.type in _NO_CONTENT)
    without = frozenset(word for words in named for word in words)
    kept = (word for word in analysis.keywords if word not in without and not is_stop_word(word))
    return tuple(dict.fromkeys(kept))


@dataclass(frozen=True, slots=True)
class MatchGate:
    """Which records may be compared with the threshold at all: recency alone is no match.

    `categories` are the phrases that the query names and some candidate has: then only such records pass.
    """

    keywords: tuple[str, ...]
    reach: SpaceReach
    categories: tuple[str, ...] = ()
    open: bool = False

    @classmethod
    def of(
        cls, analysis: QueryAnalysis, reach: SpaceReach, records: Sequence[RetrievalRecord], *, require_match: bool
    ) -> "MatchGate":
        if not require_match:
            return cls((), reach, open=True)
        carried = _carried(_categories(analysis.entities), records)
        return cls(folded_keywords(content_keywords(analysis)), reach, carried)

    def admits(self, record: RetrievalRecord, matcher: Matcher) -> bool:
        """Whether it holds a content keyword, or the query names its space; and one of the categories, if any."""
        if self.open:
            return True
        if self.categories and not _carried(self.categories, [record]):
            return False
        return self.reach.mentions(record.space_id) or any(matcher.has(keyword) for keyword in self.keywords)


def _categories(entities: Iterable[Entity]) -> tuple[str, ...]:
    named = dict.fromkeys(fold(one.normalized) for one in entities if one.type is EntityType.CATEGORY)
    return tuple(islice(named, _MOST_CATEGORIES))


def _carried(phrases: Iterable[str], records: Sequence[RetrievalRecord]) -> tuple[str, ...]:
    left = dict.fromkeys(phrases)
    carried: list[str] = []
    for record in records if left else ():
        text = fold(record.searched)
        carried += [one for one in left if next(whole_word_positions(text, one), None) is not None]
        left = {one: None for one in left if one not in carried}
    return tuple(carried)


class FallbackReason(StrEnum):
    """Why the newest records were answered, without scores."""

    DISABLED = "disabled"
    NO_KEYWORDS = "no_keywords"
    SHORT_QUERY = "short_query"
    STOP_WORDS_ONLY = "stop_words_only"
    NO_CONTENT_KEYWORD = "no_content_keyword"
    ERROR = "error"


def newest_records(records: Iterable[RetrievalRecord], limit: int = MOST_RECORDS) -> list[RetrievalRecord]:
    """The newest first, at most `limit`; of one instant the greater id first; those without an instant last."""
    return sorted(records, key=lambda record: (record.instant or NEVER, record.id), reverse=True)[:limit]


def date_window(given: TimeWindow, named: Sequence[TimeRange], now: datetime) -> TimeWindow:
    """The window of the candidates (R-84, R-110, R-P16, P-15).

    The query's dates, from the first to the last, replace the default, which is the last 14 days, and narrow a given
    window. It may be empty: then it ends before it begins.
    """
    first, last = _span(named)
    if given.start is None and given.end is None:
        return TimeWindow(first, last) if named else TimeWindow(now - timedelta(days=DEFAULT_DAYS), None)
    starts, ends = (given.start, first), (given.end, last)
    return TimeWindow(
        max((moment for moment in starts if moment is not None), default=None),
        min((moment for moment in ends if moment is not None), default=None),
    )


def _span(named: Sequence[TimeRange]) -> tuple[datetime | None, datetime | None]:
    if not named:
        return None, None
    return _known(min(one.start for one in named)), _known(max(one.end for one in named))


def _known(moment: datetime) -> datetime:
    return min(max(moment, EARLIEST), LATEST)


@dataclass(frozen=True, slots=True)
class PrivacyFilter:
    """Leaves out deleted and private records, and those of spaces that are not allowed.

    `allowed_spaces` None allows all: no space is active. With any, a record without a space is left out.
    """

    allowed_spaces: frozenset[str] | None = None

    def filter(self, records: Iterable[RetrievalRecord]) -> list[RetrievalRecord]:
        """The allowed ones, in order."""
        return [record for record in records if self.reason(record) is None]

    def reason(self, record: RetrievalRecord) -> DropReason | None:
        """Why it may not; None where it may."""
        if record.is_deleted:
            return DropReason.DELETED
        if record.is_private:
            return DropReason.PRIVATE
        other_space = self.allowed_spaces is not None and record.space_id not in self.allowed_spaces
        return DropReason.FILTER if other_space else None


@dataclass(frozen=True, slots=True)
class Redaction:
    """`content`: texts are logged in clear, by a tenant's rules. Equal texts under one key hash alike."""

    key: bytes
    content: bool = False

    def text(self, text: str) -> Logged:
        """The text, or its length in characters and its hash."""
        if self.content:
            return text
        digest = hmac.new(self.key, text.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()
        return {"length": len(text), "hash": digest[:_HASH_DIGITS]}

    def analysis(self, analysis: QueryAnalysis) -> dict[str, Any]:
        """The fields of R-99."""
        return {
            "originalQuery": self.text(analysis.original_query),
            "keywords": [self.text(keyword) for keyword in analysis.keywords],
            "keywordCount": len(analysis.keywords),
            "entities": [self._entity(entity) for entity in analysis.entities],
            "intent": analysis.intent.value,
            "intentConfidence": analysis.intent_confidence,
        }

    def _entity(self, entity: Entity) -> dict[str, Any]:
        texts = {"value": self.text(entity.value), "normalized": self.text(entity.normalized)}
        return {"type": entity.type.value, **texts}
