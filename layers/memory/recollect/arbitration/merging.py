"""Two statements become one (A-90 to A-107, P-13), and the sentences that this takes apart.

A sentence ends at . ! ? and their CJK forms, and at a line's end; not inside of 2.5 or a web address, nor after an
abbreviation, an initial or the number of a list. In doubt two stay one: then nothing is split wrongly.
"""

import re
import unicodedata
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from recollect.arbitration.detection import Statement, Vector, trust
from recollect.rules.values import TOLERANCE, Choice, Flag, Number, grouped, option
from recollect.text.terms import is_stop_word, split_words

_LINE_ENDS = "\r\n\x0b\x0c\x1c-\x1e\x85\u2028\u2029"
_CLOSING = "\"'”’)\\]»」』"
_MARK = re.compile(rf"(?<![.!?…])[.!?…]++[{_CLOSING}]*+|[。！？]++[{_CLOSING}]*+|[{_LINE_ENDS}]++")
_BLANKS = re.compile(r"\s*")
_LAST_WORD = re.compile(r"[^\W_]+(?:\.[^\W_]+)*$")
_ACRONYM = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]")
_LIST_NUMBER = re.compile(r"\W*\d{1,3}")
_NAME_FOLLOWS = re.compile(r"[ \t]*(?:[^\W\d_]\.[ \t]*)*([^\W\d_])[^\W\d_]+")
_REST = re.compile(r"[^.!?…。！？\r\n]*")
_NEVER_LAST = frozenset({"mr", "mrs", "ms", "dr", "prof", "st", "vs", "e.g", "i.e", "approx", "cf"})
_LAST_AT_TIMES = frozenset({"etc", "jr", "sr", "inc", "ltd", "co"})
_CHARACTERS_BEFORE, _CHARACTERS_AFTER = 100, 60

ALIKE = 0.7
"""Jaccard ratio of the words above which `smart` summarizes (A-94)."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence as written, and the white space after it."""

    text: str
    separator: str

    @property
    def key(self) -> str:
        """Equal for equal sentences: the folded words in order; without words the text without punctuation."""
        folded = unicodedata.normalize("NFKC", self.text).casefold()
        words = split_words(folded)
        return " ".join(words) if words else "".join(map(_said, folded)).strip()


@dataclass(frozen=True, slots=True)
class Deduplicated:
    """The remaining text, and the number of removed sentences."""

    text: str
    removed: int


def sentences_of(text: str) -> list[Sentence]:
    """The sentences in order; joined again they are the text."""
    found, start = [], 0
    for mark in _MARK.finditer(text):
        if mark.start() < start or not _ends(text, start, mark):
            continue
        end = mark.start() if _is_line_end(mark.group()) else mark.end()
        blanks = _BLANKS.match(text, end)
        after = blanks.end() if blanks else end
        found.append(Sentence(text[start:end], text[end:after]))
        start = after
    return [*found, Sentence(text[start:], "")] if start < len(text) else found


def joined(sentences: Sequence[Sentence]) -> str:
    """The sentences with their white space."""
    return "".join(sentence.text + sentence.separator for sentence in sentences)


def without_duplicates(text: str, threshold: float) -> Deduplicated:
    """The text without sentences that repeat an earlier one.

    Two are equal where their words are, in order, or where the Jaccard ratio of their words is at least `threshold`
    (0 to 1; A-105).
    """
    sentences = sentences_of(text)
    seen = _Seen(threshold)
    kept = [sentence for sentence in sentences if not seen.knows(sentence)]
    if len(kept) == len(sentences):
        return Deduplicated(text, 0)
    ending = Sentence(kept[-1].text, sentences[-1].separator)
    return Deduplicated(joined([*kept[:-1], ending]), len(sentences) - len(kept))


def words_of(text: str) -> frozenset[str]:
    """The distinct words of a text, folded."""
    return frozenset(split_words(unicodedata.normalize("NFKC", text).casefold()))


def jaccard(a: frozenset[str], b: frozenset[str]) -> float:
    """Size of the common part by that of both together, 0 to 1; 1 of two empty sets."""
    together = len(a | b)
    return len(a & b) / together if together else 1.0


class _Seen:
    """The sentences so far, by their words: a new one is compared with those that have a word of it."""

    def __init__(self, threshold: float) -> None:
        self._least = threshold - TOLERANCE
        self._keys: set[str] = set()
        self._places: dict[str, array[int]] = {}
        self._sizes: list[int] = []

    def knows(self, sentence: Sentence) -> bool:
        """Whether an earlier sentence says it; else adds it. A piece without words or signs is never known."""
        key = sentence.key
        words = words_of(sentence.text)
        if key in self._keys or (words and self._is_like_one(words)):
            return True
        if key:
            self._keys.add(key)
        if words:
            self._keep(words)
        return False

    def _is_like_one(self, words: frozenset[str]) -> bool:
        if self._least <= 0:
            return bool(self._sizes)
        common = Counter(chain.from_iterable(self._places[word] for word in words & self._places.keys()))
        return any(count / (self._sizes[place] + len(words) - count) >= self._least for place, count in common.items())

    def _keep(self, words: frozenset[str]) -> None:
        for word in words:
            self._places.setdefault(word, array("q")).append(len(self._sizes))
        self._sizes.append(len(words))


def _ends(text: str, start: int, mark: "re.Match[str]") -> bool:
    marks = mark.group()
    if _is_line_end(marks) or marks[0] in "。！？":
        return True
    following = text[mark.end() : mark.end() + _CHARACTERS_AFTER]
    before = text[max(start, mark.start() - _CHARACTERS_BEFORE) : mark.start()]
    if following and not following[0].isspace():
        return marks in ".!?" and _is_glued(before, following)
    return marks != "." or not _is_abbreviated(before, following, mark.start() - start)


def _is_line_end(marks: str) -> bool:
    return marks[0].isspace()


def _is_abbreviated(before: str, following: str, length: int) -> bool:
    """Whether the dot after `before` belongs to its last word; `length` is the sentence's so far."""
    found = _LAST_WORD.search(before[-_CHARACTERS_BEFORE:])
    word = found.group() if found else ""
    rest = following.lstrip(" \t")
    if not rest or rest[0] in "\r\n":
        return False
    if word.lower() in _NEVER_LAST or _ACRONYM.fullmatch(word):
        return True
    if word.lower() in _LAST_AT_TIMES:
        return rest[0].islower()
    if word.lower() == "no":
        return rest[0].isdigit()
    if len(word) == 1 and word.isupper():
        name = _NAME_FOLLOWS.match(following)
        return name is not None and name.group(1).isupper()
    return length <= _CHARACTERS_BEFORE and _LIST_NUMBER.fullmatch(before) is not None


def _is_glued(before: str, following: str) -> bool:
    """Whether two sentences have no space between them: "I like tea.I drink it", not "Node.js" or "a.com"."""
    rest = _REST.match(following)
    words_after = rest.group().split() if rest else []
    words_before = before.split()
    if len(words_after) < 2 or len(words_before) < 2:
        return False
    last, first = words_before[-1], words_after[0]
    if not last[-1].isalpha() or not first[0].isupper() or any(sign in last + first for sign in "/@:"):
        return False
    return len(first) == 1 or not first.isupper()


def _said(character: str) -> str:
    return character if unicodedata.category(character)[0] not in "PZC" else " "


@dataclass(frozen=True, slots=True)
class MetadataStrategy:
    """How the metadata of two become one (A-95 to A-101)."""

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
    """The effect of a merge (A-106, A-107): characters of the content, keywords, the importance less the greater of the
    two (negative for a mean), and removed duplicate sentences.
    """

    content_length: int
    keywords_count: int
    importance_delta: float
    deduplicated_count: int


@dataclass(frozen=True, slots=True)
class Merged:
    """The merged statement, and its statistics."""

    statement: Statement
    statistics: MergeStatistics


def merge(first: Statement, second: Statement, options: MergeOptions) -> Merged:
    """Merges two statements: the id and user of the first, the persona of the second.

    The result has a vector only where its content is that of one of the two.
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
    """The content, and the number of removed duplicate sentences."""
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
    """Sentences with a common keyword, each once, and those that only one of the two has (A-93, P-13)."""
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
    """The keywords that both statements have: given ones, and content words."""

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
    """Each once, in its first spelling, in the order of first appearance (A-99)."""
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
