"""Takes a merger apart again: the memory that held both parts gets back the words that it had before (P-24)."""

from collections.abc import Collection, Iterator
from dataclasses import replace

from recollect.application.merge_parts import sources_of
from recollect.domain.memory import Memory, Origin
from recollect.domain.memory_items import memory_in, versions_path
from recollect.domain.scope import Scope
from recollect.ports import Items, Timeline

_PAGE = 20


class PartMemories:
    """Reads the memory's history: what it said before it took the other one's part."""

    def __init__(self, timeline: Timeline, items: Items) -> None:
        self._timeline = timeline
        self._items = items

    def __call__(self, scope: Scope, merged: Memory, older: Memory) -> Memory:
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
