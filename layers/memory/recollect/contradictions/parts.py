"""A message in parts: those that a model of pairs reads at once, and the clauses of which one may end by itself.

By punctuation and blanks alone, so that no language needs words of its own.
"""

import re
from collections.abc import Iterator

from recollect.contradictions.binding import sentence_spans
from recollect.text.sentences import count_tokens

Span = tuple[int, int]

UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
"""Kana and Han, whose writers put a blank where others put a comma; beside letters or digits it may be for looks."""
_PAUSE = re.compile(rf"[,;:]\s+|[，；：、]|\s[–—-]\s+|\s\(|\)\s|(?<=[{UNSPACED}])\s+(?=[{UNSPACED}])")
_LEAST_TOKENS = 4
"""What is shorter between two pauses is no clause by itself ("yes", "in Leith")."""


def clause_spans(text: str) -> list[Span]:
    """Where each clause begins and ends: at the ends of sentences, and at pauses between what is long enough."""
    return [span for sentence in sentence_spans(text) for span in _within(text, sentence)]


def parts_within(text: str, most_tokens: int) -> Iterator[str]:
    """Clauses that follow each other, together up to so many tokens; a longer clause is a part by itself."""
    start = end = 0
    for clause in clause_spans(text):
        if end > start and count_tokens(text[start : clause[1]]) > most_tokens:
            yield text[start:end]
            start = clause[0]
        end = clause[1]
    if end > start:
        yield text[start:end].strip()


def _within(text: str, sentence: Span) -> Iterator[Span]:
    start, last = sentence
    for pause in _PAUSE.finditer(text, start, last):
        clause, rest = text[start : pause.start()], text[pause.end() : last]
        if min(count_tokens(clause), count_tokens(rest)) >= _LEAST_TOKENS:
            yield start, pause.start()
            start = pause.end()
    yield start, last
