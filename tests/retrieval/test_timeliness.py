"""Signals of what holds now: of records on one matter the newest first, as far as the question is of the present."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.core.event import EventRef
from recollect.retrieval.nomination import ASKING, Candidate
from recollect.retrieval.ranking import Mode, Query, Ranked, RankingPolicy, rank
from recollect.retrieval.timeliness import RECENT, timely
from samples.candidates import STATISTICS, candidate
from samples.events import NOON

AXES = numpy.eye(8, dtype=numpy.float32)
ASKED_AT = NOON + timedelta(days=30)


def said(name: str, days: float, matter: int = 0, **more: Any) -> Candidate:
    fields = {"vector": AXES[matter], "ref": EventRef(name, NOON + timedelta(days=days))} | more
    return candidate(name, **fields)


def others(days: float = 0) -> list[Candidate]:
    """Of five other matters, so that there is a mean to take out."""
    return [said(f"other {matter}", days, matter) for matter in range(3, 8)]


def signals(*candidates: Candidate, scores: tuple[float, ...] = (1.0, 0.9), of_now: float = 1.0) -> dict[str, Any]:
    every = [*candidates, *others()]
    given_scores = [*scores, *([0.1] * len(others()))]
    found = timely(every, given_scores, ASKED_AT, of_now)
    return {name: values[: len(candidates)] for name, values in found.items()}


def test_the_older_of_two_alike_is_outdone_and_the_newer_renews_it() -> None:
    found = signals(said("old", 0), said("new", 9))
    assert found["outdone"][0] > 0.5 > found["outdone"][1] == 0.0
    assert found["renewed"][1] > 0.5 > found["renewed"][0] == 0.0
    assert found["recent"][0] < found["recent"][1]


@pytest.mark.parametrize(
    "newer",
    [
        pytest.param(said("new", 9, 1), id="of another matter"),
        pytest.param(said("new", 0), id="of the same moment"),
        pytest.param(said("new", 9, vector=None), id="without a vector yet"),
        pytest.param(said("new", 9, vector=AXES[0] * 0), id="with a vector of nothing"),
        pytest.param(said("new", 9, speaker="Ben"), id="by somebody else"),
        pytest.param(said("new", 9, role="bot"), id="by an assistant"),
        pytest.param(said("new", 9, role=ASKING), id="which only asks"),
    ],
)
def test_what_outdoes_nothing(newer: Candidate) -> None:
    assert signals(said("old", 0), newer)["outdone"][0] == pytest.approx(0.0, abs=0.02)


def test_a_newer_one_outdoes_by_as_much_as_it_answers_the_question() -> None:
    weak, strong = (signals(said("old", 0), said("new", 9), scores=(1.0, s))["outdone"][0] for s in (0.2, 0.8))
    assert strong == pytest.approx(4 * weak)


def test_recency_falls_with_age_and_does_not_rise_for_what_lies_ahead() -> None:
    at_once, aged, ahead = (
        signals(said("one", days), scores=(1.0,))["recent"][0] for days in (30, 30 - RECENT.days, 99)
    )
    assert (at_once, ahead) == (1.0, 1.0)
    assert aged == pytest.approx(1 / numpy.e)


def test_a_question_is_neither_recent_nor_renewed() -> None:
    found = signals(said("old", 0), said("asked", 30, role=ASKING))
    assert (found["recent"][1], found["renewed"][1]) == (0.0, 0.0)


def test_a_few_candidates_are_not_compared() -> None:
    found = timely([said("old", 0), said("new", 9)], [1.0, 1.0], ASKED_AT, 1.0)
    assert found == {"recent": [0.0, 0.0], "outdone": [0.0, 0.0], "renewed": [0.0, 0.0]}


def test_a_few_vectors_are_not_compared() -> None:
    blind = [replace(one, vector=None) for one in others()]
    found = timely([said("old", 0), said("new", 9), *blind], [1.0] * 7, ASKED_AT, 1.0)
    assert not any(found["outdone"])
    assert all(found["recent"])


@pytest.mark.parametrize("scores", [(0.0, 0.0), (1.0, 0.9)])
def test_nothing_moves_where_the_question_is_of_the_past_or_nothing_is_found(scores: tuple[float, float]) -> None:
    of_now = 0.0 if any(scores) else 1.0
    found = timely([said("old", 0), said("new", 9), *others()], [*scores, *([0.0] * 5)], ASKED_AT, of_now)
    assert not any(value for values in found.values() for value in values)
    assert timely([], [], ASKED_AT, 1.0) == {"recent": [], "outdone": [], "renewed": []}


ONES = st.tuples(st.floats(0, 1), st.floats(-40, 40), st.integers(0, 7), st.booleans())


@given(st.lists(ONES, max_size=80), st.floats(0, 1))
def test_each_signal_is_a_share_and_scales_with_the_question(
    given_ones: list[tuple[float, float, int, bool]], of_now: float
) -> None:
    candidates = [
        said(f"{place:02}", days, matter, role="bot" if bot else "user")
        for place, (_, days, matter, bot) in enumerate(given_ones)
    ]
    scores = [score for score, *_ in given_ones]
    whole, part = (timely(candidates, scores, ASKED_AT, share) for share in (1.0, of_now))
    for name, values in whole.items():
        assert all(0 <= value <= 1 + 1e-6 for value in values)
        assert part[name] == pytest.approx([of_now * value for value in values])


def test_the_ranking_puts_the_newer_first_and_says_why() -> None:
    old, new = said("old", 0, counts={"dog": 2}), said("new", 9, counts={"dog": 1})
    query = Query(text="the dog", terms=("dog",), vector=AXES[0], mode=Mode.HYBRID, moment=ASKED_AT)
    past, present = (_first_two([old, new, *others()], replace(query, of_now=share)) for share in (0.0, 1.0))
    assert [one.id for one in past] == ["old", "new"]
    assert [one.id for one in present] == ["new", "old"]
    assert present[1].signals["outdone"] > 0 > present[1].shares["outdone"]
    assert sum(present[0].shares.values()) == pytest.approx(present[0].score)


def _first_two(candidates: list[Candidate], query: Query) -> list[Ranked]:
    return rank(candidates, query, STATISTICS, RankingPolicy())[:2]
