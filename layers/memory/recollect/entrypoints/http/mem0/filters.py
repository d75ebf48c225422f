"""mem0's filters in the one grammar of `core.filter`, over the documents of `mem0.memories`; and whom they name."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from recollect.core.errors import InvalidInput
from recollect.core.filter import (
    EVERYTHING,
    MISSING,
    MOST_CONDITIONS,
    ORDERING,
    AllOf,
    AnyOf,
    Condition,
    Filter,
    Not,
    Operator,
    condition,
    conditions_in,
    fulfils,
    null_or_absent,
    path_of,
    together,
)
from recollect.core.time import iso, parse_instant
from recollect.entrypoints.http.mem0.entities import ENTITIES, entity_of, own_name, owner_of, reserved_name

ANY = "*"
_TIMES = ("created_at", "updated_at")
_FIELDS = frozenset((*ENTITIES, *_TIMES, "categories", "keywords", "metadata", "memory_ids"))
_CONNECTIVES = ("AND", "OR", "NOT")
_MOST_DEPTH = 8
_OPERATORS: Final = {one.value: one for one in Operator if one is not Operator.EXISTS}
_OF_TIME = {Operator.EQ, Operator.NE, Operator.IN, Operator.EXISTS, *ORDERING}
NOTHING = AnyOf()
_PATHS = {"keywords": "memory", "memory_ids": "id"}


@dataclass(frozen=True, slots=True)
class Selection:
    """The users whose memories are meant, and what must hold of each memory."""

    owners: tuple[str, ...]
    filter: Filter


def selection_of(filters: object) -> Selection:
    """What mem0's `filters` select.

    Raises InvalidInput where it is none of mem0's filters, and where no entity is named that could own a memory.
    """
    if not isinstance(filters, Mapping) or not filters:
        raise InvalidInput(f"is required, with one of {', '.join(ENTITIES)}", ("filters",))
    found = _filter(filters, ("filters",), 0)
    if sum(1 for _ in conditions_in(found)) > MOST_CONDITIONS:
        raise InvalidInput(f"has more than {MOST_CONDITIONS} conditions", ("filters",))
    owners = _owners([filters])
    if not owners:
        raise InvalidInput(f"must name one of {', '.join(ENTITIES)}: * alone reaches nobody", ("filters",))
    return Selection(tuple(dict.fromkeys(owners)), found)


def in_index(wanted: Filter, owner: str, *, surely: bool = False) -> Filter:
    """The filter over what an index has of this owner's records: those pass of which it does not tell, or none."""
    if isinstance(wanted, Condition):
        told = _told(wanted, owner)
        return told if told is not None else NOTHING if surely else EVERYTHING
    if isinstance(wanted, Not):
        return Not(in_index(wanted.filter, owner, surely=not surely))
    return type(wanted)(tuple(in_index(one, owner, surely=surely) for one in wanted.filters))


def _told(one: Condition, owner: str) -> Filter | None:
    """None for what stands in the memory alone: its words, its id, when it was updated."""
    name, *below = one.path
    if name == "metadata" and below and not own_name(below[0]):
        return one
    if name == "created_at" and one.operator in _OF_TIME:
        return Condition(("timestamp",), one.operator, one.value)
    kept, own = reserved_name(name), entity_of(owner)
    if name not in ENTITIES or (kept is not None and name not in own):
        return None if kept is None else Condition(("metadata", kept), one.operator, one.value)
    return EVERYTHING if fulfils(own.get(name, MISSING), one.operator, one.value) else NOTHING


def _filter(given: object, loc: tuple[str | int, ...], depth: int) -> Filter:
    """Siblings are all required."""
    if not isinstance(given, Mapping):
        raise InvalidInput("must be an object", loc)
    if depth > _MOST_DEPTH:
        raise InvalidInput("is nested too deeply", loc)
    return together([_part(name, value, loc, depth) for name, value in given.items()])


def _part(name: str, value: Any, loc: tuple[str | int, ...], depth: int) -> Filter:
    here = (*loc, name)
    if name in _CONNECTIVES:
        parts = tuple(_filter(one, here, depth + 1) for one in _listed(name, value, here))
        if name == "NOT":
            return AllOf(tuple(map(Not, parts)))
        return AllOf(parts) if name == "AND" else AnyOf(parts)
    if name not in _FIELDS:
        raise InvalidInput("is no field of mem0's filters", here)
    if name == "metadata":
        return _nested(("metadata",), value, here, depth)
    if name == "memory_ids" and isinstance(value, list):
        value = {"in": value}
    return _compared((_PATHS.get(name, name),), value, here)


def _listed(name: str, value: Any, loc: Sequence[str | int]) -> Sequence[Any]:
    """NOT takes one filter too."""
    if name == "NOT" and isinstance(value, Mapping):
        return [value]
    if not isinstance(value, list):
        raise InvalidInput("takes a list of filters", loc)
    return value


def _nested(path: tuple[str, ...], value: Any, loc: tuple[str | int, ...], depth: int) -> Filter:
    """An object of the metadata names fields, until its names are operators."""
    if not isinstance(value, Mapping) or (value and value.keys() <= _OPERATORS.keys()):
        return _compared(path, value, loc)
    if depth > _MOST_DEPTH:
        raise InvalidInput("is nested too deeply", loc)
    below = [((*path, *path_of(name, (*loc, name))), name, one) for name, one in value.items()]
    return AllOf(tuple(_nested(where, one, (*loc, name), depth + 1) for where, name, one in below))


def _compared(path: tuple[str, ...], value: Any, loc: tuple[str | int, ...]) -> Filter:
    if value == ANY:
        return AllOf((condition(path, Operator.EXISTS, True), condition(path, Operator.NE, None)))
    if value is None:
        return null_or_absent(path)
    if isinstance(value, list):
        value = {"in": value}
    if not isinstance(value, Mapping):
        return condition(path, Operator.EQ, _comparable(path, value, loc), loc)
    unknown = next((name for name in value if name not in _OPERATORS), None)
    if unknown is not None or not value:
        raise InvalidInput(f"takes the operators {', '.join(_OPERATORS)}", loc)
    return together(
        [
            condition(path, _OPERATORS[name], _comparable(path, one, (*loc, name)), (*loc, name))
            for name, one in value.items()
        ]
    )


def _comparable(path: tuple[str, ...], value: Any, loc: tuple[str | int, ...]) -> Any:
    """Times in the one form whose order is that of time; all else as it is."""
    if path[0] not in _TIMES:
        return value
    try:
        return [iso(parse_instant(one)) for one in value] if isinstance(value, list) else iso(parse_instant(value))
    except InvalidInput as error:
        raise InvalidInput(str(error), loc) from None


def _owners(conjoined: Iterable[Any]) -> list[str]:
    """The owners that filters name which hold together: users, else what each branch of an OR names, else another.

    What a NOT names owns nothing.
    """
    conjuncts = list(_flattened(conjoined))
    users, *others = ([owner for one in conjuncts for owner in _named(name, one)] for name in ENTITIES)
    branches = [_owners([branch]) for one in conjuncts for branch in one.get("OR", ())]
    of_branches = [owner for owners in branches for owner in owners] if all(branches) else []
    return next((owners for owners in (users, of_branches, *others) if owners), [])


def _flattened(conjoined: Iterable[Any]) -> Iterable[Mapping[str, Any]]:
    for one in conjoined:
        yield one
        yield from _flattened(one.get("AND", ()))


def _named(name: str, conjunct: Mapping[str, Any]) -> list[str]:
    value = conjunct.get(name)
    if isinstance(value, Mapping):
        value = value.get("in", value.get("eq"))
    values = value if isinstance(value, list) else [value]
    return [owner_of(name, one) for one in values if one not in (None, ANY)]
