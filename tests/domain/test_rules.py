"""The rules object: defaults and version."""

from dataclasses import FrozenInstanceError, replace

import pytest

from recollect.domain.rules import (
    ContextRules,
    IntentRules,
    MatchingRules,
    Rules,
    ScoringRules,
    SummaryRules,
    TagRules,
)


@pytest.mark.spec("K-63", "K-64", "K-65", "K-66")
def test_context_defaults() -> None:
    rules = ContextRules()
    assert (rules.total, rules.semantic, rules.recent, rules.recent_fill, rules.important) == (8, 3, 5, 10, 5)
    assert rules.displace_delta == 0.4
    assert rules.decay_half_life_days is None


@pytest.mark.spec("H-11")
def test_summary_defaults() -> None:
    assert SummaryRules() == SummaryRules(messages=50, days=21, raw_window=10, max_words=200)


@pytest.mark.spec("R-102", "R-103", "R-104", "R-105", "R-106", "R-107", "R-108")
def test_intent_defaults() -> None:
    assert IntentRules() == IntentRules(
        enabled=True,
        relevance_threshold=0.3,
        max_results=15,
        min_query_words=3,
        max_keywords=10,
        context_lookback=2,
        allow_cross_space=True,
        require_match=True,
    )


def test_matching_is_by_substring_by_default() -> None:
    assert not MatchingRules().word_boundary


def test_equal_rules_have_equal_versions_and_every_change_another() -> None:
    rules = Rules()
    others = [
        replace(rules, context=ContextRules(total=9)),
        replace(rules, scoring=ScoringRules(boost=0.3)),
        replace(rules, matching=MatchingRules(word_boundary=True)),
        replace(rules, tags=TagRules(dict(reversed([*rules.tags.categories.items()])))),
    ]
    assert rules.version == Rules().version
    assert len(rules.version) == 12
    assert len({rules.version, *(other.version for other in others)}) == 5


def test_rules_cannot_be_changed_in_place() -> None:
    with pytest.raises(FrozenInstanceError):
        Rules().context.total = 9  # type: ignore[misc]


def test_two_rules_objects_share_no_mapping() -> None:
    assert Rules().scoring.base is not Rules().scoring.base
