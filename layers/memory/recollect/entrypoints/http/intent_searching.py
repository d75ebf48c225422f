"""Search in mode `intent`: the question, and what is shown, logged and counted of the answer."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from recollect.application.intent_answer import IntentAnswer
from recollect.application.retrieve_by_intent import IntentQuestion
from recollect.domain.analysis import QueryAnalysis
from recollect.domain.errors import InvalidInput
from recollect.domain.filters import SearchFilters
from recollect.domain.intent import IntentName
from recollect.entrypoints.http.models import within_page
from recollect.entrypoints.http.representations import result_json

if TYPE_CHECKING:
    from recollect.application.search_memory import SearchDiagnostics

INTENT = "intent"
TOP_K = 10


def question_of(
    query: str | None, filters: SearchFilters, space_id: str | None, history: Sequence[str] | None, wanted: int | None
) -> IntentQuestion:
    """The question of a search by intent. Raises InvalidInput without a query."""
    if query is None:
        raise InvalidInput("is required", ("body", "query"))
    return IntentQuestion(
        text=query, filters=filters, active_space_id=space_id, history=history or (), wanted=wanted or TOP_K
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


def diagnostics_json(seen: "SearchDiagnostics", returned: int) -> dict[str, Any]:
    """The counts of a search; `returned` results fitted into the answer."""
    diagnostics: dict[str, Any] = {
        "matched_count": seen.matched_count,
        "filtered_count": seen.filtered_count,
        "returned_count": returned,
        "dropped": {str(reason): count for reason, count in seen.dropped.items()},
        "exact": seen.exact,
        "missing": list(seen.missing),
        "tail": seen.tail,
        "tail_cut": seen.tail_cut,
        "pending": seen.pending,
    }
    return {**diagnostics, "fallback": seen.fallback} if seen.fallback else diagnostics


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


def intent_log(answer: IntentAnswer) -> dict[str, Any]:
    """Counts and decisions for the log line: no text."""
    return {
        "mode": "intent",
        "matched_count": answer.diagnostics.matched_count,
        "returned_count": answer.diagnostics.returned_count,
        "fallback_reason": answer.fallback.value if answer.fallback is not None else None,
        "tail_cut": answer.diagnostics.tail_cut,
        "pending": answer.diagnostics.pending,
    }
