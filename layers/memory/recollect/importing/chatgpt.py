"""ChatGPT's export: `conversations.json`, each conversation a tree of which one path is what the person sees."""

from collections.abc import Iterator, Mapping
from typing import Any

from recollect.core.errors import InvalidInput
from recollect.importing.records import Record, text_of, time_of
from recollect.importing.roles import role_of_name
from recollect.importing.source_ids import stable_id
from recollect.importing.turns import BadEntry, Entries, Entry, LeftOut, Place, Turn

_SPOKEN = ("text", "multimodal_text")
_EVERYBODY = (None, "all")

_Node = Mapping[str, Any]


def is_conversation(record: Record) -> bool:
    """Whether this is one conversation of such an export."""
    return isinstance(record.get("mapping"), dict)


def turns_of_conversation(record: Record, place: Place, position: int) -> Entries:
    """The turns from the first to `current_node`; branches that were abandoned are not said any more."""
    conversation_id = _identity(record, position)
    said_at = record.get("create_time")
    for number, node in enumerate(_path(record), start=1):
        where = Place(f"{place.label}, message {number}", place.offset_bytes)
        try:
            said_at = node["message"].get("create_time") or said_at
            yield _turn(node, said_at, where, conversation_id)
        except (InvalidInput, KeyError, TypeError, AttributeError):
            yield BadEntry(where, "is no message of ChatGPT's export")


def _identity(record: Record, position: int) -> str:
    given = record.get("conversation_id") or record.get("id")
    return given if isinstance(given, str) else f"chatgpt-{stable_id(position, str(record.get('create_time')))}"


def _path(record: Record) -> list[_Node]:
    """The nodes that hold a message, from the root to the current one; each once, whatever the parents say."""
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


def _turn(node: _Node, said_at: object, place: Place, conversation_id: str) -> Entry:
    message: _Node = node["message"]
    role = role_of_name(message["author"]["role"])
    text = _words(message)
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


def _words(message: _Node) -> str | None:
    """What was said to the person: no call of a tool, no hidden context, no thoughts."""
    content = message["content"]
    hidden = (message.get("metadata") or {}).get("is_visually_hidden_from_conversation")
    if hidden or message.get("recipient") not in _EVERYBODY or content.get("content_type") not in _SPOKEN:
        return None
    return text_of(content.get("parts"))
