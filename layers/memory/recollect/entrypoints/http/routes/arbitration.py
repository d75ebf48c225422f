"""Which of two statements counts, and what two become (A-69 to A-107).

What an idempotency record holds of an applied arbitration is ids, numbers, words of ours: common
keywords are kept as their places among the candidate's, which a replay has in its request; what two were merged into
is read back by its id.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field

from recollect.app import App
from recollect.arbitration.arbiter import Action, Arbitration, Strategy, Verdict
from recollect.arbitration.arbitrate import Applying, ArbitrationRequest
from recollect.arbitration.detection import Conflict, SignalType, Statement
from recollect.arbitration.merging import MergeOptions, merge
from recollect.core.errors import InvalidInput, NotFound
from recollect.core.event import Source
from recollect.core.scope import Scope
from recollect.core.vectors import accept_vectors
from recollect.entrypoints.http.headers import REPLAYED, Answer, Attempt, idempotent
from recollect.entrypoints.http.merge_rule_documents import (
    arbitration_options_schema,
    checked_arbitration_options,
    checked_merge_options,
    merge_options_schema,
)
from recollect.entrypoints.http.messages import Reply, Request, user_in
from recollect.entrypoints.http.models import (
    LONGEST_VECTOR,
    AnswerModel,
    Content,
    Count,
    Identifier,
    Importance,
    Instant,
    Keywords,
    Maybe,
    Number,
    OneOf,
    Read,
    RequestModel,
    Share,
    Text,
    Time,
)
from recollect.entrypoints.http.problems import located
from recollect.entrypoints.http.routing import Routes
from recollect.rules.values import Place, read_options

MOST_EXISTING = 1_000
_Options = Annotated[dict[str, Any], Read(checked_arbitration_options, arbitration_options_schema)]
_MergeOptions = Annotated[dict[str, Any], Read(checked_merge_options, merge_options_schema)]


_Embedding = Annotated[list[Number], Field(min_length=1, max_length=LONGEST_VECTOR)]


class _Described(RequestModel):
    user_id: Identifier
    embedding: Maybe[_Embedding] = Field(
        None, description="Of any length, the same for all; absent: no semantic signal."
    )
    source: Maybe[Annotated[str, Text(128, blank=False)]] = Field(
        None,
        description="user, conversation, skill, system, inferred, from the most trusted on; any other word, or none, "
        "ranks last.",
    )
    keywords: Maybe[Keywords] = None
    persona_id: Maybe[Identifier] = Field(None, description="Absent: the default persona.")


class GivenStatement(_Described):
    """A statement whole."""

    id: Identifier
    content: Content
    importance: Importance
    timestamp: Instant


class Profile(_Described):
    """A candidate that is only to be matched: whatever of it no condition asks for may be left out."""

    id: Maybe[Identifier] = None
    content: Maybe[Content] = None
    importance: Maybe[Importance] = None
    timestamp: Maybe[Instant] = None


def _listed(vector: Any) -> Any:
    return vector.tolist() if hasattr(vector, "tolist") else vector


class StatementShown(AnswerModel):
    id: str
    user_id: str
    persona_id: Maybe[str] = None
    content: str
    embedding: Annotated[Maybe[list[float]], BeforeValidator(_listed)] = None
    importance: Share
    timestamp: Time
    source: Maybe[str] = None
    keywords: list[str]


class ArbitrationBody(RequestModel, title="ArbitrationRequest"):
    candidate: GivenStatement
    existing: Annotated[list[GivenStatement], Field(min_length=0, max_length=MOST_EXISTING)] = Field(
        description="Empty with `apply`: what the store has."
    )
    options: Maybe[_Options] = Field(None, description="Merged over those of the merge rule.")
    rule: Maybe[Identifier] = Field(
        None, description="The merge rule that holds; absent: the first that the candidate meets."
    )
    apply: Maybe[bool] = Field(None, description="Stores what is decided; absent: nothing is stored.")


class MergeBody(RequestModel, title="MergeRequest"):
    first: GivenStatement
    second: GivenStatement
    options: Maybe[_MergeOptions] = None


class ConflictSignal(AnswerModel):
    type: Annotated[str, OneOf(*SignalType)]
    score: Share
    memory_id: Maybe[str] = None
    keywords: Maybe[list[str]] = None
    deltaMs: Maybe[float] = None
    windowMs: Maybe[Count] = None
    delta: Maybe[float] = None


class ConflictFound(AnswerModel):
    memory_id: str
    signals: list[ConflictSignal]
    severity: float

    @classmethod
    def of(cls, conflict: Conflict) -> Self:
        """An existing memory by its id, with its signals."""
        signals = [ConflictSignal.made_of(one, **one.details) for one in conflict.signals]
        return cls.made_of(conflict, memory_id=conflict.existing.id, signals=signals)


class VerdictShown(AnswerModel, title="Verdict"):
    action: Annotated[str, OneOf(*Action)]
    confidence: Share
    reason: str
    strategy: Annotated[str, OneOf(*Strategy)]
    winner: Maybe[str] = None
    loser: Maybe[str] = None
    merged: Maybe[StatementShown] = None

    @classmethod
    def of(cls, verdict: Verdict) -> Self:
        """Winner and loser by their ids, what is merged as a whole."""
        winner, loser = (one.id if one else None for one in (verdict.winner, verdict.loser))
        return cls.made_of(verdict, winner=winner, loser=loser)


class ArbitrationAnswer(AnswerModel):
    conflicts: list[ConflictFound]
    result: VerdictShown
    rule: str
    stored: Maybe[dict[str, str]] = None
    refused: Maybe[list[str]] = None


class MergeStatisticsShown(AnswerModel):
    contentLength: Count = Field(validation_alias="content_length")
    keywordsCount: Count = Field(validation_alias="keywords_count")
    importanceDelta: float = Field(validation_alias="importance_delta")
    deduplicatedCount: Count = Field(validation_alias="deduplicated_count")


class MergeAnswer(AnswerModel):
    merged: StatementShown
    statistics: MergeStatisticsShown


routes = Routes()


@routes.post("/v1/arbitrations", answer=ArbitrationAnswer, errors=(409,), idempotent=True)
def arbitrate(app: App, request: Request, body: ArbitrationBody) -> Reply:
    """Which of a candidate and existing memories counts.

    What was decided is stored where that is asked for.
    """
    scope = request.scope(body.candidate)
    existing = tuple(map(statement_of, body.existing))
    asked = ArbitrationRequest(statement_of(body.candidate), existing, body.options or {}, body.rule)
    if body.apply:
        return _applied(app, request, scope, asked)
    with located(_in_body):
        found = app.arbitration.arbiter.weighed(scope.tenant, asked, app.rules.resolved(scope.tenant))
    return _reply(arbitration_json(found))


def _applied(app: App, request: Request, scope: Scope, asked: ArbitrationRequest) -> Reply:
    """The idempotency record holds ids and statuses: a replay reads texts from the request and from the store."""
    if asked.candidate.source is not None and asked.candidate.source not in frozenset(Source):
        raise InvalidInput(f"must be one of {', '.join(Source)}", ("body", "candidate", "source"))

    def work(attempt: Attempt) -> Answer:
        applying = Applying(user_in(scope), attempt.seed, request.now)
        found = app.arbitration.arbiter.applied(scope, asked, app.rules.resolved(scope.tenant), applying)
        shown = arbitration_json(found)
        return Answer(200, _kept(shown, asked.candidate), shown)

    with located(_in_body):
        answer = idempotent(app, request, work)
    shown = answer.made or _replayed(app, scope, answer.body, asked.candidate, request.now)
    return _reply(shown, replay=answer.replayed)


@routes.post("/v1/merges", answer=MergeAnswer)
def merge_statements(_app: App, request: Request, body: MergeBody) -> Reply:
    """Two statements as one.

    Both are of one user; nothing is stored.
    """
    request.scope(body.first)
    first, second = statement_of(body.first), statement_of(body.second)
    if first.user_id != second.user_id:
        raise InvalidInput("must be of the first one's user", ("body", "second", "user_id"))
    merged = merge(first, second, read_options(body.options or {}, MergeOptions(), Place()))
    shown = MergeAnswer.made_of(merged=merged.statement, statistics=merged.statistics)
    return Reply(200, shown, log={"deduplicated": merged.statistics.deduplicated_count})


def _in_body(name: str) -> tuple[str, ...] | None:
    return ("body",) if name in ArbitrationBody.model_fields else None


def _reply(body: Mapping[str, Any], *, replay: bool = False) -> Reply:
    result = body["result"]
    log = {"conflicts": len(body["conflicts"]), "action": result["action"], "strategy": result["strategy"]}
    shown = ArbitrationAnswer.model_validate(body)
    return Reply(200, shown, REPLAYED if replay else {}, log={**log, "replayed": replay})


def arbitration_json(found: Arbitration) -> dict[str, Any]:
    """What was found and decided; of what was applied the memories too."""
    conflicts = [ConflictFound.of(conflict) for conflict in found.conflicts]
    verdict = VerdictShown.of(found.verdict)
    return ArbitrationAnswer.made_of(found, conflicts=conflicts, result=verdict, stored=found.stored or None).document()


def _kept(body: Mapping[str, Any], candidate: Statement) -> dict[str, Any]:
    """The answer without text."""
    words = _words(candidate)
    conflicts = _with_keywords(body["conflicts"], lambda known: [words.index(one) for one in known if one in words])
    result = dict(body["result"])
    if "merged" in result:
        result["merged"] = result["merged"]["id"]
    return {**body, "conflicts": conflicts, "result": result}


def _replayed(app: App, scope: Scope, body: Mapping[str, Any], candidate: Statement, now: datetime) -> dict[str, Any]:
    """The first answer again; `refused` names the merged memory where it was deleted since."""
    words = _words(candidate)
    conflicts = _with_keywords(body["conflicts"], lambda places: [words[int(place)] for place in places])
    answer = {**body, "conflicts": conflicts, "result": dict(body["result"])}
    merged = answer["result"].get("merged")
    if merged is None:
        return answer
    try:
        shown = _merged(app, scope, body.get("stored", {}).get(merged, merged), now)
        answer["result"]["merged"] = {**shown, "id": merged}
    except NotFound:
        del answer["result"]["merged"]
        answer["refused"] = [merged]
    return answer


def _merged(app: App, scope: Scope, memory_id: str, now: datetime) -> dict[str, Any]:
    return StatementShown.json_of(app.memories.store.one(scope, memory_id, now))


def _words(candidate: Statement) -> list[str]:
    return list(dict.fromkeys(keyword.casefold() for keyword in candidate.keywords))


def _with_keywords(conflicts: list[Any], change: Callable[[list[Any]], list[Any]]) -> list[Any]:
    """The conflicts, the keywords of each signal changed."""

    def changed(signal: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**signal, "keywords": change(signal["keywords"])} if "keywords" in signal else signal

    return [{**one, "signals": list(map(changed, one["signals"]))} for one in conflicts]


def statement_of(given: GivenStatement) -> Statement:
    """The statement that was given."""
    return _statement(given.given())


def candidate_of(profile: Profile, now: datetime) -> Statement:
    """The candidate that was given, with stand-ins for what is left out; an importance of -1 meets no condition."""
    return _statement({"id": "-", "content": "", "importance": -1.0, "timestamp": now, **profile.given()})


def _statement(values: dict[str, Any]) -> Statement:
    embedding = _vector(values.pop("embedding", None))
    return Statement(**values | {"keywords": tuple(values.get("keywords", ())), "embedding": embedding})


def _vector(values: list[float] | None) -> Any:
    if values is None:
        return None
    accept_vectors(("body", "embedding"))
    import numpy as np  # ingest's neighbours start without it

    return np.array(values, dtype=np.float64)
