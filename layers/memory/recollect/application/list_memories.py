"""Memories listed, and the history of one."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from recollect.application.read_memories import ReadMemories
from recollect.application.standing_memories import StandingMemories
from recollect.application.value_gate import Rejections, ValueGate
from recollect.domain.memory import Memory, MemoryStatus
from recollect.domain.memory_items import MEMORIES, SAME_AS, memory_in, versions_path
from recollect.domain.representation import in_words_of
from recollect.domain.scope import Scope
from recollect.ports import Items, Timeline

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
