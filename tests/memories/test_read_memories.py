"""The newest memories, read in one piece, spare look-ups against a network and change no answer."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from embedded.memory_items import patch
from embedded.setting import ANNA, NOON, AsANetworkWants, Memory, with_parts
from recollect.context.build import ContextAnswer
from recollect.core.event import EventRef
from recollect.core.items import Item, ItemKey, ItemPage, ItemPath
from recollect.core.scope import Scope
from recollect.memories.reading import NewestMemories, ReadMemories
from recollect.memories.storage import MEMORIES, memory_key
from recollect.ports import Items
from recollect.retrieval.hydrate import RecordReading, Records
from recollect.timeline.record import EventDraft

SAYINGS = ("Anna lives in Lyon", "Anna bakes bread", "Anna plants a tree", "Anna sings on Sundays")


class Asked:
    """Items that keep what was asked of them."""

    def __init__(self, items: Items) -> None:
        self._items = items
        self.calls: list[list[str]] = []
        self.pages = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._items, name)

    def get(self, owner: Scope, keys: Sequence[ItemKey]) -> dict[ItemKey, Item]:
        """As the port says."""
        self.calls.append([key.key for key in keys])
        return self._items.get(owner, keys)

    def page(self, owner: Scope, path: ItemPath, *more: Any, **how: Any) -> ItemPage:
        """As the port says."""
        self.pages += path == MEMORIES
        return self._items.page(owner, path, *more, **how)


def lived(memory: Memory) -> Memory:
    """Memories, events without one, words said twice, an edit, a superseded value, a deletion; some not projected."""
    for day in range(36):
        importance = 0.9 if day % 3 else 0.3
        key = "mood" if day % 12 == 5 else None
        text = f"mood {day} in Lyon" if key else f"{SAYINGS[day % 4]}{'' if day % 5 else f' {day}'}"
        memory.add(EventDraft(content=text, importance=importance, key=key, timestamp=NOON.replace(day=1 + day % 28)))
        if day % 7 == 6 and day < 30:
            memory.project()
    read = ReadMemories(memory.app.parts.items).stored(ANNA, memory.ids)
    edited, removed = list({kept.memory.id for kept in read.values() if kept.memory.key is None})[:2]
    patch(memory, edited, content="Anna moved to Oslo")
    memory.app.deletion.events.forget(ANNA, now=memory.now, event_id=removed)
    return memory


def answers(memory: Memory) -> list[str]:
    """What some questions find and show: all of it, since vectors cannot be compared by themselves."""
    asked = ("Lyon", "bread", "Oslo", "mood in Lyon", "songs")
    contexts = [memory.context(text, conversation_id="c1") for text in asked]
    return [*(repr(memory.search(text)) for text in asked), *(repr(_in_order(context)) for context in contexts)]


def _in_order(context: ContextAnswer) -> ContextAnswer:
    """With what was read by id in the ids' order: it comes in parts."""
    recalled = context.gathered.recalled
    memories = dict(sorted(recalled.memories.items()))
    gathered = replace(context.gathered, recalled=replace(recalled, memories=memories))
    return replace(context, gathered=gathered, seconds=0.0)


@pytest.mark.spec("P-1", "P-19")
@pytest.mark.parametrize("count", [1, 3, 7, 1000])
def test_however_many_are_read_at_once_the_answers_are_the_same(
    memory: Memory, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    lived(memory)
    one_by_one = answers(memory)
    monkeypatch.setattr(RecordReading, "newest", lambda one, scope, _: one._memories.newest(scope, count))
    items = Asked(memory.app.parts.items)
    assert answers(with_parts(memory, concurrency=AsANetworkWants(), items=items)) == one_by_one
    assert items.pages > 0


def test_in_the_process_nothing_is_read_in_advance(memory: Memory) -> None:
    lived(memory)
    items = Asked(memory.app.parts.items)
    with_parts(memory, items=items).search("Lyon")
    assert (items.pages, bool(items.calls)) == (0, True)


@pytest.mark.parametrize("count", [1, 2, 5, 1000])
def test_what_is_told_is_not_asked_again(memory: Memory, count: int) -> None:
    lived(memory)
    items = Asked(memory.app.parts.items)
    read = ReadMemories(items)
    newest = read.newest(ANNA, count)
    assert newest.since == ("" if count == 1000 else min(newest.items))
    known = read.stored(ANNA, memory.ids, newest)
    asked = [one for call in items.calls for one in call]
    assert not [one for one in asked if newest.tells(one)]
    assert known == read.stored(ANNA, memory.ids)
    assert not NewestMemories().tells(memory.ids[0])


def test_a_user_without_memories_is_asked_for_none(memory: Memory) -> None:
    memory.add(*(EventDraft(content=f"remark {n}", importance=0.3, timestamp=NOON) for n in range(5)))
    memory.project()
    items = Asked(memory.app.parts.items)
    asked = with_parts(memory, items=items, concurrency=AsANetworkWants())
    assert len(asked.search("remark").results) == 5
    assert not [one for call in items.calls for one in call if one in memory.ids]


def test_more_than_a_call_takes_are_asked_for_side_by_side(memory: Memory) -> None:
    items = Asked(memory.app.parts.items)
    reading = RecordReading(memory.app.parts.timeline, items, memory.app.parts.concurrency)
    refs = [EventRef(f"{n:032}", NOON) for n in range(250)]
    reading.read(ANNA, refs, Records({}))
    assert sorted(len(call) for call in items.calls) == [50, 100, 100]
    assert {memory_key(one).key for call in items.calls for one in call} == {ref.id for ref in refs}
