"""Scenarios of memories and of the bridge that makes them."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from crashes.derived import made_summary
from crashes.evidence import gone, talked
from crashes.scenario import scenario
from crashes.world import BEGIN, World
from embedded.setting import ANNA
from embedded.summarizing import answer
from recollect.core.errors import NotFound, VersionMismatch
from recollect.core.ids import IdSeed
from recollect.core.items import of_tenant
from recollect.deletion.forget_memories import Order
from recollect.memories.audit import Actor, ActorKind
from recollect.memories.audit_log import AuditFilter
from recollect.memories.deferred_promotion import Signal, SignalType
from recollect.memories.memory import Memory, MemoryDraft
from recollect.memories.reading import MemoryQuery
from recollect.summaries.summarize import IDS
from recollect.timeline.bus import episodic_warning, outbox_write
from recollect.timeline.record import EventDraft

QUOTES = answer("Anna is allergic to nuts. She lives in Bern.", {"goal": "Avoid nuts"})
WARNING_ID = "00000000-0000-7000-8000-000000000001"


def weighty(content: str, minutes: int, **more: Any) -> EventDraft:
    """What becomes a memory by itself."""
    return EventDraft(content=content, importance=0.9, timestamp=BEGIN + timedelta(minutes=minutes), **more)


def remembered(world: World) -> None:
    """A memory that was promoted, one that two events say, values of a slot, and one that was saved directly."""
    talked(world)
    named = world.say(weighty("I am allergic to nuts.", 1), weighty("I live in Bern.", 2))
    world.known["twice"] = world.say(weighty("I live in Bern.", 3))
    world.reconcile()
    saved = world.save(_draft("My dog is called Rex."))
    world.known.update(promoted=named[0], doubled=named[1], saved=saved.memory.id)
    world.reconcile()


def quoted(world: World) -> None:
    """A summary and a goal that come from what was promoted."""
    remembered(world)
    world.now += timedelta(hours=2)
    made_summary(world, world.seed(IDS), force=True)


def _draft(content: str, **more: Any) -> MemoryDraft:
    return MemoryDraft(content=content, timestamp=BEGIN + timedelta(hours=1), **more)


def suspended(world: World) -> None:
    """The bridge was told to wait; what came late since then has been deferred, some is gone."""
    remembered(world)
    signal_a_warning(world)
    world.now += timedelta(days=1)
    world.known["late"] = world.say(weighty("I play chess.", 11), weighty("I play go.", 12), weighty("I sing.", 13))
    assert world.project().failed == {}
    world.forget(world.known["late"][1])


def healthy(world: World) -> None:
    """All is well again, and nobody has looked yet."""
    suspended(world)
    told_healthy(world)


def told_healthy(world: World) -> None:
    world.app.memories.signals.receive("acme", Signal(WARNING_ID, SignalType.HEALTHY, "operator"), world.now)


@scenario(prepare=remembered)
def memories_save(world: World) -> Any:
    """A new one, one that is known, a value of a slot."""

    def work(seed: IdSeed, again: bool) -> dict[str, Any]:
        drafts = [_draft("I collect stamps."), _draft("I am allergic to nuts."), _draft("Bonn", key="city")]
        seeds = [replace(seed, tick=seed.tick + 2 * place) for place in range(len(drafts))]
        return {"created": [world.save(*one).created for one in zip(drafts, seeds, strict=True)]}

    return world.once("save", 6, work)


@scenario(prepare=quoted, says=QUOTES, done_already=(VersionMismatch,))
def memories_patch(world: World) -> None:
    """Other words for what was promoted."""
    world.patch(world.known["promoted"], content="I am allergic to nuts and milk.")


@scenario(prepare=remembered, done_already=(VersionMismatch,))
def memories_patch_importance(world: World) -> None:
    """Of one that was saved directly; its words stay."""
    world.patch(world.known["saved"], importance=0.1)


@scenario(prepare=remembered, after=gone("Bern"), done_already=(NotFound,), unlike=frozenset({"items.audit"}))
def forget_a_memory(world: World) -> None:
    memory = world.app.memories.store.one(ANNA, world.known["doubled"], world.now)
    world.app.deletion.events.memory(ANNA, memory, now=world.now)


@scenario(prepare=remembered, done_already=(NotFound,))
def forget_the_first_source(world: World) -> None:
    """Another event says the same: the memory is made again from that."""
    world.forget(world.known["doubled"])


@scenario(prepare=remembered)
def forget_one(world: World) -> None:
    """By the order of a job: an event that said what another had said before it."""
    event = world.app.parts.timeline.find(ANNA, world.known["twice"][0])
    if event is not None:
        order = Order(now=world.now, actor=Actor(ActorKind.JOB, "retain"), via="retain", outcome="pruned")
        world.app.deletion.events.one(ANNA, event, order)


@scenario(prepare=suspended, unlike=frozenset({"items.audit"}))
def promote_memories(world: World) -> None:
    """What the gate lets through, and what somebody lets through past it."""
    there = world.app.parts.timeline.read(ANNA, [e.ref for e in world.app.parts.timeline.newest(ANNA, 100)])
    events = sorted(there.values(), key=lambda event: event.id)
    world.app.memories.promotion.promote_batch(ANNA, events, world.rules, world.now)
    world.app.memories.promotion.promote(ANNA, events[:1], world.now, "test")


@scenario(prepare=remembered)
def signal_a_warning(world: World) -> None:
    world.app.memories.signals.receive("acme", Signal(WARNING_ID, SignalType.WARNING, "storage"), world.now)


@scenario(prepare=healthy)
def signal_health(world: World) -> bool:
    told_healthy(world)
    return world.app.memories.signals.state("acme").suspended


@scenario(prepare=healthy)
def reconcile_bridge(world: World) -> None:
    world.app.memories.bridge.reconcile(world.now)


@scenario(prepare=talked)
def bus_outbox(world: World) -> None:
    """What is published right away, and what stands there."""
    warning = episodic_warning(WARNING_ID, "high", None, "test", world.now)
    world.app.parts.items.write(of_tenant("acme"), [outbox_write(warning)], world.now)
    world.app.outbox.deliver(of_tenant("acme"), [warning], world.now)
    world.app.outbox.drain(world.now)


@scenario(prepare=remembered, reads=True)
def memories(world: World) -> list[str]:
    listed = world.app.memories.listing.page(ANNA, MemoryQuery(), 10, None, world.now).memories
    one = world.app.memories.store.one(ANNA, world.known["doubled"], world.now)
    history: list[Memory] = [version.memory for version in world.app.memories.versions.read(ANNA, one)]
    audit = world.app.memories.audit.page(ANNA, 10, None, AuditFilter()).entries
    return [*(m.content for m in (*listed, *history)), *(entry.action.value for entry in audit)]
