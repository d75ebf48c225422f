"""Filters (`core.filter`) as DynamoDB's FilterExpression, over a map of a document's fields beside the packed document.

The map (`fields_of`) has the value at each path that a filter can name, by the path with dots: null, a truth value, a
number that DynamoDB compares exactly, a short text; of anything else an empty list, which says only that it is there.
A document with many fields has no map.

An expression lets through at least what `holds` accepts, and `holds` decides about the rest in this process: a field
that is only known to be there, a text without regard to case, a document without a map. Under `not` stands therefore
what holds for certain. What DynamoDB itself can decide it decides exactly as `holds` does.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, Final, TypeAlias

from recollect.adapters.aws.item_format import Attributes, Value, text
from recollect.adapters.aws.table import Passing
from recollect.core.filter import (
    MOST_NAMES,
    ORDERING,
    AllOf,
    Condition,
    Filter,
    Not,
    Operator,
    comparable,
    is_name,
    kind_of,
)

MAP: Final = "m"
"""The attribute of the map."""
MOST_MAP_BYTES = 512
"""Names and values; a search reads them with the document, in units of 4 KB."""
MOST_TEXT_BYTES = 64
_MOST_NAME_BYTES = 255
_MOST_EXPRESSION_BYTES = 4096
_MOST_OPERATORS = 300
_MOST_DIGITS = 10**38
_LEAST_FRACTION = 1e-100
_MOST_OPERAND_BYTES = 1024
_PLACEHOLDER = re.compile(r"[#:]p\d+")
_HALF = re.compile("[\ud800-\udfff]")
_THERE: Final[Value] = {"L": []}
_COMPARES = {Operator.GT: ">", Operator.GTE: ">=", Operator.LT: "<", Operator.LTE: "<="}

_Term: TypeAlias = str | bool
"""A part of an expression, or what it always is."""


def fields_of(document: Mapping[str, Any]) -> Value | None:
    """The map, as an attribute; None where it would be too large."""
    found: Attributes = {}
    left = MOST_MAP_BYTES
    for path, value in _fields(document, ()):
        name = ".".join(path)
        if len(name.encode()) <= _MOST_NAME_BYTES:
            found[name] = _stored(value) or _THERE
            left -= len(name.encode()) + len(found[name].get("S", "a number").encode())
        if left < 0:
            return None
    return {"M": found}


def expression_of(wanted: Filter) -> Passing | None:
    """The expression; None where it would say nothing, or more than DynamoDB takes."""
    parts = _Expression()
    term = parts.passing(wanted, surely=False)
    if term is True:
        return None
    said = str(_any([f"attribute_not_exists({MAP})", term]))
    if len(said) > _MOST_EXPRESSION_BYTES or parts.operators > _MOST_OPERATORS:
        return None
    used = set(_PLACEHOLDER.findall(said))  # DynamoDB refuses names and values that no part of the expression uses
    names = {short: path for path, short in parts.names.items() if short in used}
    return Passing(said, names, {short: value for short, value in parts.values.items() if short in used})


def _fields(document: Mapping[str, Any], above: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, value in document.items():
        if is_name(name) and len(above) < MOST_NAMES:
            yield (*above, name), value
            if isinstance(value, Mapping):
                yield from _fields(value, (*above, name))


def _stored(value: Any) -> Value | None:
    """As DynamoDB compares it; None where it would not, or not as `holds` does."""
    kind = kind_of(value)
    if kind == "null":
        return {"NULL": True}
    if kind == "boolean":
        return {"BOOL": value}
    if kind == "number":
        return _number(comparable(value))
    return _text(value) if kind == "text" else None


def _text(value: str, most_bytes: int = MOST_TEXT_BYTES) -> Value | None:
    """None for a longer one, and for half of a surrogate pair, which no request can hold."""
    return text(value) if len(value.encode(errors="surrogatepass")) <= most_bytes and not _HALF.search(value) else None


def _number(value: float) -> Value | None:
    """Exact where it is whole; else its shortest decimal form, which keeps the order of floating-point numbers."""
    if not isfinite(value) or abs(value) >= _MOST_DIGITS:
        return None
    if value == int(value):
        return {"N": str(int(value))}
    return {"N": repr(value)} if abs(value) > _LEAST_FRACTION else None


@dataclass(slots=True)
class _Expression:
    """What an expression has so far: what stands for each path, each value by what stands for it."""

    names: dict[str, str] = field(default_factory=dict)
    values: Attributes = field(default_factory=dict)
    operators: int = 1

    def passing(self, wanted: Filter, *, surely: bool) -> _Term:
        """What is true wherever the filter holds; `surely`: what is true only where it holds."""
        if isinstance(wanted, Not):
            return _denied(self.passing(wanted.filter, surely=not surely))
        if isinstance(wanted, Condition):
            return self._condition(wanted, surely=surely)
        terms = [self.passing(one, surely=surely) for one in wanted.filters]
        self.operators += len(terms)
        return _all(terms) if isinstance(wanted, AllOf) else _any(terms)

    def _condition(self, wanted: Condition, *, surely: bool) -> _Term:
        path = ".".join(wanted.path)
        if len(path.encode()) > _MOST_NAME_BYTES:
            return not surely
        if wanted.operator is Operator.NE:
            return _denied(self._condition(Condition(wanted.path, Operator.EQ, wanted.value), surely=not surely))
        self.operators += 4
        place = f"{MAP}.{self._name(path)}"
        if wanted.operator is Operator.EXISTS:
            return f"attribute_{'' if wanted.value else 'not_'}exists({place})"
        certain, undecided = self._decided(place, wanted.operator, wanted.value)
        return certain if surely else _any([certain, undecided])

    def _decided(self, place: str, operator: Operator, wanted: Any) -> tuple[_Term, _Term]:
        """Where it holds for certain, and where this cannot be told."""
        unknown = self._is_of(place, "L")
        if operator is Operator.EQ:
            return self._equal(place, [wanted]), unknown
        if operator is Operator.IN:
            return self._equal(place, wanted), unknown
        if operator in ORDERING:
            return self._ordered(place, operator, wanted, unknown)
        if not isinstance(wanted, str):
            return False, unknown
        part, is_text = _text(wanted, _MOST_OPERAND_BYTES), self._is_of(place, "S")
        if operator is Operator.ICONTAINS or part is None:
            return False, _any([unknown, is_text])
        return (f"contains({place}, {self._value(part)})" if wanted else is_text), unknown

    def _equal(self, place: str, choices: Sequence[Any]) -> _Term:
        stored = [one for one in map(_stored, choices) if one is not None]
        null = [self._is_of(place, "NULL")] if {"NULL": True} in stored else []
        rest = [self._value(one) for one in stored if "NULL" not in one]
        self.operators += len(rest)
        return _any([*null, *([f"{place} IN ({', '.join(rest)})"] if rest else [])])

    def _ordered(self, place: str, operator: Operator, wanted: Any, unknown: _Term) -> tuple[_Term, _Term]:
        kind = kind_of(wanted)
        if kind not in ("number", "text"):
            return False, False
        is_text = kind == "text"
        stored = _text(wanted, _MOST_OPERAND_BYTES) if is_text else _number(comparable(wanted))
        if stored is None:
            return False, _any([unknown, self._is_of(place, "S" if is_text else "N")])
        return f"{place} {_COMPARES[operator]} {self._value(stored)}", unknown

    def _is_of(self, place: str, kind: str) -> str:
        return f"attribute_type({place}, {self._value(text(kind))})"

    def _name(self, path: str) -> str:
        return self.names.setdefault(path, f"#p{len(self.names)}")

    def _value(self, value: Value) -> str:
        for short, stood in self.values.items():
            if stood == value and stood.keys() == value.keys():
                return short
        short = f":p{len(self.values)}"
        self.values[short] = value
        return short


def _denied(term: _Term) -> _Term:
    return not term if isinstance(term, bool) else f"(NOT {term})"


def _any(terms: Sequence[_Term]) -> _Term:
    return _joined(terms, " OR ", ends=True)


def _all(terms: Sequence[_Term]) -> _Term:
    return _joined(terms, " AND ", ends=False)


def _joined(terms: Sequence[_Term], between: str, *, ends: bool) -> _Term:
    """`ends` is what decides the whole alone. DynamoDB refuses brackets around brackets."""
    if any(term is ends for term in terms):
        return ends
    said = [term for term in terms if isinstance(term, str)]
    if len(said) < 2:
        return said[0] if said else not ends
    return f"({between.join(said)})"
