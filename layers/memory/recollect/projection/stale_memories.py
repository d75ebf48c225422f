"""Memories that a patch changed before its process was killed: their events are marked again (A-24)."""

import logging
from collections.abc import Sequence
from datetime import datetime
from itertools import groupby

from recollect.core.errors import StoredDataError
from recollect.core.event import EventRef
from recollect.core.items import Document, DueItem, pages
from recollect.core.scope import Scope
from recollect.memories.storage import SAME_AS, TO_PROJECT, memory_in
from recollect.ports import Items, Projections
from recollect.projection.quarantine import FailedEvents

_PAGE = 100


_LOG = logging.getLogger(__name__)


class MarkStaleMemories:
    """Sets the markers of memories that the index may not show; the first step of a reconciliation.

    It leaves out events with a note of a failed projection: these are retried when due.
    """

    def __init__(self, items: Items, projections: Projections, failed: FailedEvents) -> None:
        self._items = items
        self._projections = projections
        self._failed = failed

    def mark(self, now: datetime) -> None:
        """Marks due memories of every tenant. Raises as `Items.due` and `Projections.mark`."""
        for page in pages(lambda after: self._items.due(TO_PROJECT, now, _PAGE, after)):
            for owner, due in groupby(sorted(page.items, key=_whose), key=lambda one: one.owner):
                self._mark(owner, list(due))

    def _mark(self, owner: Scope, due: Sequence[DueItem]) -> None:
        found = self._items.get(owner, [one.key for one in due])
        whole = [item.value for item in found.values() if item.due is not None and SAME_AS not in item.value]
        refs = {ref.id: ref for value in whole if (ref := _ref(value)) is not None}
        noted = self._failed.noted(owner, list(refs))
        self._projections.mark(owner, [ref for event_id, ref in refs.items() if event_id not in noted])


def _ref(value: Document) -> EventRef | None:
    """None for an unreadable memory, which must not stop the others."""
    try:
        return memory_in(value).ref
    except StoredDataError as error:
        _LOG.warning("a memory cannot be read", extra={"error": type(error).__name__})
        return None


def _whose(due: DueItem) -> tuple[str, str]:
    return due.owner.tenant, due.owner.user_id
