"""Options and merge rules as bodies: read by the domain, described to the document of the surface."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, NoReturn

from recollect.arbitration.merge_rules import GROUPS, ID_CONDITIONS, MOST_IDS, PRIORITY, read_document, without_nulls
from recollect.arbitration.merging import MergeOptions
from recollect.core.ids import LONGEST_ID
from recollect.entrypoints.http.fields import Field, Refused, Schema, Shape
from recollect.entrypoints.http.rules_document import kind_schema
from recollect.rules.values import Flag, Number, Place, RuleFault, is_object, option_name, option_names, read_options
from recollect.timeline.ingest import FieldError

_SHOWN_FAULTS = 20
_ID: Schema = {"type": "string", "minLength": 1, "maxLength": LONGEST_ID}


class MergeRuleShape(Shape):
    """A merge rule; read, it is the value `document`, as it was sent.

    `changes`: null takes a property away, elsewhere it counts as absent. What a rule inherits is checked later.
    """

    def __init__(self, name: str, *, changes: bool = False) -> None:
        super().__init__(name, {})
        self._changes = changes

    def read(self, value: Any) -> dict[str, Any]:
        """The document. Raises Refused with every path that is wrong."""
        place = Place()
        read_document(value, place)
        _refuse(place.faults)
        return {"document": value}

    def schema(self) -> Schema:
        """Its JSON schema."""
        return rule_schema(nullable=self._changes)


def rules_field(most: int) -> Field:
    """The rules of an import: each with its name; versions and `resolved`, which an export has too, are passed over."""

    def read(value: Any) -> list[tuple[Any, Any]]:
        place = Place()
        if not isinstance(value, list) or len(value) > most:
            place.refuse(f"must be a list of at most {most} rules")
            _refuse(place.faults)
        found = [_named(one, place.inside(position)) for position, one in enumerate(value)]
        _refuse(place.faults)
        return found

    named = rule_schema()
    item = {**named, "properties": {"name": _ID, **named["properties"]}, "required": ["name"]}
    item["properties"] |= {"version": {"type": "integer"}, "resolved": {"type": "object"}}
    return Field(read, {"type": "array", "items": item, "maxItems": most})


def merge_options_field() -> Field:
    """The options of a merge."""

    def read(value: Any) -> Mapping[str, Any]:
        place, given = Place(), without_nulls(value)
        read_options(given, MergeOptions(), place)
        _refuse(place.faults)
        return dict(given)

    return Field(read, options_schema(MergeOptions))


def arbitration_options_field() -> Field:
    """The options of an arbitration: each by its own name, or in the group that a merge rule has it in.

    Read, they are in groups.
    """

    def read(value: Any) -> Mapping[str, Any]:
        place = Place()
        grouped = _grouped(without_nulls(value), place) if is_object(value, place) else {}
        _refuse(place.faults)
        return grouped

    flat = {name: one for group in GROUPS.values() for name, one in options_schema(group)["properties"].items()}
    return Field(read, _object({**flat, **{name: options_schema(group) for name, group in GROUPS.items()}}))


def options_schema(group: Any) -> Schema:
    """The JSON schema of a group of options."""
    default = group()
    return _object({option_name(one): _option_schema(one, getattr(default, one.name)) for one in fields(group)})


def rule_schema(*, nullable: bool = False) -> Schema:
    """The JSON schema of a rule."""
    properties = {
        "extends": {**_ID, "description": "The rule that it inherits from; what it says itself goes before."},
        "priority": {**kind_schema(PRIORITY), "description": "The highest is asked first. Absent: 0."},
        "enabled": {**kind_schema(Flag()), "description": "Absent: true."},
        "conditions": _conditions_schema(),
        **{name: options_schema(group) for name, group in GROUPS.items()},
    }
    return _object({name: _or_null(one) for name, one in properties.items()} if nullable else properties)


def _named(value: Any, place: Place) -> tuple[Any, Any]:
    if not is_object(value, place):
        return None, None
    if "name" not in value:
        place.inside("name").refuse("is required")
    document = {name: one for name, one in value.items() if name not in ("name", "version", "resolved")}
    read_document(document, place)
    return value.get("name"), document


def _grouped(value: Mapping[str, Any], place: Place) -> dict[str, Any]:
    """The options in groups; one that stands by itself goes before the same in its group."""
    found: dict[str, Any] = {}
    for name, group in GROUPS.items():
        own = {option: value[option] for option in option_names(group) if option in value}
        read_options(own, group(), place)
        given = value.get(name, {})
        read_options(given, group(), place.inside(name))
        found[name] = {**(given if isinstance(given, dict) else {}), **own}
    known = {*GROUPS, *(option for group in GROUPS.values() for option in option_names(group))}
    for name in value:
        if name not in known:
            place.inside(name).refuse("unknown field")
    return found


def _option_schema(one: Any, default: Any) -> Schema:
    if "group" in one.metadata:
        return {**options_schema(type(default)), "description": one.metadata["meaning"]}
    return {**kind_schema(one.metadata["kind"]), "default": default, "description": one.metadata["meaning"]}


def _conditions_schema() -> Schema:
    several: Schema = {"type": "array", "items": _ID, "minItems": 1, "maxItems": MOST_IDS}
    bound = kind_schema(Number(0, 1))
    between = {**_object({"min": bound, "max": bound}), "minProperties": 1}
    return {
        **_object({**{name: {"anyOf": [_ID, several]} for name in ID_CONDITIONS}, "importanceRange": between}),
        "description": "All must hold for the candidate; of a list one; a range includes its ends.",
    }


def _object(properties: Mapping[str, Any]) -> Schema:
    return {"type": "object", "properties": dict(properties), "additionalProperties": False}


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def _refuse(faults: Sequence[RuleFault]) -> None:
    if faults:
        _raise(faults)


def _raise(faults: Sequence[RuleFault]) -> NoReturn:
    raise Refused(*(FieldError(fault.path, fault.message) for fault in faults[:_SHOWN_FAULTS]))
