"""Kinds of rule values and groups of options: how they are read from JSON, and their bounds in words.

A value out of bounds is reported at its place (`Place.refuse`), and the value before it stays. A field has a Python
name inside (`merge_threshold`) and a JSON name outside (`mergeThreshold`); its kind and its meaning also feed the
documentation.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import Field, dataclass, field, fields, replace
from typing import Any, Protocol, TypeVar

MOST_FAULTS = 100
MOST_TEXTS = 1_000
LONGEST_TEXT_BYTES = 256
LONGEST_NAME_BYTES = 128
_SHOWN_CHARACTERS = 64

Path = tuple[str | int, ...]

TOLERANCE = 1e-9
"""Two numbers closer than this count as equal (P-11)."""

OptionsT = TypeVar("OptionsT")

_BAR = re.compile(r"_([a-z])")


@dataclass(frozen=True, slots=True)
class RuleFault:
    """A fault at a path of a rules document; the message repeats no value."""

    path: Path
    message: str


@dataclass(frozen=True, slots=True)
class Place:
    """A place in the document being read, and the faults so far, at most 100."""

    path: Path = ()
    faults: list[RuleFault] = field(default_factory=list)

    def inside(self, step: str | int) -> "Place":
        """A part of this place; a long name is cut, and invalid Unicode replaced."""
        shown = step[:_SHOWN_CHARACTERS].encode("utf-8", "replace").decode() if isinstance(step, str) else step
        return Place((*self.path, shown), self.faults)

    def refuse(self, message: str) -> None:
        """Reports a fault here."""
        if len(self.faults) < MOST_FAULTS:
            self.faults.append(RuleFault(self.path, message))


class Kind(Protocol):
    """A kind of value."""

    @property
    def bounds(self) -> str:
        """The allowed values in a few words, for documentation and messages."""

    def read(self, value: Any, before: Any, place: Place) -> Any:
        """The value in the form that the rules hold; `before`, with a reported fault, for one out of bounds."""


@dataclass(frozen=True, slots=True)
class Flag:
    """True or false."""

    @property
    def bounds(self) -> str:
        return "true or false"

    def read(self, value: Any, before: Any, place: Place) -> Any:
        if isinstance(value, bool):
            return value
        place.refuse("must be true or false")
        return before


@dataclass(frozen=True, slots=True)
class Number:
    """A finite number, ends inclusive; true and false are not numbers.

    `whole`: without a fraction; `above`: more than the minimum; `optional`: or null.
    """

    minimum: float
    maximum: float
    whole: bool = False
    above: bool = False
    optional: bool = False

    @property
    def bounds(self) -> str:
        sort = "whole number" if self.whole else "number"
        least = "above " if self.above else ""
        null = ", or null" if self.optional else ""
        return f"{sort}, {least}{self.minimum:g} to {self.maximum:.15g}{null}"

    def read(self, value: Any, before: Any, place: Place) -> Any:
        if value is None and self.optional:
            return None
        allowed = int if self.whole else int | float
        if isinstance(value, bool) or not isinstance(value, allowed) or not self._holds(value):
            place.refuse(f"must be a {self.bounds}")
            return before
        return value if self.whole else float(value)

    def _holds(self, value: float) -> bool:
        if isinstance(value, float) and not math.isfinite(value):
            return False
        return self.minimum <= value <= self.maximum and not (self.above and value == self.minimum)


@dataclass(frozen=True, slots=True)
class Choice:
    """One of these words."""

    names: tuple[str, ...]

    @property
    def bounds(self) -> str:
        return f"one of {', '.join(self.names)}"

    def read(self, value: Any, before: Any, place: Place) -> Any:
        if isinstance(value, str) and value in self.names:
            return value
        place.refuse(f"must be {self.bounds}")
        return before


@dataclass(frozen=True, slots=True)
class Choices:
    """Several of these words; `optional`: or null."""

    names: tuple[str, ...]
    optional: bool = False

    @property
    def bounds(self) -> str:
        return f"list of {', '.join(self.names)}{', or null' if self.optional else ''}"

    def read(self, value: Any, before: Any, place: Place) -> Any:
        if value is None and self.optional:
            return None
        if not _is_list(value, len(self.names), place):
            return before
        return _each(Choice(self.names).read, value, before, place)


@dataclass(frozen=True, slots=True)
class Texts:
    """Words and phrases, none of them blank; the list replaces the one before."""

    @property
    def bounds(self) -> str:
        return "list of texts"

    def read(self, value: Any, before: Any, place: Place) -> Any:
        return _each(_read_text, value, before, place) if _is_list(value, MOST_TEXTS, place) else before


@dataclass(frozen=True, slots=True)
class Table:
    """Names with values of one kind, merged by name over those before; `names`.

    The only allowed ones, empty for any.
    """

    values: Kind
    names: tuple[str, ...] = ()
    most: int = 200

    @property
    def bounds(self) -> str:
        names = ", ".join(self.names) or "any name"
        return f"{names}: {self.values.bounds}"

    def read(self, value: Any, before: Mapping[str, Any], place: Place) -> Any:
        """Existing names keep their place, new ones come at the end."""
        if not is_object(value, place):
            return before
        if len(value) > self.most:
            place.refuse(f"must have at most {self.most} names")
            return before
        known = [name for name in value if self._is_name(name, place.inside(name))]
        read = {name: self.values.read(value[name], None, place.inside(name)) for name in known}
        return {**before, **{name: one for name, one in read.items() if one is not None}}

    def _is_name(self, name: str, place: Place) -> bool:
        fault = text_fault(name, LONGEST_NAME_BYTES)
        if self.names and name not in self.names:
            fault = f"unknown name: one of {', '.join(self.names)}"
        if fault:
            place.refuse(fault)
        return not fault


def _read_text(value: Any, before: Any, place: Place) -> Any:
    fault = text_fault(value, LONGEST_TEXT_BYTES)
    if fault:
        place.refuse(fault)
    return before if fault else value


def is_object(value: Any, place: Place) -> bool:
    """Whether it is a JSON object; reports a fault otherwise."""
    if not isinstance(value, dict):
        place.refuse("must be an object")
    return isinstance(value, dict)


def text_fault(value: Any, most_bytes: int) -> str | None:
    """The fault of a text; None for a valid one."""
    if not isinstance(value, str):
        return "must be text"
    if not value.strip():
        return "must not be blank"
    try:
        size = len(value.encode())
    except UnicodeEncodeError:
        return "has half of a surrogate pair, which is no Unicode text"
    return f"must be at most {most_bytes} bytes of UTF-8" if size > most_bytes else None


def _is_list(value: Any, most: int, place: Place) -> bool:
    if not isinstance(value, list):
        place.refuse("must be a list")
        return False
    if len(value) > most:
        place.refuse(f"must have at most {most} entries")
    return len(value) <= most


def _each(read: Callable[[Any, Any, Place], Any], values: Iterable[Any], before: Any, place: Place) -> Any:
    """All values; the list before where one is wrong."""
    found = tuple(read(value, None, place.inside(position)) for position, value in enumerate(values))
    return before if None in found else found


def option(kind: Kind, default: Any, meaning: str) -> Any:
    """A field of a group of options."""
    return field(default=default, metadata={"kind": kind, "meaning": meaning})


def grouped(meaning: str) -> Mapping[str, Any]:
    """Field metadata for a group of options inside of another one."""
    return {"group": True, "meaning": meaning}


def option_name(one: "Field[Any]") -> str:
    """An option's JSON name: `merge_threshold` is `mergeThreshold`."""
    return _BAR.sub(lambda bar: bar.group(1).upper(), one.name)


def option_names(options: Any) -> tuple[str, ...]:
    """The JSON names of a group of options."""
    return tuple(option_name(one) for one in fields(options))


def read_options(document: Any, before: OptionsT, place: Place) -> OptionsT:
    """The options of a JSON object merged over those before.

    Faults are reported at their paths, their values left out.
    """
    if not is_object(document, place):
        return before
    known: dict[str, Field[Any]] = {option_name(one): one for one in fields(before)}  # type: ignore[arg-type]
    refuse_unknown(document, known, place)
    named = {name: one for name, one in known.items() if name in document}
    read = {one.name: _read(one, document[name], before, place.inside(name)) for name, one in named.items()}
    return replace(before, **read)  # type: ignore[type-var]


def options_document(options: Any) -> dict[str, Any]:
    """Options as a JSON object; reading it gives the same options."""
    return {option_name(one): _plain(one, getattr(options, one.name)) for one in fields(options)}


def refuse_unknown(document: Mapping[str, Any], known: Any, place: Place) -> None:
    """Reports every unknown name."""
    for name in document:
        if name not in known:
            place.inside(name).refuse("unknown name")


def _read(one: "Field[Any]", value: Any, options: Any, place: Place) -> Any:
    before = getattr(options, one.name)
    if "group" in one.metadata:
        return read_options(value, before, place)
    kind: Kind = one.metadata["kind"]
    return kind.read(value, before, place)


def _plain(one: "Field[Any]", value: Any) -> Any:
    return options_document(value) if "group" in one.metadata else value
