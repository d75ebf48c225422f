"""`POST /v1/memories`: one memory, saved by whoever knows it (A-20, A-21, P-9)."""

import time
from typing import Any

from recollect.app import App
from recollect.core.errors import NotFound
from recollect.core.event import Source
from recollect.core.ids import IdSeed
from recollect.core.scope import Scope
from recollect.entrypoints.http.event_drafts import embedding_dimension
from recollect.entrypoints.http.idempotency import REPLAYED, claim_of
from recollect.entrypoints.http.memory_json import memory_json
from recollect.entrypoints.http.messages import Reply, Request
from recollect.entrypoints.http.preconditions import etag
from recollect.entrypoints.http.run_once import Answer, run_once
from recollect.memories.audit import Actor, ActorKind
from recollect.memories.memory import Memory, MemoryDraft
from recollect.memories.save import SavedMemory

ROUTE = "POST /v1/memories"
_AS_GIVEN = ("content", "importance", "timestamp", "key", "expires_at", "metadata")


def save_memory(app: App, request: Request) -> Reply:
    """Saves it: 201, or 200 with the memory that says the same. An idempotency record holds its id alone."""
    scope = request.scope(request.values)
    draft = _draft(app, request)
    fresh = app.ids.seed(int(time.time() * 1000))
    rules = app.begin_rules(scope.tenant)  # beside the claim of the key
    saved: list[SavedMemory] = []

    def work(seed: IdSeed) -> Answer:
        actor = Actor(ActorKind.USER, scope.user_id)
        app.timeline.write_limits.take(scope.tenant, 1, rules.result())
        saved.append(app.memories.keep.save(scope, draft, seed, request.now, actor, rules.result()))
        return Answer(201 if saved[0].created else 200, {"id": saved[0].memory.id})

    claim = claim_of(request, ROUTE, fresh)
    answer = run_once(app.parts.idempotency, claim, work) if claim else work(fresh)
    memory = saved[0].memory if saved else _as_it_is_now(app, scope, answer.body["id"], request)
    return _reply(answer, memory)


def _draft(app: App, request: Request) -> MemoryDraft:
    values = request.values
    given: dict[str, Any] = {name: values[name] for name in _AS_GIVEN if name in values}
    if "source" in values:
        given["source"] = Source(values["source"])
    if "embedding" in values:
        from recollect.core.vectors import pack_vector, vector_of  # numpy comes with it

        dimension = embedding_dimension(app.settings)
        given["embedding"] = pack_vector(vector_of(values["embedding"], dimension, ("body", "embedding")))
    return MemoryDraft(**given, keywords=tuple(values.get("keywords", ())))


def _as_it_is_now(app: App, scope: Scope, memory_id: str, request: Request) -> Memory | None:
    try:
        return app.memories.keep.one(scope, memory_id, request.now)
    except NotFound:
        return None


def _reply(answer: Answer, memory: Memory | None) -> Reply:
    """The memory, or what is left of a replayed answer: the id of what was deleted since."""
    replayed = REPLAYED if answer.replayed else {}
    log = {"created": answer.status == 201, "replayed": answer.replayed, "refused": memory is None}
    if memory is None:
        return Reply(answer.status, {"refused": [answer.body["id"]]}, replayed, log=log)
    return Reply(answer.status, memory_json(memory), {"ETag": etag(memory.version), **replayed}, log=log)
