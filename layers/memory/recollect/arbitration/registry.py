"""The stored merge rules of a tenant: one item, so that readers see a change completely or not at all (A-108 to A-130).

A change is written on the version that was read, atomically with its events in the outbox. The events of a large
import exceed one transaction: the rest are listed in the item as `owed`, and put into the outbox by the following
writes, or by the next change after an interruption.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import Any

from recollect.arbitration.merge_rules import (
    RULE_REGISTERED,
    MergeRule,
    MergeRuleRegistry,
    RuleEvent,
    RulesChange,
    delete,
    initial,
    load,
    register,
    rule_published,
    update,
)
from recollect.core.errors import Conflict, InvalidInput, NotFound, RecollectError, StoredDataError, VersionMismatch
from recollect.core.items import (
    ABSENT,
    MOST_BYTES,
    MOST_WRITES,
    Item,
    ItemKey,
    ItemPath,
    ItemWrite,
    json_bytes,
    of_tenant,
)
from recollect.ports import Items
from recollect.timeline.bus import BusOutbox, outbox_write

REGISTRY = ItemKey(ItemPath("merge_rules"), "registry")
FORMAT_VERSION = 1
_TRIES = 8
_EVENTS_AT_ONCE = MOST_WRITES - 1
_PARSED_AT_MOST = 64

Accepts = Callable[[int], bool]
"""Whether a request accepts a rule's version."""


@dataclass(frozen=True, slots=True)
class _Stored:
    """The registry as read, the item's version, and the rules whose registration is not in the outbox yet."""

    registry: MergeRuleRegistry
    version: int
    owed: tuple[str, ...] = ()


class MergeRuleStore:
    """Reads and changes tenants' rules; concurrent changes are made one after the other, or refused."""

    def __init__(self, items: Items, outbox: BusOutbox) -> None:
        self._items = items
        self._outbox = outbox

    def registry(self, tenant: str) -> MergeRuleRegistry:
        """The current rules: one consistent read."""
        return self._read(tenant).registry

    def put(
        self, tenant: str, name: str, document: Mapping[str, Any], now: datetime, accepts: Accepts | None = None
    ) -> MergeRuleRegistry:
        """Registers a rule, or replaces the one of that name; `accepts` None: any version.

        Raises InvalidInput with the path within the document, VersionMismatch, and Conflict.
        """

        return self._change(tenant, lambda rules: register(_accepted(rules, name, accepts), name, document), now)

    def patch(
        self, tenant: str, name: str, changes: Mapping[str, Any], now: datetime, accepts: Accepts
    ) -> MergeRuleRegistry:
        """Merges changes into a rule. Raises NotFound, VersionMismatch, InvalidInput and Conflict."""

        return self._change(tenant, lambda rules: update(_accepted_rule(rules, name, accepts), name, changes), now)

    def delete(self, tenant: str, name: str, now: datetime, accepts: Accepts) -> MergeRuleRegistry:
        """Deletes a rule. Raises NotFound, VersionMismatch, and Conflict where `merge_rules.delete` does."""

        return self._change(tenant, lambda rules: delete(_accepted_rule(rules, name, accepts), name), now)

    def load(self, tenant: str, rules: Sequence[tuple[str, Mapping[str, Any]]], now: datetime) -> MergeRuleRegistry:
        """Registers all or none. Raises InvalidInput with the path from the rule's position on."""
        return self._change(tenant, lambda registry: load(registry, rules), now)

    def _change(
        self, tenant: str, change: Callable[[MergeRuleRegistry], RulesChange], now: datetime
    ) -> MergeRuleRegistry:
        for _ in range(_TRIES):
            try:
                stored = self._settled(tenant, now)
                changed = change(stored.registry)
            except _Overtaken:
                continue
            if not changed.events:
                return stored.registry
            if self._write(tenant, stored, changed, now):
                self._publish(tenant, changed.events, now)
                return changed.registry
        raise Conflict("the rules change all the time")

    def _publish(self, tenant: str, events: Sequence[RuleEvent], now: datetime) -> None:
        """Reconciliation publishes from the outbox what the bus does not accept now."""
        with suppress(RecollectError):
            self._outbox.deliver(of_tenant(tenant), [rule_published(tenant, event, now) for event in events], now)

    def _write(self, tenant: str, stored: _Stored, changed: RulesChange, now: datetime) -> bool:
        """False where another change came first."""
        first, rest = changed.events[:_EVENTS_AT_ONCE], changed.events[_EVENTS_AT_ONCE:]
        try:
            kept = self._step(tenant, _Stored(changed.registry, stored.version, _names(rest)), first, now)
        except _Overtaken:
            return False
        with suppress(_Overtaken):  # the other change has put them into the outbox
            self._settle_owed(tenant, kept, now)
        return True

    def _settled(self, tenant: str, now: datetime) -> _Stored:
        return self._settle_owed(tenant, self._read(tenant), now)

    def _settle_owed(self, tenant: str, stored: _Stored, now: datetime) -> _Stored:
        """Puts owed events into the outbox, batch by batch."""
        while stored.owed:
            names, rest = stored.owed[:_EVENTS_AT_ONCE], stored.owed[_EVENTS_AT_ONCE:]
            events = [_registration(stored.registry, name) for name in names]
            stored = self._step(tenant, replace(stored, owed=rest), events, now)
        return stored

    def _step(self, tenant: str, after: _Stored, events: Sequence[RuleEvent], now: datetime) -> _Stored:
        """Writes the registry over the version that `after` names, with these events."""
        write = ItemWrite(REGISTRY, _document(after.registry, after.owed), after.version)
        published = [outbox_write(rule_published(tenant, event, now)) for event in events]
        try:
            item, *_ = self._items.write(of_tenant(tenant), [write, *published], now)
        except VersionMismatch:
            raise _Overtaken from None
        assert item is not None  # only a deletion leaves none
        return replace(after, version=item.version)

    def _read(self, tenant: str) -> _Stored:
        item = self._items.get(of_tenant(tenant), [REGISTRY]).get(REGISTRY)
        return _stored(item) if item else _Stored(initial(), ABSENT)


class _Overtaken(Exception):
    """Another change was written since the registry was read."""


def _accepted_rule(registry: MergeRuleRegistry, name: str, accepts: Accepts) -> MergeRuleRegistry:
    """The registry. Raises NotFound, and VersionMismatch where the rule's version is not accepted."""
    if not accepts(registry.rule(name).version):
        raise VersionMismatch("the rule changed since it was read")
    return registry


def _accepted(registry: MergeRuleRegistry, name: str, accepts: Accepts | None) -> MergeRuleRegistry:
    """The same; where there is no such rule, it has no version that could be accepted."""
    try:
        return registry if accepts is None else _accepted_rule(registry, name, accepts)
    except NotFound:
        raise VersionMismatch("there is nothing that this could be the version of") from None


def _names(events: Sequence[RuleEvent]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(event.name for event in events))


def _registration(registry: MergeRuleRegistry, name: str) -> RuleEvent:
    rule = registry.rule(name)
    return RuleEvent(RULE_REGISTERED, name, rule.document, rule.version)


def _document(registry: MergeRuleRegistry, owed: tuple[str, ...]) -> dict[str, Any]:
    """The stored form; as text, since engines do not store numbers exactly as written."""
    rules = [[rule.name, rule.version, dict(rule.document)] for rule in registry.rules]
    text = json.dumps(rules, ensure_ascii=False, separators=(",", ":"))
    document = {"format": FORMAT_VERSION, "version": registry.version, "rules": text, "owed": list(owed)}
    if json_bytes(document) > MOST_BYTES:
        raise InvalidInput(f"a tenant's merge rules have at most {MOST_BYTES} bytes together")
    return document


def _stored(item: Item) -> _Stored:
    value = item.value
    try:
        if value["format"] > FORMAT_VERSION:
            raise StoredDataError("merge rules of a newer format")
        registry = MergeRuleRegistry(int(value["version"]), _rules(value["rules"]))
        return _Stored(registry, item.version, tuple(value["owed"]))
    except (KeyError, TypeError, ValueError) as error:
        raise StoredDataError(f"merge rules cannot be read: {type(error).__name__}") from error


@lru_cache(_PARSED_AT_MOST)
def _rules(text: str) -> tuple[MergeRule, ...]:
    return tuple(MergeRule(name, document, version) for name, version, document in json.loads(text))
