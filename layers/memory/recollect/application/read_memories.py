"""Memories by the ids of their records, in one batch."""

from collections.abc import Iterable
from dataclasses import dataclass

from recollect.domain.event import Event
from recollect.domain.items import Item
from recollect.domain.memory import Memory
from recollect.domain.memory_items import SAME_AS, memory_in, memory_key
from recollect.domain.scope import Scope
from recollect.ports import Items

_MOST_STEPS = 4


@dataclass(frozen=True, slots=True)
class KeptMemory:
    """A memory with the version of its item, which a conditional write names."""

    memory: Memory
    item: Item

    def edits(self, event: Event) -> bool:
        """Whether it says something else than the event whose memory it is."""
        return self.memory.id == event.id and self.memory.content != event.content


class ReadMemories:
    """An event that was found to say the same as a memory leads to that memory, by one more read.

    By two, while a memory moves to the next of its events (`forget_memories`).
    """

    def __init__(self, items: Items) -> None:
        self._items = items

    def __call__(self, scope: Scope, record_ids: Iterable[str]) -> dict[str, Memory]:
        """The memory of each record that has one."""
        return {record_id: kept.memory for record_id, kept in self.kept(scope, record_ids).items()}

    def kept(self, scope: Scope, record_ids: Iterable[str]) -> dict[str, KeptMemory]:
        """The same, with what a conditional write needs; several records may lead to one memory."""
        asked = self.items(scope, record_ids)
        known, leads = dict(asked), dict(asked)
        for _ in range(_MOST_STEPS):
            ends = {i: str(item.value[SAME_AS]) for i, item in leads.items() if SAME_AS in item.value}
            if not ends:
                break
            missing = set(ends.values()) - known.keys()
            known |= self.items(scope, missing) if missing else {}
            leads = {i: item for i, item in leads.items() if i not in ends} | {
                i: known[end] for i, end in ends.items() if end in known
            }
        whole = {i: item for i, item in leads.items() if SAME_AS not in item.value}
        return {i: KeptMemory(memory_in(item.value), item) for i, item in whole.items()}

    def items(self, scope: Scope, record_ids: Iterable[str]) -> dict[str, Item]:
        """What is kept under these ids: memories, and what leads to them."""
        keys = [memory_key(record_id) for record_id in dict.fromkeys(record_ids)]
        found = self._items.get(scope.user, keys) if keys else {}
        return {key.key: item for key, item in found.items()}
