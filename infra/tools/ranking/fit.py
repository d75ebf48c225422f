"""Fits which questions ask of now, and what the signals of timeliness weigh: one softmax over each ranked list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy
from numpy.typing import NDArray

from infra.tools.ranking.curves import Floats
from infra.tools.ranking.lists import RankedList

DIRECTIONS = 16
"""How many principal directions of the questions' vectors are looked at: with 24 and more LoCoMo loses .01."""

SHARES = {"talks": 0.4, "locomo-dev": 0.4, "beam-dev": 0.1, "madial-zh-dev": 0.1}
"""What each source weighs in all, however many questions it has."""

_STEPS = 1500
_RATE = 0.02
_DECAY = 3e-3
_SHARPNESS = 12.0
_OUTSIDE = -1e9


@dataclass(frozen=True, slots=True)
class Fitted:
    """A curve over questions' vectors, and the weights of the three signals in shares of the best score."""

    direction: Floats
    bias: float
    weights: Floats

    def share(self, vector: Floats) -> float:
        return float(_logistic(vector @ self.direction + self.bias))

    def scores(self, one: RankedList) -> Floats:
        found: Floats = one.best * (one.first + self.share(one.vector) * (one.signals @ self.weights))
        return found

    def order(self, one: RankedList) -> NDArray[numpy.int64]:
        found: NDArray[numpy.int64] = numpy.argsort(-self.scores(one), kind="stable")
        return found


def fitted(lists: Sequence[RankedList]) -> Fitted:
    """Full-batch Adam from fixed starts: the same lists give the same figures."""
    batch = _Batch.of(lists)
    values = {
        "direction": numpy.zeros(DIRECTIONS),
        "bias": numpy.zeros(1),
        "sharpness": numpy.array([_SHARPNESS]),
        "signals": numpy.array([6.0, -6.0, 6.0]),
    }
    first = {name: numpy.zeros_like(value) for name, value in values.items()}
    second = {name: numpy.zeros_like(value) for name, value in values.items()}
    for step in range(1, _STEPS + 1):
        for name, slope in batch.slopes(values).items():
            first[name] = 0.9 * first[name] + 0.1 * slope
            second[name] = 0.999 * second[name] + 0.001 * slope**2
            moved = first[name] / (1 - 0.9**step) / (numpy.sqrt(second[name] / (1 - 0.999**step)) + 1e-9)
            values[name] = values[name] - _RATE * moved
    direction = batch.projection @ values["direction"]
    bias = float(values["bias"][0] - batch.mean @ direction)
    return Fitted(direction, bias, values["signals"] / values["sharpness"][0])


def _logistic(values: Floats | float) -> Floats:
    found: Floats = 1 / (1 + numpy.exp(-numpy.clip(values, -30, 30)))
    return found


@dataclass(frozen=True, slots=True)
class _Batch:
    mean: Floats
    projection: Floats
    asked: Floats
    first: Floats
    signals: Floats
    there: Floats
    gold: Floats
    weights: Floats

    @classmethod
    def of(cls, lists: Sequence[RankedList]) -> _Batch:
        vectors = numpy.stack([one.vector for one in lists])
        mean = vectors.mean(axis=0)
        _, lengths, directions = numpy.linalg.svd(vectors - mean, full_matrices=False)
        projection = directions[:DIRECTIONS].T / (lengths[:DIRECTIONS] / numpy.sqrt(len(lists)))
        most = max(len(one.first) for one in lists)
        first, signals = numpy.zeros((len(lists), most)), numpy.zeros((len(lists), most, 3))
        there, gold = numpy.full((len(lists), most), _OUTSIDE), numpy.full((len(lists), most), _OUTSIDE)
        for place, one in enumerate(lists):
            first[place, : len(one.first)] = one.first
            signals[place, : len(one.first)] = one.signals
            there[place, : len(one.first)] = 0
            gold[place, : len(one.first)][one.gold] = 0
        counts = {name: sum(one.source == name for one in lists) for name in SHARES}
        weights = numpy.array([SHARES[one.source] / counts[one.source] for one in lists])
        asked = (vectors - mean) @ projection
        return cls(mean, projection, asked, first, signals, there, gold, weights / weights.sum())

    def slopes(self, values: Mapping[str, Floats]) -> dict[str, Floats]:
        """The gradient of the loss: how unlikely a list's evidence is, and a decay."""
        share = _logistic(self.asked @ values["direction"] + values["bias"][0])
        timely = self.signals @ values["signals"]
        scores = values["sharpness"][0] * self.first + share[:, None] * timely
        slope = (_softmax(scores + self.there) - _softmax(scores + self.gold)) * self.weights[:, None]
        of_share = (slope * timely).sum(axis=1) * share * (1 - share)
        return {
            "direction": self.asked.T @ of_share + 2 * _DECAY * values["direction"],
            "bias": numpy.array([of_share.sum()]),
            "sharpness": numpy.array([(slope * self.first).sum()]),
            "signals": numpy.einsum("lh,lhs,l->s", slope, self.signals, share) + 0.06 * _DECAY * values["signals"],
        }


def _softmax(scores: Floats) -> Floats:
    powers = numpy.exp(scores - scores.max(axis=1, keepdims=True))
    found: Floats = powers / powers.sum(axis=1, keepdims=True)
    return found
