"""The episodic record: one thing said or done, with the time it belongs to.

A session: one conversation, whose id everything said in it carries (K-59 to K-62, K-70).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import TypeAlias

from recollect.core.errors import Conflict
from recollect.core.vectors import passage_head

Json: TypeAlias = "str | int | float | bool | list[Json] | dict[str, Json] | None"

_NO_METADATA: Mapping[str, Json] = MappingProxyType({})


ANSWERED_BY = "model"
"""Names in an answer's metadata the model that gave it."""

QUOTING_MODEL = "extractive"
"""The provider without a model, which answers by quoting what was recalled."""


def no_metadata() -> Mapping[str, Json]:
    """The default: no pairs."""
    return _NO_METADATA


class Role(StrEnum):
    """Who spoke (H-19). `assistant` is accepted over HTTP and becomes `bot`."""

    USER = "user"
    BOT = "bot"


class ContentType(StrEnum):
    """What kind of content it is; decides the base score (K-01 to K-06)."""

    USERPREFERENCE = "userpreference"
    FACTUALLEARNING = "factuallearning"
    CONTEXTUALFACT = "contextualfact"
    DEFAULT = "default"
    USERINPUT = "userinput"
    ASSISTANTRESPONSE = "assistantresponse"


class EventType(StrEnum):
    """What kind of event it is; the bridge's whitelist speaks of these (A-41, A-60)."""

    CONVERSATION = "conversation"
    TASK = "task"
    REMINDER = "reminder"
    EMOTION = "emotion"
    PREFERENCE = "preference"
    CUSTOM = "custom"
    MEMORY = "memory"
    """The carrier of a directly saved memory: ours alone, no client gives or sees it."""


SPOKEN_TYPES = tuple(kind for kind in EventType if kind is not EventType.MEMORY)
"""The types of what was said or done: those that clients and rules may name."""


class Source(StrEnum):
    """Where it comes from, in falling order of trust (A-81)."""

    USER = "user"
    CONVERSATION = "conversation"
    SKILL = "skill"
    SYSTEM = "system"
    INFERRED = "inferred"


@dataclass(frozen=True, slots=True)
class EventRef:
    """Enough to find an event in any store: its id and its timestamp, which is part of its key."""

    id: str
    timestamp: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One event of the timeline, as stored.

    `timestamp` is when it was said, `recorded_at` when it arrived, both UTC with microseconds. `persona_id`
    None is the default persona. `embedding` is the caller's own vector, packed; None lets the embedder make one.
    `superseded_by` names the next newer event of the same `key`, `superseded_at` its timestamp.
    """

    id: str
    user_id: str
    persona_id: str | None = None
    household_id: str | None = None
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
    expires_at: datetime | None = None
    metadata: Mapping[str, Json] = field(default_factory=no_metadata)
    embedding: bytes | None = None
    superseded_by: str | None = None
    superseded_at: datetime | None = None
    version: int = 1

    @property
    def ref(self) -> EventRef:
        """Where it stands in the timeline."""
        return EventRef(self.id, self.timestamp)

    @property
    def is_carrier(self) -> bool:
        """Whether it only carries a memory: nothing was said or done, and no reading of the timeline shows it."""
        return self.event_type is EventType.MEMORY

    @property
    def is_quotation(self) -> bool:
        """Whether it is an answer that only quotes memory, or says that memory has nothing: it states no fact itself.

        It stays in the timeline, among the recent of a prompt and in its conversation's raw window; no search finds it
        and no memory is made of it.
        """
        return self.role is Role.BOT and self.metadata.get(ANSWERED_BY) == QUOTING_MODEL

    @property
    def is_searchable(self) -> bool:
        """Whether its words and its vector are in the index: not of what is private, nor of a quotation."""
        return not self.is_private and not self.is_quotation

    def superseded(self, by: EventRef | None) -> "Event":
        """The event's next version: superseded by that event, or by none any more."""
        changed = (by.id, by.timestamp) if by else (None, None)
        return replace(self, superseded_by=changed[0], superseded_at=changed[1], version=self.version + 1)

    def expired(self, now: datetime) -> bool:
        """Gone from every read from the instant `expires_at` on."""
        return self.expires_at is not None and self.expires_at <= now

    @property
    def searchable_text(self) -> str:
        """What search reads: content, title, category, notes (api.md, *Shapes*)."""
        return "\n".join(part for part in (self.title, self.content, self.category, self.notes) if part)

    @property
    def passage(self) -> str:
        """What is embedded: the searchable text; where a speaker is known, with name and day before it.

        `Anna on 8 May 2023: …`. Without a speaker the text stands alone, so that a thing said and a question in the
        same words stay close.
        """
        if not self.speaker:
            return self.searchable_text
        return passage_head(self.speaker, self.timestamp) + self.searchable_text


@dataclass(frozen=True, slots=True)
class Session:
    """`events` in the order in which they came. There is no service instance here: the caller brings the id back."""

    conversation_id: str
    events: tuple[Event, ...] = ()

    def joined_by(self, event: Event) -> "Session":
        """The session with one event more. Raises Conflict for an event of another conversation (K-70)."""
        if event.conversation_id != self.conversation_id:
            raise Conflict("the event is of another conversation")
        return Session(self.conversation_id, (*self.events, event))
