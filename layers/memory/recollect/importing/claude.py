"""Claude's export: `conversations.json`, each conversation with its `chat_messages` in the order said."""

from typing import Any

from recollect.core.errors import InvalidInput
from recollect.importing.records import Record, text_of, time_of
from recollect.importing.roles import role_of_name
from recollect.importing.source_ids import stable_id
from recollect.importing.turns import BadEntry, Entries, Entry, LeftOut, Place, Turn


def is_conversation(record: Record) -> bool:
    """Whether this is one conversation of such an export."""
    return isinstance(record.get("chat_messages"), list)


def turns_of_conversation(record: Record, place: Place, position: int) -> Entries:
    """The turns in the order of the file."""
    conversation_id = _identity(record, position)
    messages: Any = record["chat_messages"]
    for number, message in enumerate(messages, start=1):
        where = Place(f"{place.label}, message {number}", place.offset_bytes)
        try:
            yield _turn(message, record, where, number, conversation_id)
        except (InvalidInput, KeyError, TypeError, AttributeError):
            yield BadEntry(where, "is no message of Claude's export")


def _identity(record: Record, position: int) -> str:
    given = record.get("uuid")
    return given if isinstance(given, str) else f"claude-{stable_id(position, str(record.get('created_at')))}"


def _turn(message: Record, record: Record, place: Place, number: int, conversation_id: str) -> Entry:
    role = role_of_name(str(message["sender"]))
    text = _words(message)
    if role is None or not text.strip():
        return LeftOut(place)
    return Turn(
        place=place,
        conversation_id=conversation_id,
        role=role,
        speaker=None,
        content=text,
        timestamp=time_of(message.get("created_at") or record.get("created_at")),
        source_id=str(message.get("uuid") or stable_id(conversation_id, number, role, text)),
    )


def _words(message: Record) -> str:
    """The text parts; `text` where there are none, since it repeats them with notes on tools in between."""
    content = message.get("content")
    parts = [p for p in content if isinstance(p, dict) and p.get("type") == "text"] if isinstance(content, list) else []
    return text_of(parts) or text_of(message.get("text")) or ""
