"""mem0's memories, as `get_all` and its exports give them: a list of what is known of one user."""

from collections.abc import Iterable, Sequence
from typing import Any

from recollect.core.errors import InvalidInput
from recollect.core.event import Role
from recollect.importing.turns import TEXT_FIELDS, BadEntry, Entries, Entry, Place, Turn, stable_id, time_of

Placed = tuple[Place, object]


def are_memories(values: Iterable[object]) -> bool:
    """Whether one of them is a memory of mem0's."""
    return any(map(_is_memory, values))


def turns_of_memories(memories: Sequence[Placed], conversation_id: str) -> Entries:
    """A turn of the user for each; `conversation_id` is for one that names no `run_id`.

    Raises InvalidInput where they are of several users: they would become the memory of one.
    """
    users = {str(one["user_id"]) for _, one in memories if isinstance(one, dict) and one.get("user_id") is not None}
    if len(users) > 1:
        raise InvalidInput(f"the file has the memories of {len(users)} users: import a file for each of them")
    for number, (place, memory) in enumerate(memories, start=1):
        yield _entry(memory, place, number, conversation_id)


def _is_memory(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("memory"), str) and value.keys().isdisjoint(TEXT_FIELDS)


def _entry(memory: Any, place: Place, number: int, fallback: str) -> Entry:
    if not _is_memory(memory):
        return BadEntry(place, "is no memory of mem0's export")
    if not isinstance(memory.get("metadata"), dict | None):
        return BadEntry(place, "the metadata is no object")
    try:
        said_at = time_of(memory.get("created_at"))
    except InvalidInput as error:
        return BadEntry(place, str(error))
    conversation_id = str(memory.get("run_id") or fallback)
    return Turn(
        place=place,
        conversation_id=conversation_id,
        role=Role.USER,
        content=memory["memory"],
        timestamp=said_at,
        source_id=str(memory.get("id") or stable_id(conversation_id, number, memory["memory"])),
        metadata=memory.get("metadata") or {},
    )
