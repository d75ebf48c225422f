"""Memories: saved directly, read, listed, edited, deleted, each with its history (api.md, *Read*, *Versions*)."""

from recollect.core.event import Source
from recollect.entrypoints.http.event_drafts import CONTENT_BYTES, vector
from recollect.entrypoints.http.fields import (
    Field,
    Shape,
    choice,
    identifier,
    in_query,
    instant,
    list_of,
    number,
    text,
    whole,
)
from recollect.entrypoints.http.json_values import metadata
from recollect.entrypoints.http.memory_changes import PatchShape, delete_memory, or_null, patch_memory
from recollect.entrypoints.http.memory_reading import get_memory, list_memories, memory_history
from recollect.entrypoints.http.memory_saving import ROUTE, save_memory
from recollect.entrypoints.http.rejecting import REJECT
from recollect.entrypoints.http.routing import COMMON_STATUSES, READ_STATUSES, Route
from recollect.memories.memory import MemoryStatus

MOST_KEYWORDS = 50
_KEYWORD_BYTES = 512


def _keywords() -> Field:
    return list_of(text(max_bytes=_KEYWORD_BYTES, blank=False), 0, MOST_KEYWORDS)


_CONTENT = text(max_bytes=CONTENT_BYTES, blank=False)
MEMORY_BODY = Shape(
    "NewMemory",
    {
        "user_id": identifier().needed(),
        "persona_id": identifier().described("Absent: the default persona."),
        "household_id": identifier(),
        "content": _CONTENT.needed().described("One thing worth remembering; at most 64 KiB of UTF-8."),
        "embedding": vector().described("The caller's own vector, of the embedder's dimension; absent: made here."),
        "importance": number(0, 1).described("Absent: 0.5."),
        "source": choice(*Source).described("Absent: `user`."),
        "keywords": _keywords(),
        "timestamp": instant().described("Since when it holds; absent: now. Without a zone it is UTC."),
        "key": identifier().described("The slot whose value this is: the newest of a key is its value."),
        "expires_at": instant().described("Gone from every read from that instant on."),
        "metadata": metadata().described("At most 16 KiB of JSON, 8 levels."),
    },
)
MEMORY_PATCH = PatchShape(
    "MemoryPatch",
    {
        "content": _CONTENT.described("Other words; those before stay in the history, and are found no longer."),
        "importance": number(0, 1),
        "keywords": _keywords(),
        "expires_at": or_null(instant()).described("Gone from every read from that instant on; null: never."),
        "metadata": metadata().described("Replaces all of it. At most 16 KiB of JSON, 8 levels."),
    },
    cleared_by_null=("expires_at",),
)
_NARROWING = {"persona_id": identifier(), "household_id": identifier()}
MEMORY_QUERY = Shape("MemoryQuery", _NARROWING)
FORGET_MEMORY_QUERY = Shape("ForgetMemoryQuery", {**_NARROWING, "reject": REJECT})
MEMORIES_QUERY = Shape(
    "MemoriesQuery",
    {
        **_NARROWING,
        "status": choice(*MemoryStatus),
        "key": identifier(),
        "source_event_id": identifier().described("The memory that this event is in."),
        "limit": in_query(whole(1, 200, default=50)),
        "cursor": text(max_bytes=4096),
    },
)

_MEMORIES = "/v1/users/{user_id}/memories"
_MEMORY = f"{_MEMORIES}/{{memory_id}}"
ROUTES = (
    Route(
        method="POST",
        path=ROUTE.partition(" ")[2],
        operation="saveMemory",
        summary="Saves one memory; 200 with the one there is where it says the same",
        handle=save_memory,
        body=MEMORY_BODY,
        answer="MemorySaved",
        statuses=(200, 201, 409, *COMMON_STATUSES),
        idempotent=True,
    ),
    Route(
        method="GET",
        path=_MEMORIES,
        operation="listMemories",
        summary="Memories, the last made first",
        handle=list_memories,
        query=MEMORIES_QUERY,
        answer="MemoriesPage",
        statuses=(200, *READ_STATUSES),
    ),
    Route(
        method="GET",
        path=_MEMORY,
        operation="getMemory",
        summary="One memory",
        handle=get_memory,
        query=MEMORY_QUERY,
        answer="Memory",
        statuses=(200, 404, *READ_STATUSES),
    ),
    Route(
        method="PATCH",
        path=_MEMORY,
        operation="patchMemory",
        summary="Edits a memory; what it was stays in its history",
        handle=patch_memory,
        query=MEMORY_QUERY,
        body=MEMORY_PATCH,
        answer="Memory",
        statuses=(200, 404, 409, 412, 428, *COMMON_STATUSES),
        needs_version=True,
    ),
    Route(
        method="DELETE",
        path=_MEMORY,
        operation="deleteMemory",
        summary="Deletes a memory with the events it was made from; they are refused when they are sent again",
        handle=delete_memory,
        query=FORGET_MEMORY_QUERY,
        answer="Nothing",
        statuses=(204, 404, 412, *READ_STATUSES),
    ),
    Route(
        method="GET",
        path=f"{_MEMORY}/history",
        operation="memoryHistory",
        summary="Every version of a memory, the oldest first",
        handle=memory_history,
        query=MEMORY_QUERY,
        answer="MemoryHistory",
        statuses=(200, 404, *READ_STATUSES),
    ),
)
