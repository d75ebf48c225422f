"""An older value of a key, written anew: only so is it its slot's newest, and stays so when all is derived again.

It is a memory that was saved directly, a copy of the older value's record: deleting that record reaches it.
"""

import time
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from recollect.application.keep_memories import KeepMemories, SavedMemory
from recollect.application.read_memories import ReadMemories
from recollect.domain.audit import Actor
from recollect.domain.copies import copy_entry, origin_entry
from recollect.domain.errors import Conflict
from recollect.domain.event import Event, EventRef
from recollect.domain.ids import IdSeed, IdSource
from recollect.domain.items import ItemWrite, of_tenant
from recollect.domain.memory import Memory
from recollect.domain.memory_drafting import MemoryDraft
from recollect.domain.record_line import RecordOrigin
from recollect.domain.rules import Rules
from recollect.domain.scope import Scope
from recollect.domain.slots import slot_of
from recollect.ports import Items, Timeline

_NEXT = timedelta(microseconds=1)


class BringBackValue:
    """`rules` are those of a tenant."""

    def __init__(
        self, timeline: Timeline, items: Items, memories: KeepMemories, ids: IdSource, rules: Callable[[str], Rules]
    ) -> None:
        self._timeline = timeline
        self._items = items
        self._memories = memories
        self._ids = ids
        self._rules = rules
        self._read = ReadMemories(items)

    def __call__(
        self, scope: Scope, older: Memory, event: Event, told: Sequence[ItemWrite], actor: Actor, now: datetime
    ) -> Memory:
        """The memory that is current then; `told` is written in the same step, and makes sure that it is made once.

        Raises VersionMismatch or Conflict where what is told changed meanwhile, Conflict for a rejected value.
        """
        owner = Scope(scope.tenant, older.user_id, older.persona_id, older.household_id)
        draft = _draft(older, event, max(now, self._newest(scope, event) + _NEXT))
        seed = self._ids.seed(time.time_ns() // 1_000_000)
        also = [*told, self._entered(scope, event, seed, draft, now)]
        saved = self._memories.save(owner, draft, seed, now, actor, self._rules(scope.tenant), also)
        return self._made(scope, saved, told, now)

    def current(self, scope: Scope, record_id: str) -> str | None:
        """The memory that is the value of a record's slot now; None where the record is gone, or the slot empty."""
        event = self._timeline.find(scope, record_id)
        slot = slot_of(event) if event is not None else None
        newest = next(iter(self._timeline.of_slot(scope, slot)), None) if slot is not None else None
        kept = self._read.kept(scope, [newest.id]).get(newest.id) if newest is not None else None
        return kept.memory.id if kept is not None else None

    def _made(self, scope: Scope, saved: SavedMemory, told: Sequence[ItemWrite], now: datetime) -> Memory:
        """Where the value was current again already, by other words of it, that alone is told."""
        if not saved.created:
            self._items.write(scope.user, told, now)
        return saved.memory

    def _newest(self, scope: Scope, event: Event) -> datetime:
        """The newest timestamp that the slot has had, of a value that is gone too."""
        slot = slot_of(event)
        if slot is None:
            raise Conflict("the value has no key")
        had = [entry.ref.timestamp for entry in self._timeline.slot_history(scope, slot)]
        return max([*had, *(one.timestamp for one in self._timeline.of_slot(scope, slot)), event.timestamp])

    def _entered(self, scope: Scope, event: Event, seed: IdSeed, draft: MemoryDraft, now: datetime) -> ItemWrite:
        """The tenant's entry of the copy stands before it is made; the user's own is made with it."""
        origin, copy = RecordOrigin(scope.user_id, event.id), EventRef(seed.nth(0), draft.timestamp or now)
        self._items.write(of_tenant(scope.tenant), [copy_entry(origin, scope.user_id, copy)], now)
        return origin_entry(origin, copy.id)


def _draft(older: Memory, event: Event, timestamp: datetime) -> MemoryDraft:
    known = [moment for moment in (event.expires_at, older.expires_at) if moment is not None]
    return MemoryDraft(
        content=older.content,
        importance=older.importance,
        source=older.source,
        keywords=older.keywords,
        timestamp=timestamp,
        key=older.key,
        expires_at=min(known, default=None),
        metadata=older.metadata,
        embedding=event.embedding if older.content == event.content else None,
    )
