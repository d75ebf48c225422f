"""Tags by keywords (K-43 to K-53)."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.rules.groups import MatchingRules, Rules
from recollect.rules.importance import extract_tags

RULES = Rules()
TABLE = [
    ("weather", ["weather", "temperature", "rain", "sunny", "cloudy", "forecast"]),
    ("greeting", ["hello", "hi", "hey", "good morning", "good evening"]),
    ("question", ["what", "how", "why", "when", "where", "who", "?"]),
    ("preference", ["prefer", "like", "favorite", "always", "never", "usually"]),
    ("personal", ["my name", "i am", "i live", "i work", "my job"]),
    ("time", ["time", "clock", "hour", "minute", "schedule", "calendar"]),
    ("news", ["news", "today", "latest", "current", "recent", "breaking", "update", "happening"]),
]
CASES = [(category, keyword) for category, words in TABLE for keyword in words]


@pytest.mark.spec("K-43", "K-44", "K-45", "K-46", "K-47", "K-48", "K-49")
@pytest.mark.parametrize(("category", "keyword"), CASES)
def test_each_keyword_gives_its_tag(category: str, keyword: str) -> None:
    assert category in extract_tags(keyword, RULES)
    assert category in extract_tags(f"zz{keyword.upper()}zz", RULES)  # K-51, K-52


@pytest.mark.spec("K-43", "K-44", "K-45", "K-46", "K-47", "K-48", "K-49")
def test_the_default_table_is_the_documents() -> None:
    assert [(name, list(words)) for name, words in RULES.tags.items()] == TABLE


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
    rules = replace(RULES, tags={**RULES.tags, "food": ("soup", "血压")})
    assert extract_tags("Soup, please", rules) == ("food",)
    assert extract_tags("我的血压", rules) == ("food",)


def test_one_keyword_may_stand_in_two_categories() -> None:
    rules = replace(RULES, tags={"a": ("tea",), "b": ("tea", "rum")})
    assert extract_tags("tea", rules) == ("a", "b")


@pytest.mark.spec("K-51")
def test_with_word_boundary_only_whole_words_match() -> None:
    rules = replace(RULES, matching=MatchingRules(word_boundary=True))
    assert extract_tags("This train", rules) == ()
    assert extract_tags("hi! rain? no", rules) == ("weather", "greeting", "question")


@given(st.text())
def test_any_text_has_tags_of_the_table_in_order(content: str) -> None:
    tags = extract_tags(content, RULES)
    assert list(tags) == [name for name in RULES.tags if name in tags]
