"""What holds in the place of a record that something newer replaced: its successor, or the successor's, and so on."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from recollect.application.judging import Judging
from recollect.application.record_reading import RecordReading, Records
from recollect.domain.event import Event, EventRef
from recollect.domain.filters import DropReason
from recollect.domain.representation import successor_of
from recollect.domain.slots import bound_of, named_slot, slot_of

_MOST_STEPS = 8


@dataclass(slots=True)
class _Walk:
    """Where each record's successors have led so far: the place it stands at, and all places it stood at."""

    places: dict[str, str]
    passed: dict[str, set[str]]
    found: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, record_ids: Iterable[str]) -> "_Walk":
        places = {one: one for one in record_ids}
        return cls(places, {one: {one} for one in places})


class Succession:
    """A step reads what is not known yet in one wave; most successors are, since they are of the newest memories.

    At most eight steps, never in a circle; a slot of many values is two. Where the successor was deleted, rejected or
    is not for these eyes, nothing stands in the record's place: the slot is empty (P-22).
    """

    def __init__(self, reading: RecordReading) -> None:
        self._reading = reading

    def __call__(self, judge: Judging, record_ids: Iterable[str]) -> dict[str, str]:
        """The records that may be shown in the place of these, by the ids of these; without those that have none."""
        walk = _Walk.of(record_ids)
        for step in range(_MOST_STEPS):
            ways = {
                start: way for start, place in walk.places.items() if (way := _next(judge, place, step)) is not None
            }
            if not ways:
                break
            self._go(judge, walk, ways)
        return walk.found

    def _go(self, judge: Judging, walk: _Walk, ways: dict[str, EventRef | str]) -> None:
        """Everyone one step on; who may be shown has arrived, who is superseded too goes on."""
        self._reading.look_up(judge.scope, ways.values(), judge.records)
        ends = {start: judge.records.own_id(_id_of(way)) for start, way in ways.items()}
        reasons = judge.forbidden(dict.fromkeys(ends.values()))
        walk.places = {}
        for start, end in ends.items():
            if end not in reasons:
                walk.found[start] = end
            elif reasons[end] is DropReason.SUPERSEDED and end not in walk.passed[start]:
                walk.places[start] = end
                walk.passed[start].add(end)


def _next(judge: Judging, record_id: str, step: int) -> EventRef | str | None:
    """The next record, by its place where that is known or likely; None where nothing follows."""
    records = judge.records
    event, memory = records.events.get(record_id), records.memories.get(record_id)
    if event is not None and (in_slot := _in_slot(judge, event, step)) is not None:
        return in_slot
    return successor_of(memory, judge.filters) if memory is not None else None


def _in_slot(judge: Judging, event: Event, step: int) -> EventRef | None:
    """The value of the event's slot; its history tells it where the next one is not the last, or of the past."""
    slot = named_slot(event)
    newest = judge.slots.newest.get(slot) if slot is not None else None
    if newest is not None and (newest.timestamp, newest.id) > (event.timestamp, event.id):
        return newest.ref
    if slot is None or (event.superseded_by is None and bound_of(event) is None):
        return None
    current = _known_current(judge.records, event)
    if current is not None and not judge.filters.looks_back:
        return current.ref
    if step or judge.filters.looks_back or event.superseded_by is None or event.superseded_at is None:
        entry = judge.slots.current(slot)
        newer = entry is not None and entry.emptied is None and entry.order > (event.timestamp, event.id)
        return entry.ref if entry is not None and newer else None
    return EventRef(event.superseded_by, event.superseded_at)


def _known_current(records: Records, event: Event) -> Event | None:
    """The slot's value where it was read already."""
    slot, order = named_slot(event), (event.timestamp, event.id)
    same = (e for e in records.events.values() if e.key == event.key and e.superseded_by is None and slot_of(e) == slot)
    return next((e for e in same if (e.timestamp, e.id) > order), None)


def _id_of(way: EventRef | str) -> str:
    return way if isinstance(way, str) else way.id
