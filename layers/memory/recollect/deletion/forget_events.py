"""Forget: an event, or a slot with its whole history, is gone from every read at once and for good (P-22).

The record of the event goes first, in one step with the tombstone of its identity; what was derived from it follows by
a marker, through the same use case that derives it. So a failure on the way leaves nothing half deleted, and asking
again goes on.

Copies: what was imported from a record elsewhere in the tenant goes when the record goes (P-22).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from recollect.archive.record_line import RecordOrigin
from recollect.core.errors import NotFound, VersionMismatch
from recollect.core.event import Event, EventRef
from recollect.core.items import MOST_WRITES, Item, ItemPath, ItemWrite, of_tenant
from recollect.core.scope import Scope
from recollect.deletion.forget_memories import ForgetMemories, Order
from recollect.deletion.tombstones import COPIES, copied_ref, copies_path, emptied_write
from recollect.memories.audit import Actor, ActorKind
from recollect.memories.memory import Memory
from recollect.ports import Items, Projections, Timeline
from recollect.timeline.bus import episodic_pruned, outbox_write
from recollect.timeline.slots import FillSlots, slot_of
from recollect.timeline.timeline import Removal

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


_PAGE = 100


@dataclass(frozen=True, slots=True)
class ForgottenCopies:
    """How many copies went; `last` where there are no more."""

    forgotten: int
    last: bool


class ForgetCopies:
    """`forget` deletes a record of a user as a user's own deletion does; one that is gone already is no error.

    An entry goes after its copy: what was cut short is found again.
    """

    def __init__(self, items: Items, forget: Callable[[Scope, EventRef, datetime], None]) -> None:
        self._items = items
        self._forget = forget

    def __call__(self, scope: Scope, refs: Sequence[EventRef], now: datetime) -> int:
        """Deletes the copies of these records; answers how many there were. One read each where there is none."""
        return sum(self._all(scope, copies_path(RecordOrigin(scope.user_id, ref.id)), now) for ref in refs)

    def page(self, scope: Scope, limit: int, now: datetime) -> ForgottenCopies:
        """Deletes some of all copies of a user's records."""
        page = self._items.page(of_tenant(scope.tenant), ItemPath(COPIES, (scope.user_id,)), limit, None)
        self._gone(scope.tenant, page.items, now)
        return ForgottenCopies(len(page.items), page.more is None)

    def left(self, scope: Scope) -> int:
        """Whether there are any: 0 or 1."""
        return len(self._items.page(of_tenant(scope.tenant), ItemPath(COPIES, (scope.user_id,)), 1, None).items)

    def _all(self, scope: Scope, path: ItemPath, now: datetime) -> int:
        count = 0
        while items := self._items.page(of_tenant(scope.tenant), path, _PAGE, None).items:
            self._gone(scope.tenant, items, now)
            count += len(items)
        return count

    def _gone(self, tenant: str, items: Sequence[Item], now: datetime) -> None:
        for item in items:
            self._forget(Scope(tenant, item.key.key), copied_ref(item.value), now)
        writes = [ItemWrite(item.key, None) for item in items]
        for start in range(0, len(writes), MOST_WRITES):
            self._items.write(of_tenant(tenant), writes[start : start + MOST_WRITES], now)
