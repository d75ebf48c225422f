"""Memories read: by the ids of their records, as they are current, in lists, in their history, and as of an instant."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial

from recollect.core.event import Event
from recollect.core.filter import EVERYTHING, AllOf, Condition, Filter, Operator, holds
from recollect.core.items import Item, pages
from recollect.core.scope import Scope
from recollect.deletion.suppression import Rejections, SuppressionList
from recollect.memories.audit import AuditEntry
from recollect.memories.audit_log import AuditFilter, ListAudit
from recollect.memories.earlier_words import words_that_held
from recollect.memories.memory import Memory, MemoryStatus
from recollect.memories.representation import as_it_stands, in_words_of
from recollect.memories.storage import MEMORIES, SAME_AS, memory_in, memory_key, versions_path
from recollect.ports import Concurrency, Items, Timeline
from recollect.retrieval.attributes import MEMORY_FIELDS, fields_of
from recollect.retrieval.filters import lies_below
from recollect.timeline.slots import slot_key, slot_of

_MOST_STEPS = 4
_PAGE = 100
_MOST_PAGES = 10
_VERSIONS_PAGE = 200
_MOST_VERSION_PAGES = 5
_EQUAL = ("status", "key", "agent_id", "app_id", "namespace")
_GONE = (MemoryStatus.REJECTED, MemoryStatus.EXPIRED)


@dataclass(frozen=True, slots=True)
class StoredMemory:
    """A memory with its item, whose version a conditional write names."""

    memory: Memory
    item: Item

    def edits(self, event: Event) -> bool:
        """Whether somebody replaced the words of the event that it was made from."""
        return self.memory.id == event.id and self.memory.content != event.content


@dataclass(frozen=True, slots=True)
class NewestMemories:
    """The items with the highest ids, complete from the id `since` on; with None it covers no id.

    Most records have no memory, and a read of a missing item costs as much as that of an existing one.
    """

    items: Mapping[str, Item] = field(default_factory=dict)
    since: str | None = None

    def tells(self, record_id: str) -> bool:
        """Whether it covers this id: a missing item then means that the record has no memory."""
        return self.since is not None and record_id >= self.since


class ReadMemories:
    """Reads memories by the ids of their records.

    A record with the same words as a memory refers to that memory, which costs one more read; two, while a memory moves
    to the next of its events (`forget_memories`).
    """

    def __init__(self, items: Items) -> None:
        self._items = items

    def read(self, scope: Scope, record_ids: Iterable[str], newest: NewestMemories | None = None) -> dict[str, Memory]:
        """The memory of each record that has one, by the record's id; ids that `newest` covers are not read again."""
        return {record_id: stored.memory for record_id, stored in self.stored(scope, record_ids, newest).items()}

    def newest(self, scope: Scope, limit: int) -> NewestMemories:
        """The items of the `limit` highest ids, recorded last; all, where there are no more."""
        page = self._items.page(scope.user, MEMORIES, limit, None, descending=True)
        lowest = page.items[-1].key.key if page.more is not None else ""
        return NewestMemories({item.key.key: item for item in page.items}, lowest)

    def stored(
        self, scope: Scope, record_ids: Iterable[str], newest: NewestMemories | None = None
    ) -> dict[str, StoredMemory]:
        """The same with their items, for conditional writes; several records may have one memory."""
        cached = newest or NewestMemories()
        items = self._items_of(scope, record_ids, cached)
        known = dict(items)
        for _ in range(_MOST_STEPS):
            references = {i: str(item.value[SAME_AS]) for i, item in items.items() if SAME_AS in item.value}
            if not references:
                break
            known |= self._items_of(scope, set(references.values()) - known.keys(), cached)
            followed = {i: known[target] for i, target in references.items() if target in known}
            items = {i: item for i, item in items.items() if i not in references} | followed
        whole = {i: item for i, item in items.items() if SAME_AS not in item.value}
        return {i: StoredMemory(memory_in(item.value), item) for i, item in whole.items()}

    def items(self, scope: Scope, record_ids: Iterable[str]) -> dict[str, Item]:
        """The items under these ids: memories, and references to memories."""
        keys = [memory_key(record_id) for record_id in dict.fromkeys(record_ids)]
        found = self._items.get(scope.user, keys) if keys else {}
        return {key.key: item for key, item in found.items()}

    def _items_of(self, scope: Scope, record_ids: Iterable[str], newest: NewestMemories) -> dict[str, Item]:
        wanted = list(record_ids)
        covered = {one: newest.items[one] for one in wanted if one in newest.items}
        return covered | self.items(scope, (one for one in wanted if not newest.tells(one)))


class CurrentMemories:
    """Current forms of memories.

    A newer value of its key supersedes one as soon as it is durable, before its projection.
    """

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline

    def read(self, scope: Scope, memories: Sequence[Memory], events: Mapping[str, Event]) -> list[Memory]:
        """The memories in order; `events` are their records. Reads nothing more where no memory has a key (P-19)."""
        known = [as_it_stands(memory, events[memory.id]) for memory in memories]
        if not any(_may_be_superseded(memory) for memory in known):
            return known
        pending = self._pending(scope)
        return [self._current(memory, pending) for memory in known]

    def _pending(self, scope: Scope) -> list[Event]:
        refs = self._timeline.tail(scope).refs
        found = self._timeline.read(scope, refs).values() if refs else ()
        return sorted((e for e in found if e.key is not None), key=lambda e: (e.timestamp, e.id))

    def _current(self, memory: Memory, pending: Sequence[Event]) -> Memory:
        if not _may_be_superseded(memory):
            return memory
        own = memory.persona_id or "", memory.household_id or "", slot_key(memory.key, memory.labels)
        order = memory.timestamp, memory.id
        newer = (event for event in pending if slot_of(event) == own and (event.timestamp, event.id) > order)
        by = next(newer, None)
        return memory if by is None else _superseded(memory, by)


def _may_be_superseded(memory: Memory) -> bool:
    return memory.key is not None and memory.status is MemoryStatus.ACTIVE


def _superseded(memory: Memory, by: Event) -> Memory:
    valid_to = by.timestamp if memory.valid_to is None else memory.valid_to
    return replace(memory, status=MemoryStatus.SUPERSEDED, superseded_by=by.id, valid_to=valid_to)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryQuery:
    """Which memories to list; None is no filter. `where` is one over `attributes.MEMORY_FIELDS`.

    `conversation_id` is that of the event that became the memory.
    """

    status: MemoryStatus | None = None
    key: str | None = None
    source_event_id: str | None = None
    conversation_id: str | None = None
    agent_id: str | None = None
    app_id: str | None = None
    namespace: tuple[str, ...] | None = None
    namespace_prefix: tuple[str, ...] | None = None
    where: Filter = EVERYTHING

    def admits(self, memory: Memory) -> bool:
        return (
            all(getattr(self, name) in (None, getattr(memory, name)) for name in _EQUAL)
            and lies_below(memory.namespace, self.namespace_prefix)
            and (self.where == EVERYTHING or holds(self.where, fields_of(memory, MEMORY_FIELDS)))
            and (self.source_event_id is None or self.source_event_id in memory.source_event_ids)
        )

    @property
    def ids(self) -> list[str] | None:
        """The only ids that a memory may have which `where` admits; None where it does not say them."""
        return _ids_in(self.where)


def _ids_in(wanted: Filter) -> list[str] | None:
    if isinstance(wanted, AllOf):
        return next((ids for one in wanted.filters if (ids := _ids_in(one)) is not None), None)
    if not isinstance(wanted, Condition) or wanted.path != ("id",):
        return None
    values = {Operator.EQ: (wanted.value,), Operator.IN: wanted.value}.get(wanted.operator)
    return None if values is None else [one for one in values if isinstance(one, str)]


@dataclass(frozen=True, slots=True)
class MemoryPage:
    """Memories, the last made first; `more` is where the next page begins."""

    memories: tuple[Memory, ...]
    more: str | None


class ListMemories:
    """Lists no expired or rejected memory, and none with a deleted record. A page reads at most 1,000 items.

    Each memory is in its current status and in the words that hold now, or in all its words where none do. Where the
    query says their ids and they fit on the page, these alone are read.
    """

    def __init__(self, timeline: Timeline, items: Items) -> None:
        self._timeline = timeline
        self._items = items
        self._read = ReadMemories(items)
        self._current = CurrentMemories(timeline)
        self._gate = SuppressionList(items)

    def page(self, scope: Scope, query: MemoryQuery, limit: int, after: str | None, now: datetime) -> MemoryPage:
        """At most `limit`; a page may have fewer, even none, before the end."""
        rejections = self._gate.load(scope)
        if query.source_event_id is not None:
            found = self._read.stored(scope, [query.source_event_id]).values()
            there = self._shown(scope, [one.memory for one in found], query, now)
            return MemoryPage(_without(rejections, there), None)
        if after is None and query.ids is not None and len(query.ids) <= limit:
            return MemoryPage(_without(rejections, self._named(scope, query.ids, query, now)), None)
        shown: list[Memory] = []
        for _ in range(_MOST_PAGES):
            page = self._items.page(scope.user, MEMORIES, limit - len(shown), after, descending=True)
            whole = [memory_in(item.value) for item in page.items if SAME_AS not in item.value]
            shown += self._shown(scope, whole, query, now)
            after = page.more
            if after is None or len(shown) >= limit:
                break
        return MemoryPage(_without(rejections, shown), after)

    def history(self, scope: Scope, memory: Memory, now: datetime | None = None) -> list[Memory]:
        """Every earlier version of a memory, oldest first; with `now` without the parts that had ended in it."""
        path = versions_path(memory.id)
        read = pages(lambda after: self._items.page(scope.user, path, _PAGE, after))
        found = [memory_in(item.value) for page in read for item in page.items]
        found = found if now is None else [words_that_held(one, now) for one in found]
        return list(_without(self._gate.load(scope), found))

    def _named(self, scope: Scope, ids: Iterable[str], query: MemoryQuery, now: datetime) -> list[Memory]:
        """Those of these ids, in the order of all pages: references to other memories are none."""
        items = sorted(self._read.items(scope, ids).items(), reverse=True)
        return self._shown(scope, [memory_in(one.value) for _, one in items if SAME_AS not in one.value], query, now)

    def _shown(self, scope: Scope, memories: list[Memory], query: MemoryQuery, now: datetime) -> list[Memory]:
        events = self._timeline.read(scope, [memory.ref for memory in memories]) if memories else {}
        alive = [m for m in memories if m.id in events and scope.admits(m.persona_id, m.household_id)]
        asked = query.conversation_id
        alive = [m for m in alive if asked in (None, events[m.id].conversation_id)]
        current = self._current.read(scope, [memory for memory in alive if not memory.expired(now)], events)
        return [shown for memory in current if query.admits(shown := in_words_of(memory, now))]


def _without(rejections: Rejections, memories: Sequence[Memory]) -> tuple[Memory, ...]:
    """The memories without rejected sentences, and without those of which nothing remains (P-22)."""
    return tuple(shown for memory in memories if (shown := rejections.shown_memory(memory)) is not None)


@dataclass(frozen=True, slots=True)
class MemoryVersion:
    """A memory in one version; `change` made it, None where the audit has no entry of it."""

    memory: Memory
    change: AuditEntry | None


class MemoryHistory:
    """Behind `GET …/memories/{id}/history`."""

    def __init__(self, memories: ListMemories, audit: ListAudit) -> None:
        self._memories = memories
        self._audit = audit

    def read(self, scope: Scope, memory: Memory, now: datetime | None = None) -> list[MemoryVersion]:
        """Every version, oldest first, the current one last; with `now` each without the parts that had ended in it."""
        versions = [*self._memories.history(scope, memory, now), memory]
        changes = self._changes(scope, memory.id, {version.version for version in versions})
        return [MemoryVersion(version, changes.get(version.version)) for version in versions]

    def _changes(self, scope: Scope, memory_id: str, wanted: set[int]) -> dict[int, AuditEntry]:
        """The entries that made these versions, among the user's newest 10,000."""
        found: dict[int, AuditEntry] = {}
        own = AuditFilter(target_id=memory_id)
        for page in pages(lambda after: self._audit.page(scope, _VERSIONS_PAGE, after, own), _MOST_VERSION_PAGES):
            found |= {version: entry for entry in page.entries if (version := _made(entry, memory_id)) is not None}
            if wanted <= found.keys():
                break
        return found


def _made(entry: AuditEntry, memory_id: str) -> int | None:
    """The version of the memory that the change made; None for a change of another memory."""
    made = (one for one in (entry.after, entry.also) if one is not None and one.get("id") == memory_id)
    return next((one.get("version") for one in made), None)


class PastVersions:
    """Memories in the versions that were in force at an instant of the store's own time.

    A version's item is written together with the next version: of the items written after the instant the oldest was in
    force. Memories that changed read their versions concurrently, newest first. Raises what the items raise.
    """

    def __init__(self, items: Items, concurrency: Concurrency) -> None:
        self._items = items
        self._concurrency = concurrency

    def read(self, scope: Scope, memories: Mapping[str, Memory], moment: datetime) -> dict[str, Memory]:
        """The memories at `moment`, by the same ids; without those recorded later.

        A memory that is expired or rejected now stays so.
        """
        known = {record_id: one for record_id, one in memories.items() if one.recorded_at <= moment}
        changed = {one.id: one for one in known.values() if one.version > 1 and one.status not in _GONE}
        begun = {i: self._concurrency.submit(partial(self._then, scope, one, moment)) for i, one in changed.items()}
        then = {memory_id: found.result() for memory_id, found in begun.items()}
        return {record_id: then.get(one.id, one) for record_id, one in known.items()}

    def _then(self, scope: Scope, memory: Memory, moment: datetime) -> Memory:
        found, path = memory, versions_path(memory.id)
        newest_first = pages(
            lambda after: self._items.page(scope.user, path, _PAGE, after, descending=True), _MOST_PAGES
        )
        for item in (item for page in newest_first for item in page.items):
            if item.updated_at <= moment:
                break
            found = replace(memory_in(item.value), expires_at=memory.expires_at)
        return found
