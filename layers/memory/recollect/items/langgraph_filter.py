"""LangGraph's filters in our grammar (langgraph-checkpoint 4.3.2, `store.base.SearchOp.filter`).

`{"status": "active", "score": {"$gt": 4.99}, "owner.name": "Anna", "owner": {"name": "Anna"}}`: names are paths, dotted
or nested; `$eq $ne $gt $gte $lt $lte` compare; what stands side by side must all hold. Our own operators may be written
with `$` too (`$in`, `$contains`, `$exists`, `$and`, `$or`, `$not`), which LangGraph does not know.

Two differences from its in-memory store, both as its SQLite store has it: a name with a dot is a path, and of what is
ordered, texts compare with texts. As in the in-memory store, null equals a field that is not there.
"""

from collections.abc import Mapping
from typing import Any

from recollect.core.errors import InvalidInput
from recollect.core.filter import (
    MOST_DEPTH,
    AllOf,
    AnyOf,
    Condition,
    Filter,
    Not,
    Operator,
    bounded,
    condition,
    null_or_absent,
    path_of,
    together,
)

_OPERATORS = {f"${operator.value}": operator for operator in Operator}
_AND, _OR, _NOT = "$and", "$or", "$not"


def langgraph_filter(document: Mapping[str, Any]) -> Filter:
    """The filter as a tree. Raises InvalidInput for an unknown operator, and for a name that no path can have."""
    return bounded(_all(document, (), 0))


def _all(document: Any, path: tuple[str, ...], depth: int) -> Filter:
    if not isinstance(document, Mapping):
        raise InvalidInput("a filter is an object")
    if depth > MOST_DEPTH:
        raise InvalidInput(f"a filter of more than {MOST_DEPTH} levels")
    return together([_entry(name, value, path, depth) for name, value in document.items()])


def _entry(name: str, value: Any, path: tuple[str, ...], depth: int) -> Filter:
    if name in (_AND, _OR):
        if not isinstance(value, list):
            raise InvalidInput(f"{name} takes a list of filters")
        parts = tuple(_all(one, path, depth + 1) for one in value)
        return AllOf(parts) if name == _AND else AnyOf(parts)
    if name == _NOT:
        return Not(_all(value, path, depth + 1))
    if name.startswith("$"):
        return _compared(name, value, path)
    inner = (*path, *path_of(name))
    return _all(value, inner, depth + 1) if isinstance(value, Mapping) else _equal(inner, value)


def _compared(name: str, value: Any, path: tuple[str, ...]) -> Filter:
    if name not in _OPERATORS or not path:
        raise InvalidInput(f"Unsupported operator: one of {', '.join(_OPERATORS)} after a field")
    operator = _OPERATORS[name]
    if operator is Operator.EQ:
        return _equal(path, value)
    if operator is Operator.NE:
        return Not(_equal(path, value))
    return condition(path, operator, value)


def _equal(path: tuple[str, ...], value: Any) -> Filter:
    """Null is what is absent, too."""
    return Condition(path, Operator.EQ, value) if value is not None else null_or_absent(path)
