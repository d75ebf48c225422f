"""Slots: enters a keyed event in its slot's history and says of its neighbours who supersedes whom (P-19)."""

from recollect.domain.errors import VersionMismatch
from recollect.domain.event import Event, EventRef
from recollect.domain.scope import Scope
from recollect.domain.slots import SlotEntry, entry_of, slot_of, successor
from recollect.ports import Projections, Timeline

_TRIES = 5


class FillSlots:
    """Writes the entry first and reads the history after it: of two at once, the later one sees both."""

    def __init__(self, timeline: Timeline, projections: Projections) -> None:
        self._timeline = timeline
        self._projections = projections

    def __call__(self, scope: Scope, event: Event) -> list[Event]:
        """The events as they are now whose supersession this event decides: itself and the one before it."""
        slot = slot_of(event)
        if slot is None:
            return []
        self._projections.fill_slot(scope, event)
        history = self._timeline.slot_history(scope, slot)
        older = [entry for entry in history if entry.order < (event.timestamp, event.id)]
        affected = [entry_of(event), *sorted(older, key=lambda e: e.order)[-1:]]
        settled = [self._settled(scope, entry.ref, successor(entry, history)) for entry in affected]
        return [event for event in settled if event is not None]

    def _settled(self, scope: Scope, ref: EventRef, by: SlotEntry | None) -> Event | None:
        for attempt in range(_TRIES):
            event = self._timeline.read(scope, [ref]).get(ref.id)
            if event is None or event.superseded_by == (by.ref.id if by else None):
                return event
            try:
                return self._projections.supersede(scope, event, by.ref if by else None)
            except VersionMismatch:
                if attempt == _TRIES - 1:
                    raise
        return None
