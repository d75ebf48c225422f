"""ABP: `[[ABP_TOOL:Name]]`, a JSON object, `[[END_ABP_TOOL]]` (A-02 to A-11, P-8)."""

import re

from recollect.domain.event import Json
from recollect.domain.tool_calls.call import Block, ToolCall
from recollect.domain.tool_calls.objects import OBJECT_START, Allowance, read_object
from recollect.domain.tool_calls.salvage import Salvaged, salvage

LONGEST_NAME = 128
NO_END = "the end marker is missing"
NO_NAME = "the tool has no name"
NO_OBJECT = "there is no valid JSON object in it"
REPAIRED = "its JSON had to be repaired"

_START = re.compile(rf"\[\[ABP_TOOL:([^\[\]\n]{{0,{LONGEST_NAME}}}+)\]\]")
_END = re.compile(r"\[\[(?:END_ABP_TOOL|/ABP_TOOL)\]\]")
_MARKER = re.compile(f"{_START.pattern}|{_END.pattern}")
_NEXT = re.compile(f"{_MARKER.pattern}|(?P<object>{OBJECT_START.pattern})")
_FENCE_END = re.compile(r"\s*+```")


def read_abp(text: str, *, strict: bool) -> list[Block]:
    """The blocks in order. `strict` refuses one whose end marker is missing; else it ends where the next begins."""
    blocks: list[Block] = []
    allowance, position = Allowance.of(text), 0
    while found := _START.search(text, position):
        blocks.append(_read_block(text, found, strict, allowance))
        position = blocks[-1].end
    return blocks


def stray_end(text: str) -> bool:
    """Whether an end marker stands in a text that holds no blocks (any more)."""
    return _END.search(text) is not None


def _read_block(text: str, opening: re.Match[str], strict: bool, allowance: Allowance) -> Block:
    content, stop = _read_content(text, opening.end(), allowance)
    closing = _END.match(text, stop)
    warnings = [] if closing else [NO_END]
    end = closing.end() if closing else stop if content is None else _after(text, content)
    if strict and not closing:
        return Block(opening.start(), stop, None, (NO_END,))
    call = _call(opening[1].strip(), content, warnings)
    return Block(opening.start(), end, call, tuple(warnings))


def _read_content(text: str, start: int, allowance: Allowance) -> tuple[Salvaged | None, int]:
    """What the block holds, and where the marker stands at which it stops (or the end of the text).

    A marker inside a string of a valid object is a part of that string. After a damaged object nothing tells a string
    from the rest: from there on the next marker counts, wherever it stands.
    """
    content, position = None, start
    while found := _NEXT.search(text, position):
        if found["object"] is None:
            return content, found.start()
        reading = read_object(text, found.start(), allowance)
        if reading.value is None:
            return _read_damaged(text, found.start(), content, allowance)
        position = reading.end
        content = Salvaged(reading.value, position, repaired=False)
    return content, len(text)


def _read_damaged(text: str, start: int, before: Salvaged | None, allowance: Allowance) -> tuple[Salvaged | None, int]:
    marker = _MARKER.search(text, start)
    stop = marker.start() if marker else len(text)
    found = salvage(text, start, stop, allowance)
    return (before if before and (found is None or found.repaired) else found), stop


def _after(text: str, content: Salvaged) -> int:
    """Where a block without an end marker ends: after its object, and the fence around that."""
    fence = _FENCE_END.match(text, content.end)
    return fence.end() if fence else content.end


def _call(name: str, content: Salvaged | None, warnings: list[str]) -> ToolCall | None:
    """The request that name and object make (A-04, A-05); adds to the warnings."""
    if not name:
        warnings.append(NO_NAME)
        return None
    if content is None:
        warnings.append(NO_OBJECT)
        return None
    if content.repaired:
        warnings.append(REPAIRED)
    parameters, action = _parameters(content.value)
    return ToolCall(name, parameters, action, content.repaired)


def _parameters(value: dict[str, Json]) -> tuple[dict[str, Json], str | None]:
    inner, action = value.get("parameters"), value.get("action")
    if not isinstance(inner, dict):
        return value, None
    return inner, action if isinstance(action, str) else None
