"""Memories whose change the index may not show are marked again: a patch may end before it has set its marker."""

import logging
from collections.abc import Sequence
from datetime import datetime
from itertools import groupby

from recollect.application.failed_events import FailedEvents
from recollect.domain.errors import StoredDataError
from recollect.domain.event import EventRef
from recollect.domain.items import Document, DueItem
from recollect.domain.memory_items import SAME_AS, memory_in
from recollect.domain.memory_writes import TO_PROJECT
from recollect.domain.scope import Scope
from recollect.ports import Items, Projections

_PAGE = 100
_MOST_PAGES = 1_000
_LOG = logging.getLogger(__name__)


class MarkChanged:
    """The first step of a reconciliation, which then projects what is marked.

    What is noted as failed is left out: it is tried again when its time has come.
    """

    def __init__(self, items: Items, projections: Projections, failed: FailedEvents) -> None:
        self._items = items
        self._projections = projections
        self._failed = failed

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
        refs = {ref.id: ref for value in whole if (ref := _ref(value)) is not None}
        noted = self._failed.noted(owner, list(refs))
        self._projections.mark(owner, [ref for event_id, ref in refs.items() if event_id not in noted])


def _ref(value: Document) -> EventRef | None:
    """None where the memory cannot be read: it stands in nobody's way."""
    try:
        return memory_in(value).ref
    except StoredDataError as error:
        _LOG.warning("a memory cannot be read", extra={"error": type(error).__name__})
        return None


def _whose(due: DueItem) -> tuple[str, str]:
    return due.owner.tenant, due.owner.user_id
