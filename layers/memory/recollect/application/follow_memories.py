"""What `project` does with memories: promotes, tells the index's state, clears up after what is gone."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime

from recollect.application.forget_memories import ForgetMemories
from recollect.application.promote_memories import NOTHING_READ, PromoteMemories
from recollect.application.read_memories import KeptMemory, ReadMemories
from recollect.domain.errors import Conflict, VersionMismatch
from recollect.domain.event import Event
from recollect.domain.items import ItemWrite
from recollect.domain.memory_items import versions_path
from recollect.domain.memory_writes import shown_write
from recollect.domain.rules import Rules
from recollect.domain.scope import Scope
from recollect.ports import Items

_PAGE = 25
_TRIES = 8


class FollowMemories:
    """The part of `project` that memories need."""

    def __init__(self, items: Items, promote: PromoteMemories, forget: ForgetMemories) -> None:
        self._items = items
        self._promote = promote
        self._forget = forget
        self._read = ReadMemories(items)

    def __call__(
        self,
        scope: Scope,
        events: Sequence[Event],
        rules: Rules,
        now: datetime,
        read: Mapping[str, KeptMemory | None] = NOTHING_READ,
    ) -> dict[str, KeptMemory]:
        """Promotes; the memories of these events as they are then, those of `read` as they were read or written."""
        return self._promote(scope, events, rules, now, read).memories

    def read(self, scope: Scope, events: Sequence[Event]) -> dict[str, KeptMemory]:
        """The memories that there are."""
        return self._read.kept(scope, [event.id for event in events])

    def changed(self, scope: Scope, known: Mapping[str, KeptMemory | None]) -> set[str]:
        """Those whose memory is another version now than the one that the index was told of."""
        now_kept = self._read.kept(scope, known)
        return {i for i, kept in known.items() if _version(now_kept.get(i)) != _version(kept)}

    def shown(self, scope: Scope, kept: Sequence[KeptMemory], now: datetime) -> None:
        """The index shows these: they are no longer due, unless they were changed since."""
        for one in kept:
            if one.item.due is not None:
                with suppress(VersionMismatch):
                    self._items.write(scope.user, [shown_write(one.item)], now)

    def forget(self, scope: Scope, record_ids: Sequence[str], now: datetime) -> None:
        """Removes what was made of records that are gone, by a promotion that came too late too."""
        for record_id in record_ids:
            self._clear(scope, record_id, now)
            while page := self._items.page(scope.user, versions_path(record_id), _PAGE, None).items:
                self._items.write(scope.user, [ItemWrite(item.key, None) for item in page], now)

    def _clear(self, scope: Scope, record_id: str, now: datetime) -> None:
        for _ in range(_TRIES):
            writes = self._forget.hanging(scope, record_id, now)
            try:
                if writes:
                    self._items.write(scope.user, writes, now)
                return
            except VersionMismatch:
                continue
        raise Conflict("a memory changes all the time")


def _version(kept: KeptMemory | None) -> int:
    return kept.item.version if kept else 0
