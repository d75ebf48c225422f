"""Steps of tests of contradictions: say things on given days, project, and ask what is current."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from embedded.setting import ANNA, Memory
from recollect.app import App
from recollect.core.scope import Scope
from recollect.memories.memory import Memory as Remembered
from recollect.memories.memory import MemoryStatus
from recollect.memories.reading import MemoryQuery
from recollect.timeline.record import EventDraft
from recollect.timeline.timeline import PendingEvent

MONDAY = datetime(2024, 4, 1, 9, tzinfo=UTC)
DAY = timedelta(days=1)


def on(day: float, content: str, key: str | None = None, speaker: str | None = None) -> EventDraft:
    """What was said so many days after that Monday."""
    return EventDraft(content=content, timestamp=MONDAY + day * DAY, key=key, speaker=speaker)


class Telling:
    """A story told to one user: in which order its statements arrive, and what is projected when."""

    def __init__(self, memory: Memory, scope: Scope, story: Sequence[EventDraft]) -> None:
        self.memory, self.scope, self.story = memory, scope, story
        self.ids: dict[int, str] = {}

    def arrive(self, *places: int) -> None:
        for place in places:
            self.memory.add(self.story[place], scope=self.scope)
            self.ids[place] = self.memory.ids[-1]

    def project(self, places: Sequence[int], by: App | None = None) -> None:
        markers = [PendingEvent(self.scope, self._event(place).ref) for place in places]
        (by or self.memory.app).projection.events.project(markers, self.memory.now)

    def drain(self) -> None:
        for _ in range(20):
            if not self.memory.project():
                return
        raise AssertionError("it comes to no end")

    @property
    def places(self) -> dict[str, int]:
        """Of each event that arrived, by its id."""
        return {event_id: place for place, event_id in self.ids.items()}

    def _event(self, place: int) -> Any:
        event = self.memory.app.parts.timeline.find(self.scope, self.ids[place])
        assert event is not None
        return event


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
