"""Vectors: their length, their bytes, and how alike two are."""

import numpy
import pytest

from recollect.core.errors import InvalidInput
from recollect.core.vectors import cosine, pack_vector, unit, unpack_vector, vector_of


def array(*numbers: float) -> numpy.typing.NDArray[numpy.float32]:
    return numpy.array(numbers, numpy.float32)


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [((3, 4), (4, 3), 0.96), ((30, 40), (0.4, 0.3), 0.96), ((1, 2), (-2, -4), -1.0), ((1e-30, 0), (1e-30, 0), 1.0)],
)
def test_a_cosine_is_that_of_the_angle_whatever_the_lengths(
    one: tuple[float, float], other: tuple[float, float], alike: float
) -> None:
    assert cosine(array(*one), array(*other)) == pytest.approx(alike)
    assert -1.0 <= cosine(array(*one), array(*other)) <= 1.0


def test_each_row_has_a_length_of_its_own_and_numbers_of_32_bits() -> None:
    rows = unit(numpy.array([[3, 4], [0, 5]], numpy.float64))
    assert [[round(float(number), 6) for number in row] for row in rows] == [[0.6, 0.8], [0.0, 1.0]]
    assert rows.dtype == numpy.float32


def test_the_stored_form_knows_its_own_dimension() -> None:
    data = pack_vector([3.0, 4.0, 0.0])
    assert data == numpy.array([0.6, 0.8, 0], "<f2").tobytes()
    assert unpack_vector(data).tolist() == unpack_vector(data, 3).tolist()
    assert unpack_vector(data).shape == (3,)
    assert vector_of([1, 2, 3], 3).dtype == numpy.float32


@pytest.mark.parametrize("values", [[[1.0, 2.0]], 5.0])
def test_a_table_or_a_number_is_no_vector(values: object) -> None:
    with pytest.raises(InvalidInput):
        pack_vector(values)  # type: ignore[arg-type]


@pytest.mark.parametrize("data", [b"\0" * 3, b"\0"])
def test_half_a_number_is_no_vector(data: bytes) -> None:
    with pytest.raises(InvalidInput):
        unpack_vector(data)
