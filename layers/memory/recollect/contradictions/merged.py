"""A partial change: one memory holds both parts and names both sources; it is taken apart again (P-22, P-24)."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from recollect.contradictions.decisions import Decision, Verdict
from recollect.contradictions.ledger import Deciding, DecisionWriter
from recollect.core.items import ABSENT, Due, ItemKey, ItemWrite
from recollect.core.scope import Scope
from recollect.deletion.suppression import SuppressionList
from recollect.memories.memory import MOST_SOURCES, Lapse, Memory, MemoryStatus, Origin, content_identity
from recollect.memories.reading import ReadMemories, StoredMemory
from recollect.memories.storage import (
    TO_PROJECT,
    changed_writes,
    content_key,
    memory_document,
    memory_in,
    version_key,
    versions_path,
)
from recollect.ports import Items, Timeline
from recollect.text.omission import left_of


@dataclass(frozen=True, slots=True)
class Merger:
    """The memory that is merged into the newer one, as it is `after` that, and the decisions that say so."""

    older: StoredMemory
    newer: StoredMemory
    after: Memory
    decisions: Sequence[Decision]


class MergeParts:
    """The newer record's memory takes the text with the part replaced; the older one's stays, as merged into it."""

    def __init__(self, items: Items, decided: DecisionWriter) -> None:
        self._items = items
        self._decided = decided
        self._gate = SuppressionList(items)
        self._read = ReadMemories(items)

    def merge(self, by: Deciding, merger: Merger, part: Verdict) -> list[StoredMemory]:
        """Both memories as they are then. Raises VersionMismatch where one was changed meanwhile.

        What it took up from a record that is newer than `older` stays, so that the order of mergers does not count.
        """
        older, newer = merger.older.memory, merger.newer.memory
        told = newer.content if self._took_up_a_later_one(by.scope, newer, older) else part.relation.merged
        content = told or newer.content
        importance = max(older.importance, newer.importance)
        return self.into(by, merger, replace(newer, content=content, importance=importance))

    def into(self, by: Deciding, merger: Merger, merged: Memory) -> list[StoredMemory]:
        """The same with whatever the merged one shall say. Nothing where a rejected value would be in it (P-22)."""
        scope, due, older, newer = by.scope, Due(TO_PROJECT, by.now), merger.older, merger.newer
        if self._holds_rejected(scope, older.memory, newer.memory, merged):
            return []
        merged = with_both(older.memory, newer.memory, merged)
        after = replace(merger.after, version=older.memory.version + 1)
        entries = self._decided.decision_writes(by, merger.decisions, older.memory, after, merged)
        writes = [
            *changed_writes(older.item, older.memory, after, due),
            *changed_writes(newer.item, newer.memory, merged, due),
            *moved_record(self._items, scope, newer.memory, merged),
            *entries,
        ]
        written = self._items.write(scope.user, writes, by.now)
        pairs = zip((after, merged), (written[0], written[2]), strict=True)
        return [StoredMemory(memory, item) for memory, item in pairs if item is not None]

    def _took_up_a_later_one(self, scope: Scope, newer: Memory, older: Memory) -> bool:
        if newer.origin is not Origin.MERGED:
            return False
        taken = [one for one in newer.source_event_ids if one not in (newer.id, older.id)]
        memories = self._read.read(scope, taken).values() if taken else ()
        return any((one.timestamp, one.id) > (older.timestamp, older.id) for one in memories)

    def _holds_rejected(self, scope: Scope, *memories: Memory) -> bool:
        rejections = self._gate.load(scope)
        return bool(rejections) and any(rejections.shown_memory(memory) != memory for memory in memories)


def with_both(older: Memory, newer: Memory, merged: Memory) -> Memory:
    """What was merged in the newer memory's next version, with the sources of both, the oldest first.

    A memory that was saved directly is a source by itself.
    """
    sources = tuple(dict.fromkeys([*sources_of(older), *newer.source_event_ids]))[:MOST_SOURCES]
    lapses, version = _carried(newer, merged.content), newer.version + 1
    return replace(merged, source_event_ids=sources, origin=Origin.MERGED, lapses=lapses, version=version)


def _carried(before: Memory, content: str) -> tuple[Lapse, ...]:
    """What held over it as a whole holds over the new content; a part that ended, where the same words are there."""
    carried: list[Lapse] = []
    for lapse in before.lapses:
        part = before.content[lapse.start : lapse.end]
        whole = left_of(before.content, [(lapse.start, lapse.end)]) is None
        start = 0 if whole else content.find(part)
        end = len(content) if whole else start + len(part)
        carried += [replace(lapse, start=start, end=end)] if start >= 0 else []
    return tuple(carried)


def sources_of(memory: Memory) -> tuple[str, ...]:
    """The records that it was made from; its own where that carries it."""
    return memory.source_event_ids or (memory.id,)


def moved_record(items: Items, scope: Scope, before: Memory, after: Memory) -> list[ItemWrite]:
    """The record of the content follows; one that names another memory stays with that one."""
    old, new = _record(before), _record(after)
    found = items.get(scope.user, [old, new]) if old != new else {}
    own = found.get(old)
    left = [ItemWrite(old, None, own.version)] if own is not None and own.value["id"] == before.id else []
    made = [] if new in found or old == new else [ItemWrite(new, {"id": after.id}, ABSENT)]
    return [*left, *made]


def _record(memory: Memory) -> ItemKey:
    return content_key(content_identity(memory))


_PAGE = 20


class PartMemories:
    """Reads the memory's history: what it said before it took the other one's part."""

    def __init__(self, timeline: Timeline, items: Items) -> None:
        self._timeline = timeline
        self._items = items

    def part(self, scope: Scope, merged: Memory, older: Memory) -> Memory:
        """The merged memory in its next version, without what came from the older one.

        Words that it was given since, by a person or by another merger, stay; the source goes.
        """
        return self.without(scope, merged, {older.id, *sources_of(older)})

    def without(self, scope: Scope, merged: Memory, lost: Collection[str]) -> Memory:
        """The same by the ids of the records that it loses."""
        joined, plain = self._around(scope, merged, frozenset(lost))
        gone = frozenset(lost).difference(sources_of(plain))
        left = tuple(one for one in merged.source_event_ids if one not in gone)
        after = replace(merged, source_event_ids=left, version=merged.version + 1)
        if merged.content == joined.content:
            return in_words_of(after, plain, left)
        if set(left).difference(sources_of(plain)):
            return after
        return replace(after, source_event_ids=_still(plain, left), origin=plain.origin)

    def own(self, scope: Scope, merged: Memory) -> Memory:
        """The memory in the words that it had before anything was merged into it; itself where nothing was."""
        if merged.origin is not Origin.MERGED:
            return merged
        plain = self.plain(scope, merged)
        return in_words_of(merged, plain, plain.source_event_ids)

    def plain(self, scope: Scope, merged: Memory) -> Memory:
        """Its newest version before anything was merged into it."""
        versions = self.versions(scope, merged)
        return next((one for one in versions if one.origin is not Origin.MERGED), self._as_said(scope, merged))

    def _around(self, scope: Scope, merged: Memory, lost: frozenset[str]) -> tuple[Memory, Memory]:
        """The memory as it was when it took them up, and the last before that whose words are all there still."""
        joined, there = merged, frozenset(merged.source_event_ids)
        for version in self.versions(scope, merged):
            sources = frozenset(version.source_event_ids)
            if version.origin is not Origin.MERGED or (lost.isdisjoint(sources) and sources <= there):
                return joined, version
            joined = version if not lost.isdisjoint(sources) else joined
        return joined, self._as_said(scope, merged)

    def versions(self, scope: Scope, merged: Memory) -> Iterator[Memory]:
        """Newest first."""
        after: str | None = None
        while True:
            page = self._items.page(scope.user, versions_path(merged.id), _PAGE, after, descending=True)
            yield from (memory_in(item.value) for item in page.items)
            after = page.more
            if after is None:
                return

    def _as_said(self, scope: Scope, merged: Memory) -> Memory:
        """In its own record's words, where its history is cut short."""
        event = self._timeline.read(scope, [merged.ref]).get(merged.id)
        if event is None:
            return replace(merged, source_event_ids=(merged.id,), origin=Origin.EVENT, lapses=())
        origin, sources = (Origin.DIRECT, ()) if event.is_carrier else (Origin.EVENT, (event.id,))
        said = replace(merged, content=event.content, importance=event.importance, lapses=())
        return replace(said, origin=origin, source_event_ids=sources)


def in_words_of(memory: Memory, plain: Memory, left: Collection[str]) -> Memory:
    """The memory as an earlier version of it says it, with those of that one's sources that are left."""
    words = replace(memory, content=plain.content, importance=plain.importance, keywords=plain.keywords)
    return replace(words, source_event_ids=_still(plain, left), origin=plain.origin, lapses=plain.lapses)


def _still(plain: Memory, left: Collection[str]) -> tuple[str, ...]:
    return tuple(one for one in plain.source_event_ids if one in left)


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

    def mergers(self, scope: Scope, memory: Memory) -> list[StoredMemory]:
        """The memory that this one was merged into, and what that was merged into. Nothing is read for most."""
        found: list[StoredMemory] = []
        while memory.status is MemoryStatus.MERGED and memory.superseded_by and len(found) < MOST_STEPS:
            stored = self._read.stored(scope, [memory.superseded_by]).get(memory.superseded_by)
            if stored is None or stored.memory.origin is not Origin.MERGED:
                break
            found.append(stored)
            memory = stored.memory
        return found

    def gone(self, scope: Scope, memory: Memory, mergers: Sequence[StoredMemory], now: datetime) -> list[ItemWrite]:
        """Nobody says any more what the memory says: what took it up gets its own words back.

        In its earlier versions the words are replaced at once.
        """
        lost = frozenset({memory.id, *sources_of(memory)})
        naming = [stored for stored in mergers if not lost.isdisjoint(stored.memory.source_event_ids)]
        return [write for stored in naming for write in self._parted(scope, stored, lost, now)]

    def dropped(self, event_id: str, mergers: Sequence[StoredMemory], now: datetime) -> list[ItemWrite]:
        """Others say the same: the event is no longer named as a source."""
        writes: list[ItemWrite] = []
        for stored in mergers:
            left = tuple(one for one in stored.memory.source_event_ids if one != event_id)
            if left != stored.memory.source_event_ids:
                after = replace(stored.memory, source_event_ids=left, version=stored.memory.version + 1)
                writes += changed_writes(stored.item, stored.memory, after, Due(TO_PROJECT, now))
        return writes

    def own(self, scope: Scope, merged: Memory) -> Memory:
        """A merged memory in its own words."""
        return self._part.own(scope, merged)

    def _parted(self, scope: Scope, stored: StoredMemory, lost: frozenset[str], now: datetime) -> list[ItemWrite]:
        after, plain = self._part.without(scope, stored.memory, lost), self._part.plain(scope, stored.memory)
        versions = [v for v in self._part.versions(scope, stored.memory) if not lost.isdisjoint(v.source_event_ids)]
        redacted = [_redacted(one, after, plain, lost) for one in versions if one.origin is Origin.MERGED]
        writes = [ItemWrite(version_key(one.id, one.version), memory_document(one)) for one in redacted]
        for start in range(0, len(writes), _AT_ONCE):
            self._items.write(scope.user, writes[start : start + _AT_ONCE], now)
        before = _redacted(stored.memory, after, plain, lost)
        moved = moved_record(self._items, scope, stored.memory, after)
        return [*changed_writes(stored.item, before, after, Due(TO_PROJECT, now)), *moved]


def _redacted(version: Memory, after: Memory, plain: Memory, lost: frozenset[str]) -> Memory:
    """An earlier version without the sources that are gone, in words that are none of theirs."""
    left = tuple(one for one in version.source_event_ids if one not in lost)
    if version.content == after.content:
        return replace(version, source_event_ids=left)
    return in_words_of(version, plain, left)
