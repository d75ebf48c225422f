"""What is published: names and payloads are the documents' own (A-58 to A-66).

An id is the same when the same thing is published again, so that readers tell a repetition by it.

The outbox: what is to be published stands or falls with what it tells of (A-62, A-66).

An entry is an item in the same atomic write as the change itself. It is published after that, and again by every
reconciliation until the bus has taken it; a reader tells the repetition by the id.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from math import inf
from uuid import UUID, uuid5

from recollect.core.errors import RecollectError
from recollect.core.event import Event, Json
from recollect.core.items import MOST_WRITES, Due, Item, ItemKey, ItemPath, ItemWrite
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
"""Records that one pruned event names: some 30 KB, far from what an entry of the bus may have."""

_NAMESPACE = UUID("8f2b7a52-4a0e-5d43-9c2b-6a1f64a3c7de")
_HINTS = (
    "Look for the cause in the alarms and logs of the store that the source names.",
    "Then send a healthy signal (POST /v1/signals); what was deferred is promoted by the next reconciliation.",
)


@dataclass(frozen=True, slots=True)
class BusEvent:
    """One published event. `id` is the same when the same thing is published again, so that readers can tell."""

    id: str
    type: str
    time: datetime
    detail: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class SegmentPlace:
    """The segment that an event is counted to when it is projected, and how many segments its user has by then."""

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
    """The id under which the making of a memory is published: its own, since a memory has the id of its event."""
    return str(uuid5(_NAMESPACE, f"{SEMANTIC_SAVED}/{memory_id}"))


def saved_ids(record_id: str) -> tuple[str, str]:
    """The ids under which the log holds a record's words: what a deletion takes out of it."""
    return record_id, semantic_saved_id(record_id)


def semantic_saved(memory: Memory, now: datetime) -> BusEvent:
    """`memory:semantic:saved` of a memory that was made (A-23): its first version, and never of a duplicate.

    `timestamp` is that of its record, which log and removal find it by.
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
    """`memory:episodic:pruned` of events of one user that are gone (A-62, A-63): one for each persona, and for 500.

    `ids` and `hashes` (keyed, of the contents) are of equal length and order; `reason` is a word of ours, such as
    `retention`, `deleted`, `expired`.
    """
    by_persona = groupby(sorted(events, key=_persona), key=lambda event: event.persona_id)
    return [
        _pruned(scope, persona_id, part, reason, now)
        for persona_id, of_persona in by_persona
        for part in _parts(list(of_persona))
    ]


def pruned_ids(event: BusEvent) -> frozenset[str]:
    """The records that an `episodic_pruned` names."""
    ids = event.detail["ids"]
    return frozenset(map(str, ids)) if isinstance(ids, list) else frozenset()


def _parts(events: Sequence[Event]) -> list[Sequence[Event]]:
    return [events[start : start + PRUNED_AT_ONCE] for start in range(0, len(events), PRUNED_AT_ONCE)]


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
    """`memory:episodic:warning`, forwarded with hints for the operator (A-66)."""
    detail: dict[str, Json] = {"severity": severity, "reason": reason, "hints": list(_HINTS), "source": source}
    return BusEvent(warning_id, EPISODIC_WARNING, now, detail)


def semantic_warning(warning_id: str, severity: str, reason: str, now: datetime) -> BusEvent:
    """`memory:semantic:warning`: capacity is exceeded, or writes are slow (A-38)."""
    return BusEvent(warning_id, SEMANTIC_WARNING, now, {"severity": severity, "reason": reason})


OUTBOX = ItemPath("bus_outbox")
QUEUE = "bus_outbox"
RESERVE_SECONDS = 10.0
_PAGE = 100
_MOST_PAGES = 10_000


@dataclass(slots=True)
class OutboxRun:
    """How many events a run published, how many the bus did not take, and whether it came to the end."""

    published: int = 0
    refused: int = 0
    complete: bool = False


def outbox_write(event: BusEvent) -> ItemWrite:
    """The write that puts an event into the outbox of the owner that is written to; over one that is there already."""
    value = {"type": event.type, "detail": dict(event.detail)}
    return ItemWrite(_key(event.id), value, due=Due(QUEUE, datetime.fromtimestamp(0, UTC)))


class BusOutbox:
    """Publishes what stands in outboxes."""

    def __init__(self, items: Items, publisher: Publisher) -> None:
        self._items = items
        self._publisher = publisher

    def deliver(self, owner: Scope, events: Sequence[BusEvent], now: datetime) -> list[str]:
        """Publishes what was just written; answers the ids of those that stay. Raises as publisher and items."""
        left = self._publisher.publish(owner.tenant, events)
        taken = [ItemWrite(_key(event.id), None) for event in events if event.id not in left]
        for start in range(0, len(taken), MOST_WRITES):
            self._items.write(owner, taken[start : start + MOST_WRITES], now)
        return left

    def of_user(self, owner: Scope, now: datetime) -> None:
        """Publishes what is due of one owner's outbox; what cannot be published now stays for the reconciliation."""
        with suppress(RecollectError):
            found = self._items.page(owner, OUTBOX, _PAGE, None).items
            due = [_event(item, now) for item in found if item.due is not None and item.due.at <= now]
            if due:
                self.deliver(owner, due, now)

    def waiting(self, owner: Scope, event_type: str, now: datetime) -> list[BusEvent]:
        """What one owner's outbox holds of that type, due or not. Raises as items."""
        found: list[Item] = []
        after: str | None = None
        while True:
            page = self._items.page(owner, OUTBOX, _PAGE, after)
            found += [item for item in page.items if item.value["type"] == event_type]
            after = page.more
            if after is None:
                return [_event(item, now) for item in found]

    def drain(
        self, now: datetime, tenant: str | None = None, remaining_seconds: Callable[[], float] = lambda: inf
    ) -> OutboxRun:
        """Publishes what every outbox holds, or the tenant's; what fails stays. Raises as publisher and items."""
        run = OutboxRun()
        after: str | None = None
        for _ in range(_MOST_PAGES):
            page = self._items.due(QUEUE, now, _PAGE, after)
            for due in page.items:
                if remaining_seconds() < RESERVE_SECONDS:
                    return run
                if tenant in (None, due.owner.tenant):
                    self._one(due.owner, due.key, now, run)
            after = page.more
            if after is None:
                run.complete = True
                break
        return run

    def _one(self, owner: Scope, key: ItemKey, now: datetime, run: OutboxRun) -> None:
        item = self._items.get(owner, [key]).get(key)
        if item is None:
            return
        left = self.deliver(owner, [_event(item, now)], now)
        run.refused += len(left)
        run.published += 1 - len(left)


def _key(event_id: str) -> ItemKey:
    return ItemKey(OUTBOX, event_id)


def _event(item: Item, now: datetime) -> BusEvent:
    """As of now: whoever reads the bus on from a place in it has passed the time when it was written."""
    return BusEvent(item.key.key, item.value["type"], now, item.value["detail"])
