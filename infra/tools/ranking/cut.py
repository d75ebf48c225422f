"""Fits where relevance ends: how likely a hit is evidence, by its score and the best one's."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy

from infra.tools.ranking.fit import Fitted, Floats
from infra.tools.ranking.lists import TALKS, RankedList

NEEDED = 0.01
"""How likely a hit is needed at the line; above it needed turns go missing faster than lines are saved."""

_ROUNDS = 30
_DECAY = 1e-6


def relevance_ends(lists: Sequence[RankedList], found: Fitted) -> tuple[float, float]:
    """The share of the best score, and what is added to it, from which a hit of our own talks is as likely as that."""
    scored = [(found.scores(one), one.gold) for one in lists if one.source == TALKS]
    features = numpy.concatenate(
        [
            numpy.stack([scores, numpy.full_like(scores, scores.max()), numpy.ones_like(scores)], 1)
            for scores, _ in scored
        ]
    )
    of_score, of_best, bias = _logistic_fit(features, numpy.concatenate([gold for _, gold in scored]).astype(float))
    return -of_best / of_score, (math.log(NEEDED / (1 - NEEDED)) - bias) / of_score


def _logistic_fit(features: Floats, gold: Floats) -> tuple[float, float, float]:
    """By Newton's method."""
    weights = numpy.zeros(3)
    for _ in range(_ROUNDS):
        shares = 1 / (1 + numpy.exp(-(features @ weights)))
        slope = features.T @ (gold - shares) / len(gold) - _DECAY * weights
        bend = (features * (shares * (1 - shares))[:, None]).T @ features / len(gold) + _DECAY * numpy.eye(3)
        weights = weights + numpy.linalg.solve(bend, slope)
    of_score, of_best, bias = weights.tolist()
    return of_score, of_best, bias
