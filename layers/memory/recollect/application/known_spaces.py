"""The spaces of a user: what a query may name (R-22, api.md *Read*).

| collection | owner | key      | value |
|------------|-------|----------|-------|
| `spaces`   | user  | space id | `{}`  |

A space is noted when an event of it is projected; private events tell nothing. It stays noted when its last event is
deleted, and goes with the user.
"""

from collections import OrderedDict
from collections.abc import Iterable
from datetime import datetime, timedelta

from recollect.domain.event import Event
from recollect.domain.items import ItemKey, ItemPath, ItemWrite
from recollect.domain.scope import Scope
from recollect.ports import Items

SPACES = ItemPath("spaces")
_AT_ONCE = 25
_PAGE = 1000
_REMEMBERED = 10_000
_REMEMBERED_FOR = timedelta(minutes=5)
"""After that a process looks again: another one may have erased the user."""


class KnownSpaces:
    """One read in five minutes of a process for each space, one write the first time at all; none without spaces."""

    def __init__(self, items: Items) -> None:
        self._items = items
        self._noted: OrderedDict[tuple[str, str, str], datetime] = OrderedDict()

    def note(self, scope: Scope, events: Iterable[Event], now: datetime) -> None:
        """Notes the spaces of these events."""
        named = dict.fromkeys(e.space_id for e in events if e.space_id is not None and not e.is_private)
        unknown = [space for space in named if not self._is_noted(scope, space, now)]
        for start in range(0, len(unknown), _AT_ONCE):
            self._write(scope, unknown[start : start + _AT_ONCE], now)

    def of(self, scope: Scope) -> frozenset[str]:
        """The first 1,000 spaces of the user, in the order of their ids."""
        page = self._items.page(scope.user, SPACES, _PAGE, None)
        return frozenset(item.key.key for item in page.items)

    def _is_noted(self, scope: Scope, space: str, now: datetime) -> bool:
        at = self._noted.get((scope.tenant, scope.user_id, space))
        return at is not None and now - at < _REMEMBERED_FOR

    def _write(self, scope: Scope, spaces: list[str], now: datetime) -> None:
        keys = [ItemKey(SPACES, space) for space in spaces]
        there = self._items.get(scope.user, keys)
        missing = [ItemWrite(key, {}) for key in keys if key not in there]
        if missing:
            self._items.write(scope.user, missing, now)
        for space in spaces:
            self._noted[scope.tenant, scope.user_id, space] = now
        while len(self._noted) > _REMEMBERED:
            self._noted.popitem(last=False)
