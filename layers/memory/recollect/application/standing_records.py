"""Which records still count: what a decision between two of them asks first (P-24)."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from recollect.application.read_memories import KeptMemory, ReadMemories
from recollect.application.standing_memories import StandingMemories
from recollect.application.value_gate import ValueGate
from recollect.domain.event import Event, EventRef
from recollect.domain.memory import MemoryStatus
from recollect.domain.scope import Scope
from recollect.ports import Items, Timeline


@dataclass(frozen=True, slots=True)
class StandingRecord:
    """A record that counts, with its memory; where it is in another's memory, the event that carries that one."""

    event: Event
    kept: KeptMemory | None

    @property
    def id(self) -> str:
        """The memory's, or the event's that has none."""
        return self.kept.memory.id if self.kept is not None else self.event.id

    @property
    def said_at(self) -> datetime:
        """Since when it holds, in event time."""
        return self.kept.memory.valid_from if self.kept is not None else self.event.timestamp


class StandingRecords:
    """Deleted, expired, private and rejected ones count no longer, nor what was superseded, retracted or merged.

    Nor does a value whose bound is over.
    """

    def __init__(self, timeline: Timeline, items: Items) -> None:
        self._timeline = timeline
        self._read = ReadMemories(items)
        self._standing = StandingMemories(timeline)
        self._gate = ValueGate(items)

    def __call__(self, scope: Scope, ids: Iterable[str], now: datetime) -> dict[str, StandingRecord]:
        """Those of the records that count now and that the scope admits, by the ids asked for."""
        asked = list(dict.fromkeys(ids))
        kept = self._read.kept(scope, asked) if asked else {}
        events = self._events(scope, asked, kept)
        rejections = self._gate.load(scope) if events else None
        found: dict[str, StandingRecord] = {}
        for one in asked:
            event = events.get(kept[one].memory.id if one in kept else one)
            record = self._record(scope, event, kept.get(one), now) if event is not None else None
            if record is not None and not (rejections and rejections.rejects(*_said(record))):
                found[one] = record
        return found

    def _events(self, scope: Scope, asked: list[str], kept: dict[str, KeptMemory]) -> dict[str, Event]:
        """The records that carry the memories, in one batch; one by one those that are none."""
        refs: list[EventRef] = [one.memory.ref for one in kept.values()]
        found = self._timeline.read(scope, refs) if refs else {}
        alone = [event for one in asked if one not in kept and (event := self._timeline.find(scope, one))]
        return {**found, **{event.id: event for event in alone}}

    def _record(self, scope: Scope, event: Event, kept: KeptMemory | None, now: datetime) -> StandingRecord | None:
        if event.expired(now) or event.is_private or not scope.admits(event.persona_id, event.household_id):
            return None
        if kept is None:
            return StandingRecord(event, None) if event.superseded_by is None else None
        (memory,) = self._standing(scope, [kept.memory], {event.id: event})
        over = memory.valid_to is not None and memory.valid_to <= now
        counts = memory.status is MemoryStatus.ACTIVE and not over and not memory.expired(now)
        return StandingRecord(event, kept) if counts else None


def _said(record: StandingRecord) -> tuple[str, str | None, str | None]:
    content = record.kept.memory.content if record.kept is not None else record.event.content
    return content, record.event.persona_id, record.event.household_id
