"""The query analyzer (R-08, R-09, R-24, R-25, R-P19, R-P20)."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.intent.analysis import IntentName, QueryAnalysis, analyze
from recollect.rules.groups import Rules
from recollect.text.terms import extract_keywords

NOW = datetime(2024, 5, 15, tzinfo=UTC)
RULES = Rules()


def analysed(query: str | None, history: Sequence[str] = (), rules: Rules = RULES) -> QueryAnalysis:
    return analyze(query, history, ["Health"], ["sleep"], NOW, rules)


@pytest.mark.spec("R-25")
@pytest.mark.parametrize("query", ["", "   ", None])
def test_an_empty_query(query: str | None) -> None:
    found = analysed(query, ["something said"])
    assert (found.keywords, found.entities, found.intent, found.context) == ((), (), IntentName.GREETING, None)


@pytest.mark.spec("R-25")
def test_long_queries_of_stop_words_or_without_spaces() -> None:
    assert analysed("the of " * 60).keywords == ("the", "of")
    assert len(analysed("，".join(f"词{n}" for n in range(2000))).keywords) == 10


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


@pytest.mark.spec("R-24", "R-25")
def test_a_long_message_adds_no_more_than_the_cap() -> None:
    message = " ".join(f"word{n}" for n in range(500))
    assert analysed("What about it?", [message]).keywords[3:] == tuple(f"word{n}" for n in range(10))


@pytest.mark.spec("R-P19", "R-P20", "R-P3")
@settings(max_examples=200)
@given(st.text(st.characters()), st.lists(st.text(st.characters()), max_size=4))
def test_any_text_is_analysed_and_only_two_messages_matter(query: str, history: list[str]) -> None:
    found = analysed(query, history)
    assert found == analysed(query, history[-2:])
    assert found.keywords[: len(extract_keywords(query))] == extract_keywords(query)
