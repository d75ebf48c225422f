"""Memories whose change the index may not show are marked again: a patch may end before it has set its marker."""

from collections.abc import Sequence
from datetime import datetime
from itertools import groupby

from recollect.domain.items import DueItem
from recollect.domain.memory_items import SAME_AS, memory_in
from recollect.domain.memory_writes import TO_PROJECT
from recollect.domain.scope import Scope
from recollect.ports import Items, Projections

_PAGE = 100
_MOST_PAGES = 1_000


class MarkChanged:
    """The first step of a reconciliation, which then projects what is marked."""

    def __init__(self, items: Items, projections: Projections) -> None:
        self._items = items
        self._projections = projections

    def __call__(self, now: datetime) -> None:
        """Marks those that are due, of every tenant. Raises as `Items.due` and `Projections.mark`."""
        after: str | None = None
        for _ in range(_MOST_PAGES):
            page = self._items.due(TO_PROJECT, now, _PAGE, after)
            for owner, due in groupby(sorted(page.items, key=_whose), key=lambda one: one.owner):
                self._mark(owner, list(due))
            after = page.more
            if after is None:
                return

    def _mark(self, owner: Scope, due: Sequence[DueItem]) -> None:
        found = self._items.get(owner, [one.key for one in due])
        whole = [item.value for item in found.values() if item.due is not None and SAME_AS not in item.value]
        self._projections.mark(owner, [memory_in(value).ref for value in whole])


def _whose(due: DueItem) -> tuple[str, str]:
    return due.owner.tenant, due.owner.user_id
