"""The tool calls in a model's text: ABP first, then VCP in dual mode, else it is text (A-12 to A-18).

- ABP: `[[ABP_TOOL:Name]]`, a JSON object, `[[END_ABP_TOOL]]` (A-02 to A-11, P-8).
- VCP: `<<<[TOOL_REQUEST]>>>`, fields `key:「始」value「末」`, `<<<[END_TOOL_REQUEST]>>>` (A-15, P-8).

Tool blocks in recalled text are never executed: what a model only quotes is no call (P-23). A call's parameters are
checked by the models of `entrypoints/tools` (A-05).
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from recollect.core.event import Json
from recollect.tool_calls.objects import OBJECT_START, Allowance, Salvaged, read_object, salvage

MOST_WARNINGS = 100
STRAY_END = "an end marker stands without its beginning"
_EMPTY_FENCE = re.compile(r"```\w*+\s*+```")
_BEGINNING = re.compile(r"\[(?=ABP_TOOL:|TOOL_REQUEST\])")
_SPACE = re.compile(r"\s+")


class Protocol(StrEnum):
    """How a text was understood: as blocks of one of the protocols, or as text alone."""

    ABP = "abp"
    VCP = "vcp"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One request (A-03 to A-05): `tool` is trimmed and not empty; `repaired`: its JSON was repaired.

    `parameters` and `action` are the model's words, and give no right to anything.
    """

    tool: str
    parameters: Mapping[str, Json]
    action: str | None = None
    repaired: bool = False


@dataclass(frozen=True, slots=True)
class Block:
    """A block of the text, from `start` up to `end`; without a `call` it stays text."""

    start: int
    end: int
    call: ToolCall | None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Statistics:
    """How many texts were read as what (A-18). `abp_failed`: there were ABP blocks, and none held a request."""

    abp_ok: int = 0
    abp_failed: int = 0
    vcp_fallback: int = 0
    plain_text: int = 0


@dataclass(frozen=True, slots=True)
class ToolRequests:
    """The calls of a text in order, and the text around them: all of it where there are no calls."""

    protocol: Protocol
    calls: tuple[ToolCall, ...]
    text: str
    warnings: tuple[str, ...]
    statistics: Statistics


@dataclass(frozen=True, slots=True)
class ReadingPolicy:
    """`dual`: VCP is tried where no ABP block holds a request. `strict`: a block without its end marker is refused."""

    dual: bool = False
    strict: bool = False


def read_tool_calls(text: str, policy: ReadingPolicy) -> ToolRequests:
    """The requests in a model's text; without any, the text itself is the answer (A-12). Never raises."""
    abp = read_abp(text, strict=policy.strict)
    if any(block.call for block in abp):
        return _requests(Protocol.ABP, text, abp, [], Statistics(abp_ok=1))
    failed, warnings = min(1, len(abp)), _warnings(abp, "ABP")
    vcp = read_vcp(text, strict=policy.strict) if policy.dual else []
    if any(block.call for block in vcp):
        return _requests(Protocol.VCP, text, vcp, warnings, Statistics(abp_failed=failed, vcp_fallback=1))
    warnings += _warnings(vcp, "VCP") + ([STRAY_END] if not abp and stray_end(text) else [])
    return ToolRequests(Protocol.TEXT, (), text, tuple(warnings), Statistics(abp_failed=failed, plain_text=1))


def _requests(
    protocol: Protocol, text: str, blocks: Sequence[Block], before: Sequence[str], statistics: Statistics
) -> ToolRequests:
    rest = _without(text, blocks)
    warnings = [*before, *_warnings(blocks, protocol.upper())]
    if protocol is Protocol.ABP and stray_end(rest) and all(block.call for block in blocks):
        warnings.append(STRAY_END)
    calls = tuple(block.call for block in blocks if block.call)
    return ToolRequests(protocol, calls, rest, tuple(warnings), statistics)


def _warnings(blocks: Sequence[Block], name: str) -> list[str]:
    named = [
        f"{name} block {number}: {warning}"
        for number, block in enumerate(blocks, start=1)
        for warning in block.warnings
    ]
    left_out = len(named) - MOST_WARNINGS
    return named if left_out <= 0 else [*named[:MOST_WARNINGS], f"{left_out} more warnings about {name} blocks"]


def _without(text: str, blocks: Sequence[Block]) -> str:
    pieces, position = [], 0
    for block in blocks:
        if block.call:
            pieces.append(text[position : block.start])
            position = block.end
    pieces.append(text[position:])
    return _EMPTY_FENCE.sub("", "".join(pieces)).strip()


def defused(text: str) -> str:
    """The text, with a space in the beginning of every tool block: it reads much the same and calls nothing."""
    return _BEGINNING.sub("[ ", text)


def without_quoted_calls(answer: str, sent: Iterable[str]) -> tuple[str, int]:
    """A model's answer, with each tool block defused that its prompt already held; and their number.

    White space makes no difference. A block that the model wrote itself stays a call.
    """
    blocks = [*read_abp(answer, strict=False), *read_vcp(answer, strict=False)]
    known = _squeezed("\0".join(sent)) if blocks else ""
    quoted = [(one.start, one.end) for one in blocks if _squeezed(answer[one.start : one.end]) in known]
    pieces, position = [], 0
    for start, end in sorted(quoted):
        pieces += [answer[position:start], defused(answer[max(start, position) : end])]
        position = max(end, position)
    return "".join([*pieces, answer[position:]]), len(quoted)


def _squeezed(text: str) -> str:
    return _SPACE.sub("", text)


LONGEST_NAME = 128
NAME_KEY = "tool_name"
LONGEST_KEY = 128
NO_END = "the end marker is missing"
ABP_NO_NAME = "the tool has no name"
NO_OBJECT = "there is no valid JSON object in it"
REPAIRED = "its JSON had to be repaired"
VCP_NO_NAME = f"no field {NAME_KEY} names the tool"
OPEN_FIELD = "a field has no 「末」"
_ABP_START = re.compile(rf"\[\[ABP_TOOL:([^\[\]\n]{{0,{LONGEST_NAME}}}+)\]\]")
_ABP_END = re.compile(r"\[\[(?:END_ABP_TOOL|/ABP_TOOL)\]\]")
_MARKER = re.compile(f"{_ABP_START.pattern}|{_ABP_END.pattern}")
_ABP_NEXT = re.compile(f"{_MARKER.pattern}|(?P<object>{OBJECT_START.pattern})")
_FENCE_END = re.compile(r"\s*+```")
_VCP_START = "<<<[TOOL_REQUEST]>>>"
_VCP_END = "<<<[END_TOOL_REQUEST]>>>"
_OPEN, _CLOSE = "「始」", "「末」"
_VCP_NEXT = re.compile("|".join(map(re.escape, (_OPEN, _VCP_START, _VCP_END))))
_KEY = re.compile(rf"([^\s:,「」<>]{{1,{LONGEST_KEY}}}+)\s*+:\s*+$")


def read_abp(text: str, *, strict: bool) -> list[Block]:
    """The blocks in order. `strict` refuses one whose end marker is missing; else it ends where the next begins."""
    blocks: list[Block] = []
    allowance, position = Allowance.of(text), 0
    while found := _ABP_START.search(text, position):
        blocks.append(_read_abp_block(text, found, strict, allowance))
        position = blocks[-1].end
    return blocks


def stray_end(text: str) -> bool:
    """Whether an end marker stands in a text without blocks."""
    return _ABP_END.search(text) is not None


def _read_abp_block(text: str, opening: re.Match[str], strict: bool, allowance: Allowance) -> Block:
    content, stop = _read_content(text, opening.end(), allowance)
    closing = _ABP_END.match(text, stop)
    warnings = [] if closing else [NO_END]
    end = closing.end() if closing else stop if content is None else _after(text, content)
    if strict and not closing:
        return Block(opening.start(), stop, None, (NO_END,))
    call = _call(opening[1].strip(), content, warnings)
    return Block(opening.start(), end, call, tuple(warnings))


def _read_content(text: str, start: int, allowance: Allowance) -> tuple[Salvaged | None, int]:
    """The object, and where the block stops: at a marker, or at the end of the text.

    A marker inside a string of a valid object is a part of that string. After a damaged object nothing tells a string
    from the rest: from there on the next marker counts, wherever it stands.
    """
    content, position = None, start
    while found := _ABP_NEXT.search(text, position):
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
    fence = _FENCE_END.match(text, content.end)
    return fence.end() if fence else content.end


def _call(name: str, content: Salvaged | None, warnings: list[str]) -> ToolCall | None:
    if not name:
        warnings.append(ABP_NO_NAME)
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


def read_vcp(text: str, *, strict: bool) -> list[Block]:
    """The blocks in order; a value may hold anything but 「末」. `strict` refuses a block without its end marker."""
    blocks: list[Block] = []
    position = text.find(_VCP_START)
    while position >= 0:
        blocks.append(_read_vcp_block(text, position, strict))
        position = text.find(_VCP_START, blocks[-1].end)
    return blocks


def _read_vcp_block(text: str, start: int, strict: bool) -> Block:
    fields, stop, warnings = _read_fields(text, start + len(_VCP_START))
    closed = text.startswith(_VCP_END, stop)
    end = stop + len(_VCP_END) if closed else stop
    if not closed:
        warnings.append(NO_END)
    name = str(fields.pop(NAME_KEY, "")).strip()
    if not 1 <= len(name) <= LONGEST_KEY:
        warnings.append(VCP_NO_NAME)
    refused = VCP_NO_NAME in warnings or OPEN_FIELD in warnings or (strict and not closed)
    return Block(start, end, None if refused else ToolCall(name, fields), tuple(warnings))


def _read_fields(text: str, start: int) -> tuple[dict[str, Json], int, list[str]]:
    """The fields, where the block stops, and what was wrong. Of equal keys the last counts.

    Without one 「末」 more in the text no later field has an end, so reading stops there.
    """
    fields: dict[str, Json] = {}
    position = start
    while found := _VCP_NEXT.search(text, position):
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
