"""Merge rules by name: inheritance, updates, and which one a candidate meets (A-108 to A-130, P-14).

A registry is a value: what changes it answers a new one with the events that tell of it. A rule is kept as it was
given (its raw form, with `extends`); what it inherits is looked up, so a base that changes reaches its descendants.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from recollect.domain.client_ids import id_fault
from recollect.domain.errors import Conflict, InvalidInput, NotFound
from recollect.domain.merge_rule_document import (
    DEFAULT_DOCUMENT,
    RuleSettings,
    check_document,
    check_weights,
    deep_merged,
    patched,
    settings_of,
)
from recollect.domain.rule_matching import conditions_hold
from recollect.domain.statement import Statement

DEFAULT = "default"
RULE_REGISTERED = "rule:registered"
RULE_UPDATED = "rule:updated"
RULE_DELETED = "rule:deleted"
MOST_RULES = 500
MOST_BASES = 100
"""That one rule extends, one through another."""


@dataclass(frozen=True, slots=True)
class MergeRule:
    """A rule as it was given; `version` is the registry's after its last change, so that no version comes twice."""

    name: str
    document: Mapping[str, Any]
    version: int

    @property
    def base(self) -> str | None:
        """The rule that it extends."""
        return self.document.get("extends")


@dataclass(frozen=True, slots=True)
class RuleEvent:
    """What happened to a rule: `rule:registered`, `rule:updated` or `rule:deleted` (A-124, A-125).

    `configuration` is the raw form, of a deleted rule the last one; `version` the registry's after it.
    """

    type: str
    name: str
    configuration: Mapping[str, Any]
    version: int


@dataclass(frozen=True, slots=True)
class MergeRuleRegistry:
    """All rules of a tenant in the order of their registration; `version` counts changes (A-111), from 1.

    A registry is made by `initial` or read from what was stored; every rule in it resolves.
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
        """What the rule says with all that it inherits, without `extends` (A-112 to A-115). Raises NotFound."""
        self.rule(name)
        return _resolve(name, {rule.name: rule for rule in self.rules})

    def settings(self, name: str) -> RuleSettings:
        """The same as options, with the documented defaults for what it leaves open. Raises NotFound."""
        return settings_of(self.resolved(name))

    def matching(self, candidate: Statement) -> MergeRule:
        """The first enabled rule whose conditions the candidate meets, by priority (A-120 to A-123).

        Of equal priority the one registered first; where none matches, and only then, the default rule.
        """
        known = {rule.name: rule for rule in self.rules}
        resolved = [(rule, _resolve(rule.name, known)) for rule in self.rules if rule.name != DEFAULT]
        enabled = [(rule, document) for rule, document in resolved if document.get("enabled", True)]
        ordered = sorted(enabled, key=lambda pair: -pair[1].get("priority", 0))
        matching = (rule for rule, document in ordered if conditions_hold(document.get("conditions", {}), candidate))
        return next(matching, known[DEFAULT])


@dataclass(frozen=True, slots=True)
class RulesChange:
    """A registry as it is after a change, and the events that tell of it, in order."""

    registry: MergeRuleRegistry
    events: tuple[RuleEvent, ...]


def initial() -> MergeRuleRegistry:
    """The registry of a tenant that has registered nothing: the default rule alone, version 1."""
    return MergeRuleRegistry(1, (MergeRule(DEFAULT, DEFAULT_DOCUMENT, 1),))


def register(registry: MergeRuleRegistry, name: str, document: Mapping[str, Any]) -> RulesChange:
    """Registers a rule; one of that name is replaced in its place (A-109, P-14).

    Raises InvalidInput with the path within the document, ("name",) for a name that is none.
    """
    check_name(name, ("name",))
    kept = check_document(document)
    return _checked(_registered(registry, name, kept))


def update(registry: MergeRuleRegistry, name: str, changes: Mapping[str, Any]) -> RulesChange:
    """Merges changes into a rule, nested objects too; null takes a property away (A-116 to A-119).

    Raises NotFound, and InvalidInput with the path within the changes.
    """
    kept = check_document(patched(registry.rule(name).document, changes))
    change = _registered(registry, name, kept)
    event = replace(change.events[0], type=RULE_UPDATED)
    return _checked(RulesChange(change.registry, (event,)))


def delete(registry: MergeRuleRegistry, name: str) -> RulesChange:
    """Takes a rule away. Raises NotFound, and Conflict for the default rule and one that others extend (A-130)."""
    rule = registry.rule(name)
    if name == DEFAULT:
        raise Conflict("the default rule cannot be deleted")
    if any(other.base == name for other in registry.rules):
        raise Conflict("another rule extends this one")
    version = registry.version + 1
    rest = tuple(other for other in registry.rules if other.name != name)
    return RulesChange(MergeRuleRegistry(version, rest), (RuleEvent(RULE_DELETED, name, rule.document, version),))


def load(registry: MergeRuleRegistry, rules: Sequence[tuple[str, Mapping[str, Any]]]) -> RulesChange:
    """Registers all, whatever their order: bases may stand after what extends them (A-128, A-129).

    Raises InvalidInput with the path from the rule's position on: then none is registered.
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
    """Raises InvalidInput where a rule's base is not there, extends it in turn, or where resolved weights are off.

    The path begins with the rule's position, where it has one. A descendant's fault is that of what was changed.
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
    """The documents from the first base down to the rule itself, each merged over what it extends."""
    resolved: dict[str, Any] = {}
    for one in _line(name, known):
        resolved = deep_merged(resolved, known[one].document)
    resolved.pop("extends", None)
    return resolved


def _line(name: str, known: Mapping[str, MergeRule]) -> list[str]:
    """A rule's bases, the first one first, and the rule."""
    line = [name]
    while (base := known[line[-1]].base) is not None:
        line.append(base)
    return line[::-1]
