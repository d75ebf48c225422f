"""The JSON objects of a block, out of whatever stands around and between them (A-08, A-10)."""

import re
from dataclasses import dataclass

from recollect.domain.event import Json
from recollect.domain.tool_calls.objects import OBJECT_START, Allowance, read_object
from recollect.domain.tool_calls.repair import mend_object

_BRACE = re.compile("[{}]")


@dataclass(frozen=True, slots=True)
class Salvaged:
    """The object that counts, and where it ends in the text; `repaired` where it had to be mended."""

    value: dict[str, Json]
    end: int
    repaired: bool


def salvage(text: str, start: int, end: int, allowance: Allowance) -> Salvaged | None:
    """The last valid object between `start` and `end`; where none is valid, the last that could be mended.

    An object inside a damaged one is a part of it and no request of its own.
    """
    body = text[start:end].rstrip().removesuffix("```").rstrip()
    valid: Salvaged | None = None
    mended: Salvaged | None = None
    pairs, position = _braces(body), 0
    while found := OBJECT_START.search(body, position):
        begin = found.start()
        reading = read_object(body, begin, allowance)
        if reading.value is not None:
            position = reading.end
            valid = Salvaged(reading.value, start + position, repaired=False)
            continue
        if allowance.failures <= 0 or allowance.characters <= 0:
            break
        attempt = mend_object(body, begin, len(body))
        allowance.characters -= attempt.end - begin + 1
        if attempt.value is not None:
            mended, position = Salvaged(attempt.value, start + attempt.end, repaired=True), attempt.end
        else:
            position = max(reading.end, pairs.get(begin, begin) + 1, _met(reading.end, begin, attempt.end))
    return valid or mended


def _met(read_to: int, begin: int, mended_to: int) -> int:
    """How far to go on where strict reading failed without a place: as far as mending came."""
    return mended_to if read_to == begin + 1 else read_to


def _braces(text: str) -> dict[int, int]:
    """Which closing brace belongs to which opening one, going by braces alone."""
    pairs: dict[int, int] = {}
    open_braces: list[int] = []
    for brace in _BRACE.finditer(text):
        if brace[0] == "{":
            open_braces.append(brace.start())
        elif open_braces:
            pairs[open_braces.pop()] = brace.start()
    return pairs
