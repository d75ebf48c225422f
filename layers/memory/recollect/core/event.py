"""The episodic record: an event, one thing said or done, with the time it belongs to.

A session is one conversation; every event in it carries its id (K-59 to K-62, K-70).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from types import MappingProxyType
from typing import TypeAlias

from recollect.core.errors import Conflict
from recollect.core.scope import Labels
from recollect.core.vectors import passage_head

Json: TypeAlias = "str | int | float | bool | list[Json] | dict[str, Json] | None"

_NO_METADATA: Mapping[str, Json] = MappingProxyType({})

OPEN_ENDED = datetime(9999, 12, 31, tzinfo=UTC)
"""`Event.holds_until` where the words of a value set no end."""

ANSWERED_BY = "model"
"""The metadata field that names the model which gave an answer."""

QUOTING_MODEL = "extractive"
"""The provider without a model, which answers with quotations of recalled records."""


def no_metadata() -> Mapping[str, Json]:
    return _NO_METADATA


class Role(StrEnum):
    """Who spoke (H-19). `assistant` is accepted over HTTP and becomes `bot`."""

    USER = "user"
    BOT = "bot"


class ContentType(StrEnum):
    """The kind of content; it decides the base score (K-01 to K-06)."""

    USERPREFERENCE = "userpreference"
    FACTUALLEARNING = "factuallearning"
    CONTEXTUALFACT = "contextualfact"
    DEFAULT = "default"
    USERINPUT = "userinput"
    ASSISTANTRESPONSE = "assistantresponse"


class EventType(StrEnum):
    """The kind of event; the bridge's whitelist names these (A-41, A-60)."""

    CONVERSATION = "conversation"
    TASK = "task"
    REMINDER = "reminder"
    EMOTION = "emotion"
    PREFERENCE = "preference"
    CUSTOM = "custom"
    MEMORY = "memory"
    """The carrier of a directly saved memory: internal, no client sends or sees it."""


SPOKEN_TYPES = tuple(kind for kind in EventType if kind is not EventType.MEMORY)
"""The types that clients and rules may name."""


class Source(StrEnum):
    """Where an event comes from, in falling order of trust (A-81)."""

    USER = "user"
    CONVERSATION = "conversation"
    SKILL = "skill"
    SYSTEM = "system"
    INFERRED = "inferred"


@dataclass(frozen=True, slots=True)
class EventRef:
    """Locates an event in any store: its id and its timestamp, which is part of its key."""

    id: str
    timestamp: datetime


@dataclass(frozen=True, slots=True)
class RecordOrigin:
    """The record that a record was copied from; its own id where it is no copy."""

    user_id: str
    event_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One event of the timeline, as stored.

    `timestamp` is when it was said, `recorded_at` when it arrived; both are UTC with microseconds. `persona_id` None is
    the default persona. `embedding` is the caller's own vector, packed; with None the embedder makes one.
    `superseded_by` names the next newer event of the same `key`, `superseded_at` is that event's timestamp.
    `holds_until` is the exclusive end that the words of a keyed event set ("until Friday"), OPEN_ENDED without
    one, None until `project` has read them (P-24). Of an event without `derive` nothing is derived (`derives_nothing`).
    A user has one event of an `idempotency_key`.
    """

    id: str
    user_id: str
    persona_id: str | None = None
    household_id: str | None = None
    agent_id: str | None = None
    app_id: str | None = None
    namespace: tuple[str, ...] = ()
    conversation_id: str
    role: Role
    speaker: str | None = None
    content: str
    content_type: ContentType
    event_type: EventType = EventType.CONVERSATION
    source: Source
    timestamp: datetime
    recorded_at: datetime
    importance: float
    tags: tuple[str, ...] = ()
    key: str | None = None
    space_id: str | None = None
    title: str | None = None
    category: str | None = None
    notes: str | None = None
    views: int = 0
    is_private: bool = False
    derive: bool = True
    idempotency_key: str | None = None
    expires_at: datetime | None = None
    metadata: Mapping[str, Json] = field(default_factory=no_metadata)
    embedding: bytes | None = None
    superseded_by: str | None = None
    superseded_at: datetime | None = None
    holds_until: datetime | None = None
    version: int = 1

    @property
    def ref(self) -> EventRef:
        return EventRef(self.id, self.timestamp)

    @property
    def labels(self) -> Labels:
        return Labels(self.agent_id, self.app_id, self.namespace)

    @property
    def is_carrier(self) -> bool:
        """Whether it only carries a saved memory; no list of the timeline shows it."""
        return self.event_type is EventType.MEMORY

    @property
    def derives_nothing(self) -> bool:
        """Whether its sender wants nothing derived of it, or it only quotes memory and so states no fact itself.

        It stays in the timeline, in the recent part of a prompt and in its conversation's raw window; no search finds
        it and no memory is made of it. Summaries read a quotation.
        """
        return not self.derive or (self.role is Role.BOT and self.metadata.get(ANSWERED_BY) == QUOTING_MODEL)

    @property
    def is_searchable(self) -> bool:
        """Whether the index holds its words and its vector: not of a private event, nor of what `derives_nothing`."""
        return not self.is_private and not self.derives_nothing

    @property
    def is_summarized(self) -> bool:
        """Whether summaries count and read it."""
        return self.derive and not self.is_private

    @property
    def is_announced(self) -> bool:
        """Whether the bus tells that it was stored, and that a person deleted it (A-62); not of a memory alone."""
        return self.is_summarized and not self.is_carrier

    @property
    def is_own_words(self) -> bool:
        """Whether a person stated it: not the assistant, nothing inferred, nothing private."""
        stated = self.role is Role.USER and self.source is not Source.INFERRED
        return stated and self.derive and not self.is_private

    def superseded(self, by: EventRef | None) -> "Event":
        """The event's next version: superseded by that event, or by none any more."""
        changed = (by.id, by.timestamp) if by else (None, None)
        return replace(self, superseded_by=changed[0], superseded_at=changed[1], version=self.version + 1)

    def expired(self, now: datetime) -> bool:
        """Whether every read hides it: from the instant `expires_at` on."""
        return self.expires_at is not None and self.expires_at <= now

    @property
    def searchable_text(self) -> str:
        """The text that search reads: content, title, category, notes."""
        return "\n".join(part for part in (self.title, self.content, self.category, self.notes) if part)

    @property
    def passage(self) -> str:
        """The text to embed: the searchable text, after name and day where the speaker is known (`passage_head`).

        Without a speaker the text stands alone, so that a statement and a question in the same words stay close.
        """
        if not self.speaker:
            return self.searchable_text
        return passage_head(self.speaker, self.timestamp) + self.searchable_text


@dataclass(frozen=True, slots=True)
class Session:
    """One conversation; `events` in the order of their arrival. No process keeps it: the caller sends the id again."""

    conversation_id: str
    events: tuple[Event, ...] = ()

    def joined_by(self, event: Event) -> "Session":
        """The session with one more event. Raises Conflict for an event of another conversation (K-70)."""
        if event.conversation_id != self.conversation_id:
            raise Conflict("the event is of another conversation")
        return Session(self.conversation_id, (*self.events, event))
