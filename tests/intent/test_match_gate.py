"""Spaces, the match gate and the fallbacks (P-15, R-41, R-83, R-87, R-89, R-108, R-118)."""

from dataclasses import replace
from typing import Any

import pytest

from recollect.intent.ranking import fallback_reason
from recollect.intent.scoring import (
    FallbackReason,
    Matcher,
    MatchGate,
    RetrievalRecord,
    SpaceReach,
    active_alone,
    content_keywords,
    space_reach,
)
from samples.retrieval_records import RULES, analysed, record


def admitted(query: str, *records: RetrievalRecord, active: str | None = "Health", **rules: bool) -> list[str]:
    """The ids of those that the gate lets pass."""
    known = tuple(one.category for one in records if one.category)
    analysis, asked = analysed(query, categories=known), replace(RULES, **rules)
    gate = MatchGate.of(
        analysis, space_reach(analysis, active, asked), records, require_match=asked.require_match
    )  # fmt: skip
    return [one.id for one in records if gate.admits(one, Matcher(one))]


def reason(query: str | None, active: str | None = "Health", **rules: Any) -> FallbackReason | None:
    """Why a query is answered by date."""
    analysis, asked = analysed(query), replace(RULES, **rules)
    return fallback_reason(analysis, space_reach(analysis, active, asked), asked)


@pytest.mark.spec("P-15", "P-6")
def test_content_keywords_are_no_stop_words_no_dates_and_no_spaces() -> None:
    found = analysed("What was my blood pressure in Health last week, blood?")
    assert content_keywords(found) == ("blood", "pressure")
    assert "last" in found.keywords
    assert content_keywords(analysed("Show me 120/80 of 2024-05-07")) == ("show", "120", "80")


@pytest.mark.spec("P-15")
def test_a_record_must_hold_a_content_keyword_or_its_space_be_named() -> None:
    records = (
        record("sugar 5.5", id="word", space_id="Health"),
        record("what was my week", id="stop words", space_id="Health"),
        record("ran five miles", id="space", space_id="Fitness"),
    )
    assert admitted("What was my sugar last week?", *records) == ["word"]
    assert admitted("What was my sugar in Fitness?", *records) == ["word", "space"]
    assert admitted("What was my sugar last week?", *records, require_match=False) == ["word", "stop words", "space"]


@pytest.mark.spec("P-15", "R-83")
def test_a_named_category_that_is_carried_admits_only_what_carries_it() -> None:
    records = (
        record("120/80", id="category", category="Blood pressure"),
        record("my blood pressure was fine", id="phrase"),
        record("a blood test, no pressure", id="words"),
        record("walked", id="other"),
    )
    assert admitted("What was my blood pressure?", *records) == ["category", "phrase"]
    assert admitted("What was my blood pressure?", *records[2:]) == ["words"]


@pytest.mark.spec("R-108", "R-118", "R-P14", "R-P15")
@pytest.mark.parametrize(
    ("query", "active", "allowed", "crosses"),
    [
        ("What did I run?", "Health", {"Health"}, False),
        ("What did I run in Fitness?", "Health", {"Health", "Fitness"}, True),
        ("What is in my health space?", "Health", {"Health"}, False),
        ("What did I run?", None, None, False),
        ("What did I run in fitness?", None, None, True),
    ],
)
def test_the_active_space_and_those_that_are_named(
    query: str, active: str | None, allowed: set[str] | None, crosses: bool
) -> None:
    reach = space_reach(analysed(query), active, RULES)
    assert (reach.allowed, reach.crosses) == (allowed, crosses)


@pytest.mark.spec("R-108")
def test_where_other_spaces_are_not_allowed_naming_one_changes_nothing() -> None:
    query, own = analysed("Compare my Health and Fitness records"), replace(RULES, allow_cross_space=False)
    assert space_reach(query, "Health", own) == SpaceReach(frozenset({"Health"}), frozenset({"Health"}), crosses=False)
    assert active_alone("Health").allowed == frozenset({"Health"})
    assert active_alone(None).allowed is None


@pytest.mark.spec("R-89", "R-P17", "R-P18", "R-64", "R-105", "P-15")
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("What was my blood pressure?", None),
        ("one two three", None),
        ("blood pressure", FallbackReason.SHORT_QUERY),
        ("blood - pressure", FallbackReason.SHORT_QUERY),
        ("blood-pressure of-today right-now", None),
        ("what is it then", FallbackReason.STOP_WORDS_ONLY),
        ("🎉 🎉 🎉", FallbackReason.NO_KEYWORDS),
        ("?!? ... ---", FallbackReason.NO_KEYWORDS),
        ("", FallbackReason.NO_KEYWORDS),
        (None, FallbackReason.NO_KEYWORDS),
        ("What was it last week?", FallbackReason.NO_CONTENT_KEYWORD),
        ("What is in my Fitness?", None),
    ],
)
def test_when_a_query_is_answered_by_date(query: str | None, expected: FallbackReason | None) -> None:
    assert reason(query) is expected


@pytest.mark.spec("R-111")
def test_switched_off_everything_is_answered_by_date() -> None:
    assert reason("What was my blood pressure?", enabled=False) is FallbackReason.DISABLED


@pytest.mark.spec("R-105", "P-15")
def test_the_rules_decide() -> None:
    assert reason("blood pressure", min_query_words=2) is None
    assert reason("What was it last week?", require_match=False) is None
    assert reason("What is in my Fitness?", allow_cross_space=False) is FallbackReason.NO_CONTENT_KEYWORD


@pytest.mark.spec("R-P18")
def test_what_the_conversation_adds_makes_no_query_of_stop_words() -> None:
    follow_up = analysed("and what about it", history=["my blood pressure was high"])
    assert follow_up.context is not None
    assert fallback_reason(follow_up, active_alone(None), RULES) is FallbackReason.STOP_WORDS_ONLY
