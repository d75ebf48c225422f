"""One vector for a text, pooled from its tokens' vectors; and a similarity on one scale for every embedder.

The encoder reads a passage with speaker and day before it; only the tokens of its own text are summed. In a query stop
words count half; the ranker weighs the others by their rarity in the user's records. A similarity is the share of
related pairs at a cosine: of the default embedder's centred vectors a question and its answer have 0.27 in the median,
where other models have 0.8.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING

from recollect.core.learned_share import logistic
from recollect.core.vectors import unit
from recollect.text.terms import inverse_document_frequency, terms

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recollect.core.vectors import Encoding, FloatArray, TokenVectors
    from recollect.text.terms import TermStatistics

WEAK_WEIGHT = 0.5
"""The weight of a stop word's token, or of no word's, in a query."""

_WORD = re.compile(r"\w+")
_LEAST_LENGTH = 1e-6


def passage_vector(encoding: Encoding, own_from: int) -> FloatArray:
    """The normalised sum of the tokens that reach beyond character `own_from`; the vector itself without tokens."""
    if encoding.tokens is None:
        return encoding.vector
    return _sum(encoding.tokens, [1.0 if end > own_from else 0.0 for _, end in encoding.tokens.spans], encoding.vector)


def query_vector(encoding: Encoding, text: str) -> FloatArray:
    """The normalised sum of the tokens, stop words and marks at half; the vector itself without tokens."""
    if encoding.tokens is None:
        return encoding.vector
    weights = token_weights(text, encoding.tokens.spans, lambda _terms: 1.0)
    return _sum(encoding.tokens, weights, encoding.vector)


def weighted_query_vector(tokens: TokenVectors, text: str, statistics: TermStatistics) -> FloatArray:
    """The normalised sum of a query's tokens, each by the inverse document frequency of its word in the scope.

    A term that the statistics do not know, beyond the first ones of a long text, weighs as the known ones on average.
    """
    known = {term: inverse_document_frequency(statistics, term) for term in statistics.document_frequency}
    usual = sum(known.values()) / len(known) if known else 1.0

    def rarity(of_word: Sequence[str]) -> float:
        return sum(known.get(term, usual) for term in of_word) / len(of_word)

    return _sum(tokens, token_weights(text, tokens.spans, rarity), unit(tokens.vectors.sum(axis=0)))


def token_weights(text: str, spans: Sequence[tuple[int, int]], weigh: Callable[[Sequence[str]], float]) -> list[float]:
    """`weigh` of the terms of each token's word; `WEAK_WEIGHT` where it has none."""
    words = [(match.start(), match.end(), terms(match.group())) for match in _WORD.finditer(text)]
    starts = [start for start, _, _ in words]
    found = (_terms_at(text, span, words, starts) for span in spans)
    return [weigh(of_word) if of_word else WEAK_WEIGHT for of_word in found]


def _terms_at(
    text: str, span: tuple[int, int], words: Sequence[tuple[int, int, list[str]]], starts: Sequence[int]
) -> list[str]:
    """The terms of the word in which the token begins; of a run of CJK those that the token touches."""
    first = span[0] + len(text[span[0] : span[1]]) - len(text[span[0] : span[1]].lstrip())
    place = bisect_right(starts, first) - 1
    if place < 0 or first >= words[place][1]:
        return []
    start, end, of_word = words[place]
    if len(of_word) < 2:
        return of_word
    return terms(text[max(start, first - 1) : min(end, span[1] + 1)]) or of_word


def _sum(tokens: TokenVectors, weights: Sequence[float], instead: FloatArray) -> FloatArray:
    import numpy as np

    if not len(weights):
        return instead
    total: FloatArray = np.array(weights, np.float32) @ tokens.vectors
    return unit(total) if float(np.linalg.norm(total)) > _LEAST_LENGTH else instead


@dataclass(frozen=True, slots=True)
class SimilarityScale:
    """A logistic map of cosines in [-1, 1] to similarities in [0, 1]: half at `midpoint`, the steeper by `slope`.

    A similarity is the share of related pairs among pairs of that cosine, of a sample that is half related; 1 at cosine
    1. Without a slope nobody has measured the embedder, and the similarity is the cosine itself.
    """

    midpoint: float = 0.0
    slope: float | None = None

    def similarity(self, cosine: float) -> float:
        """Of a cosine; monotonic."""
        if self.slope is None:
            return cosine
        return min(1.0, self._share(cosine) / self._share(1.0))

    def cosine(self, similarity: float) -> float:
        """The least cosine of that similarity: -1 for 0 and less, 1 for 1 and more."""
        if self.slope is None:
            return similarity
        share = similarity * self._share(1.0)
        if similarity <= 0:
            return -1.0
        return 1.0 if similarity >= 1 else max(-1.0, self.midpoint + log(share / (1 - share)) / self.slope)

    def _share(self, cosine: float) -> float:
        return logistic((self.slope or 0.0) * (cosine - self.midpoint))


COSINE = SimilarityScale()
"""The scale of an embedder that nobody has measured."""
