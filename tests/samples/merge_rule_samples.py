"""Registries for tests of merge rules."""

from typing import Any

import pytest

from recollect.arbitration.merge_rules import MergeRuleRegistry, initial, register
from recollect.core.errors import InvalidInput


def registry(**rules: dict[str, Any]) -> MergeRuleRegistry:
    """A registry with these rules, registered in this order."""
    found = initial()
    for name, document in rules.items():
        found = register(found, name, document).registry
    return found


def refused(work: Any, *arguments: Any) -> tuple[str | int, ...]:
    """The path that is refused."""
    with pytest.raises(InvalidInput) as caught:
        work(*arguments)
    return caught.value.loc
