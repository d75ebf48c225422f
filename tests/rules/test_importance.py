"""Importance, tags, and the need of a web search, as the rules decide them for one text."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.core.event import ContentType
from recollect.rules.groups import MatchingRules, Rules, ScoringRules
from recollect.rules.importance import (
    base_score,
    content_type_of,
    extract_tags,
    importance_keywords,
    needs_web_search,
    score,
    web_search_keywords,
)
from rules.test_rules import DEFAULTS

RULES = Rules()


@pytest.mark.parametrize(
    ("content_type", "expected"),
    [
        pytest.param("userpreference", 0.9, marks=pytest.mark.spec("K-01")),
        pytest.param("factuallearning", 0.8, marks=pytest.mark.spec("K-02")),
        pytest.param("contextualfact", 0.7, marks=pytest.mark.spec("K-03")),
        pytest.param("default", 0.5, marks=pytest.mark.spec("K-04")),
        pytest.param("userinput", 0.4, marks=pytest.mark.spec("K-05")),
        pytest.param("assistantresponse", 0.3, marks=pytest.mark.spec("K-06")),
    ],
)
@pytest.mark.spec("K-07", "K-87", "K-98")
def test_base_score_of_each_type(content_type: str, expected: float) -> None:
    assert base_score(content_type, RULES) == expected
    assert score("tea", content_type, RULES) == expected


@pytest.mark.spec("K-09", "K-87")
@pytest.mark.parametrize("content_type", list(ContentType))
def test_a_keyword_boosts_every_type(content_type: ContentType) -> None:
    expected = round(min(base_score(content_type, RULES) + 0.2, 1.0), 10)
    assert score("remember the milk", content_type, RULES) == expected


@pytest.mark.spec("K-10")
@pytest.mark.parametrize("keyword", DEFAULTS["scoring"]["keywords"])
@pytest.mark.parametrize("written", [str.lower, str.upper, str.title])
def test_each_importance_keyword_counts_in_any_case(keyword: str, written: type[str]) -> None:
    content = f"xx{written(keyword)}xx"
    assert importance_keywords(content, RULES) == (keyword,)
    assert score(content, "userinput", RULES) == 0.6


@pytest.mark.spec("K-11")
def test_the_boost_is_added_once() -> None:
    content = "Remember: I am always, never, prefer"
    assert len(importance_keywords(content, RULES)) == 5
    assert score(content, "assistantresponse", RULES) == 0.5


@pytest.mark.spec("K-12")
def test_the_cap_is_one() -> None:
    assert score("I always prefer tea", "userpreference", RULES) == 1.0


@pytest.mark.spec("K-14")
def test_scores_are_rounded_to_ten_places() -> None:
    assert score("remember", "contextualfact", RULES) == 0.9  # 0.7 + 0.2 is 0.8999… in floats


@pytest.mark.spec("K-93")
@pytest.mark.parametrize("name", [None, "", "  ", "nonsense", "user preference", "\ud800"])
def test_an_unknown_type_is_default(name: str | None) -> None:
    assert content_type_of(name) is ContentType.DEFAULT
    assert score("tea", name, RULES) == 0.5


@pytest.mark.spec("K-93")
def test_types_are_case_insensitive() -> None:
    assert score("tea", " UserPreference ", RULES) == 0.9


def test_rules_replace_boost_keywords_and_base() -> None:
    rules = replace(RULES, scoring=ScoringRules(base={"default": 0.1}, boost=0.3, keywords=("wichtig",)))
    assert score("WICHTIG: Tee", "userinput", rules) == 0.4
    assert score("remember", None, rules) == 0.1


@pytest.mark.spec("K-10")
def test_word_boundary_stops_matches_inside_words() -> None:
    assert score("I am here, whenever", "userinput", RULES) == 0.6
    strict = replace(RULES, matching=MatchingRules(word_boundary=True))
    assert importance_keywords("whenever hi ambulance", strict) == ()
    assert importance_keywords("whenever hi ambulance", RULES) == ("never", "i am")


@pytest.mark.spec("K-13", "K-12", "K-72")
@given(st.text(), st.sampled_from([*ContentType, "other", None]))
def test_a_score_lies_between_its_base_and_one(content: str, content_type: str | None) -> None:
    value = score(content, content_type, RULES)
    assert base_score(content_type, RULES) <= value <= 1.0
    assert value == round(value, 10)


CASES = [(category, keyword) for category, words in DEFAULTS["tags"].items() for keyword in words]


@pytest.mark.spec("K-43", "K-44", "K-45", "K-46", "K-47", "K-48", "K-49", "K-51", "K-52")
@pytest.mark.parametrize(("category", "keyword"), CASES)
def test_each_keyword_gives_its_tag(category: str, keyword: str) -> None:
    assert category in extract_tags(keyword, RULES)
    assert category in extract_tags(f"zz{keyword.upper()}zz", RULES)


@pytest.mark.spec("K-50")
def test_tags_come_once_each_in_the_tables_order() -> None:
    content = "Breaking news today: what time is it? I am fond of sunny weather, hello hello"
    assert extract_tags(content, RULES) == ("weather", "greeting", "question", "personal", "time", "news")


@pytest.mark.spec("K-51")
@pytest.mark.parametrize(("content", "tags"), [("train", ("weather",)), ("This", ("greeting",)), ("", ()), ("xyz", ())])
def test_keywords_match_inside_words(content: str, tags: tuple[str, ...]) -> None:
    assert extract_tags(content, RULES) == tags


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


PATTERNS_ALONE = replace(RULES, web_search=replace(RULES.web_search, keywords=()))


@pytest.mark.spec("K-38")
@pytest.mark.parametrize("keyword", DEFAULTS["web_search"]["keywords"])
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
@pytest.mark.parametrize("pattern", DEFAULTS["web_search"]["patterns"])
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
