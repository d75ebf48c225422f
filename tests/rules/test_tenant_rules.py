"""A tenant's own rules: merged over the deployment's, read with each request, kept apart, never in the way."""

import logging
from pathlib import Path
from typing import Any

import pytest

from embedded.setting import ANNA, NOON, Memory, away, open_memory
from embedded.timing import Counted
from recollect.app import App
from recollect.context.build import ContextRequest
from recollect.context.rendering import fence_for
from recollect.context.sources import ContextQuestion
from recollect.core.errors import InvalidInput, Unavailable, VersionMismatch
from recollect.core.items import ItemWrite, of_tenant
from recollect.retrieval.filters import SearchFilters
from recollect.rules.groups import ContextRules, Rules, document_of
from recollect.rules.use_cases import OWN_RULES, TenantRuleStore

SNOW: dict[str, Any] = {"tags": {"weather": ["snow"]}, "scoring": {"base": {"userinput": 0.7}}}


def kept(memory: Memory) -> TenantRuleStore:
    return memory.app.rules


def stored(memory: Memory, value: dict[str, Any]) -> None:
    memory.app.parts.items.write(of_tenant("acme"), [ItemWrite(OWN_RULES, value)], NOON)


def tags_of(memory: Memory, content: str) -> tuple[str, ...]:
    (result,) = memory.add(content).results
    assert result.event is not None
    return result.event.tags


def test_a_tenant_without_its_own_has_the_deployments(memory: Memory) -> None:
    found = kept(memory).read("acme")
    assert (found.rules, dict(found.own), found.ignored, found.updated_at) == (Rules(), {}, (), None)
    assert memory.app.rules.resolved("acme").version == Rules().version


@pytest.mark.spec("K-53")
def test_its_own_hold_from_the_next_request_on(memory: Memory) -> None:
    assert tags_of(memory, "snow in May") == ()
    replaced = kept(memory).replace("acme", SNOW, NOON, None)
    assert (replaced.own, replaced.updated_at) == (SNOW, NOON)
    assert tags_of(memory, "snow in June") == ("weather",)
    assert memory.context("x").rules_version == replaced.rules.version == memory.app.rules.resolved("acme").version
    kept(memory).replace("acme", {"scoring": {"boost": 0}}, NOON, None)
    assert tags_of(memory, "snow in July") == ()  # replaced as a whole
    kept(memory).replace("acme", {}, NOON, None)
    assert memory.app.rules.resolved("acme").version == Rules().version


def test_tenants_are_kept_apart(memory: Memory) -> None:
    kept(memory).replace("acme", SNOW, NOON, None)
    for other in ("globex", "Acme", "acme ", ""):
        assert memory.app.rules.resolved(other).version == Rules().version
        assert dict(kept(memory).read(other).own) == {}
    kept(memory).replace("globex", {"context": {"total": 1}}, NOON, None)
    assert memory.app.rules.resolved("acme").context.total == 8
    assert memory.app.rules.resolved("globex").tags == Rules().tags


def test_they_outlive_the_process(tmp_path: Path) -> None:
    first = open_memory(tmp_path)
    version = kept(first).replace("acme", SNOW, NOON, None).rules.version
    first.app.parts.close()
    second = open_memory(tmp_path)
    assert second.app.rules.resolved("acme").version == version
    assert list(second.app.rules.resolved("acme").tags) == list(Rules().tags)
    second.app.parts.close()


def test_another_process_sees_a_change_at_once(tmp_path: Path) -> None:
    one, other = open_memory(tmp_path), open_memory(tmp_path)
    for total in (1, 2, 3):
        kept(one).replace("acme", {"context": {"total": total}}, NOON, None)
        assert other.app.rules.resolved("acme").context.total == total
    one.app.parts.close()
    other.app.parts.close()


def test_what_was_removed_and_made_again_is_the_new_one(memory: Memory) -> None:
    """An item that is made again has the version of the first one: what was parsed is known by its text."""
    for total in (1, 2):
        kept(memory).replace("acme", {"context": {"total": total}}, NOON, None)
        assert memory.app.rules.resolved("acme").context.total == total
        kept(memory).replace("acme", {}, NOON, None)


def test_the_order_of_new_categories_is_kept(memory: Memory) -> None:
    kept(memory).replace("acme", {"tags": {"zebra": ["tea"], "ant": ["tea"], "10": ["tea"], "9": ["tea"]}}, NOON, None)
    assert tags_of(memory, "tea") == ("zebra", "ant", "10", "9")


def test_a_version_that_is_not_theirs_replaces_nothing(memory: Memory) -> None:
    first = kept(memory).replace("acme", SNOW, NOON, Rules().version).rules.version
    for stale in (Rules().version, "", "*"):
        with pytest.raises(VersionMismatch):
            kept(memory).replace("acme", {}, NOON, stale)
    assert memory.app.rules.resolved("acme").version == first
    second = kept(memory).replace("acme", {"context": {"total": 1}}, NOON, first).rules
    assert second.context.total == 1
    assert kept(memory).replace("acme", {}, NOON, second.version).rules.version == Rules().version


def test_a_wrong_document_is_not_stored(memory: Memory) -> None:
    with pytest.raises(InvalidInput) as refused:
        kept(memory).replace("acme", {"context": {"total": -1}}, NOON, None)
    assert refused.value.loc == ("context", "total")
    assert memory.app.rules.resolved("acme").version == Rules().version


@pytest.mark.parametrize("value", [{}, {"document": 5}, {"document": "{"}, {"document": "[]"}, {"other": "{}"}])
def test_what_is_stored_and_cannot_be_read_stops_no_request(memory: Memory, value: dict[str, Any]) -> None:
    stored(memory, value)
    assert memory.app.rules.resolved("acme").version == Rules().version
    found = kept(memory).read("acme")
    assert (dict(found.own), len(found.ignored)) == ({}, 1)
    assert tags_of(memory, "rain") == ("weather",)


def test_of_an_older_document_what_can_be_read_holds(memory: Memory, caplog: pytest.LogCaptureFixture) -> None:
    stored(memory, {"document": '{"context": {"total": 3, "places": 9}, "moods": {}, "scoring": {"boost": 7}}'})
    with caplog.at_level(logging.WARNING, "recollect"):
        assert [memory.app.rules.resolved("acme").context.total for _ in range(3)] == [3, 3, 3]
    (line,) = caplog.records
    assert line.__dict__["faults"] == 3
    found = kept(memory).read("acme")
    assert {fault.path for fault in found.ignored} == {("context", "places"), ("moods",), ("scoring", "boost")}
    assert found.rules.scoring.boost == 0.2
    assert kept(memory).replace("acme", {}, NOON, found.rules.version).ignored == ()


def test_the_tenants_own_are_merged_over_the_deployments(memory: Memory) -> None:
    deployment = Rules(context=ContextRules(total=4, recent=1), tags={"a": ("tea",)})
    app = App(memory.app.settings, memory.app.parts, deployment)
    assert app.rules.resolved("acme") == deployment
    resolved = app.rules.replace("acme", {"context": {"total": 5}, "tags": {"b": ["rum"]}}, NOON, None).rules
    assert (resolved.context.total, resolved.context.recent) == (5, 1)
    assert dict(resolved.tags) == {"a": ("tea",), "b": ("rum",)}


def test_a_store_that_is_away_is_told(memory: Memory) -> None:
    with away(memory, "items", "get") as crippled:
        with pytest.raises(Unavailable):
            crippled.app.rules.resolved("acme")
        with pytest.raises(Unavailable):
            crippled.app.begin_rules("acme").result()
        with pytest.raises(Unavailable):
            crippled.app.context.model_call.build(ANNA, _a_request(crippled), crippled.app.begin_rules("acme"))


def _a_request(memory: Memory) -> ContextRequest:
    question = ContextQuestion(text="x", filters=SearchFilters(now=memory.now))
    return ContextRequest(question=question, fence=fence_for("f" * 32))


def test_resolved_rules_are_a_document_that_can_be_put_back(memory: Memory) -> None:
    version = kept(memory).replace("acme", SNOW, NOON, None).rules.version
    document = document_of(memory.app.rules.resolved("acme"))
    assert kept(memory).replace("acme", document, NOON, version).rules.version == version


class Awaited:
    """Rules under way; what had been begun when somebody first waited for them."""

    def __init__(self, calls: list[str]) -> None:
        self._calls = calls
        self.begun: list[str] | None = None

    def result(self) -> Rules:
        self.begun = self.begun or list(self._calls)
        return Rules()


def test_a_context_waits_for_the_rules_when_its_first_wave_has_begun(memory: Memory) -> None:
    memory.add(*(f"note {n}" for n in range(3)))
    calls: list[str] = []
    for part in ("timeline", "index"):
        memory.app.parts.__dict__[part] = Counted(getattr(memory.app.parts, part), calls)
    awaited = Awaited(calls)
    memory.app.context.model_call.build(ANNA, _a_request(memory), awaited)
    assert awaited.begun is not None
    assert {"tail", "newest", "important", "nominate"} <= set(awaited.begun)
    assert "read" not in awaited.begun
