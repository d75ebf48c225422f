"""Merge rules: registered, inherited, changed, matched, published (A-108 to A-130, P-14)."""

from itertools import permutations
from typing import Any

import pytest

from recollect.arbitration.arbiter import ArbitrationOptions
from recollect.arbitration.detection import DetectionOptions
from recollect.arbitration.merge_rules import initial, load, register, update
from recollect.arbitration.merging import MergeOptions
from recollect.core.errors import NotFound
from samples.merge_rule_samples import refused, registry
from samples.statements import statement


@pytest.mark.spec("A-109")
@pytest.mark.parametrize("name", ["", ".", "..", "a\nb", "x" * 129, None, 7])
def test_a_rule_without_a_name_is_refused(name: Any) -> None:
    assert refused(register, initial(), name, {}) == ("name",)
    assert refused(load, initial(), [("good", {}), (name, {})]) == (1, "name")


@pytest.mark.spec("A-109", "P-14")
def test_registering_again_replaces_in_place() -> None:
    found = registry(a={"priority": 5, "enabled": False}, b={"priority": 5})
    again = register(found, "a", {"priority": 5}).registry
    assert [rule.name for rule in again.rules] == ["default", "a", "b"]
    assert again.resolved("a") == {"priority": 5}
    assert again.matching(statement()).name == "a"


BASE = {
    "priority": 7,
    "enabled": True,
    "conditions": {"userId": ["anna", "ben"], "importanceRange": {"min": 0.2, "max": 0.8}},
    "arbitration": {"mergeThreshold": 0.3, "allowMerge": False},
    "merge": {"metadataStrategy": {"importance": "boost", "keywords": "union"}, "boostAmount": 0.2},
    "detection": {"semanticThreshold": 0.9},
}


@pytest.mark.spec("A-115", "P-14")
def test_a_circle_is_refused() -> None:
    found = registry(a={}, b={"extends": "a"}, c={"extends": "b"})
    assert refused(update, found, "a", {"extends": "c"}) == ("extends",)
    assert refused(register, found, "a", {"extends": "a"}) == ("extends",)
    looping = [("x", {"extends": "y"}), ("y", {"extends": "x"})]
    assert refused(load, initial(), looping) == (0, "extends")


def test_an_unknown_base_is_refused() -> None:
    assert refused(register, initial(), "a", {"extends": "b"}) == ("extends",)
    assert refused(load, initial(), [("a", {}), ("c", {"extends": "b"})]) == (1, "extends")


@pytest.mark.spec("A-116", "A-117", "A-118", "A-119")
def test_an_update_is_merged_in_deeply() -> None:
    found = registry(mine=BASE)
    changes = {"priority": None, "merge": {"metadataStrategy": {"keywords": "intersection"}}, "arbitration": None}
    change = update(found, "mine", changes)
    assert change.registry.rule("mine").document == {
        "enabled": True,
        "conditions": BASE["conditions"],
        "merge": {"metadataStrategy": {"importance": "boost", "keywords": "intersection"}, "boostAmount": 0.2},
        "detection": {"semanticThreshold": 0.9},
    }
    assert change.registry.version == found.version + 1
    (event,) = change.events
    assert (event.type, event.name) == ("rule:updated", "mine")
    assert event.configuration == change.registry.rule("mine").document


@pytest.mark.spec("A-116")
def test_an_unknown_rule_cannot_be_updated_nor_a_name_changed() -> None:
    with pytest.raises(NotFound):
        update(initial(), "mine", {"priority": 1})
    assert refused(update, registry(mine={}), "mine", {"name": "other"}) == ("name",)


MATCHING: list[tuple[dict[str, Any], dict[str, Any], bool]] = [
    ({}, {}, True),
    ({"userId": "anna"}, {}, True),
    ({"userId": "ben"}, {}, False),
    ({"userId": ["ben", "anna"]}, {}, True),
    ({"personaId": "work"}, {"persona_id": "work"}, True),
    ({"personaId": "work"}, {}, False),
    ({"source": ["user", "skill"]}, {"source": "skill"}, True),
    ({"source": "user"}, {"source": None}, False),
    ({"importanceRange": {"min": 0.5, "max": 0.7}}, {"importance": 0.5}, True),
    ({"importanceRange": {"min": 0.5, "max": 0.7}}, {"importance": 0.7}, True),
    ({"importanceRange": {"min": 0.3}}, {"importance": 0.1 + 0.2}, True),
    ({"importanceRange": {"max": 0.3}}, {"importance": 0.1 + 0.2}, True),
    ({"importanceRange": {"max": 0.3}}, {"importance": 0.31}, False),
    ({"userId": "anna", "source": "user"}, {"source": "skill"}, False),
]


@pytest.mark.spec("A-121")
@pytest.mark.parametrize(("conditions", "changes", "matches"), MATCHING)
def test_all_conditions_must_hold(conditions: dict[str, Any], changes: dict[str, Any], matches: bool) -> None:
    found = registry(mine={"conditions": conditions})
    assert found.matching(statement(**changes)).name == ("mine" if matches else "default")


@pytest.mark.spec("A-120", "A-112")
def test_priority_and_conditions_may_be_inherited() -> None:
    found = registry(
        base={"priority": 9, "enabled": False, "conditions": {"source": "user"}},
        derived={"extends": "base", "enabled": True},
        other={"priority": 1},
    )
    assert found.matching(statement(source="user")).name == "derived"
    assert found.matching(statement(source="skill")).name == "other"


@pytest.mark.spec("A-123", "P-14")
@pytest.mark.parametrize("document", [{"priority": 1000}, {"enabled": False}, {"conditions": {"userId": "nobody"}}])
def test_the_default_rule_is_considered_last_only(document: dict[str, Any]) -> None:
    found = registry(default=document, mine={"priority": -5, "conditions": {"userId": "anna"}})
    assert found.matching(statement()).name == "mine"
    assert found.matching(statement(user_id="ben")).name == "default"


def test_the_default_rule_is_the_documented_one() -> None:
    settings = initial().settings("default")
    assert settings.arbitration == ArbitrationOptions()
    assert settings.merge == MergeOptions(deduplicate=True)
    assert settings.detection_over(DetectionOptions(0.7)) == DetectionOptions(0.7)


@pytest.mark.spec("A-108")
def test_detection_is_merged_over_the_tenants() -> None:
    settings = registry(mine={"detection": {"timeWindowMs": 5}}).settings("mine")
    assert settings.detection_over(DetectionOptions(0.7)) == DetectionOptions(0.7, time_window_ms=5)


RULES: dict[str, dict[str, Any]] = {
    "a": {"priority": 3, "arbitration": {"weights": {"importance": 0.3, "semantic": 0.2}}},
    "b": {"extends": "a", "conditions": {"source": ["user"]}},
    "c": {"extends": "b", "merge": {"deduplicate": True}},
    "d": {"extends": "default"},
}


@pytest.mark.spec("A-129", "P-14")
def test_the_order_of_loading_is_no_matter() -> None:
    wanted = {name: registry(**RULES).resolved(name) for name in RULES}
    for order in permutations(RULES.items()):
        loaded = load(initial(), order)
        assert {name: loaded.registry.resolved(name) for name in RULES} == wanted
        assert [event.name for event in loaded.events] == [name for name, _ in order]
        assert loaded.registry.version == 1 + len(RULES)
