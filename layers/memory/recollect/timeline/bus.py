"""The bus: events as the documents name and describe them (A-58 to A-66), and the outbox before it (A-62, A-66).

A repeated publication has the same id, by which readers recognise it. An entry of the outbox is an item, written
atomically with the change that it reports. It is published after that, and again by every reconciliation until the bus
has accepted it.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from math import inf
from uuid import UUID, uuid5

from recollect.core.errors import RecollectError, Unavailable
from recollect.core.event import Event, Json
from recollect.core.items import Due, Item, ItemKey, ItemPath, ItemWrite, in_parts, pages, write_all
from recollect.core.scope import Scope
from recollect.core.time import iso
from recollect.memories.audit import content_hash
from recollect.memories.memory import Memory
from recollect.memories.promotion import lag_ms
from recollect.ports import Items, Publisher

EPISODIC_SAVED = "memory:episodic:saved"
EPISODIC_PRUNED = "memory:episodic:pruned"
EPISODIC_WARNING = "memory:episodic:warning"
SEMANTIC_SAVED = "memory:semantic:saved"
SEMANTIC_WARNING = "memory:semantic:warning"
KEPT_PER_TENANT = 1000
PRUNED_AT_ONCE = 500
"""Records that one pruned event names: some 30 KB, far below the limit of the bus."""

OUTBOX = ItemPath("bus_outbox")
QUEUE = "bus_outbox"
RESERVE_SECONDS = 10.0

_NAMESPACE = UUID("8f2b7a52-4a0e-5d43-9c2b-6a1f64a3c7de")
_HINTS = (
    "Look for the cause in the alarms and logs of the store that the source names.",
    "Then send a healthy signal (POST /v1/signals); what was deferred is promoted by the next reconciliation.",
)


@dataclass(frozen=True, slots=True)
class BusEvent:
    """A published event. `id` is the same in a repeated publication."""

    id: str
    type: str
    time: datetime
    detail: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class SegmentPlace:
    """The segment of a projected event, and how many segments its user has by then."""

    segment_id: str
    segment_count: int


def episodic_saved(event: Event, now: datetime, segment: SegmentPlace | None = None) -> BusEvent:
    """`memory:episodic:saved` of an event (A-44, A-59), with the diagnostics of A-61."""
    detail: dict[str, Json] = {
        "eventId": event.id,
        "userId": event.user_id,
        "personaId": event.persona_id,
        "eventType": event.event_type.value,
        "timestamp": iso(event.timestamp),
        "importance": event.importance,
        "content": event.content,
        "segmentId": segment.segment_id if segment else None,
        "timelineLagMs": lag_ms(event),
        "segmentCount": segment.segment_count if segment else 0,
    }
    return BusEvent(event.id, EPISODIC_SAVED, now, detail)


def semantic_saved_id(memory_id: str) -> str:
    """The id of a new memory's publication; it differs from the memory's, which is its event's."""
    return str(uuid5(_NAMESPACE, f"{SEMANTIC_SAVED}/{memory_id}"))


def saved_ids(record_id: str) -> tuple[str, str]:
    """The ids of a record's words in the published log: a deletion removes them there."""
    return record_id, semantic_saved_id(record_id)


def semantic_saved(memory: Memory, now: datetime) -> BusEvent:
    """`memory:semantic:saved` of a memory's first version (A-23); an event that joins a memory publishes none.

    `timestamp` is the record's, by which log and removal find it.
    """
    detail: dict[str, Json] = {
        "memoryId": memory.id,
        "userId": memory.user_id,
        "personaId": memory.persona_id,
        "householdId": memory.household_id,
        "timestamp": iso(memory.timestamp),
        "importance": memory.importance,
        "content": memory.content,
        "source": memory.source.value,
        "origin": memory.origin.value,
        "embeddingId": memory.embedding_id,
        "sourceEventIds": list(memory.source_event_ids),
    }
    return BusEvent(semantic_saved_id(memory.id), SEMANTIC_SAVED, now, detail)


def episodic_pruned(scope: Scope, events: Sequence[Event], reason: str, now: datetime) -> list[BusEvent]:
    """`memory:episodic:pruned` of one user's removed events (A-62, A-63): one for each persona and each 500 events.

    `ids` and `hashes` (keyed, of the contents) have equal length and order; `reason` is a word of ours, such as
    `retention`, `deleted`, `expired`.
    """
    by_persona = groupby(sorted(events, key=_persona), key=lambda event: event.persona_id)
    return [
        _pruned(scope, persona_id, part, reason, now)
        for persona_id, of_persona in by_persona
        for part in in_parts(list(of_persona), PRUNED_AT_ONCE)
    ]


def pruned_ids(event: BusEvent) -> frozenset[str]:
    ids = event.detail["ids"]
    return frozenset(map(str, ids)) if isinstance(ids, list) else frozenset()


def _persona(event: Event) -> tuple[bool, str, str]:
    return event.persona_id is not None, event.persona_id or "", event.id


def _pruned(scope: Scope, persona_id: str | None, events: Sequence[Event], reason: str, now: datetime) -> BusEvent:
    detail: dict[str, Json] = {
        "userId": scope.user_id,
        "personaId": persona_id,
        "ids": [event.id for event in events],
        "hashes": [content_hash(scope.tenant, scope.user_id, event.content) for event in events],
        "reason": reason,
    }
    named = "/".join([EPISODIC_PRUNED, *(event.id for event in events)])
    return BusEvent(str(uuid5(_NAMESPACE, named)), EPISODIC_PRUNED, now, detail)


def episodic_warning(warning_id: str, severity: str, reason: str | None, source: str, now: datetime) -> BusEvent:
    """`memory:episodic:warning`, with hints for the operator (A-66)."""
    detail: dict[str, Json] = {"severity": severity, "reason": reason, "hints": list(_HINTS), "source": source}
    return BusEvent(warning_id, EPISODIC_WARNING, now, detail)


def semantic_warning(warning_id: str, severity: str, reason: str, now: datetime) -> BusEvent:
    """`memory:semantic:warning`: capacity is exceeded, or writes are slow (A-38)."""
    return BusEvent(warning_id, SEMANTIC_WARNING, now, {"severity": severity, "reason": reason})


_PAGE = 100
_LOG = logging.getLogger(__name__)


@dataclass(slots=True)
class OutboxRun:
    """How many events a run published, how many the bus refused, how many failed, and whether it reached the end."""

    published: int = 0
    refused: int = 0
    failed: int = 0
    complete: bool = False


def outbox_write(event: BusEvent) -> ItemWrite:
    """The write that puts an event into the outbox of the written owner, or replaces it there."""
    value = {"type": event.type, "detail": dict(event.detail)}
    return ItemWrite(_key(event.id), value, due=Due(QUEUE, datetime.fromtimestamp(0, UTC)))


class BusOutbox:
    """Publishes what outboxes hold."""

    def __init__(self, items: Items, publisher: Publisher) -> None:
        self._items = items
        self._publisher = publisher

    def deliver(self, owner: Scope, events: Sequence[BusEvent], now: datetime) -> list[str]:
        """Publishes events just written; returns the ids that the bus refused. Raises as publisher and items."""
        left = self._publisher.publish(owner.tenant, events)
        taken = [ItemWrite(_key(event.id), None) for event in events if event.id not in left]
        write_all(self._items.write, owner, taken, now)
        return left

    def of_user(self, owner: Scope, now: datetime) -> None:
        """Publishes what is due in one owner's outbox; leaves failures to the reconciliation."""
        with suppress(RecollectError):
            found = self._items.page(owner, OUTBOX, _PAGE, None).items
            due = [_event(item, now) for item in found if item.due is not None and item.due.at <= now]
            if due:
                self.deliver(owner, due, now)

    def waiting(self, owner: Scope, event_type: str, now: datetime) -> list[BusEvent]:
        """Events of that type in one owner's outbox, due or not. Raises as items."""
        read = pages(lambda after: self._items.page(owner, OUTBOX, _PAGE, after))
        found = (item for page in read for item in page.items)
        return [_event(item, now) for item in found if item.value["type"] == event_type]

    def drain(
        self, now: datetime, tenant: str | None = None, remaining_seconds: Callable[[], float] = lambda: inf
    ) -> OutboxRun:
        """Publishes what all outboxes hold, or the tenant's; failures stay, and stop nothing else.

        Raises Unavailable where the bus or the items are away.
        """
        run = OutboxRun()
        for page in pages(lambda after: self._items.due(QUEUE, now, _PAGE, after)):
            for due in page.items:
                if remaining_seconds() < RESERVE_SECONDS:
                    return run
                if tenant in (None, due.owner.tenant):
                    self._one(due.owner, due.key, now, run)
            run.complete = page.more is None
        return run

    def _one(self, owner: Scope, key: ItemKey, now: datetime, run: OutboxRun) -> None:
        try:
            self._published(owner, key, now, run)
        except Unavailable:
            raise
        except Exception as error:  # noqa: BLE001 - one event that cannot be published must not hold up the others
            run.failed += 1
            _LOG.warning("an event of the outbox was not published", extra={"error": type(error).__name__})

    def _published(self, owner: Scope, key: ItemKey, now: datetime, run: OutboxRun) -> None:
        item = self._items.get(owner, [key]).get(key)
        if item is None:
            return
        left = self.deliver(owner, [_event(item, now)], now)
        run.refused += len(left)
        run.published += 1 - len(left)


def _key(event_id: str) -> ItemKey:
    return ItemKey(OUTBOX, event_id)


def _event(item: Item, now: datetime) -> BusEvent:
    """With the time of publication: a reader that follows the bus has passed the time of writing."""
    return BusEvent(item.key.key, item.value["type"], now, item.value["detail"])
