"""A memory in words that it had before: what of them had ended then stays ended, while what decided so holds (P-24)."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from recollect.contradictions.decisions import DecisionStatus, decision_in, decision_key, pair_id
from recollect.core.items import pages
from recollect.core.scope import Scope
from recollect.deletion.suppression import SuppressionList
from recollect.memories.memory import Memory, MemoryStatus, text_at
from recollect.memories.storage import memory_in, versions_path
from recollect.ports import Items

_PAGE = 50
_MOST_PAGES = 4


def words_that_held(memory: Memory, now: datetime) -> Memory:
    """A version of a memory without the parts that had ended; one that had ended as a whole is in all its words."""
    text = text_at(memory, now) if memory.status is MemoryStatus.ACTIVE and memory.lapses else None
    return memory if text is None else replace(memory, content=text, lapses=())


@dataclass(frozen=True, slots=True)
class EarlierWords:
    """An edit to other words reads the newest 200 versions of its memory at most."""

    items: Items

    def put_back(self, scope: Scope, before: Memory, after: Memory, now: datetime) -> Memory:
        """`after`, an edit of `before`, with all words of the version that was told in just these, and its lapses.

        So the words are told as they were, what ended of them can still count again, and the decision says the truth.
        """
        if after.content == before.content:
            return after
        told = (one for one in self._versions(scope, before) if one.lapses and _tells(one, after.content, now))
        version = next((one for one in told if self._is_whole(scope, before, one) and self._holds(scope, one)), None)
        return after if version is None else replace(after, content=version.content, lapses=version.lapses)

    def _versions(self, scope: Scope, before: Memory) -> Iterator[Memory]:
        """Newest first, with the one that is edited."""
        yield before
        if before.version == 1:
            return
        path = versions_path(before.id)
        newest_first = pages(
            lambda after: self.items.page(scope.user, path, _PAGE, after, descending=True), _MOST_PAGES
        )
        yield from (memory_in(item.value) for page in newest_first for item in page.items)

    def _is_whole(self, scope: Scope, before: Memory, version: Memory) -> bool:
        """Whether nothing of it is rejected, or comes from what the memory was made from then and is not now."""
        shown = SuppressionList(self.items).load(scope).shown_memory(version)
        return shown == version and version.source_event_ids == before.source_event_ids

    def _holds(self, scope: Scope, version: Memory) -> bool:
        """Whether every decision that ended a part of it does."""
        keys = [decision_key(pair_id(by, version.id)) for by in {one.by for one in version.lapses} - {version.id}]
        found = self.items.get(scope.user, keys) if keys else {}
        applied = [one for one in found.values() if decision_in(one.value).status is DecisionStatus.APPLIED]
        return len(applied) == len(keys)


def _tells(version: Memory, content: str, now: datetime) -> bool:
    return version.status is MemoryStatus.ACTIVE and text_at(version, now) == content
