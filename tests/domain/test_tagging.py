"""Tags by keywords (K-43 to K-53)."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.rules import MatchingRules, Rules, TagRules
from recollect.domain.tagging import extract_tags

RULES = Rules()
TABLE = [
    ("K-43", "weather", ["weather", "temperature", "rain", "sunny", "cloudy", "forecast"]),
    ("K-44", "greeting", ["hello", "hi", "hey", "good morning", "good evening"]),
    ("K-45", "question", ["what", "how", "why", "when", "where", "who", "?"]),
    ("K-46", "preference", ["prefer", "like", "favorite", "always", "never", "usually"]),
    ("K-47", "personal", ["my name", "i am", "i live", "i work", "my job"]),
    ("K-48", "time", ["time", "clock", "hour", "minute", "schedule", "calendar"]),
    ("K-49", "news", ["news", "today", "latest", "current", "recent", "breaking", "update", "happening"]),
]
CASES = [
    pytest.param(category, keyword, marks=pytest.mark.spec(row)) for row, category, words in TABLE for keyword in words
]


@pytest.mark.parametrize(("category", "keyword"), CASES)
def test_each_keyword_gives_its_tag(category: str, keyword: str) -> None:
    assert category in extract_tags(keyword, RULES)
    assert category in extract_tags(f"zz{keyword.upper()}zz", RULES)  # K-51, K-52


def test_the_default_table_is_the_documents() -> None:
    assert {name: list(words) for name, words in RULES.tags.categories.items()} == {n: w for _, n, w in TABLE}


@pytest.mark.spec("K-50")
def test_tags_come_once_each_in_the_tables_order() -> None:
    content = "Breaking news today: what time is it? I am fond of sunny weather, hello hello"
    assert extract_tags(content, RULES) == ("weather", "greeting", "question", "personal", "time", "news")


@pytest.mark.spec("K-51")
@pytest.mark.parametrize(("content", "tags"), [("train", ("weather",)), ("This", ("greeting",)), ("", ()), ("xyz", ())])
def test_keywords_match_inside_words(content: str, tags: tuple[str, ...]) -> None:
    assert extract_tags(content, RULES) == tags


@pytest.mark.spec("K-52")
def test_case_does_not_matter() -> None:
    assert extract_tags("GOOD Morning", RULES) == ("greeting",)


@pytest.mark.spec("K-53")
def test_categories_are_data() -> None:
    tags = TagRules({**RULES.tags.categories, "food": ("soup", "血压")})
    rules = replace(RULES, tags=tags)
    assert extract_tags("Soup, please", rules) == ("food",)
    assert extract_tags("我的血压", rules) == ("food",)


def test_one_keyword_may_stand_in_two_categories() -> None:
    rules = replace(RULES, tags=TagRules({"a": ("tea",), "b": ("tea", "rum")}))
    assert extract_tags("tea", rules) == ("a", "b")


@pytest.mark.spec("K-51")
def test_with_word_boundary_only_whole_words_match() -> None:
    rules = replace(RULES, matching=MatchingRules(word_boundary=True))
    assert extract_tags("This train", rules) == ()
    assert extract_tags("hi! rain? no", rules) == ("weather", "greeting", "question")


@given(st.text())
def test_any_text_has_tags_of_the_table_in_order(content: str) -> None:
    tags = extract_tags(content, RULES)
    assert list(tags) == [name for name in RULES.tags.categories if name in tags]
