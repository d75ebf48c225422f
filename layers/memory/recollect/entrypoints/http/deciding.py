"""Decisions taken back and conflicts resolved over HTTP, once for a key (api.md, *Arbitration*, *Twice*)."""

import json
import time
from collections.abc import Callable
from typing import Any

from recollect.app import App
from recollect.contradictions.resolve import Reverted, RevertOrder
from recollect.core.errors import NotFound
from recollect.core.ids import IdSeed
from recollect.core.scope import Scope
from recollect.entrypoints.http.contradiction_json import conflict_json, decision_json
from recollect.entrypoints.http.idempotency import REPLAYED, claim_of
from recollect.entrypoints.http.memory_json import memory_json
from recollect.entrypoints.http.messages import Reply, Request
from recollect.entrypoints.http.run_once import Answer, run_once
from recollect.memories.audit import Actor, ActorKind


def revert_decision(app: App, request: Request) -> Reply:
    """Takes a decision back; answers it with the memory that counts now."""
    scope, decision_id = _scope(request), request.path["arbitration_id"]
    done: list[Reverted] = []

    def work(again: bool) -> dict[str, Any]:
        app.timeline.write_limits.take(scope.tenant, 1, app.rules.resolved(scope.tenant))
        order = RevertOrder(actor=_actor(scope), now=request.now, again=again)
        done.append(app.contradictions.revert(scope, decision_id, order))
        return {"id": decision_id}

    answer = _once(app, request, f"revert {decision_id}", work)
    if not done:
        done.append(app.contradictions.revert.current(scope, app.contradictions.decisions.one(scope, decision_id)))
    shown = decision_json(scope, done[0].decision) | _memory(app, scope, done[0].memory_id, request)
    return _reply(answer, shown, "reverted")


def resolve_conflict(app: App, request: Request) -> Reply:
    """The named record counts, the other one is superseded by it."""
    scope, conflict_id = _scope(request), request.path["conflict_id"]

    def work(_again: bool) -> dict[str, Any]:
        app.timeline.write_limits.take(scope.tenant, 1, app.rules.resolved(scope.tenant))
        winner = request.values["winner"]
        resolved = app.contradictions.resolve(scope, conflict_id, winner, _actor(scope), request.now)
        return {"id": conflict_id, "decision_id": resolved.decision_id}

    answer = _once(app, request, f"resolve {conflict_id}", work)
    told = {"decision_id": answer.body["decision_id"]} if answer.body["decision_id"] else {}
    return _reply(
        answer, conflict_json(app.contradictions.conflicts.one(scope, conflict_id, request.now)) | told, "resolved"
    )


def _once(app: App, request: Request, target: str, work: Callable[[bool], dict[str, Any]]) -> Answer:
    """The work, told whether an earlier try of the same key may have done it; a record holds ids alone."""
    fresh = app.ids.seed(int(time.time() * 1000))

    def run(seed: IdSeed) -> Answer:
        return Answer(200, work(seed != fresh))

    claim = claim_of(request, json.dumps([target, request.path["user_id"], dict(request.query)]), fresh)
    return run_once(app.parts.idempotency, claim, run) if claim else run(fresh)


def _memory(app: App, scope: Scope, memory_id: str, request: Request) -> dict[str, Any]:
    try:
        return {"memory": memory_json(app.memories.keep.one(scope, memory_id, request.now))}
    except NotFound:
        return {}


def _reply(answer: Answer, body: dict[str, Any], name: str) -> Reply:
    log = {name: 0 if answer.replayed else 1, "replayed": answer.replayed}
    return Reply(answer.status, body, REPLAYED if answer.replayed else {}, log=log)


def _scope(request: Request) -> Scope:
    return request.scope({**request.query, "user_id": request.path["user_id"]})


def _actor(scope: Scope) -> Actor:
    return Actor(ActorKind.USER, scope.user_id)
