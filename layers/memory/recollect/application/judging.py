"""What the records themselves say of what was nominated: the last word on who may see what."""

from collections.abc import Iterable
from dataclasses import dataclass

from recollect.application.record_reading import Records
from recollect.application.slots_then import SlotsThen
from recollect.application.value_gate import Rejections
from recollect.domain.filters import DropReason, SearchFilters, drop_reason
from recollect.domain.representation import memory_drop_reason, says_otherwise
from recollect.domain.scope import Scope


@dataclass(frozen=True, slots=True)
class Judging:
    """The judge of one read: nothing deleted, private, expired, rejected or superseded passes, however it was found."""

    scope: Scope
    filters: SearchFilters
    records: Records
    slots: SlotsThen
    rejections: Rejections

    def forbidden(self, record_ids: Iterable[str]) -> dict[str, DropReason]:
        """Those of the records, all of them looked up, that may not be shown, and why."""
        ids = list(record_ids)
        there = [self.records.events[i] for i in ids if i in self.records.events]
        over = self.slots.superseded(there) if not self.filters.include_superseded else set()
        reasons = {i: self._reason(i, over) for i in ids}
        return {i: reason for i, reason in reasons.items() if reason is not None}

    def _reason(self, record_id: str, over: set[str]) -> DropReason | None:
        event = self.records.events.get(record_id)
        if event is None:
            return DropReason.DELETED
        shown = self.records.shown(event)
        reason = drop_reason(self.scope, shown, self.filters)
        if reason is not None:
            return reason
        memory = self.records.memories.get(record_id)
        if record_id in over or (memory is not None and says_otherwise(memory, event)):
            return DropReason.SUPERSEDED
        of_memory = memory_drop_reason(memory, self.filters, self.records.sees)
        return of_memory or (DropReason.DELETED if self.rejections.shown(shown) is None else None)
