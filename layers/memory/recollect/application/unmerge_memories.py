"""Takes a record out of what its memory was merged into: the part that came from it goes too (P-22, P-24)."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from recollect.application.merge_parts import moved_record, sources_of
from recollect.application.part_memories import PartMemories, in_words_of
from recollect.application.read_memories import KeptMemory, ReadMemories
from recollect.domain.items import Due, ItemWrite
from recollect.domain.memory import Memory, MemoryStatus, Origin
from recollect.domain.memory_items import memory_document, version_key
from recollect.domain.memory_writes import TO_PROJECT, changed_writes
from recollect.domain.scope import Scope
from recollect.ports import Items, Timeline

MOST_STEPS = 4
"""Memories that hand a part on to one another: each takes four writes of the 25 of one step."""

_AT_ONCE = 20


class UnmergeMemories:
    """What it answers is to be written in one step with the removal of the record.

    Else who was cut short in between would find a memory that names its source no longer, and leave that one there.
    """

    def __init__(self, timeline: Timeline, items: Items) -> None:
        self._items = items
        self._read = ReadMemories(items)
        self._part = PartMemories(timeline, items)

    def mergers(self, scope: Scope, memory: Memory) -> list[KeptMemory]:
        """The memory that this one was merged into, and what that was merged into. Nothing is read for most."""
        found: list[KeptMemory] = []
        while memory.status is MemoryStatus.MERGED and memory.superseded_by and len(found) < MOST_STEPS:
            kept = self._read.kept(scope, [memory.superseded_by]).get(memory.superseded_by)
            if kept is None or kept.memory.origin is not Origin.MERGED:
                break
            found.append(kept)
            memory = kept.memory
        return found

    def gone(self, scope: Scope, memory: Memory, mergers: Sequence[KeptMemory], now: datetime) -> list[ItemWrite]:
        """Nobody says any more what the memory says: what took it up gets its own words back.

        In its earlier versions the words are replaced at once.
        """
        lost = frozenset({memory.id, *sources_of(memory)})
        naming = [kept for kept in mergers if not lost.isdisjoint(kept.memory.source_event_ids)]
        return [write for kept in naming for write in self._parted(scope, kept, lost, now)]

    def dropped(self, event_id: str, mergers: Sequence[KeptMemory], now: datetime) -> list[ItemWrite]:
        """Others say the same: the event is no longer named as a source."""
        writes: list[ItemWrite] = []
        for kept in mergers:
            left = tuple(one for one in kept.memory.source_event_ids if one != event_id)
            if left != kept.memory.source_event_ids:
                after = replace(kept.memory, source_event_ids=left, version=kept.memory.version + 1)
                writes += changed_writes(kept.item, kept.memory, after, Due(TO_PROJECT, now))
        return writes

    def own(self, scope: Scope, merged: Memory) -> Memory:
        """A merged memory in its own words."""
        return self._part.own(scope, merged)

    def _parted(self, scope: Scope, kept: KeptMemory, lost: frozenset[str], now: datetime) -> list[ItemWrite]:
        after, plain = self._part.without(scope, kept.memory, lost), self._part.plain(scope, kept.memory)
        self._redact(scope, kept.memory, after, plain, lost, now)
        before = _redacted(kept.memory, after, plain, lost)
        moved = moved_record(self._items, scope, kept.memory, after)
        return [*changed_writes(kept.item, before, after, Due(TO_PROJECT, now)), *moved]

    def _redact(
        self, scope: Scope, merged: Memory, after: Memory, plain: Memory, lost: frozenset[str], now: datetime
    ) -> None:
        versions = [v for v in self._part.versions(scope, merged) if not lost.isdisjoint(v.source_event_ids)]
        writes = [
            ItemWrite(version_key(merged.id, one.version), memory_document(_redacted(one, after, plain, lost)))
            for one in versions
            if one.origin is Origin.MERGED
        ]
        for start in range(0, len(writes), _AT_ONCE):
            self._items.write(scope.user, writes[start : start + _AT_ONCE], now)


def _redacted(version: Memory, after: Memory, plain: Memory, lost: frozenset[str]) -> Memory:
    """An earlier version without the sources that are gone, in words that are none of theirs."""
    left = tuple(one for one in version.source_event_ids if one not in lost)
    if version.content == after.content:
        return replace(version, source_event_ids=left)
    return in_words_of(version, plain, left)
