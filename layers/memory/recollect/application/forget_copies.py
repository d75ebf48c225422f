"""Copies: what was imported from a record elsewhere in the tenant goes when the record goes (P-22)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from recollect.domain.copies import COPIES, copied_ref, copies_path
from recollect.domain.event import EventRef
from recollect.domain.items import MOST_WRITES, Item, ItemPath, ItemWrite, of_tenant
from recollect.domain.record_line import RecordOrigin
from recollect.domain.scope import Scope
from recollect.ports import Items

_PAGE = 100


@dataclass(frozen=True, slots=True)
class ForgottenCopies:
    """How many copies went; `last` where there are no more."""

    forgotten: int
    last: bool


class ForgetCopies:
    """`forget` deletes a record of a user as a user's own deletion does; one that is gone already is no error.

    An entry goes after its copy: what was cut short is found again.
    """

    def __init__(self, items: Items, forget: Callable[[Scope, EventRef, datetime], None]) -> None:
        self._items = items
        self._forget = forget

    def __call__(self, scope: Scope, refs: Sequence[EventRef], now: datetime) -> int:
        """Deletes the copies of these records; answers how many there were. One read each where there is none."""
        return sum(self._all(scope, copies_path(RecordOrigin(scope.user_id, ref.id)), now) for ref in refs)

    def page(self, scope: Scope, limit: int, now: datetime) -> ForgottenCopies:
        """Deletes some of all copies of a user's records."""
        page = self._items.page(of_tenant(scope.tenant), ItemPath(COPIES, (scope.user_id,)), limit, None)
        self._gone(scope.tenant, page.items, now)
        return ForgottenCopies(len(page.items), page.more is None)

    def left(self, scope: Scope) -> int:
        """Whether there are any: 0 or 1."""
        return len(self._items.page(of_tenant(scope.tenant), ItemPath(COPIES, (scope.user_id,)), 1, None).items)

    def _all(self, scope: Scope, path: ItemPath, now: datetime) -> int:
        count = 0
        while items := self._items.page(of_tenant(scope.tenant), path, _PAGE, None).items:
            self._gone(scope.tenant, items, now)
            count += len(items)
        return count

    def _gone(self, tenant: str, items: Sequence[Item], now: datetime) -> None:
        for item in items:
            self._forget(Scope(tenant, item.key.key), copied_ref(item.value), now)
        writes = [ItemWrite(item.key, None) for item in items]
        for start in range(0, len(writes), MOST_WRITES):
            self._items.write(of_tenant(tenant), writes[start : start + MOST_WRITES], now)
