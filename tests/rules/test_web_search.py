"""What triggers a web search (K-38 to K-42)."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.rules.groups import MatchingRules, Rules, WebSearchRules
from recollect.rules.importance import needs_web_search, web_search_keywords

RULES = Rules()
KEYWORDS = (
    "news", "today", "latest", "current", "recent", "now", "this week", "this month", "today's", "recent events",
    "what's happening", "what happened", "breaking", "update",
)  # fmt: skip
PATTERNS = ("what is", "what are", "what's", "tell me about", "update on", "latest on")
PATTERNS_ALONE = replace(RULES, web_search=replace(RULES.web_search, keywords=()))


def test_default_word_lists_are_the_documents() -> None:
    assert WebSearchRules() == WebSearchRules(KEYWORDS, PATTERNS, ("today", "now", "latest"))


@pytest.mark.spec("K-38")
@pytest.mark.parametrize("keyword", KEYWORDS)
def test_each_keyword_triggers(keyword: str) -> None:
    assert keyword in web_search_keywords(f"xx {keyword.upper()} xx", RULES)
    assert needs_web_search(keyword, RULES)


@pytest.mark.spec("K-38")
def test_keywords_match_inside_words_and_with_any_apostrophe() -> None:
    assert web_search_keywords("I know", RULES) == ("now",)
    assert web_search_keywords("What’s happening", RULES) == ("what's happening",)


def test_keywords_come_in_the_order_of_the_rules() -> None:
    assert web_search_keywords("now the latest news, today's", RULES) == ("news", "today", "latest", "now", "today's")


@pytest.mark.spec("K-39", "K-40", "K-42")
@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("temporal", ["today", "now", "latest", None])
@pytest.mark.parametrize("with_pattern", [True, False])
def test_truth_table_of_pattern_and_temporal_word(pattern: str, temporal: str | None, with_pattern: bool) -> None:
    text = f"{pattern if with_pattern else 'say'} rates {temporal or 'then'}"
    expected = with_pattern and (temporal is not None or "latest" in pattern)
    assert needs_web_search(text, PATTERNS_ALONE) is expected


def test_without_a_keyword_pattern_and_temporal_words_are_the_reason() -> None:
    assert web_search_keywords("What is it now?", PATTERNS_ALONE) == ("what is", "now")


@pytest.mark.spec("K-41")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("what is love", False),
        ("what are birds", False),
        ("what's love", False),
        ("tell me about birds", False),
        ("update on birds", True),
        ("latest on birds", True),
        ("", False),
        ("how old are you", False),
    ],
)
def test_a_pattern_alone_does_not_trigger(text: str, expected: bool) -> None:
    assert needs_web_search(text, RULES) is expected


def test_word_boundary() -> None:
    rules = replace(RULES, matching=MatchingRules(word_boundary=True))
    assert not needs_web_search("I know", rules)
    assert needs_web_search("now!", rules)


@pytest.mark.spec("K-40")
@given(st.text())
def test_the_pattern_rule_is_implied_by_the_keywords(text: str) -> None:
    assert needs_web_search(text, RULES) or not needs_web_search(text, PATTERNS_ALONE)
