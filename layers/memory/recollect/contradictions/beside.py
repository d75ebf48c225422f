"""How sure a change is, seen beside what the same newer statement does to the other older ones.

A model of pairs sees two statements. Among all that a message is held against it mostly ends the one that it ends most
surely, and one of those nearest to it; where it seems to end many alike, it ends few of them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from recollect.core.learned_share import logistic

FARTHEST: Final = 4.0
"""Logits below its negative are alike, and a lead that is greater says no more."""
_LEAST = 1e-6


@dataclass(frozen=True, slots=True)
class BesideOthers:
    """The weights of a logistic curve over one candidate's logit and its place among the others.

    `own`: of its logit; `behind` and `ahead`: of how much the logit is below and above the best other one; `place`: of
    the logarithm of one more than how many are nearer. `candidates`: how many a full list has. In a shorter one the
    curve counts by its share of others; of a single candidate it says nothing.
    """

    own: float
    behind: float
    ahead: float
    place: float
    bias: float
    candidates: float

    def of(self, changed: Sequence[float]) -> list[float]:
        """The probabilities, within 0 and 1, of candidates in order, the nearest first; what is 0 stays 0."""
        logits = [logit_of(one) for one in changed]
        share = min(1.0, (len(logits) - 1) / (self.candidates - 1))
        return [
            logistic(share * self._seen(at, logits) + (1 - share) * logit) if changed[at] > 0 else 0.0
            for at, logit in enumerate(logits)
        ]

    def _seen(self, at: int, logits: Sequence[float]) -> float:
        behind, ahead, place = place_among(at, logits)
        own = max(logits[at], -FARTHEST)
        return self.own * own + self.behind * behind + self.ahead * ahead + self.place * place + self.bias


def place_among(at: int, logits: Sequence[float]) -> tuple[float, float, float]:
    """How much one logit is behind (0 or less) and ahead (0 or more) of the best other; its place, as a logarithm."""
    others = (max(one, -FARTHEST) for other, one in enumerate(logits) if other != at)
    lead = max(logits[at], -FARTHEST) - max(others, default=-FARTHEST)
    return min(lead, 0.0), max(0.0, min(lead, FARTHEST)), math.log1p(at)


def logit_of(probability: float) -> float:
    """Finite, of 0 and 1 too."""
    bounded = min(max(probability, _LEAST), 1 - _LEAST)
    return math.log(bounded / (1 - bounded))
