"""What of a memory holds at an instant of event time (api.md, *Time*; P-24)."""

import re
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from recollect.domain.lexical import query_terms
from recollect.domain.memory import Memory, MemoryStatus

LEAST_WORDS = 4
"""Content words that must be left of a text for it to be worth keeping beside a part that no longer holds."""

_NEVER = (MemoryStatus.RETRACTED, MemoryStatus.EXPIRED, MemoryStatus.REJECTED)
_LOOSE_START = re.compile(r"^(?:[\s,;:.!?\u2013\u2014-]+|(?:and|but|so|also|then|or|plus)\b)+", re.IGNORECASE)
_LOOSE_END = re.compile(r"(?:[\s,;:\u2013\u2014-]|\s(?:and|but|so|also|then|or|plus))+$", re.IGNORECASE)


def memory_at(memory: Memory, moment: datetime) -> Memory | None:
    """The memory in the words that hold then; None where it was not yet, no longer, or never so.

    What was superseded only later is current then: it has no successor yet, and is open.
    """
    if not holds_at(memory, moment):
        return None
    text = text_at(memory, moment)
    if text is None:
        return None
    later = memory.status is not MemoryStatus.ACTIVE
    if not later:
        return memory if text == memory.content else replace(memory, content=text)
    return replace(memory, content=text, status=MemoryStatus.ACTIVE, superseded_by=None, valid_to=None)


def holds_at(memory: Memory, moment: datetime) -> bool:
    """Whether `valid_from <= moment < valid_to`; a retracted value held at no instant."""
    if memory.status in _NEVER:
        return False
    ended = memory.valid_to is not None and memory.valid_to <= moment
    undated = memory.status is not MemoryStatus.ACTIVE and memory.valid_to is None
    return memory.valid_from <= moment and not ended and not undated


def text_at(memory: Memory, moment: datetime) -> str | None:
    """The content less its parts that do not hold then; None where nothing worth keeping is left."""
    spans = [(lapse.start, lapse.end) for lapse in memory.lapses if lapse.covers(moment)]
    return left_of(memory.content, spans) if spans else memory.content


def left_of(text: str, spans: Iterable[tuple[int, int]]) -> str | None:
    """A text without these parts; None where fewer than four content words are left."""
    parts: list[str] = []
    position = 0
    for start, end in sorted(spans):
        parts.append(text[position : max(start, position)])
        position = max(position, end)
    parts.append(text[position:])
    kept = [tidy for part in parts if (tidy := _tidy(part))]
    rest = " ".join(kept)
    return rest if len(query_terms(rest)) >= LEAST_WORDS else None


def _tidy(part: str) -> str:
    return _LOOSE_END.sub("", _LOOSE_START.sub("", part)).strip()
