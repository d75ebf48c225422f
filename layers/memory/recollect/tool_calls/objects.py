"""Valid JSON objects in noise: where one may begin, and reading it."""

import json
import re
from dataclasses import dataclass
from math import isfinite
from typing import NoReturn

from recollect.core.event import Json

MOST_LEVELS = 32
"""Levels of nesting of a request; deeper ones are no request."""

OBJECT_START = re.compile(r'\{\s*+(?:["}]|[A-Za-z_][\w-]*+\s*+:)')
"""A brace that begins an object, whole or damaged; other braces are prose."""

_MOST_FAILURES = 1000
_MENDED_SHARE = 4


@dataclass(slots=True)
class Allowance:
    """How much damage of one text is read, so that the work stays linear.

    `failures`: attempts at objects that may be invalid (each makes the JSON module count lines from the text's
    beginning). `characters`: how many may still be read for repairs; the last attempt may exceed it.
    """

    failures: int
    characters: int

    @classmethod
    def of(cls, text: str) -> "Allowance":
        return cls(_MOST_FAILURES, _MENDED_SHARE * len(text))


@dataclass(frozen=True, slots=True)
class Reading:
    """An object and where it ends; or None and how far its text was read, at least one character."""

    value: dict[str, Json] | None
    end: int


class _NoRequest(ValueError):
    """A number that JSON does not know or that is no finite one."""


def _refuse_constant(name: str) -> NoReturn:
    raise _NoRequest(name)


def _finite(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise _NoRequest(text)
    return number


_STRICT = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_finite)
_LENIENT = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_finite, strict=False)


def read_object(text: str, start: int, allowance: Allowance) -> Reading:
    """The valid JSON object at `start`. A failure gives its place; one without a place ends at `start` + 1."""
    reading = _read(text, start) if allowance.failures > 0 else Reading(None, start + 1)
    if reading.value is None:
        allowance.failures -= 1
    return reading


def _read(text: str, start: int) -> Reading:
    try:
        value, end = _STRICT.raw_decode(text, start)
    except json.JSONDecodeError as error:
        return Reading(None, max(error.pos, start + 1))
    except (ValueError, RecursionError):
        return Reading(None, start + 1)
    return Reading(value if _is_request(value, text, start, end) else None, end)


def decode_object(text: str) -> dict[str, Json] | None:
    """The object of a repaired text, line breaks inside its strings allowed; None where it is none."""
    try:
        value, end = _LENIENT.raw_decode(text)
    except (ValueError, RecursionError):
        return None
    return value if _is_request(value, text, 0, end) else None


def _is_request(value: object, text: str, start: int, end: int) -> bool:
    if not isinstance(value, dict):
        return False
    openings = text.count("{", start, end) + text.count("[", start, end)
    shallow = openings <= MOST_LEVELS or _levels(value) <= MOST_LEVELS
    plain = text.isascii() and text.find("\\u", start, end) < 0
    return shallow and (plain or _is_unicode(value))


def _levels(value: object) -> int:
    """Counted layer by layer: no recursion on what a stranger wrote."""
    levels, layer = 0, [value]
    while layer := [part for part in layer if isinstance(part, dict | list)]:
        levels += 1
        layer = [inner for part in layer for inner in (part.values() if isinstance(part, dict) else part)]
    return levels


def _is_unicode(value: object) -> bool:
    """Half a surrogate pair cannot be written as UTF-8."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True
