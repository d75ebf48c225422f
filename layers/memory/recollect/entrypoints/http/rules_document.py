"""The tenant's rules as a body: read by the domain, described to the document of the surface."""

from dataclasses import MISSING, fields, is_dataclass
from typing import Any

from recollect.entrypoints.http.fields import Refused, Schema, Shape
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
    Table,
)
from recollect.timeline.ingest import FieldError

_DEFAULTS = Rules()


class RulesShape(Shape):
    """A rules document; read, it is the value `document`, as it was sent."""

    def __init__(self, name: str) -> None:
        super().__init__(name, {})

    def read(self, value: Any) -> dict[str, Any]:
        """The document. Raises Refused with every path that is wrong."""
        faults = read_rules(value, _DEFAULTS).faults
        if faults:
            raise Refused(*(FieldError(fault.path, fault.message) for fault in faults))
        return {"document": value}

    def schema(self) -> Schema:
        """Its JSON schema."""
        groups = {one.name: getattr(_DEFAULTS, one.name) for one in fields(Rules) if one.init}
        return _object({name: _group_schema(name, group) for name, group in groups.items()})


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
    return {**_object(described), "required": needed} if needed else _object(described)


def _object(properties: dict[str, Any]) -> Schema:
    return {"type": "object", "properties": properties, "additionalProperties": False}


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
