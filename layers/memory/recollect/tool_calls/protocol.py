"""Which protocol a text speaks: ABP first, then VCP in dual mode, else it is text (A-12 to A-18).

Tool blocks in recalled text are never executed: what a model only quotes is no call (P-23).
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from recollect.tool_calls.call import Block, Protocol, Statistics, ToolRequests
from recollect.tool_calls.formats import read_abp, read_vcp, stray_end

MOST_WARNINGS = 100
STRAY_END = "an end marker stands without its beginning"
_EMPTY_FENCE = re.compile(r"```\w*+\s*+```")
_BEGINNING = re.compile(r"\[(?=ABP_TOOL:|TOOL_REQUEST\])")
_SPACE = re.compile(r"\s+")


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
