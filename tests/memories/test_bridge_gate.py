"""Deferral, its reconciliation, the outbox and the audit's pages, with parts that fail (A-66, A-67, P-10)."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from embedded.setting import ANNA, Instead, Memory, away, with_parts
from recollect.core.errors import Conflict, InvalidInput, VersionMismatch
from recollect.core.items import ItemWrite, of_tenant, pages
from recollect.core.scope import Scope
from recollect.memories.audit import Action, Actor, ActorKind, AuditEntry, audit_write
from recollect.memories.audit_log import AuditFilter
from recollect.memories.deferred_promotion import DeferredRun, Signal, SignalType
from recollect.memories.promote import BridgeGate
from recollect.memories.storage import MEMORIES
from recollect.timeline.bus import BusEvent, episodic_warning, outbox_write
from recollect.timeline.record import EventDraft

BEN = Scope("acme", "ben")
EVA = Scope("other", "eva")


def signal(memory: Memory, kind: SignalType, tenant: str = "acme") -> None:
    """A signal at the memory's time."""
    signal_id = memory.app.ids.seed(1).nth(0)
    memory.app.memories.signals.receive(tenant, Signal(signal_id, kind, "test", "high", "latency"), memory.now)


def late(memory: Memory, *contents: str, scope: Scope = ANNA) -> list[str]:
    """Ids of important events that come five minutes after their time."""
    drafts = [
        EventDraft(content=content, importance=0.9, timestamp=memory.now - timedelta(minutes=5)) for content in contents
    ]
    before = len(memory.ids)
    memory.add(*drafts, scope=scope)
    return memory.ids[before:]


def deferred(memory: Memory, *contents: str, scope: Scope = ANNA) -> list[str]:
    """Ids of events that wait, and whose tenant is healthy again."""
    signal(memory, SignalType.WARNING, scope.tenant)
    ids = late(memory, *contents, scope=scope)
    memory.project()
    signal(memory, SignalType.HEALTHY, scope.tenant)
    return ids


def run(memory: Memory, tenant: str | None = None) -> DeferredRun:
    """A reconciliation."""
    return memory.app.memories.deferred.promote(memory.now, tenant)


def kept(memory: Memory, scope: Scope = ANNA) -> set[str]:
    """Ids under which a memory is kept."""
    return {item.key.key for item in memory.app.parts.items.page(scope, MEMORIES, 1000, None).items}


def outcomes(memory: Memory, event_id: str, scope: Scope = ANNA) -> list[tuple[str | None, str | None]]:
    """What the ledger tells of an event, oldest first."""
    page = memory.app.memories.audit.page(scope, 200, None, AuditFilter(event_id=event_id, decisions=True))
    return [(entry.outcome, entry.reason) for entry in reversed(page.entries)]


def refusing(memory: Memory, kind: str) -> Memory:
    """The same memory, whose bus does not take events of this type."""

    def publish(real: Any, tenant: str, events: Sequence[BusEvent]) -> list[str]:
        left = [event.id for event in events if event.type == kind]
        return left + list(real(tenant, [event for event in events if event.type != kind]))

    return with_parts(memory, publisher=Instead(memory.app.parts.publisher, publish=publish))


def published(memory: Memory, kind: str, tenant: str = "acme") -> list[BusEvent]:
    """What the bus has of a type."""
    return memory.app.parts.publisher.published(tenant, kind, None)


@pytest.mark.spec("A-67", "P-10")
def test_more_than_one_page_of_deferred_events_is_promoted_each_once(memory: Memory) -> None:
    ids = deferred(memory, *(f"thing number {n}" for n in range(60)))
    ids += deferred(memory, "of ben", scope=BEN)
    done = run(memory)
    assert (done.promoted, done.complete, done.counts["failed"]) == (61, True, 0)
    assert kept(memory) | kept(memory, BEN) == set(ids)
    assert run(memory).counts == {"promoted": 0, "gone": 0, "suspended": 0, "failed": 0}
    assert len(published(memory, "memory:semantic:saved")) == 61
    assert outcomes(memory, ids[7]) == [("deferred", "suspended"), ("promoted", None), ("reconciled", None)]


@pytest.mark.spec("A-67", "P-10")
def test_of_a_suspended_tenant_all_stay_and_others_go_on(memory: Memory) -> None:
    ours, others = deferred(memory, "ours"), deferred(memory, "theirs", scope=EVA)
    signal(memory, SignalType.WARNING)
    assert run(memory).counts == {"promoted": 1, "gone": 0, "suspended": 1, "failed": 0}
    assert (kept(memory), kept(memory, EVA)) == (set(), set(others))
    signal(memory, SignalType.HEALTHY)
    assert run(memory, "other").promoted == 0
    assert run(memory, "acme").promoted == 1
    assert kept(memory) == set(ours)


def test_projecting_a_deferred_event_again_defers_it_once(memory: Memory) -> None:
    signal(memory, SignalType.WARNING)
    (event_id,) = late(memory, "again")
    gate = BridgeGate(memory.app.parts.items, memory.app.ids)
    event = memory.app.timeline.listing.one(ANNA, event_id, memory.now)
    rules = memory.app.rules.resolved("acme")
    for _ in range(3):
        assert gate.decide(ANNA, [event], rules, memory.now).deferred == [event]
    assert outcomes(memory, event_id) == [("deferred", "suspended")]


def test_a_crash_after_the_promotion_is_made_good(memory: Memory) -> None:
    (event_id,) = deferred(memory, "durable")
    with away(memory, "publisher", "publish") as broken:
        assert run(broken).failed == {"Unavailable": 1}
        assert run(broken).failed == {"Unavailable": 1}
    assert kept(memory) == {event_id}
    assert published(memory, "memory:semantic:saved") == []
    assert run(memory).promoted == 1
    assert len(published(memory, "memory:semantic:saved")) == 1
    assert outcomes(memory, event_id) == [
        ("deferred", "suspended"),
        ("promoted", None),
        ("failed", "Unavailable"),
        ("reconciled", None),
    ]


def test_what_the_bus_does_not_take_stays_deferred(memory: Memory) -> None:
    deferred(memory, "words")
    assert run(refusing(memory, "memory:semantic:saved")).failed == {"UpstreamFailed": 1}
    assert run(memory).promoted == 1


def test_one_that_fails_does_not_hold_up_the_others(memory: Memory) -> None:
    ids = deferred(memory, "one", "two", "three")
    real = memory.app.memories.promotion.promote

    def promote(scope: Scope, events: Any, now: Any, via: str) -> Any:
        if ids[0] in {event.id for event in events}:
            raise Conflict("never")
        return real(scope, events, now, via)

    memory.app.memories.deferred._promote = promote
    done = run(memory)
    assert (done.promoted, done.failed) == (2, {"Conflict": 1})
    assert outcomes(memory, ids[0]) == [("deferred", "suspended"), ("failed", "Conflict")]
    run(memory)
    assert len(outcomes(memory, ids[0])) == 2


def test_events_that_are_gone_or_expired_leave_the_queue(memory: Memory) -> None:
    signal(memory, SignalType.WARNING)
    gone, _ = late(memory, "gone", "stays")
    moment = memory.now - timedelta(minutes=5)
    short = EventDraft(content="short", importance=0.9, timestamp=moment, expires_at=memory.now + timedelta(hours=1))
    memory.add(short)
    memory.project()
    memory.app.deletion.events.forget(ANNA, event_id=gone, now=memory.now)
    signal(memory, SignalType.HEALTHY)
    memory.now += timedelta(hours=2)
    assert run(memory).counts == {"promoted": 1, "gone": 2, "suspended": 0, "failed": 0}
    assert run(memory).counts == {"promoted": 0, "gone": 0, "suspended": 0, "failed": 0}
    assert outcomes(memory, gone)[-1] == ("refused", "gone")


def test_no_time_left_no_event_begun(memory: Memory) -> None:
    deferred(memory, "waits")
    begun = memory.app.memories.deferred.promote(memory.now, None, lambda: 9.0)
    assert (begun.complete, begun.promoted) == (False, 0)
    assert run(memory).promoted == 1


def racing(memory: Memory, times: int) -> BridgeGate:
    """A gate over items that somebody else changes right before its first writes."""
    left = iter(range(times))

    def write(real: Any, *given: Any) -> Any:
        if next(left, None) is not None:
            raise VersionMismatch("changed")
        return real(*given)

    items: Any = Instead(memory.app.parts.items, write=write)
    return BridgeGate(items, memory.app.ids)


@pytest.mark.parametrize("times", [1, 7])
def test_the_gate_looks_again_where_somebody_was_faster(memory: Memory, times: int) -> None:
    signal(memory, SignalType.WARNING)
    (event_id,) = late(memory, "words")
    event, rules = memory.app.timeline.listing.one(ANNA, event_id, memory.now), memory.app.rules.resolved("acme")
    assert racing(memory, times).decide(ANNA, [event], rules, memory.now).deferred == [event]
    assert outcomes(memory, event_id) == [("deferred", "suspended")]
    with pytest.raises(Conflict):
        racing(memory, 99).decide(BEN, [event], rules, memory.now)


@pytest.mark.spec("A-66")
def test_a_warning_that_the_bus_does_not_take_is_published_by_reconciliation(memory: Memory) -> None:
    refused = refusing(memory, "memory:episodic:warning")
    outcome = refused.app.memories.signals.receive("acme", Signal("w1", SignalType.WARNING, "test"), memory.now)
    assert (outcome.suspended, outcome.event_id, outcome.forwarded) == (True, "w1", False)
    assert memory.app.memories.signals.state("acme").suspended
    assert refused.app.outbox.drain(memory.now).refused == 1
    assert memory.app.outbox.drain(memory.now, "other").published == 0
    done = memory.app.outbox.drain(memory.now, "acme")
    assert (done.published, done.refused, done.complete) == (1, 0, True)
    (warning,) = published(memory, "memory:episodic:warning")
    assert warning == episodic_warning("w1", "medium", None, "test", memory.now)
    assert memory.app.outbox.drain(memory.now).published == 0


def test_an_outbox_entry_stands_with_what_it_tells_of(memory: Memory) -> None:
    items, tenant = memory.app.parts.items, of_tenant("acme")
    warnings = [episodic_warning(f"w{n}", "low", "r", "s", memory.now) for n in range(3)]
    stale = ItemWrite(outbox_write(warnings[0]).key, {"never": 1}, 9)
    with pytest.raises(VersionMismatch):
        items.write(tenant, [outbox_write(warnings[1]), stale], memory.now)
    assert memory.app.outbox.drain(memory.now).published == 0
    items.write(tenant, [outbox_write(warning) for warning in warnings], memory.now)
    assert memory.app.outbox.deliver(tenant, warnings[:2], memory.now) == []
    assert memory.app.outbox.drain(memory.now).published == 1
    assert published(memory, "memory:episodic:warning") == warnings


def entries(memory: Memory, count: int) -> list[str]:
    """Ids of audit entries, oldest first; every tenth is a deletion, every seventh tells an outcome."""
    ids = [memory.app.ids.seed(1).nth(0) for _ in range(count)]
    for n, entry_id in enumerate(ids):
        action = Action.DELETE if n % 10 == 0 else Action.CREATE
        entry = AuditEntry(
            id=entry_id,
            at=memory.now,
            actor=Actor(ActorKind.USER, "anna"),
            action=action,
            target_ids=(f"m{n % 3}",),
            via="test",
            outcome="promoted" if n % 7 == 0 else None,
        )
        memory.app.parts.items.write(ANNA, [audit_write(entry)], memory.now)
    return ids


def walk(memory: Memory, limit: int, wanted: AuditFilter) -> list[str]:
    """The ids of all pages; none is longer than asked."""
    read = list(pages(lambda after: memory.app.memories.audit.page(ANNA, limit, after, wanted)))
    assert all(len(page.entries) <= limit for page in read)
    return [entry.id for page in read for entry in page.entries]


@pytest.mark.parametrize("limit", [1, 7, 200])
def test_a_walk_over_the_audit_sees_each_entry_once_newest_first(memory: Memory, limit: int) -> None:
    ids = entries(memory, 430)
    expected = ids[::-1]
    numbered = list(enumerate(ids))[::-1]
    assert walk(memory, limit, AuditFilter()) == expected
    assert walk(memory, limit, AuditFilter(action=Action.DELETE)) == [one for n, one in numbered if n % 10 == 0]
    assert walk(memory, limit, AuditFilter(target_id="m1")) == [one for n, one in numbered if n % 3 == 1]
    assert walk(memory, limit, AuditFilter(decisions=True)) == [one for n, one in numbered if n % 7 == 0]
    assert walk(memory, limit, AuditFilter(outcome="failed")) == []


def test_a_place_in_the_audit_that_is_none_is_refused(memory: Memory) -> None:
    with pytest.raises(InvalidInput):
        memory.app.memories.audit.page(ANNA, 3, "nonsense", AuditFilter())
