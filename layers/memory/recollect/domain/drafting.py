"""From what a caller sends to an event: what is given stands, what is absent follows the rules."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from recollect.domain.errors import InvalidInput
from recollect.domain.event import ContentType, Event, EventType, Json, Role, Source, no_metadata
from recollect.domain.rules import Rules
from recollect.domain.scope import Scope
from recollect.domain.scoring import content_type_of, score
from recollect.domain.tagging import extract_tags


@dataclass(frozen=True, slots=True, kw_only=True)
class EventDraft:
    """A valid event as the caller gave it; None is "not given".

    `tags` are no caller's to give: a response has those of the input that it answers (K-75).

    Raises InvalidInput for blank content (K-73) and for an importance outside [0, 1], which is not clamped (K-72).
    """

    content: str
    role: Role = Role.USER
    speaker: str | None = None
    content_type: str | None = None
    event_type: EventType = EventType.CONVERSATION
    source: Source | None = None
    timestamp: datetime | None = None
    importance: float | None = None
    tags: tuple[str, ...] | None = None
    key: str | None = None
    space_id: str | None = None
    title: str | None = None
    category: str | None = None
    notes: str | None = None
    views: int = 0
    is_private: bool = False
    expires_at: datetime | None = None
    embedding: bytes | None = None
    metadata: Mapping[str, Json] = field(default_factory=no_metadata)

    def __post_init__(self) -> None:
        if not self.content.strip():
            raise InvalidInput("must not be blank", ("content",))
        if self.importance is not None and not 0.0 <= self.importance <= 1.0:
            raise InvalidInput("must lie within 0 and 1", ("importance",))


def draft_event(
    scope: Scope, draft: EventDraft, event_id: str, conversation_id: str, now: datetime, rules: Rules
) -> Event:
    """The event to store. An importance that is given is used as it is, without boost (api.md, *Ingest*)."""
    content_type = _content_type(draft)
    importance = score(draft.content, content_type, rules) if draft.importance is None else draft.importance
    return Event(
        id=event_id,
        user_id=scope.user_id,
        persona_id=scope.persona_id,
        household_id=scope.household_id,
        conversation_id=conversation_id,
        role=draft.role,
        speaker=draft.speaker,
        content=draft.content,
        content_type=content_type,
        event_type=draft.event_type,
        source=draft.source or (Source.CONVERSATION if draft.role is Role.BOT else Source.USER),
        timestamp=draft.timestamp or now,
        recorded_at=now,
        importance=importance,
        tags=extract_tags(draft.content, rules) if draft.tags is None else draft.tags,
        key=draft.key,
        space_id=draft.space_id,
        title=draft.title,
        category=draft.category,
        notes=draft.notes,
        views=draft.views,
        is_private=draft.is_private,
        expires_at=draft.expires_at,
        metadata=draft.metadata,
        embedding=draft.embedding,
    )


def _content_type(draft: EventDraft) -> ContentType:
    if draft.content_type is None:
        return ContentType.ASSISTANTRESPONSE if draft.role is Role.BOT else ContentType.USERINPUT
    return content_type_of(draft.content_type)
