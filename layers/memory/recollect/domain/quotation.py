"""What a model quotes is no call of its own: tool blocks in recalled text are never executed (A-01 to A-18, P-23)."""

import re
from collections.abc import Iterable

from recollect.domain.tool_calls.abp import read_abp
from recollect.domain.tool_calls.vcp import read_vcp

_BEGINNING = re.compile(r"\[(?=ABP_TOOL:|TOOL_REQUEST\])")
_SPACE = re.compile(r"\s+")


def defused(text: str) -> str:
    """The text, with the beginning of every tool block broken by a space: it reads much the same and calls nothing."""
    return _BEGINNING.sub("[ ", text)


def without_quoted_calls(answer: str, sent: Iterable[str]) -> tuple[str, int]:
    """A model's answer, with each tool block defused that stands in what the model was sent; and how many those were.

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
