"""VCP: `<<<[TOOL_REQUEST]>>>`, fields `key:「始」value「末」`, `<<<[END_TOOL_REQUEST]>>>` (A-15, P-8)."""

import re

from recollect.domain.event import Json
from recollect.domain.tool_calls.call import Block, ToolCall

NAME_KEY = "tool_name"
LONGEST_KEY = 128
NO_END = "the end marker is missing"
NO_NAME = f"no field {NAME_KEY} names the tool"
OPEN_FIELD = "a field has no 「末」"

_START = "<<<[TOOL_REQUEST]>>>"
_END = "<<<[END_TOOL_REQUEST]>>>"
_OPEN, _CLOSE = "「始」", "「末」"
_NEXT = re.compile("|".join(map(re.escape, (_OPEN, _START, _END))))
_KEY = re.compile(rf"([^\s:,「」<>]{{1,{LONGEST_KEY}}}+)\s*+:\s*+$")


def read_vcp(text: str, *, strict: bool) -> list[Block]:
    """The blocks in order; a value may hold anything but 「末」. `strict` refuses a block without its end marker."""
    blocks: list[Block] = []
    position = text.find(_START)
    while position >= 0:
        blocks.append(_read_block(text, position, strict))
        position = text.find(_START, blocks[-1].end)
    return blocks


def _read_block(text: str, start: int, strict: bool) -> Block:
    fields, stop, warnings = _read_fields(text, start + len(_START))
    closed = text.startswith(_END, stop)
    end = stop + len(_END) if closed else stop
    if not closed:
        warnings.append(NO_END)
    name = str(fields.pop(NAME_KEY, "")).strip()
    if not 1 <= len(name) <= LONGEST_KEY:
        warnings.append(NO_NAME)
    refused = NO_NAME in warnings or OPEN_FIELD in warnings or (strict and not closed)
    return Block(start, end, None if refused else ToolCall(name, fields), tuple(warnings))


def _read_fields(text: str, start: int) -> tuple[dict[str, Json], int, list[str]]:
    """The fields, where the marker stands at which the block stops, and what was wrong. Of equal keys the last counts.

    Without one 「末」 more in the text there is no end to find for any later field, so reading stops there.
    """
    fields: dict[str, Json] = {}
    position = start
    while found := _NEXT.search(text, position):
        if found[0] != _OPEN:
            return fields, found.start(), []
        close = text.find(_CLOSE, found.end())
        if close < 0:
            return fields, len(text), [OPEN_FIELD]
        key = _KEY.search(text[position : found.start()][-LONGEST_KEY - 8 :])
        if key:
            fields[key[1]] = text[found.end() : close]
        position = close + len(_CLOSE)
    return fields, len(text), []
