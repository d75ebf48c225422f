"""Publishing on EventBridge, and in the table's log that `GET /v1/bus` reads."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from recollect.adapters.aws.backoff import Backoff
from recollect.adapters.aws.bus_log import BusLog, utc_now
from recollect.adapters.aws.dynamodb_client import EventBridgeClient
from recollect.adapters.aws.errors import translated
from recollect.domain.bus import BusEvent
from recollect.domain.errors import Unavailable
from recollect.domain.event import Json

SOURCE = "recollect"
THREE_TRIES = Backoff(tries=3)
MAX_CALL_BYTES = 200_000  # the service takes 256 KB
ENTRIES_PER_CALL = 10


@dataclass(frozen=True, slots=True)
class EventBus:
    """An EventBridge bus by name or ARN, and how it is called."""

    client: EventBridgeClient
    name: str
    backoff: Backoff = THREE_TRIES

    def put(self, tenant: str, events: Sequence[BusEvent]) -> set[str]:
        """Answers the ids of those that it did not take after all tries."""
        left: set[str] = set()
        for chunk in _chunks([(event, _entry(self.name, tenant, event)) for event in events]):
            left |= self._put_chunk(chunk)
        return left

    def _put_chunk(self, chunk: "Sequence[tuple[BusEvent, dict[str, Any]]]") -> set[str]:
        for _ in self.backoff.attempts():
            chunk = self._try(chunk)
            if not chunk:
                break
        return {event.id for event, _ in chunk}

    def _try(self, chunk: "Sequence[tuple[BusEvent, dict[str, Any]]]") -> "list[tuple[BusEvent, dict[str, Any]]]":
        try:
            with translated("EventBridge"):
                answer = self.client.put_events(Entries=[entry for _, entry in chunk])
        except Unavailable:
            return list(chunk)
        results: Iterable[Mapping[str, Any]] = answer["Entries"]
        return [pair for pair, result in zip(chunk, results, strict=True) if result.get("ErrorCode")]


@dataclass(frozen=True, slots=True)
class AwsPublisher:
    """See `ports.Publisher`. Without a bus events are only logged. `clock` is the real time."""

    log: BusLog
    bus: EventBus | None = None
    clock: Callable[[], datetime] = field(default=utc_now)

    def publish(self, tenant: str, events: Sequence[BusEvent]) -> list[str]:
        """Publishes, then logs what was taken; answers the ids of the others."""
        left = self.bus.put(tenant, events) if self.bus and events else set()
        taken = [event for event in events if event.id not in left]
        self.log.write(tenant, taken, self.clock().timestamp())
        return [event.id for event in events if event.id in left]

    def published(self, tenant: str, event_type: str | None, after: str | None) -> list[BusEvent]:
        """The tenant's last 1,000, oldest first, from after that id on; from the first where it is not among them."""
        events = self.log.read(tenant, self.clock())
        places = [place for place, event in enumerate(events) if event.id == after]
        following = events[places[-1] + 1 :] if places else events
        return [event for event in following if event_type in (None, event.type)]


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


def _chunks(pairs: Iterable[tuple[BusEvent, dict[str, Any]]]) -> "list[list[tuple[BusEvent, dict[str, Any]]]]":
    chunks: list[list[tuple[BusEvent, dict[str, Any]]]] = []
    room = 0
    for pair in pairs:
        size = _entry_bytes(pair[1])
        if not chunks or len(chunks[-1]) == ENTRIES_PER_CALL or size > room:
            chunks.append([])
            room = MAX_CALL_BYTES
        chunks[-1].append(pair)
        room -= size
    return chunks
