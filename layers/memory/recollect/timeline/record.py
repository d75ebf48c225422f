"""Events as JSON records (the stored form, the same in every adapter), as dedupe keys (P-20, P-22), and from drafts.

A draft is an event as the caller gave it; what is absent follows the rules.
"""

import base64
import hashlib
import json
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from recollect.core.errors import InvalidInput, StoredDataError
from recollect.core.event import ContentType, Event, EventType, Json, Role, Source, no_metadata
from recollect.core.scope import NO_LABELS, Labels, Scope
from recollect.core.time import from_iso, iso, sortable
from recollect.rules.groups import Rules
from recollect.rules.importance import content_type_of, extract_tags, score

FORMAT_VERSION = 1

_DEFAULTS: Mapping[str, Any] = MappingProxyType(
    {
        "event_type": "conversation",
        "views": 0,
        "is_private": False,
        "derive": True,
        "metadata": {},
        "tags": [],
        "namespace": [],
        "version": 1,
    }
)


def to_record(event: Event) -> dict[str, Any]:
    """The JSON record of an event, without None and default values."""
    record: dict[str, Any] = {"format": FORMAT_VERSION}
    for name in Event.__slots__:
        value = _to_json(getattr(event, name))
        if value is not None and value != _DEFAULTS.get(name, ...):
            record[name] = value
    return record


def from_record(record: Mapping[str, Any]) -> Event:
    """Reads a record; what is absent or null is the event's own default.

    Raises StoredDataError for a corrupt one or another format.
    """
    try:
        version = record["format"]
        if version != FORMAT_VERSION:
            raise StoredDataError(f"written in format {version}, this release reads format {FORMAT_VERSION}")
        if not record.keys() <= _KNOWN:
            raise ValueError("a field that no event has")
        return _filled(record)
    except (KeyError, TypeError, ValueError) as error:
        raise StoredDataError(f"an event's record cannot be read: {type(error).__name__}") from error


def _instant(text: str) -> datetime:
    """Raises ValueError for an instant without a zone, which compares with no other."""
    found = from_iso(text)
    if found.tzinfo is None:
        raise ValueError("an instant without a zone")
    return found


def _metadata(read: Mapping[str, Json]) -> Mapping[str, Json]:
    return MappingProxyType(dict(read))


def _member(kind: type[StrEnum]) -> Callable[[str], StrEnum]:
    """Finds a member by its value, some times faster than the enumeration does. Raises KeyError."""
    return {one.value: one for one in kind}.__getitem__


_READERS: Mapping[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("timestamp", "recorded_at", "expires_at", "superseded_at", "holds_until"), _instant),
    "role": _member(Role),
    "content_type": _member(ContentType),
    "event_type": _member(EventType),
    "source": _member(Source),
    "tags": tuple,
    "namespace": tuple,
    "metadata": _metadata,
    "embedding": base64.b64decode,
}
"""How the fields are read that JSON has no form of."""

_KNOWN = frozenset(("format", *Event.__slots__))


def _default(one: Field[Any]) -> Any:
    return one.default if one.default_factory is MISSING else one.default_factory()


_SLOTS = [(one.name, getattr(Event, one.name).__set__, _READERS.get(one.name), _default(one)) for one in fields(Event)]
"""An event's fields: how to fill each, how to read it where JSON has no form of it, what it is by default."""

_REQUIRED = tuple((name, fill, read) for name, fill, read, default in _SLOTS if default is MISSING)
_OPTIONAL = tuple(slot for slot in _SLOTS if slot[-1] is not MISSING)


def _filled(record: Mapping[str, Any]) -> Event:
    """Fills the slots themselves: a frozen class's constructor takes twice as long, and a context reads a hundred.

    Raises KeyError where a field that has no default is absent, ValueError where it is null.
    """
    event = object.__new__(Event)
    for name, fill, read in _REQUIRED:
        value = record[name]
        if value is None:
            raise ValueError("a field is null")
        fill(event, value if read is None else read(value))
    for name, fill, read, default in _OPTIONAL:
        value = record.get(name)
        fill(event, default if value is None else value if read is None else read(value))
    return event


def _to_json(value: object) -> object:
    if value is None or isinstance(value, str | bool | float | int):
        return value
    if isinstance(value, datetime):
        return iso(value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, Mapping):
        return dict(value)
    return value


def event_identity(scope: Scope, event: Event, given_conversation: str | None, given_timestamp: bool) -> str:
    """The dedupe key: 64 hex digits, equal for the same event (P-20).

    That is equal scope, labels, conversation as given, role, speaker, type, timestamp and content;
    `metadata.source_id` replaces the content. Without a given timestamp every event has its own key. Where it has an
    `idempotency_key`, that alone decides.
    """
    if event.idempotency_key is not None:
        return _digest("key", json.dumps([scope.user_id, event.idempotency_key]))
    if not given_timestamp:
        return _digest("id", event.id)
    source_id = event.metadata.get("source_id")
    said = ["source", source_id] if source_id is not None else ["content", _digest(event.content)]
    return _digest(
        json.dumps(
            [
                scope.user_id,
                event.persona_id,
                event.household_id,
                given_conversation,
                event.role,
                event.speaker,
                event.event_type,
                sortable(event.timestamp),
                said,
                *labels_in_hash(event.labels),
            ]
        )
    )


def labels_in_hash(labels: Labels) -> list[object]:
    """What labels add to the parts of a hash: nothing where there are none, so that hashes of before stay."""
    return [] if labels == NO_LABELS else [[labels.agent_id, labels.app_id, labels.namespace]]


def possible_identities(scope: Scope, event: Event) -> list[str]:
    """The dedupe keys that a stored event can have: its request may have named conversation and time, or not."""
    named = [event_identity(scope, event, conversation, True) for conversation in (event.conversation_id, None)]
    return [*named, event_identity(scope, event, None, False)]


def value_fingerprint(content: str) -> str:
    """Equal for contents that differ only in case, width, invisible characters and spaces (P-22)."""
    folded = unicodedata.normalize("NFKC", content).casefold()
    invisible = {ord(c): None for c in set(folded) if not c.isspace() and unicodedata.category(c)[0] == "C"}
    return _digest("value", " ".join(folded.translate(invisible).split()))


def body_hash(body: bytes) -> str:
    """The hash of a request's body, which an idempotency key must repeat."""
    return hashlib.sha256(body).hexdigest()


def _digest(*parts: str) -> str:
    return hashlib.sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class EventDraft:
    """A valid event as the caller gave it; None is "not given".

    Only our own code gives `tags`: a response has those of the input that it answers (K-75).

    Raises InvalidInput for blank content (K-73), for an importance outside [0, 1], which is not clamped (K-72), and for
    a key or a vector of an event of which nothing is to be derived.
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
    derive: bool = True
    idempotency_key: str | None = None
    expires_at: datetime | None = None
    embedding: bytes | None = None
    metadata: Mapping[str, Json] = field(default_factory=no_metadata)
    labels: Labels = NO_LABELS

    def __post_init__(self) -> None:
        if not self.content.strip():
            raise InvalidInput("must not be blank", ("content",))
        if self.importance is not None and not 0.0 <= self.importance <= 1.0:
            raise InvalidInput("must lie within 0 and 1", ("importance",))
        for name in ("key", "embedding"):
            if not self.derive and getattr(self, name) is not None:
                raise InvalidInput("an event of which nothing is derived has none", (name,))


def draft_event(
    scope: Scope, draft: EventDraft, event_id: str, conversation_id: str, now: datetime, rules: Rules
) -> Event:
    """The event to store; a given importance is used without boost."""
    content_type = _content_type(draft)
    importance = score(draft.content, content_type, rules) if draft.importance is None else draft.importance
    return Event(
        id=event_id,
        user_id=scope.user_id,
        persona_id=scope.persona_id,
        household_id=scope.household_id,
        agent_id=draft.labels.agent_id,
        app_id=draft.labels.app_id,
        namespace=draft.labels.namespace,
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
        derive=draft.derive,
        idempotency_key=draft.idempotency_key,
        expires_at=draft.expires_at,
        metadata=draft.metadata,
        embedding=draft.embedding,
    )


def _content_type(draft: EventDraft) -> ContentType:
    if draft.content_type is None:
        return ContentType.ASSISTANTRESPONSE if draft.role is Role.BOT else ContentType.USERINPUT
    return content_type_of(draft.content_type)
