"""Base scores and the boost of importance keywords (K-01 to K-14, K-93)."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.core.event import ContentType
from recollect.rules.groups import MatchingRules, Rules, ScoringRules
from recollect.rules.importance import base_score, content_type_of, importance_keywords, score

RULES = Rules()
KEYWORDS = ("remember", "prefer", "always", "never", "my name is", "i am", "i live", "i work")


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
@pytest.mark.spec("K-87", "K-98")
def test_base_score_of_each_type(content_type: str, expected: float) -> None:
    assert base_score(content_type, RULES) == expected
    assert score("tea", content_type, RULES) == expected


@pytest.mark.spec("K-07")
def test_types_keep_their_order() -> None:
    order = ("userpreference", "factuallearning", "contextualfact", "default", "userinput", "assistantresponse")
    assert all(base_score(a, RULES) > base_score(b, RULES) for a, b in pairwise(order))


@pytest.mark.spec("K-09", "K-87")
@pytest.mark.parametrize("content_type", list(ContentType))
def test_a_keyword_boosts_every_type(content_type: ContentType) -> None:
    expected = round(min(base_score(content_type, RULES) + 0.2, 1.0), 10)
    assert score("remember the milk", content_type, RULES) == expected


@pytest.mark.spec("K-10")
@pytest.mark.parametrize("keyword", KEYWORDS)
@pytest.mark.parametrize("written", [str.lower, str.upper, str.title])
def test_each_importance_keyword_counts_in_any_case(keyword: str, written: type[str]) -> None:
    content = f"xx{written(keyword)}xx"
    assert importance_keywords(content, RULES) == (keyword,)
    assert score(content, "userinput", RULES) == 0.6


def test_default_keywords_are_those_of_the_document() -> None:
    assert RULES.scoring.keywords == KEYWORDS
    assert RULES.scoring.boost == 0.2


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
