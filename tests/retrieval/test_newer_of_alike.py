"""Of two results that are alike the newer one first, where the question asks how things are now."""

from datetime import timedelta
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.core.event import EventRef
from recollect.retrieval.nomination import Candidate
from recollect.retrieval.ranking import Mode, Query, RankingPolicy, asks_of_now, rank, recency_tiebreak
from samples.candidates import EAST, NORTH, STATISTICS, candidate
from samples.events import NOON

NOW = "What is the deadline of the sprint?"
NEAR_EAST = numpy.array([0.9, 0.436], dtype=numpy.float32)


def said(name: str, days: int, vector: Any = EAST, **more: Any) -> Candidate:
    return candidate(name, vector=vector, ref=EventRef(name, NOON + timedelta(days=days)), **more)


@pytest.mark.parametrize(
    ("text", "of_now"),
    [
        (NOW, True),
        ("How many books do I have?", True),
        ("Who's my manager?", True),
        ("What was the deadline?", False),
        ("What is it that I did in May?", False),
        ("What did Anna say?", False),
        ("Where is what I bought in 2019?", False),
        ("What is the first thing I said?", False),
        ("the deadline", False),
        ("\u622a\u6b62\u65e5\u671f\u662f\u4ec0\u4e48\uff1f", False),
    ],
)
def test_which_questions_ask_how_things_are_now(text: str, of_now: bool) -> None:
    assert asks_of_now(text) is of_now


CASES = [
    ("the newer one is alike", said("new", 9, NEAR_EAST), 0.9, NOW, True),
    ("it lacks too much", said("new", 9, NEAR_EAST), 0.7, NOW, False),
    ("it is of something else", said("new", 9, NORTH), 0.9, NOW, False),
    ("it is the older one", said("new", -9, NEAR_EAST), 0.9, NOW, False),
    ("it has no vector", said("new", 9, None), 0.9, NOW, False),
    ("its vector is nothing", said("new", 9, EAST * 0), 0.9, NOW, False),
    ("somebody else said it", said("new", 9, NEAR_EAST, speaker="Ben"), 0.9, NOW, False),
    ("an assistant said it", said("new", 9, NEAR_EAST, role="bot"), 0.9, NOW, False),
    ("the question is of the past", said("new", 9, NEAR_EAST), 0.9, "What was the deadline?", False),
]


@pytest.mark.parametrize(("newer", "score", "text", "first"), [case[1:] for case in CASES], ids=[c[0] for c in CASES])
def test_when_the_newer_one_goes_first(newer: Candidate, score: float, text: str, first: bool) -> None:
    old, new = recency_tiebreak([said("old", 0), newer], [1.0, score], text, 0.25)
    assert old == 0.0
    assert (score + new > 1.0) is first
    assert new < 0.31


def test_an_older_one_sinks_below_all_that_are_newer_and_alike() -> None:
    three = [said("old", 0), said("mid", 1), said("new", 2)]
    lifts = recency_tiebreak(three, [1.0, 0.9, 0.85], NOW, 0.25)
    assert 1.0 + lifts[0] < 0.85 + lifts[2] <= 0.9 + lifts[1]


def test_nothing_is_lifted_where_it_is_off() -> None:
    assert recency_tiebreak([said("old", 0), said("new", 1)], [1.0, 0.99], NOW, 0.0) == [0.0, 0.0]


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(0, 40)), min_size=1, max_size=20))
def test_no_one_is_lifted_above_what_stood_above_the_older_one(given: list[tuple[float, int]]) -> None:
    candidates = [said(f"{place:02}", days) for place, (_, days) in enumerate(given)]
    scores = [score for score, _ in given]
    lifts = recency_tiebreak(candidates, scores, NOW, 0.25)
    assert all(lift >= 0 for lift in lifts)
    assert max(score + lift for score, lift in zip(scores, lifts, strict=True)) <= max(scores) + 1e-7


def test_the_ranking_names_the_tie_break() -> None:
    query = Query(text=NOW, terms=("deadline",), vector=EAST, mode=Mode.HYBRID)
    pair = [said("old", 0, counts={"deadline": 2}), said("new", 9, counts={"deadline": 1})]
    first, second = rank(pair, query, STATISTICS, RankingPolicy())
    assert (first.candidate.ref.id, first.signals["newer_of_alike"]) == ("new", 1.0)
    assert first.shares["newer_of_alike"] > 0 == second.shares["newer_of_alike"]
    assert sum(first.shares.values()) == pytest.approx(first.score)
    assert first.score > second.score
