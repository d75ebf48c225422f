"""JSON objects in noise: where one may begin, reading it, and repairing a damaged one (A-07a, A-07b, A-08, A-10, P-8).

A repair is one linear pass over the tokens. Nothing is invented: a key without a value, a word that is no JSON or a
colon too many ends the attempt, and prose never becomes an object.
"""

import json
import re
from dataclasses import dataclass, field
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


_SPACE = re.compile(r"\s*+")
_STRING = re.compile(r'"[^"\\]*+(?:\\(?:u[0-9A-Fa-f]{4}|[^u])[^"\\]*+)*+')
_CUT_ESCAPE = re.compile(r"\\(?:u[0-9A-Fa-f]{0,3})?")
_SCALAR = re.compile(r"-?[0-9][0-9.eE+-]*+|true|false|null")
_AFTER_VALUE = re.compile(r"\s*+(?:[,}\]]|```|$)")
_BRACE = re.compile("[{}]")
_CLOSER = {"{": "}", "[": "]"}
_FENCE = "```"


@dataclass(frozen=True, slots=True)
class Salvaged:
    """The object that counts, and where it ends in the text; `repaired`: it was mended."""

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
            met = attempt.end if reading.end == begin + 1 else reading.end
            position = max(reading.end, pairs.get(begin, begin) + 1, met)
    return valid or mended


def mend_object(text: str, start: int, end: int) -> Reading:
    """The object that begins at `start` and should end before `end`, or at the end of a code fence.

    None where it is beyond repair.
    """
    mending = _Mending(text, start, end)
    try:
        mended = mending.run()
    except _Beyond:
        return Reading(None, mending.position)
    return Reading(decode_object(mended), mending.position)


class _Beyond(Exception):
    """What stands here cannot be mended."""


@dataclass(slots=True)
class _Mending:
    """`needs`: what comes next in the innermost container (key, colon, value, element)."""

    text: str
    position: int
    end: int
    needs: str = "value"
    open: list[str] = field(default_factory=list)
    out: list[str] = field(default_factory=list)
    comma: bool = True

    def run(self) -> str:
        self._step()
        while self.open:
            self.position = self._skipped(self.position)
            if self.position >= self.end or self.text.startswith(_FENCE, self.position):
                self._close_all()
            else:
                self._step()
        return "".join(self.out)

    def _skipped(self, position: int) -> int:
        space = _SPACE.match(self.text, position, self.end)
        return space.end() if space else position

    def _step(self) -> None:
        mark = self.text[self.position]
        if mark == '"':
            self._string()
        elif mark in _CLOSER:
            self._open(mark)
        elif mark in "}]":
            self._close(mark)
        elif mark == ",":
            self._comma()
        elif mark == ":":
            self._colon()
        else:
            self._scalar()

    def _open(self, mark: str) -> None:
        joined = self.needs == "element" and not self.comma and self.out[-1] not in _CLOSER.values()
        if self.needs == "key" or joined or len(self.open) >= MOST_LEVELS:
            raise _Beyond
        self._begin(mark)
        self.open.append(mark)
        self.needs, self.comma = ("key" if mark == "{" else "element"), True
        self.position += 1

    def _close(self, mark: str) -> None:
        """Brackets inside it that stayed open are closed before it."""
        if self.needs not in ("key", "element"):
            raise _Beyond
        kinds = [_CLOSER[opened] for opened in self.open]
        if mark not in kinds:
            raise _Beyond
        for closer in reversed(kinds[len(kinds) - kinds[::-1].index(mark) - 1 :]):
            self._close_one(closer)
        self.position += 1

    def _close_one(self, closer: str) -> None:
        self.open.pop()
        self.out.append(closer)
        self._value_done()

    def _close_all(self) -> None:
        """The text ends here: only brackets may be missing, no value and no colon."""
        if self.needs not in ("key", "element"):
            raise _Beyond
        while self.open:
            self._close_one(_CLOSER[self.open[-1]])

    def _comma(self) -> None:
        """A comma too many is dropped: commas are written again before each element."""
        if self.needs not in ("key", "element"):
            raise _Beyond
        self.comma = True
        self.position += 1

    def _colon(self) -> None:
        if self.needs != "colon":
            raise _Beyond
        self.out.append(":")
        self.needs = "value"
        self.position += 1

    def _scalar(self) -> None:
        scalar = _SCALAR.match(self.text, self.position, self.end)
        if scalar is None or self.needs == "key":
            raise _Beyond
        self._begin(scalar[0])
        self._value_done()
        self.position = scalar.end()

    def _string(self) -> None:
        string = _STRING.match(self.text, self.position, self.end)
        if string is None:
            raise _Beyond
        stop = string.end()
        if stop < self.end and self.text[stop] == '"':
            self._closed_string(stop)
        elif stop == self.end or _CUT_ESCAPE.fullmatch(self.text, stop, self.end):
            self._open_string(stop)
        else:
            raise _Beyond

    def _closed_string(self, stop: int) -> None:
        """Where the second quote begins the next string, the first string's own is missing before it."""
        content, after = self.text[self.position + 1 : stop], stop + 1
        if self.needs == "key":
            self._begin(f'"{content}"')
            self.needs = "colon"
        else:
            body = content.rstrip()
            if body.endswith(",") and not _AFTER_VALUE.match(self.text, after, self.end):
                content, after = body[:-1], stop
            self._begin(f'"{content}"')
            self._value_done()
            self.comma = after == stop
        self.position = after

    def _open_string(self, stop: int) -> None:
        """The text ends inside a string: it is closed before the brackets are (A-07b)."""
        if self.needs == "key":
            raise _Beyond
        content = _without_closers(self.text[self.position + 1 : stop], [_CLOSER[mark] for mark in self.open])
        self._begin(f'"{content}"')
        self._value_done()
        self.position = self.end

    def _begin(self, piece: str) -> None:
        if self.needs == "colon":
            raise _Beyond
        if self.needs != "value" and self.out[-1] not in _CLOSER:
            self.out.append(",")
        self.out.append(piece)

    def _value_done(self) -> None:
        self.needs = "element" if self.open and self.open[-1] == "[" else "key"
        self.comma = False


def _without_closers(content: str, closers: list[str]) -> str:
    """An open string, less the brackets at its end that close the containers around it.

    Brackets stay that pair up with one inside the string.
    """
    tail = "".join(content[len(content.rstrip("]} \t\r\n")) :].split())
    needed = "".join(reversed(closers))
    count = min(len(tail), len(needed))
    if not count or tail[len(tail) - count :] != needed[:count]:
        return content
    body = content
    for _ in range(count):
        body = body.rstrip()[:-1]
    pairs = body.count("{") == body.count("}") and body.count("[") == body.count("]")
    return body.rstrip() if pairs else content


def _braces(text: str) -> dict[int, int]:
    pairs: dict[int, int] = {}
    open_braces: list[int] = []
    for brace in _BRACE.finditer(text):
        if brace[0] == "{":
            open_braces.append(brace.start())
        elif open_braces:
            pairs[open_braces.pop()] = brace.start()
    return pairs
