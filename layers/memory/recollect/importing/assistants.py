"""ChatGPT's and Claude's exports: both a `conversations.json`, each in its own form.

A ChatGPT conversation is a tree; the person sees the path to `current_node`. A Claude conversation has its
`chat_messages` in order.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from recollect.core.errors import InvalidInput
from recollect.importing.records import Record, text_of, time_of
from recollect.importing.turns import BadEntry, Entries, Entry, LeftOut, Place, Turn, role_of_name, stable_id

_SPOKEN = ("text", "multimodal_text")
_EVERYBODY = (None, "all")

_Node = Mapping[str, Any]


def is_chatgpt(record: Record) -> bool:
    """Whether the record is one conversation of such an export."""
    return isinstance(record.get("mapping"), dict)


def turns_of_chatgpt(record: Record, place: Place, position: int) -> Entries:
    """The turns from the root to `current_node`, without abandoned branches."""
    conversation_id = _chatgpt_identity(record, position)
    said_at = record.get("create_time")
    for number, node in enumerate(_path(record), start=1):
        where = Place(f"{place.label}, message {number}", place.offset_bytes)
        try:
            said_at = node["message"].get("create_time") or said_at
            yield _chatgpt_turn(node, said_at, where, conversation_id)
        except (InvalidInput, KeyError, TypeError, AttributeError):
            yield BadEntry(where, "is no message of ChatGPT's export")


def _chatgpt_identity(record: Record, position: int) -> str:
    given = record.get("conversation_id") or record.get("id")
    return given if isinstance(given, str) else f"chatgpt-{stable_id(position, str(record.get('create_time')))}"


def _path(record: Record) -> list[_Node]:
    """The nodes with a message, from the root to the current one; each once, even in a circle of parents."""
    mapping: Any = record["mapping"]
    path: dict[str, _Node] = {}
    current = record.get("current_node") or _last_leaf(mapping)
    while isinstance(current, str) and isinstance(mapping.get(current), dict) and current not in path:
        path[current] = mapping[current]
        current = mapping[current].get("parent")
    return [node for node in reversed(path.values()) if node.get("message")]


def _last_leaf(mapping: Mapping[str, _Node]) -> str | None:
    leaves: Iterator[str] = (name for name in reversed(list(mapping)) if not mapping[name].get("children"))
    return next(leaves, None)


def _chatgpt_turn(node: _Node, said_at: object, place: Place, conversation_id: str) -> Entry:
    message: _Node = node["message"]
    role = role_of_name(message["author"]["role"])
    text = _chatgpt_words(message)
    if role is None or not text or not text.strip():
        return LeftOut(place)
    return Turn(
        place=place,
        conversation_id=conversation_id,
        role=role,
        speaker=None,
        content=text,
        timestamp=time_of(said_at),
        source_id=str(message.get("id") or node["id"]),
    )


def _chatgpt_words(message: _Node) -> str | None:
    """The text that the person saw: no tool calls, hidden context or reasoning."""
    content = message["content"]
    hidden = (message.get("metadata") or {}).get("is_visually_hidden_from_conversation")
    if hidden or message.get("recipient") not in _EVERYBODY or content.get("content_type") not in _SPOKEN:
        return None
    return text_of(content.get("parts"))


def is_claude(record: Record) -> bool:
    """Whether the record is one conversation of such an export."""
    return isinstance(record.get("chat_messages"), list)


def turns_of_claude(record: Record, place: Place, position: int) -> Entries:
    """The turns in the order of the file."""
    conversation_id = _claude_identity(record, position)
    messages: Any = record["chat_messages"]
    for number, message in enumerate(messages, start=1):
        where = Place(f"{place.label}, message {number}", place.offset_bytes)
        try:
            yield _claude_turn(message, record, where, number, conversation_id)
        except (InvalidInput, KeyError, TypeError, AttributeError):
            yield BadEntry(where, "is no message of Claude's export")


def _claude_identity(record: Record, position: int) -> str:
    given = record.get("uuid")
    return given if isinstance(given, str) else f"claude-{stable_id(position, str(record.get('created_at')))}"


def _claude_turn(message: Record, record: Record, place: Place, number: int, conversation_id: str) -> Entry:
    role = role_of_name(str(message["sender"]))
    text = _claude_words(message)
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


def _claude_words(message: Record) -> str:
    """The text parts; `text` only without them, since it repeats them with notes on tools."""
    content = message.get("content")
    parts = [p for p in content if isinstance(p, dict) and p.get("type") == "text"] if isinstance(content, list) else []
    return text_of(parts) or text_of(message.get("text")) or ""
