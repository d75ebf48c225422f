"""What is quoted of a message: the clauses that it is about, not its first words (P-24).

Where nobody has said which clause that is, it is the one that shares most words with the other message.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain

from recollect.contradictions.parts import Span, clause_spans
from recollect.text.terms import terms

MOST_CHARACTERS, _LEAST_CHARACTERS = 120, 60
_LOOSE = " \t\n,;:–—-，；：、"
_BOTH_HAVE_DIGITS = 0.5
_PIECE = re.compile(r"\S{1,20}")
"""Of a clause that is too long: a word, or a part of a text without spaces."""


def excerpt_of_ended(text: str, ended: Iterable[Span], about: str = "") -> str:
    """The words at these places alone, with … for those around and between; where they are too many, those `about`."""
    runs = _runs(text, ended)
    exact = _excerpt(text, runs)
    if len(exact) <= MOST_CHARACTERS:
        return exact
    clauses = [span for run in runs for span in _within(text, run)]
    return _shown(text, clauses, about)


def words_about(text: str, about: str, ended: Sequence[Span] = ()) -> str:
    """A short message whole; of a longer one the clause that may have `ended`, or is nearest, and what fits beside."""
    whole = " ".join(text.split())
    if len(whole) <= MOST_CHARACTERS:
        return whole
    clauses = clause_spans(text)
    touched = [at for at, one in enumerate(clauses) if any(a < one[1] and one[0] < b for a, b in ended)]
    return _shown(text, clauses, about, touched)


def _runs(text: str, spans: Iterable[Span]) -> list[Span]:
    """The spans in order; those between which no word stands are one."""
    runs: list[Span] = []
    for start, end in sorted(spans):
        if runs and not _has_words(text[runs[-1][1] : start]):
            runs[-1] = runs[-1][0], max(end, runs[-1][1])
        else:
            runs.append((start, end))
    return runs


def _within(text: str, run: Span) -> list[Span]:
    return [(run[0] + a, run[0] + b) for a, b in clause_spans(text[slice(*run)])]


def _excerpt(text: str, runs: Sequence[Span]) -> str:
    """On one line, with … where words are left out."""
    said = [" ".join(text[slice(*run)].strip(_LOOSE).split()) for run in runs]
    before = "…" if runs and _has_words(text[: runs[0][0]]) else ""
    after = "…" if runs and _has_words(text[runs[-1][1] :]) else ""
    return before + " … ".join(one for one in said if one) + after


def _shown(text: str, clauses: Sequence[Span], about: str, among: Sequence[int] = ()) -> str:
    """The nearest of these clauses with its neighbours; word by word where it is too long, or much room is left."""
    at = _nearest(text, clauses, about, among)
    if at is None:
        return ""
    first, last = _widened(text, clauses, at, at)
    shown = _excerpt(text, _runs(text, clauses[first : last + 1]))
    if _LEAST_CHARACTERS <= len(shown) <= MOST_CHARACTERS:
        return shown
    pieces = [(a + one.start(), a + one.end()) for a, b in clauses for one in _PIECE.finditer(text[a:b])]
    inside = [n for n, (a, b) in enumerate(pieces) if clauses[first][0] <= a and b <= clauses[last][1]]
    if len(shown) > MOST_CHARACTERS:
        inside = [inside[_nearest(text, [pieces[n] for n in inside], about) or 0]]
    first, last = _widened(text, pieces, inside[0], inside[-1])
    return _excerpt(text, _runs(text, pieces[first : last + 1]))


def _nearest(text: str, spans: Sequence[Span], about: str, among: Sequence[int] = ()) -> int | None:
    """The place of the one that shares most with what it is about: rare words count more, and amounts a little."""
    own = [set(terms(text[slice(*one)])) for one in spans]
    known, has_digits = set(terms(about)), _has_digits(about)
    often = Counter(chain.from_iterable(own))

    def share(at: int) -> tuple[float, int]:
        amounts = has_digits and _has_digits(text[slice(*spans[at])])
        shared = sum(1 / often[one] for one in own[at] & known) + _BOTH_HAVE_DIGITS * amounts
        return shared, -len(own[at]) if shared else 0

    return max(among or range(len(spans)), key=share, default=None)


def _widened(text: str, spans: Sequence[Span], first: int, last: int) -> tuple[int, int]:
    """The places from the first to the last with their neighbours, on either side as far as they fit."""
    middle = first + last
    while True:
        wider = sorted(((first, last + 1), (first - 1, last)), key=lambda one: abs(sum(one) - middle))
        there = ((a, b) for a, b in wider if a >= 0 and b < len(spans))
        fits = (one for one in there if len(_excerpt(text, _runs(text, spans[one[0] : one[1] + 1]))) <= MOST_CHARACTERS)
        found = next(fits, None)
        if found is None:
            return first, last
        first, last = found


def _has_words(text: str) -> bool:
    return any(map(str.isalnum, text))


def _has_digits(text: str) -> bool:
    return any(map(str.isdigit, text))
