"""What is published: names and payloads are the documents' own (A-59)."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from recollect.domain.event import Event, Json
from recollect.domain.instants import iso

EPISODIC_SAVED = "memory:episodic:saved"
KEPT_PER_TENANT = 1000


@dataclass(frozen=True, slots=True)
class BusEvent:
    """One published event. `id` is the same when the same thing is published again, so that readers can tell."""

    id: str
    type: str
    time: datetime
    detail: Mapping[str, Json]


def episodic_saved(event: Event, now: datetime) -> BusEvent:
    """`memory:episodic:saved` of an event (A-44, A-59); segments come with the segment store."""
    detail: dict[str, Json] = {
        "eventId": event.id,
        "userId": event.user_id,
        "personaId": event.persona_id,
        "eventType": event.event_type.value,
        "timestamp": iso(event.timestamp),
        "importance": event.importance,
        "content": event.content,
        "segmentId": None,
    }
    return BusEvent(event.id, EPISODIC_SAVED, now, detail)
