"""Which keyed events were not their slot's value at the instant that is asked about (P-19, P-24, api.md *Time*)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial

from recollect.domain.event import Event
from recollect.domain.filters import SearchFilters
from recollect.domain.scope import Scope
from recollect.domain.slots import (
    SlotEntry,
    bound_of,
    current_at,
    named_slot,
    newest_of_slots,
    slot_of,
    superseded_in,
    with_told,
)
from recollect.ports import Concurrency, Timeline

Slot = tuple[str, str, str]


@dataclass(slots=True)
class SlotsThen:
    """One reader's view: the newest of each slot among what is not projected yet, and the histories read so far.

    Asked of the present, an event itself says whether it is its slot's value. Asked of the past, only one that
    something newer superseded since needs its slot's history, and a bounded value does: each is read once, side by side
    with others.
    """

    timeline: Timeline
    concurrency: Concurrency
    scope: Scope
    filters: SearchFilters
    newest: Mapping[Slot, Event] = field(default_factory=dict)
    _histories: dict[Slot, list[SlotEntry]] = field(default_factory=dict)

    @classmethod
    def of(
        cls, timeline: Timeline, concurrency: Concurrency, scope: Scope, filters: SearchFilters, tail: Iterable[Event]
    ) -> "SlotsThen":
        """The view of who asks with these filters; `tail` are the events that are not projected yet."""
        counted = newest_of_slots((event for event in tail if _counts(event, filters)), filters.moment)
        return cls(timeline, concurrency, scope, filters, counted)

    def superseded(self, events: Iterable[Event]) -> set[str]:
        """The ids of those that were not their slot's value, or whose bound was over."""
        asked = list(events)
        past = {event.id: slot for event in asked if (slot := self._past_slot(event)) is not None}
        self._read(past.values())
        return {event.id for event in asked if self._is_over(event, past.get(event.id))}

    def current(self, slot: Slot) -> SlotEntry | None:
        """The slot's value at the instant, by its history; a removed one means that the slot is empty."""
        self._read([slot])
        return current_at(self._histories[slot], self.filters.as_of, self.filters.recorded_as_of)

    def _is_over(self, event: Event, slot: Slot | None) -> bool:
        until = bound_of(event)
        if superseded_in(event, self.newest) or (until is not None and until <= self.filters.moment):
            return True
        if slot is None:
            return event.superseded_by is not None and not self.filters.looks_back
        history = with_told(self._histories[slot], [event])
        at = current_at(history, self.filters.as_of, self.filters.recorded_as_of)
        return at is not None and at.ref.id != event.id and at.order > (event.timestamp, event.id)

    def _past_slot(self, event: Event) -> Slot | None:
        """The slot whose history is asked: always for a bounded value, of which no record says that it was replaced."""
        if bound_of(event) is not None:
            return named_slot(event)
        return slot_of(event) if self.filters.looks_back and event.superseded_by is not None else None

    def _read(self, slots: Iterable[Slot]) -> None:
        unread = [slot for slot in dict.fromkeys(slots) if slot not in self._histories]
        begun = {s: self.concurrency.submit(partial(self.timeline.slot_history, self.scope, s)) for s in unread}
        self._histories |= {slot: found.result() for slot, found in begun.items()}


def _counts(event: Event, filters: SearchFilters) -> bool:
    said = filters.as_of is None or event.timestamp <= filters.as_of
    return said and (filters.recorded_as_of is None or event.recorded_at <= filters.recorded_as_of)
