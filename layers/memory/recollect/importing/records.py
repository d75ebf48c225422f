"""One JSON object as one turn, under the field names of `turns.jsonl`, OpenAI-style messages, and similar files."""

from collections.abc import Iterable, Mapping
from datetime import datetime

from recollect.core.errors import InvalidInput
from recollect.core.event import Role
from recollect.core.time import parse_instant
from recollect.importing.turns import BadEntry, Entry, LeftOut, Place, Turn, role_of_name, role_of_speaker, stable_id

Record = Mapping[str, object]

_TEXT = ("text", "content", "message", "body")
_SPEAKER = ("speaker", "name", "author", "sender", "from")
_TIME = ("session_time", "timestamp", "created_at", "createdAt", "create_time", "time", "date", "datetime")
_CONVERSATION = ("conversation", "conversation_id", "conversationId", "thread_id", "session_id", "chat_id")
_ID = ("turn_id", "source_id", "message_id", "id", "uuid")


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
        timestamp=time_of(_first(record, _TIME)),
        source_id=given or stable_id(conversation, position, role, speaker, text),
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
    raise InvalidInput("the text is no text")


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
    given = record.get("role")
    if given is None:
        speaker = _first(record, _SPEAKER)
        return role_of_speaker(speaker if isinstance(speaker, str) else None)
    try:
        return role_of_name(str(given))
    except KeyError:
        raise _Unreadable("the role is none of user, assistant, system, tool") from None


def _first(record: Record, names: Iterable[str]) -> object:
    return next((record[name] for name in names if record.get(name) is not None), None)


def _text(record: Record, names: Iterable[str], what: str) -> str | None:
    value = _first(record, names)
    if value is None or isinstance(value, str):
        return value or None
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise _Unreadable(f"the {what} is no text")
