"""Memories by the ids of their records, in one batch.

Memories as they stand: with what their records say, and what is recorded already but not projected yet (P-19).

Memories listed, and the history of one.

The history of a memory: its versions, each with the change that made it, as far as the audit tells.

Memories in the versions that were in force at an instant of the store's own time (api.md, *Time*).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial

from recollect.core.event import Event
from recollect.core.items import Item
from recollect.core.scope import Scope
from recollect.deletion.suppression import Rejections, ValueGate
from recollect.memories.audit import AuditEntry
from recollect.memories.audit_log import AuditFilter, ListAudit
from recollect.memories.memory import Memory, MemoryStatus
from recollect.memories.representation import as_it_stands, in_words_of
from recollect.memories.storage import MEMORIES, SAME_AS, memory_in, memory_key, versions_path
from recollect.ports import Concurrency, Items, Timeline
from recollect.timeline.slots import slot_of

_MOST_STEPS = 4


@dataclass(frozen=True, slots=True)
class StoredMemory:
    """A memory with the version of its item, which a conditional write names."""

    memory: Memory
    item: Item

    def edits(self, event: Event) -> bool:
        """Whether it says something else than the event whose memory it is."""
        return self.memory.id == event.id and self.memory.content != event.content


@dataclass(frozen=True, slots=True)
class NewestMemories:
    """What is kept under the highest ids: under an id from `since` on there is nothing else. Without one it tells none.

    Most records have no memory, and asking for what is not there costs as much as reading it.
    """

    items: Mapping[str, Item] = field(default_factory=dict)
    since: str | None = None

    def tells(self, record_id: str) -> bool:
        """Whether it is known what is kept under this id."""
        return self.since is not None and record_id >= self.since


class ReadMemories:
    """An event that was found to say the same as a memory leads to that memory, by one more read.

    By two, while a memory moves to the next of its events (`forget_memories`).
    """

    def __init__(self, items: Items) -> None:
        self._items = items

    def __call__(
        self, scope: Scope, record_ids: Iterable[str], newest: NewestMemories | None = None
    ) -> dict[str, Memory]:
        """The memory of each record that has one; what `newest` tells is not read again."""
        return {record_id: kept.memory for record_id, kept in self.kept(scope, record_ids, newest).items()}

    def newest(self, scope: Scope, limit: int) -> NewestMemories:
        """The `limit` highest ids, which are those recorded last; all where there are no more."""
        page = self._items.page(scope.user, MEMORIES, limit, None, descending=True)
        lowest = page.items[-1].key.key if page.more is not None else ""
        return NewestMemories({item.key.key: item for item in page.items}, lowest)

    def kept(
        self, scope: Scope, record_ids: Iterable[str], newest: NewestMemories | None = None
    ) -> dict[str, StoredMemory]:
        """The same, with what a conditional write needs; several records may lead to one memory."""
        told = newest or NewestMemories()
        asked = self._items_of(scope, record_ids, told)
        known, leads = dict(asked), dict(asked)
        for _ in range(_MOST_STEPS):
            ends = {i: str(item.value[SAME_AS]) for i, item in leads.items() if SAME_AS in item.value}
            if not ends:
                break
            missing = set(ends.values()) - known.keys()
            known |= self._items_of(scope, missing, told)
            leads = {i: item for i, item in leads.items() if i not in ends} | {
                i: known[end] for i, end in ends.items() if end in known
            }
        whole = {i: item for i, item in leads.items() if SAME_AS not in item.value}
        return {i: StoredMemory(memory_in(item.value), item) for i, item in whole.items()}

    def items(self, scope: Scope, record_ids: Iterable[str]) -> dict[str, Item]:
        """What is kept under these ids: memories, and what leads to them."""
        keys = [memory_key(record_id) for record_id in dict.fromkeys(record_ids)]
        found = self._items.get(scope.user, keys) if keys else {}
        return {key.key: item for key, item in found.items()}

    def _items_of(self, scope: Scope, record_ids: Iterable[str], newest: NewestMemories) -> dict[str, Item]:
        wanted = list(record_ids)
        told = {one: newest.items[one] for one in wanted if one in newest.items}
        return told | self.items(scope, (one for one in wanted if not newest.tells(one)))


class StandingMemories:
    """A newer value of its key supersedes a memory from the moment it is durable, whatever the projector does."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline

    def __call__(self, scope: Scope, memories: Sequence[Memory], events: Mapping[str, Event]) -> list[Memory]:
        """The memories in order; `events` are the records that carry them. Without keyed ones nothing more is read."""
        known = [as_it_stands(memory, events[memory.id]) for memory in memories]
        if not any(_may_be_superseded(memory) for memory in known):
            return known
        pending = self._pending(scope)
        return [self._standing(memory, pending) for memory in known]

    def _pending(self, scope: Scope) -> list[Event]:
        refs = self._timeline.tail(scope).refs
        found = self._timeline.read(scope, refs).values() if refs else ()
        return sorted((e for e in found if e.key is not None), key=lambda e: (e.timestamp, e.id))

    def _standing(self, memory: Memory, pending: Sequence[Event]) -> Memory:
        if not _may_be_superseded(memory):
            return memory
        own, order = (memory.persona_id or "", memory.household_id or "", memory.key), (memory.timestamp, memory.id)
        newer = (event for event in pending if slot_of(event) == own and (event.timestamp, event.id) > order)
        by = next(newer, None)
        return memory if by is None else _superseded(memory, by)


def _may_be_superseded(memory: Memory) -> bool:
    return memory.key is not None and memory.status is MemoryStatus.ACTIVE


def _superseded(memory: Memory, by: Event) -> Memory:
    valid_to = by.timestamp if memory.valid_to is None else memory.valid_to
    return replace(memory, status=MemoryStatus.SUPERSEDED, superseded_by=by.id, valid_to=valid_to)


_PAGE = 100
_MOST_PAGES = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryQuery:
    """Which memories are listed; None is no filter."""

    status: MemoryStatus | None = None
    key: str | None = None
    source_event_id: str | None = None

    def admits(self, memory: Memory) -> bool:
        """Whether the memory is one of them."""
        return (
            self.status in (None, memory.status)
            and self.key in (None, memory.key)
            and (self.source_event_id is None or self.source_event_id in memory.source_event_ids)
        )


@dataclass(frozen=True, slots=True)
class MemoryPage:
    """Memories, the last made first; `more` is where the next page goes on."""

    memories: tuple[Memory, ...]
    more: str | None


class ListMemories:
    """What is expired, rejected, or whose record is gone, is not listed. A page reads at most 1,000 items.

    Each is in the words that hold now, and with its status as it stands; in all its words where none hold.
    """

    def __init__(self, timeline: Timeline, items: Items) -> None:
        self._timeline = timeline
        self._items = items
        self._read = ReadMemories(items)
        self._standing = StandingMemories(timeline)
        self._gate = ValueGate(items)

    def __call__(self, scope: Scope, query: MemoryQuery, limit: int, after: str | None, now: datetime) -> MemoryPage:
        """At most `limit`; a page may hold fewer, even none, where there is more."""
        rejections = self._gate.load(scope)
        if query.source_event_id is not None:
            found = self._read.kept(scope, [query.source_event_id]).values()
            there = self._shown(scope, [one.memory for one in found], query, now)
            return MemoryPage(_without(rejections, there), None)
        shown: list[Memory] = []
        for _ in range(_MOST_PAGES):
            page = self._items.page(scope.user, MEMORIES, limit - len(shown), after, descending=True)
            whole = [memory_in(item.value) for item in page.items if SAME_AS not in item.value]
            shown += self._shown(scope, whole, query, now)
            after = page.more
            if after is None or len(shown) >= limit:
                break
        return MemoryPage(_without(rejections, shown), after)

    def history(self, scope: Scope, memory: Memory) -> list[Memory]:
        """Every version of a memory that there was before this one, oldest first."""
        found: list[Memory] = []
        after: str | None = None
        while True:
            page = self._items.page(scope.user, versions_path(memory.id), _PAGE, after)
            found += [memory_in(item.value) for item in page.items]
            after = page.more
            if after is None:
                return list(_without(self._gate.load(scope), found))

    def _shown(self, scope: Scope, memories: list[Memory], query: MemoryQuery, now: datetime) -> list[Memory]:
        events = self._timeline.read(scope, [memory.ref for memory in memories]) if memories else {}
        alive = [m for m in memories if m.id in events and scope.admits(m.persona_id, m.household_id)]
        standing = self._standing(scope, [memory for memory in alive if not memory.expired(now)], events)
        return [in_words_of(memory, now) for memory in standing if query.admits(memory)]


def _without(rejections: Rejections, memories: Sequence[Memory]) -> tuple[Memory, ...]:
    """The memories as they may be shown, less those of which nothing may be (P-22)."""
    return tuple(shown for memory in memories if (shown := rejections.shown_memory(memory)) is not None)


_VERSIONS_PAGE = 200
_MOST_VERSION_PAGES = 5


@dataclass(frozen=True, slots=True)
class MemoryVersion:
    """The memory as it was in one version; `change` made it, None where no entry of the audit is found."""

    memory: Memory
    change: AuditEntry | None


class MemoryHistory:
    """The use case behind `GET …/memories/{id}/history`."""

    def __init__(self, memories: ListMemories, audit: ListAudit) -> None:
        self._memories = memories
        self._audit = audit

    def __call__(self, scope: Scope, memory: Memory) -> list[MemoryVersion]:
        """Every version, oldest first, the present one last."""
        versions = [*self._memories.history(scope, memory), memory]
        changes = self._changes(scope, memory.id, {version.version for version in versions})
        return [MemoryVersion(version, changes.get(version.version)) for version in versions]

    def _changes(self, scope: Scope, memory_id: str, wanted: set[int]) -> dict[int, AuditEntry]:
        """The entries that made these versions; of a user's newest 10,000 at most."""
        found: dict[int, AuditEntry] = {}
        after: str | None = None
        for _ in range(_MOST_VERSION_PAGES):
            page = self._audit(scope, _VERSIONS_PAGE, after, AuditFilter(target_id=memory_id))
            found |= {version: entry for entry in page.entries if (version := _made(entry, memory_id)) is not None}
            after = page.more
            if after is None or wanted <= found.keys():
                break
        return found


def _made(entry: AuditEntry, memory_id: str) -> int | None:
    """The version of the memory that the change made; None where it made another one's, or none."""
    after = entry.after or {}
    return after.get("version") if after.get("id") == memory_id else None


_GONE = (MemoryStatus.REJECTED, MemoryStatus.EXPIRED)


class PastVersions:
    """A version's item is written when the next one is: of those written later the oldest was in force.

    A memory that never changed asks nothing; of the others each asks for its versions, the newest first, side by side.
    Raises what the items raise.
    """

    def __init__(self, items: Items, concurrency: Concurrency) -> None:
        self._items = items
        self._concurrency = concurrency

    def __call__(self, scope: Scope, memories: Mapping[str, Memory], moment: datetime) -> dict[str, Memory]:
        """The memories as they were, by the same ids; without those that were not known by then.

        What is expired or rejected by now stays so.
        """
        known = {record_id: one for record_id, one in memories.items() if one.recorded_at <= moment}
        changed = {one.id: one for one in known.values() if one.version > 1 and one.status not in _GONE}
        begun = {i: self._concurrency.submit(partial(self._then, scope, one, moment)) for i, one in changed.items()}
        then = {memory_id: found.result() for memory_id, found in begun.items()}
        return {record_id: then.get(one.id, one) for record_id, one in known.items()}

    def _then(self, scope: Scope, memory: Memory, moment: datetime) -> Memory:
        found, after = memory, None
        for _ in range(_MOST_PAGES):
            page = self._items.page(scope.user, versions_path(memory.id), _PAGE, after, descending=True)
            for item in page.items:
                if item.updated_at <= moment:
                    return found
                found = replace(memory_in(item.value), expires_at=memory.expires_at)
            after = page.more
            if after is None:
                break
        return found
