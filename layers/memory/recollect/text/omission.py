"""A text without some of its words, as a quotation: what is gone from the middle of a clause leaves a mark (P-24)."""

import re
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher

from recollect.text.terms import query_terms

LEAST_WORDS = 2
"""Content words that a text must keep beside a part that no longer holds."""

OMITTED = "[…]"
"""Stands where words in the middle of a clause no longer hold, so that what is left reads as a quotation."""

_MARKS = r",;:.!?…()\u2013\u2014\u3001\u3002\uff0c\uff0e\uff01\uff1f\uff1a\uff1b-"
_CONJUNCTION = r"(?:and|but|so|also|then|or|plus)"
_MARK = re.compile(rf"[{_MARKS}]|$")
_LOOSE_START = re.compile(rf"^(?:[\s{_MARKS}]+|{_CONJUNCTION}\b)+", re.IGNORECASE)
_LOOSE_END = re.compile(rf"(?:[\s,;:\u2013\u2014\u3001\uff0c\uff1a\uff1b-]|\s{_CONJUNCTION})+$", re.IGNORECASE)
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|(?:(?![\u3040-\u30ff\u3400-\u9fff])\w)+|[^\w\s]")
_BLANK = re.compile(r"\s")
_COMMA = re.compile(r"[,\u3001\uff0c]\s*$")
_PAUSE_START = re.compile(rf"\s*(?:[{_MARKS}]|{_CONJUNCTION}\b)", re.IGNORECASE)
_PAUSE_END = re.compile(rf"(?:[{_MARKS}]|\b{_CONJUNCTION})\s*$", re.IGNORECASE)


def left_of(text: str, spans: Iterable[tuple[int, int]]) -> str | None:
    """A text without these parts; None where fewer than two content words remain.

    `OMITTED` stands where a part was in the middle of a clause.
    """
    cuts = _cuts(text, spans)
    nexts = [start for start, _ in cuts[1:]] + [len(text)]
    rest = text[: cuts[0][0]] if cuts else _tidy(text)
    for (start, end), following in zip(cuts, nexts, strict=False):
        rest = _joined(rest, text[start:end], text[end:following])
    rest = _LOOSE_END.sub("", rest).strip()
    return rest if len(query_terms(rest)) >= LEAST_WORDS else None


def outside(span: tuple[int, int], others: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The parts of a span that are in none of the others, in order."""
    position, end = span
    for first, last in sorted(others):
        if position < min(first, end):
            yield position, min(first, end)
        position = max(position, last)
    if position < end:
        yield position, end


def says_something(text: str, spans: Iterable[tuple[int, int]]) -> bool:
    """Whether one of these parts of a text has a letter or a digit."""
    return any(character.isalnum() for start, end in spans for character in text[start:end])


def says_more(text: str, spans: Iterable[tuple[int, int]]) -> bool:
    """Whether a letter or a digit of a text is in none of these parts."""
    return says_something(text, outside((0, len(text)), spans))


def words_replaced(before: str, after: str) -> Iterator[tuple[int, int]]:
    """Where the words of a text are that another version of it has others for, or lacks."""
    words = list(_WORD.finditer(before))
    same = SequenceMatcher(None, [one.group() for one in words], _WORD.findall(after), autojunk=False)
    for kind, first, last, _, _ in same.get_opcodes():
        if kind in ("replace", "delete"):
            yield words[first].start(), words[last - 1].end()


def _cuts(text: str, spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The parts in order: one where only marks and conjunctions stand between two, or before an end of the text."""
    cuts = [(0, 0)]
    for start, end in [*sorted(spans), (len(text), len(text))]:
        first, last = cuts[-1]
        if start <= last or not _tidy(text[last:start]):
            cuts[-1] = first, max(last, end)
        else:
            cuts.append((start, end))
    return [(start, end) for start, end in cuts if start < end]


def _joined(before: str, cut: str, after: str) -> str:
    """The two with nothing between them if the cut stood between pauses, else `OMITTED`; no word is said twice."""
    left, right = _LOOSE_END.sub("", before), _LOOSE_START.sub("", after)
    first, _, others = right.partition(" ")
    again = bool(left) and left.split(" ")[-1].casefold() == first.casefold()
    blank = " " if _BLANK.search(f"{before[-1:]}{cut[:1]}{cut[-1:]}{after[:1]}") else ""
    if not (again or _is_apart(before, cut, after)):
        left, right = before.strip(), after.lstrip()
        return f"{left}{blank if left else ''}{OMITTED}{'' if _MARK.match(right) else blank}{right}"
    comma = before.rstrip()[-1:] if left and right and _COMMA.search(before) else ""
    return f"{left}{comma}{blank}{others if again else right}".lstrip()


def _is_apart(before: str, cut: str, after: str) -> bool:
    """Whether the cut stood between two pauses, or the text's ends."""
    begins = not _tidy(before) or _PAUSE_END.search(before) or _PAUSE_START.match(cut)
    ends = not _tidy(after) or _PAUSE_START.match(after) or _PAUSE_END.search(cut)
    return bool(begins and ends)


def _tidy(part: str) -> str:
    return _LOOSE_END.sub("", _LOOSE_START.sub("", part)).strip()
