"""What slots say of events that are not projected yet: readers apply the rule that `project` will apply (P-19)."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from recollect.domain.event import Event
from recollect.domain.scope import Scope
from recollect.domain.slots import entry_of, newest_of_slots, slot_of, successor
from recollect.ports import Concurrency, Timeline


class TailSlots:
    """An event that arrives late, behind its slot's value or behind one that was removed, does not fill the slot.

    Only the newest of each slot is looked up, so that without keyed events nothing is read.
    """

    def __init__(self, timeline: Timeline, concurrency: Concurrency) -> None:
        self._timeline = timeline
        self._concurrency = concurrency

    def __call__(self, scope: Scope, events: Sequence[Event]) -> tuple[Event, ...]:
        """The events in order; those that something newer holds over say so."""
        asked = [event for event in newest_of_slots(events).values() if event.superseded_by is None]
        settled = [self._concurrency.submit(partial(self._settled, scope, event)) for event in asked]
        known = {event.id: event for event in (one.result() for one in settled)}
        return tuple(known.get(event.id, event) for event in events)

    def _settled(self, scope: Scope, event: Event) -> Event:
        slot = slot_of(event)
        by = successor(entry_of(event), self._timeline.slot_history(scope, slot)) if slot else None
        return replace(event, superseded_by=by.ref.id, superseded_at=by.ref.timestamp) if by else event
