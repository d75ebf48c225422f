"""What a DuckDuckGo instant answer tells: its abstract, else its first related topics (K-82)."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import islice

MOST_TOPICS = 3
LONGEST_TEXT = 1_000

_SPACES = re.compile(r"\s+")
_REMOVED = frozenset({"Cc", "Cs"})
_BIDIRECTIONAL = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def texts_of(answer: object) -> tuple[str, ...]:
    """The texts of an answer as it was parsed from JSON, of whatever form; none where it has none.

    `AbstractText` alone where there is one; else up to 3 texts of `RelatedTopics`, those in its groups (`Topics`) too,
    in order. Each is one line of at most 1,000 characters, without control characters.
    """
    if not isinstance(answer, dict):
        return ()
    abstract = plain_text(answer.get("AbstractText"))
    return (abstract,) if abstract else tuple(islice(_topics(answer.get("RelatedTopics")), MOST_TOPICS))


def plain_text(value: object) -> str:
    """Text on one line, cut; empty for what is no text. What steers a terminal or turns the reading order goes."""
    if not isinstance(value, str):
        return ""
    spaced = _SPACES.sub(" ", value[: 2 * LONGEST_TEXT])
    kept = "".join(c for c in spaced if c not in _BIDIRECTIONAL and unicodedata.category(c) not in _REMOVED).strip()
    return kept if len(kept) <= LONGEST_TEXT else kept[: LONGEST_TEXT - 1].rstrip() + "…"


def _topics(related: object) -> Iterator[str]:
    """Depth first, without recursion: an answer may nest as it likes."""
    waiting: list[object] = [*_listed(related)][::-1]
    while waiting:
        topic = waiting.pop()
        if isinstance(topic, dict):
            if text := plain_text(topic.get("Text")):
                yield text
            waiting += [*_listed(topic.get("Topics"))][::-1]


def _listed(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else ()
