"""Stored merge rules: one item, one version, every change published, also after a crash (A-108 to A-130)."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any

import pytest

from embedded.setting import Instead, Memory, away
from recollect.arbitration.arbitrate import ArbitrationRequest
from recollect.arbitration.detection import Statement
from recollect.arbitration.merge_rules import initial
from recollect.arbitration.registry import REGISTRY, MergeRuleStore
from recollect.core.errors import Conflict, InvalidInput, NotFound, StoredDataError, Unavailable, VersionMismatch
from recollect.core.items import ItemWrite, of_tenant
from recollect.rules.groups import ConflictRules, Rules
from recollect.timeline.bus import OUTBOX

ACME = of_tenant("acme")


def kept(memory: Memory) -> MergeRuleStore:
    return memory.app.arbitration.merge_rules


def told(memory: Memory, tenant: str = "acme") -> list[tuple[str, str]]:
    """Type and name of what was published, oldest first."""
    published = memory.app.parts.publisher.published(tenant, None, None)
    return [(event.type, str(event.detail["name"])) for event in published]


def names(memory: Memory, tenant: str = "acme") -> list[str]:
    return [rule.name for rule in kept(memory).registry(tenant).rules]


def put(memory: Memory, name: str, document: dict[str, Any], tenant: str = "acme") -> int:
    """Registers a rule; its version."""
    return kept(memory).put(tenant, name, document, memory.now).rule(name).version


@pytest.mark.spec("A-109", "A-110", "A-111")
def test_a_tenant_without_rules_has_the_default_one(memory: Memory) -> None:
    assert kept(memory).registry("acme") == initial()
    assert put(memory, "mine", {"priority": 1}) == 2
    assert (names(memory), names(memory, "other")) == (["default", "mine"], ["default"])


@pytest.mark.spec("A-124", "A-125")
def test_every_change_is_published_with_its_configuration(memory: Memory) -> None:
    put(memory, "mine", {"priority": 1})
    kept(memory).patch("acme", "mine", {"enabled": False}, memory.now, lambda _: True)
    kept(memory).delete("acme", "mine", memory.now, lambda _: True)
    events = memory.app.parts.publisher.published("acme", None, None)
    assert [(event.type, dict(event.detail)) for event in events] == [
        ("rule:registered", {"name": "mine", "configuration": {"priority": 1}, "version": 2}),
        ("rule:updated", {"name": "mine", "configuration": {"priority": 1, "enabled": False}, "version": 3}),
        ("rule:deleted", {"name": "mine", "configuration": {"priority": 1, "enabled": False}, "version": 4}),
    ]
    assert memory.app.parts.publisher.published("other", None, None) == []
    assert not memory.app.parts.items.page(ACME, OUTBOX, 9, None).items


def test_a_version_that_is_not_the_rules_changes_nothing(memory: Memory) -> None:
    version = put(memory, "mine", {})

    def another(given: int) -> bool:
        return given == version + 1

    rules, now = kept(memory), memory.now
    changes: tuple[Callable[[], object], ...] = (
        lambda: rules.put("acme", "mine", {"priority": 2}, now, another),
        lambda: rules.put("acme", "unknown", {}, now, another),
        lambda: rules.patch("acme", "mine", {"priority": 2}, now, another),
        lambda: rules.delete("acme", "mine", now, another),
    )
    for change in changes:
        with pytest.raises(VersionMismatch):
            change()
    assert kept(memory).registry("acme").version == version


def test_what_is_not_there_is_not_found(memory: Memory) -> None:
    with pytest.raises(NotFound):
        kept(memory).patch("acme", "mine", {}, memory.now, lambda _: True)
    with pytest.raises(NotFound):
        kept(memory).delete("acme", "mine", memory.now, lambda _: True)


def test_a_version_never_comes_twice(memory: Memory) -> None:
    """A rule that is made again is not the one that an old ETag is about."""
    first = put(memory, "mine", {})
    kept(memory).delete("acme", "mine", memory.now, lambda _: True)
    assert put(memory, "mine", {}) > first


def racing(memory: Memory, before: Callable[[], object], writes: int = 0) -> MergeRuleStore:
    """Rules that are overtaken once, just before the first write, or after so many."""
    meanwhile = iter([*[lambda: None] * writes, before])

    def write(real: Any, *given: Any) -> Any:
        next(meanwhile, lambda: None)()
        return real(*given)

    items: Any = Instead(memory.app.parts.items, write=write)
    return MergeRuleStore(items, memory.app.outbox)


def test_of_two_changes_at_once_one_is_made_after_the_other(memory: Memory) -> None:
    mine = racing(memory, lambda: put(memory, "other", {"priority": 1}))
    registry = mine.put("acme", "mine", {"priority": 2}, memory.now)
    assert [rule.name for rule in registry.rules] == ["default", "other", "mine"]
    assert registry.version == 3


def test_of_two_changes_of_one_version_the_second_is_refused(memory: Memory) -> None:
    version = put(memory, "mine", {})
    mine = racing(memory, lambda: put(memory, "mine", {"priority": 1}))
    with pytest.raises(VersionMismatch):
        mine.patch("acme", "mine", {"priority": 2}, memory.now, lambda given: given == version)
    assert kept(memory).registry("acme").rule("mine").document == {"priority": 1}


def test_many_at_once_all_count(memory: Memory) -> None:
    def one(number: int) -> bool:
        try:
            put(memory, f"r{number}", {})
        except Conflict:
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        made = [number for number, good in enumerate(pool.map(one, range(12))) if good]
    assert sorted(names(memory)) == sorted(["default", *(f"r{number}" for number in made)])
    assert kept(memory).registry("acme").version == 1 + len(made)
    assert len(told(memory)) == len(made)


MANY = [(f"r{number:03}", {"priority": number}) for number in range(60)]


@pytest.mark.spec("A-128", "A-124")
def test_all_events_of_a_large_import_are_published(memory: Memory) -> None:
    registry = kept(memory).load("acme", MANY, memory.now)
    assert registry.version == 61
    assert told(memory) == [("rule:registered", name) for name, _ in MANY]


@pytest.mark.parametrize("writes", [0, 1])
def test_an_import_that_another_change_overtakes_is_made_once(memory: Memory, writes: int) -> None:
    """Overtaken after its rules were written, it is not made again: the other change has put its events out."""
    racing(memory, lambda: put(memory, "other", {}), writes).load("acme", MANY, memory.now)
    assert kept(memory).registry("acme").version == 62
    memory.app.outbox.drain(memory.now)
    assert sorted(name for _, name in told(memory)) == sorted(["other", *(name for name, _ in MANY)])


@pytest.mark.parametrize("writes", [0, 1, 2])
def test_a_crash_within_an_import_loses_no_event(memory: Memory, writes: int) -> None:
    left = iter(range(writes))

    def write(real: Any, *given: Any) -> Any:
        if next(left, None) is None:
            raise Unavailable("away")
        return real(*given)

    items: Any = Instead(memory.app.parts.items, write=write)
    with pytest.raises(Unavailable):
        MergeRuleStore(items, memory.app.outbox).load("acme", MANY, memory.now)
    assert len(names(memory)) == (1 if writes == 0 else 61)  # all of them, or none
    put(memory, "next", {})
    memory.app.outbox.drain(memory.now)
    registered = {name for _, name in told(memory)}
    assert registered == {"next"} | ({name for name, _ in MANY} if writes else set())


def test_an_unavailable_bus_gets_its_events_later(memory: Memory) -> None:
    with away(memory, "publisher", "publish") as crippled:
        put(crippled, "mine", {})
    assert told(memory) == []
    memory.app.outbox.drain(memory.now)
    assert told(memory) == [("rule:registered", "mine")]


def test_rules_that_are_too_large_together_are_refused(memory: Memory) -> None:
    long = {"conditions": {"userId": [f"{'x' * 100}{number:03}" for number in range(100)]}}
    with pytest.raises(InvalidInput):
        kept(memory).load("acme", [(f"r{number}", long) for number in range(40)], memory.now)
    assert names(memory) == ["default"]


@pytest.mark.parametrize("value", [{}, {"format": 1}, {"format": 1, "version": 1, "rules": "{", "owed": []}])
def test_what_cannot_be_read_is_said_so(memory: Memory, value: dict[str, Any]) -> None:
    memory.app.parts.items.write(ACME, [ItemWrite(REGISTRY, value)], memory.now)
    with pytest.raises(StoredDataError):
        kept(memory).registry("acme")


def candidate(**changes: Any) -> Statement:
    fields: dict[str, Any] = {"id": "c", "user_id": "anna", "content": "x", "importance": 0.5}
    return Statement(**fields | {"timestamp": datetime(2024, 5, 1)} | changes)


@pytest.mark.spec("A-108", "A-123")
def test_the_policy_is_the_tenants_then_the_rules_then_the_requests(memory: Memory) -> None:
    rules = Rules(conflict=ConflictRules(semantic_threshold=0.6, keyword_threshold=0.7))
    put(memory, "mine", {"detection": {"keywordThreshold": 0.9}, "arbitration": {"allowMerge": False}})
    choose = memory.app.arbitration.policies
    policy = choose.choose("acme", ArbitrationRequest(candidate(), options={"merge": {"deduplicate": True}}), rules)
    assert policy.rule == "mine"
    assert (policy.detection.semantic_threshold, policy.detection.keyword_threshold) == (0.6, 0.9)
    assert not policy.arbitration.allow_merge
    assert policy.merge.deduplicate
    named = choose.choose("acme", ArbitrationRequest(candidate(), rule="default"), rules)
    assert (named.rule, named.detection.keyword_threshold) == ("default", 0.7)


def test_a_rule_that_is_not_there_and_weights_that_do_not_fit_are_refused(memory: Memory) -> None:
    choose = memory.app.arbitration.policies
    with pytest.raises(InvalidInput) as caught:
        choose.choose("acme", ArbitrationRequest(candidate(), rule="mine"), Rules())
    assert caught.value.loc == ("rule",)
    options = {"arbitration": {"weights": {"source": 0.9}}}
    with pytest.raises(InvalidInput) as caught:
        choose.choose("acme", ArbitrationRequest(candidate(), options=options), Rules())
    assert caught.value.loc == ("options", "weights")
