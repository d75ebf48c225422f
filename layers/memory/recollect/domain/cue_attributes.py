"""Attributes of the cue rules: what a text may tell of somebody or something, and the ways to say it (P-24)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from recollect.domain.cue_checks import TEMPLATE_LISTS


@dataclass(frozen=True)
class Attribute:
    """An attribute of the rules.

    `nouns` name it, `about` are words that a text about it holds, `values` those that no other attribute has, `never`
    words that no value holds. `exclusive`: one value at a time. `request`: said to the assistant ("call me Joe").
    `personal`: one for a person, whatever stands before its noun. `of_things`: the speaker's things have it. `named`:
    a value is a name, a number or a noun with its article, no adjective ("my car is fast"), nor, unless `placed`,
    where it is. What a `held` template says takes another value's place only with "now" or a bound ("I'm in Rome until
    Friday").
    """

    name: str
    exclusive: bool
    request: bool
    personal: bool
    of_things: bool
    named: bool
    placed: bool
    nouns: frozenset[str]
    about: frozenset[str]
    values: frozenset[str]
    never: frozenset[str]
    state: tuple[str, ...]
    held: tuple[str, ...]
    change: tuple[str, ...]
    end: tuple[str, ...]


def read_attribute(name: str, value: Mapping[str, Any]) -> Attribute:
    """The attribute of a checked document; what is left out is false, or empty."""
    return Attribute(
        name,
        bool(value.get("exclusive", True)),
        bool(value.get("request", False)),
        bool(value.get("personal", False)),
        bool(value.get("of_things", False)),
        bool(value.get("named", False)),
        bool(value.get("placed", False)),
        frozenset(value.get("nouns", ())),
        frozenset(value.get("about", ())),
        frozenset(value.get("values", ())),
        frozenset(value.get("never", ())),
        *(tuple(value.get(kind, ())) for kind in TEMPLATE_LISTS),
    )
