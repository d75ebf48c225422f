"""The match gate before the threshold: recency alone is no reason to be found (P-15, R-83, R-87)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from recollect.domain.analysis import QueryAnalysis
from recollect.domain.entities import Entity, EntityType
from recollect.domain.keywords import extract_keywords, is_stop_word
from recollect.domain.phrases import fold, whole_word_positions
from recollect.domain.relevance import Matcher, folded_keywords
from recollect.domain.retrieval_record import RetrievalRecord
from recollect.domain.space_reach import SpaceReach

_MOST_CATEGORIES = 20  # of those that one query names
_NO_CONTENT = (EntityType.DATE, EntityType.SPACE_NAME)


def content_keywords(analysis: QueryAnalysis) -> tuple[str, ...]:
    """The keywords that are no stop words, date words or names of spaces, each once, in order."""
    named = (extract_keywords(entity.value) for entity in analysis.entities if entity.type in _NO_CONTENT)
    without = frozenset(word for words in named for word in words)
    kept = (word for word in analysis.keywords if word not in without and not is_stop_word(word))
    return tuple(dict.fromkeys(kept))


@dataclass(frozen=True, slots=True)
class MatchGate:
    """Which records may be compared with the threshold at all.

    `categories` are the phrases that the query names and some candidate carries: then only such records pass.
    """

    keywords: tuple[str, ...]
    reach: SpaceReach
    categories: tuple[str, ...] = ()
    open: bool = False

    @classmethod
    def of(
        cls, analysis: QueryAnalysis, reach: SpaceReach, records: Sequence[RetrievalRecord], *, require_match: bool
    ) -> "MatchGate":
        """The gate of one query over its candidates."""
        if not require_match:
            return cls((), reach, open=True)
        carried = _carried(_categories(analysis.entities), records)
        return cls(folded_keywords(content_keywords(analysis)), reach, carried)

    def admits(self, record: RetrievalRecord, matcher: Matcher) -> bool:
        """Whether the record holds a content keyword, or its space is named; and a category, where one is asked for."""
        if self.open:
            return True
        if self.categories and not _carried(self.categories, [record]):
            return False
        return self.reach.mentions(record.space_id) or any(matcher.has(keyword) for keyword in self.keywords)


def _categories(entities: Iterable[Entity]) -> tuple[str, ...]:
    named = dict.fromkeys(fold(one.normalized) for one in entities if one.type is EntityType.CATEGORY)
    return tuple(islice(named, _MOST_CATEGORIES))


def _carried(phrases: Iterable[str], records: Sequence[RetrievalRecord]) -> tuple[str, ...]:
    """Those of the phrases that stand as whole words in some record."""
    left = dict.fromkeys(phrases)
    carried: list[str] = []
    for record in records if left else ():
        text = fold(record.searched)
        carried += [one for one in left if next(whole_word_positions(text, one), None) is not None]
        left = {one: None for one in left if one not in carried}
    return tuple(carried)
