"""Steps of tests of contradictions: say things on given days, project, and ask what is current."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from embedded.setting import ANNA, Memory
from recollect.core.scope import Scope
from recollect.memories.memory import Memory as Remembered
from recollect.memories.memory import MemoryStatus
from recollect.memories.reading import MemoryQuery
from recollect.timeline.record import EventDraft

MONDAY = datetime(2024, 4, 1, 9, tzinfo=UTC)
DAY = timedelta(days=1)


def on(day: float, content: str, key: str | None = None, speaker: str | None = None) -> EventDraft:
    """What was said so many days after that Monday."""
    return EventDraft(content=content, timestamp=MONDAY + day * DAY, key=key, speaker=speaker)


def say(memory: Memory, *drafts: EventDraft, scope: Scope = ANNA) -> list[str]:
    """Ingests and projects each by itself; their ids."""
    ids: list[str] = []
    for draft in drafts:
        memory.add(draft, scope=scope)
        settle(memory)
        ids.append(memory.ids[-1])
    return ids


def settle(memory: Memory) -> None:
    """Projects until nothing is pending."""
    for _ in range(6):
        if not memory.project():
            return


def remembered(memory: Memory, scope: Scope = ANNA) -> dict[str, Remembered]:
    """All memories by id, whatever became of them."""
    page = memory.app.memories.listing.page(scope, MemoryQuery(), 200, None, memory.now)
    return {one.id: one for one in page.memories}


def statuses(memory: Memory, ids: Sequence[str], scope: Scope = ANNA) -> list[MemoryStatus | None]:
    """What became of each; None where it is no memory."""
    found = remembered(memory, scope)
    return [found[i].status if i in found else None for i in ids]


def recalled(memory: Memory, text: str) -> list[str]:
    """What a search shows, best first: the words of memories, where there are any."""
    results = memory.search(text).results
    return [(result.memory or result.event).content for result in results]
