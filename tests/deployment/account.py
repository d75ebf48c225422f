"""An account in which CloudFormation makes and changes stacks: what it would refuse halfway, found beforehand.

As CloudFormation's documentation has it: resources are made after those that they name. Another value of a property
that is fixed at creation makes the resource anew, beside the old one; that goes in the clean-up after all else, and so
does what a template names no more. Two of one kind and name cannot stand beside each other. What one stack exports and
another imports can neither change nor go.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from graphlib import TopologicalSorter
from typing import Any

from cfnlint.schema import PROVIDER_SCHEMA_MANAGER

from deployment.resolving import NotExported, Stack

_REGION = "us-east-1"
_DOMAIN = "AWS::OpenSearchService::Domain"
_MISSING = object()


class Refused(Exception):
    """CloudFormation ends with an error, and rolls back what it has begun."""


@cache
def fixed_at_creation(kind: str) -> tuple[tuple[str, ...], ...]:
    """Paths of the properties of a kind of resource whose change makes it anew, as its schema tells."""
    schema = PROVIDER_SCHEMA_MANAGER.get_resource_schema(_REGION, kind).schema
    told = [*(schema.get("createOnlyProperties") or []), *(schema.get("conditionalCreateOnlyProperties") or [])]
    return tuple(tuple(path.split("/")[2:]) for path in told)


@dataclass(slots=True)
class Account:
    """`taken`: who has a name, by kind and name."""

    taken: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)
    stacks: dict[str, Stack] = field(default_factory=dict)

    def deploy(self, stack: Stack) -> set[str]:
        """Makes or changes a stack; the logical ids that were made anew. Raises Refused."""
        if stack.refusals():
            raise Refused(" ".join(stack.refusals()))
        stack = replace(stack, imports=self._exports())
        try:
            return self._deploy(stack)
        except NotExported as missing:
            raise Refused(f"No export named {missing} found") from None

    def _deploy(self, stack: Stack) -> set[str]:
        self._keep_exports(stack.name, stack.exports())
        before = self._made(stack.name)
        after, names = stack.made(), stack.names_by_id()
        anew = {name for name in before.keys() & after.keys() if is_made_anew(before[name], after[name])}
        for name in _in_order(stack, after):
            if name not in before or name in anew:
                self._take(stack.name, name, names.get(name))
        self.stacks[stack.name] = stack
        self._clean_up(stack.name, set(names.items()))
        return anew

    def delete(self, stack_name: str) -> set[str]:
        """Takes a stack away; the logical ids of what stays behind without it. Raises Refused."""
        self._keep_exports(stack_name, {})
        made = self.stacks.pop(stack_name).made()
        self._clean_up(stack_name, set())
        return {name for name, one in made.items() if one.get("DeletionPolicy", "Delete").startswith("Retain")}

    def _exports(self) -> dict[str, str]:
        return {name: value for stack in self.stacks.values() for name, value in stack.exports().items()}

    def _keep_exports(self, stack_name: str, after: Mapping[str, str]) -> None:
        before = self.stacks[stack_name].exports() if stack_name in self.stacks else {}
        changed = {name for name, value in before.items() if after.get(name) != value}
        used = {(name, other.name) for other in self.stacks.values() for name in other.imported() & changed}
        for name, other in sorted(used):
            raise Refused(f"Export {name} cannot be changed: it is in use by {other}")

    def _made(self, stack_name: str) -> dict[str, dict[str, Any]]:
        stack = self.stacks.get(stack_name)
        return stack.made() if stack else {}

    def _take(self, stack_name: str, logical_id: str, name: tuple[str, str] | None) -> None:
        if name is None:
            return
        if name in self.taken:
            raise Refused(f"{logical_id}: {name[1]} already exists, as {self.taken[name][1]} of {self.taken[name][0]}")
        self.taken[name] = (stack_name, logical_id)

    def _clean_up(self, stack_name: str, current: set[tuple[str, tuple[str, str]]]) -> None:
        held = {name: owner for name, owner in self.taken.items() if owner[0] == stack_name}
        for name, (_, logical_id) in held.items():
            if (logical_id, name) not in current:
                del self.taken[name]


def is_made_anew(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Whether CloudFormation would replace a resource instead of changing it."""
    if before["Type"] != after["Type"]:
        return True
    old, new = before.get("Properties", {}), after.get("Properties", {})
    changed = any(_at(old, path) != _at(new, path) for path in fixed_at_creation(after["Type"]))
    return changed or (after["Type"] == _DOMAIN and _is_another_domain(old, new, after.get("UpdatePolicy", {})))


def _is_another_domain(old: Mapping[str, Any], new: Mapping[str, Any], policy: Mapping[str, Any]) -> bool:
    """What the schema does not tell: into a VPC or out of it, and a version without leave to upgrade."""
    moved = ("VPCOptions" in old) != ("VPCOptions" in new)
    upgraded = old["EngineVersion"] != new["EngineVersion"] and not policy.get("EnableVersionUpgrade")
    return moved or upgraded


def _at(properties: Any, path: tuple[str, ...]) -> Any:
    """What stands there; where a step leads into something that is no mapping, the whole of it."""
    for step in path:
        if not isinstance(properties, Mapping):
            return properties
        properties = properties.get(step, _MISSING)
    return properties


def _in_order(stack: Stack, made: Mapping[str, Any]) -> Iterable[str]:
    """Each after those that it names. Raises Refused where one names another that this stack does not make."""
    named = {name: stack.references(name) for name in made}
    for name, others in named.items():
        if others - made.keys():
            raise Refused(f"{name} names {', '.join(sorted(others - made.keys()))}, which this stack does not make")
    return TopologicalSorter(named).static_order()
