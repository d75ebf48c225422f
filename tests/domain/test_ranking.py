"""The order of results: one for every engine."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.samples import NOON
from recollect.domain.event import EventRef
from recollect.domain.lexical import TermStatistics, bm25
from recollect.domain.ranking import (
    Candidate,
    Mode,
    Query,
    RankingPolicy,
    by_maximum,
    named_speaker,
    rank,
    said_by_user,
    similarities,
)

STATISTICS = TermStatistics(10, 100, {"dog": 2, "cat": 5})
EAST = numpy.array([1, 0], dtype=numpy.float32)
NORTH = numpy.array([0, 1], dtype=numpy.float32)


def candidate(name: str, **changes: Any) -> Candidate:
    fields: dict[str, Any] = {
        "ref": EventRef(name, NOON),
        "arms": {},
        "counts": {},
        "length": 10,
        "vector": None,
        "role": "user",
        "speaker": None,
        "importance": 0.5,
    }
    return Candidate(**(fields | changes))


def order(candidates: list[Candidate], mode: Mode = Mode.HYBRID, vector: Any = EAST) -> list[str]:
    query = Query(text="the dog", terms=("dog",), vector=vector, mode=mode)
    return [one.candidate.ref.id for one in rank(candidates, query, STATISTICS, RankingPolicy())]


def test_each_mode_orders_by_its_signal() -> None:
    near, wordy = candidate("near", vector=EAST), candidate("wordy", vector=NORTH, counts={"dog": 1})
    assert order([wordy, near], Mode.SEMANTIC) == ["near", "wordy"]
    assert order([near, wordy], Mode.LEXICAL) == ["wordy", "near"]
    both = candidate("both", vector=EAST, counts={"dog": 1})
    assert order([near, wordy, both])[0] == "both"


@pytest.mark.spec("A-25")
def test_ties_go_to_the_newer_then_to_the_id() -> None:
    later = EventRef("a", NOON + timedelta(seconds=1))
    assert order([candidate("b"), candidate("c"), candidate("a", ref=later)]) == ["a", "c", "b"]


def test_semantic_order_leaves_out_what_has_no_vector() -> None:
    assert order([candidate("blind"), candidate("seen", vector=NORTH)], Mode.SEMANTIC) == ["seen"]


def test_similarity_is_the_cosine_whatever_the_length() -> None:
    found = similarities([candidate("a", vector=EAST * 3), candidate("b", vector=NORTH), candidate("c")], EAST)
    assert found == [pytest.approx(1.0), pytest.approx(0.0), None]
    assert similarities([candidate("a", vector=EAST)], None) == [None]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Anna", True),
        ("Anna is here", True),
        ("where is Anna", True),
        ("(anna)", True),
        ("xAnna", False),
        ("Annas", False),
        ("Annas and anna", True),
        ("ANNA, not annabel", True),
        ("annabel and xanna, then anna's", True),
        ("annanna", False),
        ("nobody", False),
    ],
)
def test_a_name_is_a_whole_word_wherever_it_stands(text: str, named: bool) -> None:
    assert named_speaker([candidate("1", speaker="Anna"), candidate("2")], text) == [float(named), 0.0]


def test_the_one_person_named_is_preferred_and_two_are_not() -> None:
    anna, ben = candidate("1", speaker="Anna"), candidate("2", speaker="Ben")
    assert named_speaker([anna, ben], "What did ANNA paint?") == [1.0, 0.0]
    assert named_speaker([anna, ben], "Anna's and Ben's dog") == [0.0, 0.0]
    assert named_speaker([anna, ben], "the annals") == [0.0, 0.0]


def test_the_user_is_preferred_only_beside_an_assistant() -> None:
    user, bot = candidate("1"), candidate("2", role="bot")
    assert said_by_user([user, bot]) == [1.0, 0.0]
    assert said_by_user([user, user]) == [0.0, 0.0]


@given(st.permutations([candidate(str(i), vector=EAST * (i % 3 + 1), counts={"dog": i % 4}) for i in range(8)]))
def test_the_order_does_not_depend_on_the_order_of_nomination(shuffled: list[Candidate]) -> None:
    assert order(shuffled) == order(sorted(shuffled, key=lambda c: c.ref.id))


def test_shares_add_up_to_the_score() -> None:
    query = Query(text="dog", terms=("dog",), vector=EAST, mode=Mode.HYBRID)
    pair = [candidate("a", vector=EAST, counts={"dog": 1}), candidate("b", vector=NORTH, role="bot")]
    for one in rank(pair, query, STATISTICS, RankingPolicy()):
        assert sum(one.shares.values()) == pytest.approx(one.score)


def test_in_hybrid_mode_each_signal_is_shown_and_weighed() -> None:
    query = Query(text="What did Anna say of the dog?", terms=("dog",), vector=EAST, mode=Mode.HYBRID)
    half = numpy.array([1, 3**0.5], dtype=numpy.float32)
    best = candidate("best", vector=EAST, counts={"dog": 2}, speaker="Anna")
    next_one = candidate("next", vector=half, counts={"dog": 1}, role="bot", speaker="Ben")
    blind = candidate("blind")
    policy = RankingPolicy(vector=0.4, lexical=0.3, named_speaker=0.2, said_by_user=0.1)
    found = {one.candidate.ref.id: one for one in rank([blind, next_one, best], query, STATISTICS, policy)}
    words = bm25(STATISTICS, {"dog": 2}, 10, ("dog",)), bm25(STATISTICS, {"dog": 1}, 10, ("dog",))
    assert found["best"].signals == {"similarity": 1.0, "bm25": words[0], "named_speaker": 1.0, "said_by_user": 1.0}
    assert found["best"].shares == pytest.approx(
        {"similarity": 0.4, "bm25": 0.3, "named_speaker": 0.2, "said_by_user": 0.1}
    )
    assert found["best"].score == pytest.approx(1.0)
    assert found["next"].signals == {"similarity": 0.5, "bm25": words[1], "named_speaker": 0.0, "said_by_user": 0.0}
    assert found["next"].shares["similarity"] == pytest.approx(0.2)
    assert found["next"].shares["bm25"] == pytest.approx(0.3 * words[1] / words[0])
    assert found["blind"].signals == {"bm25": 0.0, "named_speaker": 0.0, "said_by_user": 1.0}
    assert found["blind"].shares == pytest.approx(
        {"similarity": 0.0, "bm25": 0.0, "named_speaker": 0.0, "said_by_user": 0.1}
    )


@pytest.mark.parametrize(("mode", "name"), [(Mode.SEMANTIC, "similarity"), (Mode.LEXICAL, "bm25")])
def test_one_signal_alone_is_the_score_and_the_other_is_there_to_be_read(mode: Mode, name: str) -> None:
    query = Query(text="dog", terms=("dog",), vector=EAST, mode=mode)
    (one,) = rank([candidate("a", vector=EAST * 2, counts={"dog": 1})], query, STATISTICS, RankingPolicy())
    words = bm25(STATISTICS, {"dog": 1}, 10, ("dog",))
    assert one.signals == {"similarity": 1.0, "bm25": words}
    assert one.score == one.signals[name]
    assert one.shares == {name: 1.0}
    (blind,) = rank([candidate("b", counts={"dog": 1})], replace(query, mode=Mode.LEXICAL), STATISTICS, RankingPolicy())
    assert blind.signals == {"bm25": words}


def test_similarities_have_six_places_whatever_the_lengths_and_nothing_is_like_no_vector_at_all() -> None:
    third = numpy.array([1, 8**0.5], dtype=numpy.float32)
    found = similarities([candidate("a", vector=third * 7), candidate("b", vector=EAST * 0)], EAST * 5)
    assert found == [0.333333, 0.0]


def test_scores_that_differ_by_less_than_a_billionth_are_equal() -> None:
    query = Query(text="", terms=("dog",), vector=None, mode=Mode.LEXICAL)
    old = candidate("old", counts={"dog": 1}, length=10)
    new = candidate("new", counts={"dog": 1}, length=10 + 1e-9, ref=EventRef("new", NOON + timedelta(minutes=1)))
    longer = candidate("longer", counts={"dog": 1}, length=11, ref=EventRef("longer", NOON + timedelta(minutes=2)))
    ranked = rank([longer, old, new], query, STATISTICS, RankingPolicy())
    assert [one.candidate.ref.id for one in ranked] == ["new", "old", "longer"]


def test_the_scale_does_not_depend_on_the_weakest_nomination() -> None:
    assert by_maximum([0.8, 0.4, 0.0]) == [1.0, 0.5, 0.0]
    assert by_maximum([0.8, 0.4]) == [1.0, 0.5]
    assert by_maximum([0.0, 0.0]) == [0.0, 0.0]
    assert by_maximum([]) == []
