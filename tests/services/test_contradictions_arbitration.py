"""Arbitration and merging over HTTP: who wins, by which strategy, and what is merged (A-70 to A-103, P-11 to P-13).

Nothing is stored: what the engines are makes no difference. tests/arbitration proves signals, thresholds and sentences.
"""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from math import sqrt
from typing import Any

import pytest

from recollect.core.time import iso
from services.conftest import ON_THE_LAPTOP
from services.serving import USER, Service, good

pytestmark = ON_THE_LAPTOP

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
QUERY = [1.0, 0.0]
ALIKE = {"keywords": ["home"]}
BY_SCORE = {"priorityImportance": False, "priorityRecency": False, "prioritySource": False}
RANKED = ["user", "conversation", "skill", "system", "inferred", "rumour"]


def one(statement_id: str = "new", hours: float = 0, **more: Any) -> dict[str, Any]:
    said = {"id": statement_id, "user_id": USER, "content": f"{statement_id} says where I live", "importance": 0.5}
    return {**said, "timestamp": iso(NOON + timedelta(hours=hours)), **ALIKE, **more}


def other(hours: float = 0, **more: Any) -> dict[str, Any]:
    return one("old", hours, **more)


def at_cosine(cosine: float) -> list[float]:
    return [cosine, sqrt(1 - cosine * cosine)]


def decided(service: Service, candidate: dict[str, Any], *existing: dict[str, Any], **options: Any) -> dict[str, Any]:
    body = {"candidate": candidate, "existing": list(existing), **({"options": options} if options else {})}
    return dict(good(service.caller.post("/v1/arbitrations", body)))


def result(service: Service, candidate: dict[str, Any], *existing: dict[str, Any], **options: Any) -> dict[str, Any]:
    return dict(decided(service, candidate, *existing, **options)["result"])


def signals(service: Service, candidate: dict[str, Any], existing: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Of the one conflict, by their types; nothing where there is none."""
    conflicts = decided(service, candidate, existing)["conflicts"]
    return {signal["type"]: signal for conflict in conflicts for signal in conflict["signals"]}


def merged(service: Service, first: dict[str, Any], second: dict[str, Any], **options: Any) -> dict[str, Any]:
    return dict(good(service.caller.post("/v1/merges", {"first": first, "second": second, "options": options})))


@pytest.mark.spec("A-70", "P-11")
def test_a_cosine_above_the_threshold_is_a_signal_the_threshold_itself_is_none(service: Service) -> None:
    apart = other(keywords=[], embedding=at_cosine(0.81))
    assert signals(service, one(embedding=QUERY), apart)["semantic"] == {
        "type": "semantic", "memory_id": "old", "score": pytest.approx(0.81),
    }  # fmt: skip
    assert "semantic" not in signals(service, one(embedding=QUERY), {**apart, "embedding": at_cosine(0.8)})


@pytest.mark.spec("A-71")
def test_without_a_vector_of_both_there_is_no_semantic_signal(service: Service) -> None:
    pairs: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({}, {"embedding": QUERY}),
        ({"embedding": QUERY}, {}),
        ({"embedding": QUERY}, {"embedding": [0, 0]}),
    ]
    for ours, theirs in pairs:
        assert "semantic" not in signals(service, one(**ours), other(**theirs))


@pytest.mark.spec("A-76", "A-77", "A-78", "A-79", "A-80")
@pytest.mark.parametrize(
    ("importance", "existing", "strategy", "winner", "confidence"),
    [
        (0.6, other(5), "importance", "new", 0.2),
        (0.1, other(5), "importance", "old", 0.8),
        (1, other(5, importance=0), "importance", "new", 1),
        (0.5, other(-12, source="user"), "recency", "new", 0.5),
        (0.5, other(6, source="user"), "recency", "old", 0.25),
        (0.5, other(-99, source="user"), "recency", "new", 1),
    ],
)
def test_the_more_important_wins_then_the_newer_the_surer_the_greater_the_difference(
    service: Service, importance: float, existing: dict[str, Any], strategy: str, winner: str, confidence: float
) -> None:
    found = result(service, one(importance=importance), existing)
    assert (found["action"], found["winner"], found["strategy"]) == ("keep", winner, strategy)
    assert {found["winner"], found["loser"]} == {"new", "old"}
    assert found["confidence"] == pytest.approx(confidence)


@pytest.mark.spec("A-81", "A-82")
def test_of_equal_time_the_more_trusted_source_wins_and_unknown_ones_are_last(service: Service) -> None:
    for higher, lower in pairwise(RANKED):
        for ours, theirs, winner in ((higher, lower, "new"), (lower, higher, "old")):
            found = result(service, one(source=ours), other(source=theirs))
            assert (found["winner"], found["strategy"], found["confidence"]) == (winner, "source", 0.7)


@pytest.mark.spec("A-83")
def test_importance_goes_before_recency_before_source_and_what_is_off_is_passed_over(service: Service) -> None:
    ours, theirs = one(importance=0.9, source="inferred"), other(1, source="user")
    order = [("priorityImportance", "importance", "new"), ("priorityRecency", "recency", "old")]
    off: dict[str, Any] = {}
    for option, strategy, winner in order:
        found = result(service, ours, theirs, **off)
        assert (found["strategy"], found["winner"]) == (strategy, winner)
        off[option] = False
    assert result(service, ours, theirs, **off)["strategy"] == "source"
    assert result(service, ours, theirs, prioritySource=False, **off)["strategy"] == "multi-factor"


@pytest.mark.spec("A-84", "A-86", "P-12")
def test_the_higher_weighted_score_wins(service: Service) -> None:
    ours, theirs = one(importance=0.5, source="user"), other(-6, importance=0.1, source="system")
    found = result(service, ours, theirs, **BY_SCORE)
    delta = 0.4 * 0.4 + 0.3 * (6 / 24) + 0.2 * (1 - 0.4)
    assert (found["action"], found["winner"], found["strategy"]) == ("keep", "new", "multi-factor")
    assert found["confidence"] == pytest.approx(2 * delta)
    weights = {"importance": 0, "recency": 1, "source": 0, "semantic": 0}
    assert result(service, ours, theirs, weights=weights, **BY_SCORE)["confidence"] == pytest.approx(2 * 6 / 24)


@pytest.mark.spec("A-87", "A-88", "P-12")
@pytest.mark.parametrize(
    ("options", "action", "winner"),
    [
        ({}, "keep", "new"),
        ({"defaultStrategy": "keep-candidate"}, "keep", "new"),
        ({"defaultStrategy": "keep-existing"}, "keep", "old"),
        ({"defaultStrategy": "reject"}, "reject", "old"),
    ],
)
def test_where_nothing_decides_the_default_strategy_does(
    service: Service, options: dict[str, str], action: str, winner: str
) -> None:
    found = result(service, one(), other(), allowMerge=False, **options)
    assert [found[name] for name in ("action", "winner", "confidence", "strategy")] == [action, winner, 0.5, "default"]


@pytest.mark.spec("A-92", "P-13")
def test_the_second_content_may_replace_the_first(service: Service) -> None:
    first, second = one(content="Anna likes tea. It is so."), other(content="Tea is good. It is so.")
    assert merged(service, first, second, contentStrategy="replace")["merged"]["content"] == second["content"]


@pytest.mark.spec("A-95", "A-96", "A-97", "A-102", "A-103")
def test_importance_of_a_merge_is_the_greatest_boosted_or_the_mean(service: Service) -> None:
    cases = [
        ("max", 0.4, {}, 0.7), ("boost", 0.4, {}, 0.8), ("boost", 0.4, {"boostAmount": 0.25}, 0.95),
        ("boost", 0.4, {"boostAmount": 0.9}, 1.0), ("average", 0.4, {}, 0.55),
    ]  # fmt: skip
    for strategy, importance, options, expected in cases:
        made = merged(service, one(importance=importance), other(importance=0.7),
                      metadataStrategy={"importance": strategy}, **options)  # fmt: skip
        assert made["merged"]["importance"] == pytest.approx(expected)
        assert made["statistics"]["importanceDelta"] == pytest.approx(expected - 0.7)


@pytest.mark.spec("A-98", "A-101")
def test_the_later_time_and_the_more_trusted_source_stay(service: Service) -> None:
    early, late = one(source="system"), other(3, source="skill")
    for first, second in ((early, late), (late, early)):
        made = merged(service, first, second)["merged"]
        assert (made["timestamp"], made["source"]) == (late["timestamp"], "skill")


@pytest.mark.spec("A-99", "A-100")
def test_keywords_of_a_merge_are_those_of_either_or_of_both(service: Service) -> None:
    first, second = one(keywords=["b", "a", "Tea"]), other(keywords=["c", "tea", "a"])
    for strategy, expected in (("union", ["b", "a", "Tea", "c"]), ("intersection", ["a", "Tea"])):
        made = merged(service, first, second, metadataStrategy={"keywords": strategy})
        assert (made["merged"]["keywords"], made["statistics"]["keywordsCount"]) == (expected, len(expected))
