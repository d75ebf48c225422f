"""Terms and BM25."""

import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.text.terms import (
    MAX_TERM_CHARACTERS,
    TermStatistics,
    bm25,
    inverse_document_frequency,
    query_terms,
    stem,
    terms,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I went running with the dogs", ["went", "run", "dog"]),
        ("Caroline's café", ["carolin", "café"]),
        ("", []),
        ("the of and", []),
        ("我喜欢看电影", ["我喜", "喜欢", "欢看", "看电", "电影"]),
        ("iPhone用户", ["iphon", "用户"]),
        ("漢abc字x", ["漢", "abc", "字", "x"]),
        ("iphone用户群体x", ["iphon", "用户", "户群", "群体", "x"]),
        ("नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),
    ],
)
def test_the_terms_of_a_text(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


@given(st.text(max_size=300))
def test_terms_of_any_text_are_short_and_stand_alone(text: str) -> None:
    for term in terms(text):
        assert 0 < len(term) <= MAX_TERM_CHARACTERS
        assert not any(character.isspace() for character in term)


def test_a_query_has_each_term_once_and_not_too_many() -> None:
    assert query_terms("run, running runs") == ("run",)
    assert len(query_terms(" ".join(f"word{i}" for i in range(500)))) == 64


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("caresses", "caress"), ("ponies", "poni"), ("agreed", "agre"), ("hopping", "hop"), ("falling", "fall"),
        ("filing", "file"), ("happy", "happi"), ("relational", "relat"), ("adoption", "adopt"), ("rate", "rate"),
        ("controlling", "control"), ("it", "it"), ("naïve", "naïve"), ("mp3s", "mp3s"),
    ],
)  # fmt: skip
def test_stems_are_porters(word: str, expected: str) -> None:
    assert stem(word) == expected


def statistics(*documents: str) -> TermStatistics:
    counted = [Counter(terms(document)) for document in documents]
    frequency = Counter(term for document in counted for term in document)
    return TermStatistics(len(counted), sum(d.total() for d in counted), frequency)


def scored(query: str, document: str, known: TermStatistics) -> float:
    counts = Counter(terms(document))
    return bm25(known, counts, counts.total(), query_terms(query))


def test_bm25_is_the_formula() -> None:
    known = TermStatistics(10, 100, {"dog": 2})
    idf = math.log(1 + (10 - 2 + 0.5) / 2.5)
    assert bm25(known, {"dog": 3}, 10, ["dog"]) == pytest.approx(idf * 3 * 2.2 / (3 + 1.2))


def test_rare_terms_weigh_more_and_long_documents_less() -> None:
    known = statistics("dog park", "dog bone", "dog cat", "sunrise painting")
    assert scored("sunrise", "sunrise painting", known) > scored("dog", "dog park", known) > 0
    assert scored("dog", "dog", known) > scored("dog", "dog " + "filler " * 20, known)
    assert scored("whale", "dog park", known) == 0


def test_an_empty_scope_scores_without_error() -> None:
    empty = TermStatistics(0, 0, {})
    assert inverse_document_frequency(empty, "x") > 0
    assert bm25(empty, {"x": 1}, 1, ["x"]) > 0
