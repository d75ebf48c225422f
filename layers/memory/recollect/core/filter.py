"""The one grammar of filters over JSON documents: its tree, its meaning (`holds`), and its JSON form (docs/filters.md).

A path goes through objects by names with dots between; it does not enter lists. What a condition compares is typed: a
number is compared with numbers, a text with texts (by code point, so that dates of one ISO form compare as dates), and
nothing else is ordered. A field that is not there fulfils no condition but `ne` and `exists: false`. Adapters compile
the tree; `holds` decides what a compiled one must mean.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, TypeAlias

from recollect.core.errors import InvalidInput

MOST_CONDITIONS = 64
"""Conditions of one filter, those inside connectives included."""
MOST_DEPTH = 8
"""Connectives within connectives."""
MOST_NAMES = 16
"""Names of a path."""
MOST_CHOICES = 100
"""Values of `in`."""

_NAME = re.compile(r"""[^.$"'\\()\[\]{};\x00-\x1f\x7f]{1,128}""")
_LARGEST, _SMALLEST = 2**63 - 1, -(2**63)
_AND, _OR, _NOT = "and", "or", "not"


class Operator(StrEnum):
    """What a condition asks of the value at its path."""

    EQ = "eq"
    NE = "ne"
    IN = "in"
    GT = "gt"
    GTE = "gte"
    LT = "lt"
    LTE = "lte"
    CONTAINS = "contains"
    ICONTAINS = "icontains"
    EXISTS = "exists"


ORDERING: Final = frozenset({Operator.GT, Operator.GTE, Operator.LT, Operator.LTE})


@dataclass(frozen=True, slots=True)
class Condition:
    """One comparison. `value` is JSON; a sequence for `in`, a boolean for `exists`."""

    path: tuple[str, ...]
    operator: Operator
    value: Any


@dataclass(frozen=True, slots=True)
class AllOf:
    """Every one holds; so does none at all."""

    filters: tuple["Filter", ...] = ()


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one holds; of none, none does."""

    filters: tuple["Filter", ...] = ()


@dataclass(frozen=True, slots=True)
class Not:
    """The opposite."""

    filter: "Filter"


Filter: TypeAlias = Condition | AllOf | AnyOf | Not
EVERYTHING: Final = AllOf()


class _Missing:
    """No value: distinct from JSON's null."""


MISSING: Final = _Missing()


def holds(wanted: Filter, document: Mapping[str, Any]) -> bool:
    """Whether the document passes: the meaning that every compiled form must have."""
    if isinstance(wanted, AllOf):
        return all(holds(one, document) for one in wanted.filters)
    if isinstance(wanted, AnyOf):
        return any(holds(one, document) for one in wanted.filters)
    if isinstance(wanted, Not):
        return not holds(wanted.filter, document)
    return fulfils(value_at(document, wanted.path), wanted.operator, wanted.value)


def value_at(document: Any, path: Sequence[str]) -> Any:
    """What is at the path; MISSING where an object on the way lacks the name, or is none."""
    for name in path:
        if not isinstance(document, Mapping) or name not in document:
            return MISSING
        document = document[name]
    return document


def fulfils(value: Any, operator: Operator, wanted: Any) -> bool:
    """Whether a value, or MISSING, fulfils one condition."""
    if operator is Operator.EXISTS:
        return (value is not MISSING) is wanted
    if operator is Operator.NE:
        return value is MISSING or not same(value, wanted)
    if value is MISSING:
        return False
    if operator is Operator.EQ:
        return same(value, wanted)
    if operator is Operator.IN:
        return any(same(value, one) for one in wanted)
    if operator in ORDERING:
        return _ordered(value, operator, wanted)
    return _contained(value, wanted, folded=operator is Operator.ICONTAINS)


def same(first: Any, second: Any) -> bool:
    """Whether two JSON values are equal: 1 is 1.0, but true is not 1; the order of an object's names is nothing."""
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return first.keys() == second.keys() and all(same(first[name], second[name]) for name in first)
    if isinstance(first, list | tuple) and isinstance(second, list | tuple):
        return len(first) == len(second) and all(map(same, first, second))
    return kind_of(first) == kind_of(second) and bool(comparable(first) == comparable(second))


def kind_of(value: Any) -> str:
    """`null`, `boolean`, `number`, `text`, `list` or `object`: values of two kinds are never equal."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "text"
    return "object" if isinstance(value, Mapping) else "list"


def comparable(value: Any) -> Any:
    """A number as every engine has it: a whole one of more than 64 bits is the nearest floating-point number."""
    if isinstance(value, int) and not isinstance(value, bool) and not _SMALLEST <= value <= _LARGEST:
        try:
            return float(value)
        except OverflowError:
            return float("inf") if value > 0 else float("-inf")
    return value


def _ordered(value: Any, operator: Operator, wanted: Any) -> bool:
    if kind_of(value) != kind_of(wanted) or kind_of(value) not in ("number", "text"):
        return False
    first, second = comparable(value), comparable(wanted)
    if operator is Operator.GT:
        return bool(first > second)
    if operator is Operator.GTE:
        return bool(first >= second)
    return bool(first < second) if operator is Operator.LT else bool(first <= second)


def _contained(value: Any, wanted: Any, *, folded: bool) -> bool:
    """A part of a text, or a member of a list; `folded` without regard to upper and lower case."""
    if isinstance(value, str):
        return isinstance(wanted, str) and _cased(wanted, folded) in _cased(value, folded)
    return isinstance(value, list | tuple) and any(same(_cased(one, folded), _cased(wanted, folded)) for one in value)


def _cased(value: Any, folded: bool) -> Any:
    return value.casefold() if folded and isinstance(value, str) else value


def filter_of(document: Any) -> Filter:
    """The filter that JSON stands for. Raises InvalidInput, whose `loc` leads to what is wrong.

    `{"and": [...]}`, `{"or": [...]}`, `{"not": {...}}`; any other name is a path, with a value that must be equal or an
    object of operators. What stands side by side must all hold.
    """
    return bounded(_read(document, (), 0))


def bounded(wanted: Filter) -> Filter:
    """The filter. Raises InvalidInput where it has more conditions than `MOST_CONDITIONS`."""
    if sum(1 for _ in conditions_in(wanted)) > MOST_CONDITIONS:
        raise InvalidInput(f"a filter of more than {MOST_CONDITIONS} conditions")
    return wanted


def conditions_in(wanted: Filter) -> Iterator[Condition]:
    """All conditions of a filter."""
    if isinstance(wanted, Condition):
        yield wanted
        return
    for one in (wanted.filter,) if isinstance(wanted, Not) else wanted.filters:
        yield from conditions_in(one)


def mapped(wanted: Filter, change: Callable[[Condition], Filter]) -> Filter:
    """The filter with each of its conditions changed."""
    if isinstance(wanted, Condition):
        return change(wanted)
    if isinstance(wanted, Not):
        return Not(mapped(wanted.filter, change))
    return type(wanted)(tuple(mapped(one, change) for one in wanted.filters))


def is_name(name: str) -> bool:
    """Whether a path can have this name."""
    return _NAME.fullmatch(name) is not None


def path_of(text: str, loc: Sequence[str | int] = ()) -> tuple[str, ...]:
    """The names of a dotted path. Raises InvalidInput for a name that no filter can have: empty, or with one of
    `$ " ' \\ ( ) [ ] { } ;` or a control character."""
    names = tuple(text.split("."))
    if len(names) > MOST_NAMES or not all(map(is_name, names)):
        raise InvalidInput("Invalid filter key: names with dots between, without quotes, brackets, $ or ;", loc)
    return names


def condition(path: tuple[str, ...], operator: Operator, value: Any, loc: Sequence[str | int] = ()) -> Condition:
    """A checked condition. Raises InvalidInput for a value that the operator does not take."""
    if operator is Operator.EXISTS and not isinstance(value, bool):
        raise InvalidInput("exists takes true or false", loc)
    if operator is Operator.IN and (not isinstance(value, list | tuple) or len(value) > MOST_CHOICES):
        raise InvalidInput(f"in takes a list of at most {MOST_CHOICES} values", loc)
    if operator is Operator.ICONTAINS and not isinstance(value, str):
        raise InvalidInput("icontains takes a text", loc)
    return Condition(path, operator, value)


def _read(document: Any, loc: tuple[str | int, ...], depth: int) -> Filter:
    if not isinstance(document, Mapping):
        raise InvalidInput("a filter is an object", loc)
    if depth > MOST_DEPTH:
        raise InvalidInput(f"a filter of more than {MOST_DEPTH} levels", loc)
    return together([one for name, value in document.items() for one in _entry(name, value, (*loc, name), depth)])


def _entry(name: str, value: Any, loc: tuple[str | int, ...], depth: int) -> list[Filter]:
    if name in (_AND, _OR):
        if not isinstance(value, list):
            raise InvalidInput(f"{name} takes a list of filters", loc)
        parts = tuple(_read(one, (*loc, place), depth + 1) for place, one in enumerate(value))
        return [AllOf(parts) if name == _AND else AnyOf(parts)]
    if name == _NOT:
        return [Not(_read(value, loc, depth + 1))]
    path = path_of(name, loc)
    if not isinstance(value, Mapping):
        return [condition(path, Operator.EQ, value, loc)]
    return [condition(path, _operator(op, (*loc, op)), one, (*loc, op)) for op, one in value.items()]


def _operator(name: str, loc: Sequence[str | int]) -> Operator:
    if name not in set(Operator):
        raise InvalidInput(f"an operator is one of {', '.join(Operator)}", loc)
    return Operator(name)


def null_or_absent(path: tuple[str, ...]) -> Filter:
    """Null at the path, or nothing there: the one and the other in the grammars of LangGraph and mem0."""
    return AnyOf((Condition(path, Operator.EQ, None), Condition(path, Operator.EXISTS, False)))


def together(parts: Sequence[Filter]) -> Filter:
    """All of these, as a filter."""
    return parts[0] if len(parts) == 1 else AllOf(tuple(parts))
