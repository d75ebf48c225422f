"""The rules of a tenant: the deployment's, with the tenant's own document merged over them; and the analysis of a text.

A tenant's own rules are one item, read with each request, so that a change counts from the next one on. Rules that were
stored under other bounds never fail a request: the store ignores and logs unreadable parts, and `GET /v1/rules` lists
them.
"""

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, TypeAlias

from recollect.core.errors import InvalidInput, VersionMismatch
from recollect.core.items import ABSENT, Item, ItemKey, ItemPath, ItemWrite, of_tenant
from recollect.ports import Items, Pending
from recollect.rules.groups import Rules
from recollect.rules.reading import RulesReading, read_rules, read_rules_json
from recollect.rules.values import RuleFault

OWN_RULES = ItemKey(ItemPath("rules"), "own")
_DOCUMENT = "document"
_PARSED_AT_MOST = 256
_LOG = logging.getLogger(__name__)

GivenRules: TypeAlias = Rules | Pending[Rules]
"""Rules, or a read of them that may still be under way."""


def settled(rules: GivenRules) -> Rules:
    """The rules, waiting for them if necessary. Raises what reading them raised."""
    return rules if isinstance(rules, Rules) else rules.result()


@dataclass(frozen=True, slots=True)
class TenantRules:
    """The rules in force for a tenant; its `own` document, empty for none; which parts of it are `ignored` and why."""

    rules: Rules
    own: Mapping[str, Any]
    ignored: tuple[RuleFault, ...] = ()
    updated_at: datetime | None = None


class TenantRuleStore:
    """Reads and replaces tenants' own rules."""

    def __init__(self, items: Items, deployment: Rules) -> None:
        self._items = items
        self._deployment = deployment
        self._parsed = lru_cache(_PARSED_AT_MOST)(self._parse)

    def resolved(self, tenant: str) -> Rules:
        """The rules in force for a tenant, by one consistent read; it parses equal documents once."""
        item = self._item(tenant)
        return self._parsed(_text_of(item)).rules if item else self._deployment

    def read(self, tenant: str) -> TenantRules:
        """The rules in force, the tenant's own document, and the faults in it."""
        item = self._item(tenant)
        return self._described(item) if item else TenantRules(self._deployment, {})

    def replace(self, tenant: str, document: Mapping[str, Any], now: datetime, expected: str | None) -> TenantRules:
        """Replaces the tenant's own document; an empty one removes it.

        `expected` is the version of the rules in force that the caller saw; None for any. Raises VersionMismatch for
        another one, and InvalidInput with the first faulty path.
        """
        for fault in read_rules(document, self._deployment).faults:
            raise InvalidInput(fault.message, fault.path)
        stored = self._item(tenant) if expected is not None else None
        if expected is not None and self._version(stored) != expected:
            raise VersionMismatch("the rules changed since they were read")
        version = None if expected is None else stored.version if stored else ABSENT
        value = {_DOCUMENT: json.dumps(document, ensure_ascii=False)} if document else None
        (item,) = self._items.write(of_tenant(tenant), [ItemWrite(OWN_RULES, value, version)], now)
        return self._described(item) if item else TenantRules(self._deployment, {})

    def _item(self, tenant: str) -> Item | None:
        return self._items.get(of_tenant(tenant), [OWN_RULES]).get(OWN_RULES)

    def _version(self, item: Item | None) -> str:
        return (self._parsed(_text_of(item)).rules if item else self._deployment).version

    def _described(self, item: Item) -> TenantRules:
        reading, own = self._parsed(_text_of(item)), _object_in(_text_of(item))
        return TenantRules(reading.rules, own, reading.faults, item.updated_at)

    def _parse(self, text: str) -> RulesReading:
        reading = read_rules_json(text, self._deployment)
        if reading.faults:
            found = {"faults": len(reading.faults), "rules_version": reading.rules.version}
            _LOG.warning("parts of a tenant's rules cannot be read and are left out", extra=found)
        return reading


def _text_of(item: Item) -> str:
    # As text: no engine keeps the order of an object's names, which is a rule for tags (K-50).
    text = item.value.get(_DOCUMENT)
    return text if isinstance(text, str) else ""


def _object_in(text: str) -> dict[str, Any]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}
