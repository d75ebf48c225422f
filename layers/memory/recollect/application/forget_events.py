"""Forget: an event, or a slot with its whole history, is gone from every read at once and for good (P-22).

The record of the event goes first, in one step with the tombstone of its identity; what was derived from it follows by
a marker, through the same use case that derives it. So a failure on the way leaves nothing half deleted, and asking
again goes on.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from recollect.application.bus_outbox import outbox_write
from recollect.application.fill_slots import FillSlots
from recollect.application.forget_memories import ForgetMemories, Order
from recollect.domain.audit import Actor, ActorKind
from recollect.domain.bus import episodic_pruned
from recollect.domain.emptied_slots import emptied_write
from recollect.domain.errors import NotFound, VersionMismatch
from recollect.domain.event import Event, EventRef
from recollect.domain.items import ItemWrite
from recollect.domain.memory import Memory
from recollect.domain.scope import Scope
from recollect.domain.slots import slot_of
from recollect.domain.timeline import Removal
from recollect.ports import Projections, Timeline

_TRIES = 8


@dataclass(frozen=True, slots=True)
class Forgotten:
    """The ids of the events that are gone, newest first."""

    event_ids: tuple[str, ...]


def any_version(_version: int) -> bool:
    """The event as it is, whatever its version."""
    return True


class ForgetEvents:
    """The use case behind `DELETE …/events/{event_id}`, `…/memories/{memory_id}` and `…/keys/{key}`.

    `announce` tells who projects.
    """

    def __init__(
        self,
        timeline: Timeline,
        projections: Projections,
        memories: ForgetMemories,
        announce: Callable[[Scope, Sequence[EventRef]], None],
    ) -> None:
        self._timeline = timeline
        self._fill_slots = FillSlots(timeline, projections)
        self._memories = memories
        self._announce = announce

    def __call__(
        self,
        scope: Scope,
        *,
        now: datetime,
        event_id: str | None = None,
        key: str | None = None,
        accepts: Callable[[int], bool] = any_version,
        actor: Actor | None = None,
    ) -> Forgotten:
        """Deletes the event that is named, an expired one too, or all events of a slot: each with a tombstone.

        The slot is that of the scope's persona and household; absent, the default ones. Newest first, so that the
        slot is empty from the first step on. Raises NotFound where there is nothing to delete, VersionMismatch where
        `accepts` refuses the event's version. Without an `actor` it was the user.
        """
        order = Order(now=now, actor=actor or _user(scope), via="delete")
        found = self._named(scope, event_id) if event_id is not None else self._of_slot(scope, key)
        first = [
            e.ref for e in found[:1] if self._forget(scope, e, accepts, lambda one: self._remove(scope, one, order))
        ]
        rest = [
            e.ref
            for e in found[1:]
            if self._forget(scope, e, accepts, lambda one: self._remove_older(scope, one, order))
        ]
        return self._told(scope, [*first, *rest])

    def memory(
        self,
        scope: Scope,
        memory: Memory,
        *,
        now: datetime,
        actor: Actor | None = None,
        accepts: Callable[[int], bool] = any_version,
    ) -> Forgotten:
        """Deletes a memory with the events that it was made from: their words would be found again.

        The event that carries it goes last, so that a deletion that was cut short finds the memory again. Raises
        VersionMismatch where `accepts` refuses the memory's version as it is when the first of them goes.
        """
        order = Order(now=now, actor=actor or _user(scope), via="delete")
        ids = [*(one for one in memory.source_event_ids if one != memory.id), memory.id]
        found = [event for one in ids if (event := self._timeline.find(scope, one)) is not None]

        def meant(one: Memory) -> bool:
            return one.id != memory.id or accepts(one.version)

        first = [e.ref for e in found[:1] if self.one(scope, e, replace(order, accepts=meant))]
        return self._told(scope, [*first, *(e.ref for e in found[1:] if self.one(scope, e, order))])

    def record(self, scope: Scope, event_id: str, *, now: datetime) -> Forgotten:
        """Deletes what has this id, a carrier too: a copy, or what a restored table has. Raises NotFound."""
        order = Order(now=now, actor=_user(scope), via="delete")
        event = self._timeline.find(scope, event_id)
        return self._told(scope, [event.ref] if event is not None and self.one(scope, event, order) else [])

    def one(self, scope: Scope, event: Event, order: Order) -> bool:
        """Removes one event by anybody's order; False where it is gone. Tells nobody: see `announce`."""
        return self._forget(scope, event, any_version, lambda one: self._remove(scope, one, order))

    def _told(self, scope: Scope, gone: Sequence[EventRef]) -> Forgotten:
        if not gone:
            raise NotFound("no such event")
        self._announce(scope, gone)
        return Forgotten(tuple(ref.id for ref in gone))

    def _named(self, scope: Scope, event_id: str) -> list[Event]:
        event = self._timeline.find(scope, event_id)
        if event is None or event.is_carrier or not scope.admits(event.persona_id, event.household_id):
            return []
        return [event]

    def _of_slot(self, scope: Scope, key: str | None) -> list[Event]:
        """The newest value that fills it first; those that hold over it for a while last."""
        slot = (scope.persona_id or "", scope.household_id or "", key or "")
        return sorted(self._timeline.of_slot(scope, slot), key=lambda event: slot_of(event) is None)

    def _forget(
        self, scope: Scope, event: Event, accepts: Callable[[int], bool], remove: Callable[[Event], bool]
    ) -> bool:
        """False where somebody else was faster; a projection that changes the event meanwhile is waited out."""
        found: Event | None = event
        for _ in range(_TRIES):
            if found is None:
                return False
            if not accepts(found.version):
                raise VersionMismatch("the event changed since it was read")
            try:
                return remove(found)
            except VersionMismatch:
                found = self._timeline.read(scope, [event.ref]).get(event.id)
        raise VersionMismatch("the event changes all the time")

    def _remove(self, scope: Scope, event: Event, order: Order) -> bool:
        """With a key, the slot is settled first: else a value that the event had not yet superseded would come back."""
        slot = slot_of(event)
        if slot is None:
            return self._remove_older(scope, event, order)
        settled = {one.id: one for one in self._fill_slots(scope, event)}
        own = settled.pop(event.id, event)
        also = tuple(neighbour.ref for neighbour in settled.values())
        newest = next((e for e in self._timeline.of_slot(scope, slot) if slot_of(e) == slot), own)
        emptied = (emptied_write(own),) if newest.id == own.id else ()
        items = (*self._memories.writes(scope, own, order), *_pruned(scope, own, order), *emptied)
        return self._timeline.remove(scope, own, Removal(newest.id == own.id, also, items, order.now))

    def _remove_older(self, scope: Scope, event: Event, order: Order) -> bool:
        """Without a key; or of a slot whose newest value is removed already: what is behind it is behind that too."""
        items = (*self._memories.writes(scope, event, order), *_pruned(scope, event, order))
        return self._timeline.remove(scope, event, Removal(items=items, at=order.now))


def _pruned(scope: Scope, event: Event, order: Order) -> tuple[ItemWrite, ...]:
    """That it was pruned by hand (A-62), to be published by `project`; a retention tells of its own, many at once."""
    if order.outcome is not None or event.is_private or event.is_carrier:
        return ()
    return tuple(map(outbox_write, episodic_pruned(scope, [event], order.reason or "deleted", order.now)))


def _user(scope: Scope) -> Actor:
    return Actor(ActorKind.USER, scope.user_id)
