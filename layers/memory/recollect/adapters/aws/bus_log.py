"""What was published to a tenant, kept for a week: ids only, so that an entry costs one unit and outlives no text.

An entry that carries a content names the record that has it, which is read when the log is: the event of
`memory:episodic:saved`, the event or the carrier of `memory:semantic:saved`. Of other types the detail is kept.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import ceil

from recollect.adapters.aws import keys
from recollect.adapters.aws.item_access import ItemAccess, Walk
from recollect.adapters.aws.item_format import Item, binary, event_in, instant, key_in, moment_in, number, text
from recollect.adapters.aws.keys import Key
from recollect.adapters.aws.packing import pack_json, unpack_json
from recollect.domain.bus import (
    EPISODIC_SAVED,
    KEPT_PER_TENANT,
    SEMANTIC_SAVED,
    BusEvent,
    SegmentPlace,
    episodic_saved,
)
from recollect.domain.event import Event, EventRef
from recollect.domain.instants import from_iso
from recollect.domain.scope import Scope

KEPT_SECONDS = 7 * 24 * 3600

_FIRST_READ = 2 * KEPT_PER_TENANT // keys.BUS_SHARDS


@dataclass(frozen=True, slots=True)
class BusLog:
    """The log of one table."""

    access: ItemAccess

    def write(self, tenant: str, events: Sequence[BusEvent], now_seconds: float) -> None:
        """Logs published events; `now_seconds` since 1970 is the real time, by which the service deletes them."""
        lapses = number(ceil(now_seconds) + KEPT_SECONDS)
        self.access.put_many(_entry(tenant, event) | {"ttl": lapses} for event in events)

    def read(self, tenant: str, now: datetime) -> list[BusEvent]:
        """The last 1,000, oldest first, each once; without those whose event is by now gone, expired or private."""
        entries = self._newest(tenant)
        events = self._events_of(entries)
        listed: dict[tuple[str, str], BusEvent] = {}
        for event in (_told(entry, events, now) for entry in reversed(entries)):
            if event is not None:
                listed.setdefault((event.id, event.type), event)
        return list(listed.values())

    def _newest(self, tenant: str) -> list[Item]:
        """Newest first. A partition holds an eighth of them, more or less: twice that is asked of each at first."""
        walks = [Walk(keys.bus_partition(tenant, shard), newest_first=True) for shard in range(keys.BUS_SHARDS)]
        pages = self.access.side_by_side(lambda walk: self.access.page(walk, _FIRST_READ), walks)
        entries = [item for items, _ in pages for item in items]
        newest = _last(entries)
        for walk, (items, more) in zip(walks, pages, strict=True):
            if more is not None and (len(newest) < KEPT_PER_TENANT or key_in(items[-1]).sk > key_in(newest[-1]).sk):
                entries += self.access.page(walk, KEPT_PER_TENANT, more)[0]
        return _last(entries)

    def _events_of(self, entries: Iterable[Item]) -> dict[Key, Event]:
        found = self.access.get_many(key for entry in entries if (key := _event_key(entry)))
        return {key: event_in(item) for key, item in found.items()}


def _entry(tenant: str, event: BusEvent) -> Item:
    key = keys.bus_key(tenant, event.type, EventRef(event.id, event.time))
    return {**key.attributes, **_pointer(tenant, event)}


def _pointer(tenant: str, event: BusEvent) -> Item:
    detail = event.detail
    if event.type not in (EPISODIC_SAVED, SEMANTIC_SAVED):
        return {"z": binary(pack_json(dict(detail)))}
    user = keys.user_partition(Scope(tenant, str(detail["userId"])))
    record: Item = {"u": text(user), "t": instant(from_iso(str(detail["timestamp"])))}
    if event.type == SEMANTIC_SAVED:
        rest = {name: value for name, value in detail.items() if name != "content"}
        return record | {"e": text(str(detail["memoryId"])), "z": binary(pack_json(rest))}
    if detail["segmentId"] is not None:
        record |= {"g": text(str(detail["segmentId"])), "n": number(int(str(detail["segmentCount"])))}
    return record


def _event_key(entry: Mapping[str, dict[str, str]]) -> Key | None:
    if "u" not in entry:
        return None
    record_id = entry["e"]["S"] if "e" in entry else keys.bus_entry_of(entry["sk"]["S"])[0].id
    return keys.event_key(keys.user_of(entry["u"]["S"]), EventRef(record_id, moment_in(entry, "t")))


def _told(entry: Item, events: Mapping[Key, Event], now: datetime) -> BusEvent | None:
    published, event_type = keys.bus_entry_of(entry["sk"]["S"])
    key = _event_key(entry)
    if key is None:
        return BusEvent(published.id, event_type, published.timestamp, unpack_json(entry["z"]["B"]))
    event = events.get(key)
    if event is None or event.is_private or event.expired(now):
        return None
    if event_type == SEMANTIC_SAVED:
        detail = {**unpack_json(entry["z"]["B"]), "content": event.content}
        return BusEvent(published.id, event_type, published.timestamp, detail)
    return episodic_saved(event, published.timestamp, _segment(entry))


def _segment(entry: Item) -> SegmentPlace | None:
    return SegmentPlace(entry["g"]["S"], int(entry["n"]["N"])) if "g" in entry else None


def _last(entries: Iterable[Item]) -> list[Item]:
    return sorted(entries, key=lambda item: key_in(item).sk, reverse=True)[:KEPT_PER_TENANT]


def utc_now() -> datetime:
    """The real time."""
    return datetime.now(UTC)
