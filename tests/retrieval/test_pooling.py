"""One vector of many tokens: whose count, and how much; and what a similarity means (A-28)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.core.vectors import Encoding, FloatArray, TokenVectors, own_start
from recollect.retrieval.pooling import (
    COSINE,
    WEAK_WEIGHT,
    SimilarityScale,
    passage_vector,
    query_vector,
    token_weights,
    weighted_query_vector,
)
from recollect.text.terms import TermStatistics, inverse_document_frequency

WHOLE = np.array([0, 0, 1], np.float32)


def encoding(text: str, *tokens: str, vectors: list[list[float]] | None = None) -> Encoding:
    """The text's encoding with these tokens, found one after the other, on axes of their own unless given."""
    spans, end = [], 0
    for token in tokens:
        start = text.index(token, end)
        end = start + len(token)
        spans.append((start, end))
    rows = np.array(vectors, np.float32) if vectors else np.eye(len(tokens), 3, dtype=np.float32)
    return Encoding(WHOLE, TokenVectors(rows.reshape(-1, 3), tuple(spans)))


def test_only_the_own_tokens_of_a_passage_are_summed() -> None:
    text = "Anna on 8 May 2023: tea"
    found = passage_vector(encoding(text, "Anna", "tea"), own_start(text))
    assert found.tolist() == [0.0, 1.0, 0.0]


@pytest.mark.parametrize(
    "given_encoding",
    [
        Encoding(WHOLE, None),
        Encoding(WHOLE, TokenVectors(np.zeros((0, 3), np.float32), ())),
        encoding("tea", "tea", vectors=[[0, 0, 0]]),
    ],
)
def test_without_own_tokens_the_embedders_vector_stays(given_encoding: Encoding) -> None:
    assert passage_vector(given_encoding, 0).tolist() == WHOLE.tolist()
    assert query_vector(given_encoding, "tea").tolist() == WHOLE.tolist()


def test_weak_words_and_marks_of_a_question_count_half() -> None:
    text = "the tea ?"
    assert token_weights(text, [(0, 3), (3, 7), (8, 9)], lambda _terms: 1.0) == [WEAK_WEIGHT, 1.0, WEAK_WEIGHT]
    found = query_vector(encoding(text, "the", "tea", "?"), text)
    assert found == pytest.approx(np.array([1, 2, 1]) / 6**0.5)


def test_a_piece_has_the_weight_of_its_word_and_a_piece_of_cjk_of_what_it_touches() -> None:
    asked: list[list[str]] = []

    def note(terms: object) -> float:
        asked.append(list(terms))  # type: ignore[call-overload]
        return 1.0

    token_weights("unbelievable 我喜欢看电影", [(0, 2), (2, 12), (14, 16)], note)
    assert asked == [["unbeliev"], ["unbeliev"], ["我喜", "喜欢", "欢看"]]


def test_among_the_nominated_the_rare_words_of_the_question_count_more() -> None:
    statistics = TermStatistics(100, 1000, {"tea": 50, "lisbon": 1})
    text = "tea Lisbon 茶"
    tokens = encoding(text, "tea", "Lisbon", "茶").tokens
    assert tokens is not None
    found = weighted_query_vector(tokens, text, statistics)
    tea, lisbon = (inverse_document_frequency(statistics, term) for term in ("tea", "lisbon"))
    expected = np.array([tea, lisbon, (tea + lisbon) / 2])
    assert found == pytest.approx(expected / np.linalg.norm(expected), abs=1e-6)


def test_statistics_of_nothing_weigh_all_words_alike() -> None:
    tokens = encoding("tea Lisbon", "tea", "Lisbon").tokens
    assert tokens is not None
    found = weighted_query_vector(tokens, "tea Lisbon", TermStatistics(0, 0, {}))
    assert found == pytest.approx(np.array([1, 1, 0]) / 2**0.5)


@st.composite
def spoken(draw: st.DrawFn) -> tuple[str, Encoding]:
    words = draw(st.lists(st.sampled_from(["tea", "the", "我喜欢", "?", "Lisbon"]), max_size=8))
    numbers = st.lists(st.floats(-1, 1, width=32), min_size=3, max_size=3)
    vectors = draw(st.lists(numbers, min_size=len(words), max_size=len(words)))
    return " ".join(words), encoding(" ".join(words), *words, vectors=vectors)


@given(spoken(), st.integers(0, 40))
def test_every_vector_has_length_one(one: tuple[str, Encoding], own_from: int) -> None:
    text, encoded = one
    found: list[FloatArray] = [passage_vector(encoded, own_from), query_vector(encoded, text)]
    for vector in found:
        assert vector.dtype == np.float32
        assert float(np.linalg.norm(vector)) == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize(
    ("passage", "own"),
    [
        ("Anna on 8 May 2023: I live in Paris", "I live in Paris"),
        ("Anna (8 May 2023): I live in Paris", "I live in Paris"),
        ("Anna on 8 May 2023: Ben on 9 May 2023: hello", "Ben on 9 May 2023: hello"),
        ("We met on 8 May: hello", "We met on 8 May: hello"),
        ("Anna (8 May 2023): Ben (9 May 2023): hello", "Ben (9 May 2023): hello"),
        ("I live in Paris", "I live in Paris"),
        ("Anna: hello", "Anna: hello"),
        ("Anna (8 Mai 2023): hello", "Anna (8 Mai 2023): hello"),
        ("Anna (8 May 2023): ", "Anna (8 May 2023): "),
        ("line\nAnna (8 May 2023): hello", "line\nAnna (8 May 2023): hello"),
        ("", ""),
    ],
)
def test_a_passages_own_text_begins_after_its_head(passage: str, own: str) -> None:
    assert passage[own_start(passage) :] == own


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
