"""Slots: the newest event of a key in a scope is the key's value, whatever order events arrive in (P-19).

A removed value leaves its entry in the slot's history: no older value comes back by itself, and an event that arrives
later fills the slot only with a newer timestamp (P-22).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from recollect.domain.event import Event, EventRef

_BEHIND_ALL_IDS = "\U0010ffff"


@dataclass(frozen=True, slots=True)
class SlotEntry:
    """One value a slot has had: the event, and when it was recorded.

    `emptied` is None while the event is there. Once it was removed, the entry holds its place: True where it was the
    slot's value, so that whatever arrives later with its timestamp stands behind it; else False.
    """

    ref: EventRef
    recorded_at: datetime
    emptied: bool | None = None

    @property
    def order(self) -> tuple[datetime, str]:
        """Newest timestamp wins; of equals the one that arrived later."""
        return self.ref.timestamp, _BEHIND_ALL_IDS if self.emptied else self.ref.id


def slot_of(event: Event) -> tuple[str, str, str] | None:
    """The slot an event fills: persona, household and key ("" for none); None without a key."""
    return None if event.key is None else (event.persona_id or "", event.household_id or "", event.key)


def entry_of(event: Event) -> SlotEntry:
    """The event as a value of its slot."""
    return SlotEntry(event.ref, event.recorded_at)


def with_told(history: Sequence[SlotEntry], events: Iterable[Event]) -> list[SlotEntry]:
    """The history with what these events say superseded them: a snapshot has no line of a value that was deleted.

    Such an entry is a removed one: where the value is merely not there yet, its own entry takes its place later.
    """
    known = {entry.ref.id for entry in history}
    told = {
        event.superseded_by: SlotEntry(EventRef(event.superseded_by, event.superseded_at), event.superseded_at, True)
        for event in events
        if event.superseded_by is not None and event.superseded_at is not None and event.superseded_by not in known
    }
    return [*history, *told.values()]


def successor(entry: SlotEntry, history: Iterable[SlotEntry]) -> SlotEntry | None:
    """The next newer value of the same slot, a removed one too; None where the entry is the current one."""
    newer = [other for other in history if other.order > entry.order]
    return min(newer, key=lambda other: other.order) if newer else None


def current_at(
    history: Sequence[SlotEntry], as_of: datetime | None, recorded_as_of: datetime | None
) -> SlotEntry | None:
    """The slot's newest entry at an instant of event time, from what was recorded by another (api.md, *Time*).

    A removed one means that the slot is empty.
    """
    known = [
        entry
        for entry in history
        if (as_of is None or entry.ref.timestamp <= as_of)
        and (recorded_as_of is None or entry.recorded_at <= recorded_as_of)
    ]
    return max(known, key=lambda entry: entry.order, default=None)


def newest_of_slots(events: Iterable[Event]) -> dict[tuple[str, str, str], Event]:
    """For each slot among these events its newest: what readers apply to events not yet projected (P-19)."""
    newest: dict[tuple[str, str, str], Event] = {}
    for event in events:
        slot = slot_of(event)
        if slot is not None and (slot not in newest or _order(event) > _order(newest[slot])):
            newest[slot] = event
    return newest


def superseded_in(event: Event, newest: dict[tuple[str, str, str], Event]) -> bool:
    """Whether a newer event of the event's slot is among `newest`."""
    slot = slot_of(event)
    return slot is not None and slot in newest and _order(newest[slot]) > _order(event)


def _order(event: Event) -> tuple[datetime, str]:
    return event.timestamp, event.id
