"""Two statements become one (A-90 to A-107, P-13)."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from recollect.domain.keywords import is_stop_word
from recollect.domain.option_values import TOLERANCE, grouped, option
from recollect.domain.rule_values import Choice, Flag, Number
from recollect.domain.sentence_dedup import (
    Sentence,
    jaccard,
    joined,
    sentences_of,
    without_duplicates,
    words_of,
)
from recollect.domain.statement import Statement, Vector, trust

ALIKE = 0.7
"""Jaccard ratio of the words above which `smart` summarizes (A-94)."""


@dataclass(frozen=True, slots=True)
class MetadataStrategy:
    """How what is known of the two becomes one (A-95 to A-101)."""

    importance: str = option(
        Choice(("max", "boost", "average")), "max", "The greater of the two, that and the boost, or their mean"
    )
    timestamp: str = option(Choice(("max",)), "max", "The later of the two")
    keywords: str = option(Choice(("union", "intersection")), "union", "Those of either, or those of both")
    source: str = option(Choice(("prefer-higher",)), "prefer-higher", "The more trusted of the two")


@dataclass(frozen=True, slots=True)
class MergeOptions:
    """How two statements become one (A-91 to A-105)."""

    content_strategy: str = option(
        Choice(("concatenate", "replace", "summarize", "smart")),
        "smart",
        "Both one after another, the second alone, both less what they have in common, or the better of first and last",
    )
    metadata_strategy: MetadataStrategy = field(
        default_factory=MetadataStrategy, metadata=grouped("What becomes of importance, time, keywords and source")
    )
    boost_amount: float = option(Number(0, 1), 0.1, "Added to the greater importance by `boost`, up to 1")
    deduplicate: bool = option(Flag(), False, "Whether sentences that stand there already are taken out")
    deduplication_threshold: float = option(
        Number(0, 1), 0.8, "Jaccard ratio of the words from which two sentences are the same"
    )


@dataclass(frozen=True, slots=True)
class MergeStatistics:
    """What merging did (A-106, A-107).

    Characters of the content, keywords, the importance less the greater of the two (negative for a mean), and
    sentences that were taken out as duplicates.
    """

    content_length: int
    keywords_count: int
    importance_delta: float
    deduplicated_count: int


@dataclass(frozen=True, slots=True)
class Merged:
    """The statement that two became, and what was done."""

    statement: Statement
    statistics: MergeStatistics


def merge(first: Statement, second: Statement, options: MergeOptions) -> Merged:
    """The two as one, of the first one's id and user; in doubt of the second one's persona.

    It has a vector only where its content is that of one of the two.
    """
    content, removed = _content(first, second, options)
    strategy = options.metadata_strategy
    statement = Statement(
        id=first.id,
        user_id=first.user_id,
        content=content,
        embedding=_embedding(content, first, second),
        importance=_importance(first.importance, second.importance, strategy.importance, options.boost_amount),
        timestamp=max(first.timestamp, second.timestamp),
        source=first.source if trust(first.source) >= trust(second.source) else second.source,
        keywords=_KEYWORDS[strategy.keywords](first.keywords, second.keywords),
        persona_id=second.persona_id,
    )
    return Merged(statement, _statistics(statement, first, second, removed))


def _content(first: Statement, second: Statement, options: MergeOptions) -> tuple[str, int]:
    """The content, and how many sentences were taken out of it as duplicates."""
    content = _CONTENTS[options.content_strategy](first, second)
    if not options.deduplicate:
        return content, 0
    found = without_duplicates(content, options.deduplication_threshold)
    return found.text, found.removed


def _concatenate(first: Statement, second: Statement) -> str:
    return f"{first.content}\n{second.content}"


def _replace(_first: Statement, second: Statement) -> str:
    return second.content


def _summarize(first: Statement, second: Statement) -> str:
    """Sentences that carry a common keyword, each once, and those that only one has (A-93, P-13)."""
    common = _Common(first, second)
    ours, theirs = sentences_of(first.content), sentences_of(second.content)
    our_keys, their_keys = {one.key for one in ours}, {one.key for one in theirs}
    kept = [one for one in ours if one.key not in their_keys or common.is_in(one)]
    added = [one for one in theirs if one.key not in our_keys]
    parts = [part for part in (joined(kept).rstrip(), joined(added).rstrip()) if part]
    return "\n".join(parts) if common and parts else _concatenate(first, second)


def _smart(first: Statement, second: Statement) -> str:
    alike = jaccard(words_of(first.content), words_of(second.content))
    return (_summarize if alike > ALIKE + TOLERANCE else _concatenate)(first, second)


_CONTENTS: Mapping[str, Callable[[Statement, Statement], str]] = {
    "concatenate": _concatenate,
    "replace": _replace,
    "summarize": _summarize,
    "smart": _smart,
}


class _Common:
    """The keywords that two statements have in common: those given with them, and the words that say something."""

    def __init__(self, first: Statement, second: Statement) -> None:
        common = _keywords(first) & _keywords(second)
        self._words = common
        self._phrases = common & {keyword.casefold() for keyword in (*first.keywords, *second.keywords)}

    def __bool__(self) -> bool:
        return bool(self._words)

    def is_in(self, sentence: Sentence) -> bool:
        """Whether the sentence carries one of them."""
        folded = sentence.text.casefold()
        return bool(self._words & words_of(folded)) or any(phrase in folded for phrase in self._phrases)


def _keywords(statement: Statement) -> frozenset[str]:
    words = {word for word in words_of(statement.content) if not is_stop_word(word)}
    return frozenset(words | {keyword.casefold() for keyword in statement.keywords})


def _importance(first: float, second: float, strategy: str, boost: float) -> float:
    """The greater, the mean, or `min(1, greater + boost)` (A-95 to A-97, A-102)."""
    if strategy == "average":
        return (first + second) / 2
    return min(1.0, max(first, second) + boost) if strategy == "boost" else max(first, second)


def _union(first: Iterable[str], second: Iterable[str]) -> tuple[str, ...]:
    """Each once, as it is first written, in the order of first appearance (A-99)."""
    found: dict[str, str] = {}
    for keyword in (*first, *second):
        found.setdefault(keyword.casefold(), keyword)
    return tuple(found.values())


def _intersection(first: Iterable[str], second: Iterable[str]) -> tuple[str, ...]:
    theirs = {keyword.casefold() for keyword in second}
    return tuple(keyword for keyword in _union(first, ()) if keyword.casefold() in theirs)


_KEYWORDS: Mapping[str, Callable[[Iterable[str], Iterable[str]], tuple[str, ...]]] = {
    "union": _union,
    "intersection": _intersection,
}


def _embedding(content: str, first: Statement, second: Statement) -> Vector | None:
    same = next((one for one in (second, first) if one.content == content), None)
    return same.embedding if same else None


def _statistics(merged: Statement, first: Statement, second: Statement, removed: int) -> MergeStatistics:
    delta = merged.importance - max(first.importance, second.importance)
    return MergeStatistics(len(merged.content), len(merged.keywords), delta, removed)
