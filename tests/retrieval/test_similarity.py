"""What a similarity means (A-28)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.retrieval.pooling import COSINE, SimilarityScale

SCALE = SimilarityScale(midpoint=0.21, slope=13.3)
COSINES = st.floats(-1, 1)


@given(COSINES, COSINES)
def test_more_alike_is_more_similar(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert 0 <= SCALE.similarity(low) <= SCALE.similarity(high) <= 1


@given(st.floats(0.001, 0.999))
def test_the_least_cosine_has_the_similarity(similarity: float) -> None:
    assert SCALE.similarity(SCALE.cosine(similarity)) == pytest.approx(max(similarity, SCALE.similarity(-1.0)))


@pytest.mark.parametrize(("similarity", "cosine"), [(-1.0, -1.0), (0.0, -1.0), (1.0, 1.0)])
def test_the_ends(similarity: float, cosine: float) -> None:
    assert SCALE.cosine(similarity) == cosine


def test_the_same_text_has_all_similarity_and_the_midpoint_half() -> None:
    assert SCALE.similarity(1.0) == 1.0
    assert SCALE.similarity(0.21) == pytest.approx(0.5, abs=1e-4)


@given(COSINES)
def test_without_a_measurement_the_cosine_is_the_similarity(cosine: float) -> None:
    assert COSINE.similarity(cosine) == COSINE.cosine(cosine) == cosine
