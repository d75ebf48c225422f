"""Forget an event, or a slot with its whole history: no read returns it from the call's end on (P-22).

The event is removed first, atomically with the tombstone of its identity; a marker makes the projection update what was
derived from it. So a failure leaves nothing half deleted, and a retry continues. Copies that other users imported
from a deleted record are deleted too.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from recollect.core.errors import NotFound, VersionMismatch
from recollect.core.event import Event, EventRef, RecordOrigin
from recollect.core.items import Item, ItemPath, ItemWrite, of_tenant, write_all
from recollect.core.scope import NO_LABELS, Labels, Scope
from recollect.deletion.forget_memories import ForgetMemories, Order
from recollect.deletion.storage import COPIES, copied_ref, copies_path, emptied_write
from recollect.memories.audit import Actor, ActorKind
from recollect.memories.memory import Memory
from recollect.ports import Items, Projections, Timeline
from recollect.timeline.bus import episodic_pruned, outbox_write
from recollect.timeline.fill_slots import FillSlots
from recollect.timeline.slots import slot_key, slot_of
from recollect.timeline.timeline import Removal

_TRIES = 8
_PAGE = 100


@dataclass(frozen=True, slots=True)
class Forgotten:
    """The ids of the deleted events, newest first."""

    event_ids: tuple[str, ...]


def any_version(_version: int) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class ForgetEvents:
    """The use case behind `DELETE …/events/{event_id}`, `…/memories/{memory_id}` and `…/keys/{key}`.

    `announce` notifies the projector.
    """

    _timeline: Timeline
    _projections: Projections
    _memories: ForgetMemories
    _announce: Callable[[Scope, Sequence[EventRef]], None]

    def forget(
        self,
        scope: Scope,
        *,
        now: datetime,
        event_id: str | None = None,
        key: str | None = None,
        labels: Labels = NO_LABELS,
        accepts: Callable[[int], bool] = any_version,
        actor: Actor | None = None,
    ) -> Forgotten:
        """Deletes the event of that id, an expired one too, or all events of a slot: each with a tombstone.

        An event is one that `labels` admit. The slot is that of the scope's persona and household, absent the default
        ones, and of these labels. Newest first, so that the slot
        is empty from the first deletion on. Without an `actor` it is the user. Raises NotFound where nothing matches,
        VersionMismatch where `accepts` refuses the event's version.
        """
        order = Order(now=now, actor=actor or _user(scope), via="delete")
        found = self._named(scope, event_id, labels) if event_id is not None else self._of_slot(scope, key, labels)
        deleted: list[EventRef] = []
        for place, event in enumerate(found):
            remove = self._remove_older if place else self._remove
            if self._forget(scope, event, accepts, partial(remove, scope, order=order)):
                deleted.append(event.ref)
        return self._announced(scope, deleted)

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

        The event that carries the memory goes last, so that a retry finds the memory again. Raises VersionMismatch
        where `accepts` refuses the memory's version when the first event is deleted.
        """
        order = Order(now=now, actor=actor or _user(scope), via="delete")
        ids = [*(one for one in memory.source_event_ids if one != memory.id), memory.id]
        found = [event for one in ids if (event := self._timeline.find(scope, one)) is not None]

        def meant(one: Memory) -> bool:
            return one.id != memory.id or accepts(one.version)

        first = [e.ref for e in found[:1] if self.one(scope, e, replace(order, accepts=meant))]
        return self._announced(scope, [*first, *(e.ref for e in found[1:] if self.one(scope, e, order))])

    def record(self, scope: Scope, event_id: str, *, now: datetime) -> Forgotten:
        """Deletes the record of this id, a carrier too: a copy, or one of a restored table. Raises NotFound."""
        order = Order(now=now, actor=_user(scope), via="delete")
        event = self._timeline.find(scope, event_id)
        return self._announced(scope, [event.ref] if event is not None and self.one(scope, event, order) else [])

    def these(self, scope: Scope, events: Sequence[Event], *, now: datetime, actor: Actor) -> Forgotten:
        """Deletes these events, newest first; one that is deleted already is none of those named."""
        order = Order(now=now, actor=actor, via="delete")
        deleted = [event.ref for event in events if self.one(scope, event, order)]
        return self._announced(scope, deleted) if deleted else Forgotten(())

    def one(self, scope: Scope, event: Event, order: Order) -> bool:
        """Deletes one event without announcing it; False where it is deleted already."""
        return self._forget(scope, event, any_version, partial(self._remove, scope, order=order))

    def _announced(self, scope: Scope, deleted: Sequence[EventRef]) -> Forgotten:
        if not deleted:
            raise NotFound("no such event")
        self._announce(scope, deleted)
        return Forgotten(tuple(ref.id for ref in deleted))

    def _named(self, scope: Scope, event_id: str, labels: Labels) -> list[Event]:
        event = self._timeline.find(scope, event_id)
        if event is None or event.is_carrier or not scope.admits(event.persona_id, event.household_id):
            return []
        return [event] if labels.admits(event.labels) else []

    def _of_slot(self, scope: Scope, key: str | None, labels: Labels) -> list[Event]:
        """Current value first, values that only override it for a while last."""
        slot = (scope.persona_id or "", scope.household_id or "", slot_key(key, labels) or "")
        return sorted(self._timeline.of_slot(scope, slot), key=lambda event: slot_of(event) is None)

    def _forget(
        self, scope: Scope, event: Event, accepts: Callable[[int], bool], remove: Callable[[Event], bool]
    ) -> bool:
        """False where another writer deleted it first; retries where a projection changes the event meanwhile."""
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
        """Fills the slot first: else a value that the event has not superseded yet would come back."""
        slot = slot_of(event)
        if slot is None:
            return self._remove_older(scope, event, order)
        settled = {one.id: one for one in FillSlots(self._timeline, self._projections).fill(scope, event)}
        own = settled.pop(event.id, event)
        also = tuple(neighbour.ref for neighbour in settled.values())
        newest = next((e for e in self._timeline.of_slot(scope, slot) if slot_of(e) == slot), own)
        emptied = (emptied_write(own),) if newest.id == own.id else ()
        items = (*self._memories.writes(scope, own, order), *_pruned(scope, own, order), *emptied)
        return self._timeline.remove(scope, own, Removal(newest.id == own.id, also, items, order.now))

    def _remove_older(self, scope: Scope, event: Event, order: Order) -> bool:
        """Without a key, or behind a newest value that is removed already."""
        items = (*self._memories.writes(scope, event, order), *_pruned(scope, event, order))
        return self._timeline.remove(scope, event, Removal(items=items, at=order.now))


def _pruned(scope: Scope, event: Event, order: Order) -> tuple[ItemWrite, ...]:
    """The bus event of a deletion (A-62); retention publishes its own, for many events at once."""
    if order.outcome is not None or not event.is_announced:
        return ()
    return tuple(map(outbox_write, episodic_pruned(scope, [event], order.reason or "deleted", order.now)))


def _user(scope: Scope) -> Actor:
    return Actor(ActorKind.USER, scope.user_id)


@dataclass(frozen=True, slots=True)
class ForgottenCopies:
    """How many copies were deleted; `last` where no more are left."""

    forgotten: int
    last: bool


class ForgetCopies:
    """Deletes copies with `forget`, as the copying user's own deletion does; a deleted copy is no error.

    An entry is deleted after its copy, so that a retry finds it again.
    """

    def __init__(self, items: Items, forget: Callable[[Scope, EventRef, datetime], None]) -> None:
        self._items = items
        self._forget = forget

    def forget(self, scope: Scope, refs: Sequence[EventRef], now: datetime) -> int:
        """Deletes the copies of these records and answers their number; one read each where there is none."""
        return sum(self._all(scope, copies_path(RecordOrigin(scope.user_id, ref.id)), now) for ref in refs)

    def page(self, scope: Scope, limit: int, now: datetime) -> ForgottenCopies:
        """Deletes at most `limit` of all copies of a user's records."""
        page = self._items.page(of_tenant(scope.tenant), ItemPath(COPIES, (scope.user_id,)), limit, None)
        self._delete(scope.tenant, page.items, now)
        return ForgottenCopies(len(page.items), page.more is None)

    def left(self, scope: Scope) -> int:
        """0 or 1: whether a copy is left."""
        return len(self._items.page(of_tenant(scope.tenant), ItemPath(COPIES, (scope.user_id,)), 1, None).items)

    def _all(self, scope: Scope, path: ItemPath, now: datetime) -> int:
        count = 0
        while items := self._items.page(of_tenant(scope.tenant), path, _PAGE, None).items:
            self._delete(scope.tenant, items, now)
            count += len(items)
        return count

    def _delete(self, tenant: str, items: Sequence[Item], now: datetime) -> None:
        for item in items:
            self._forget(Scope(tenant, item.key.key), copied_ref(item.value), now)
        write_all(self._items.write, of_tenant(tenant), [ItemWrite(item.key, None) for item in items], now)
