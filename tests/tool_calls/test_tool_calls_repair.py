"""Damaged JSON in a block (A-07, A-08, P-8)."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.tool_calls.objects import MOST_LEVELS
from recollect.tool_calls.protocol import ReadingPolicy, read_tool_calls

OPENING, CLOSING = "[[ABP_TOOL:t]]", "[[END_ABP_TOOL]]"


def repaired(content: str) -> Any:
    """What a block with that content asks for; None where it is no request."""
    found = read_tool_calls(f"{OPENING}{content}{CLOSING}", ReadingPolicy())
    assert all(call.repaired for call in found.calls)
    assert [warning for warning in found.warnings if "repaired" in warning] == [
        "ABP block 1: its JSON had to be repaired" for _ in found.calls
    ]
    return found.calls[0].parameters if found.calls else None


@pytest.mark.spec("A-07a")
@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('{"a": 1', {"a": 1}),
        ('{"a": {"b": {"c": 1}', {"a": {"b": {"c": 1}}}),
        ('{"a": [1, 2', {"a": [1, 2]}),
        ('{"a": [1, {"b": 2', {"a": [1, {"b": 2}]}),
        ('{"a": [1, 2}', {"a": [1, 2]}),
        ('{"a": {"b": [1}, "c": 2}', {"a": {"b": [1]}, "c": 2}),
        ('```json\n{"a": [1\n```', {"a": [1]}),
    ],
)
def test_missing_brackets(content: str, expected: Any) -> None:
    assert repaired(content) == expected


@pytest.mark.spec("A-07b")
@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('{"a": "b', {"a": "b"}),
        ('{"a": "b}', {"a": "b"}),
        ('{"a": {"b": "c}', {"a": {"b": "c"}}),
        ('{"a": {"b": "c}}', {"a": {"b": "c"}}),
        ('{"a": ["b", "c', {"a": ["b", "c"]}),
        ('{"a": ["b", "c]}', {"a": ["b", "c"]}),
        ('{"a": "use {x}', {"a": "use {x}"}),
        ('{"a": "use {x}}', {"a": "use {x}"}),
        ('{"a": "b, "c": 1}', {"a": "b", "c": 1}),
        ('{"a": ["b, "c"]}', {"a": ["b", "c"]}),
        ('{"a": "b\\', {"a": "b"}),
        ('{"a": "b\\u00e', {"a": "b"}),
        ('{"a": "b\\\\', {"a": "b\\"}),
        ('{"a": "b\\"', {"a": 'b"'}),
        ('{"a": "first\nsecond"}', {"a": "first\nsecond"}),
    ],
)
def test_missing_quotes_are_closed_before_the_brackets(content: str, expected: Any) -> None:
    assert repaired(content) == expected


@pytest.mark.spec("A-08")
@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('{"a": 1,}', {"a": 1}),
        ('{"a": 1,, "b": 2}', {"a": 1, "b": 2}),
        ('{"a": 1 "b": 2}', {"a": 1, "b": 2}),
        ('{"a": [,1, 2,],}', {"a": [1, 2]}),
        ('{"a": [1 2 "x" "y"]}', {"a": [1, 2, "x", "y"]}),
        ('{"a": [{"b": 1} {"c": 2}]}', {"a": [{"b": 1}, {"c": 2}]}),
        ('{"a": {"b": 1} "c": {"d": 1}', {"a": {"b": 1}, "c": {"d": 1}}),
        ('{"content": "x", "metadata": {"a": 1},}', {"content": "x", "metadata": {"a": 1}}),
    ],
)
def test_commas(content: str, expected: Any) -> None:
    assert repaired(content) == expected


@pytest.mark.spec("A-08")
@pytest.mark.parametrize(
    "content",
    [
        "I would {do} that", "{ hello there }", 'He said "hello" to {everyone', '{"a"}', '{"a":', '{"a": }',
        '{"a": 1, "b', '{"a" 1}', '{"a": hello}', '{"a": tru', '{"a": NaN}', '{"a": 1e999}', '{"a": 1]',
        "{'a': 1}", "{a: 1}", '{"a": "he said "hello" to me"}', '{"a": "\\ud800"}', '{"a": "\\x41"}',
        '{"a": ' + "9" * 5000 + "}", '{"a": [1 {"b": 2}]}',
    ],
)  # fmt: skip
def test_nothing_is_invented_and_prose_is_no_object(content: str) -> None:
    assert repaired(content) is None


@pytest.mark.spec("A-08")
@pytest.mark.parametrize("levels", [MOST_LEVELS, MOST_LEVELS + 1])
def test_so_many_levels_and_no_more(levels: int) -> None:
    content = '{"a":' * levels + "1" + "}" * levels
    valid = read_tool_calls(OPENING + content + CLOSING, ReadingPolicy())
    assert bool(valid.calls) == (levels <= MOST_LEVELS)
    assert (repaired(content[:-1]) is not None) == (levels <= MOST_LEVELS)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(max_size=6), VALUES, max_size=4)


@pytest.mark.spec("A-04")
@given(OBJECTS, st.booleans())
def test_what_is_whole_is_read_as_json_reads_it(value: dict[str, Any], indented: bool) -> None:
    text = json.dumps(value, ensure_ascii=False, indent=2 if indented else None)
    (call,) = read_tool_calls(OPENING + text + CLOSING, ReadingPolicy()).calls
    assert (call.parameters, call.repaired) == (value, False)


@pytest.mark.spec("A-07a", "A-07b")
@given(OBJECTS.filter(bool), st.data())
def test_a_cut_object_loses_its_end_and_nothing_before(value: dict[str, Any], data: st.DataObject) -> None:
    """What is mended after a cut is what was there: keys in order, whole values but for the last one."""
    text = json.dumps(value, ensure_ascii=False)
    cut = data.draw(st.integers(1, len(text) - 1))
    found = read_tool_calls(OPENING + text[:cut], ReadingPolicy())
    for call in found.calls:
        kept = list(call.parameters)
        assert kept == list(value)[: len(kept)]
        assert all(call.parameters[key] == value[key] for key in kept[:-1])
