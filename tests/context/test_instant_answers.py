"""The texts of an instant answer, of whatever form (K-82)."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.context.extractive_answer import plain_text, texts_of

GROUP = {"Name": "See also", "Topics": [{"Text": "in group 1"}, {"Text": "in group 2"}]}


@pytest.mark.spec("K-82")
@pytest.mark.parametrize(
    ("answer", "texts"),
    [
        ({"AbstractText": "abstract", "RelatedTopics": [{"Text": "topic"}]}, ("abstract",)),
        ({"AbstractText": " \n", "RelatedTopics": [{"Text": "topic"}]}, ("topic",)),
        ({"RelatedTopics": [{"Text": str(n)} for n in range(5)]}, ("0", "1", "2")),
        ({"RelatedTopics": [{"Text": ""}, {"FirstURL": "u"}, {"Text": "a"}]}, ("a",)),
        ({"RelatedTopics": [GROUP, {"Text": "after"}]}, ("in group 1", "in group 2", "after")),
        ({"RelatedTopics": [{"Text": "before"}, GROUP]}, ("before", "in group 1", "in group 2")),
        ({"RelatedTopics": [{"Topics": [GROUP]}]}, ("in group 1", "in group 2")),
        ({"AbstractText": 7, "RelatedTopics": "none"}, ()),
        ({"AbstractText": None, "RelatedTopics": [None, 1, "x", [], {"Text": 3, "Topics": {}}]}, ()),
        ({}, ()),
        ([], ()),
        (None, ()),
    ],
)
def test_abstract_else_topics(answer: Any, texts: tuple[str, ...]) -> None:
    assert texts_of(answer) == texts


def test_a_text_is_one_plain_line() -> None:
    assert plain_text("  a\r\nb\u2028c\x00\x1b[31m \u202ed\ud800 \t ") == "a b c[31m d"
    assert plain_text("日本 🙂 👩\u200d💻") == "日本 🙂 👩\u200d💻"
    assert plain_text("x" * 1_000) == "x" * 1_000
    assert plain_text("x" * 5_000) == "x" * 999 + "…"


def test_nesting_without_end_is_no_trouble() -> None:
    topic: dict[str, Any] = {"Text": "deep"}
    for _ in range(100_000):
        topic = {"Topics": [topic]}
    assert texts_of({"RelatedTopics": [topic]}) == ("deep",)
    while topic.get("Topics"):  # taken apart from outside: dropping it whole would recurse
        topic = topic["Topics"].pop()


JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["Text", "Topics", "RelatedTopics"]), inner),
)


@given(JSON, JSON)
def test_any_answer_gives_up_to_three_bounded_texts(abstract: Any, topics: Any) -> None:
    texts = texts_of({"AbstractText": abstract, "RelatedTopics": topics})
    assert len(texts) <= 3
    assert all(0 < len(text) <= 1_000 and "\n" not in text for text in texts)
