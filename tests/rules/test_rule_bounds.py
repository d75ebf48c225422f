"""The bounds of every number among the rules: both ends are taken, nothing beyond them is."""

from typing import Any

import pytest

from recollect.rules.groups import Rules
from recollect.rules.reading import read_rules

YEAR_MS = 366 * 24 * 3600 * 1000
BOUNDS = [
    ("scoring", "boost", 0, 1),
    *(("context", name, 0, 50) for name in ("total", "recent", "recent_fill", "semantic", "important")),
    ("context", "displace_delta", 0, 1),
    ("summary", "messages", 1, 10_000),
    ("summary", "days", 0, 3_650),
    ("summary", "raw_window", 0, 50),
    ("summary", "max_words", 1, 2_000),
    ("bridge", "min_importance", 0, 1),
    ("bridge", "healthy_lag_ms", 0, YEAR_MS),
    ("conflict", "semantic_threshold", 0, 1),
    ("conflict", "keyword_threshold", 0, 1),
    ("conflict", "time_window_ms", 0, YEAR_MS),
    ("conflict", "importance_delta", 0, 1),
    ("intent", "relevance_threshold", 0, 1),
    ("intent", "max_results", 0, 100),
    ("intent", "min_query_words", 0, 100),
    ("intent", "max_keywords", 1, 1_000),
    ("intent", "context_lookback", 0, 100),
    ("limits", "index_capacity", 1, 10**12),
]


@pytest.mark.parametrize(("group", "name", "lowest", "highest"), BOUNDS)
def test_both_ends_are_taken_and_nothing_beyond(group: str, name: str, lowest: int, highest: int) -> None:
    for value in (lowest, highest):
        reading = read_rules({group: {name: value}}, Rules())
        assert reading.faults == ()
        assert getattr(getattr(reading.rules, group), name) == value
    for value in (lowest - 1, highest + 1):
        assert [fault.path for fault in read_rules({group: {name: value}}, Rules()).faults] == [(group, name)]


@pytest.mark.parametrize(
    ("group", "name", "highest"),
    [("context", "decay_half_life_days", 36_525), ("limits", "writes_per_second", 10**6)],
)
def test_what_must_be_above_nought(group: str, name: str, highest: float) -> None:
    def faults(value: Any) -> int:
        return len(read_rules({group: {name: value}}, Rules()).faults)

    assert [faults(value) for value in (None, 0.001, 0.5, highest)] == [0, 0, 0, 0]
    assert [faults(value) for value in (0, -1, highest + 0.5)] == [1, 1, 1]


def test_a_policy_of_forgetting_has_the_same_bounds() -> None:
    def faults(**policy: Any) -> int:
        return len(read_rules({"retention": [{"older_than_days": 1, **policy}]}, Rules()).faults)

    assert [faults(older_than_days=value) for value in (0.001, 36_525)] == [0, 0]
    assert [faults(older_than_days=value) for value in (0, 36_525.5)] == [1, 1]
    assert [faults(below_importance=value) for value in (None, 0, 1)] == [0, 0, 0]
    assert [faults(below_importance=value) for value in (-0.5, 1.5)] == [1, 1]
