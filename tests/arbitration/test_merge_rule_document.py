"""What may stand in a merge rule, and by which path the rest is refused (A-108, P-14)."""

import math
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.arbitration.merge_rules import MOST_BASES, MOST_RULES, initial, load, register, update
from recollect.core.errors import InvalidInput
from samples.merge_rule_samples import refused, registry
from samples.statements import statement

WRONG: list[tuple[Any, tuple[str | int, ...]]] = [
    (7, ()),
    ({"colour": 1}, ("colour",)),
    ({"extends": 7}, ("extends",)),
    ({"extends": ""}, ("extends",)),
    ({"priority": "high"}, ("priority",)),
    ({"priority": 1.5}, ("priority",)),
    ({"enabled": 1}, ("enabled",)),
    ({"conditions": []}, ("conditions",)),
    ({"conditions": {"user": "a"}}, ("conditions", "user")),
    ({"conditions": {"userId": 7}}, ("conditions", "userId")),
    ({"conditions": {"userId": []}}, ("conditions", "userId")),
    ({"conditions": {"source": ["user", 7]}}, ("conditions", "source", 1)),
    ({"conditions": {"importanceRange": {}}}, ("conditions", "importanceRange")),
    ({"conditions": {"importanceRange": [0, 1]}}, ("conditions", "importanceRange")),
    ({"conditions": {"importanceRange": {"min": 0.9, "max": 0.1}}}, ("conditions", "importanceRange")),
    ({"conditions": {"importanceRange": {"min": -0.1}}}, ("conditions", "importanceRange", "min")),
    ({"conditions": {"importanceRange": {"most": 1}}}, ("conditions", "importanceRange", "most")),
    ({"arbitration": "all"}, ("arbitration",)),
    ({"arbitration": {"allowmerge": True}}, ("arbitration", "allowmerge")),
    ({"arbitration": {"allowMerge": "yes"}}, ("arbitration", "allowMerge")),
    ({"arbitration": {"mergeThreshold": 1.1}}, ("arbitration", "mergeThreshold")),
    ({"arbitration": {"mergeThreshold": math.nan}}, ("arbitration", "mergeThreshold")),
    ({"arbitration": {"mergeThreshold": True}}, ("arbitration", "mergeThreshold")),
    ({"arbitration": {"defaultStrategy": "keep"}}, ("arbitration", "defaultStrategy")),
    ({"arbitration": {"weights": {"importance": 0.5}}}, ("arbitration", "weights")),
    ({"arbitration": {"weights": {"importance": -0.4}}}, ("arbitration", "weights", "importance")),
    ({"arbitration": {"weights": {"importance": math.inf}}}, ("arbitration", "weights", "importance")),
    ({"arbitration": {"weights": {"colour": 0.1}}}, ("arbitration", "weights", "colour")),
    ({"merge": {"contentStrategy": "shuffle"}}, ("merge", "contentStrategy")),
    ({"merge": {"metadataStrategy": {"importance": "least"}}}, ("merge", "metadataStrategy", "importance")),
    ({"merge": {"boostAmount": -0.1}}, ("merge", "boostAmount")),
    ({"merge": {"deduplicationThreshold": 2}}, ("merge", "deduplicationThreshold")),
    ({"detection": {"semanticThreshold": 1.5}}, ("detection", "semanticThreshold")),
    ({"detection": {"timeWindowMs": -1}}, ("detection", "timeWindowMs")),
    ({"detection": {"importanceDelta": "0.4"}}, ("detection", "importanceDelta")),
]


@pytest.mark.parametrize(("document", "path"), WRONG)
def test_what_is_wrong_is_named_by_its_path(document: Any, path: tuple[str | int, ...]) -> None:
    assert refused(register, initial(), "mine", document) == path
    assert refused(load, initial(), [("good", {}), ("mine", document)]) == (1, *path)
    if isinstance(document, dict):
        assert refused(update, registry(mine={}), "mine", document) == path


@pytest.mark.parametrize(("semantic", "good"), [(0.1 + 5e-10, True), (0.1 + 5e-9, False)])
def test_weights_sum_to_one_with_a_tolerance(semantic: float, good: bool) -> None:
    document = {"arbitration": {"weights": {"semantic": semantic}}}
    if good:
        assert register(initial(), "mine", document).registry.version == 2
    else:
        assert refused(register, initial(), "mine", document) == ("arbitration", "weights")


def test_weights_are_judged_with_what_is_inherited() -> None:
    base = {"arbitration": {"weights": {"importance": 0.1, "source": 0.5}}}
    found = registry(base=base, derived={"extends": "base", "arbitration": {"weights": {"importance": 0.1}}})
    assert found.settings("derived").arbitration.weights.total == pytest.approx(1)
    changes = {"arbitration": {"weights": {"importance": 0.4, "source": 0.2}}}
    assert refused(update, found, "base", changes) == ("arbitration", "weights")


def test_null_is_absent() -> None:
    document = {"extends": None, "conditions": {"userId": None}, "merge": {"metadataStrategy": {"source": None}}}
    assert registry(mine=document).rule("mine").document == {"conditions": {}, "merge": {"metadataStrategy": {}}}


def test_a_tenants_rules_and_a_rules_bases_are_bounded() -> None:
    chain: list[tuple[str, dict[str, Any]]] = [("0", {})]
    chain += [(str(number), {"extends": str(number - 1)}) for number in range(1, MOST_BASES + 1)]
    found = load(initial(), chain).registry
    assert refused(register, found, "more", {"extends": str(MOST_BASES)}) == ("extends",)
    with pytest.raises(InvalidInput):
        load(initial(), [(str(number), {}) for number in range(MOST_RULES)])


SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
NAMES = st.sampled_from(
    ["extends", "priority", "enabled", "conditions", "userId", "importanceRange", "min", "arbitration", "weights",
     "importance", "merge", "metadataStrategy", "mergeThreshold", "detection", "semanticThreshold", "x"]
)  # fmt: skip
ANYTHING = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4), max_leaves=12
)


@given(ANYTHING)
def test_any_document_is_taken_or_refused_as_a_whole(document: Any) -> None:
    before = registry(other={"priority": 1})
    found = before
    with suppress(InvalidInput):
        found = register(before, "mine", document).registry
    assert found is before or found.settings("mine").arbitration.weights.total == pytest.approx(1)
    assert found.matching(statement()).name in ("mine", "other")


@given(st.integers(1, 3000))
def test_depth_is_no_matter(depth: int) -> None:
    document: dict[str, Any] = {}
    for _ in range(depth):
        document = {"merge": document}
    if depth > 1:
        assert refused(register, initial(), "mine", document) == ("merge", "merge")
        assert refused(update, registry(mine={}), "mine", document) == ("merge", "merge")
