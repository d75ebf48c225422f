"""The entries of an export, the role of each turn, and the events made of them; records as turns."""

import hashlib
import json
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import TypeAlias

from recollect.archive.record_line import METADATA_BYTES, METADATA_DEPTH, is_metadata
from recollect.core.errors import InvalidInput
from recollect.core.event import Json, Role, no_metadata
from recollect.core.time import parse_instant
from recollect.timeline.record import EventDraft

WITHOUT_DATE = datetime(1970, 1, 1, tzinfo=UTC)
"""The time of a turn whose export gives none: before everything dated, and the same in every import."""

LONGEST_CONTENT_BYTES = 64 * 1024
LONGEST_ID = 128
LONGEST_SOURCE_ID = 1024
_METADATA_FAULT = f"the metadata is larger than {METADATA_BYTES // 1024} KiB, or deeper than {METADATA_DEPTH} levels"

_ASSISTANTS = frozenset({
    "ai", "ai assistant", "assistant", "bot", "chatbot", "chatgpt", "claude", "copilot", "gemini", "gpt", "gpt-4",
    "llm", "meta ai", "model",
})  # fmt: skip
_PEOPLE = frozenset({"user", "human", "person", "customer"})
_NOBODY = frozenset({"system", "developer", "tool", "function"})
_LENGTH = 32


class ExportFormat(StrEnum):
    """The values of `--format`. `turns`: JSON Lines; `csv`: a header, rows; the others as their makers write them."""

    AUTO = "auto"
    TURNS = "turns"
    MESSAGES = "messages"
    CHATGPT = "chatgpt"
    CLAUDE = "claude"
    WHATSAPP = "whatsapp"
    MEM0 = "mem0"
    ZEP = "zep"
    CSV = "csv"


@dataclass(frozen=True, slots=True)
class Place:
    """The position of an entry: words for a person (`line 17`), and the bytes of the file up to its end."""

    label: str
    offset_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One message. `timestamp` None: the export has no time.

    `source_id` is unique in the conversation, and the same in every import of the export. `format` is what its file was
    recognised as.
    """

    place: Place
    conversation_id: str
    role: Role
    speaker: str | None = None
    content: str
    timestamp: datetime | None
    source_id: str
    metadata: Mapping[str, Json] = field(default_factory=no_metadata)
    derive: bool = True
    format: ExportFormat = ExportFormat.AUTO


@dataclass(frozen=True, slots=True)
class LeftOut:
    """An entry without a turn: a system line, a tool's output, an image without words."""

    place: Place


@dataclass(frozen=True, slots=True)
class BadEntry:
    """An entry that cannot be read; `reason` has no content of it."""

    place: Place
    reason: str


Entry: TypeAlias = Turn | LeftOut | BadEntry
Entries: TypeAlias = Iterator[Entry]


def role_of_speaker(speaker: str | None) -> Role:
    """The role of a speaker's name, where the export gives none: user, unless it is an assistant's name."""
    return Role.BOT if speaker is not None and speaker.strip().casefold() in _ASSISTANTS else Role.USER


def role_of_name(role: str) -> Role | None:
    """The role of a role's name; None for system and tools. Raises KeyError for an unknown one."""
    name = role.strip().casefold()
    if name in _NOBODY:
        return None
    if name in _ASSISTANTS or name in _PEOPLE:
        return Role.BOT if name in _ASSISTANTS else Role.USER
    raise KeyError(name)


def stable_id(*parts: str | int | None) -> str:
    """32 hex digits that identify a turn: its conversation, its position, its speaker and text.

    The content is part of it, so that another turn at the same position of a conversation of the same name differs.
    """
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:_LENGTH]


@dataclass(frozen=True, slots=True)
class PlacedDraft:
    """An event to store, its conversation, and its place in the export."""

    place: Place
    conversation_id: str
    draft: EventDraft


Draftable: TypeAlias = PlacedDraft | LeftOut | BadEntry


@dataclass(slots=True)
class Dating:
    """Gives undated turns the time of the turn before them in their conversation, else `at`; counts the latter."""

    at: datetime = WITHOUT_DATE
    undated: int = 0

    def __call__(self, entries: Entries) -> Entries:
        """The same entries, each turn with a time. Equal times keep their order by the ids of the events."""
        last: dict[str, datetime] = {}
        for entry in entries:
            yield self._dated(entry, last) if isinstance(entry, Turn) else entry

    def _dated(self, turn: Turn, last: dict[str, datetime]) -> Turn:
        if turn.timestamp is not None:
            last[turn.conversation_id] = turn.timestamp
            return turn
        self.undated += turn.conversation_id not in last
        return replace(turn, timestamp=last.get(turn.conversation_id, self.at))


def drafts_of(entries: Iterable[Entry]) -> Iterator[Draftable]:
    """A draft for each turn; a turn that exceeds a limit becomes a bad entry."""
    return (_draft(entry) if isinstance(entry, Turn) else entry for entry in entries)


def _draft(turn: Turn) -> PlacedDraft | BadEntry:
    metadata = {**turn.metadata, "source_id": turn.source_id}
    fault = _fault(turn) or (None if is_metadata(metadata) else _METADATA_FAULT)
    if fault:
        return BadEntry(turn.place, fault)
    draft = EventDraft(
        content=turn.content,
        role=turn.role,
        speaker=turn.speaker,
        timestamp=turn.timestamp,
        metadata=metadata,
        derive=turn.derive,
    )
    return PlacedDraft(turn.place, turn.conversation_id, draft)


def _fault(turn: Turn) -> str | None:
    if not all(map(_is_unicode, (turn.content, turn.conversation_id, turn.speaker or "", turn.source_id))):
        return "holds half of a surrogate pair"
    if not turn.content.strip():
        return "the text is empty"
    if len(turn.content.encode()) > LONGEST_CONTENT_BYTES:
        return f"the text is longer than {LONGEST_CONTENT_BYTES // 1024} KiB"
    if not is_id(turn.conversation_id):
        return "the conversation is no id: 1 to 128 characters, no control characters"
    if turn.speaker is not None and not is_id(turn.speaker):
        return "the speaker's name has more than 128 characters, or control characters"
    if len(turn.source_id) > LONGEST_SOURCE_ID:
        return f"the turn's id is longer than {LONGEST_SOURCE_ID} characters"
    return None


def is_id(text: str) -> bool:
    """Whether a client may choose this id: of 1 to 128 characters, no control characters, not `.` or `..`."""
    fits = 1 <= len(text) <= LONGEST_ID and text not in (".", "..")
    return fits and _is_unicode(text) and not any(unicodedata.category(character) == "Cc" for character in text)


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


Record = Mapping[str, object]

_TEXT = ("text", "content", "message", "body")
ROLE = "role"
_SPEAKER = ("speaker", "name", "author", "sender", "from")
TIME_FIELDS = (
    "session_time", "timestamp", "created_at", "createdAt", "create_time", "time", "date", "datetime", "sent_at", "at",
)  # fmt: skip
_CONVERSATION = ("conversation", "conversation_id", "conversationId", "thread_id", "session_id", "chat_id")
_ID = ("turn_id", "source_id", "message_id", "id", "uuid")
DERIVE = "derive"
TEXT_FIELDS = frozenset(_TEXT)
FIELDS = (*_TEXT, *_SPEAKER, *TIME_FIELDS, *_CONVERSATION, *_ID, ROLE, DERIVE)
"""What a record's fields are called."""


class _Unreadable(Exception):
    """A field of a record cannot be used."""


def turn_of_record(record: Record, place: Place, position: int, conversation_id: str) -> Entry:
    """The record's turn; `conversation_id` is for one that names none, `position` for one without an id."""
    try:
        if not any(name in record for name in _TEXT):
            return BadEntry(place, "there is no text")
        role = _role(record)
        text = text_of(_first(record, _TEXT))
        if role is None or text is None:
            return LeftOut(place)
        return _turn(record, place, position, conversation_id, role, text)
    except (_Unreadable, InvalidInput) as error:
        return BadEntry(place, str(error))


def _turn(record: Record, place: Place, position: int, fallback: str, role: Role, text: str) -> Turn:
    conversation = _text(record, _CONVERSATION, "conversation") or fallback
    speaker = _text(record, _SPEAKER, "speaker")
    given = _text(record, _ID, "turn id")
    return Turn(
        place=place,
        conversation_id=conversation,
        role=role,
        speaker=speaker,
        content=text,
        timestamp=time_of(_first(record, TIME_FIELDS)),
        source_id=given or stable_id(conversation, position, role, speaker, text),
        derive=_derive(record),
    )


def text_of(content: object) -> str | None:
    """The text of a content: a string, or the text parts of a list; None without any.

    Raises InvalidInput for anything else.
    """
    if content is None:
        return None
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(_part_texts(content)) or None
    raise InvalidInput("the content is not text")


def _part_texts(parts: Iterable[object]) -> Iterable[str]:
    for part in parts:
        if isinstance(part, str):
            yield part
        elif isinstance(part, dict) and isinstance(part.get("text"), str):
            yield part["text"]


def time_of(value: object) -> datetime | None:
    """The instant, None for none. Raises InvalidInput where it is no time."""
    return None if value is None or value == "" else parse_instant(value)


def _role(record: Record) -> Role | None:
    given = record.get(ROLE)
    if given is None:
        speaker = _first(record, _SPEAKER)
        return role_of_speaker(speaker if isinstance(speaker, str) else None)
    try:
        return role_of_name(str(given))
    except KeyError:
        raise _Unreadable("the role is none of user, assistant, system, tool") from None


def _derive(record: Record) -> bool:
    """Whether anything is to be derived of it; what is not there says yes."""
    given = record.get(DERIVE)
    said = "" if given is None else str(given).strip().casefold()
    if said not in ("", "true", "false"):
        raise _Unreadable(f"`{DERIVE}` is neither true nor false")
    return said != "false"


def _first(record: Record, names: Iterable[str]) -> object:
    return next((record[name] for name in names if record.get(name) is not None), None)


def _text(record: Record, names: Iterable[str], what: str) -> str | None:
    value = _first(record, names)
    if value is None or isinstance(value, str):
        return value or None
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise _Unreadable(f"the {what} is no text")
