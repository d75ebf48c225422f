"""Logistic curves: how they are fitted, and stored in the package beside the default embedder's other figures."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable

import numpy
from numpy.typing import NDArray

from infra.tools.judge.__main__ import ROOT
from recollect.core.learned_share import LearnedShare

Floats = NDArray[numpy.float64]
Chosen = NDArray[numpy.bool_]
Curve = tuple[Floats, float]
"""Weights and bias."""
EMBEDDERS = ROOT / "layers/memory/recollect/adapters/embedders"
_ROUNDS = 30
_LEAST_DECAY = 1e-9


def logistic_regression(features: Floats, targets: Floats, decay: Floats, counts: Floats | float = 1.0) -> Floats:
    """The weights, by Newton's method; `decay` is each weight's, which keeps it small, `counts` a row's weight."""
    found = numpy.zeros(features.shape[1])
    for _ in range(_ROUNDS):
        shares = 1 / (1 + numpy.exp(-(features @ found)))
        slope = features.T @ (counts * (targets - shares)) / len(targets) - decay * found
        bend = (features * (counts * shares * (1 - shares))[:, None]).T @ features / len(targets) + numpy.diag(decay)
        found = found + numpy.linalg.solve(bend, slope)
    return found


def curve_over(vectors: Floats, told: Floats, decay: float, counts: Floats) -> Curve:
    """The curve of what is told (0 or 1) of the rows, over their vectors, (rows, width)."""
    mean = vectors.mean(axis=0)
    features = numpy.hstack([vectors - mean, numpy.ones((len(vectors), 1))])
    decays = numpy.append(numpy.full(vectors.shape[1], decay), _LEAST_DECAY)
    found = logistic_regression(features, told, decays, counts)
    return found[:-1], float(found[-1] - mean @ found[:-1])


def shares_of(vectors: Floats, curve: Curve) -> Floats:
    """As the package computes them, (rows,)."""
    weights, bias = curve
    found = LearnedShare(weights.astype(numpy.float32), bias)
    return numpy.array([found.of(vector) for vector in vectors.astype(numpy.float32)])


def shares_of_left_out(vectors: Floats, folds: NDArray[numpy.int64], fitted: Callable[[Chosen], Curve]) -> Floats:
    """The share of each row by the curve that `fitted` learns without its fold; rows of a fold below 0 keep 0."""
    shares = numpy.zeros(len(vectors))
    for fold in range(folds.max() + 1):
        left_out = folds == fold
        shares[left_out] = shares_of(vectors[left_out], fitted(left_out))
    return shares


def store(file: str, generation: str, weights: Floats, bias: float) -> None:
    """Stores a curve for the model of an embedder's generation, where `learned_share` reads it."""
    path = EMBEDDERS / file
    packed = base64.b64encode(weights.astype("<f4").tobytes()).decode("ascii")
    stored = json.loads(path.read_text("ascii"))
    stored[generation.split(".")[0]] = {"weights": packed, "bias": round(bias, 4)}
    path.write_text(json.dumps(stored) + "\n", "ascii")
