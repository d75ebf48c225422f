"""Reading records back: events, and in the same wave the memories made of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from recollect.application.read_memories import ReadMemories
from recollect.domain.event import Event, EventRef
from recollect.domain.memory import Memory
from recollect.domain.memory_items import MEMORIES, SAME_AS, memory_in
from recollect.domain.representation import represented
from recollect.domain.scope import Scope
from recollect.ports import Concurrency, Items, Timeline


@dataclass(slots=True)
class Records:
    """What was read so far: events as they are, and the memory of each that has one, both by the event's id.

    `asked` are the ids of which it is known whether they have a memory.
    """

    events: dict[str, Event]
    memories: dict[str, Memory] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)

    def shown(self, event: Event) -> Event:
        """The event as readers see it: in the words of its memory, where that has been looked up."""
        return represented(event, self.memories.get(event.id))

    def repeated(self, ids: Iterable[str]) -> set[str]:
        """Those whose memory an id before them shows already: they are one result."""
        seen: set[str] = set()
        again: set[str] = set()
        for record_id in ids:
            memory = self.memories.get(record_id)
            identity = memory.id if memory else record_id
            if identity in seen:
                again.add(record_id)
            seen.add(identity)
        return again


class RecordReading:
    """Two batches side by side, and only what was not read before."""

    def __init__(self, timeline: Timeline, items: Items, concurrency: Concurrency) -> None:
        self._timeline = timeline
        self._items = items
        self._memories = ReadMemories(items)
        self._concurrency = concurrency

    def newest_memories(self, scope: Scope, limit: int) -> list[EventRef]:
        """The records of the memories made last: those that were saved directly are in no other list."""
        page = self._items.page(scope.user, MEMORIES, limit, None, descending=True)
        return [memory_in(item.value).ref for item in page.items if SAME_AS not in item.value]

    def read(self, scope: Scope, refs: Sequence[EventRef], records: Records) -> None:
        """Adds to `records` what is there of these."""
        unread = {ref.id: ref for ref in refs if ref.id not in records.events}
        unasked = [i for i in dict.fromkeys(ref.id for ref in refs) if i not in records.asked]
        found = self._concurrency.submit(lambda: self._memories(scope, unasked)) if unasked else None
        if unread:
            records.events |= self._timeline.read(scope, list(unread.values()))
        if found is not None:
            records.memories |= found.result()
        records.asked.update(unasked)
