"""The collection itself: large enough, every shape and every near miss present, each case in the order of time."""

from collections import Counter

import pytest

from contradictions.cases import SHAPES, TWIN_KINDS, load_cases

CASES = load_cases()


def test_ids_and_later_texts_are_unique() -> None:
    assert len({case.id for case in CASES}) == len(CASES) >= 900
    assert [text for text, uses in Counter(case.later.text for case in CASES).items() if uses > 1] == []


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_has_at_least_twenty_cases(shape: str) -> None:
    assert sum(case.shape == shape for case in CASES) >= 20


@pytest.mark.parametrize("kind", TWIN_KINDS)
def test_every_twin_kind_comes_at_least_twelve_times_and_with_every_shape(kind: str) -> None:
    shapes = Counter(case.shape for case in CASES if case.twin.kind == kind)
    assert shapes.total() >= 12
    assert set(shapes) == set(SHAPES)


def test_earlier_comes_before_later_and_a_bound_lies_behind_both() -> None:
    for case in CASES:
        assert case.earlier.at < case.later.at, case.id
        assert case.twin.earlier.at < case.twin.later.at, case.id
        assert (case.bound is not None) == (case.shape == "bounded"), case.id
        assert case.bound is None or case.later.at < case.bound.during < case.bound.until < case.bound.after, case.id
