"""`POST /v1/search`: from the body to a recall, and back."""

from time import perf_counter

from recollect.app import App
from recollect.core.errors import InvalidInput
from recollect.core.vectors import unit, vector_of
from recollect.entrypoints.http.event_drafts import embedding_dimension
from recollect.entrypoints.http.intent_searching import INTENT, search_by_intent
from recollect.entrypoints.http.memory_json import diagnostics_json, result_json
from recollect.entrypoints.http.messages import Reply, Request
from recollect.entrypoints.http.questions import filters_of
from recollect.entrypoints.http.representations import within_page
from recollect.retrieval.pipeline import RecallRequest
from recollect.retrieval.pooling import RELATED
from recollect.retrieval.ranking import Mode

NEAR_MISSES = 5


def search(app: App, request: Request) -> Reply:
    """Engines nominate, the domain ranks, the timeline decides; by intent there is nothing to nominate."""
    if request.values["mode"] == INTENT:
        return search_by_intent(app, request)
    started = perf_counter()
    values = request.values
    scope = request.scope(values)
    recall = _recall_request(app, request)
    rules = app.begin_rules(scope.tenant)
    answer = app.retrieval.search(scope, recall)
    explain = values.get("explain", False)
    found, near = ([result_json(one, explain) for one in part] for part in (answer.results, answer.near_misses))
    fitting = within_page([*found, *near])
    version = rules.result().version
    took = {"duration_ms": round((perf_counter() - started) * 1000, 1), "rules_version": version}
    results, behind = fitting[: len(found)], fitting[len(found) :]
    diagnostics = diagnostics_json(answer.diagnostics, len(results)) | took
    log = {name: diagnostics[name] for name in ("matched_count", "returned_count", "missing", "tail_cut", "pending")}
    body = {"results": results, "diagnostics": diagnostics} | ({"near_misses": behind} if explain else {})
    return Reply(200, body, log={**log, "mode": values["mode"]})


def _recall_request(app: App, request: Request) -> RecallRequest:
    values = request.values
    mode = Mode(values["mode"])
    if "query" not in values and ("vector" not in values or mode is Mode.LEXICAL):
        raise InvalidInput("is required" if "vector" in values else "query or vector is required", ("body", "query"))
    given = values.get("vector")
    dimension = embedding_dimension(app.settings)
    semantic = mode is Mode.SEMANTIC
    return RecallRequest(
        text=values.get("query", ""),
        vector=unit(vector_of(given, dimension, ("body", "vector"))) if given else None,
        mode=mode,
        filters=filters_of(values, request.now),
        wanted=values.get("top_k", 3 if semantic else 10),
        min_similarity=values.get("min_similarity", RELATED if semantic else None),
        count=True,
        near_misses=NEAR_MISSES if values.get("explain") else 0,
    )
