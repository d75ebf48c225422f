"""The users of a tenant that have a memory: what a snapshot, a job and an operator walk.

| collection | owner  | key     | value |
|------------|--------|---------|-------|
| `users`    | tenant | user id | `{}`  |
"""

import time
from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime

from recollect.domain.errors import VersionMismatch
from recollect.domain.items import ABSENT, ItemKey, ItemPath, ItemWrite, of_tenant
from recollect.domain.scope import Scope
from recollect.ports import Items

USERS = ItemPath("users")
_REMEMBERED = 10_000
_REMEMBERED_SECONDS = 300.0
"""After that a process looks again: another one may have erased the user."""


@dataclass(frozen=True, slots=True)
class UserPage:
    """Users in the order of their ids; `more` where the next page goes on."""

    user_ids: tuple[str, ...]
    more: str | None


class KnownUsers:
    """A user is noted when something of theirs is projected, and taken off by an erasure."""

    def __init__(self, items: Items) -> None:
        self._items = items
        self._noted: OrderedDict[tuple[str, str], float] = OrderedDict()

    def note(self, scope: Scope, now: datetime) -> None:
        """Notes the user; one read in five minutes of a process, one write the first time at all."""
        known = (scope.tenant, scope.user_id)
        if time.monotonic() - self._noted.get(known, -_REMEMBERED_SECONDS) < _REMEMBERED_SECONDS:
            return
        owner, key = of_tenant(scope.tenant), ItemKey(USERS, scope.user_id)
        if not self._items.get(owner, [key]):
            self._write(owner, ItemWrite(key, {}, ABSENT), now)
        self._noted[known] = time.monotonic()
        if len(self._noted) > _REMEMBERED:
            self._noted.popitem(last=False)

    def page(self, tenant: str, limit: int, after: str | None) -> UserPage:
        """The tenant's users."""
        page = self._items.page(of_tenant(tenant), USERS, limit, after)
        return UserPage(tuple(item.key.key for item in page.items), page.more)

    def forget(self, scope: Scope, now: datetime) -> None:
        """Takes the user off the list; what comes later notes them again."""
        self._noted.pop((scope.tenant, scope.user_id), None)
        self._items.write(of_tenant(scope.tenant), [ItemWrite(ItemKey(USERS, scope.user_id), None)], now)

    def _write(self, owner: Scope, write: ItemWrite, now: datetime) -> None:
        try:
            self._items.write(owner, [write], now)
        except VersionMismatch:
            return  # somebody else was faster
