"""The order of results: one for every engine; of two that are alike the newer first, where the question is of now."""

from dataclasses import fields, replace
from datetime import timedelta
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.core.event import EventRef
from recollect.core.vectors import TokenVectors
from recollect.retrieval.nomination import ASKING, Candidate
from recollect.retrieval.pooling import COSINE, SimilarityScale
from recollect.retrieval.ranking import (
    Mode,
    Query,
    Ranked,
    RankingPolicy,
    asks_of_now,
    on_scale,
    rank,
    recency_tiebreak,
)
from recollect.text.terms import bm25
from samples.candidates import EAST, NORTH, STATISTICS, candidate
from samples.events import NOON


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


def test_what_has_no_vector_yet_stands_where_its_words_put_it() -> None:
    """Others have one, and say nothing of the dog: without an estimate they would all be before it."""
    likely = numpy.array([4, 3], dtype=numpy.float32)
    unlike = [candidate(f"unlike{n}", vector=likely) for n in range(20)]
    wordy = candidate("wordy", counts={"dog": 2})
    silent, nearest = candidate("silent"), candidate("nearest", vector=EAST, counts={"dog": 2})
    assert set(order([*unlike, silent, wordy, nearest])[:2]) == {"nearest", "wordy"}
    assert order([*unlike, silent, wordy])[0] == "wordy"
    assert order([*unlike, candidate("of another matter", vector=NORTH), silent])[-1] == "of another matter"


@given(st.permutations([candidate(str(i), vector=EAST * (i % 3 + 1), counts={"dog": i % 4}) for i in range(8)]))
def test_the_order_does_not_depend_on_the_order_of_nomination(shuffled: list[Candidate]) -> None:
    assert order(shuffled) == order(sorted(shuffled, key=lambda c: c.ref.id))


def test_shares_add_up_to_the_score() -> None:
    query = Query(text="dog", terms=("dog",), vector=EAST, mode=Mode.HYBRID)
    pair = [candidate("a", vector=EAST, counts={"dog": 1}), candidate("b", vector=NORTH, role="bot")]
    for one in rank(pair, query, STATISTICS, RankingPolicy()):
        assert sum(one.shares.values()) == pytest.approx(one.score)


def test_in_hybrid_mode_each_signal_is_shown_and_weighed() -> None:
    query = Query(text="What did Anna say of the dog on 1 May 2024?", terms=("dog",), vector=EAST, mode=Mode.HYBRID)
    half = numpy.array([1, 3**0.5], dtype=numpy.float32)
    best = candidate("best", vector=EAST, counts={"dog": 2}, speaker="Anna", conversation_id="c")
    yesterday = EventRef("next", NOON - timedelta(days=1))
    next_one = candidate("next", ref=yesterday, vector=half, counts={"dog": 1}, role="bot", speaker="Ben")
    blind = candidate("blind", conversation_id="c")
    ranked = rank([blind, next_one, best], query, STATISTICS, RankingPolicy())
    found = {one.candidate.ref.id: one for one in ranked}
    words = bm25(STATISTICS, {"dog": 2}, 10, ("dog",)), bm25(STATISTICS, {"dog": 1}, 10, ("dog",))
    own = {"weighted_similarity": 0.175, "distinct_similarity": 0.075, "bm25": 0.075, "exchange_words": 0.05}
    hints = {"named_date": 0.1, "named_speaker": 0.1, "said_by_user": 0.15}
    whole = sum((own | hints).values())
    assert found["best"].shares == pytest.approx(
        own | hints | {"exchange": 0.2 * whole, "beside": 0.2 * whole, "newer_of_alike": 0.0}
    )
    assert found["best"].score == pytest.approx(1.4 * whole)
    assert found["best"].signals == pytest.approx(
        {"similarity": 1.0, "weighted_similarity": 1.0, "distinct_similarity": 1.0, "bm25": words[0]}
        | {"exchange_words": 2 * words[0], "named_date": 1.0, "named_speaker": 1.0, "said_by_user": 1.0}
        | {"exchange": whole, "beside": whole, "newer_of_alike": 0.0}
    )
    share = words[1] / words[0]
    alone = 0.125 + (0.075 + 0.05) * share
    assert found["next"].signals == pytest.approx(
        {"similarity": 0.5, "weighted_similarity": 0.5, "distinct_similarity": 0.5, "bm25": words[1]}
        | {"exchange_words": 2 * words[1], "named_date": 0.0, "named_speaker": 0.0, "said_by_user": 0.0}
        | {"exchange": alone, "beside": alone, "newer_of_alike": 0.0}
    )
    assert found["next"].shares["weighted_similarity"] == pytest.approx(0.0875)
    assert found["next"].shares["bm25"] == pytest.approx(0.075 * share)
    assert found["blind"].signals == pytest.approx(
        {"bm25": 0.0, "exchange_words": words[0], "named_date": 1.0, "named_speaker": 0.0, "said_by_user": 1.0}
        | {"exchange": whole, "beside": whole, "newer_of_alike": 0.0}
    )


def test_what_stands_beside_is_lifted_above_what_is_farther_off_in_the_exchange() -> None:
    def said(name: str, minutes: float, **changes: Any) -> Candidate:
        return candidate(name, ref=EventRef(name, NOON + timedelta(minutes=minutes)), conversation_id="c", **changes)

    far, near = said("far", 0), said("near", 8)
    hit = said("hit", 9, counts={"dog": 1})
    between = [said(f"between {minute}", minute, counts={"dog": 1}, length=40) for minute in (5, 6, 7)]
    found = order([far, near, hit, *between], vector=None)
    assert found[0] == "hit"
    assert found.index("near") < found.index("far")


def test_the_particular_goes_before_what_is_like_everything_nominated() -> None:
    def unit(*numbers: float) -> Any:
        vector = numpy.array(numbers, dtype=numpy.float32)
        return vector / numpy.linalg.norm(vector)

    talk = [candidate(f"talk {n}", vector=unit(1, 0, 0.1 * n)) for n in range(8)]
    general, particular = candidate("general", vector=unit(1, 0.3, 0)), candidate("particular", vector=unit(0.2, 1, 0))
    query = Query(text="", terms=(), vector=unit(1, 0.8, 0), mode=Mode.HYBRID)
    alike = [one.candidate.ref.id for one in rank([*talk, general, particular], query, STATISTICS, _by_meaning(0.0))]
    apart = [one.candidate.ref.id for one in rank([*talk, general, particular], query, STATISTICS, _by_meaning(0.2))]
    assert (alike[0], apart[0]) == ("general", "particular")


def _by_meaning(distinct: float) -> RankingPolicy:
    off = {field.name: 0.0 for field in fields(RankingPolicy)}
    return RankingPolicy(**off | {"weighted_similarity": 0.2, "distinct_similarity": distinct})


def test_an_answer_is_lifted_by_the_question_beside_it() -> None:
    asked = candidate("asked", vector=EAST, counts={"dog": 1}, conversation_id="c")
    answered = candidate("answered", vector=NORTH, conversation_id="c")
    elsewhere = candidate("elsewhere", vector=NORTH)
    assert order([elsewhere, answered, asked]) == ["asked", "answered", "elsewhere"]


def test_a_rare_word_of_the_question_turns_its_vector() -> None:
    tokens = TokenVectors(numpy.stack([EAST, NORTH]), ((0, 3), (4, 7)))
    query = Query(text="dog cat", terms=("dog", "cat"), vector=EAST, mode=Mode.HYBRID, tokens=tokens)
    pair = [candidate("cats", vector=NORTH), candidate("dogs", vector=EAST)]
    first, second = rank(pair, query, STATISTICS, RankingPolicy())
    assert (first.candidate.ref.id, second.candidate.ref.id) == ("dogs", "cats")
    assert first.signals["weighted_similarity"] > second.signals["weighted_similarity"] > 0
    assert second.signals["similarity"] == 0.0


@pytest.mark.parametrize("name", [field.name for field in fields(RankingPolicy)])
def test_each_weight_is_that_of_the_signal_of_its_name(name: str) -> None:
    off = RankingPolicy(**{field.name: 0.0 for field in fields(RankingPolicy)})
    query = Query(text="What did Anna say of the dog on 1 May 2024?", terms=("dog",), vector=EAST, mode=Mode.HYBRID)
    anna = candidate("a", vector=EAST, counts={"dog": 1}, speaker="Anna", conversation_id="c")
    bot = candidate("b", role="bot", conversation_id="c", ref=EventRef("b", NOON + timedelta(minutes=1)))
    alone = {one.candidate.ref.id: one for one in rank([anna, bot], query, STATISTICS, replace(off, **{name: 0.5}))}
    of_others = {"exchange", "beside", "newer_of_alike"}
    assert alone["a"].score == pytest.approx(0.0 if name in of_others else 0.5)
    assert {share for share, value in alone["a"].shares.items() if value} == ({name} - of_others)


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


def test_scores_that_differ_by_less_than_a_billionth_are_equal() -> None:
    query = Query(text="", terms=("dog",), vector=None, mode=Mode.LEXICAL)
    old = candidate("old", counts={"dog": 1}, length=10)
    new = candidate("new", counts={"dog": 1}, length=10 + 1e-9, ref=EventRef("new", NOON + timedelta(minutes=1)))
    longer = candidate("longer", counts={"dog": 1}, length=11, ref=EventRef("longer", NOON + timedelta(minutes=2)))
    ranked = rank([longer, old, new], query, STATISTICS, RankingPolicy())
    assert [one.candidate.ref.id for one in ranked] == ["new", "old", "longer"]


def test_a_question_asked_before_stands_below_a_statement() -> None:
    asked = candidate("asked", role=ASKING, counts={"dog": 2}, vector=EAST)
    stated = candidate("stated", counts={"dog": 1}, vector=numpy.array([1, 2], dtype=numpy.float32))
    assert order([asked, stated]) == ["stated", "asked"]
    assert order([asked, stated], Mode.SEMANTIC) == order([asked, stated], Mode.LEXICAL) == ["asked", "stated"]


def test_similarities_stand_in_place_of_cosines_and_the_cosines_beside_them() -> None:
    scale = SimilarityScale(midpoint=0.2, slope=10.0)
    ranked = [Ranked(candidate("a"), 0.4, {"similarity": 0.3, "bm25": 1.0}, {}), Ranked(candidate("b"), 0.1, {}, {})]
    first, second = on_scale(ranked, scale, Mode.SEMANTIC)
    assert first.signals == {"similarity": round(scale.similarity(0.3), 6), "bm25": 1.0, "cosine": 0.3}
    assert first.score == first.signals["similarity"]
    assert second == ranked[1]
    assert on_scale(ranked, scale, Mode.HYBRID)[0].score == 0.4
    assert on_scale(ranked, COSINE, Mode.SEMANTIC) == tuple(ranked)


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
