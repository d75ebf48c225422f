"""AgentCore's memories: what was described is echoed; strategies say which namespaces show our own memories.

A deletion that does not end in its time leaves the memory in the state DELETING; asking for it goes on deleting.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from recollect.core.errors import InvalidInput, NotFound, VersionMismatch
from recollect.core.idempotency import retry_on_conflict
from recollect.entrypoints.http.agentcore.wire import ROOT, Kept, document, epoch, short_digest
from recollect.entrypoints.http.headers import Attempt
from recollect.items.item import ABSENT, ItemPlace, Namespace, NamespacedItem, NamespaceListing
from recollect.items.use_cases import Put

MEMORIES: Namespace = (ROOT,)
NAMES: Namespace = (ROOT, "names")
ECHOED = (
    "description", "encryptionKeyArn", "memoryExecutionRoleArn", "indexedKeys", "namespaceKeys",
    "streamDeliveryResources",
)  # fmt: skip
_NAME = re.compile("[A-Za-z][A-Za-z0-9_]{0,47}")
_MOST_STRATEGIES = 6
_LONGEST_TEMPLATE = 512
_VARIABLE = re.compile(r"\{([A-Za-z][A-Za-z0-9]*)\}")
_TEMPLATE_PART = re.compile(r"[^{}]*(\{[A-Za-z][A-Za-z0-9]*\}[^{}]*)?")
_AT_ONCE = 25
_KINDS = {
    "semanticMemoryStrategy": "SEMANTIC",
    "summaryMemoryStrategy": "SUMMARIZATION",
    "userPreferenceMemoryStrategy": "USER_PREFERENCE",
    "customMemoryStrategy": "CUSTOM",
    "episodicMemoryStrategy": "EPISODIC",
}
_DEFAULT_NAMESPACE = "/strategies/{memoryStrategyId}/actors/{actorId}/"


@dataclass(frozen=True, slots=True)
class AgentMemory:
    """A stored memory."""

    item: NamespacedItem

    @property
    def id(self) -> str:
        return self.item.place.key

    @property
    def is_leaving(self) -> bool:
        """Whether its deletion has begun."""
        return bool(self.item.value["status"] == "DELETING")

    @property
    def strategies(self) -> Sequence[Mapping[str, Any]]:
        found: Sequence[Mapping[str, Any]] = self.item.value["strategies"]
        return found

    @property
    def expiry_days(self) -> int:
        return int(self.item.value["eventExpiryDuration"])

    def at(self, *labels: str) -> Namespace:
        """A namespace of it."""
        return (ROOT, self.id, *labels)

    @property
    def summary(self) -> dict[str, Any]:
        """As a list shows it."""
        times = {"createdAt": epoch(self.item.created_at), "updatedAt": epoch(self.item.updated_at)}
        return {"arn": _arn(self.id), "id": self.id, "status": self.item.value["status"], **times}

    @property
    def shown(self) -> dict[str, Any]:
        """As it is shown."""
        return {**self.summary, **self.item.value, "strategies": [_shown(one) for one in self.strategies]}


def _shown(strategy: Mapping[str, Any]) -> dict[str, Any]:
    return {**strategy, "status": "ACTIVE", "namespaceTemplates": strategy["namespaces"]}


def _arn(memory_id: str) -> str:
    return f"arn:aws:bedrock-agentcore:local:000000000000:memory/{memory_id}"


def memory_of(kept: Kept, memory_id: str) -> AgentMemory:
    """The memory. Raises NotFound where there is none, or it is being deleted."""
    memory = AgentMemory(kept.found(MEMORIES, memory_id, "memory"))
    if memory.is_leaving:
        raise NotFound("there is no such memory")
    return memory


def created(kept: Kept, described: Mapping[str, Any], new_id: str) -> str:
    """Stores a new memory; its id. Raises InvalidInput, also for a name that another one has."""
    name = str(described["name"])
    if not _NAME.fullmatch(name):
        raise InvalidInput("must be a letter and then letters, digits or _, at most 48 in all", ("name",))
    memory_id = f"{name}-{new_id.replace('-', '')[-10:]}"
    strategies = [
        _strategy(one, f"{new_id}-{place}") for place, one in enumerate(described.get("memoryStrategies", ()))
    ]
    value = {
        "name": name,
        "status": "ACTIVE",
        "eventExpiryDuration": described["eventExpiryDuration"],
        **{field: described[field] for field in ECHOED if field in described},
        "strategies": _checked(strategies),
    }
    place = ItemPlace(MEMORIES, memory_id)
    kept.put(document(place, value))
    if not _has_name(kept, name, memory_id):
        kept.delete(place)
        raise InvalidInput(f"Memory with name {name} already exists", ("name",))
    return memory_id


def _has_name(kept: Kept, name: str, memory_id: str) -> bool:
    """Takes a name that nothing has; whether the memory has it then."""
    with suppress(VersionMismatch):
        kept.put(document(ItemPlace(NAMES, name), {"id": memory_id}, expected=ABSENT))
    return bool(kept.found(NAMES, name, "name").value["id"] == memory_id)


def _strategy(given: Mapping[str, Any], new_id: str) -> dict[str, Any]:
    """A strategy as it is stored; what a model would be told is only kept."""
    kind = next((one for one in _KINDS if one in given), None)
    if kind is None or not isinstance(given[kind], Mapping) or not isinstance(given[kind].get("name"), str):
        raise InvalidInput("is no strategy with a name", ("memoryStrategies",))
    if not _NAME.fullmatch(given[kind]["name"]):
        raise InvalidInput("a strategy's name is of the form of a memory's", ("memoryStrategies",))
    described = dict(given[kind])
    namespaces = described.pop("namespaceTemplates", None) or described.pop("namespaces", None) or [_DEFAULT_NAMESPACE]
    _check_templates(namespaces)
    strategy_id = f"{described['name']}-{short_digest(new_id)[:10]}"
    shown = {"strategyId": strategy_id, "type": _KINDS[kind], "namespaces": namespaces}
    return {**{name: described[name] for name in ("name", "description") if name in described}, **shown}


def _check_templates(given: Any) -> None:
    """One namespace with at most a variable a part, as AgentCore's. Raises InvalidInput."""
    if not isinstance(given, list) or len(given) > 1 or not all(isinstance(one, str) for one in given):
        raise InvalidInput("a strategy has one namespace", ("memoryStrategies",))
    for template in given:
        parts = template.replace("{memoryStrategyId}", "").split("/")
        if len(template) > _LONGEST_TEMPLATE or not all(map(_TEMPLATE_PART.fullmatch, parts)):
            raise InvalidInput("a part of a namespace has one variable at most", ("memoryStrategies",))
        variables = _VARIABLE.findall(template)
        if len(set(variables)) < len(variables):
            raise InvalidInput("a namespace has each variable once", ("memoryStrategies",))


def _checked(strategies: list[dict[str, Any]]) -> list[dict[str, Any]]:
    names = {one["name"] for one in strategies}
    if len(strategies) > _MOST_STRATEGIES or len(names) < len(strategies):
        raise InvalidInput(f"at most {_MOST_STRATEGIES} strategies, each with a name of its own", ("memoryStrategies",))
    return strategies


def updated(kept: Kept, memory_id: str, changes: Mapping[str, Any], attempt: Attempt) -> None:
    """Makes these changes of a memory, each once also in a retry. Raises NotFound, InvalidInput, Conflict."""

    def once() -> None:
        memory = memory_of(kept, memory_id)
        value = _changed(memory.item.value, changes, attempt)
        kept.put(document(memory.item.place, value, expected=memory.item.version))

    retry_on_conflict(once, "the memory")


def _changed(value: Mapping[str, Any], changes: Mapping[str, Any], attempt: Attempt) -> dict[str, Any]:
    kept_names = (*ECHOED, "eventExpiryDuration")
    changed = {**value, **{field: changes[field] for field in kept_names if field in changes}}
    if "addIndexedKeys" in changes:
        added = {one["key"]: one for one in [*value.get("indexedKeys", ()), *changes["addIndexedKeys"]]}
        changed["indexedKeys"] = list(added.values())
    return {**changed, "strategies": _changed_strategies(value["strategies"], changes.get("memoryStrategies"), attempt)}


def _changed_strategies(
    stored: Sequence[Mapping[str, Any]], changes: Mapping[str, Any] | None, attempt: Attempt
) -> list[dict[str, Any]]:
    changes = changes or {}
    by_id = {one["strategyId"]: dict(one) for one in stored}
    for one in changes.get("deleteMemoryStrategies", ()):
        if by_id.pop(one.get("memoryStrategyId"), None) is None and not attempt.again:
            raise NotFound("there is no such strategy")
    for one in changes.get("modifyMemoryStrategies", ()):
        if one.get("memoryStrategyId") not in by_id:
            raise NotFound("there is no such strategy")
        namespaces = one.get("namespaceTemplates") or one.get("namespaces")
        if namespaces is not None:
            _check_templates(namespaces)
        given = {"description": one.get("description"), "namespaces": namespaces}
        by_id[one["memoryStrategyId"]] |= {name: value for name, value in given.items() if value is not None}
    new_id = attempt.seed.nth(0)
    for place, one in enumerate(changes.get("addMemoryStrategies", ())):
        added = _strategy(one, f"{new_id}-{place}")
        by_id.setdefault(added["strategyId"], added)
    return _checked([*by_id.values()])


def listed(kept: Kept, limit: int, after: str | None) -> tuple[list[AgentMemory], str | None]:
    """A page of the tenant's memories, by their ids."""
    items, more = kept.page(MEMORIES, limit, after)
    return [AgentMemory(item) for item in items if item.owner is None], more


def deleted(
    kept: Kept, memory: AgentMemory, forget: Callable[[NamespacedItem], None], is_time: Callable[[], bool]
) -> bool:
    """Deletes the memory with all that is in it, as far as the time goes; whether it is gone.

    `forget` makes forget what was derived from an event.
    """
    if not memory.is_leaving:
        with suppress(VersionMismatch):  # its deletion has begun elsewhere
            kept.put(
                document(memory.item.place, {**memory.item.value, "status": "DELETING"}, expected=memory.item.version)
            )
    for item in _everything_in(kept, memory):
        if not is_time():
            return False
        if item.place.namespace[2:3] == ("events",):
            forget(item)
        kept.delete(item.place)
    name = kept.get(NAMES, memory.item.value["name"])
    if name is not None and name.value["id"] == memory.id:
        with suppress(VersionMismatch):  # it is another memory's now
            kept.put(Put(place=name.place, value=None, expected=name.version))
    kept.delete(memory.item.place)
    return True


def _everything_in(kept: Kept, memory: AgentMemory) -> Iterator[NamespacedItem]:
    """The items of the memory; whoever reads them deletes them."""
    listing = NamespaceListing(prefix=memory.at(), limit=_AT_ONCE)
    while namespaces := kept.app.items.namespaces(kept.tenant, listing, kept.now):
        for namespace in namespaces:
            yield from kept.every(namespace)
