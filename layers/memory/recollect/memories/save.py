"""Memories saved, read, edited: the use cases behind `/v1/memories` (A-19 to A-22, P-9)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from recollect.core.errors import Conflict, NotFound, VersionMismatch
from recollect.core.event import Event, EventRef
from recollect.core.ids import IdSeed, IdSource
from recollect.core.items import ABSENT, Due, Item, ItemKey, ItemWrite
from recollect.core.scope import Scope
from recollect.deletion.suppression import Rejections, ValueGate
from recollect.memories.audit import Action, Actor, AuditEntry, audit_write
from recollect.memories.memory import (
    Memory,
    MemoryDraft,
    MemoryStatus,
    carrier_of,
    check_values,
    content_identity,
    memory_of,
)
from recollect.memories.reading import ReadMemories, StandingMemories, StoredMemory
from recollect.memories.representation import in_words_of
from recollect.memories.storage import (
    TO_PROJECT,
    changed_writes,
    check_size,
    content_key,
    memory_document,
    memory_key,
    trace,
)
from recollect.ports import Items, Projections, Timeline
from recollect.rules.groups import Rules
from recollect.timeline.record import event_identity
from recollect.timeline.timeline import AppendStatus, EventWrite

_TRIES = 8


@dataclass(frozen=True, slots=True)
class SavedMemory:
    """The memory, and whether it was made now; else it is the one that says the same (A-21)."""

    memory: Memory
    created: bool


@dataclass(frozen=True, slots=True)
class MemoryChange:
    """What a person changes of a memory, and who; `accepts` says whether its version is the one that they saw."""

    changes: Mapping[str, Any]
    actor: Actor
    accepts: Callable[[int], bool]


class SaveMemories:
    """Each change is one step with its audit entry; the index follows by a marker, as with events.

    `announce` tells who projects; `corrected` is told of the events whose words a person replaced; `generation` is that
    of the embedder, None without one.
    """

    def __init__(
        self,
        timeline: Timeline,
        projections: Projections,
        items: Items,
        ids: IdSource,
        announce: Callable[[Scope, Sequence[EventRef]], None],
        corrected: Callable[[Scope, Sequence[EventRef], datetime], None],
        generation: str | None = None,
    ) -> None:
        self._timeline = timeline
        self._projections = projections
        self._items = items
        self._ids = ids
        self._announce = announce
        self._corrected = corrected
        self._generation = generation
        self._standing = StandingMemories(timeline)
        self._read = ReadMemories(items)
        self._gate = ValueGate(items)

    def save(
        self,
        scope: Scope,
        draft: MemoryDraft,
        seed: IdSeed,
        now: datetime,
        actor: Actor,
        rules: Rules,
        also: Sequence[ItemWrite] = (),
    ) -> SavedMemory:
        """Saves one memory, durable on return; `seed` gives its id, so that a retry finds it.

        `also` is written in the same step where the memory is made, and only then. Raises Conflict where its value was
        rejected, or where this very memory was deleted since.
        """
        carrier = carrier_of(scope, draft, seed.nth(0), now, rules)
        memory = memory_of(carrier, draft, self._generation)
        check_size(memory)
        self._check(scope, memory, actor, now)
        for _ in range(_TRIES):
            known = self._known(scope, memory, now)
            if isinstance(known, Memory):
                return SavedMemory(known, known.id == memory.id)
            try:
                return self._made(scope, carrier, memory, known, actor, also)
            except VersionMismatch:
                continue
        raise Conflict("the same content is saved by others all the time")

    def one(self, scope: Scope, memory_id: str, now: datetime) -> Memory:
        """A memory by its id, superseded ones too, in the words that hold now, all where none do. Raises NotFound.

        Sentences that were rejected are not in it.
        """
        return _shown(self._gate.load(scope), in_words_of(self._one(scope, memory_id, now).memory, now))

    def patch(self, scope: Scope, memory_id: str, change: MemoryChange, now: datetime) -> Memory:
        """Changes content, importance, keywords, expires_at, metadata. Raises NotFound, VersionMismatch, InvalidInput,
        and Conflict where the new content is a rejected value.

        The words before stay in its history; what quotes them loses them.
        """
        rejections = self._gate.load(scope)
        for _ in range(_TRIES):
            kept = self._one(scope, memory_id, now)
            _shown(rejections, kept.memory)
            if not change.accepts(kept.memory.version):
                raise VersionMismatch("the memory has changed since it was read")
            after = _edited(kept.memory, change.changes)
            try:
                self._change(scope, kept, after, change.actor, now)
            except VersionMismatch:
                continue
            return _shown(rejections, in_words_of(after, now))
        raise VersionMismatch("the memory changes all the time")

    def _change(self, scope: Scope, kept: StoredMemory, after: Memory, actor: Actor, now: datetime) -> None:
        before = kept.memory
        check_values(after.content, after.importance)
        check_size(after)
        if after.content != before.content:
            self._check(scope, after, actor, now)
        writes = [
            *changed_writes(kept.item, before, after, Due(TO_PROJECT, now)),
            *self._moved(scope, before, after, now),
            audit_write(self._entry(scope, Action.PATCH, before, after, actor, now)),
        ]
        self._items.write(scope.user, writes, now)
        if after.content != before.content:
            self._corrected(scope, [EventRef(one, after.timestamp) for one in after.source_event_ids], now)
        self._projections.mark(scope, [after.ref])
        self._announce(scope, [after.ref])

    def _known(self, scope: Scope, memory: Memory, now: datetime) -> Memory | Item | None:
        """This very memory, where an earlier try made it, or the active one that says the same; else the record of the
        content, which named another; None for none.
        """
        own, key = memory_key(memory.id), _record_key(scope, memory)
        found = self._items.get(scope.user, [own, key])
        record = found.get(key)
        same = memory.id if own in found else str(record.value["id"]) if record else None
        known = self._active(scope, same, now) if same else None
        return known or record

    def _active(self, scope: Scope, memory_id: str, now: datetime) -> Memory | None:
        try:
            memory = self.one(scope, memory_id, now)
        except NotFound:
            return None
        return memory if memory.status is MemoryStatus.ACTIVE else None

    def _made(
        self,
        scope: Scope,
        carrier: Event,
        memory: Memory,
        record: Item | None,
        actor: Actor,
        also: Sequence[ItemWrite],
    ) -> SavedMemory:
        now = carrier.recorded_at
        entry = self._entry(scope, Action.CREATE, None, memory, actor, now)
        items = (
            ItemWrite(memory_key(memory.id), memory_document(memory), ABSENT),
            _content_write(scope, memory, record),
            audit_write(entry),
            *also,
        )
        identity = event_identity(scope, carrier, None, given_timestamp=False)
        write = EventWrite(carrier, identity, self._gate.marks(scope).fingerprint(scope.tenant, carrier), items)
        (outcome,) = self._timeline.append(scope, [write])
        if outcome.status is AppendStatus.REFUSED:
            self._refuse(scope, memory, outcome.reason, actor, now)
            raise Conflict(f"this memory was {outcome.reason}")
        self._announce(scope, [carrier.ref])
        return SavedMemory(memory, created=True)

    def _check(self, scope: Scope, memory: Memory, actor: Actor, now: datetime) -> None:
        """Raises Conflict where the memory's content is a rejected value; the audit tells of it."""
        if self._gate.load(scope).rejects(memory.content, memory.persona_id, memory.household_id):
            self._refuse(scope, memory, "rejected", actor, now)
            raise Conflict("this memory's value was rejected")

    def _refuse(self, scope: Scope, memory: Memory, reason: str | None, actor: Actor, now: datetime) -> None:
        entry = replace(self._entry(scope, Action.REFUSE, None, memory, actor, now), reason=reason)
        self._items.write(scope.user, [audit_write(entry)], now)

    def _one(self, scope: Scope, memory_id: str, now: datetime) -> StoredMemory:
        kept = self._read.kept(scope, [memory_id]).get(memory_id)
        if kept is None or not scope.admits(kept.memory.persona_id, kept.memory.household_id):
            raise NotFound("no such memory")
        event = self._timeline.read(scope, [kept.memory.ref]).get(kept.memory.id)
        if event is None or event.expired(now) or kept.memory.expired(now):
            raise NotFound("no such memory")
        (memory,) = self._standing(scope, [kept.memory], {event.id: event})
        return StoredMemory(memory, kept.item)

    def _moved(self, scope: Scope, before: Memory, after: Memory, now: datetime) -> list[ItemWrite]:
        """The record of the content follows an edit; one that names another active memory stays with that one."""
        old, new = _record_key(scope, before), _record_key(scope, after)
        if old == new:
            return []
        found = self._items.get(scope.user, [old, new])
        own, there = found.get(old), found.get(new)
        left = [ItemWrite(old, None, own.version)] if own and own.value["id"] == before.id else []
        if there and self._active(scope.user, str(there.value["id"]), now):
            return left
        return [*left, ItemWrite(new, {"id": after.id}, there.version if there else ABSENT)]

    def _entry(
        self, scope: Scope, action: Action, before: Memory | None, after: Memory, actor: Actor, now: datetime
    ) -> AuditEntry:
        return AuditEntry(
            id=self._ids.fresh(),
            at=now,
            actor=actor,
            action=action,
            target_ids=(after.id,),
            via="memories",
            before=trace(scope, before) if before else None,
            after=trace(scope, after),
        )


def _edited(memory: Memory, changes: Mapping[str, Any]) -> Memory:
    """Its next version; what of the old words did not hold says nothing of new ones."""
    after = replace(memory, **changes, version=memory.version + 1)
    return after if after.content == memory.content else replace(after, lapses=())


def _shown(rejections: Rejections, memory: Memory) -> Memory:
    """The memory without rejected sentences. Raises NotFound where nothing of it may be shown (P-22)."""
    shown = rejections.shown_memory(memory)
    if shown is None:
        raise NotFound("no such memory")
    return shown


def _record_key(scope: Scope, memory: Memory) -> ItemKey:
    owner = Scope(scope.tenant, memory.user_id, memory.persona_id, memory.household_id)
    return content_key(content_identity(owner, memory.key, memory.content))


def _content_write(scope: Scope, memory: Memory, record: Item | None) -> ItemWrite:
    return ItemWrite(_record_key(scope, memory), {"id": memory.id}, record.version if record else ABSENT)
