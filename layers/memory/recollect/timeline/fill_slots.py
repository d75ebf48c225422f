"""The slots of keyed events, filled when they are projected (P-18, P-19)."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from types import MappingProxyType

from recollect.core.errors import VersionMismatch
from recollect.core.event import Event, EventRef
from recollect.core.scope import Scope
from recollect.ports import Projections, Timeline
from recollect.timeline.listing import readable_events
from recollect.timeline.slots import SlotEntry, entry_of, read_bound, slot_of, successor, with_told

_TRIES = 5


class FillSlots:
    """Writes the entry first and reads the history after it: of two at once, the later one sees both.

    `bounds`, by event id, are ends that a judge read in the words of values; those of others are read by rules alone.
    """

    def __init__(
        self, timeline: Timeline, projections: Projections, bounds: Mapping[str, datetime] = MappingProxyType({})
    ) -> None:
        self._timeline = timeline
        self._projections = projections
        self._bounds = bounds

    def fill(self, scope: Scope, event: Event) -> list[Event]:
        """The events as they are now whose supersession this event decides: itself and the one before it."""
        if event.key is not None:
            event = self._with_bound(scope, event)
            self._projections.fill_slot(scope, event)
        slot = slot_of(event)
        if slot is None:
            return []
        history = self._timeline.slot_history(scope, slot)
        affected = [entry_of(event), *_before(event, history)]
        there = readable_events(self._timeline, scope, [entry.ref for entry in affected])
        history = with_told(history, there.values())
        found = [(there[entry.ref.id], successor(entry, history)) for entry in affected if entry.ref.id in there]
        settled = [self._settled(scope, one, by) for one, by in found]
        return [event for event in settled if event is not None]

    def leave_empty(self, scope: Scope, event: Event) -> list[EventRef]:
        """The event may not be stored, and no older value takes its place in its slot (P-22).

        As it stood where it came from: a value that something newer superseded leaves a place that nobody sees. Answers
        the value before it, which may have been the current one and is marked to be projected again. Safe to do twice.
        """
        slot = slot_of(event)
        if slot is None:
            return []
        self._projections.keep_place(scope, event, emptied=event.superseded_by is None)
        history = self._timeline.slot_history(scope, slot)
        there = self._timeline.read(scope, [entry.ref for entry in _before(event, history) if entry.emptied is None])
        for one in there.values():
            self._projections.mark(scope, [one.ref])
            self._settled(scope, one, successor(entry_of(one), with_told(history, [one])))
        return [one.ref for one in there.values()]

    def _with_bound(self, scope: Scope, event: Event) -> Event:
        """The event with the end that its words set, stored once: readers need not read the words again.

        Where another writer changed the event meanwhile, the next projection stores it.
        """
        if event.holds_until is not None:
            return event
        bounded = replace(event, holds_until=self._bounds.get(event.id) or read_bound(event))
        with suppress(VersionMismatch):
            self._projections.store_bound(scope, bounded)
        return bounded

    def _settled(self, scope: Scope, event: Event | None, by: SlotEntry | None) -> Event | None:
        """The event with its successor written; None where it is gone by then."""
        for attempt in range(_TRIES):
            if event is None or event.superseded_by == (by.ref.id if by else None):
                return event
            try:
                return self._projections.supersede(scope, event, by.ref if by else None)
            except VersionMismatch:
                if attempt == _TRIES - 1:
                    raise
                event = self._timeline.read(scope, [event.ref]).get(event.id)
                by = self._successor(scope, event) if event is not None else None
        return None

    def _successor(self, scope: Scope, event: Event) -> SlotEntry | None:
        """What follows it now: the other writer may have entered a value in between."""
        slot = slot_of(event)
        history = self._timeline.slot_history(scope, slot) if slot is not None else []
        return successor(entry_of(event), with_told(history, [event]))


def _before(event: Event, history: Sequence[SlotEntry]) -> list[SlotEntry]:
    """The entry just before the event's place, if there is one."""
    older = [entry for entry in history if entry.order < (event.timestamp, event.id)]
    return sorted(older, key=lambda entry: entry.order)[-1:]
