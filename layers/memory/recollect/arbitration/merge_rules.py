"""Merge rules: their JSON documents, their conditions, and the registry of a tenant (A-108 to A-130, P-14).

A registry is a value: a change answers a new one with the events to publish (A-124, A-125). A rule is stored in its raw
form, with `extends`; inherited options are resolved on reading, so a changed base reaches its descendants.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType
from typing import Any
from uuid import UUID, uuid5

from recollect.arbitration.arbiter import ArbitrationOptions
from recollect.arbitration.detection import DetectionOptions, Statement
from recollect.arbitration.merging import MergeOptions
from recollect.core.errors import Conflict, InvalidInput, NotFound
from recollect.core.event import Json
from recollect.core.ids import id_fault
from recollect.rules.values import (
    TOLERANCE,
    Flag,
    Number,
    Place,
    is_object,
    options_document,
    read_options,
    refuse_unknown,
)
from recollect.timeline.bus import BusEvent

PRIORITY = Number(-1_000_000, 1_000_000, whole=True)
MOST_IDS = 100
"""In a list of a condition."""

GROUPS: Mapping[str, type[Any]] = MappingProxyType(
    {"arbitration": ArbitrationOptions, "merge": MergeOptions, "detection": DetectionOptions}
)
"""The groups of options that a rule may give, in part."""

MOST_BYTES = 64 * 1024
"""Of a rule, as compact JSON in UTF-8."""

ID_CONDITIONS = ("userId", "personaId", "source")
_RANGE = "importanceRange"
_LEVELS = 4
"""Deeper than any rule: what lies below is invalid, and not walked."""

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
"""The default rule until a tenant replaces it; its detection is that of the tenant's rules (`conflict`)."""

DEFAULT = "default"
RULE_REGISTERED = "rule:registered"
RULE_UPDATED = "rule:updated"
RULE_DELETED = "rule:deleted"
MOST_RULES = 500
MOST_BASES = 100
"""In a chain of `extends`."""

_NAMESPACE = UUID("5f0c3a86-3d37-5b0e-9a4d-2f6f7b1f9c11")


@dataclass(frozen=True, slots=True)
class RuleSettings:
    """The options of a resolved rule; without `detection` the tenant's thresholds hold."""

    arbitration: ArbitrationOptions
    merge: MergeOptions
    detection: Mapping[str, Any]

    def detection_over(self, before: DetectionOptions) -> DetectionOptions:
        """The rule's own thresholds merged over those of the tenant."""
        return read_options(dict(self.detection), before, Place())


def check_document(document: Any, loc: Sequence[str | int] = ()) -> dict[str, Any]:
    """The document without nulls, as stored. Raises InvalidInput with the first path that is wrong."""
    place = Place(tuple(loc))
    read_document(document, place)
    for fault in place.faults:
        raise InvalidInput(fault.message, fault.path)
    kept: dict[str, Any] = without_nulls(document)
    if len(json.dumps(kept, ensure_ascii=False, separators=(",", ":")).encode()) > MOST_BYTES:
        raise InvalidInput(f"a rule has at most {MOST_BYTES} bytes of JSON", tuple(loc))
    return kept


def read_document(document: Any, place: Place) -> None:
    """Reports all faults of a single rule; null counts as absent."""
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


def deep_merged(base: Mapping[str, Any], derived: Mapping[str, Any]) -> dict[str, Any]:
    """The derived document over its base: objects merge by name, lists and single values are replaced (A-114)."""
    merged = dict(base)
    for name, value in derived.items():
        before = merged.get(name)
        both = isinstance(value, Mapping) and isinstance(before, Mapping)
        merged[name] = deep_merged(before or {}, value) if both else value
    return merged


def patched(document: Mapping[str, Any], changes: Any, levels: int = _LEVELS) -> Any:
    """The document with the changes merged in; null removes a property (A-117)."""
    if not isinstance(changes, Mapping) or not levels:
        return changes
    merged = dict(document)
    for name, value in changes.items():
        before = merged.get(name)
        inner = before if isinstance(before, Mapping) else {}
        merged[name] = patched(inner, value, levels - 1) if isinstance(value, Mapping) else value
    return merged


def without_nulls(value: Any, levels: int = _LEVELS) -> Any:
    """A document without null properties."""
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


def conditions_hold(conditions: Mapping[str, Any], candidate: Statement) -> bool:
    """Whether all conditions hold. A list matches one of its values, a range includes its ends (A-121)."""
    values = {"userId": candidate.user_id, "personaId": candidate.persona_id, "source": candidate.source}
    asked = ((conditions[name], value) for name, value in values.items() if name in conditions)
    if not all(_is_among(value, wanted) for wanted, value in asked):
        return False
    return "importanceRange" not in conditions or _is_within(candidate.importance, conditions["importanceRange"])


def _is_among(value: str | None, wanted: Any) -> bool:
    return value in wanted if isinstance(wanted, list) else value == wanted


def _is_within(importance: float, bounds: Mapping[str, Any]) -> bool:
    low, high = bounds.get("min", 0.0), bounds.get("max", 1.0)
    return bool(low - TOLERANCE <= importance <= high + TOLERANCE)


@dataclass(frozen=True, slots=True)
class MergeRule:
    """A rule in its raw form; `version` is the registry's after its last change, so that no version repeats."""

    name: str
    document: Mapping[str, Any]
    version: int

    @property
    def base(self) -> str | None:
        """The rule that it extends."""
        return self.document.get("extends")


@dataclass(frozen=True, slots=True)
class RuleEvent:
    """A change of a rule: `rule:registered`, `rule:updated` or `rule:deleted` (A-124, A-125).

    `configuration` is the raw form, of a deleted rule the last one; `version` the registry's after the change.
    """

    type: str
    name: str
    configuration: Mapping[str, Any]
    version: int


@dataclass(frozen=True, slots=True)
class MergeRuleRegistry:
    """All rules of a tenant in the order of registration; `version` counts changes (A-111), from 1. Every rule
    resolves.
    """

    version: int
    rules: tuple[MergeRule, ...]

    def rule(self, name: str) -> MergeRule:
        """The rule of that name (A-110). Raises NotFound."""
        found = next((rule for rule in self.rules if rule.name == name), None)
        if found is None:
            raise NotFound("there is no such rule")
        return found

    def resolved(self, name: str) -> dict[str, Any]:
        """The rule with all that it inherits, without `extends` (A-112 to A-115). Raises NotFound."""
        self.rule(name)
        return _resolve(name, {rule.name: rule for rule in self.rules})

    def settings(self, name: str) -> RuleSettings:
        """The resolved rule as options, with the documented defaults. Raises NotFound."""
        resolved = self.resolved(name)
        arbitration = read_options(resolved.get("arbitration", {}), ArbitrationOptions(), Place())
        merge = read_options(resolved.get("merge", {}), MergeOptions(), Place())
        return RuleSettings(arbitration, merge, resolved.get("detection", {}))

    def matching(self, candidate: Statement) -> MergeRule:
        """The first enabled rule whose conditions the candidate meets, by priority (A-120 to A-123).

        Of equal priority the one registered first; the default rule only where no other matches.
        """
        known = {rule.name: rule for rule in self.rules}
        resolved = [(rule, _resolve(rule.name, known)) for rule in self.rules if rule.name != DEFAULT]
        enabled = [(rule, document) for rule, document in resolved if document.get("enabled", True)]
        ordered = sorted(enabled, key=lambda pair: -pair[1].get("priority", 0))
        matching = (rule for rule, document in ordered if conditions_hold(document.get("conditions", {}), candidate))
        return next(matching, known[DEFAULT])


@dataclass(frozen=True, slots=True)
class RulesChange:
    """A registry after a change, and the events to publish, in order."""

    registry: MergeRuleRegistry
    events: tuple[RuleEvent, ...]


def initial() -> MergeRuleRegistry:
    """The registry of a tenant without registered rules: the default rule alone, version 1."""
    return MergeRuleRegistry(1, (MergeRule(DEFAULT, DEFAULT_DOCUMENT, 1),))


def register(registry: MergeRuleRegistry, name: str, document: Mapping[str, Any]) -> RulesChange:
    """Registers a rule, or replaces the one of that name (A-109, P-14).

    Raises InvalidInput with the path within the document, ("name",) for an invalid name.
    """
    check_name(name, ("name",))
    kept = check_document(document)
    return _checked(_registered(registry, name, kept))


def update(registry: MergeRuleRegistry, name: str, changes: Mapping[str, Any]) -> RulesChange:
    """Merges changes into a rule, nested objects too; null removes a property (A-116 to A-119).

    Raises NotFound, and InvalidInput with the path within the changes.
    """
    kept = check_document(patched(registry.rule(name).document, changes))
    change = _registered(registry, name, kept)
    event = replace(change.events[0], type=RULE_UPDATED)
    return _checked(RulesChange(change.registry, (event,)))


def delete(registry: MergeRuleRegistry, name: str) -> RulesChange:
    """Deletes a rule. Raises NotFound, and Conflict for the default rule and one that others extend (A-130)."""
    rule = registry.rule(name)
    if name == DEFAULT:
        raise Conflict("the default rule cannot be deleted")
    if any(other.base == name for other in registry.rules):
        raise Conflict("another rule extends this one")
    version = registry.version + 1
    rest = tuple(other for other in registry.rules if other.name != name)
    return RulesChange(MergeRuleRegistry(version, rest), (RuleEvent(RULE_DELETED, name, rule.document, version),))


def load(registry: MergeRuleRegistry, rules: Sequence[tuple[str, Mapping[str, Any]]]) -> RulesChange:
    """Registers all or none, in any order: a base may follow what extends it (A-128, A-129).

    Raises InvalidInput with the path from the rule's position on.
    """
    events: list[RuleEvent] = []
    grown = registry
    for position, (name, document) in enumerate(rules):
        check_name(name, (position, "name"))
        change = _registered(grown, name, check_document(document, (position,)))
        grown = change.registry
        events += change.events
    _check(grown, {name: position for position, (name, _) in enumerate(rules)})
    return RulesChange(grown, tuple(events))


def export(registry: MergeRuleRegistry) -> list[dict[str, Any]]:
    """All rules in their raw form, with `extends`, in the order of registration (A-126, A-127)."""
    return [{"name": rule.name, **rule.document} for rule in registry.rules]


def check_name(name: object, loc: Sequence[str | int]) -> None:
    """Raises InvalidInput unless it is an id that a client may choose."""
    fault = id_fault(name)
    if fault is not None:
        raise InvalidInput(fault, loc)


def _registered(registry: MergeRuleRegistry, name: str, document: Mapping[str, Any]) -> RulesChange:
    version = registry.version + 1
    rule = MergeRule(name, document, version)
    known = {one.name: one for one in registry.rules} | {name: rule}
    grown = MergeRuleRegistry(version, tuple(known.values()))
    return RulesChange(grown, (RuleEvent(RULE_REGISTERED, name, document, version),))


def _checked(change: RulesChange) -> RulesChange:
    _check(change.registry, {})
    return change


def _check(registry: MergeRuleRegistry, positions: Mapping[str, int]) -> None:
    """Raises InvalidInput for a missing base, a circle of bases, or resolved weights that do not sum to 1.

    The path begins with the rule's position, where it has one.
    """
    if len(registry.rules) > MOST_RULES:
        raise InvalidInput(f"a tenant has at most {MOST_RULES} merge rules", ())
    known = {rule.name: rule for rule in registry.rules}
    places = {rule.name: (positions[rule.name],) if rule.name in positions else () for rule in registry.rules}
    for rule in registry.rules:
        _check_bases(rule, known, places[rule.name])
    for rule in registry.rules:
        check_weights(_resolve(rule.name, known), places[rule.name])


def _check_bases(rule: MergeRule, known: Mapping[str, MergeRule], loc: tuple[str | int, ...]) -> None:
    seen = {rule.name}
    base = rule.base
    while base is not None:
        if base not in known:
            raise InvalidInput("there is no rule of this name to extend", (*loc, "extends"))
        if base in seen:
            raise InvalidInput("the rule would extend itself", (*loc, "extends"))
        if len(seen) > MOST_BASES:
            raise InvalidInput(f"a rule extends at most {MOST_BASES} others", (*loc, "extends"))
        seen.add(base)
        base = known[base].base


def _resolve(name: str, known: Mapping[str, MergeRule]) -> dict[str, Any]:
    resolved: dict[str, Any] = {}
    for one in _line(name, known):
        resolved = deep_merged(resolved, known[one].document)
    resolved.pop("extends", None)
    return resolved


def _line(name: str, known: Mapping[str, MergeRule]) -> list[str]:
    """The rule's bases, the farthest first, and the rule."""
    line = [name]
    while (base := known[line[-1]].base) is not None:
        line.append(base)
    return line[::-1]


def rule_published(tenant: str, event: RuleEvent, now: datetime) -> BusEvent:
    """The bus event of a change, with name and configuration; its id is that of the change."""
    detail: dict[str, Json] = {
        "name": event.name,
        "configuration": dict(event.configuration),
        "version": event.version,
    }
    change = uuid5(_NAMESPACE, f"{tenant}/{event.type}/{event.version}/{event.name}")
    return BusEvent(str(change), event.type, now, detail)
