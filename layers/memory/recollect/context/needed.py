"""Which hits a question needs, by what both stages of the search say of them (P-23).

How likely a hit is needed is a logistic over its standing among the hits, fitted on the questions of our own talks and
of the development sets, those that nothing answers among them (`infra/tools/ranking`): what the second stage makes of
it, and of all hits together, how far it stands behind the best one, and its place.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from recollect.context.selection import ContextItem

_LEAST_SHARE = 1e-6
"""Relevance is rounded to six digits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NeededCut:
    """The weights of the logistic; a hit that is needed with less than `least` is cut.

    `relevance` and `among` are per unit of the second stage's logit: the hit's own, and its lead over the logarithm of
    the sum of all; `behind` is per unit of score, `behind_first` per unit of score without the second stage, `place`
    per unit of the logarithm of the place by score, from 1.
    """

    least: float = 0.015
    relevance: float = 0.14
    among: float = 0.03
    behind: float = 4.29
    behind_first: float = 0.0
    place: float = -0.65
    bias: float = 0.04

    def of(self, items: Sequence[ContextItem]) -> list[ContextItem]:
        """Those that pass, in their order; of those that the second stage has not read, none."""
        read = [item for item in items if item.relevance is not None]
        needed = {item.id for item, share in zip(read, self.shares(read), strict=True) if share >= self.least}
        return [item for item in items if item.id in needed]

    def shares(self, read: Sequence[ContextItem]) -> list[float]:
        """How likely each is needed, in [0, 1]."""
        if not read:
            return []
        logits = [_logit(item.relevance or 0.0) for item in read]
        together = math.log(sum(math.exp(logit) for logit in logits))
        scores = [item.score or 0.0 for item in read]
        firsts = [item.first_score or 0.0 for item in read]
        places = _places(scores)
        return [
            _logistic(
                self.bias
                + self.relevance * logit
                + self.among * (logit - together)
                + self.behind * (score - max(scores))
                + self.behind_first * (first - max(firsts))
                + self.place * math.log(place)
            )
            for logit, score, first, place in zip(logits, scores, firsts, places, strict=True)
        ]


def _places(scores: Sequence[float]) -> list[int]:
    order = sorted(range(len(scores)), key=lambda at: -scores[at])
    places = dict(zip(order, range(1, len(order) + 1), strict=True))
    return [places[at] for at in range(len(scores))]


def _logit(share: float) -> float:
    bounded = min(max(share, _LEAST_SHARE), 1 - _LEAST_SHARE)
    return math.log(bounded / (1 - bounded))


def _logistic(value: float) -> float:
    return 1 / (1 + math.exp(-value)) if value > -30 else 0.0
