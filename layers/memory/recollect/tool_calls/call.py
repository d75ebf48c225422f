"""The tool calls of a text, and the warnings about its blocks."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from recollect.core.event import Json


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
