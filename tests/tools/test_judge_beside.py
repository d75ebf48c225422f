"""The curve over what a message does to all of its candidates is fitted to what is right, and no surer than that."""

import random

import pytest

from infra.tools.judge.beside import SOURCES, Judged, figures, fitted, right_of_settled, rows

FEW, MANY = 0.55, 0.95


def lists(writer: str, source: str, count: int, rng: random.Random) -> list[Judged]:
    """Of each list the first alone is a change where it stands out, and none where three are as sure."""
    found = []
    for at in range(count):
        quiet = [rng.uniform(0.02, 0.1) for _ in range(9)]
        stands_out = at % 2 == 0
        changed = (rng.uniform(FEW, MANY), *(quiet[:2] if stands_out else (MANY, MANY)), *quiet)
        found.append(Judged(source, writer, tuple(changed), (stands_out, *[False] * 11), missed=at % 3 == 0))
    return found


@pytest.fixture
def told() -> list[Judged]:
    rng = random.Random(1)
    return [one for source in SOURCES for writer in "abc" for one in lists(writer + source, source, 40, rng)]


def test_what_stands_out_settles_and_one_of_many_does_not(told: list[Judged]) -> None:
    curve = fitted(told)
    assert all(right_of_settled(curve, told, source) >= 0.9 for source in SOURCES)
    standing, one_of_many = told[0], told[1]
    assert curve.of(standing.changed)[0] > 0.8 > curve.of(one_of_many.changed)[0]


def test_both_sources_weigh_alike_however_many_they_are(told: list[Judged]) -> None:
    months, talks = ([one for one in told if one.source == source] for source in SOURCES)
    first = len(rows(months)[1])
    _, _, weights = rows([*months, *talks[:20]])
    assert weights[:first].sum() == pytest.approx(weights[first:].sum())


def test_what_is_unsure_is_not_learnt_from(told: list[Judged]) -> None:
    unsure = Judged(SOURCES[0], "d", (0.9,) * 12, (None,) * 12, 0)
    assert len(rows([*told, unsure])[1]) == len(rows(told)[1])


def test_the_figures_count_changes_that_are_not_among_the_candidates(told: list[Judged]) -> None:
    changes = sum(sum(bool(label) for label in one.labels) + one.missed for one in told if one.source == SOURCES[0])
    assert all(f"of {changes} changes" in line for line in figures(SOURCES[0], told))
