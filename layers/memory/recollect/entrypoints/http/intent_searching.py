"""`POST /v1/search` in mode `intent`: from the body to a retrieval by intent, and back."""

from time import perf_counter
from typing import Any

from recollect.app import App
from recollect.core.errors import InvalidInput
from recollect.entrypoints.http.memory_json import diagnostics_json, result_json
from recollect.entrypoints.http.messages import Reply, Request
from recollect.entrypoints.http.questions import filters_of
from recollect.entrypoints.http.representations import within_page
from recollect.intent.analysis import IntentName, QueryAnalysis
from recollect.intent.retrieve import IntentAnswer, IntentQuestion

INTENT = "intent"
TOP_K = 10


def search_by_intent(app: App, request: Request) -> Reply:
    """What the query is about, by keywords and recency; the newest records where it is too short for that."""
    started = perf_counter()
    values = request.values
    scope = request.scope(values)
    rules = app.begin_rules(scope.tenant)
    answer = app.intent(scope, _question(request), rules)
    body = intent_json(answer, values.get("explain", False))
    took = {"rules_version": rules.result().version, "duration_ms": round((perf_counter() - started) * 1000, 1)}
    body["diagnostics"] |= took
    return Reply(200, body, log=_log(answer), metrics=intent_metrics(answer))


def _question(request: Request) -> IntentQuestion:
    values = request.values
    if "query" not in values:
        raise InvalidInput("is required", ("body", "query"))
    return IntentQuestion(
        text=values["query"],
        filters=filters_of(values, request.now),
        active_space_id=values.get("active_space_id"),
        history=values.get("history", ()),
        wanted=values.get("top_k", TOP_K),
    )


def intent_json(answer: IntentAnswer, explain: bool) -> dict[str, Any]:
    """The answer, less what only a request knows."""
    fitting = within_page([result_json(result, explain) for result in answer.results])
    body: dict[str, Any] = {"results": fitting, "diagnostics": _diagnostics(answer, len(fitting))}
    if answer.analysis is not None:
        body["analysis"] = analysis_json(answer.analysis)
    return body if answer.suggestion is None else {**body, "suggestion": answer.suggestion}


def analysis_json(analysis: QueryAnalysis) -> dict[str, Any]:
    """As `POST /v1/analyze` says it, and what the conversation added to a follow-up."""
    entities = [{"type": one.type, "value": one.value, "normalized": one.normalized} for one in analysis.entities]
    shown: dict[str, Any] = {
        "keywords": analysis.keywords,
        "entities": entities,
        "intent": analysis.intent,
        "intent_confidence": analysis.intent_confidence,
    }
    if analysis.context is not None:
        shown["context"] = {"messages": analysis.context.messages, "keywords": analysis.context.keywords}
    return shown


def _diagnostics(answer: IntentAnswer, returned: int) -> dict[str, Any]:
    diagnostics = diagnostics_json(answer.diagnostics, returned) | {"stats": _stats(answer)}
    return diagnostics if answer.fallback is None else {**diagnostics, "fallback_reason": answer.fallback.value}


def _stats(answer: IntentAnswer) -> dict[str, Any]:
    stats = answer.stats
    return {
        "records_considered": stats.records_considered,
        "records_matched": stats.records_matched,
        "records_included": stats.records_included,
        "records_excluded_privacy": stats.records_excluded_privacy,
        "records_excluded_threshold": stats.records_excluded_threshold,
        "retrieval_time_ms": round(stats.retrieval_time.total_seconds() * 1000, 3),
        "tokens": answer.size.tokens,
        "date_based_records": answer.date_based.records,
        "date_based_tokens": answer.date_based.tokens,
        "token_savings": round(answer.token_savings, 4),
    }


def intent_metrics(answer: IntentAnswer) -> dict[str, float]:
    """What the dashboard shows of one query (R-115 to R-119).

    Averages of the ones that are 0 or 1 are rates. A greeting is no query that ought to have found something, so it
    does not count among the fallbacks (R-117).
    """
    named = {intent: f"Intent{intent.value.capitalize()}" for intent in IntentName}
    intent = answer.analysis.intent if answer.analysis is not None else None
    counted = {} if intent is IntentName.GREETING else {"IntentFallbacks": int(answer.fallback is not None)}
    return {
        "IntentQueries": 1,
        "IntentRecords": answer.size.records,
        "IntentRecordsStage4": answer.date_based.records,
        "IntentTokens": answer.size.tokens,
        "IntentTokensStage4": answer.date_based.tokens,
        "IntentRetrievalMs": round(answer.times.total_ms, 3),
        "IntentZeroMatches": int(not answer.results),
        "IntentCrossSpace": int(answer.crosses_spaces),
        **({named[intent]: 1} if intent is not None else {}),
        **counted,
    }


def _log(answer: IntentAnswer) -> dict[str, Any]:
    return {
        "mode": "intent",
        "matched_count": answer.diagnostics.matched_count,
        "returned_count": answer.diagnostics.returned_count,
        "fallback_reason": answer.fallback.value if answer.fallback is not None else None,
        "tail_cut": answer.diagnostics.tail_cut,
        "pending": answer.diagnostics.pending,
    }
