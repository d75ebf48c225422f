"""What the deletion of one event changes in the memories that name it, as writes of the same transaction (P-22).

A memory that other events support is rebuilt from those; one that loses its last event is deleted. A memory merged of
several keeps the remaining parts; an older value does not come back by itself.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from recollect.contradictions.merged import UnmergeMemories, moved_record
from recollect.core.errors import VersionMismatch
from recollect.core.event import Event
from recollect.core.ids import IdSource
from recollect.core.items import Due, Item, ItemWrite, write_all
from recollect.core.scope import Scope
from recollect.deletion.storage import tombstone_outbox_write
from recollect.deletion.tombstone_log import DeletedRecord, events_tombstone
from recollect.memories.audit import Action, Actor, AuditEntry, audit_write, content_hash
from recollect.memories.memory import Memory, Origin, content_identity, embedding_id
from recollect.memories.reading import ReadMemories
from recollect.memories.storage import SAME_AS, TO_PROJECT, changed_writes, content_key, memory_document, memory_in
from recollect.ports import Items, Timeline
from recollect.timeline.record import possible_identities

Accepts = Callable[[Memory], bool]

_MOVED_AT_ONCE = 16
"""Other events of a memory that moves in one transaction: with the other writes that is within 25."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """Who deletes, via which route, when and why; `outcome` where the contradiction ledger records one too.

    `accepts` decides for each memory that loses something whether its version is the expected one.
    """

    now: datetime
    actor: Actor
    via: str
    action: Action = Action.DELETE
    reason: str | None = None
    outcome: str | None = None
    accepts: Accepts | None = None


@dataclass(frozen=True, slots=True)
class _Source:
    """Another event of a memory, and the item that points from it to the memory."""

    event: Event
    stub: Item

    @property
    def order(self) -> tuple[datetime, str]:
        return self.event.timestamp, self.event.id


class ForgetMemories:
    """Reads what depends on an event, and answers the writes that belong to its removal."""

    def __init__(self, timeline: Timeline, items: Items, ids: IdSource) -> None:
        self._timeline = timeline
        self._items = items
        self._ids = ids
        self._read = ReadMemories(items)
        self._unmerge = UnmergeMemories(timeline, items)

    def writes(self, scope: Scope, event: Event, order: Order) -> tuple[ItemWrite, ...]:
        """The changed or deleted memory, the audit entry, and the tombstone's outbox item: at most 25 writes.

        Raises VersionMismatch where `accepts` refuses the memory's version.
        """
        return (
            *self.hanging(scope, event.id, order.now, order.accepts),
            audit_write(self._entry(scope, event, order)),
            tombstone_outbox_write(
                event.id, events_tombstone([DeletedRecord(event.ref, self._identity(scope, event))])
            ),
        )

    def _identity(self, scope: Scope, event: Event) -> str | None:
        """The dedupe key under which the event could be sent again; None without a given time."""
        if event.is_carrier:
            return None
        possible = possible_identities(scope, event)
        known = self._timeline.identified(scope, possible)
        return next((one for one in possible if known.get(one) == event.id), None)

    def hanging(
        self, scope: Scope, event_id: str, now: datetime, accepts: Accepts | None = None
    ) -> tuple[ItemWrite, ...]:
        """The memory writes that a deleted event causes; none where no memory names it."""
        found = self._read.items(scope, [event_id]).get(event_id)
        if found is None:
            return ()
        if SAME_AS in found.value:
            return self._left(scope, event_id, found, now, accepts)
        memory = memory_in(found.value)
        mergers = self._unmerge.mergers(scope, memory)
        _check_versions([memory, *(kept.memory for kept in mergers)], accepts)
        others = self._others(scope, memory)
        if not others:
            unmerged = self._unmerge.gone(scope, memory, mergers, now)
            return (ItemWrite(found.key, None, found.version), *self._record(scope, memory, None), *unmerged)
        unmerged = self._unmerge.dropped(event_id, mergers, now)
        if len(others) + len(unmerged) <= _MOVED_AT_ONCE:
            return (*self._moved(scope, memory, found, others, now), *unmerged)
        self._hand_over(scope, memory, found, others, now)
        return self.hanging(scope, event_id, now)

    def _left(
        self, scope: Scope, event_id: str, stub: Item, now: datetime, accepts: Accepts | None
    ) -> tuple[ItemWrite, ...]:
        """The event was a duplicate statement of a memory: that memory no longer names it."""
        drop = ItemWrite(stub.key, None, stub.version)
        target = str(stub.value[SAME_AS])
        stored = self._read.stored(scope, [target]).get(target)
        if stored is None or event_id not in stored.memory.source_event_ids:
            return (drop,)
        mergers = self._unmerge.mergers(scope, stored.memory)
        _check_versions([stored.memory, *(one.memory for one in mergers)], accepts)
        unmerged = self._unmerge.dropped(event_id, mergers, now)
        sources = tuple(one for one in stored.memory.source_event_ids if one != event_id)
        after = replace(stored.memory, source_event_ids=sources, version=stored.memory.version + 1)
        return (*changed_writes(stored.item, stored.memory, after), drop, *unmerged)

    def _others(self, scope: Scope, memory: Memory) -> list[_Source]:
        """The other events of a memory that still exist, oldest first, without those it was merged of."""
        named = [one for one in memory.source_event_ids if one != memory.id]
        stubs = {i: item for i, item in self._read.items(scope, named).items() if SAME_AS in item.value}
        found = [(event, stubs[i]) for i in named if i in stubs and (event := self._timeline.find(scope, i))]
        return sorted((_Source(event, stub) for event, stub in found), key=lambda one: one.order)

    def _moved(
        self, scope: Scope, memory: Memory, item: Item, others: Sequence[_Source], now: datetime
    ) -> tuple[ItemWrite, ...]:
        """The next event carries the memory, in its own words."""
        first, *rest = others
        after = _carried_by(first.event, self._unmerge.own(scope, memory), [one.event.id for one in others])
        return (
            ItemWrite(item.key, None, item.version),
            ItemWrite(first.stub.key, memory_document(after), first.stub.version, Due(TO_PROJECT, now)),
            *(_leads_to(first, one.stub) for one in rest),
            *self._handed(scope, memory, after),
        )

    def _hand_over(self, scope: Scope, memory: Memory, item: Item, others: Sequence[_Source], now: datetime) -> None:
        """Moves a memory of too many events for one transaction before its own event is deleted. Until the last
        batch is written, the items that point to the old carrier point on to the new one.
        """
        first, *rest = others
        own = self._unmerge.own(scope, memory)
        after = _carried_by(first.event, own, [memory.id, *(one.event.id for one in others)])
        handed_over = [
            ItemWrite(first.stub.key, memory_document(after), first.stub.version, Due(TO_PROJECT, now)),
            _leads_to(first, item),
            *self._handed(scope, memory, after),
        ]
        self._items.write(scope.user, handed_over, now)
        write_all(self._items.write, scope.user, [_leads_to(first, one.stub) for one in rest], now)

    def _handed(self, scope: Scope, memory: Memory, after: Memory) -> Sequence[ItemWrite]:
        """The content record; of other words where the merged-in content is not the new carrier's."""
        if after.content == memory.content:
            return self._record(scope, memory, after.id)
        return moved_record(self._items, scope, memory, after)

    def _record(self, scope: Scope, memory: Memory, successor: str | None) -> tuple[ItemWrite, ...]:
        """The content record names the successor, or is deleted; one that names another memory stays."""
        key = content_key(content_identity(memory))
        record = self._items.get(scope.user, [key]).get(key)
        if record is None or record.value["id"] != memory.id:
            return ()
        return (ItemWrite(key, {"id": successor} if successor else None, record.version),)

    def _entry(self, scope: Scope, event: Event, order: Order) -> AuditEntry:
        hashed = content_hash(scope.tenant, scope.user_id, event.content)
        return AuditEntry(
            id=self._ids.fresh(),
            at=order.now,
            actor=order.actor,
            action=order.action,
            target_ids=(event.id,),
            via=order.via,
            reason=order.reason,
            event_ids=(event.id,),
            outcome=order.outcome,
            before={"id": event.id, "version": event.version, "hash": hashed},
        )


def _check_versions(memories: Sequence[Memory], accepts: Accepts | None) -> None:
    if accepts is not None and not all(accepts(memory) for memory in memories):
        raise VersionMismatch("the memory has changed since it was read")


def _carried_by(event: Event, memory: Memory, sources: Sequence[str]) -> Memory:
    generation = memory.embedding_id.partition("/")[0] if memory.embedding_id else None
    return replace(
        memory,
        id=event.id,
        timestamp=event.timestamp,
        valid_from=event.timestamp,
        source_event_ids=tuple(sources),
        origin=Origin.EVENT,
        embedding_id=embedding_id(generation, event.id),
        version=memory.version + 1,
    )


def _leads_to(source: _Source, item: Item) -> ItemWrite:
    return ItemWrite(item.key, {SAME_AS: source.event.id}, item.version)
