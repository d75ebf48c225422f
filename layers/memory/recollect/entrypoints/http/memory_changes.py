"""Memories edited and deleted, in the version that the request names (api.md, *Versions*)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from recollect.app import App
from recollect.core.errors import InvalidInput
from recollect.core.scope import Scope
from recollect.entrypoints.http.fields import Field, Shape
from recollect.entrypoints.http.memory_reading import memory_reply
from recollect.entrypoints.http.messages import Reply, Request
from recollect.entrypoints.http.preconditions import matches, require
from recollect.entrypoints.http.rejecting import rejecting
from recollect.memories.audit import Actor, ActorKind
from recollect.memories.save import MemoryChange


class PatchShape(Shape):
    """A shape of changes, some of whose fields null clears; elsewhere it is taken as absent."""

    def __init__(self, name: str, fields: Mapping[str, Field], cleared_by_null: Sequence[str]) -> None:
        super().__init__(name, fields)
        self._cleared = cleared_by_null

    def read(self, value: Any) -> dict[str, Any]:
        """The changes; None for what is to be cleared."""
        read = super().read(value)
        return read | {name: None for name in self._cleared if name in value and value[name] is None}


def or_null(field: Field) -> Field:
    """The same, where its schema knows null too."""
    return replace(field, schema={"anyOf": [*field.schema["anyOf"], {"type": "null"}]})


def patch_memory(app: App, request: Request) -> Reply:
    """Changes a memory in the version that `If-Match` names."""
    headers = request.call.headers
    require(headers)
    if not request.values:
        raise InvalidInput("names nothing to change", ("body",))
    scope = _scope(request)
    changes = dict(request.values)
    if "keywords" in changes:
        changes["keywords"] = tuple(changes["keywords"])
    change = MemoryChange(changes, _user(scope), lambda version: matches(headers, version))
    return memory_reply(app.memories.keep.patch(scope, request.path["memory_id"], change, request.now))


def delete_memory(app: App, request: Request) -> Reply:
    """Deletes a memory and the events in its `source_event_ids`; with `reject` its value is refused from now on."""
    headers, scope = request.call.headers, _scope(request)
    memory = app.memories.keep.one(scope, request.path["memory_id"], request.now)

    def forget() -> Reply:
        forgotten = app.deletion.forget.memory(
            scope, memory, now=request.now, actor=_user(scope), accepts=lambda version: matches(headers, version)
        )
        return Reply(204, "", log={"deleted": len(forgotten.event_ids)})

    if request.query["reject"] == "false":
        return forget()
    owner = Scope(scope.tenant, scope.user_id, memory.persona_id, memory.household_id)
    with app.deletion.reject.rejected(owner, memory.content, rejecting(request, scope, "delete", memory.id)):
        return forget()


def _scope(request: Request) -> Scope:
    return request.scope({**request.query, "user_id": request.path["user_id"]})


def _user(scope: Scope) -> Actor:
    return Actor(ActorKind.USER, scope.user_id)
