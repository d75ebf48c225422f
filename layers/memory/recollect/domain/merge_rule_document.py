"""A merge rule as a JSON document: what may stand in it, and what it means (api.md, *Merge rules*)."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from recollect.domain.arbitration import ArbitrationOptions
from recollect.domain.client_ids import id_fault
from recollect.domain.conflict_detection import DetectionOptions
from recollect.domain.errors import InvalidInput
from recollect.domain.merging import MergeOptions
from recollect.domain.option_values import TOLERANCE, options_document, read_options, refuse_unknown
from recollect.domain.rule_values import Flag, Number, Place, is_object

PRIORITY = Number(-1_000_000, 1_000_000, whole=True)
MOST_IDS = 100
"""Of a list in a condition."""

GROUPS: Mapping[str, type[Any]] = MappingProxyType(
    {"arbitration": ArbitrationOptions, "merge": MergeOptions, "detection": DetectionOptions}
)
"""The groups of options that a rule may give, in part."""

MOST_BYTES = 64 * 1024
"""Of a rule, as compact JSON in UTF-8."""

ID_CONDITIONS = ("userId", "personaId", "source")
_RANGE = "importanceRange"
_LEVELS = 4
"""Deeper than any rule: what goes on below is wrong, and is not walked."""

_WEIGHTS = ("arbitration", "weights")
_FIELDS = ("extends", "priority", "enabled", "conditions", *GROUPS)

DEFAULT_DOCUMENT: Mapping[str, Any] = MappingProxyType(
    {
        "priority": 0,
        "enabled": True,
        "arbitration": options_document(ArbitrationOptions()),
        "merge": {**options_document(MergeOptions()), "deduplicate": True},
    }
)
"""The default rule until a tenant replaces it. Detection it leaves to the tenant's rules (`conflict`)."""


@dataclass(frozen=True, slots=True)
class RuleSettings:
    """What a resolved rule says about how to decide; `detection` None: nothing, the tenant's rules hold."""

    arbitration: ArbitrationOptions
    merge: MergeOptions
    detection: Mapping[str, Any]

    def detection_over(self, before: DetectionOptions) -> DetectionOptions:
        """The rule's own thresholds merged over those of the tenant."""
        return read_options(dict(self.detection), before, Place())


def check_document(document: Any, loc: Sequence[str | int] = ()) -> dict[str, Any]:
    """The document without what is null, as it is kept. Raises InvalidInput with the first path that is wrong."""
    place = Place(tuple(loc))
    read_document(document, place)
    for fault in place.faults:
        raise InvalidInput(fault.message, fault.path)
    kept: dict[str, Any] = without_nulls(document)
    if len(json.dumps(kept, ensure_ascii=False, separators=(",", ":")).encode()) > MOST_BYTES:
        raise InvalidInput(f"a rule has at most {MOST_BYTES} bytes of JSON", tuple(loc))
    return kept


def read_document(document: Any, place: Place) -> None:
    """Reports all that is wrong with a rule by itself; null counts as absent."""
    if not is_object(document, place):
        return
    given = without_nulls(document)
    refuse_unknown(given, _FIELDS, place)
    if "extends" in given:
        _refuse(id_fault(given["extends"]), place.inside("extends"))
    for name, kind in (("priority", PRIORITY), ("enabled", Flag())):
        if name in given:
            kind.read(given[name], None, place.inside(name))
    if "conditions" in given:
        _read_conditions(given["conditions"], place.inside("conditions"))
    for name, options in GROUPS.items():
        if name in given:
            read_options(given[name], options(), place.inside(name))


def check_weights(resolved: Mapping[str, Any], loc: Sequence[str | int] = ()) -> None:
    """Raises InvalidInput, at ("arbitration", "weights"), unless the weights of a resolved rule sum to 1."""
    arbitration = resolved.get("arbitration", {})
    weights = read_options(arbitration, ArbitrationOptions(), Place()).weights
    if abs(weights.total - 1) > TOLERANCE:
        raise InvalidInput("the weights, with those that are inherited, must sum to 1", (*loc, *_WEIGHTS))


def settings_of(resolved: Mapping[str, Any]) -> RuleSettings:
    """The options of a resolved document, the documented defaults where it has none."""
    return RuleSettings(
        read_options(resolved.get("arbitration", {}), ArbitrationOptions(), Place()),
        read_options(resolved.get("merge", {}), MergeOptions(), Place()),
        resolved.get("detection", {}),
    )


def deep_merged(base: Mapping[str, Any], derived: Mapping[str, Any]) -> dict[str, Any]:
    """The derived document over its base: objects merge by name, lists and single values are replaced (A-114)."""
    merged = dict(base)
    for name, value in derived.items():
        before = merged.get(name)
        both = isinstance(value, Mapping) and isinstance(before, Mapping)
        merged[name] = deep_merged(before or {}, value) if both else value
    return merged


def patched(document: Mapping[str, Any], changes: Any, levels: int = _LEVELS) -> Any:
    """The document with the changes merged in; null takes away what stood there (A-117)."""
    if not isinstance(changes, Mapping) or not levels:
        return changes
    merged = dict(document)
    for name, value in changes.items():
        before = merged.get(name)
        inner = before if isinstance(before, Mapping) else {}
        merged[name] = patched(inner, value, levels - 1) if isinstance(value, Mapping) else value
    return merged


def without_nulls(value: Any, levels: int = _LEVELS) -> Any:
    """A document less what is null in it, which counts as absent."""
    if isinstance(value, Mapping) and levels:
        return {name: without_nulls(part, levels - 1) for name, part in value.items() if part is not None}
    return value


def _read_conditions(value: Any, place: Place) -> None:
    if not is_object(value, place):
        return
    refuse_unknown(value, (*ID_CONDITIONS, _RANGE), place)
    for name in ID_CONDITIONS:
        if name in value:
            _read_ids(value[name], place.inside(name))
    if _RANGE in value:
        _read_range(value[_RANGE], place.inside(_RANGE))


def _read_ids(value: Any, place: Place) -> None:
    """One id, or a list of them."""
    if not isinstance(value, list):
        _refuse(id_fault(value), place)
        return
    if not 1 <= len(value) <= MOST_IDS:
        place.refuse(f"must have 1 to {MOST_IDS} entries")
        return
    for position, one in enumerate(value):
        _refuse(id_fault(one), place.inside(position))


def _read_range(value: Any, place: Place) -> None:
    if not is_object(value, place):
        return
    refuse_unknown(value, ("min", "max"), place)
    bounds = {
        name: Number(0, 1).read(value[name], None, place.inside(name)) for name in ("min", "max") if name in value
    }
    low, high = bounds.get("min"), bounds.get("max")
    if not bounds:
        place.refuse("needs min, max or both")
    elif low is not None and high is not None and low > high:
        place.refuse("min is above max")


def _refuse(fault: str | None, place: Place) -> None:
    if fault is not None:
        place.refuse(fault)
