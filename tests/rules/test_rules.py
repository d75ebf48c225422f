"""The rules object: defaults, version, and its JSON document."""

import json
from dataclasses import FrozenInstanceError, fields, is_dataclass, replace
from typing import Any

import pytest

from recollect.rules.groups import (
    BridgeRules,
    ConflictRules,
    ContextRules,
    LimitRules,
    LoggingRules,
    MatchingRules,
    RetentionRule,
    Rules,
    ScoringRules,
    document_of,
)

DEFAULTS: dict[str, Any] = {
    "scoring": {
        "base": {
            "userpreference": 0.9,
            "factuallearning": 0.8,
            "contextualfact": 0.7,
            "default": 0.5,
            "userinput": 0.4,
            "assistantresponse": 0.3,
        },
        "boost": 0.2,
        "keywords": ["remember", "prefer", "always", "never", "my name is", "i am", "i live", "i work"],
    },
    "tags": {
        "weather": ["weather", "temperature", "rain", "sunny", "cloudy", "forecast"],
        "greeting": ["hello", "hi", "hey", "good morning", "good evening"],
        "question": ["what", "how", "why", "when", "where", "who", "?"],
        "preference": ["prefer", "like", "favorite", "always", "never", "usually"],
        "personal": ["my name", "i am", "i live", "i work", "my job"],
        "time": ["time", "clock", "hour", "minute", "schedule", "calendar"],
        "news": ["news", "today", "latest", "current", "recent", "breaking", "update", "happening"],
    },
    "web_search": {
        "keywords": [
            "news", "today", "latest", "current", "recent", "now", "this week", "this month", "today's",
            "recent events", "what's happening", "what happened", "breaking", "update",
        ],
        "patterns": ["what is", "what are", "what's", "tell me about", "update on", "latest on"],
        "temporal": ["today", "now", "latest"],
    },
    "matching": {"word_boundary": False},
    "context": {
        "total": 8,
        "recent": 5,
        "recent_fill": 10,
        "semantic": 3,
        "important": 5,
        "displace_delta": 0.4,
        "decay_half_life_days": None,
    },
    "summary": {"messages": 50, "days": 21, "raw_window": 10, "max_words": 200},
    "bridge": {
        "enabled": True,
        "min_importance": 0.6,
        "event_types": ["task", "reminder", "conversation"],
        "healthy_lag_ms": 10_000,
    },
    "retention": [],
    "conflict": {
        "auto_apply": "judged",
        "settle": 0.8,
        "ask": 0.3,
        "semantic_threshold": 0.8,
        "keyword_threshold": 0.5,
        "time_window_ms": 300_000,
        "importance_delta": 0.4,
    },
    "intent": {
        "enabled": True,
        "relevance_threshold": 0.3,
        "max_results": 15,
        "min_query_words": 3,
        "max_keywords": 10,
        "context_lookback": 2,
        "allow_cross_space": True,
        "require_match": True,
    },
    "limits": {"index_capacity": None, "writes_per_second": None, "turns_per_second": None},
    "logging": {"content": False},
}  # fmt: skip


@pytest.mark.spec("K-43", "K-44", "K-45", "K-46", "K-47", "K-48", "K-49", "K-63", "K-64", "K-65", "K-66", "H-11")
@pytest.mark.spec("R-102", "R-103", "R-104", "R-105", "R-106", "R-107", "R-108")
def test_the_document_of_the_defaults_has_all_groups_in_their_order() -> None:
    assert json.dumps(document_of(Rules())) == json.dumps(DEFAULTS)


def test_equal_rules_have_equal_versions_and_every_change_another() -> None:
    rules = Rules()
    others = [
        replace(rules, context=ContextRules(total=9)),
        replace(rules, scoring=ScoringRules(boost=0.3)),
        replace(rules, matching=MatchingRules(word_boundary=True)),
        replace(rules, tags=dict(reversed([*rules.tags.items()]))),
        replace(rules, bridge=BridgeRules(enabled=False)),
        replace(rules, retention=(RetentionRule(older_than_days=30),)),
        replace(rules, retention=(RetentionRule(older_than_days=30, archive=True),)),
        replace(rules, conflict=ConflictRules(auto_apply="off")),
        replace(rules, limits=LimitRules(index_capacity=1)),
        replace(rules, logging=LoggingRules(content=True)),
    ]
    assert rules.version == Rules().version
    assert len(rules.version) == 12
    assert len({rules.version, *(other.version for other in others)}) == len(others) + 1


def test_rules_cannot_be_changed_in_place() -> None:
    with pytest.raises(FrozenInstanceError):
        Rules().context.total = 9  # type: ignore[misc]


def test_two_rules_objects_share_no_mapping() -> None:
    assert Rules().scoring.base is not Rules().scoring.base
    assert Rules().tags is not Rules().tags


def test_the_document_is_a_copy() -> None:
    rules = Rules()
    document = document_of(rules)
    document["tags"]["weather"].append("hail")
    document["scoring"]["base"]["default"] = 0
    assert document_of(rules) == DEFAULTS


def test_every_rule_says_what_it_means_and_may_be() -> None:
    groups: list[Any] = [getattr(Rules(), one.name) for one in fields(Rules)]
    for group in (*filter(is_dataclass, groups), RetentionRule(older_than_days=1)):
        for rule in fields(group):
            assert rule.metadata["meaning"]
            assert rule.metadata["kind"].bounds
