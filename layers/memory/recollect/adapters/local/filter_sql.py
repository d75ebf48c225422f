"""Filters as SQL over a column of JSON (`core.filter`).

SQLite decides what it decides exactly as `core.filter.holds`: types, comparisons of numbers, texts, booleans and null,
parts of texts, presence. Whole lists and objects, members of lists and upper and lower case of every script are left to
the reference itself, as a function of the connection; so are documents with the text `\\u0000`, at which SQLite's JSON
functions end a text.
"""

import json
import sqlite3
from collections.abc import Mapping
from typing import Any, NamedTuple

from recollect.core.filter import (
    ORDERING,
    AllOf,
    AnyOf,
    Condition,
    Filter,
    Not,
    Operator,
    comparable,
    fulfils,
    kind_of,
    value_at,
)

FUNCTION = "recollect_fulfils"
_TYPES = {"null": "('null')", "boolean": "('true', 'false')", "number": "('integer', 'real')", "text": "('text')"}
_COMPARES = {Operator.GT: ">", Operator.GTE: ">=", Operator.LT: "<", Operator.LTE: "<="}
_NUL = r"\u0000"


class Sql(NamedTuple):
    """A condition of a WHERE and its parameters."""

    text: str
    parameters: tuple[Any, ...] = ()


def filter_sql(wanted: Filter, column: str) -> Sql:
    """The filter over that column; `enable` must have been called for the connection."""
    if isinstance(wanted, AllOf):
        return _joined(wanted.filters, column, " AND ", "1")
    if isinstance(wanted, AnyOf):
        return _joined(wanted.filters, column, " OR ", "0")
    if isinstance(wanted, Not):
        inner = filter_sql(wanted.filter, column)
        return Sql(f"NOT ({inner.text})", inner.parameters)
    return _condition(wanted, column)


def enable(connection: sqlite3.Connection) -> None:
    """Gives the connection the function that conditions are left to."""
    connection.create_function(FUNCTION, 4, _fulfils, deterministic=True)


def _joined(parts: tuple[Filter, ...], column: str, between: str, empty: str) -> Sql:
    found = [filter_sql(one, column) for one in parts]
    if not found:
        return Sql(empty)
    return Sql(f"({between.join(one.text for one in found)})", tuple(p for one in found for p in one.parameters))


def _condition(wanted: Condition, column: str) -> Sql:
    path = json_path(wanted.path)
    if wanted.operator is Operator.EXISTS:
        return Sql(f"json_type({column}, ?) IS {'NOT ' if wanted.value else ''}NULL", (path,))
    native = _native(wanted, column, path)
    names = json.dumps(wanted.path), wanted.operator.value, json.dumps(wanted.value)
    left = Sql(f"{FUNCTION}({column}, ?, ?, ?)", names)
    if native is None:
        return left
    text = f"CASE WHEN instr({column}, '{_NUL}') THEN {left.text} ELSE {native.text} END"
    return Sql(text, (*left.parameters, *native.parameters))


def _native(wanted: Condition, column: str, path: str) -> Sql | None:
    """None where the reference has to decide."""
    operator, value = wanted.operator, wanted.value
    if operator is Operator.EQ:
        return _equal(value, column, path)
    if operator is Operator.NE:
        equal = _equal(value, column, path)
        return equal and Sql(f"NOT ({equal.text})", equal.parameters)
    if operator is Operator.IN:
        parts = [_equal(one, column, path) for one in value]
        if None in parts:
            return None
        found = [one for one in parts if one is not None]
        return Sql(
            f"({' OR '.join(one.text for one in found) or '0'})", tuple(p for one in found for p in one.parameters)
        )
    if operator in ORDERING:
        return _ordered(operator, value, column, path)
    return None


def _equal(value: Any, column: str, path: str) -> Sql | None:
    kind = kind_of(value)
    if kind == "null":
        return Sql(f"ifnull(json_type({column}, ?), '') = 'null'", (path,))
    if kind == "boolean":
        return Sql(f"ifnull(json_type({column}, ?), '') = ?", (path, "true" if value else "false"))
    return _compared("=", value, column, path) if kind in ("number", "text") else None


def _ordered(operator: Operator, value: Any, column: str, path: str) -> Sql:
    if kind_of(value) not in ("number", "text"):
        return Sql("0")
    return _compared(_COMPARES[operator], value, column, path)


def _compared(sign: str, value: Any, column: str, path: str) -> Sql:
    types = _TYPES[kind_of(value)]
    text = f"(ifnull(json_type({column}, ?), '') IN {types} AND json_extract({column}, ?) {sign} ?)"
    return Sql(text, (path, path, comparable(value)))


def json_path(path: tuple[str, ...]) -> str:
    """SQLite's form of a path; its names hold neither quotes nor backslashes."""
    return "$" + "".join(f'."{name}"' for name in path)


def _fulfils(document: str, path: str, operator: str, wanted: str) -> bool:
    value: Mapping[str, Any] = json.loads(document)
    return fulfils(value_at(value, json.loads(path)), Operator(operator), json.loads(wanted))
