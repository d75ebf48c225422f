"""The query analyzer (R-08, R-09, R-24, R-25, R-P19, R-P20)."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.intent.analysis import EntityType, Intent, IntentName, QueryAnalysis, QueryContext, analyze
from recollect.rules.groups import IntentRules, Rules
from recollect.text.terms import extract_keywords

NOW = datetime(2024, 5, 15, tzinfo=UTC)
RULES = Rules()


def analysed(query: str | None, history: Sequence[str] = (), rules: Rules = RULES) -> QueryAnalysis:
    return analyze(query, history, ["Health"], ["sleep"], NOW, rules)


@pytest.mark.spec("R-08", "R-09")
def test_all_fields() -> None:
    found = analysed("What was my blood pressure last week in Health?")
    assert found.original_query == "What was my blood pressure last week in Health?"
    assert found.keywords == ("what", "was", "my", "blood", "pressure", "last", "week", "in", "health")
    assert [e.type for e in found.entities] == [EntityType.DATE, EntityType.CATEGORY, EntityType.SPACE_NAME]
    assert (found.intent, found.intent_confidence, found.context) == (IntentName.QUESTION, 0.8, None)


@pytest.mark.spec("R-25")
@pytest.mark.parametrize("query", ["", "   ", None])
def test_an_empty_query(query: str | None) -> None:
    found = analysed(query, ["something said"])
    assert (found.keywords, found.entities, found.intent, found.context) == ((), (), IntentName.GREETING, None)


@pytest.mark.spec("R-25", "R-106")
def test_a_query_of_more_than_a_hundred_words_keeps_the_first_distinct_content_words() -> None:
    words = [f"word{n}" for n in range(50)]
    query = " ".join(["the", "word0", *words, *(["and"] * 49)])
    assert len(query.split()) == 101
    assert analysed(query).keywords == tuple(words[:10])
    rules = replace(RULES, intent=IntentRules(max_keywords=3))
    assert analysed(query, rules=rules).keywords == tuple(words[:3])


@pytest.mark.spec("R-25", "R-14")
def test_a_query_of_a_hundred_words_is_not_capped() -> None:
    query = " ".join(f"word{n}" for n in range(100))
    assert analysed(query).keywords == extract_keywords(query)
    assert len(analysed(query).keywords) == 100


@pytest.mark.spec("R-25")
def test_long_queries_of_stop_words_or_without_spaces() -> None:
    assert analysed("the of " * 60).keywords == ("the", "of")
    assert len(analysed("，".join(f"词{n}" for n in range(2000))).keywords) == 10


@pytest.mark.spec("R-27")
def test_the_cap_does_not_make_a_greeting() -> None:
    rules = replace(RULES, intent=IntentRules(max_keywords=1))
    assert analysed("word " * 101, rules=rules).intent is IntentName.QUESTION


@pytest.mark.spec("R-24")
@pytest.mark.parametrize(
    ("query", "follows_up"),
    [
        ("And what did it cost?", True),
        ("What about yesterday", True),
        ("Did they like her?", True),
        ("А вчера было больше?", True),
        ("Is this so?", True),
        ("Tell me more about that", True),
        ("Show my expenses this month", False),
        ("The book that won", False),
        ("Where is Paris", False),
    ],
)
def test_a_follow_up_takes_keywords_of_the_conversation(query: str, follows_up: bool) -> None:
    own = extract_keywords(query)
    found = analysed(query, ["Paris trip in March", "The hotel was dear"])
    if not follows_up:
        assert found.keywords == own
        assert found.context is None
        return
    assert found.context is not None
    assert found.keywords == own + found.context.keywords
    assert {"paris", "trip", "hotel", "dear"} <= set(found.keywords)
    assert len(set(found.context.keywords)) == len(found.context.keywords)
    assert not set(own) & set(found.context.keywords)


@pytest.mark.spec("R-P20", "R-107")
@pytest.mark.parametrize(
    ("lookback", "expected"), [(0, None), (1, ("third",)), (2, ("second", "third")), (9, ("second", "third"))]
)
def test_at_most_the_last_two_messages_are_read(lookback: int, expected: tuple[str, ...] | None) -> None:
    rules = replace(RULES, intent=IntentRules(context_lookback=lookback))
    context = analysed("What about it?", ["first", "second", "third"], rules).context
    assert context == (None if expected is None else QueryContext(len(expected), expected))


@pytest.mark.spec("R-24", "R-25")
def test_a_long_message_adds_no_more_than_the_cap() -> None:
    message = " ".join(f"word{n}" for n in range(500))
    assert analysed("What about it?", [message]).keywords[3:] == tuple(f"word{n}" for n in range(10))


@pytest.mark.spec("P-7")
def test_a_richer_classifier_may_be_plugged_in() -> None:
    def commands(query: str, keywords: Sequence[str]) -> Intent:
        return Intent(IntentName.COMMAND, 0.9)

    found = analyze("Show me my records", (), (), (), NOW, RULES, commands)
    assert (found.intent, found.intent_confidence) == (IntentName.COMMAND, 0.9)


@pytest.mark.spec("R-P19", "R-P20", "R-P3")
@settings(max_examples=200)
@given(st.text(st.characters()), st.lists(st.text(st.characters()), max_size=4))
def test_any_text_is_analysed_and_only_two_messages_matter(query: str, history: list[str]) -> None:
    found = analysed(query, history)
    assert found == analysed(query, history[-2:])
    assert found.keywords[: len(extract_keywords(query))] == extract_keywords(query)


@pytest.mark.spec("R-P19")
@pytest.mark.parametrize("query", ["\ud800" * 1_000_000, "word, " * 170_000, "é" * 500_000, "it? " * 250_000])
def test_a_megabyte(query: str) -> None:
    assert analysed(query, [query, query]).original_query == query
