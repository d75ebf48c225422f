"""Memories in the versions that were in force at an instant of the store's own time (api.md, *Time*)."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial

from recollect.domain.memory import Memory, MemoryStatus
from recollect.domain.memory_items import memory_in, versions_path
from recollect.domain.scope import Scope
from recollect.ports import Concurrency, Items

_PAGE = 100
_MOST_PAGES = 10
_GONE = (MemoryStatus.REJECTED, MemoryStatus.EXPIRED)


class PastVersions:
    """A version's item is written when the next one is: of those written later the oldest was in force.

    A memory that never changed asks nothing; of the others each asks for its versions, the newest first, side by side.
    Raises what the items raise.
    """

    def __init__(self, items: Items, concurrency: Concurrency) -> None:
        self._items = items
        self._concurrency = concurrency

    def __call__(self, scope: Scope, memories: Mapping[str, Memory], moment: datetime) -> dict[str, Memory]:
        """The memories as they were, by the same ids; without those that were not known by then.

        What is expired or rejected by now stays so.
        """
        known = {record_id: one for record_id, one in memories.items() if one.recorded_at <= moment}
        changed = {one.id: one for one in known.values() if one.version > 1 and one.status not in _GONE}
        begun = {i: self._concurrency.submit(partial(self._then, scope, one, moment)) for i, one in changed.items()}
        then = {memory_id: found.result() for memory_id, found in begun.items()}
        return {record_id: then.get(one.id, one) for record_id, one in known.items()}

    def _then(self, scope: Scope, memory: Memory, moment: datetime) -> Memory:
        found, after = memory, None
        for _ in range(_MOST_PAGES):
            page = self._items.page(scope.user, versions_path(memory.id), _PAGE, after, descending=True)
            for item in page.items:
                if item.updated_at <= moment:
                    return found
                found = replace(memory_in(item.value), expires_at=memory.expires_at)
            after = page.more
            if after is None:
                break
        return found
