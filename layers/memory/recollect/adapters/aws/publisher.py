"""The port `Publisher`: events on EventBridge, and in the table's log, which `GET /v1/bus` reads, for a week.

An entry of the log with a content has only the id of its record, which is read with the log: the event of
`memory:episodic:saved`, the event or the carrier of `memory:semantic:saved`. So an entry costs one unit and outlives
no text. Other types have their detail in the entry.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from math import ceil
from typing import Any, TypeAlias

from recollect.adapters.aws import keys
from recollect.adapters.aws.clients import Backoff, EventBridgeClient, translated
from recollect.adapters.aws.item_format import (
    Attributes,
    binary,
    event_in,
    instant,
    key_in,
    moment_in,
    number,
    pack_json,
    text,
    unpack_json,
)
from recollect.adapters.aws.keys import Key
from recollect.adapters.aws.table import ItemAccess, Walk
from recollect.core.errors import Unavailable
from recollect.core.event import Event, EventRef, Json
from recollect.core.scope import Scope
from recollect.core.time import from_iso, utc_now
from recollect.timeline.bus import (
    EPISODIC_SAVED,
    KEPT_PER_TENANT,
    SEMANTIC_SAVED,
    BusEvent,
    SegmentPlace,
    episodic_saved,
)

LOG_SECONDS = 7 * 24 * 3600
SOURCE = "recollect"
THREE_TRIES = Backoff(tries=3)
MAX_CALL_BYTES = 200_000  # the service takes 256 KB
ENTRIES_PER_CALL = 10

_FIRST_READ = 2 * KEPT_PER_TENANT // keys.BUS_SHARDS

SentEntry: TypeAlias = tuple[BusEvent, dict[str, Any]]
"""An event with its entry of a `put_events` call."""


@dataclass(frozen=True, slots=True)
class BusLog:
    """The log of one table."""

    access: ItemAccess

    def write(self, tenant: str, events: Sequence[BusEvent], now_seconds: float) -> None:
        """Logs published events; `now_seconds` since 1970 is the real time, by which the service deletes them."""
        lapses = number(ceil(now_seconds) + LOG_SECONDS)
        self.access.put_many(_log_entry(tenant, event) | {"ttl": lapses} for event in events)

    def read(self, tenant: str, now: datetime) -> list[BusEvent]:
        """The last 1,000, oldest first, each once; without those whose event is by now deleted, expired or private."""
        entries = self._newest(tenant)
        events = self._events_of(entries)
        listed: dict[tuple[str, str], BusEvent] = {}
        for event in (_published(entry, events, now) for entry in reversed(entries)):
            if event is not None:
                listed.setdefault((event.id, event.type), event)
        return list(listed.values())

    def _newest(self, tenant: str) -> list[Attributes]:
        """Newest first. A partition holds about an eighth of them: the first read takes twice that of each."""
        walks = [Walk(keys.bus_partition(tenant, shard), newest_first=True) for shard in range(keys.BUS_SHARDS)]
        pages = self.access.side_by_side(lambda walk: self.access.page(walk, _FIRST_READ), walks)
        entries = [item for items, _ in pages for item in items]
        newest = _last(entries)
        for walk, (items, more) in zip(walks, pages, strict=True):
            if more is not None and (len(newest) < KEPT_PER_TENANT or key_in(items[-1]).sk > key_in(newest[-1]).sk):
                entries += self.access.page(walk, KEPT_PER_TENANT, more)[0]
        return _last(entries)

    def _events_of(self, entries: Iterable[Attributes]) -> dict[Key, Event]:
        found = self.access.get_many(key for entry in entries if (key := _event_key(entry)))
        return {key: event_in(item) for key, item in found.items()}


@dataclass(frozen=True, slots=True)
class EventBus:
    """An EventBridge bus by name or ARN, and how it is called."""

    client: EventBridgeClient
    name: str
    backoff: Backoff = THREE_TRIES

    def put(self, tenant: str, events: Sequence[BusEvent]) -> set[str]:
        """The ids of those that the bus did not take after all tries."""
        left: set[str] = set()
        for chunk in _chunks([(event, _entry(self.name, tenant, event)) for event in events]):
            left |= self._put_chunk(chunk)
        return left

    def _put_chunk(self, chunk: Sequence[SentEntry]) -> set[str]:
        for _ in self.backoff.attempts():
            chunk = self._try(chunk)
            if not chunk:
                break
        return {event.id for event, _ in chunk}

    def _try(self, chunk: Sequence[SentEntry]) -> list[SentEntry]:
        try:
            with translated("EventBridge"):
                answer = self.client.put_events(Entries=[entry for _, entry in chunk])
        except Unavailable:
            return list(chunk)
        results: Iterable[Mapping[str, Any]] = answer["Entries"]
        return [pair for pair, result in zip(chunk, results, strict=True) if result.get("ErrorCode")]


@dataclass(frozen=True, slots=True)
class AwsPublisher:
    """Without a bus events are only logged. `clock` is the real time."""

    log: BusLog
    bus: EventBus | None = None
    clock: Callable[[], datetime] = field(default=utc_now)

    def publish(self, tenant: str, events: Sequence[BusEvent]) -> list[str]:
        """Publishes, then logs what the bus took; the ids of the others."""
        left = self.bus.put(tenant, events) if self.bus and events else set()
        taken = [event for event in events if event.id not in left]
        self.log.write(tenant, taken, self.clock().timestamp())
        return [event.id for event in events if event.id in left]

    def published(self, tenant: str, event_type: str | None, after: str | None) -> list[BusEvent]:
        events = self.log.read(tenant, self.clock())
        places = [place for place, event in enumerate(events) if event.id == after]
        following = events[places[-1] + 1 :] if places else events
        return [event for event in following if event_type in (None, event.type)]


def _log_entry(tenant: str, event: BusEvent) -> Attributes:
    key = keys.bus_key(tenant, event.type, EventRef(event.id, event.time))
    return {**key.attributes, **_pointer(tenant, event)}


def _pointer(tenant: str, event: BusEvent) -> Attributes:
    detail = event.detail
    if event.type not in (EPISODIC_SAVED, SEMANTIC_SAVED):
        return {"z": binary(pack_json(dict(detail)))}
    user = keys.user_partition(Scope(tenant, str(detail["userId"])))
    record: Attributes = {"u": text(user), "t": instant(from_iso(str(detail["timestamp"])))}
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


def _published(entry: Attributes, events: Mapping[Key, Event], now: datetime) -> BusEvent | None:
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
    segment = SegmentPlace(entry["g"]["S"], int(entry["n"]["N"])) if "g" in entry else None
    return episodic_saved(event, published.timestamp, segment)


def _last(entries: Iterable[Attributes]) -> list[Attributes]:
    return sorted(entries, key=lambda item: key_in(item).sk, reverse=True)[:KEPT_PER_TENANT]


def _entry(bus: str, tenant: str, event: BusEvent) -> dict[str, Any]:
    """The detail is the document's own, with the tenant and the id beside it; without content where it is too long."""
    detail: dict[str, Json] = {**event.detail, "tenant": tenant, "id": event.id}
    entry = {"EventBusName": bus, "Source": SOURCE, "DetailType": event.type, "Time": event.time}
    whole = entry | {"Detail": json.dumps(detail, ensure_ascii=False)}
    if _entry_bytes(whole) <= MAX_CALL_BYTES:
        return whole
    return entry | {"Detail": json.dumps({**detail, "content": None, "contentOmitted": True}, ensure_ascii=False)}


def _entry_bytes(entry: Mapping[str, Any]) -> int:
    """As the service counts: 14 for the time, and the texts."""
    return 14 + sum(len(entry[name].encode()) for name in ("Source", "DetailType", "Detail"))


def _chunks(pairs: Iterable[SentEntry]) -> list[list[SentEntry]]:
    chunks: list[list[SentEntry]] = []
    room = 0
    for pair in pairs:
        size = _entry_bytes(pair[1])
        if not chunks or len(chunks[-1]) == ENTRIES_PER_CALL or size > room:
            chunks.append([])
            room = MAX_CALL_BYTES
        chunks[-1].append(pair)
        room -= size
    return chunks
