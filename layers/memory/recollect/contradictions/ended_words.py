"""Which words of an older statement end: from what a model says of its pieces to the parts of the text (P-24)."""

import re
from collections.abc import Iterator, Sequence

from recollect.contradictions.binding import sentence_spans
from recollect.contradictions.pairs import EndedPiece
from recollect.contradictions.parts import UNSPACED, Span, clause_spans
from recollect.text.omission import left_of
from recollect.text.terms import query_terms

_ENDED, _OF_THE_SUREST = 0.4, 0.65
"""A word ends from this probability on, and from this share of the surest word's: beside what surely ends, less counts
little."""
_BETWEEN_ENDED = 0.6
"""From this share of that on a word ends that stands between two that do."""
_NEARLY_ALL = 0.75
"""A clause, and a sentence of several, ends as a whole from this share of its characters on: else scraps are left."""
_SMALL = re.compile(r"\W*[A-Za-z\u00c0-\u024f\u0370-\u03ff\u0400-\u04ff]{1,3}\W*")
"""A word of three letters at most ("un", "met") ends only where no other part does: it tells nothing by itself."""
_WORD = re.compile(rf"[{UNSPACED}]|[^\s{UNSPACED}]+")


def ended_spans(text: str, pieces: Sequence[EndedPiece]) -> tuple[Span, ...]:
    """The parts that end, in order: the whole text where too little is left to say anything, empty where none ends."""
    runs = list(_runs(_words(text, pieces)))
    telling = [one for one in runs if not _SMALL.fullmatch(text[slice(*one)])]
    ended = _whole_clauses(text, telling or runs)
    found = tuple(span for span in ended if query_terms(text[slice(*span)]))
    return ((0, len(text)),) if found and left_of(text, found) is None else found


def _words(text: str, pieces: Sequence[EndedPiece]) -> list[tuple[Span, float]]:
    """Each word with the mean of its characters."""
    read = [0.0] * len(text)
    for piece in pieces:
        read[piece.start : piece.end] = [piece.ended] * (piece.end - piece.start)
    return [(one.span(), sum(read[slice(*one.span())]) / len(one.group())) for one in _WORD.finditer(text)]


def _runs(words: Sequence[tuple[Span, float]]) -> Iterator[Span]:
    """Words that follow each other and end, with the single ones between them that may."""
    least = max(_ENDED, _OF_THE_SUREST * max((probability for _, probability in words), default=0.0))
    sure = [probability >= least for _, probability in words]
    ends = [
        own or (probability >= _BETWEEN_ENDED * least and any(sure[:place][-1:]) and any(sure[place + 1 :][:1]))
        for place, (own, (_, probability)) in enumerate(zip(sure, words, strict=True))
    ]
    start: int | None = None
    for place, ((begin, end), _) in enumerate(words):
        start = begin if ends[place] and start is None else start
        if start is not None and not any(ends[place + 1 :][:1]):
            yield start, end
            start = None


def _whole_clauses(text: str, runs: Sequence[Span]) -> list[Span]:
    """The same, with the rest of each clause and each sentence of which nearly all ends."""
    on = [False] * len(text)
    for start, end in runs:
        on[start:end] = [True] * (end - start)
    for start, end in (*clause_spans(text), *sentence_spans(text)):
        if sum(on[start:end]) >= _NEARLY_ALL * (end - start):
            on[start:end] = [True] * (end - start)
    return [(one.start(), one.end()) for one in re.finditer("1+", "".join("01"[flag] for flag in on))]
