"""The bus.

Published events with the documents' names and payloads (A-58 to A-66), and the outbox before it (A-62, A-66).

A repeated publication has the same id, by which readers recognise it. An entry of the outbox is an item, written
atomically with the change that it reports. It is published after that, and again by every reconciliation until the bus
has accepted it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from uuid import UUID, uuid5

from recollect.core.event import Event, Json
from recollect.core.items import ItemPath
from recollect.core.scope import Scope
from recollect.core.time import iso
from recollect.memories.audit import content_hash
from recollect.memories.memory import Memory
from recollect.memories.promotion import lag_ms

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
        for part in _parts(list(of_persona))
    ]


def pruned_ids(event: BusEvent) -> frozenset[str]:
    """The ids in an `episodic_pruned`."""
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
    """`memory:episodic:warning`, with hints for the operator (A-66)."""
    detail: dict[str, Json] = {"severity": severity, "reason": reason, "hints": list(_HINTS), "source": source}
    return BusEvent(warning_id, EPISODIC_WARNING, now, detail)


def semantic_warning(warning_id: str, severity: str, reason: str, now: datetime) -> BusEvent:
    """`memory:semantic:warning`: capacity is exceeded, or writes are slow (A-38)."""
    return BusEvent(warning_id, SEMANTIC_WARNING, now, {"severity": severity, "reason": reason})
