"""A share learned from vectors: a logistic curve, stored for the models that it was fitted for."""

import numpy
import pytest

from recollect.adapters.embedders.onnx_embedder import ASKS_FILE, OF_NOW_FILE, learned_share
from recollect.core.learned_share import LearnedShare

AXES = numpy.eye(4, dtype=numpy.float32)


def test_it_is_a_logistic_curve_without_overflow() -> None:
    curve = LearnedShare(AXES[0], -1.0)
    assert curve.of(AXES[1]) == pytest.approx(1 / (1 + numpy.e))
    assert curve.of(AXES[0] * 1e6) == pytest.approx(1.0)
    assert curve.of(AXES[0] * -1e6) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("file", [OF_NOW_FILE, ASKS_FILE])
def test_only_the_model_that_it_was_fitted_for_has_one(file: str) -> None:
    known = learned_share(file, "e5-small.int8.1")
    assert known is not None
    assert known.weights.shape == (384,)
    assert learned_share(file, "another.1") is None
