"""Slots whose value was deleted, until the archive says so too: written in one step with the removal (P-22).

| collection      | owner | key                     | value                               |
|-----------------|-------|-------------------------|-------------------------------------|
| `emptied_slots` | user  | id of the removed event | `{slot: [persona, household, key]}` |
"""

from collections.abc import Mapping
from typing import Any

from recollect.domain.errors import StoredDataError
from recollect.domain.event import Event
from recollect.domain.items import ItemKey, ItemPath, ItemWrite
from recollect.domain.slots import slot_of

EMPTIED_SLOTS = ItemPath("emptied_slots")


def emptied_key(event_id: str) -> ItemKey:
    """Where it is told that a removed event was a slot's value."""
    return ItemKey(EMPTIED_SLOTS, event_id)


def emptied_write(event: Event) -> ItemWrite:
    """What tells it; again is no harm."""
    return ItemWrite(emptied_key(event.id), {"slot": list(slot_of(event) or ())})


def emptied_slot(value: Mapping[str, Any]) -> tuple[str, str, str]:
    """The slot in what `emptied_write` wrote. Raises StoredDataError."""
    try:
        persona, household, key = value["slot"]
    except (KeyError, TypeError, ValueError) as error:
        raise StoredDataError("an emptied slot cannot be read") from error
    return str(persona), str(household), str(key)
