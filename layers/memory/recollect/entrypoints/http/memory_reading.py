"""Memories read: one, a list, the history of one."""

from collections.abc import Mapping
from typing import Any

from recollect.app import App
from recollect.core.scope import Scope
from recollect.entrypoints.http.cursors import Listing, open_cursor, seal
from recollect.entrypoints.http.memory_json import memory_json, version_json
from recollect.entrypoints.http.messages import Reply, Request
from recollect.entrypoints.http.preconditions import etag
from recollect.entrypoints.http.representations import within_page
from recollect.memories.memory import Memory, MemoryStatus
from recollect.memories.reading import MemoryQuery


def get_memory(app: App, request: Request) -> Reply:
    """One memory, superseded or not; another user's is not found."""
    return memory_reply(_memory(app, request))


def list_memories(app: App, request: Request) -> Reply:
    """A page of memories, the last made first."""
    query = request.query
    scope = _scope(request)
    listing = _listing(app, scope, query)
    after = open_cursor(query["cursor"], listing, 1)[0] if "cursor" in query else None
    wanted = _wanted(query)
    page = app.memories.listing(scope, wanted, query["limit"], after, request.now)
    fitting = within_page([memory_json(memory) for memory in page.memories])
    if len(fitting) < len(page.memories):
        page = app.memories.listing(scope, wanted, len(fitting), after, request.now)
    body: dict[str, Any] = {"memories": [memory_json(memory) for memory in page.memories]}
    if page.more is not None:
        body["next_cursor"] = seal([page.more], listing)
    return Reply(200, body, log={"returned": len(page.memories)})


def memory_history(app: App, request: Request) -> Reply:
    """Every version that a memory has had, the present one last; where they are too many, the first are left out."""
    memory = _memory(app, request)
    versions = app.memories.history(_scope(request), memory)
    shown = within_page([version_json(one) for one in reversed(versions)])
    return Reply(200, {"history": list(reversed(shown))}, log={"versions": len(versions)})


def memory_reply(memory: Memory) -> Reply:
    """The memory bare, with its ETag."""
    log = {"version": memory.version, "status": memory.status.value}
    return Reply(200, memory_json(memory), {"ETag": etag(memory.version)}, log=log)


def _memory(app: App, request: Request) -> Memory:
    return app.memories.keep.one(_scope(request), request.path["memory_id"], request.now)


def _scope(request: Request) -> Scope:
    return request.scope({**request.query, "user_id": request.path["user_id"]})


def _wanted(query: Mapping[str, Any]) -> MemoryQuery:
    status = MemoryStatus(query["status"]) if "status" in query else None
    return MemoryQuery(status=status, key=query.get("key"), source_event_id=query.get("source_event_id"))


def _listing(app: App, scope: Scope, query: Mapping[str, Any]) -> Listing:
    filters = {name: value for name, value in query.items() if name not in ("limit", "cursor")}
    return Listing(f"{app.settings.engines}:{app.settings.table}", "memories", scope, filters)
