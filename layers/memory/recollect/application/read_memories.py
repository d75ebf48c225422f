"""Memories by the ids of their records, in one batch."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from recollect.domain.event import Event
from recollect.domain.items import Item
from recollect.domain.memory import Memory
from recollect.domain.memory_items import MEMORIES, SAME_AS, memory_in, memory_key
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
    ) -> dict[str, KeptMemory]:
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
        return {i: KeptMemory(memory_in(item.value), item) for i, item in whole.items()}

    def items(self, scope: Scope, record_ids: Iterable[str]) -> dict[str, Item]:
        """What is kept under these ids: memories, and what leads to them."""
        keys = [memory_key(record_id) for record_id in dict.fromkeys(record_ids)]
        found = self._items.get(scope.user, keys) if keys else {}
        return {key.key: item for key, item in found.items()}

    def _items_of(self, scope: Scope, record_ids: Iterable[str], newest: NewestMemories) -> dict[str, Item]:
        wanted = list(record_ids)
        told = {one: newest.items[one] for one in wanted if one in newest.items}
        return told | self.items(scope, (one for one in wanted if not newest.tells(one)))
