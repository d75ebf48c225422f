"""Option groups of arbitration, merging and detection: declared once, read from JSON by the documents' own names.

Inside a field has a Python name (`merge_threshold`), outside that of the documents (`mergeThreshold`). Each carries
its bounds and its meaning, from which it is read here and described to the document of the surface.
"""

import re
from collections.abc import Mapping
from dataclasses import Field, field, fields, replace
from typing import Any, TypeVar

from recollect.domain.rule_values import Kind, Place, is_object

TOLERANCE = 1e-9
"""Within which two numbers count as equal (P-11)."""

OptionsT = TypeVar("OptionsT")

_BAR = re.compile(r"_([a-z])")


def option(kind: Kind, default: Any, meaning: str) -> Any:
    """A single option."""
    return field(default=default, metadata={"kind": kind, "meaning": meaning})


def grouped(meaning: str) -> Mapping[str, Any]:
    """What a field says of itself that holds a group of options inside of another one."""
    return {"group": True, "meaning": meaning}


def option_name(one: "Field[Any]") -> str:
    """How an option is called outside: `merge_threshold` is `mergeThreshold`."""
    return _BAR.sub(lambda bar: bar.group(1).upper(), one.name)


def option_names(options: Any) -> tuple[str, ...]:
    """The outside names of a group of options."""
    return tuple(option_name(one) for one in fields(options))


def read_options(document: Any, before: OptionsT, place: Place) -> OptionsT:
    """The options of a JSON object merged over those before; what is wrong is reported at its path and left out."""
    if not is_object(document, place):
        return before
    known: dict[str, Field[Any]] = {option_name(one): one for one in fields(before)}  # type: ignore[arg-type]
    refuse_unknown(document, known, place)
    named = {name: one for name, one in known.items() if name in document}
    read = {one.name: _read(one, document[name], before, place.inside(name)) for name, one in named.items()}
    return replace(before, **read)  # type: ignore[type-var]


def options_document(options: Any) -> dict[str, Any]:
    """Options as a JSON object, which reads back as the same."""
    return {option_name(one): _plain(one, getattr(options, one.name)) for one in fields(options)}


def refuse_unknown(document: Mapping[str, Any], known: Any, place: Place) -> None:
    """Reports every name that is not known."""
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
