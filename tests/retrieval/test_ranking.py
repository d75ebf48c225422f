"""The order of results: one for every engine."""

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
    on_scale,
    rank,
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


UNTIMED = {"recent": 0.0, "outdone": 0.0, "renewed": 0.0}


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
        own | hints | {"exchange": 0.2 * whole, "beside": 0.2 * whole, **UNTIMED}
    )
    assert found["best"].score == pytest.approx(1.4 * whole)
    assert found["best"].signals == pytest.approx(
        {"similarity": 1.0, "weighted_similarity": 1.0, "distinct_similarity": 1.0, "bm25": words[0]}
        | {"exchange_words": 2 * words[0], "named_date": 1.0, "named_speaker": 1.0, "said_by_user": 1.0}
        | {"exchange": whole, "beside": whole, **UNTIMED}
    )
    share = words[1] / words[0]
    alone = 0.125 + (0.075 + 0.05) * share
    assert found["next"].signals == pytest.approx(
        {"similarity": 0.5, "weighted_similarity": 0.5, "distinct_similarity": 0.5, "bm25": words[1]}
        | {"exchange_words": 2 * words[1], "named_date": 0.0, "named_speaker": 0.0, "said_by_user": 0.0}
        | {"exchange": alone, "beside": alone, **UNTIMED}
    )
    assert found["next"].shares["weighted_similarity"] == pytest.approx(0.0875)
    assert found["next"].shares["bm25"] == pytest.approx(0.075 * share)
    assert found["blind"].signals == pytest.approx(
        {"bm25": 0.0, "exchange_words": words[0], "named_date": 1.0, "named_speaker": 0.0, "said_by_user": 1.0}
        | {"exchange": whole, "beside": whole, **UNTIMED}
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
    of_others = {"exchange", "beside", "recent", "outdone", "renewed"}
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
