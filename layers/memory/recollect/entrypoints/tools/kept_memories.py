"""The tools `list_memories`, `get_memory`, `update_memory` and `delete_memory`: memories by their ids."""

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from recollect.core.event import Source
from recollect.core.time import iso
from recollect.entrypoints.http.cursors import Listing, cursor_to, listing_of, open_cursor
from recollect.entrypoints.tools.tool import Identifier, Invocation, Outcome, Parameters, Said, Share, Tool, fitting
from recollect.memories.audit import Actor, ActorKind
from recollect.memories.memory import Memory, MemoryStatus
from recollect.memories.reading import MemoryQuery
from recollect.memories.save import MemoryChange
from recollect.retrieval.filters import narrowed_to

_LONGEST_CURSOR = 4096
_MOST_KEYWORDS = 50


class ListMemories(Parameters):
    """Of `list_memories`."""

    limit: int = Field(20, ge=1, le=100)
    status: MemoryStatus = Field(MemoryStatus.ACTIVE, description="Absent: active, those that hold now.")
    cursor: str | None = Field(None, max_length=_LONGEST_CURSOR, description="next_cursor of the page before.")


class OneMemory(Parameters):
    """Of `get_memory` and `delete_memory`."""

    id: Identifier = Field(description="As list_memories and search_memory name it.")


class UpdateMemory(OneMemory):
    """Of `update_memory`: at least one change."""

    content: Said | None = Field(None, description="Other words; those before stay in its history.")
    importance: Share | None = Field(None, description="0 to 1.")
    keywords: (
        Annotated[list[Annotated[str, Field(min_length=1, max_length=128)]], Field(max_length=_MOST_KEYWORDS)] | None
    ) = None
    version: int | None = Field(None, ge=1, description="Only where it is still this version.")

    @model_validator(mode="after")
    def _some(self) -> Self:
        if self.content is None and self.importance is None and self.keywords is None:
            raise ValueError("at least one of content, importance and keywords is required")
        return self


def list_memories(invocation: Invocation, given: ListMemories) -> Outcome:
    """A page of the memories, the last made first; fewer of them where they are long."""
    listing = _listing(invocation, given)
    after = None if given.cursor is None else str(open_cursor(given.cursor, listing, 1)[0])
    shown, more = _page(invocation, given, given.limit, after)
    kept = len(fitting(shown)["entries"])
    if kept < len(shown):
        shown, more = _page(invocation, given, kept, after)
    cursor = cursor_to(more, listing)
    return Outcome({"memories": shown, **({"next_cursor": cursor} if cursor else {})})


def get_memory(invocation: Invocation, given: OneMemory) -> Outcome:
    """One memory. Raises NotFound."""
    return Outcome({"memory": _shown(invocation.memory(given.id))})


def update_memory(invocation: Invocation, given: UpdateMemory) -> Outcome:
    """Changes what is given; words that a model writes are inferred (P-22).

    Raises NotFound, VersionMismatch, and Conflict for rejected words.
    """
    changes: dict[str, Any] = {
        name: value
        for name, value in (("content", given.content), ("importance", given.importance))
        if value is not None
    }
    if given.keywords is not None:
        changes["keywords"] = tuple(given.keywords)
    if given.content is not None:
        changes["source"] = Source.INFERRED
    change = MemoryChange(changes, _model("update_memory"), lambda version: given.version in (None, version))
    memory = invocation.app.memories.store.patch(
        invocation.scope, invocation.memory(given.id).id, change, invocation.now
    )
    return Outcome({"id": memory.id, "version": memory.version})


def delete_memory(invocation: Invocation, given: OneMemory) -> Outcome:
    """Deletes a memory with the events it was made from. Raises NotFound."""
    app, scope, now = invocation.app, invocation.scope, invocation.now
    forgotten = app.deletion.events.memory(scope, invocation.memory(given.id), now=now, actor=_model("delete_memory"))
    return Outcome({"deleted": list(forgotten.event_ids)})


def _page(
    invocation: Invocation, given: ListMemories, limit: int, after: str | None
) -> tuple[list[dict[str, Any]], str | None]:
    wanted = MemoryQuery(status=given.status, **narrowed_to(invocation.labels))
    page = invocation.app.memories.listing.page(invocation.scope, wanted, limit, after, invocation.now)
    return [_shown(memory) for memory in page.memories], page.more


def _listing(invocation: Invocation, given: ListMemories) -> Listing:
    of_all = listing_of(invocation.app, "mcp memories", invocation.scope)
    wanted = {"status": given.status.value, **narrowed_to(invocation.labels)}
    return Listing(of_all.deployment, of_all.route, of_all.scope, wanted)


def _shown(memory: Memory) -> dict[str, Any]:
    known = {
        "id": memory.id,
        "content": memory.content,
        "timestamp": iso(memory.timestamp),
        "source": memory.source.value,
        "status": memory.status.value,
        "importance": memory.importance,
        "keywords": list(memory.keywords),
        "key": memory.key,
        "version": memory.version,
    }
    return {name: value for name, value in known.items() if value is not None}


def _model(tool: str) -> Actor:
    return Actor(ActorKind.MODEL, tool)


def _say_listed(_given: ListMemories, result: Mapping[str, Any]) -> str:
    count = len(result["memories"])
    return f"Here {'is 1 memory' if count == 1 else f'are {count} memories'}."


TOOLS: Mapping[str, Tool] = {
    "list_memories": Tool(ListMemories, list_memories, _say_listed, lambda _given: False),
    "get_memory": Tool(OneMemory, get_memory, lambda _given, _result: "Here it is.", lambda _given: False),
    "update_memory": Tool(UpdateMemory, update_memory, lambda _given, _result: "I have changed that."),
    "delete_memory": Tool(OneMemory, delete_memory, lambda _given, _result: "I have forgotten that."),
}
