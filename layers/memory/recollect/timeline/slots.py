"""Slots: the newest event of a key in a scope is the key's value, whatever order events arrive in (P-19).

A removed value leaves its entry in the slot's history: no older value comes back by itself, and an event that arrives
later fills the slot only with a newer timestamp (P-22). A value with a bound in time ("until Friday") is in no slot's
history: it holds over the slot's value within its bounds, and supersedes nothing (P-24).
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from recollect.core.event import OPEN_ENDED, Event, EventRef
from recollect.core.scope import NO_LABELS, Labels

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
    """The slot an event fills: persona, household ("" for none) and `slot_key`; None without a key, or with a bound."""
    return None if bound_of(event) is not None else named_slot(event)


def named_slot(event: Event) -> tuple[str, str, str] | None:
    """The slot that its key names, whether it fills it or holds over its value for a while; None without a key."""
    key = None if event.key is None else slot_key(event.key, event.labels)
    return None if key is None else (event.persona_id or "", event.household_id or "", key)


def slot_key(key: str | None, labels: Labels) -> str | None:
    """The key among those of other labels, whose values never replace each other; as it is where there are none."""
    if key is None or labels == NO_LABELS:
        return key
    return f"{key}\0{json.dumps([labels.agent_id, labels.app_id, labels.namespace], ensure_ascii=False)}"


def place_of(event: Event) -> tuple[str, str, str] | None:
    """The history that it is entered in: its slot's, or that of the values which hold over the slot's for a while."""
    slot = named_slot(event)
    return slot if slot is None or bound_of(event) is None else beside(slot)


def beside(slot: tuple[str, str, str]) -> tuple[str, str, str]:
    """The history of the slot's bounded values; no key has such a name."""
    return (*slot[:2], f"{slot[2]}\0until")


def bound_of(event: Event) -> datetime | None:
    """Until when a keyed value holds by its own words (P-24), exclusive; None without a key, or where it is open-ended.

    In a person's own words only: an assistant's and what was inferred bound nothing.
    """
    if event.key is None or not event.is_own_words:
        return None
    until = event.holds_until or read_bound(event)
    return None if until == OPEN_ENDED else until


def read_bound(event: Event) -> datetime:
    """The end that the words of a value set, OPEN_ENDED without one. `project` stores it.

    Readers come here only for an event that waits to be projected, or was projected before the field was stored. Not an
    end is a date by which something is due ("before Friday"), nor how long something has lasted ("I've worked there for
    three years"), nor when something happened ("I joined Bosch this week").
    """
    # Imported here: who reads projected events needs no reader of dates.
    from recollect.contradictions.binding import holds_until

    return holds_until(event.content, event.timestamp) or OPEN_ENDED


def entry_of(event: Event) -> SlotEntry:
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
    """The slot's newest entry at an instant of event time, from what was recorded by another.

    A removed one means that the slot is empty.
    """
    known = [
        entry
        for entry in history
        if (as_of is None or entry.ref.timestamp <= as_of)
        and (recorded_as_of is None or entry.recorded_at <= recorded_as_of)
    ]
    return max(known, key=lambda entry: entry.order, default=None)


def newest_of_slots(events: Iterable[Event], moment: datetime | None = None) -> dict[tuple[str, str, str], Event]:
    """For each slot among these events its newest: what readers apply to events not yet projected (P-19).

    Values with a bound are among them where they hold at `moment`; without one, none is.
    """
    newest: dict[tuple[str, str, str], Event] = {}
    for event in events:
        slot = named_slot(event)
        counts = slot is not None and (bound_of(event) is None or _holds(event, moment))
        if slot is not None and counts and (slot not in newest or _order(event) > _order(newest[slot])):
            newest[slot] = event
    return newest


def superseded_in(event: Event, newest: Mapping[tuple[str, str, str], Event]) -> bool:
    """Whether a newer event of the event's slot is among `newest`."""
    slot = named_slot(event)
    return slot is not None and slot in newest and _order(newest[slot]) > _order(event)


def _holds(event: Event, moment: datetime | None) -> bool:
    until = bound_of(event)
    return moment is not None and until is not None and moment < until


def _order(event: Event) -> tuple[datetime, str]:
    return event.timestamp, event.id
