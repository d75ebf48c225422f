"""Which protocol a text speaks: ABP first, then VCP in dual mode, else it is text (A-12 to A-18)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from recollect.domain.tool_calls.abp import read_abp, stray_end
from recollect.domain.tool_calls.call import Block, Protocol, Statistics, ToolRequests
from recollect.domain.tool_calls.vcp import read_vcp

MOST_WARNINGS = 100
STRAY_END = "an end marker stands without its beginning"
_EMPTY_FENCE = re.compile(r"```\w*+\s*+```")


@dataclass(frozen=True, slots=True)
class ReadingPolicy:
    """`dual`: VCP is tried where no ABP block holds a request. `strict`: a block without its end marker is refused."""

    dual: bool = False
    strict: bool = False


def read_tool_calls(text: str, policy: ReadingPolicy) -> ToolRequests:
    """The requests in a model's text. Never raises; without any, the text is the answer as it stands (A-12)."""
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
    """One line each, of the first 100."""
    named = [
        f"{name} block {number}: {warning}"
        for number, block in enumerate(blocks, start=1)
        for warning in block.warnings
    ]
    left_out = len(named) - MOST_WARNINGS
    return named if left_out <= 0 else [*named[:MOST_WARNINGS], f"{left_out} more warnings about {name} blocks"]


def _without(text: str, blocks: Sequence[Block]) -> str:
    """The text around the blocks that were understood; what was not understood stays."""
    pieces, position = [], 0
    for block in blocks:
        if block.call:
            pieces.append(text[position : block.start])
            position = block.end
    pieces.append(text[position:])
    return _EMPTY_FENCE.sub("", "".join(pieces)).strip()
