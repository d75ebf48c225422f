"""Memories saved, read and edited: the use cases behind `/v1/memories` (A-19 to A-22, P-9)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeAlias

from recollect.contradictions.merged import sources_of
from recollect.core.errors import Conflict, NotFound, VersionMismatch
from recollect.core.event import Event, EventRef
from recollect.core.idempotency import TRIES, retry_on_conflict
from recollect.core.ids import IdSeed, IdSource
from recollect.core.items import ABSENT, Due, Item, ItemKey, ItemWrite
from recollect.core.scope import Scope
from recollect.deletion.suppression import Rejections, SuppressionList
from recollect.memories.audit import Action, Actor, AuditEntry, audit_write
from recollect.memories.earlier_words import EarlierWords
from recollect.memories.memory import (
    Memory,
    MemoryDraft,
    MemoryStatus,
    carrier_of,
    check_values,
    content_identity,
    memory_of,
    with_changes,
)
from recollect.memories.reading import CurrentMemories, ReadMemories, StoredMemory
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
from recollect.usage import Counted, uncounted

Announce: TypeAlias = Callable[[Scope, Sequence[EventRef]], None]
"""Notifies the projector of records."""

Corrected: TypeAlias = Callable[[Scope, Sequence[EventRef], datetime], None]
"""Notifies the summaries of events whose words no longer count."""


@dataclass(eq=False)
class ReprojectChanged:
    """Marks memories that a decision changed, and redacts what quotes them.

    After an interruption the next reconciliation finds the memories by their due items.
    """

    _projections: Projections
    _announce: Announce
    _corrected: Corrected

    def reproject(self, scope: Scope, changed: Iterable[Memory], lost: Iterable[Memory], now: datetime) -> None:
        """`lost` are memories whose words summaries may no longer quote."""
        quoted = [EventRef(one, memory.timestamp) for memory in lost for one in sources_of(memory)]
        if quoted:
            self._corrected(scope, quoted, now)
        refs = list(dict.fromkeys(memory.ref for memory in changed))
        if refs:
            self._projections.mark(scope, refs)
            self._announce(scope, refs)


@dataclass(frozen=True, slots=True)
class SavedMemory:
    """The memory, and whether this call made it; otherwise it had the same content before (A-21)."""

    memory: Memory
    created: bool


@dataclass(frozen=True, slots=True)
class MemoryChange:
    """A person's change of a memory; `accepts` says whether its version is the one that they saw."""

    changes: Mapping[str, Any]
    actor: Actor
    accepts: Callable[[int], bool]


@dataclass(eq=False)
class SaveMemories:
    """Writes each change atomically with its audit entry; a pending marker lets the index follow.

    `_generation` is the embedder's, None without one.
    """

    _timeline: Timeline
    _projections: Projections
    _items: Items
    _ids: IdSource
    _announce: Announce
    _corrected: Corrected
    _generation: str | None = None
    _counted: Counted = uncounted

    def __post_init__(self) -> None:
        self._current = CurrentMemories(self._timeline)
        self._read = ReadMemories(self._items)
        self._gate = SuppressionList(self._items)
        self._earlier = EarlierWords(self._items)

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

        Writes `also` atomically with a new memory, and only then. Raises Conflict where its value is rejected, or where
        somebody has deleted this very memory.
        """
        carrier = carrier_of(scope, draft, seed.nth(0), now, rules)
        memory = memory_of(carrier, draft, self._generation)
        check_size(memory)
        self._check(scope, memory, actor, now)

        def save() -> SavedMemory:
            known = self._known(scope, memory, now)
            if isinstance(known, Memory):
                return SavedMemory(known, known.id == memory.id)
            return self._create(scope, carrier, memory, known, actor, also)

        saved = retry_on_conflict(save, "a memory with the same content")
        self._counted(scope.tenant, int(saved.created))
        return saved

    def one(self, scope: Scope, memory_id: str, now: datetime) -> Memory:
        """A memory by its id, also a superseded one, in the words that hold now, or in all where none do.

        Without sentences that were rejected. Raises NotFound.
        """
        return _shown(self._gate.load(scope), in_words_of(self._find(scope, memory_id, now).memory, now))

    def patch(self, scope: Scope, memory_id: str, change: MemoryChange, now: datetime) -> Memory:
        """Changes content, importance, keywords, expires_at, metadata; the earlier words stay in its history.

        Words that it was told in before come back with what of them had ended, where that decision holds.

        Summaries lose the replaced words. Raises NotFound, VersionMismatch, InvalidInput, and Conflict for rejected
        content.
        """
        rejections = self._gate.load(scope)
        for _ in range(TRIES):
            stored = self._find(scope, memory_id, now)
            _shown(rejections, stored.memory)
            if not change.accepts(stored.memory.version):
                raise VersionMismatch("the memory has changed since it was read")
            try:
                after = self.edit(scope, stored, change, now)
            except VersionMismatch:
                continue
            return _shown(rejections, in_words_of(after, now))
        raise VersionMismatch("the memory changes all the time")

    def edit(
        self, scope: Scope, stored: StoredMemory, change: MemoryChange, now: datetime, also: Sequence[ItemWrite] = ()
    ) -> Memory:
        """The next version of a memory as it was read; `also` is written in the same step.

        Raises VersionMismatch where something of it changed meanwhile, InvalidInput, and Conflict for rejected content.
        """
        before, actor = stored.memory, change.actor
        edited = replace(with_changes(before, change.changes), version=before.version + 1)
        after = self._earlier.put_back(scope, before, edited, now)
        check_values(after.content, after.importance)
        check_size(after)
        if after.content != before.content:
            self._check(scope, after, actor, now)
        writes = [
            *changed_writes(stored.item, before, after, Due(TO_PROJECT, now)),
            *self._content_writes(scope, before, after, now),
            audit_write(self._entry(scope, Action.PATCH, before, after, actor, now)),
            *also,
        ]
        self._items.write(scope.user, writes, now)
        if after.content != before.content:
            self._corrected(scope, [EventRef(one, after.timestamp) for one in after.source_event_ids], now)
        self._projections.mark(scope, [after.ref])
        self._announce(scope, [after.ref])
        return after

    def _known(self, scope: Scope, memory: Memory, now: datetime) -> Memory | Item | None:
        """The active memory with this content, made by an earlier try or before.

        Else the record of the content, if any.
        """
        own, key = memory_key(memory.id), _record_key(memory)
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

    def _create(
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
            ItemWrite(_record_key(memory), {"id": memory.id}, record.version if record else ABSENT),
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
        if self._gate.load(scope).rejects(memory.content, memory.persona_id, memory.household_id):
            self._refuse(scope, memory, "rejected", actor, now)
            raise Conflict("this memory's value was rejected")

    def _refuse(self, scope: Scope, memory: Memory, reason: str | None, actor: Actor, now: datetime) -> None:
        entry = replace(self._entry(scope, Action.REFUSE, None, memory, actor, now), reason=reason)
        self._items.write(scope.user, [audit_write(entry)], now)

    def _find(self, scope: Scope, memory_id: str, now: datetime) -> StoredMemory:
        stored = self._read.stored(scope, [memory_id]).get(memory_id)
        if stored is None or not scope.admits(stored.memory.persona_id, stored.memory.household_id):
            raise NotFound("no such memory")
        event = self._timeline.read(scope, [stored.memory.ref]).get(stored.memory.id)
        if event is None or event.expired(now) or stored.memory.expired(now):
            raise NotFound("no such memory")
        (memory,) = self._current.read(scope, [stored.memory], {event.id: event})
        return StoredMemory(memory, stored.item)

    def _content_writes(self, scope: Scope, before: Memory, after: Memory, now: datetime) -> list[ItemWrite]:
        """The record of the content follows an edit; a record that names another active memory stays."""
        old, new = _record_key(before), _record_key(after)
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


def _shown(rejections: Rejections, memory: Memory) -> Memory:
    """The memory without rejected sentences. Raises NotFound where nothing remains (P-22)."""
    shown = rejections.shown_memory(memory)
    if shown is None:
        raise NotFound("no such memory")
    return shown


def _record_key(memory: Memory) -> ItemKey:
    return content_key(content_identity(memory))
