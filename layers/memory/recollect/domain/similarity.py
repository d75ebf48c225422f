"""How alike two texts are, on a scale that means the same for every embedder: the share of related pairs at a cosine.

Cosines of one model are not those of another: of the default embedder's centred vectors a question and its answer have
0.27 in the median, where other models have 0.8. A threshold is given on the common scale and held against the cosine.
"""

from dataclasses import dataclass
from math import exp, log


@dataclass(frozen=True, slots=True)
class SimilarityScale:
    """A logistic map of cosines in [-1, 1] to similarities in [0, 1]: half at `midpoint`, the steeper by `slope`.

    A similarity is the share of related pairs among pairs of that cosine, of a sample that is half related; at cosine 1
    it is 1. Without a slope nobody has measured the embedder, and the similarity is the cosine itself.
    """

    midpoint: float = 0.0
    slope: float | None = None

    def similarity(self, cosine: float) -> float:
        """Of a cosine; the greater, the greater."""
        if self.slope is None:
            return cosine
        return min(1.0, self._share(cosine) / self._share(1.0))

    def cosine(self, similarity: float) -> float:
        """The least cosine that has so much similarity: -1 for 0 and less, 1 for 1 and more."""
        if self.slope is None:
            return similarity
        share = similarity * self._share(1.0)
        if similarity <= 0:
            return -1.0
        return 1.0 if similarity >= 1 else max(-1.0, self.midpoint + log(share / (1 - share)) / self.slope)

    def _share(self, cosine: float) -> float:
        return 1 / (1 + exp(-(self.slope or 0.0) * (cosine - self.midpoint)))


RELATED = 0.7
"""The similarity from which two texts count as related (A-28)."""

COSINE = SimilarityScale()
"""The scale of an embedder that nobody has measured."""
