"""Memories whose states are written as settlement writes them, for tests of what reads make of them."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from embedded.memory_items import save
from embedded.setting import ANNA, NOON, Memory
from recollect.core.items import Due
from recollect.memories.memory import Lapse, MemoryStatus
from recollect.memories.memory import Memory as Kept
from recollect.memories.reading import ReadMemories
from recollect.memories.storage import TO_PROJECT, changed_writes
from recollect.retrieval.ranking import Mode
from recollect.retrieval.search import SearchAnswer, SearchResult

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


def kept(memory: Memory, content: str, days: float = 0, **more: Any) -> Kept:
    """A memory of some days after noon, saved and recorded then."""
    memory.now = NOON + days * DAY
    return save(memory, content, timestamp=memory.now, **more).memory


def change(memory: Memory, memory_id: str, **changes: Any) -> Kept:
    """Writes the memory's next version now, as settlement does."""
    parts = memory.app.parts
    found = ReadMemories(parts.items).stored(ANNA, [memory_id])[memory_id]
    after = replace(found.memory, **changes, version=found.memory.version + 1)
    writes = changed_writes(found.item, found.memory, after, Due(TO_PROJECT, memory.now))
    parts.items.write(ANNA.user, writes, memory.now)
    parts.projections.mark(ANNA, [after.ref])
    return after


def supersede(memory: Memory, old: Kept, new: Kept, status: MemoryStatus = MemoryStatus.SUPERSEDED) -> Kept:
    """The newer one holds from its timestamp on; of a retraction from ever."""
    ends = old.valid_from if status is MemoryStatus.RETRACTED else new.timestamp
    return change(memory, old.id, status=status, superseded_by=new.id, valid_to=ends, settled_by="home")


def lapse(memory: Memory, old: Kept, new: Kept, until: datetime | None, end: int | None = None) -> Kept:
    """The newer one holds over the older, or its first characters, from its timestamp on."""
    length = len(old.content) if end is None else end
    one = Lapse(by=new.id, start=0, end=length, since=new.timestamp, until=until, rule="home")
    return change(memory, old.id, lapses=(one,))


def texts(answer: SearchAnswer) -> list[str]:
    """What is shown, best first."""
    return [said(one) for one in answer.results]


def said(result: SearchResult) -> str:
    """The words of a result."""
    return result.memory.content if result.memory else result.event.content


def found(memory: Memory, text: str, **more: Any) -> list[str]:
    """What a search shows; the counts must hold, whatever it is."""
    answer = memory.search(text, **more)
    adds_up(answer)
    return texts(answer)


def by_words(memory: Memory, text: str, **more: Any) -> list[str]:
    """What a search for these words shows."""
    return found(memory, text, mode=Mode.LEXICAL, **more)


def adds_up(answer: SearchAnswer) -> None:
    """Every record that was considered is matched or dropped, and what is shown was matched."""
    seen = answer.diagnostics
    assert seen.filtered_count == sum(seen.dropped.values()), seen
    assert seen.returned_count <= seen.matched_count, seen
    assert all(count > 0 for count in seen.dropped.values()), seen


def items(memory: Memory, text: str, **more: Any) -> Sequence[str]:
    """The contents of a context's items."""
    return [one.item.content for one in memory.context(text, **more).prompt.memories]


class Counted:
    """Stands before a part and notes each call of it by name."""

    def __init__(self, part: object, calls: list[str]) -> None:
        self._part, self._calls = part, calls

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._part, name)

        def noted(*given: Any, **named: Any) -> Any:
            self._calls.append(name)
            return call(*given, **named)

        return noted if callable(call) else call
