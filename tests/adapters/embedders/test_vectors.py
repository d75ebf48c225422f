"""Vectors as values: likeness, and the bytes that are stored."""

import numpy as np
import pytest
from numpy.typing import ArrayLike

from recollect.core.errors import InvalidInput
from recollect.core.vectors import cosine, pack_vector, unit, unpack_vector, vector_of


def array(*numbers: float) -> np.typing.NDArray[np.float32]:
    return np.array(numbers, np.float32)


def test_cosine() -> None:
    assert cosine(array(3, 0), array(0.5, 0)) == pytest.approx(1)
    assert cosine(array(1, 0), array(0, 9)) == 0
    assert cosine(array(1, 1), array(-2, -2)) == pytest.approx(-1)
    assert cosine(array(0, 0), array(1, 0)) == 0
    assert cosine(array(3e38, 3e38), array(3e38, 3e38)) == pytest.approx(1)
    with pytest.raises(InvalidInput):
        cosine(array(1), array(1, 2))


def test_unit_leaves_zero_alone() -> None:
    np.testing.assert_allclose(unit(np.array([[3, 4], [0, 0]], np.float32)), np.array([[0.6, 0.8], [0, 0]]), rtol=1e-6)


@pytest.mark.parametrize(
    "values", [[1, 2], [1, 2, float("nan")], [1, 2, float("inf")], [1, 2, 1e300], "abc", [[1], [2, 3]], {}]
)
def test_only_finite_numbers_of_the_dimension_are_a_vector(values: ArrayLike) -> None:
    with pytest.raises(InvalidInput) as raised:
        vector_of(values, 3, ("body", "embedding"))
    assert raised.value.loc == ("body", "embedding")
    with pytest.raises(InvalidInput):
        pack_vector(values, 3)


def test_what_is_packed_is_unpacked() -> None:
    vector = unit(np.random.default_rng(1).normal(size=384).astype(np.float32))
    assert cosine(unpack_vector(pack_vector(vector, 384), 384), vector) > 0.99999


@pytest.mark.parametrize("data", [b"", b"\0" * 5, b"\0" * 8])
def test_other_bytes_are_no_vector(data: bytes) -> None:
    with pytest.raises(InvalidInput):
        unpack_vector(data, 3)


def test_stored_bytes_that_are_not_finite_are_refused() -> None:
    with pytest.raises(InvalidInput):
        unpack_vector(np.array([1, np.nan, 2], "<f2").tobytes(), 3)
