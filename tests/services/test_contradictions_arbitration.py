"""The arbitration service as it is called: signals, strategies, merging (A-69 to A-107, P-11 to P-13)."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from math import sqrt
from typing import Any

import pytest

from recollect.core.time import iso
from services.serving import USER, Service

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
    answer = service.caller.post("/v1/arbitrations", body)
    assert answer.status == 200, answer.text
    return dict(answer.json)


def result(service: Service, candidate: dict[str, Any], *existing: dict[str, Any], **options: Any) -> dict[str, Any]:
    return dict(decided(service, candidate, *existing, **options)["result"])


def signals(service: Service, candidate: dict[str, Any], existing: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Of the one conflict, by their types; nothing where there is none."""
    conflicts = decided(service, candidate, existing)["conflicts"]
    return {signal["type"]: signal for conflict in conflicts for signal in conflict["signals"]}


def merged(service: Service, first: dict[str, Any], second: dict[str, Any], **options: Any) -> dict[str, Any]:
    answer = service.caller.post("/v1/merges", {"first": first, "second": second, "options": options})
    assert answer.status == 200, answer.text
    return dict(answer.json)


@pytest.mark.spec("A-69", "P-11")
def test_all_signals_are_told_before_a_decision_and_only_those_of_content_lead_to_one(service: Service) -> None:
    answer = decided(service, one(embedding=QUERY, importance=1), other(embedding=QUERY))
    (conflict,) = answer["conflicts"]
    assert [signal["type"] for signal in conflict["signals"]] == ["semantic", "keyword", "time", "importance"]
    assert conflict["severity"] == pytest.approx(sum(signal["score"] for signal in conflict["signals"]))
    assert (answer["result"]["winner"], answer["rule"]) == ("new", "default")
    unrelated = decided(service, one(importance=1), other(keywords=["tea"]))
    assert [signal["type"] for signal in unrelated["conflicts"][0]["signals"]] == ["time", "importance"]
    assert "loser" not in unrelated["result"]


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


@pytest.mark.spec("A-72", "P-11")
def test_common_keywords_above_the_threshold_are_a_signal(service: Service) -> None:
    found = signals(service, one(keywords=["Home", "city", "home", "tea"]), other(keywords=["HOME", "City", "x"]))
    assert found["keyword"]["score"] == pytest.approx(2 / 3)
    assert [keyword.casefold() for keyword in found["keyword"]["keywords"]] == ["home", "city"]
    assert "keyword" not in signals(service, one(keywords=["home", "a", "b"]), other(keywords=["home", "c"]))


@pytest.mark.spec("A-73")
@pytest.mark.parametrize(("minutes", "near"), [(5, True), (-5, True), (5.01, False), (-5.01, False)])
def test_within_five_minutes_is_a_signal_before_and_after(service: Service, minutes: float, near: bool) -> None:
    found = signals(service, one(), other(minutes / 60))
    assert ("time" in found) is near
    if near:
        assert (found["time"]["deltaMs"], found["time"]["windowMs"]) == (300_000, 300_000)


@pytest.mark.spec("A-74", "P-11")
def test_a_greater_difference_in_importance_is_a_signal(service: Service) -> None:
    assert signals(service, one(importance=0.91), other())["importance"]["delta"] == pytest.approx(0.41)
    assert "importance" not in signals(service, one(importance=0.9), other())


@pytest.mark.spec("A-75")
def test_others_memories_give_no_signal_at_all(service: Service) -> None:
    bens = other(user_id="ben", embedding=QUERY, importance=0)
    assert decided(service, one(embedding=QUERY), bens)["conflicts"] == []


@pytest.mark.spec("A-76", "A-77", "A-78")
def test_the_more_important_wins_the_surer_the_greater_the_difference(service: Service) -> None:
    for ours, theirs, winner, confidence in ((0.6, 0.5, "new", 0.2), (0.1, 0.5, "old", 0.8), (1, 0, "new", 1)):
        found = result(service, one(importance=ours), other(5, importance=theirs))
        assert (found["action"], found["winner"], found["strategy"]) == ("keep", winner, "importance")
        assert {found["winner"], found["loser"]} == {"new", "old"}
        assert found["confidence"] == pytest.approx(confidence)


@pytest.mark.spec("A-79", "A-80")
def test_of_equal_importance_the_newer_wins_the_surer_the_longer_ago(service: Service) -> None:
    for hours, winner, confidence in ((-12, "new", 0.5), (6, "old", 0.25), (-99, "new", 1)):
        found = result(service, one(), other(hours, source="user"))
        assert (found["action"], found["winner"], found["strategy"]) == ("keep", winner, "recency")
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


@pytest.mark.spec("A-85", "A-90")
def test_scores_that_are_nearer_than_the_threshold_merge_and_the_threshold_itself_does_not(service: Service) -> None:
    near = result(service, one(importance=0.99), other(), **BY_SCORE)
    assert (near["action"], near["confidence"], "winner" in near) == ("merge", 0.6, False)
    assert "old says" in near["merged"]["content"]
    assert "new says" in near["merged"]["content"]
    assert result(service, one(importance=1), other(), **BY_SCORE)["action"] == "keep"
    assert result(service, one(importance=0.99), other(), mergeThreshold=0.1, **BY_SCORE)["action"] == "keep"
    assert result(service, one(importance=0.99), other(), allowMerge=False, **BY_SCORE)["winner"] == "new"


@pytest.mark.spec("A-87", "A-88", "P-12")
@pytest.mark.parametrize(
    ("strategy", "action", "winner"),
    [("keep-candidate", "keep", "new"), ("keep-existing", "keep", "old"), ("reject", "reject", "old")],
)
def test_where_nothing_decides_the_default_strategy_does(
    service: Service, strategy: str, action: str, winner: str
) -> None:
    found = result(service, one(), other(), allowMerge=False, defaultStrategy=strategy)
    assert (found["action"], found["winner"], found["confidence"], found["strategy"]) == (
        action,
        winner,
        0.5,
        "default",
    )
    assert strategy in found["reason"]
    assert result(service, one(), other(), allowMerge=False)["winner"] == "new"


@pytest.mark.spec("A-89")
def test_the_most_severe_of_several_conflicts_is_arbitrated_and_of_equals_the_first(service: Service) -> None:
    mild, severe = one("mild", importance=0.4), one("severe", embedding=QUERY, importance=0.4)
    answer = decided(service, one(embedding=QUERY), mild, severe)
    assert [conflict["memory_id"] for conflict in answer["conflicts"]] == ["mild", "severe"]
    assert answer["result"]["loser"] == "severe"
    assert result(service, one(), one("b", importance=0.4), one("a", importance=0.4))["loser"] == "b"


@pytest.mark.spec("A-91", "A-92", "A-93", "P-13")
@pytest.mark.parametrize(
    ("strategy", "content"),
    [
        ("concatenate", "Anna likes tea. It is so.\nTea is good. It is so."),
        ("replace", "Tea is good. It is so."),
        ("summarize", "Anna likes tea.\nTea is good."),
    ],
)
def test_a_merged_content_follows_its_strategy(service: Service, strategy: str, content: str) -> None:
    first, second = one(content="Anna likes tea. It is so."), other(content="Tea is good. It is so.")
    assert merged(service, first, second, contentStrategy=strategy)["merged"]["content"] == content


@pytest.mark.spec("A-94")
def test_smart_summarizes_what_is_alike_and_concatenates_the_rest(service: Service) -> None:
    first = one(content="a1 a2 a3 a4 a5 a6 a7 a8 a9 a10")
    for words, strategy in ((9, "summarize"), (7, "concatenate")):
        second = other(content=" ".join(f"a{number}" for number in range(1, words + 1)))
        contents = [
            merged(service, first, second, contentStrategy=way)["merged"]["content"] for way in ("smart", strategy)
        ]
        assert contents[0] == contents[1]


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


@pytest.mark.spec("A-104", "A-105", "A-106", "A-107", "P-13")
def test_duplicate_sentences_go_by_their_threshold_and_the_statistics_tell_of_it(service: Service) -> None:
    first, second = (
        one(content="It has 2.5 kg. We live in Paris."),
        other(content="We live in Paris now. It has 2.5 kg!"),
    )
    for options, removed, content in (
        ({}, 0, "It has 2.5 kg. We live in Paris.\nWe live in Paris now. It has 2.5 kg!"),
        ({"deduplicate": True}, 2, "It has 2.5 kg. We live in Paris."),
        ({"deduplicate": True, "deduplicationThreshold": 0.81}, 1,
         "It has 2.5 kg. We live in Paris.\nWe live in Paris now."),
    ):  # fmt: skip
        made = merged(service, first, second, contentStrategy="concatenate", **options)
        told = {"contentLength": len(content), "keywordsCount": 1, "importanceDelta": 0, "deduplicatedCount": removed}
        assert (made["merged"]["content"], made["statistics"]) == (content, told)
