"""The relevance scorer (R-32 to R-38, R-70, R-71, R-79, R-P4, R-P6, R-P7, R-P9)."""

from collections.abc import Iterable
from datetime import datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.intent.scoring import Matcher, Relevance, RetrievalRecord, folded_keywords, recency_score, scored
from recollect.text.terms import extract_keywords
from samples.retrieval_records import NOW, record


def score(one: RetrievalRecord, keywords: Iterable[str]) -> Relevance:
    return scored(one, Matcher(one), folded_keywords(keywords), NOW)


@pytest.mark.spec("R-33", "R-79")
def test_the_keyword_score_is_the_share_that_matches() -> None:
    assert score(record("one two"), ["one", "two", "three", "four"]).keyword_match == 0.5
    assert score(record("one two"), []).keyword_match == 0.0
    assert score(record("one"), ["one", "one", "two"]).keyword_match == pytest.approx(2 / 3)


@pytest.mark.spec("R-34", "R-79")
@pytest.mark.parametrize(
    ("days", "expected"), [(0, 1.0), (0.5, 1 - 0.5 / 90), (45, 0.5), (90, 0.0), (400, 0.0), (-3, 1.0)]
)
def test_recency_falls_to_nothing_in_ninety_fractional_days(days: float, expected: float) -> None:
    assert recency_score(record(days=days), NOW) == pytest.approx(expected)


@pytest.mark.spec("R-36")
@pytest.mark.parametrize(
    ("text", "keyword"), [("BLOOD", "blood"), ("blood", "BLOOD"), ("Straße", "STRASSE"), ("ΣΊΣΥΦΟΣ", "σίσυφος")]
)
def test_case_does_not_matter(text: str, keyword: str) -> None:
    assert score(record(text), [keyword]).keyword_match == 1.0


@pytest.mark.spec("R-37", "R-07", "P-6")
@pytest.mark.parametrize(
    ("text", "keyword", "matches"),
    [
        ("medications", "medication", True),
        ("medication", "medications", False),
        ("running", "run", True),
        ("this is it", "is", True),
        ("this", "is", False),
        ("basis", "is", False),
        ("какой-то", "то", True),
        ("давление", "да", True),
        ("5.5 mmol", "5", True),
        ("15 mmol", "5", False),
        ("我的血压", "血压", True),
    ],
)
def test_a_keyword_matches_inside_words_and_a_short_ascii_one_as_a_whole(
    text: str, keyword: str, matches: bool
) -> None:
    assert score(record(text), [keyword]).keyword_match == float(matches)


@pytest.mark.spec("R-71", "R-79")
@pytest.mark.parametrize("created_at", [None, datetime(2024, 5, 1)])
def test_without_an_instant_there_is_no_score(created_at: datetime | None) -> None:
    with pytest.raises(ValueError):
        score(record(created_at=created_at), ["blood"])


@pytest.mark.spec("R-P4", "R-81", "R-82")
@settings(max_examples=300)
@given(st.text(), st.lists(st.text(min_size=1)), st.floats(-40_000, 40_000))
def test_relevance_is_bounded(content: str, keywords: list[str], days: float) -> None:
    found = score(record(content, days), keywords)
    assert all(0 <= value <= 1 for value in (found.relevance, found.keyword_match, found.recency))


@pytest.mark.spec("R-P7", "R-81", "R-82")
@settings(max_examples=300)
@given(st.text(st.characters(categories=("L", "Nd")), min_size=1, max_size=30))
def test_what_a_text_says_matches_it_in_any_language(text: str) -> None:
    keywords = extract_keywords(text)
    assert score(record(text), keywords).keyword_match == float(bool(keywords))


@pytest.mark.spec("R-P9", "R-81", "R-82")
@settings(max_examples=300)
@given(st.floats(0, 89), st.floats(0.001, 1))
def test_of_equal_keywords_the_newer_is_more_relevant(days: float, younger: float) -> None:
    newer, older = (score(record(days=age), ["blood"]).relevance for age in (days, days + younger))
    assert newer > older


@pytest.mark.spec("R-34")
def test_instants_of_any_zone_are_compared() -> None:
    from datetime import timezone

    elsewhere = (NOW - timedelta(days=45)).astimezone(timezone(timedelta(hours=9)))
    assert recency_score(record(created_at=elsewhere), NOW) == pytest.approx(0.5)
