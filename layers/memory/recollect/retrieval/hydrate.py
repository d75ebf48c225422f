"""Reading a batch around what cannot be read, for a reader who goes on without it (R-71).

Reading records back: events, and in the same wave the memories made of them.

Which keyed events were not their slot's value at the instant that is asked about (P-19, P-24, api.md *Time*).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
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


def read_around(
    read: Callable[[Sequence[str]], dict[str, V]], ids: Sequence[str], unreadable: set[str]
) -> dict[str, V]:
    """What `read` answers for these; of what it cannot read by itself the id is added to `unreadable`.

    A batch that fails is read again in halves: for each such id at most twice as many reads as the batch can be halved.
    Raises what `read` raises, but for StoredDataError.
    """
    try:
        return read(ids)
    except StoredDataError:
        if len(ids) < 2:
            unreadable.update(ids)
            return {}
    half = len(ids) // 2
    return read_around(read, ids[:half], unreadable) | read_around(read, ids[half:], unreadable)


_AT_ONCE = 100  # what a store reads in one call: more are asked for in calls of their own, side by side


@dataclass(slots=True)
class Records:
    """What was read so far: events as they are, and the memory of each that has one, both by the event's id.

    `asked` are the ids of which it is known whether they have a memory; `newest` tells it of many others. Under the
    `filters` of a reader who asks of the past, memories are those that were there then, in their versions of then.
    `unreadable` gathers the ids of what a reader goes on without; where it is None, one such record fails the reading.
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
        """The event as readers see it: in the words of its memory, where that has been looked up."""
        memory = self.memories.get(event.id)
        known = self._shown.get(event.id)
        if known is None or known[0] is not event or known[1] is not memory:
            shown = represented(event, memory if memory is None else self.seen(memory))
            known = self._shown[event.id] = event, memory, shown
        return known[2]

    def told(self, event: Event) -> Event:
        """The event as an index is told of it: what it is found by, also where readers see less of it."""
        return indexed(event, self.memories.get(event.id))

    def seen(self, memory: Memory) -> Memory:
        """The memory as the reader sees it; as it is where nothing of it holds."""
        return memory if self.filters is None else self.sees(memory, self.filters) or memory

    def sees(self, memory: Memory, filters: SearchFilters) -> Memory | None:
        """What these filters see of the memory (`representation.seen`); those of this reader find it out once."""
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
        """The records of the memories made last: those that were saved directly are in no other list."""
        page = self._items.page(scope.user, MEMORIES, limit, None, descending=True)
        return [memory_in(item.value).ref for item in page.items if SAME_AS not in item.value]

    def newest(self, scope: Scope, limit: int) -> NewestMemories:
        """What a first wave may read beside all else, so that the second need not ask for most of it.

        Where they cannot be listed none are told, and all are asked for.
        """
        try:
            return self._memories.newest(scope, limit)
        except Unavailable:
            return NewestMemories()

    def read(self, scope: Scope, refs: Sequence[EventRef], records: Records) -> None:
        """Adds to `records` what is there of these."""
        unread = {ref.id: ref for ref in refs if ref.id not in records.events}
        unasked = [i for i in dict.fromkeys(ref.id for ref in refs) if i not in records.asked]
        memories = partial(self._memories, scope, newest=records.newest)
        begun = [
            self._concurrency.submit(partial(_read, memories, part, records))
            for part in _parts(unasked, records.newest)
        ]
        if unread:
            events = partial(self._there, scope, unread)
            records.events |= _read(events, list(unread), records)
        found = {record_id: memory for part in begun for record_id, memory in part.result().items()}
        records.memories |= self._then(scope, found, records.filters)
        records.asked.update(unasked)

    def look_up(self, scope: Scope, ways: Iterable[EventRef | str], records: Records) -> None:
        """Adds the records that carry the memories of these, with the memories.

        Of some only the id is known, and a place may be wrong: then their memories tell it, else the timeline is asked.
        """
        asked = list(ways)
        ids = list(dict.fromkeys(way if isinstance(way, str) else way.id for way in asked))
        self.read(scope, [way for way in asked if isinstance(way, EventRef)], records)
        unasked = [one for one in ids if one not in records.asked]
        found = self._memories(scope, unasked, records.newest) if unasked else {}
        records.memories |= self._then(scope, found, records.filters)
        own = {memory.id: memory for one in ids if (memory := records.memories.get(one)) is not None}
        records.memories |= own
        records.asked.update([*unasked, *own])
        missing = [one for one in dict.fromkeys(map(records.own_id, ids)) if one not in records.events]
        self.read(scope, [own[one].ref for one in missing if one in own], records)
        self._find(scope, [one for one in missing if one not in own], records)

    def _there(self, scope: Scope, places: Mapping[str, EventRef], ids: Sequence[str]) -> dict[str, Event]:
        return self._timeline.read(scope, [places[one] for one in ids])

    def _find(self, scope: Scope, ids: Sequence[str], records: Records) -> None:
        """Events of which nothing but the id is known."""
        begun = [self._concurrency.submit(partial(self._timeline.find, scope, one)) for one in ids]
        records.events |= {event.id: event for found in begun if (event := found.result()) is not None}

    def _then(self, scope: Scope, found: Mapping[str, Memory], filters: SearchFilters | None) -> dict[str, Memory]:
        """The memories that were there for who asks of the past; an event without one then is itself."""
        memories = dict(found)
        if filters is None:
            return memories
        if filters.recorded_as_of is not None:
            memories = self._past(scope, memories, filters.recorded_as_of)
        if filters.as_of is None:
            return memories
        return {i: one for i, one in memories.items() if one.id == i or one.valid_from <= filters.as_of}


def _read(read: Callable[[Sequence[str]], dict[str, V]], ids: Sequence[str], records: Records) -> dict[str, V]:
    return read(ids) if records.unreadable is None else read_around(read, ids, records.unreadable)


def _parts(ids: Sequence[str], newest: NewestMemories) -> list[list[str]]:
    """What is known but for where it leads, and then the rest, call by call."""
    told = [one for one in ids if one in newest.items]
    untold = [one for one in ids if not newest.tells(one)]
    parts = [untold[start : start + _AT_ONCE] for start in range(0, len(untold), _AT_ONCE)]
    return [told, *parts] if told else parts


Slot = tuple[str, str, str]


@dataclass(slots=True)
class SlotsAsOf:
    """One reader's view: the newest of each slot among what is not projected yet, and the histories read so far.

    Asked of the present, an event itself says whether it is its slot's value. Asked of the past, only one that
    something newer superseded since needs its slot's history, and a bounded value does: each is read once, side by side
    with others. Where `more_wait` than were given, a newer value may be among those: then the slot of every keyed event
    is read, with all that was said of it.
    """

    timeline: Timeline
    concurrency: Concurrency
    scope: Scope
    filters: SearchFilters
    newest: dict[Slot, Event] = field(default_factory=dict)
    more_wait: bool = False
    _histories: dict[Slot, list[SlotEntry]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        timeline: Timeline,
        concurrency: Concurrency,
        scope: Scope,
        filters: SearchFilters,
        tail: Iterable[Event],
        *,
        more_wait: bool = False,
    ) -> "SlotsAsOf":
        """The view of who asks with these filters; `tail` are the newest events that are not projected yet."""
        counted = newest_of_slots((event for event in tail if _counts(event, filters)), filters.moment)
        return cls(timeline, concurrency, scope, filters, counted, more_wait)

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
        """The slot whose history is asked: always where no record may say that the value was replaced."""
        if self.more_wait or bound_of(event) is not None:
            return named_slot(event)
        return slot_of(event) if self.filters.looks_back and event.superseded_by is not None else None

    def _read(self, slots: Iterable[Slot]) -> None:
        unread = [slot for slot in dict.fromkeys(slots) if slot not in self._histories]
        begun = {s: self.concurrency.submit(partial(self.timeline.slot_history, self.scope, s)) for s in unread}
        said = {s: self.concurrency.submit(partial(self._said, s)) for s in unread} if self.more_wait else {}
        self._histories |= {slot: found.result() for slot, found in begun.items()}
        for slot, events in said.items():
            self._take(slot, events.result())

    def _said(self, slot: Slot) -> list[Event]:
        return [event for event in self.timeline.of_slot(self.scope, slot) if _counts(event, self.filters)]

    def _take(self, slot: Slot, events: list[Event]) -> None:
        """What was said of the slot, as its projection will enter it in the history."""
        newest = self.newest.get(slot)
        self.newest |= newest_of_slots([*events, *([newest] if newest else [])], self.filters.moment)
        history = self._histories[slot]
        known = {entry.ref.id for entry in history}
        history += [entry_of(event) for event in events if event.id not in known and bound_of(event) is None]


def _counts(event: Event, filters: SearchFilters) -> bool:
    said = filters.as_of is None or event.timestamp <= filters.as_of
    return said and (filters.recorded_as_of is None or event.recorded_at <= filters.recorded_as_of)
