"""The semantic record: a memory, made from events or saved directly (A-19 to A-32), and what of it holds when (P-24).

A memory has the id of its first record: the promoted event or, of a directly saved memory, its carrier, an event of
type `memory` that no list of the timeline shows (P-9). So an event and the memory made from it alone are one thing
under one id, in the index too.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from recollect.core.errors import InvalidInput
from recollect.core.event import ContentType, Event, EventRef, EventType, Json, Role, Source, no_metadata
from recollect.core.scope import NO_LABELS, Labels, Scope
from recollect.rules.groups import Rules
from recollect.rules.importance import extract_tags
from recollect.text.omission import left_of
from recollect.timeline.record import labels_in_hash

MOST_SOURCES = 100
"""Events that one memory names; a further event with the same words makes another memory."""

DEFAULT_IMPORTANCE = 0.5
NO_CONVERSATION = ""


class MemoryStatus(StrEnum):
    """Only an active memory is recalled."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    MERGED = "merged"
    RETRACTED = "retracted"
    EXPIRED = "expired"
    REJECTED = "rejected"


class Origin(StrEnum):
    """How a memory was made: promoted from an event, saved directly, merged from several."""

    EVENT = "event"
    DIRECT = "direct"
    MERGED = "merged"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lapse:
    """A part of a memory's content that does not hold: characters `start` to `end`, in `since <= time < until`.

    `until` None is for good: at once for a reader of now, or, `announced`, from the day `since` on. `by` is the record
    that holds instead, or the memory's own id where its own bound has passed; `rule` names what decided (P-24).
    """

    by: str
    start: int
    end: int
    since: datetime
    until: datetime | None = None
    rule: str
    announced: bool = False

    def covers(self, moment: datetime) -> bool:
        """Whether it applies at an instant of event time."""
        return self.since <= moment and (self.until is None or moment < self.until)


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One memory.

    `timestamp` is the event's time, `recorded_at` when the memory was made; it holds in event time from `valid_from` to
    `valid_to` (None: open). `source_event_ids` are the events it was made from, oldest first; a directly saved memory
    has none, being evidence itself. `version` counts its changes from 1. `embedding_id` names generation and record of
    its vector, None without an embedder (A-22). `lapses` are parts of its content that something newer ended or
    suspended; `settled_by` names what set its status: `key`, the judge by name and version, `arbiter`, `user`.
    """

    id: str
    user_id: str
    persona_id: str | None = None
    household_id: str | None = None
    agent_id: str | None = None
    app_id: str | None = None
    namespace: tuple[str, ...] = ()
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
        """Its record's place in the timeline."""
        return EventRef(self.id, self.timestamp)

    @property
    def labels(self) -> Labels:
        return Labels(self.agent_id, self.app_id, self.namespace)

    def is_as_said(self, record: str) -> bool:
        """Whether it has its record's words: it was neither merged nor edited."""
        return self.origin is not Origin.MERGED and self.content == record

    @property
    def has_ended(self) -> bool:
        """Whether something newer, or a person, ended it or a part of it, now or for a day to come."""
        return self.status is not MemoryStatus.ACTIVE or bool(self.lapses)

    def expired(self, now: datetime) -> bool:
        """Whether every read hides it: from the instant `expires_at` on."""
        return self.expires_at is not None and self.expires_at <= now


def promoted(event: Event, keywords: tuple[str, ...], now: datetime) -> Memory:
    """The first version of the memory made from an event (A-58 to A-60)."""
    return Memory(
        id=event.id,
        user_id=event.user_id,
        persona_id=event.persona_id,
        household_id=event.household_id,
        agent_id=event.agent_id,
        app_id=event.app_id,
        namespace=event.namespace,
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
    """The id of a record's vector: the embedder's generation and the record's id; None without an embedder (A-22)."""
    return f"{generation}/{record_id}" if generation else None


def content_identity(record: Event | Memory) -> str:
    """The same 64 hex digits for equal persona, household, labels, key and trimmed content (A-21)."""
    own = [record.persona_id, record.household_id, record.key, record.content.strip()]
    parts = [*own, *labels_in_hash(record.labels)]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryDraft:
    """A memory as a caller saves it; None is "not given".

    Raises InvalidInput for blank content and for an importance outside [0, 1].
    """

    content: str
    importance: float | None = None
    source: Source | None = None
    keywords: tuple[str, ...] = ()
    timestamp: datetime | None = None
    key: str | None = None
    expires_at: datetime | None = None
    metadata: Mapping[str, Json] = field(default_factory=no_metadata)
    embedding: bytes | None = None
    labels: Labels = NO_LABELS

    def __post_init__(self) -> None:
        check_values(self.content, self.importance)


def check_values(content: str, importance: float | None) -> None:
    """Raises InvalidInput for blank content and for an importance outside [0, 1]."""
    if not content.strip():
        raise InvalidInput("must not be blank", ("content",))
    if importance is not None and not 0.0 <= importance <= 1.0:
        raise InvalidInput("must lie within 0 and 1", ("importance",))


def carrier_of(scope: Scope, draft: MemoryDraft, memory_id: str, now: datetime, rules: Rules) -> Event:
    """The carrier event, without an expiry: that belongs to the memory, which may be edited."""
    source = draft.source or Source.USER
    return Event(
        id=memory_id,
        user_id=scope.user_id,
        persona_id=scope.persona_id,
        household_id=scope.household_id,
        agent_id=draft.labels.agent_id,
        app_id=draft.labels.app_id,
        namespace=draft.labels.namespace,
        conversation_id=NO_CONVERSATION,
        role=Role.BOT if source is Source.INFERRED else Role.USER,
        content=draft.content,
        content_type=ContentType.CONTEXTUALFACT,
        event_type=EventType.MEMORY,
        source=source,
        timestamp=draft.timestamp or now,
        recorded_at=now,
        importance=DEFAULT_IMPORTANCE if draft.importance is None else draft.importance,
        tags=extract_tags(draft.content, rules),
        key=draft.key,
        metadata=draft.metadata,
        embedding=draft.embedding,
    )


def memory_of(carrier: Event, draft: MemoryDraft, generation: str | None) -> Memory:
    """The first version of the carrier's memory; `generation` is the embedder's."""
    memory = promoted(carrier, draft.keywords, carrier.recorded_at)
    vector = embedding_id(generation, carrier.id)
    return replace(memory, origin=Origin.DIRECT, source_event_ids=(), expires_at=draft.expires_at, embedding_id=vector)


def with_changes(memory: Memory, changes: Mapping[str, Any]) -> Memory:
    """The memory as a person changed it; new words drop the lapses of the old ones. Its version stays."""
    after = replace(memory, **changes)
    return after if after.content == memory.content else replace(after, lapses=())


_NEVER = (MemoryStatus.RETRACTED, MemoryStatus.EXPIRED, MemoryStatus.REJECTED)


def memory_at(memory: Memory, moment: datetime) -> Memory | None:
    """The memory in the words that hold at `moment`; None where none do.

    A memory superseded only later is current then: it has no successor yet, and is open.
    """
    if not holds_at(memory, moment):
        return None
    text = text_at(memory, moment)
    if text is None:
        return None
    if memory.status is MemoryStatus.ACTIVE:
        return memory if text == memory.content else replace(memory, content=text)
    return replace(memory, content=text, status=MemoryStatus.ACTIVE, superseded_by=None, valid_to=None)


def holds_at(memory: Memory, moment: datetime) -> bool:
    """Whether `valid_from <= moment < valid_to`; a retracted, expired or rejected memory never holds."""
    if memory.status in _NEVER:
        return False
    ended = memory.valid_to is not None and memory.valid_to <= moment
    undated = memory.status is not MemoryStatus.ACTIVE and memory.valid_to is None
    return memory.valid_from <= moment and not ended and not undated


def text_at(memory: Memory, moment: datetime) -> str | None:
    """The content without its parts that do not hold then; None where fewer than two content words remain."""
    spans = [(lapse.start, lapse.end) for lapse in memory.lapses if lapse.covers(moment)]
    return left_of(memory.content, spans) if spans else memory.content
