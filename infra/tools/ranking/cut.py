"""Fits where relevance ends: how likely a hit is evidence, by its score and the best one's."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy

from infra.tools.ranking.curves import logistic_regression
from infra.tools.ranking.fit import Fitted
from infra.tools.ranking.lists import TALKS, RankedList

NEEDED = 0.01
"""How likely a hit is needed at the line; above it needed turns go missing faster than lines are saved."""

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
    needed = numpy.concatenate([gold for _, gold in scored]).astype(numpy.float64)
    of_score, of_best, bias = logistic_regression(features, needed, numpy.full(3, _DECAY)).tolist()
    return -of_best / of_score, (math.log(NEEDED / (1 - NEEDED)) - bias) / of_score
