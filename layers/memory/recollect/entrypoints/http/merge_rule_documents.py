"""Merge rules and options of arbitration as bodies: `arbitration` reads them, and its dataclasses are their schemas."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from recollect.arbitration.merge_rules import GROUPS, ID_CONDITIONS, MOST_IDS, PRIORITY, read_document, without_nulls
from recollect.arbitration.merging import MergeOptions
from recollect.core.ids import LONGEST_ID
from recollect.entrypoints.http.models import Schema
from recollect.entrypoints.http.rule_documents import kind_schema, object_schema, refuse_faults
from recollect.rules.values import Flag, Number, Place, is_object, option_name, option_names, read_options

_SHOWN_FAULTS = 20
_ID: Schema = {"type": "string", "minLength": 1, "maxLength": LONGEST_ID}


def checked_merge_rule(value: Any) -> Any:
    """A merge rule, or changes of one, as it was sent; what it inherits is checked later."""
    place = Place()
    read_document(value, place)
    refuse_faults(place.faults[:_SHOWN_FAULTS])
    return value


def checked_merge_rules(value: Any, most: int) -> list[tuple[Any, Any]]:
    """The rules of an import by their names; versions and `resolved`, which an export has too, are passed over."""
    place = Place()
    if not isinstance(value, list) or len(value) > most:
        place.refuse(f"must be a list of at most {most} rules")
        refuse_faults(place.faults)
    found = [_named(one, place.inside(position)) for position, one in enumerate(value)]
    refuse_faults(place.faults[:_SHOWN_FAULTS])
    return found


def merge_rules_schema(most: int) -> Schema:
    """The JSON schema of the rules of an import."""
    properties = {"name": _ID, **merge_rule_schema()["properties"]}
    properties |= {"version": {"type": "integer"}, "resolved": {"type": "object"}}
    return {"type": "array", "items": {**object_schema(properties), "required": ["name"]}, "maxItems": most}


def checked_merge_options(value: Any) -> dict[str, Any]:
    """The options of a merge."""
    place, given = Place(), without_nulls(value)
    read_options(given, MergeOptions(), place)
    refuse_faults(place.faults[:_SHOWN_FAULTS])
    return dict(given)


def merge_options_schema() -> Schema:
    """The JSON schema of the options of a merge."""
    return options_schema(MergeOptions)


def checked_arbitration_options(value: Any) -> dict[str, Any]:
    """The options of an arbitration in groups, each given by its own name, or in the group that a merge rule has."""
    place = Place()
    grouped = _grouped(without_nulls(value), place) if is_object(value, place) else {}
    refuse_faults(place.faults[:_SHOWN_FAULTS])
    return grouped


def arbitration_options_schema() -> Schema:
    """The JSON schema of the options of an arbitration."""
    flat = {name: one for group in GROUPS.values() for name, one in options_schema(group)["properties"].items()}
    return object_schema({**flat, **{name: options_schema(group) for name, group in GROUPS.items()}})


def options_schema(group: Any) -> Schema:
    """The JSON schema of a group of options."""
    default = group()
    return object_schema({option_name(one): _option_schema(one, getattr(default, one.name)) for one in fields(group)})


def merge_rule_schema(*, nullable: bool = False) -> Schema:
    """The JSON schema of a rule; `nullable` of changes, in which null takes a property away."""
    properties = {
        "extends": {**_ID, "description": "The rule that it inherits from; what it says itself goes before."},
        "priority": {**kind_schema(PRIORITY), "description": "The highest is asked first. Absent: 0."},
        "enabled": {**kind_schema(Flag()), "description": "Absent: true."},
        "conditions": _conditions_schema(),
        **{name: options_schema(group) for name, group in GROUPS.items()},
    }
    return object_schema({name: _or_null(one) for name, one in properties.items()} if nullable else properties)


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
    between = {**object_schema({"min": bound, "max": bound}), "minProperties": 1}
    return {
        **object_schema({**{name: {"anyOf": [_ID, several]} for name in ID_CONDITIONS}, "importanceRange": between}),
        "description": "All must hold for the candidate; of a list one; a range includes its ends.",
    }


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}
