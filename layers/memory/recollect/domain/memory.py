"""The semantic record: one thing worth remembering, made from events or saved directly (A-19 to A-32).

A memory has the id of the record that it was first made from: the event that was promoted, or, where it was saved
directly, its carrier, an event of type `memory` that no reading of the timeline shows. So an event and the memory
made from it alone are one thing under one id, in the index too.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from recollect.domain.event import Event, EventRef, Json, Source, no_metadata
from recollect.domain.scope import Scope

MOST_SOURCES = 100
"""Events that one memory names; more of the same words make another memory."""


class MemoryStatus(StrEnum):
    """What became of a memory; only an active one is recalled."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    MERGED = "merged"
    RETRACTED = "retracted"
    EXPIRED = "expired"
    REJECTED = "rejected"


class Origin(StrEnum):
    """How a memory came to be: promoted from an event, saved directly, merged from several."""

    EVENT = "event"
    DIRECT = "direct"
    MERGED = "merged"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lapse:
    """A part of a memory's content that does not hold: characters `start` to `end`, from `since` on until `until`.

    `until` None is for good. `by` is the record that holds over it, the memory's own where its own bound is over;
    `rule` is the cue rule that says so (P-24).
    """

    by: str
    start: int
    end: int
    since: datetime
    until: datetime | None = None
    rule: str

    def covers(self, moment: datetime) -> bool:
        """Whether it counts at an instant of event time."""
        return self.since <= moment and (self.until is None or moment < self.until)


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One memory as it stands (api.md, *Shapes*).

    `timestamp` is the event's time, `recorded_at` when the memory was made, `valid_from` and `valid_to` (None: open)
    the event time within which it holds. `source_event_ids` are the events it was made from, oldest first; a directly
    saved one has none: it is evidence itself. `version` counts its changes from 1. `embedding_id` names generation and
    record of its vector, None without an embedder (A-22). `lapses` are parts of its content that something newer ended
    or holds over for a while; `settled_by` names what gave it its status: `key`, a cue rule, `arbiter`, `user`.
    """

    id: str
    user_id: str
    persona_id: str | None = None
    household_id: str | None = None
    content: str
    importance: float
    source: Source
    keywords: tuple[str, ...] = ()
    timestamp: datetime
    key: str | None = None
    status: MemoryStatus = MemoryStatus.ACTIVE
    valid_from: datetime
    valid_to: datetime | None = None
    recorded_at: datetime
    superseded_by: str | None = None
    source_event_ids: tuple[str, ...] = ()
    origin: Origin = Origin.EVENT
    expires_at: datetime | None = None
    metadata: Mapping[str, Json] = field(default_factory=no_metadata)
    embedding_id: str | None = None
    lapses: tuple[Lapse, ...] = ()
    settled_by: str | None = None
    version: int = 1

    @property
    def ref(self) -> EventRef:
        """The record that carries it: where the timeline keeps it."""
        return EventRef(self.id, self.timestamp)

    def expired(self, now: datetime) -> bool:
        """Gone from every read from the instant `expires_at` on."""
        return self.expires_at is not None and self.expires_at <= now


def promoted(event: Event, keywords: tuple[str, ...], now: datetime) -> Memory:
    """The memory that an event becomes, in its first version (A-58 to A-60)."""
    return Memory(
        id=event.id,
        user_id=event.user_id,
        persona_id=event.persona_id,
        household_id=event.household_id,
        content=event.content,
        importance=event.importance,
        source=event.source,
        keywords=keywords,
        timestamp=event.timestamp,
        key=event.key,
        valid_from=event.timestamp,
        recorded_at=now,
        source_event_ids=(event.id,),
        expires_at=event.expires_at,
        metadata=event.metadata,
    )


def embedding_id(generation: str | None, record_id: str) -> str | None:
    """The id of a record's vector: the embedder's generation and the record; None without an embedder (A-22)."""
    return f"{generation}/{record_id}" if generation else None


def content_identity(scope: Scope, key: str | None, content: str) -> str:
    """What makes two memories the same: persona, household, key and trimmed content (A-21); 64 hex digits."""
    parts = [scope.persona_id, scope.household_id, key, content.strip()]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
