"""`POST /v1/arbitrations` and `POST /v1/merges`: which of two statements counts, what two become (A-69 to A-107)."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from recollect.app import App
from recollect.arbitration.arbitrate import Applying, ArbitrationRequest
from recollect.arbitration.merging import MergeOptions, merge
from recollect.core.errors import InvalidInput
from recollect.core.event import Source
from recollect.core.ids import IdSeed
from recollect.core.scope import Scope
from recollect.entrypoints.http.arbitration_replay import kept, replayed
from recollect.entrypoints.http.fields import Shape, flag, identifier
from recollect.entrypoints.http.idempotency import REPLAYED, claim_of
from recollect.entrypoints.http.messages import Reply, Request
from recollect.entrypoints.http.option_fields import arbitration_options_field, merge_options_field
from recollect.entrypoints.http.routing import COMMON_STATUSES, Route
from recollect.entrypoints.http.run_once import Answer, run_once
from recollect.entrypoints.http.statements import (
    arbitration_json,
    many_statements,
    one_statement,
    statement_json,
    statement_of,
    statistics_json,
)
from recollect.memories.audit import Actor, ActorKind
from recollect.rules.values import Place, read_options

_ROUTE = "POST /v1/arbitrations"

ARBITRATION_BODY = Shape(
    "ArbitrationRequest",
    {
        "candidate": one_statement().needed(),
        "existing": many_statements().needed().described("Empty with `apply`: what the store has."),
        "options": arbitration_options_field().described("Merged over those of the merge rule."),
        "rule": identifier().described("The merge rule that holds; absent: the first that the candidate meets."),
        "apply": flag().described("Stores what is decided; absent: nothing is stored."),
    },
)
MERGE_BODY = Shape(
    "MergeRequest",
    {
        "first": one_statement().needed(),
        "second": one_statement().needed(),
        "options": merge_options_field(),
    },
)


def arbitrate(app: App, request: Request) -> Reply:
    """Decides, and stores what was decided where that is asked for."""
    values = request.values
    scope = _scope(request, values["candidate"])
    asked = ArbitrationRequest(
        statement_of(values["candidate"]),
        tuple(map(statement_of, values["existing"])),
        values.get("options", {}),
        values.get("rule"),
    )
    if values.get("apply", False):
        return _applied(app, request, scope, asked)
    with _located():
        found = app.arbitration.arbitrate.weighed(scope.tenant, asked, app.rules.resolved(scope.tenant))
    return _reply(arbitration_json(found))


def merge_two(_app: App, request: Request) -> Reply:
    """Merges two statements of one user; stores nothing."""
    values = request.values
    _scope(request, values["first"])
    first, second = statement_of(values["first"]), statement_of(values["second"])
    if first.user_id != second.user_id:
        raise InvalidInput("must be of the first one's user", ("body", "second", "user_id"))
    options = read_options(values.get("options", {}), MergeOptions(), Place())
    merged = merge(first, second, options)
    body = {"merged": statement_json(merged.statement), "statistics": statistics_json(merged.statistics)}
    return Reply(200, body, log={"deduplicated": merged.statistics.deduplicated_count})


def _applied(app: App, request: Request, scope: Scope, asked: ArbitrationRequest) -> Reply:
    """The idempotency record holds ids and statuses: a replay reads texts from the request and from the store."""
    if asked.candidate.source is not None and asked.candidate.source not in frozenset(Source):
        raise InvalidInput(f"must be one of {', '.join(Source)}", ("body", "candidate", "source"))
    fresh = app.ids.seed(int(time.time() * 1000))
    first: list[dict[str, Any]] = []

    def work(seed: IdSeed) -> Answer:
        actor = Actor(ActorKind.USER, scope.user_id)
        found = app.arbitration.arbitrate.applied(
            scope, asked, app.rules.resolved(scope.tenant), Applying(actor, seed, request.now)
        )
        first.append(arbitration_json(found))
        return Answer(200, kept(first[0], asked.candidate))

    with _located():
        claim = claim_of(request, _ROUTE, fresh)
        answer = run_once(app.parts.idempotency, claim, work) if claim else work(fresh)
    if first:
        return _reply(first[0])
    return _reply(replayed(app, scope, answer.body, asked.candidate, request.now), replay=True)


def _scope(request: Request, statement: dict[str, Any]) -> Scope:
    return request.scope({"user_id": statement["user_id"], "persona_id": statement.get("persona_id")})


def _reply(body: dict[str, Any], *, replay: bool = False) -> Reply:
    result = body["result"]
    log = {"conflicts": len(body["conflicts"]), "action": result["action"], "strategy": result["strategy"]}
    return Reply(200, body, REPLAYED if replay else {}, log={**log, "replayed": replay})


@contextmanager
def _located() -> Iterator[None]:
    """Says of what the domain refuses that it stood in the body."""
    try:
        yield
    except InvalidInput as error:
        if not error.loc or error.loc[0] not in ARBITRATION_BODY.fields:
            raise
        raise InvalidInput(str(error), ("body", *error.loc)) from None


ROUTES = (
    Route(
        method="POST",
        path="/v1/arbitrations",
        operation="arbitrate",
        summary="Which of a candidate and existing memories counts",
        handle=arbitrate,
        body=ARBITRATION_BODY,
        answer="ArbitrationAnswer",
        statuses=(200, 409, *COMMON_STATUSES),
        idempotent=True,
    ),
    Route(
        method="POST",
        path="/v1/merges",
        operation="mergeStatements",
        summary="Two statements as one",
        handle=merge_two,
        body=MERGE_BODY,
        answer="MergeAnswer",
        statuses=(200, *COMMON_STATUSES),
    ),
)
