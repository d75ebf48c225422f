"""Memories deleted by a filter: counted first or deleted at once, in calls that each go on where the last one ended."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from recollect.core.errors import NotFound
from recollect.core.scope import Scope
from recollect.deletion.forget_events import ForgetEvents
from recollect.memories.audit import Actor
from recollect.memories.memory import Memory
from recollect.memories.reading import ListMemories, MemoryQuery

MOST_AT_ONCE = 500
"""Memories of one call."""
_DELETED_A_PAGE = 25
_COUNTED_A_PAGE = 200
_MOST_PAGES = 40


@dataclass(frozen=True, slots=True)
class Matching:
    """Which memories are meant: at most `limit`, from `after` on; no page is begun once no seconds are left."""

    query: MemoryQuery
    limit: int
    after: str | None
    seconds_left: Callable[[], float]


@dataclass(frozen=True, slots=True)
class Matched:
    """The memories that a call found, or deleted, the last made first; `more` is where the next call goes on."""

    memory_ids: tuple[str, ...]
    more: str | None


@dataclass(eq=False)
class ForgetMatching:
    """Deletes each memory by itself: with the events it was made from, their tombstones and an audit entry.

    A call that is broken off may be made again: what is gone matches no more.
    """

    _memories: ListMemories
    _events: ForgetEvents

    def count(self, scope: Scope, matching: Matching, now: datetime) -> Matched:
        """Those that match, a part of them where a call cannot look at all."""
        return self._walk(scope, matching, now, _COUNTED_A_PAGE, lambda _: True)

    def delete(self, scope: Scope, matching: Matching, now: datetime, actor: Actor) -> Matched:
        """Deletes those that match, and names those that it deleted."""

        def forget(memory: Memory) -> bool:
            try:
                self._events.memory(scope, memory, now=now, actor=actor)
            except NotFound:  # it went meanwhile, or with the events of another
                return False
            return True

        return self._walk(scope, matching, now, _DELETED_A_PAGE, forget)

    def _walk(
        self, scope: Scope, matching: Matching, now: datetime, size: int, take: Callable[[Memory], bool]
    ) -> Matched:
        found: list[str] = []
        after = matching.after
        for _ in range(_MOST_PAGES):
            page = self._memories.page(scope, matching.query, min(size, matching.limit - len(found)), after, now)
            found += [memory.id for memory in page.memories if take(memory)]
            after = page.more
            if after is None or len(found) >= matching.limit or matching.seconds_left() <= 0:
                break
        return Matched(tuple(found), after)
