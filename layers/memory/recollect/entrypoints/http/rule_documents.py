"""A tenant's rules as a body: `rules` reads them, and its dataclasses are their schema."""

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

from recollect.entrypoints.http.models import Schema, refuse_all
from recollect.rules.groups import CATEGORIES, RetentionRule, Rules
from recollect.rules.reading import MOST_POLICIES, kind_of, read_rules
from recollect.rules.values import (
    LONGEST_NAME_BYTES,
    LONGEST_TEXT_BYTES,
    MOST_TEXTS,
    Choice,
    Choices,
    Flag,
    Kind,
    Number,
    RuleFault,
    Table,
)

_DEFAULTS = Rules()


def checked_rules(value: Any) -> Any:
    """A tenant's rules as they were sent. Raises for every path that is wrong."""
    refuse_faults(read_rules(value, _DEFAULTS).faults)
    return value


def rules_schema() -> Schema:
    """The JSON schema of a tenant's rules."""
    groups = {one.name: getattr(_DEFAULTS, one.name) for one in fields(Rules) if one.init}
    return object_schema({name: _group_schema(name, group) for name, group in groups.items()})


def kind_schema(kind: Kind) -> Schema:
    """The JSON schema of a kind of value."""
    match kind:
        case Flag():
            return {"type": "boolean"}
        case Number():
            return _number_schema(kind)
        case Choice():
            return {"type": "string", "enum": list(kind.names)}
        case Choices():
            items = {"type": "string", "enum": list(kind.names)}
            return {"type": ["array", "null"] if kind.optional else "array", "items": items}
        case Table():
            names: Schema = (
                {"enum": list(kind.names)} if kind.names else {"minLength": 1, "maxLength": LONGEST_NAME_BYTES}
            )
            return {"type": "object", "propertyNames": names, "additionalProperties": kind_schema(kind.values)}
        case _:
            text: Schema = {"type": "string", "minLength": 1, "maxLength": LONGEST_TEXT_BYTES}
            return {"type": "array", "items": text, "maxItems": MOST_TEXTS}


def _number_schema(kind: Number) -> Schema:
    sort = "integer" if kind.whole else "number"
    least = {"exclusiveMinimum" if kind.above else "minimum": kind.minimum}
    return {"type": [sort, "null"] if kind.optional else sort, **least, "maximum": kind.maximum}


def _group_schema(name: str, group: Any) -> Schema:
    if is_dataclass(group):
        return _rules_schema(type(group))
    if name == "tags":
        return kind_schema(CATEGORIES)
    return {"type": "array", "items": _rules_schema(RetentionRule), "maxItems": MOST_POLICIES}


def _rules_schema(group: Any) -> Schema:
    described = {
        one.name: {**kind_schema(kind_of(one)), "description": one.metadata["meaning"]} for one in fields(group)
    }
    needed = [one.name for one in fields(group) if one.default is MISSING and one.default_factory is MISSING]
    return {**object_schema(described), "required": needed} if needed else object_schema(described)


def object_schema(properties: Mapping[str, Any]) -> Schema:
    """Of an object that has these properties at most."""
    return {"type": "object", "properties": dict(properties), "additionalProperties": False}


def refuse_faults(faults: Iterable[RuleFault]) -> None:
    """Raises for the faults, if there are any."""
    refuse_all((fault.path, fault.message) for fault in faults)
