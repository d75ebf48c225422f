"""Which keyed events were not their slot's value at the instant that is asked about (P-19, P-24, api.md *Time*)."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial

from recollect.domain.event import Event
from recollect.domain.filters import SearchFilters
from recollect.domain.scope import Scope
from recollect.domain.slots import (
    SlotEntry,
    bound_of,
    current_at,
    entry_of,
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
    with others. Where `more_wait` than were given, a newer value may be among those: then the slot of every keyed event
    is read, with all that was said of it.
    """

    timeline: Timeline
    concurrency: Concurrency
    scope: Scope
    filters: SearchFilters
    newest: dict[Slot, Event] = field(default_factory=dict)
    more_wait: bool = False
    _histories: dict[Slot, list[SlotEntry]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        timeline: Timeline,
        concurrency: Concurrency,
        scope: Scope,
        filters: SearchFilters,
        tail: Iterable[Event],
        *,
        more_wait: bool = False,
    ) -> "SlotsThen":
        """The view of who asks with these filters; `tail` are the newest events that are not projected yet."""
        counted = newest_of_slots((event for event in tail if _counts(event, filters)), filters.moment)
        return cls(timeline, concurrency, scope, filters, counted, more_wait)

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
        """The slot whose history is asked: always where no record may say that the value was replaced."""
        if self.more_wait or bound_of(event) is not None:
            return named_slot(event)
        return slot_of(event) if self.filters.looks_back and event.superseded_by is not None else None

    def _read(self, slots: Iterable[Slot]) -> None:
        unread = [slot for slot in dict.fromkeys(slots) if slot not in self._histories]
        begun = {s: self.concurrency.submit(partial(self.timeline.slot_history, self.scope, s)) for s in unread}
        said = {s: self.concurrency.submit(partial(self._said, s)) for s in unread} if self.more_wait else {}
        self._histories |= {slot: found.result() for slot, found in begun.items()}
        for slot, events in said.items():
            self._take(slot, events.result())

    def _said(self, slot: Slot) -> list[Event]:
        return [event for event in self.timeline.of_slot(self.scope, slot) if _counts(event, self.filters)]

    def _take(self, slot: Slot, events: list[Event]) -> None:
        """What was said of the slot, as its projection will enter it in the history."""
        newest = self.newest.get(slot)
        self.newest |= newest_of_slots([*events, *([newest] if newest else [])], self.filters.moment)
        history = self._histories[slot]
        known = {entry.ref.id for entry in history}
        history += [entry_of(event) for event in events if event.id not in known and bound_of(event) is None]


def _counts(event: Event, filters: SearchFilters) -> bool:
    said = filters.as_of is None or event.timestamp <= filters.as_of
    return said and (filters.recorded_as_of is None or event.recorded_at <= filters.recorded_as_of)
