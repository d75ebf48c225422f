"""Each signal of the ranking by itself."""

from datetime import UTC, datetime, timedelta

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.core.event import EventRef
from recollect.retrieval.nomination import ASKING, Candidate
from recollect.retrieval.signals import (
    BESIDE,
    ENOUGH_TO_SHARE,
    NEAR,
    Exchanges,
    Vectors,
    by_maximum,
    distinct_part,
    exchange_words,
    lexical_scores,
    named_dates,
    named_speaker,
    said_by_user,
    similarities,
    with_estimates,
)
from recollect.text.dates import date_hints
from recollect.text.terms import bm25
from samples.candidates import EAST, NORTH, STATISTICS, candidate
from samples.events import NOON


def at(name: str, minutes: float, conversation_id: str = "c") -> Candidate:
    ref = EventRef(name, NOON + timedelta(minutes=minutes))
    return candidate(name, ref=ref, conversation_id=conversation_id)


def takes(candidates: list[Candidate], within: int | None = None) -> list[list[bool]]:
    """For each candidate from which others it may take."""
    exchanges, many = Exchanges.of(candidates), range(len(candidates))
    columns = [exchanges.best([float(other == place) for other in many], within) for place in many]
    return [[column[place] == 1.0 for column in columns] for place in many]


exchanges = st.lists(
    st.builds(at, st.uuids().map(str), st.integers(-200, 200), st.sampled_from(["c", "d"])), max_size=12
)
scores = st.floats(-5, 5)


def test_similarity_is_the_cosine_whatever_the_length() -> None:
    three = [candidate("a", vector=EAST * 3), candidate("b", vector=NORTH), candidate("c")]
    assert similarities(Vectors.of(three), EAST, NORTH * 2, None) == [[1.0, 0.0, None], [0.0, 1.0, None], [None] * 3]
    assert similarities(Vectors.of([candidate("a")]), EAST) == [[None]]
    assert similarities(Vectors.of([]), EAST) == [[]]


def test_similarities_have_six_places_whatever_the_lengths_and_nothing_is_like_no_vector_at_all() -> None:
    third = numpy.array([1, 8**0.5], dtype=numpy.float32)
    found = similarities(Vectors.of([candidate("a", vector=third * 7), candidate("b", vector=EAST * 0)]), EAST * 5)
    assert found == [[0.333333, 0.0]]


def test_words_are_scored_by_bm25() -> None:
    found = lexical_scores([candidate("a", counts={"dog": 2}), candidate("b")], STATISTICS, ("dog", "cat"))
    assert found == [bm25(STATISTICS, {"dog": 2}, 10, ("dog", "cat")), 0.0]


def test_near_is_the_same_conversation_within_the_hour() -> None:
    assert takes([at("a", 0), at("b", 60), at("c", 61), at("d", 0, "other")]) == [
        [True, True, False, False],
        [True, True, True, False],
        [False, True, True, False],
        [False, False, False, True],
    ]
    assert timedelta(hours=1) == NEAR


@given(exchanges)
def test_near_is_each_pair_of_one_conversation_within_the_hour(candidates: list[Candidate]) -> None:
    assert takes(candidates) == [
        [a.conversation_id == b.conversation_id and abs(a.timestamp - b.timestamp) <= NEAR for b in candidates]
        for a in candidates
    ]


def test_beside_is_two_places_away_among_the_nominated_of_an_exchange() -> None:
    said = [at("b", 0), at("a", 0), at("c", 30), at("d", 50), at("late", 115), at("a2", 0, "other")]
    assert BESIDE == 2
    assert takes(said, BESIDE) == [
        [True, True, True, True, False, False],
        [True, True, True, False, False, False],
        [True, True, True, True, False, False],
        [True, False, True, True, False, False],
        [False, False, False, False, True, False],
        [False, False, False, False, False, True],
    ]


@given(exchanges)
def test_beside_is_of_the_same_exchange_and_goes_both_ways(candidates: list[Candidate]) -> None:
    near, beside = takes(candidates), takes(candidates, BESIDE)
    assert [list(column) for column in zip(*beside, strict=True)] == beside
    assert all(beside[place][place] for place in range(len(candidates)))
    for around, wider in zip(beside, near, strict=True):
        assert all(one <= other for one, other in zip(around, wider, strict=True))
        assert sum(around) <= 2 * BESIDE + 1


def test_what_all_nominated_share_is_taken_out_of_the_question() -> None:
    first = numpy.array([1, 0, 0], dtype=numpy.float32)
    spread = [numpy.array([1, 0, sign * 0.5 * n], dtype=numpy.float32) for n in range(1, 5) for sign in (1, -1)]
    many = [candidate(str(n), vector=vector) for n, vector in enumerate(spread)]
    assert len(many) == ENOUGH_TO_SHARE
    asked = numpy.array([0.6, 0.8, 0], dtype=numpy.float32)
    left = distinct_part(Vectors.of([*many, candidate("blind")]), asked)
    assert left == pytest.approx([0, 0.8, 0])
    assert distinct_part(Vectors.of(many), first * 3) == pytest.approx([0, 0, 0])
    assert distinct_part(Vectors.of(many[1:]), asked) is asked
    assert distinct_part(Vectors.of(many), None) is None


def test_a_question_of_common_parts_alone_ranks_none_higher() -> None:
    same = [candidate(str(n), vector=EAST * (n + 1)) for n in range(ENOUGH_TO_SHARE)]
    assert similarities(Vectors.of(same), distinct_part(Vectors.of(same), EAST)) == [[0.0] * ENOUGH_TO_SHARE]
    none = Vectors.of([candidate(str(n), vector=EAST * 0) for n in range(9)])
    assert distinct_part(none, NORTH) == pytest.approx([0, 1])


def test_what_stands_alone_is_the_best_of_its_exchange() -> None:
    near = Exchanges.of([at("a", 0), at("b", 10), at("c", 20), at("alone", 0, "other")])
    assert near.best([0.1, 0.7, 0.3, 0.9]) == [0.7, 0.7, 0.7, 0.9]
    assert near.best([-1.0, -2.0, -3.0, -4.0]) == [0.0, 0.0, 0.0, 0.0]
    assert Exchanges.of([]).best([]) == []


@given(st.data(), exchanges)
def test_the_best_near_is_one_of_them_and_none_is_better(data: st.DataObject, candidates: list[Candidate]) -> None:
    values = data.draw(st.lists(scores, min_size=len(candidates), max_size=len(candidates)))
    near = takes(candidates)
    for place, best in enumerate(Exchanges.of(candidates).best(values)):
        around = [value for value, one in zip(values, near[place], strict=True) if one]
        assert best == max([0.0, *around])


def test_an_exchange_has_the_words_of_its_best_too() -> None:
    near = Exchanges.of([at("question", 0), at("answer", 1), at("later", 120)])
    assert exchange_words([3.0, 0.5, 1.0], near.best([3.0, 0.5, 1.0])) == [6.0, 3.5, 2.0]


def test_a_date_counts_the_more_the_narrower_it_is_named() -> None:
    said = [
        candidate(str(i), ref=EventRef(str(i), datetime(*day, tzinfo=UTC)))
        for i, day in enumerate([(2023, 5, 8), (2023, 5, 9), (2023, 6, 8), (2022, 5, 8)])
    ]
    assert named_dates(said, date_hints("What did she do on 8 May 2023?")) == [1.0, 0.5, 0.0, 0.0]
    assert named_dates(said, date_hints("What happened in May?")) == [0.5, 0.5, 0.0, 0.5]
    assert named_dates(said, date_hints("Where was I in 2022?")) == [0.0, 0.0, 0.0, 0.25]
    assert named_dates(said, date_hints("Where was I?")) == [0.0] * 4


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


def test_the_scale_does_not_depend_on_the_weakest_nomination() -> None:
    assert by_maximum([0.8, 0.4, 0.0], [1.0] * 3) == [1.0, 0.5, 0.0]
    assert by_maximum([0.8, 0.4], [1.0] * 2) == [1.0, 0.5]
    assert by_maximum([0.0, 0.0], [1.0] * 2) == [0.0, 0.0]
    assert by_maximum([], []) == []


@given(st.lists(scores))
def test_the_best_has_one_and_the_order_stays(values: list[float]) -> None:
    found = by_maximum(values, [1.0] * len(values))
    assert not values or max(values) <= 0 or max(found) == 1.0
    in_order = [one for _, one in sorted(zip(values, found, strict=True))]
    assert in_order == sorted(found)


@pytest.mark.parametrize(
    ("shares", "known", "words", "estimated"),
    [
        ([], [], [], []),
        ([1.0, 0.4], [True, True], [0.0, 1.0], [1.0, 0.4]),
        ([0.0, 0.0], [False, False], [0.0, 1.0], [0.0, 0.0]),
        ([1.0, 0.4, 0.0], [True, True, False], [0.5, 0.0, 0.0], [1.0, 0.4, 0.7]),
        ([1.0, 0.4, 0.0, 0.0], [True, True, False, False], [0.5, 0.0, 1.0, 0.5], [1.0, 0.4, 1.0, 0.85]),
    ],
)
def test_a_similarity_that_is_not_known_is_the_mean_of_the_known_lifted_by_words(
    shares: list[float], known: list[bool], words: list[float], estimated: list[float]
) -> None:
    assert with_estimates(shares, known, words) == pytest.approx(estimated)


unit_shares = st.floats(0, 1)


@given(st.lists(st.tuples(unit_shares, st.booleans(), unit_shares), max_size=12))
def test_an_estimate_stays_a_share_and_more_words_never_mean_less(rows: list[tuple[float, bool, float]]) -> None:
    shares, known, words = ([row[n] for row in rows] for n in range(3))
    found = with_estimates(shares, known, words)  # type: ignore[arg-type]
    assert all(0 <= one <= 1 + 1e-9 for one in found)
    assert [one for one, is_known in zip(found, known, strict=True) if is_known] == [
        share for share, is_known in zip(shares, known, strict=True) if is_known
    ]
    if any(known):
        unknown = sorted((word, one) for word, one, is_known in zip(words, found, known, strict=True) if not is_known)
        assert [one for _, one in unknown] == sorted(one for _, one in unknown)


def test_what_only_asks_is_no_full_measure_of_the_others() -> None:
    assert by_maximum([0.9, 0.18], [0.5, 1.0]) == pytest.approx([1.0, 0.4])
    assert by_maximum([0.9, 0.9], [0.5, 1.0]) == [1.0, 1.0]


def test_a_question_lends_all_that_it_would_have_to_what_another_voice_says_beside_it() -> None:
    asked = candidate("asked", conversation_id="c", role=ASKING)
    answered = candidate("answered", conversation_id="c", role="bot")
    went_on = candidate("went on", conversation_id="c")
    three = [asked, answered, went_on]
    assert Exchanges.of(three).best([1.0, 0.1, 0.2]) == [0.2, 1.0, 0.2]
