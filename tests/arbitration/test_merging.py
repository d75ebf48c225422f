"""Two statements become one: content, metadata and statistics (A-90 to A-107, P-13)."""

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.arbitration.merging import (
    MergeOptions,
    MetadataStrategy,
    joined,
    merge,
    sentences_of,
    without_duplicates,
)
from recollect.core.event import Source
from samples.statements import CONTENTS, statement, statements


def content(first: str, second: str, strategy: str, **options: Any) -> str:
    """The merged content of two contents."""
    one, other = statement("a", content=first), statement("b", content=second)
    return merge(one, other, MergeOptions(content_strategy=strategy, **options)).statement.content


def known(first: dict[str, Any], second: dict[str, Any], boost: float = 0.1, **strategy: str) -> Any:
    """The merged statement of two of which these things are known."""
    options = MergeOptions(metadata_strategy=MetadataStrategy(**strategy), boost_amount=boost)
    return merge(statement("a", **first), statement("b", **second), options).statement


@pytest.mark.spec("A-93", "P-13")
@pytest.mark.parametrize(
    ("first", "second", "merged"),
    [
        # one sentence is in both, and has what is common: once
        ("Anna likes tea. She has a cat.", "Anna likes tea! She has a dog.",
         "Anna likes tea. She has a cat.\nShe has a dog."),
        ("Anna lives in Paris.", "Paris is where Anna works.", "Anna lives in Paris.\nParis is where Anna works."),
        # what both say without a common keyword goes
        ("It is so. Anna likes tea.", "It is so. Tea is good.", "Anna likes tea.\nTea is good."),
        # the second adds nothing
        ("Anna likes tea. Anna runs.", "anna likes tea", "Anna likes tea. Anna runs."),
        # nothing in common
        ("Anna likes tea.", "Bob runs.", "Anna likes tea.\nBob runs."),
        ("It is so.", "It is so.", "It is so.\nIt is so."),
    ],
)  # fmt: skip
def test_summarize_keeps_what_is_common_and_what_only_one_says(first: str, second: str, merged: str) -> None:
    assert content(first, second, "summarize") == merged


@pytest.mark.spec("A-93")
def test_keywords_that_were_given_are_common_too() -> None:
    first = statement("a", content="It is so. He is there.", keywords=("he is",))
    second = statement("b", content="It is so. He is there. He was not.", keywords=("He is",))
    merged = merge(first, second, MergeOptions("summarize")).statement.content
    assert merged == "He is there.\nHe was not."


@given(CONTENTS, CONTENTS)
def test_a_summary_loses_no_sentence_that_only_one_has(first: str, second: str) -> None:
    merged = {one.key for one in sentences_of(content(first, second, "summarize"))}
    ours, theirs = ({one.key for one in sentences_of(text)} for text in (first, second))
    assert ours ^ theirs <= merged


@pytest.mark.spec("A-94")
@pytest.mark.parametrize(
    ("second", "strategy"),
    [
        ("a1 a2 a3 a4 a5 a6 a7 a8 a9", "summarize"),  # 9 of 10
        ("a1 a2 a3 a4 a5 a6 a7", "concatenate"),  # 7 of 10: the threshold itself
        ("A1 A2 A3 A4 A5 A6 A7 A8 A9 A10!", "summarize"),
        ("b", "concatenate"),
    ],
)
def test_smart_summarizes_what_is_alike(second: str, strategy: str) -> None:
    first = "a1 a2 a3 a4 a5 a6 a7 a8 a9 a10"
    assert content(first, second, "smart") == content(first, second, strategy)


def test_smart_says_the_same_thing_once() -> None:
    assert content("I like tea.", "i like tea", "smart") == "I like tea."


@pytest.mark.spec("A-103", "A-105")
def test_the_documented_defaults() -> None:
    assert (MergeOptions().boost_amount, MergeOptions().deduplication_threshold) == (0.1, 0.8)


RANKED = [*(source.value for source in Source), "rumour"]


@pytest.mark.spec("A-101")
@pytest.mark.parametrize(("higher", "lower"), [(a, b) for i, a in enumerate(RANKED) for b in RANKED[i + 1 :]])
def test_the_more_trusted_source_stays(higher: str, lower: str) -> None:
    assert known({"source": higher}, {"source": lower}).source == higher
    assert known({"source": lower}, {"source": higher}).source == higher


@pytest.mark.spec("A-104", "P-13")
@pytest.mark.parametrize(
    ("text", "left", "removed"),
    [
        ("A cat. A dog. A cat.", "A cat. A dog.", 1),
        ("I like tea\nI like tea", "I like tea", 1),
        ("I like tea.\nA cat.\n\nI LIKE  TEA!\nA dog.", "I like tea.\nA cat.\n\nA dog.", 1),
        ("我喜欢茶。我喜欢茶！再见？再见。", "我喜欢茶。再见？", 2),
        ("Is it? Is it? Wow!! Wow!", "Is it? Wow!!", 2),
        ("Tea is good.Tea is good.", "Tea is good.", 1),
        ("Tea is good!Tea is good!", "Tea is good!", 1),
        ('She said "Go." She said "Go." Done', 'She said "Go." Done', 1),
        ("A. B.\nB. C.", "A. B.\nC.", 1),
    ],
)
def test_a_sentence_that_stands_there_already_is_taken_out(text: str, left: str, removed: int) -> None:
    found = without_duplicates(text, 0.8)
    assert (found.text, found.removed) == (left, removed)


@pytest.mark.spec("A-104", "P-13")
@pytest.mark.parametrize(
    "text",
    [
        "It costs 2.5 euros. It weighs 2.5 kg.",
        "See www.example.com/a.b?c. Also www.example.com.",
        "I use Node.js. You use Deno.js.",
        "Dr. Smith came. Dr. Jones left.",
        "J. R. R. Tolkien wrote. J. K. Rowling wrote more.",
        "1. Apples\n1. Pears\n2. Plums",
        "Buy e.g. tea. Sell e.g. cars.",
        "Take No. 5 home. Leave No. 5 there now.",
        "  one\t\n\n\n two ...  ",
        "---\na\n---\nb",
        "U.S. troops left. U.S. farmers stayed.",
        "",
    ],
)
def test_undamaged_text_stays_as_it_is(text: str) -> None:
    assert (without_duplicates(text, 0.8).text, without_duplicates(text, 0.8).removed) == (text, 0)


@pytest.mark.spec("A-105", "P-13")
@pytest.mark.parametrize(("threshold", "removed"), [(0.81, 0), (0.8, 1), (0.79, 1), (0.5, 1), (1.0, 0), (0.0, 1)])
def test_the_threshold_is_a_jaccard_ratio_and_inclusive(threshold: float, removed: int) -> None:
    text = "we live in Paris. We live in Paris now."  # 4 of 5
    merged = merge(
        statement("a", content="we live in Paris."),
        statement("b", content="We live in Paris now."),
        MergeOptions("concatenate", deduplicate=True, deduplication_threshold=threshold),
    )
    assert without_duplicates(text, threshold).removed == removed
    assert merged.statistics.deduplicated_count == removed


@pytest.mark.spec("A-104")
def test_without_being_asked_nothing_is_taken_out() -> None:
    assert content("I like tea.", "I like tea.", "concatenate") == "I like tea.\nI like tea."
    assert content("I like tea.", "I like tea.", "concatenate", deduplicate=True) == "I like tea."


@given(CONTENTS | st.text(max_size=60))
def test_sentences_put_together_are_the_text(text: str) -> None:
    assert joined(sentences_of(text)) == text


@given(CONTENTS, st.floats(0, 1))
def test_taking_out_twice_takes_no_more(text: str, threshold: float) -> None:
    once = without_duplicates(text, threshold)
    assert once.removed + len(sentences_of(once.text)) == len(sentences_of(text))
    assert without_duplicates(once.text, threshold).removed == 0


@pytest.mark.parametrize(
    "text",
    [". " * 50_000, "." * 60_000 + "a", "a.B " * 30_000, "A. " * 40_000, " ".join(f"the x{i}." for i in range(9_000))],
)
def test_the_longest_contents_take_no_time(text: str) -> None:
    started = time.thread_time()
    without_duplicates(text, 0.1)
    assert time.thread_time() - started < 60  # a guard against what backtracks, no figure


OPTIONS = st.builds(
    MergeOptions,
    st.sampled_from(["concatenate", "replace", "summarize", "smart"]),
    st.builds(
        MetadataStrategy,
        st.sampled_from(["max", "boost", "average"]),
        keywords=st.sampled_from(["union", "intersection"]),
    ),
    st.floats(0, 1),
    st.booleans(),
    st.floats(0, 1),
)


@pytest.mark.spec("A-90", "A-106", "A-107")
@given(statements("a"), statements("b"), OPTIONS)
def test_statistics_fit_the_merged_statement(first: Any, second: Any, options: MergeOptions) -> None:
    merged = merge(first, second, options)
    one, told = merged.statement, merged.statistics
    assert one.content
    assert 0 <= one.importance <= 1
    assert (told.content_length, told.keywords_count) == (len(one.content), len(one.keywords))
    assert told.importance_delta == one.importance - max(first.importance, second.importance)
    assert (told.deduplicated_count == 0) or options.deduplicate
    assert one.embedding is None or one.content in (first.content, second.content)


def test_a_vector_stays_only_with_its_content() -> None:
    first, second = statement("a", embedding=[1.0]), statement("b", content="x", embedding=[2.0])
    assert merge(first, second, MergeOptions("concatenate")).statement.embedding is None
    assert merge(first, second, MergeOptions("replace")).statement.embedding is second.embedding
