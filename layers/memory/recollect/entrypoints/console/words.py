"""Long texts in parts, of which a page holds one: it weighs then what it may, whatever a text is made of."""

from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from markupsafe import escape

PART_BYTES: Final = 24_000
"""What a part may weigh in a page, where HTML writes five characters for some: a text of the API has 64 KiB."""
_SPACES: Final = " \n"
_DIGITS: Final = 9


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a text; `number` counts from 1."""

    text: str
    number: int
    count: int


def weight(text: str) -> int:
    """Bytes of a text in a page."""
    return len(escape(text).encode())


def parts_of(text: str) -> list[str]:
    """The text in parts, each of at most PART_BYTES in a page; they end behind a space where there is one near."""
    if weight(text) <= PART_BYTES:
        return [text]
    half = len(text) // 2
    space = max(text.rfind(one, half // 2, half) for one in _SPACES)
    middle = half if space < 0 else space + 1
    return parts_of(text[:middle]) + parts_of(text[middle:])


def part_of(text: str, wanted: str = "") -> Part:
    """The part of this number, the last one where there are not so many; without a number the first."""
    parts = parts_of(text)
    number = min(max(1, int(wanted)), len(parts)) if wanted.isdecimal() and len(wanted) < _DIGITS else 1
    return Part(parts[number - 1], number, len(parts))


def with_part(text: str, words: str, wanted: str = "") -> str:
    """The text with these words in the place of one of its parts."""
    parts = parts_of(text)
    parts[part_of(text, wanted).number - 1] = words
    return "".join(parts)


def part_with(text: str, place: int) -> int:
    """The number of the part that has the character at this place."""
    parts = parts_of(text)
    ends = accumulate(len(one) for one in parts)
    return next((number for number, end in enumerate(ends, 1) if place < end), len(parts))
