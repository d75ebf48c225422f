"""Any text is read, and in linear work: counted in steps, not in seconds (issue 4, *Bad input*)."""

import json
import sys
from datetime import UTC, datetime
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.tool_calls import objects
from recollect.tool_calls.objects import mend_object
from recollect.tool_calls.protocol import Protocol, ReadingPolicy, read_tool_calls

DUAL = ReadingPolicy(dual=True)
MEGABYTE = 1_000_000
TODAY = datetime.now(UTC).date().toordinal()
MOST_STEPS = 20
"""Lines of Python for a character."""
OPENINGS = ["", "[[ABP_TOOL:x]]", '[[ABP_TOOL:x]]{"a": "', "<<<[TOOL_REQUEST]>>>"]
UNITS = [
    "[[ABP_TOOL:", "[[ABP_TOOL:x]]", "[[END_ABP_TOOL]]", "[", "]", "{", "}", "{}", '"', "\\", ",", " ", "\n", "```",
    '[[ABP_TOOL:x]]{"', '[[ABP_TOOL:x]]{"a":', ' {" ', '{"a":', '{"a":1 ', '{"a":1,', '{"a":[1 2 ', '{"a\\"',
    '{"a":"\n', '{"a":{"b":1 ', '{"a":1e999}', "{a:", '{"a":1 "b":[{"c":1 "d":2 ', '{"x":"{x:', "「始」", "「末」",
    "「始」「末」",
    "<<<[TOOL_REQUEST]>>>", "<<<[TOOL_REQUEST]>>>a:「始」", "<<<[END_TOOL_REQUEST]>>>", "9", "a", "é", "\ud800",
]  # fmt: skip


def noise(unit: str, size: int) -> str:
    return unit * (size // len(unit))


@pytest.mark.parametrize("unit", UNITS)
def test_a_megabyte_of_noise_is_an_answer(unit: str) -> None:
    """After one of the openings, another one each day: what the size costs is counted below, after all of them."""
    text = OPENINGS[(UNITS.index(unit) + TODAY) % len(OPENINGS)] + noise(unit, MEGABYTE)
    found = read_tool_calls(text, DUAL)
    assert found.protocol is not Protocol.TEXT or found.text == text


def steps(text: str) -> int:
    """Lines of Python that run while the text is read."""
    count = 0

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        read_tool_calls(text, DUAL)
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("opening", OPENINGS)
@pytest.mark.parametrize("unit", UNITS)
def test_the_next_noise_takes_no_more_steps_than_that_before(opening: str, unit: str) -> None:
    first, second, third = (steps(opening + noise(unit, size)) for size in (8_000, 16_000, 24_000))
    assert third - second <= 1.2 * (second - first) + 500
    assert third <= 24_000 * MOST_STEPS


@pytest.mark.parametrize("opening", OPENINGS)
@pytest.mark.parametrize("unit", UNITS)
def test_reading_in_vain_and_mending_are_bounded_by_the_length(
    opening: str, unit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the steps in C would take: each decoding that fails, and the characters that mending reads."""
    failed, mended = 0, 0
    decode = objects._read

    def counted_read(text: str, start: int) -> objects.Reading:
        nonlocal failed
        reading = decode(text, start)
        failed += reading.value is None
        return reading

    def counted_mend(text: str, start: int, end: int) -> objects.Reading:
        nonlocal mended
        attempt = mend_object(text, start, end)
        mended += attempt.end - start
        return attempt

    monkeypatch.setattr(objects, "_read", counted_read)
    monkeypatch.setattr("recollect.tool_calls.objects.mend_object", counted_mend)
    text = opening + noise(unit, 100_000)
    read_tool_calls(text, DUAL)
    assert failed <= 1_000
    assert mended <= 5 * len(text)


PIECES = st.sampled_from(
    [*UNITS, "tool_name:「始」x「末」", '{"a": 1}', '{"parameters": {}}', ": ", "true", "[[/ABP_TOOL]]"]
)
CLUTTER = st.lists(PIECES | st.text(max_size=5), max_size=40).map("".join)


@given(CLUTTER, st.booleans(), st.booleans())
def test_any_text_is_read(text: str, dual: bool, strict: bool) -> None:
    found = read_tool_calls(text, ReadingPolicy(dual=dual, strict=strict))
    assert sum((found.statistics.abp_ok, found.statistics.vcp_fallback, found.statistics.plain_text)) == 1
    assert bool(found.calls) == (found.protocol is not Protocol.TEXT)
    if not found.calls:
        assert found.text == text
    for call in found.calls:
        assert call.tool == call.tool.strip() != ""
        json.dumps(call.parameters, allow_nan=False)


@given(st.text())
def test_prose_asks_for_nothing(text: str) -> None:
    assert read_tool_calls(text, DUAL).calls == ()
