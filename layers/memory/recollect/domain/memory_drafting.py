"""A memory as somebody saves it, and what is kept of it: the memory, and the event that carries it (P-9)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from recollect.domain.errors import InvalidInput
from recollect.domain.event import ContentType, Event, EventType, Json, Role, Source, no_metadata
from recollect.domain.memory import Memory, Origin, embedding_id
from recollect.domain.rules import Rules
from recollect.domain.scope import Scope
from recollect.domain.tagging import extract_tags

DEFAULT_IMPORTANCE = 0.5
NO_CONVERSATION = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryDraft:
    """A memory as somebody saves it; None is "not given".

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

    def __post_init__(self) -> None:
        check_values(self.content, self.importance)


def check_values(content: str, importance: float | None) -> None:
    """Raises InvalidInput for blank content and for an importance outside [0, 1]."""
    if not content.strip():
        raise InvalidInput("must not be blank", ("content",))
    if importance is not None and not 0.0 <= importance <= 1.0:
        raise InvalidInput("must lie within 0 and 1", ("importance",))


def carrier_of(scope: Scope, draft: MemoryDraft, memory_id: str, now: datetime, rules: Rules) -> Event:
    """The event that carries it, without a time of expiry: that is the memory's, which may be edited."""
    source = draft.source or Source.USER
    return Event(
        id=memory_id,
        user_id=scope.user_id,
        persona_id=scope.persona_id,
        household_id=scope.household_id,
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
    """The memory that it carries, in its first version; `generation` is the embedder's."""
    return Memory(
        id=carrier.id,
        user_id=carrier.user_id,
        persona_id=carrier.persona_id,
        household_id=carrier.household_id,
        content=carrier.content,
        importance=carrier.importance,
        source=carrier.source,
        keywords=draft.keywords,
        timestamp=carrier.timestamp,
        key=carrier.key,
        valid_from=carrier.timestamp,
        recorded_at=carrier.recorded_at,
        origin=Origin.DIRECT,
        expires_at=draft.expires_at,
        metadata=carrier.metadata,
        embedding_id=embedding_id(generation, carrier.id),
    )
