"""Keyword matching (P-3)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.text.phrases import fold, found, whole_word_positions
from samples.steps import assert_linear


@pytest.mark.spec("P-3")
@pytest.mark.parametrize(
    ("text", "keyword", "inside", "whole"),
    [
        ("I know", "now", True, False),
        ("right NOW.", "now", True, True),
        ("now", "now", True, True),
        ("nowhere now", "now", True, True),
        ("what’s up", "what's", True, True),
        ("today＇s", "today's", True, True),
        ("really?yes", "?", True, True),
        ("ça va", "a va", True, False),
        ("कहाँ", "कह", True, False),
        ("我的血压高", "血压", True, True),
        ("x血压y", "血压", True, True),
        ("STRASSE", "straße", True, True),
        ("anything", "", False, False),
        ("any thing", "  ", False, False),
        ("nothing", "else", False, False),
    ],
)
def test_found(text: str, keyword: str, inside: bool, whole: bool) -> None:
    assert found(text, [keyword]) == ((keyword,) if inside else ())
    assert found(text, [keyword], word_boundary=True) == ((keyword,) if whole else ())


def test_keywords_come_in_their_own_order_and_once() -> None:
    assert found("b a", ["a", "b", "a", "c"]) == ("a", "b")


def test_positions_of_whole_words() -> None:
    assert list(whole_word_positions("art party art", "art")) == [0, 10]


@given(st.text(), st.lists(st.text(max_size=5), max_size=5), st.booleans())
def test_any_text_and_keywords(text: str, keywords: list[str], word_boundary: bool) -> None:
    hits = found(text, keywords, word_boundary)
    assert set(hits) <= set(keywords)
    assert set(found(text, keywords, True)) <= set(found(text, keywords, False))
    assert all(fold(hit) in fold(text) for hit in hits)


def test_work_grows_as_the_text_does() -> None:
    assert_linear(lambda size: found("whatever i amp’ " * size, ["i am", "never"], word_boundary=True), 1_000)
