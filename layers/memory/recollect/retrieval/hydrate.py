"""Reads records back: events, the memories made of them, and slot values as of an instant (P-19, P-24, R-71)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import InitVar, dataclass, field
from functools import partial
from typing import TypeVar

from recollect.core.errors import StoredDataError, Unavailable
from recollect.core.event import Event, EventRef
from recollect.core.scope import Scope
from recollect.memories.memory import Memory
from recollect.memories.reading import NewestMemories, PastVersions, ReadMemories
from recollect.memories.representation import indexed, represented, seen
from recollect.memories.storage import MEMORIES, SAME_AS, memory_in
from recollect.ports import Concurrency, Items, Timeline
from recollect.retrieval.filters import SearchFilters
from recollect.timeline.slots import (
    SlotEntry,
    bound_of,
    current_at,
    entry_of,
    named_slot,
    newest_of_slots,
    slot_of,
    superseded_in,
    with_told,
)

V = TypeVar("V")
Slot = tuple[str, str, str]
_AT_ONCE = 100  # what a store reads in one call; more calls run side by side


@dataclass(slots=True)
class Records:
    """What was read so far: events, and the memory of each that has one, both by the event's id.

    `asked` are the ids whose memories were looked up; `newest` answers for many others. `filters` of the past select
    the memories' versions of then. `unreadable` gathers the ids of records that cannot be read; where it is None, one
    such record fails the read.
    """

    events: dict[str, Event]
    memories: dict[str, Memory] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)
    newest: NewestMemories = field(default_factory=NewestMemories)
    filters: SearchFilters | None = None
    unreadable: set[str] | None = None
    _shown: dict[str, tuple[Event, Memory | None, Event]] = field(default_factory=dict)
    _seen: dict[str, tuple[Memory, Memory | None]] = field(default_factory=dict)

    def shown(self, event: Event) -> Event:
        """The event as readers see it: in the words of its memory, once that was looked up."""
        memory = self.memories.get(event.id)
        known = self._shown.get(event.id)
        if known is None or known[0] is not event or known[1] is not memory:
            shown = represented(event, memory if memory is None else self.seen(memory))
            known = self._shown[event.id] = event, memory, shown
        return known[2]

    def as_indexed(self, event: Event) -> Event:
        """The event as it is indexed: what finds it, also where readers see less of it."""
        return indexed(event, self.memories.get(event.id))

    def seen(self, memory: Memory) -> Memory:
        """The memory as the reader sees it; unchanged where nothing of it holds."""
        return memory if self.filters is None else self.sees(memory, self.filters) or memory

    def sees(self, memory: Memory, filters: SearchFilters) -> Memory | None:
        """What these filters see of the memory (`representation.seen`); cached for the reader's own filters."""
        if filters is not self.filters:
            return seen(memory, filters)
        known = self._seen.get(memory.id)
        if known is None or known[0] is not memory:
            known = self._seen[memory.id] = memory, seen(memory, filters)
        return known[1]

    def own_id(self, record_id: str) -> str:
        """The id of the record's memory, where it has one: records of one memory are one result."""
        memory = self.memories.get(record_id)
        return memory.id if memory else record_id


class RecordReading:
    """Batches side by side, and only what was not read before."""

    def __init__(self, timeline: Timeline, items: Items, concurrency: Concurrency) -> None:
        self._timeline = timeline
        self._items = items
        self._memories = ReadMemories(items)
        self._past = PastVersions(items, concurrency)
        self._concurrency = concurrency

    def newest_memories(self, scope: Scope, limit: int) -> list[EventRef]:
        """The records of the newest memories: a directly saved memory is in no other list."""
        page = self._items.page(scope.user, MEMORIES, limit, None, descending=True)
        return [memory_in(item.value).ref for item in page.items if SAME_AS not in item.value]

    def newest(self, scope: Scope, limit: int) -> NewestMemories:
        """What a first wave may read ahead, so that the second need not look it up; nothing where the store is away."""
        try:
            return self._memories.newest(scope, limit)
        except Unavailable:
            return NewestMemories()

    def read(self, scope: Scope, refs: Sequence[EventRef], records: Records) -> None:
        """Adds these to `records`, those that exist."""
        unread = {ref.id: ref for ref in refs if ref.id not in records.events}
        unasked = [i for i in dict.fromkeys(ref.id for ref in refs) if i not in records.asked]
        memories = partial(self._memories.read, scope, newest=records.newest)
        parts = _parts(unasked, records.newest)
        begun = [self._concurrency.submit(partial(_read, memories, part, records)) for part in parts]
        if unread:
            records.events |= _read(partial(self._events_at, scope, unread), list(unread), records)
        found = {record_id: memory for part in begun for record_id, memory in part.result().items()}
        records.memories |= self._as_of(scope, found, records.filters)
        records.asked.update(unasked)

    def look_up(self, scope: Scope, targets: Iterable[EventRef | str], records: Records) -> None:
        """Adds the events that carry the memories of these, with the memories.

        Of some only the id is known, and a place may be wrong: then the memory has the right one, else the timeline is
        asked.
        """
        asked = list(targets)
        ids = list(dict.fromkeys(target if isinstance(target, str) else target.id for target in asked))
        self.read(scope, [target for target in asked if isinstance(target, EventRef)], records)
        unasked = [one for one in ids if one not in records.asked]
        found = self._memories.read(scope, unasked, records.newest) if unasked else {}
        records.memories |= self._as_of(scope, found, records.filters)
        own = {memory.id: memory for one in ids if (memory := records.memories.get(one)) is not None}
        records.memories |= own
        records.asked.update([*unasked, *own])
        missing = [one for one in dict.fromkeys(map(records.own_id, ids)) if one not in records.events]
        self.read(scope, [own[one].ref for one in missing if one in own], records)
        self._find(scope, [one for one in missing if one not in own], records)

    def _events_at(self, scope: Scope, places: Mapping[str, EventRef], ids: Sequence[str]) -> dict[str, Event]:
        return self._timeline.read(scope, [places[one] for one in ids])

    def _find(self, scope: Scope, ids: Sequence[str], records: Records) -> None:
        begun = [self._concurrency.submit(partial(self._timeline.find, scope, one)) for one in ids]
        records.events |= {event.id: event for found in begun if (event := found.result()) is not None}

    def _as_of(self, scope: Scope, found: Mapping[str, Memory], filters: SearchFilters | None) -> dict[str, Memory]:
        """The memories that existed at the instant of the query; an event without one then stands for itself."""
        memories = dict(found)
        if filters is not None and filters.recorded_as_of is not None:
            memories = self._past.read(scope, memories, filters.recorded_as_of)
        if filters is None or filters.as_of is None:
            return memories
        return {i: one for i, one in memories.items() if one.id == i or one.valid_from <= filters.as_of}


def _read(read: Callable[[Sequence[str]], dict[str, V]], ids: Sequence[str], records: Records) -> dict[str, V]:
    return read(ids) if records.unreadable is None else read_around(read, ids, records.unreadable)


def _parts(ids: Sequence[str], newest: NewestMemories) -> list[list[str]]:
    known = [one for one in ids if one in newest.items]
    unknown = [one for one in ids if not newest.tells(one)]
    parts = [unknown[start : start + _AT_ONCE] for start in range(0, len(unknown), _AT_ONCE)]
    return [known, *parts] if known else parts


@dataclass(slots=True)
class SlotsAsOf:
    """Slot values as of the instant of one query: the newest of the tail, and the histories read so far.

    `tail` are the newest events that are not projected yet.
    Of the present, an event's own fields say whether it is its slot's value. Of the past, superseded events and bounded
    values need the slot's history: each is read once, side by side. With `more_wait` a newer value may be among events
    beyond the tail: then the slot of every keyed event is read.
    """

    timeline: Timeline
    concurrency: Concurrency
    scope: Scope
    filters: SearchFilters
    tail: InitVar[Iterable[Event]]
    more_wait: bool = False
    newest: dict[Slot, Event] = field(init=False)
    _histories: dict[Slot, list[SlotEntry]] = field(init=False, default_factory=dict)

    def __post_init__(self, tail: Iterable[Event]) -> None:
        self.newest = newest_of_slots(self._known_then(tail), self.filters.moment)

    def superseded(self, events: Iterable[Event]) -> set[str]:
        """The ids of those that were not their slot's value, or whose bound was over."""
        asked = list(events)
        past = {event.id: slot for event in asked if (slot := self._past_slot(event)) is not None}
        self._read(past.values())
        return {event.id for event in asked if self._is_over(event, past.get(event.id))}

    def current(self, slot: Slot) -> SlotEntry | None:
        """The slot's value at the instant, by its history; a removed one means that the slot is empty."""
        self._read([slot])
        return current_at(self._histories[slot], self.filters.as_of, self.filters.recorded_as_of)

    def _is_over(self, event: Event, slot: Slot | None) -> bool:
        until = bound_of(event)
        if superseded_in(event, self.newest) or (until is not None and until <= self.filters.moment):
            return True
        if slot is None:
            return event.superseded_by is not None and not self.filters.looks_back
        history = with_told(self._histories[slot], [event])
        at = current_at(history, self.filters.as_of, self.filters.recorded_as_of)
        return at is not None and at.ref.id != event.id and at.order > (event.timestamp, event.id)

    def _past_slot(self, event: Event) -> Slot | None:
        if self.more_wait or bound_of(event) is not None:
            return named_slot(event)
        return slot_of(event) if self.filters.looks_back and event.superseded_by is not None else None

    def _read(self, slots: Iterable[Slot]) -> None:
        unread = [slot for slot in dict.fromkeys(slots) if slot not in self._histories]
        begun = {s: self.concurrency.submit(partial(self.timeline.slot_history, self.scope, s)) for s in unread}
        said = {s: self.concurrency.submit(partial(self._of_slot, s)) for s in unread} if self.more_wait else {}
        self._histories |= {slot: found.result() for slot, found in begun.items()}
        for slot, events in said.items():
            self._add_to_history(slot, events.result())

    def _of_slot(self, slot: Slot) -> list[Event]:
        return self._known_then(self.timeline.of_slot(self.scope, slot))

    def _known_then(self, events: Iterable[Event]) -> list[Event]:
        return [event for event in events if self.filters.known_then(event.timestamp, event.recorded_at)]

    def _add_to_history(self, slot: Slot, events: list[Event]) -> None:
        """Adds the events to the history as their projection will."""
        newest = self.newest.get(slot)
        self.newest |= newest_of_slots([*events, *([newest] if newest else [])], self.filters.moment)
        history = self._histories[slot]
        known = {entry.ref.id for entry in history}
        history += [entry_of(event) for event in events if event.id not in known and bound_of(event) is None]


def read_around(
    read: Callable[[Sequence[str]], dict[str, V]], ids: Sequence[str], unreadable: set[str]
) -> dict[str, V]:
    """What `read` answers for these ids; an id that cannot be read by itself is added to `unreadable` (R-71).

    A batch that fails is read again in halves. Raises what `read` raises, but for StoredDataError.
    """
    try:
        return read(ids)
    except StoredDataError:
        if len(ids) < 2:
            unreadable.update(ids)
            return {}
    half = len(ids) // 2
    return read_around(read, ids[:half], unreadable) | read_around(read, ids[half:], unreadable)
