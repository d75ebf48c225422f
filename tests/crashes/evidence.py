"""Scenarios of what is evidence: ingesting, deleting, projecting, reconciling, and the turn."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from crashes.scenario import scenario
from crashes.store import Stored
from crashes.world import BEGIN, World
from embedded.setting import ANNA
from recollect.context.turn import IDS_OF_A_TURN, TurnRequest
from recollect.core.errors import NotFound
from recollect.core.ids import IdSeed
from recollect.entrypoints.tools.registry import TurnTools
from recollect.timeline.record import EventDraft
from recollect.timeline.timeline import PendingEvent

LEARNS = '[[ABP_TOOL:manage_knowledge]]\n{"namespace": "notes", "key": "zebra", "value": 1}\n[[END_ABP_TOOL]]'
TRACKS = '[[ABP_TOOL:track_goal]]\n{"goal": "Learn Spanish"}\n[[END_ABP_TOOL]]'
RECORDS = (
    '[[ABP_TOOL:record_event]]\n{"content": "The exam is due.", "timestamp": "2024-06-01T08:00:00Z"}\n[[END_ABP_TOOL]]'
)


def city(content: str, day: int, **more: Any) -> EventDraft:
    """A value of the slot `city`."""
    return EventDraft(content=content, key="city", timestamp=BEGIN + timedelta(days=day), **more)


def talked(world: World) -> None:
    """Some messages and two values of a slot, all projected."""
    world.known["ids"] = world.say("The cat sleeps.", "My sister paints.", city("Rome", -9), city("Lyon", -3))
    world.reconcile()


def fresh_talk(world: World) -> None:
    """The same; then some that nobody has projected yet: a late and a new value of the slot, a private one."""
    talked(world)
    private = EventDraft(content="The pin is 1234.", is_private=True, timestamp=world.now)
    world.known["new"] = world.say("The bakery opens.", city("Oslo", -6), city("Kyiv", -1), private)


def with_removals(world: World) -> None:
    """The same; and one that was projected is deleted, one that was not, and the newest value of the slot."""
    fresh_talk(world)
    for event_id in (world.known["ids"][0], *world.known["new"][:1], world.known["new"][2]):
        world.forget(event_id)


def gone(*words: str) -> Callable[[World, Stored], None]:
    """That no trace of these words is left anywhere: in no table, no object, no published event."""

    def check(world: World, stored: Stored) -> None:
        kept = [stored.events, stored.documents, stored.items, stored.bus, stored.objects]
        text = "\n".join(map(str, kept))
        assert [word for word in words if word in text] == []

    return check


@scenario(prepare=talked)
def ingest(world: World) -> Any:
    """New ones, one that is stored already, one twice, a value of a slot."""
    drafts = [
        EventDraft(content="The dog barks.", timestamp=BEGIN + timedelta(hours=3)),
        EventDraft(content="The cat sleeps.", timestamp=BEGIN + timedelta(minutes=1)),
        EventDraft(content="The dog barks.", timestamp=BEGIN + timedelta(hours=3)),
        city("Bonn", 1),
        EventDraft(content="Now, whenever that is."),
    ]

    def work(seed: IdSeed, again: bool) -> dict[str, Any]:
        answer = world.app.timeline.events.ingest(ANNA, "c1", drafts, seed, world.now, world.rules)
        return {"statuses": [result.status.value for result in answer.results]}

    return world.once("ingest", len(drafts) + 1, work)


@scenario(prepare=talked, says=f"I see.\n{LEARNS}\n{TRACKS}\n{RECORDS}", degrades=True)
def turn(world: World) -> Any:
    def work(seed: IdSeed, again: bool) -> dict[str, Any]:
        context = world.context_request("Where does my sister paint?", store="shop", web_search="always")
        request = TurnRequest(context=context, seconds=30.0, resumed=again)
        tools = TurnTools(world.app)
        answer = world.app.context.turn.take(ANNA, request, seed, world.now, world.app.begin_rules("acme"), tools)
        return {"response": answer.response}

    return world.once("turn", IDS_OF_A_TURN, work)


@scenario(prepare=talked, after=gone("cat sleeps"), done_already=(NotFound,))
def forget_an_event(world: World) -> None:
    """One that was projected; another that a slot has for its value."""
    world.forget(world.known["ids"][0])


@scenario(prepare=fresh_talk, after=gone("Kyiv"), done_already=(NotFound,))
def forget_a_value(world: World) -> None:
    """The newest value of a slot, not yet projected: what is before it must not come back."""
    world.forget(world.known["new"][2])


@scenario(prepare=fresh_talk, done_already=(NotFound,), unlike=frozenset({"items.audit"}))
def forget_a_slot(world: World) -> None:
    """A slot with its whole history."""
    world.app.deletion.events.forget(ANNA, key="city", now=world.now)


@scenario(prepare=with_removals)
def project(world: World) -> None:
    """As a change record asks for it: what is new, what is gone, what is projected already."""
    named = [*world.app.parts.projections.pending(100, None).markers]
    there = world.app.parts.timeline.newest(ANNA, 100)
    world.app.projection.events.project([*named, *(PendingEvent(ANNA, event.ref) for event in there)], world.now)


def in_a_space(world: World) -> None:
    world.say(EventDraft(content="The oven is warm.", space_id="kitchen", timestamp=world.now))


def _space_is_known(_: World, stored: Stored) -> None:
    assert [row.key for row in stored.of("spaces")] == ["kitchen"]


@scenario(prepare=in_a_space, after=_space_is_known)
def project_in_a_space(world: World) -> None:
    """A query may name it from then on."""
    world.project()


@scenario(prepare=with_removals)
def reconcile(world: World) -> None:
    world.app.projection.reconciliation.oldest_age(world.now)
    world.project()
