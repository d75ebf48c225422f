"""The writes by which a memory changes: the memory as it is now, and its version before in its history."""

from typing import Any

from recollect.domain.audit import content_hash
from recollect.domain.items import ABSENT, Due, Item, ItemWrite
from recollect.domain.memory import Memory
from recollect.domain.memory_items import memory_document, memory_key, version_key
from recollect.domain.scope import Scope

TO_PROJECT = "memories"
"""The queue of memories whose change the index may not show yet."""


def changed_writes(item: Item, before: Memory, after: Memory, due: Due | None = None) -> list[ItemWrite]:
    """Both, on condition that nobody changed it meanwhile. What was due stays due, until the index shows it."""
    return [
        ItemWrite(memory_key(after.id), memory_document(after), item.version, due or item.due),
        ItemWrite(version_key(before.id, before.version), memory_document(before), ABSENT),
    ]


def shown_write(item: Item) -> ItemWrite:
    """The same memory, no longer due; fails where it was changed meanwhile."""
    return ItemWrite(item.key, item.value, item.version)


def trace(scope: Scope, memory: Memory) -> dict[str, Any]:
    """What an audit entry says of a memory: its id, its version and a keyed hash of its content."""
    hashed = content_hash(scope.tenant, scope.user_id, memory.content)
    return {"id": memory.id, "version": memory.version, "hash": hashed}
