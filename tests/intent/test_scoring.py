"""Scores, privacy, spaces, match gate and redaction of retrieval by intent (R-32 to R-42, R-83, R-87, R-89, P-15)."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.intent.ranking import fallback_reason
from recollect.intent.scoring import (
    FallbackReason,
    Matcher,
    MatchGate,
    PrivacyFilter,
    Redaction,
    Relevance,
    RetrievalRecord,
    active_alone,
    content_keywords,
    folded_keywords,
    recency_score,
    scored,
    space_reach,
)
from recollect.retrieval.filters import DropReason
from recollect.rules.groups import IntentRules
from recollect.text.terms import extract_keywords
from samples.retrieval_records import NOW, RULES, analysed, record

HEALTH = PrivacyFilter(frozenset({"Health"}))


@pytest.mark.spec("R-39", "R-40", "R-41", "R-80")
@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"space_id": "Health"}, None),
        ({"space_id": "Health", "is_deleted": True}, DropReason.DELETED),
        ({"space_id": "Health", "is_private": True}, DropReason.PRIVATE),
        ({"space_id": "Fitness"}, DropReason.FILTER),
        ({"space_id": None}, DropReason.FILTER),
        ({"space_id": "health"}, DropReason.FILTER),
        ({"space_id": "Fitness", "is_private": True, "is_deleted": True}, DropReason.DELETED),
    ],
)
def test_deleted_private_and_other_spaces(changes: dict[str, Any], reason: DropReason | None) -> None:
    assert HEALTH.reason(record(**changes)) is reason


@pytest.mark.spec("R-41")
def test_without_allowed_spaces_every_space_is_allowed_and_the_order_stays() -> None:
    records = [record(space_id=space, is_private=space == "Fitness") for space in ("Health", "Fitness", None, "Travel")]
    assert PrivacyFilter().filter(records) == [records[0], *records[2:]]
    assert HEALTH.filter([*records, records[0]]) == [records[0], records[0]]


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


@pytest.mark.spec("R-P7", "R-81", "R-82")
@settings(max_examples=300)
@given(st.text(st.characters(categories=("L", "Nd")), min_size=1, max_size=30))
def test_what_a_text_says_matches_it_in_any_language(text: str) -> None:
    keywords = extract_keywords(text)
    assert score(record(text), keywords).keyword_match == float(bool(keywords))


@pytest.mark.spec("R-34")
def test_instants_of_any_zone_are_compared() -> None:
    elsewhere = (NOW - timedelta(days=45)).astimezone(timezone(timedelta(hours=9)))
    assert recency_score(record(created_at=elsewhere), NOW) == pytest.approx(0.5)


def admitted(query: str, *records: RetrievalRecord, active: str | None = "Health", **rules: bool) -> list[str]:
    """The ids of those that the gate lets pass."""
    known = tuple(one.category for one in records if one.category)
    analysis, asked = analysed(query, categories=known), replace(RULES, **rules)
    reach = space_reach(analysis, active, asked)
    gate = MatchGate.of(analysis, reach, records, require_match=asked.require_match)
    return [one.id for one in records if gate.admits(one, Matcher(one))]


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
    ("query", "active", "rules", "allowed", "crosses"),
    [
        ("What did I run?", "Health", RULES, {"Health"}, False),
        ("What did I run in Fitness?", "Health", RULES, {"Health", "Fitness"}, True),
        ("What is in my health space?", "Health", RULES, {"Health"}, False),
        ("What did I run?", None, RULES, None, False),
        ("What did I run in fitness?", None, RULES, None, True),
        ("Compare my Health and Fitness records", "Health", replace(RULES, allow_cross_space=False), {"Health"}, False),
    ],
)
def test_the_active_space_and_those_that_are_named(
    query: str, active: str | None, rules: IntentRules, allowed: set[str] | None, crosses: bool
) -> None:
    reach = space_reach(analysed(query), active, rules)
    assert (reach.allowed, reach.crosses) == (allowed, crosses)
    assert reach.mentions("Fitness") is (rules is RULES and "fitness" in query.lower())
    assert active_alone(active).allowed == (None if active is None else {"Health"})


@pytest.mark.spec("R-89", "R-P17", "R-P18", "R-64", "R-105", "R-111", "P-15")
@pytest.mark.parametrize(
    ("query", "rules", "expected"),
    [
        ("What was my blood pressure?", {}, None),
        ("What was my blood pressure?", {"enabled": False}, FallbackReason.DISABLED),
        ("one two three", {}, None),
        ("blood pressure", {}, FallbackReason.SHORT_QUERY),
        ("blood pressure", {"min_query_words": 2}, None),
        ("blood - pressure", {}, FallbackReason.SHORT_QUERY),
        ("blood-pressure of-today right-now", {}, None),
        ("what is it then", {}, FallbackReason.STOP_WORDS_ONLY),
        ("🎉 🎉 🎉", {}, FallbackReason.NO_KEYWORDS),
        ("?!? ... ---", {}, FallbackReason.NO_KEYWORDS),
        ("", {}, FallbackReason.NO_KEYWORDS),
        (None, {}, FallbackReason.NO_KEYWORDS),
        ("What was it last week?", {}, FallbackReason.NO_CONTENT_KEYWORD),
        ("What was it last week?", {"require_match": False}, None),
        ("What is in my Fitness?", {}, None),
        ("What is in my Fitness?", {"allow_cross_space": False}, FallbackReason.NO_CONTENT_KEYWORD),
    ],
)
def test_when_a_query_is_answered_by_date(
    query: str | None, rules: dict[str, Any], expected: FallbackReason | None
) -> None:
    analysis, asked = analysed(query), replace(RULES, **rules)
    assert fallback_reason(analysis, space_reach(analysis, "Health", asked), asked) is expected


@pytest.mark.spec("R-P18")
def test_what_the_conversation_adds_makes_no_query_of_stop_words() -> None:
    follow_up = analysed("and what about it", history=["my blood pressure was high"])
    assert follow_up.context is not None
    assert fallback_reason(follow_up, active_alone(None), RULES) is FallbackReason.STOP_WORDS_ONLY


@pytest.mark.spec("P-18")
def test_a_text_is_logged_by_length_and_keyed_hash() -> None:
    told, again = Redaction(b"k").text("secret"), Redaction(b"k").text("secret")
    assert told == again
    assert isinstance(told, dict)
    assert (told["length"], len(str(told["hash"]))) == (6, 16)
    assert Redaction(b"other").text("secret") != told
    assert Redaction(b"k").text("secreT") != told
    Redaction(b"k").text("\ud800")
