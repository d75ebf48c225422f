"""Values of knowledge at the edges of what is taken (S-06 to S-21, S-39)."""

import json
from typing import Any

import pytest

from recollect.core.errors import InvalidInput
from recollect.knowledge.entries import VALUE_BYTES, checked_value


def of_bytes(size: int) -> dict[str, Any]:
    """A correction whose JSON has that many bytes."""
    bare = len(json.dumps({"instruction": "", "trigger": ""}, separators=(",", ":")))
    return {"instruction": "i" * (size - bare), "trigger": ""}


@pytest.mark.spec("S-06", "S-09", "S-15")
@pytest.mark.parametrize(
    ("namespace", "value"),
    [
        ("vocabulary", {"target": "t" * 256, "confidence": 0, "source": "inference"}),
        ("vocabulary", {"target": "t", "confidence": 1}),
        ("rule", {"condition": "c", "applies_to": ["s"] * 100}),
        ("correction", of_bytes(VALUE_BYTES)),
        ("correction", json.dumps(of_bytes(VALUE_BYTES), separators=(",", ":"))),
        ("notes", [[[[[[[[1]]]]]]]]),
        ("notes", {"a": {"b": [{"c": [{"d": [{}]}]}]}}),
        ("notes", 2**63 - 1),
        ("notes", -(2**63 - 1)),
    ],
)
def test_what_lies_on_a_bound_is_taken(namespace: str, value: Any) -> None:
    kept = checked_value(namespace, value)
    given = json.loads(value) if isinstance(value, str) else value
    assert kept == (given if namespace == "notes" else {**kept, **given})


@pytest.mark.spec("S-06", "S-09", "S-15", "S-39")
@pytest.mark.parametrize(
    ("namespace", "value", "loc"),
    [
        ("correction", of_bytes(VALUE_BYTES + 1), ("value",)),
        ("notes", [[[[[[[[[]]]]]]]]], ("value",)),
        ("notes", {"a": {"b": [{"c": [{"d": [{"e": {}}]}]}]}}, ("value",)),
        ("notes", 2**63, ("value",)),
        ("vocabulary", {"target": "t", "x" * 80: 1}, ("value", "x" * 64)),
        ("vocabulary", {"target": "t", "\ud800": 1}, ("value", "?")),
    ],
)
def test_what_lies_beyond_is_refused_where_it_does(namespace: str, value: Any, loc: tuple[str, ...]) -> None:
    with pytest.raises(InvalidInput) as refused:
        checked_value(namespace, value)
    assert refused.value.loc == loc
