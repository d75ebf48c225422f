"""What of a text is shown: the places that changed, or that are marked, with some words around each."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import groupby, takewhile
from typing import Any, Final

SHORT_TEXT: Final = 200
"""Characters of a text that is marked as a whole: no part of it is left out."""
_AROUND: Final = 80
"""Characters that are shown of what is around a place, on either side."""
_LEAST_LEFT_OUT: Final = 60
_BEGINNING, _END = 400, 100
"""What is shown of a place that is longer than both and a little."""
_ONE_BY_ONE: Final = "\u3040-\u30ff\u3400-\u9fff\U00020000-\U0003ffff"
"""Characters of Chinese and Japanese, which writes no spaces."""
_WORD: Final = re.compile(rf"\s+|[{_ONE_BY_ONE}]|[^\W{_ONE_BY_ONE}]+|[^\w\s]")
_ANCHOR_WORDS: Final = 5
_MOST_COMPARED: Final = 2_000
"""Words between two anchors: comparing more would take long, and they are shown one after the other."""
_MOST_STEPS: Final = 60
_LONG_WORD: Final = 160
Span = tuple[int, int]
Step = tuple[str, str, str]
"""As `difflib` names it: what is done, the text before, the text after."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a text, in an element or in none; one that is left out is counted alone."""

    text: str
    element: str = ""
    is_left_out: bool = False


def marked(text: str, places: Iterable[Span], element: str) -> list[Passage]:
    """The text with these places in an element; of a long one what is far from all of them is left out."""
    passages: list[Passage] = []
    position = 0
    for start, end in sorted(places):
        begin = max(start, position)
        passages += [Passage(text[position:begin]), Passage(text[begin:end], element)]
        position = max(position, end)
    whole = [one for one in (*passages, Passage(text[position:])) if one.text]
    return whole if len(text) <= SHORT_TEXT else list(_shortened(whole))


def changed(before: str, after: str) -> list[Passage]:
    """What a text became: what went, what came, and what is near; the rest is left out."""
    passages: list[Passage] = []
    for kind, old, new in _steps(before, after):
        passages += [Passage(new)] if kind == "equal" else [Passage(old, "del"), Passage(new, "ins")]
    return list(_shortened([one for one in passages if one.text]))


def _steps(before: str, after: str) -> Iterator[Step]:
    """Word by word between the places where both say the same and say it once (a patience diff)."""
    old, new = _WORD.findall(before), _WORD.findall(after)
    first = common(old, new)
    last = common(old[first:][::-1], new[first:][::-1])
    yield "equal", "", "".join(new[:first])
    a, b = first, first
    for c, d in (*_anchors(old, new, first, last), (len(old) - last, len(new) - last)):
        yield from _compared(old[a:c], new[b:d])
        a, b = c, d
    yield "equal", "", "".join(new[b:])


def common(one: Sequence[str], other: Sequence[str]) -> int:
    """How many words, or characters, they begin with alike."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _anchors(old: Sequence[str], new: Sequence[str], first: int, last: int) -> list[Span]:
    """Places, in both, of some words in a row that either says once, as many as stand in one order in both."""
    places = [_said_once(one, first, len(one) - last) for one in (old, new)]
    pairs = sorted((at, places[1][words]) for words, at in places[0].items() if words in places[1])
    ends: list[int] = []
    chains: list[list[Any]] = []
    for a, b in pairs:
        at = bisect_left(ends, b)
        ends[at : at + 1] = [b]
        chains[at : at + 1] = [[(a, b), chains[at - 1] if at else None]]
    chain, found = chains[-1] if chains else None, []
    while chain is not None:
        pair, chain = chain
        found.append(pair)
    return found[::-1]


def _said_once(words: Sequence[str], start: int, end: int) -> dict[tuple[str, ...], int]:
    rows = [tuple(words[at : at + _ANCHOR_WORDS]) for at in range(start, end - _ANCHOR_WORDS + 1)]
    often = Counter(rows)
    return {row: at for at, row in enumerate(rows, start) if often[row] == 1}


def _compared(old: Sequence[str], new: Sequence[str]) -> list[Step]:
    """One after the other where there are too many words, or nearly all are other."""
    if old == new:
        return [("equal", "", "".join(new))]
    steps = SequenceMatcher(None, old, new).get_opcodes() if max(len(old), len(new)) <= _MOST_COMPARED else []
    if not 0 < len(steps) <= _MOST_STEPS:
        return _letter_by_letter("".join(old), "".join(new))
    found = [(kind, "".join(old[a:b]), "".join(new[c:d])) for kind, a, b, c, d in steps]
    return [step for one in found for step in (_letter_by_letter(*one[1:]) if one[0] == "replace" else [one])]


def _letter_by_letter(before: str, after: str) -> list[Step]:
    """What is other within two long words: where they begin and end alike is shown as such."""
    if min(len(before), len(after)) < _LONG_WORD:
        return [("replace", before, after)]
    first = common(before, after)
    last = common(before[first:][::-1], after[first:][::-1])
    middle = before[first : len(before) - last], after[first : len(after) - last]
    return [("equal", "", after[:first]), ("replace", *middle), ("equal", "", after[len(after) - last :])]


def _shortened(passages: Sequence[Passage]) -> Iterator[Passage]:
    """Of what stands in no element the words that are near to one that does; of a long element its ends.

    A text without any stays whole.
    """
    joined = [
        Passage("".join(piece.text for piece in same), element)
        for element, same in groupby(passages, key=lambda one: one.element)
    ]
    for at, one in enumerate(joined):
        if len(joined) == 1 and not one.element:
            yield one
        elif one.element:
            yield from _without_middle(one, _BEGINNING, _END)
        else:
            yield from _without_middle(one, _AROUND if at else 0, _AROUND if at < len(joined) - 1 else 0)


def _without_middle(one: Passage, beginning: int, end: int) -> Iterator[Passage]:
    head, tail = one.text[:beginning], one.text[len(one.text) - end :]
    if len(one.text) - len(head) - len(tail) < _LEAST_LEFT_OUT:
        yield one
        return
    head, tail = head[: _last_space(head)], tail[_first_space(tail) :]
    middle = one.text[len(head) : len(one.text) - len(tail)]
    if head:
        yield replace(one, text=head)
    yield replace(one, text=middle, is_left_out=True)
    if tail:
        yield replace(one, text=tail)


def _last_space(text: str) -> int:
    """Where the last word ends that is whole; the end where there is no space near."""
    found = max(text.rfind(space, len(text) // 2) for space in " \n")
    return len(text) if found < 0 else found + 1


def _first_space(text: str) -> int:
    """Where the first word begins that is whole; the beginning where there is no space near."""
    found = re.search(r"\s", text[: len(text) // 2])
    return found.end() if found else 0
