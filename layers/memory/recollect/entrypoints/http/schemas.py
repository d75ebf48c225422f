"""JSON schemas of the answers, by name: what the OpenAPI document promises and the tests hold the routes to."""

from typing import Any

from recollect.context.rendering import MessageRole
from recollect.context.selection import Section, ShownIn
from recollect.core.event import SPOKEN_TYPES, ContentType, Role, Source
from recollect.entrypoints.http.arbitration_schemas import ARBITRATION_ANSWERS
from recollect.entrypoints.http.contradiction_schemas import CONTRADICTION_ANSWERS
from recollect.entrypoints.http.fields import Schema
from recollect.entrypoints.http.intent_schemas import QUERY_ANALYSIS, RETRIEVAL_STATS
from recollect.entrypoints.http.schema_pieces import (
    COUNT,
    FLAG,
    FREE,
    NUMBER,
    NUMBERS,
    SHARE,
    TEXT,
    TEXTS,
    TIME,
    many,
    ref,
    shape,
    words,
)
from recollect.entrypoints.http.store_schemas import STORE_ANSWERS
from recollect.entrypoints.tools.result import Status
from recollect.intent.analysis import EntityType, IntentName
from recollect.intent.scoring import DATE_BASED, FallbackReason
from recollect.memories.memory import MemoryStatus
from recollect.retrieval.filters import DropReason
from recollect.retrieval.nomination import Arm
from recollect.summaries.goals import CheckInStatus, GoalStatus
from recollect.summaries.summary import Reason
from recollect.timeline.ingest import IngestStatus
from recollect.tool_calls.call import Protocol

DROPPED: Schema = {"type": "object", "propertyNames": words(*DropReason), "additionalProperties": COUNT}
FAULT = shape({"loc": many({"anyOf": [TEXT, {"type": "integer"}]}), "message": TEXT})
_PLACE = {"id": TEXT, "user_id": TEXT, "conversation_id": TEXT}
_OPTIONAL_PLACE = {"persona_id": TEXT, "household_id": TEXT, "speaker": TEXT, "key": TEXT, "space_id": TEXT}
_ARMS: Schema = {"type": "object", "propertyNames": words(*Arm), "additionalProperties": COUNT}
KNOWLEDGE_ENTRY = shape(
    {"namespace": TEXT, "key": TEXT, "value": {}, "version": COUNT, "updated_at": TIME},
    {"source": words(Source.INFERRED)},
)
WHY = shape(
    {"place": COUNT, "arms": _ARMS, "shares": NUMBERS, "signals": NUMBERS},
    {"stands_for": many(shape({"id": TEXT, "timestamp": TIME}))},
)

TRACKED_GOAL: dict[str, Schema] = {
    "goal": TEXT,
    "status": words(*GoalStatus),
    "history": many(shape({"date": {"type": "string", "format": "date"}, "status": words(*CheckInStatus)})),
}

ANSWERS: dict[str, Any] = {
    "Problem": shape(
        {"type": TEXT, "title": TEXT, "status": COUNT, "detail": TEXT, "errors": many(ref("Fault"))},
        {"conversation_id": TEXT, "results": many(ref("IngestResult")), "input_event_id": TEXT},
    ),
    "Fault": FAULT,
    "IngestResult": shape(
        {"status": words(*IngestStatus)},
        {
            "event_id": TEXT,
            "importance": SHARE,
            "tags": TEXTS,
            "content_type": words(*ContentType),
            "reason": TEXT,
            "errors": many(ref("Fault")),
        },
    ),
    "EventsAnswer": shape({"conversation_id": TEXT, "results": many(ref("IngestResult"))}),
    "Analysis": shape(
        {
            "content_type": words(*ContentType),
            "importance": SHARE,
            "importance_keywords": TEXTS,
            "tags": TEXTS,
            "needs_web_search": FLAG,
            "web_search_keywords": TEXTS,
            "keywords": TEXTS,
            "entities": many(shape({"type": words(*EntityType), "value": TEXT, "normalized": TEXT})),
            "intent": words(*IntentName),
            "intent_confidence": SHARE,
            "rules_version": TEXT,
        }
    ),
    "Event": shape(
        {
            **_PLACE,
            "role": words(*Role),
            "content": TEXT,
            "content_type": words(*ContentType),
            "event_type": words(*SPOKEN_TYPES),
            "source": words(*Source),
            "timestamp": TIME,
            "recorded_at": TIME,
            "importance": SHARE,
            "tags": TEXTS,
            "views": COUNT,
            "is_private": FLAG,
            "metadata": FREE,
            "version": COUNT,
        },
        {
            **_OPTIONAL_PLACE,
            "title": TEXT,
            "category": TEXT,
            "notes": TEXT,
            "expires_at": TIME,
            "superseded_by": TEXT,
        },
    ),
    "EventsPage": shape(
        {
            "events": many(ref("Event")),
            "diagnostics": shape(
                {
                    "scanned": COUNT,
                    "returned": COUNT,
                    "filtered_by_context": COUNT,
                    "filtered_by_window": COUNT,
                    "dropped": DROPPED,
                    "exact": FLAG,
                }
            ),
        },
        {"next_cursor": TEXT},
    ),
    "ConversationsPage": shape(
        {"conversations": many(shape({"id": TEXT, "started_at": TIME}))},
        {"next_cursor": TEXT},
    ),
    "SearchResult": shape(
        {
            "id": TEXT,
            "kind": words("event", "memory"),
            "content": TEXT,
            "score": NUMBER,
            "timestamp": TIME,
            "importance": SHARE,
            "source": words(*Source),
            "source_event_ids": TEXTS,
        },
        {
            **_OPTIONAL_PLACE,
            "role": words(*Role),
            "conversation_id": TEXT,
            "event_type": words(*SPOKEN_TYPES),
            "title": TEXT,
            "tags": TEXTS,
            "keywords": TEXTS,
            "metadata": FREE,
            "status": words(*MemoryStatus),
            "superseded_by": TEXT,
            "version": COUNT,
            "valid_from": TIME,
            "valid_to": TIME,
            "note": TEXT,
            "scores": NUMBERS,
            "why": ref("Why"),
        },
    ),
    "Why": WHY,
    "QueryAnalysis": QUERY_ANALYSIS,
    "RetrievalStats": RETRIEVAL_STATS,
    "SearchAnswer": shape(
        {
            "results": many(ref("SearchResult")),
            "diagnostics": shape(
                {
                    "matched_count": COUNT,
                    "filtered_count": COUNT,
                    "returned_count": COUNT,
                    "dropped": DROPPED,
                    "exact": FLAG,
                    "missing": TEXTS,
                    "tail": COUNT,
                    "tail_cut": FLAG,
                    "pending": COUNT,
                    "rules_version": TEXT,
                    "duration_ms": NUMBER,
                },
                {
                    "fallback": words("timeline", "lexical", DATE_BASED),
                    "fallback_reason": words(*FallbackReason),
                    "stats": ref("RetrievalStats"),
                },
            ),
        },
        {"analysis": ref("QueryAnalysis"), "suggestion": TEXT, "near_misses": many(ref("SearchResult"))},
    ),
    "FeedbackAnswer": shape({"counted": FLAG}),
    "ContextItem": shape(
        {
            "id": TEXT,
            "content": TEXT,
            "timestamp": TIME,
            "section": words(*Section),
            "shown_in": many(words(*ShownIn)),
            "reason": TEXT,
            "importance": SHARE,
            "role": words(*Role),
            "source_event_ids": TEXTS,
        },
        {"speaker": TEXT, "score": NUMBER, "note": TEXT, "why": ref("Why")},
    ),
    "ContextAnswer": shape(
        {
            "prompt": TEXT,
            "messages": many(shape({"role": words(*MessageRole), "content": TEXT})),
            "items": many(ref("ContextItem")),
            "goals": many(FREE),
            "knowledge": many(FREE),
            "web_search": shape(
                {"triggered": FLAG, "keywords": TEXTS}, {"skipped": TEXT, "results": TEXTS, "failed": FLAG}
            ),
            "fence": shape({"open": TEXT, "close": TEXT}),
            "tokens": COUNT,
            "diagnostics": shape(
                {
                    "left_out": many(shape({"id": TEXT, "section": words(*Section), "reason": TEXT})),
                    "cut_from_messages": many(shape({"part": TEXT, "key": TEXT})),
                    "missing": TEXTS,
                    "dropped": DROPPED,
                    "tail_cut": FLAG,
                    "pending": COUNT,
                    "prompt_tokens": COUNT,
                    "messages_tokens": COUNT,
                    "rules_version": TEXT,
                    "duration_ms": NUMBER,
                },
                {"fallback": words("timeline", "lexical"), "input_event_id": TEXT},
            ),
        },
        {"summary": {"type": ["object", "null"], "additionalProperties": True}},
    ),
    "TurnAnswer": shape(
        {
            "conversation_id": TEXT,
            "response": {"type": ["string", "null"]},
            "input_event_id": TEXT,
            "response_event_id": {"type": ["string", "null"]},
            "tool_calls": many(ref("TurnToolCall")),
        },
        {"model": TEXT, "context": ref("ContextAnswer"), "refused": TEXTS, "quoted_calls": COUNT},
    ),
    "TurnToolCall": shape(
        {"tool": TEXT, "status": TEXT},
        {
            "ok": FLAG,
            "message": TEXT,
            "parameters": FREE,
            "action": TEXT,
            "result": FREE,
            "errors": many(ref("Fault")),
        },
    ),
    "KnowledgeEntry": KNOWLEDGE_ENTRY,
    "KnowledgePage": shape({}, {"entries": many(ref("KnowledgeEntry")), "next_cursor": TEXT, "prompt": TEXT}),
    "KnowledgeResolved": shape(
        {
            "text": TEXT,
            "filter": {"type": ["string", "null"]},
            "replacements": many(shape({"key": TEXT, "term": TEXT, "target": TEXT, "count": COUNT})),
            "rules": many(shape({"key": TEXT, "condition": TEXT})),
            "comments": TEXTS,
            "diagnostics": shape({"skipped": COUNT, "cut": FLAG}),
        }
    ),
    "KnowledgeLearnt": shape({"stored": FLAG}, {"tool_call": ref("ManageKnowledgeCall"), "confirmation": TEXT}),
    "ManageKnowledgeCall": shape({"tool": words("manage_knowledge"), "parameters": FREE}),
    "ToolCallsAnswer": shape(
        {
            "protocol": words(*Protocol),
            "calls": many(shape({"tool": TEXT, "parameters": FREE}, {"action": TEXT})),
            "text": TEXT,
            "warnings": TEXTS,
            "statistics": shape({"abp_ok": COUNT, "abp_failed": COUNT, "vcp_fallback": COUNT, "plain_text": COUNT}),
        },
        {"results": many(ref("ToolResult"))},
    ),
    "ToolResult": shape(
        {"tool": TEXT, "ok": FLAG, "status": words(*Status), "message": TEXT},
        {"result": FREE, "errors": many(ref("Fault"))},
    ),
    "RulesAnswer": shape(
        {"version": TEXT, "rules": ref("RulesDocument"), "own": FREE},
        {"updated_at": TIME, "ignored": many(ref("Fault"))},
    ),
    "Summary": shape(
        {
            "id": TEXT,
            "summary": TEXT,
            "sentences": many(shape({"text": TEXT, "source_event_ids": TEXTS})),
            "tracked_goals": many(shape(TRACKED_GOAL, {"check_in_frequency": TEXT})),
            "message_count": COUNT,
            "covered_from": TIME,
            "covered_until": TIME,
            "created_at": TIME,
            "reason": words(*Reason),
            "model": TEXT,
            "source_event_ids": TEXTS,
        },
        {"persona_id": TEXT, "conversation_id": TEXT},
    ),
    "SummariesPage": shape({"summaries": many(ref("Summary"))}, {"next_cursor": TEXT}),
    "SummaryMade": shape(
        {"due": FLAG},
        {
            "reason": words(*Reason),
            "summary": {"anyOf": [ref("Summary"), {"type": "null"}]},
            "refused": TEXTS,
            "messages_since": COUNT,
            "days_since": NUMBER,
        },
    ),
    "Goal": shape(
        {"id": TEXT, **TRACKED_GOAL, "version": COUNT, "source_event_ids": TEXTS},
        {"check_in_frequency": TEXT, "persona_id": TEXT, "source": words(*Source)},
    ),
    "GoalsList": shape({"goals": many(ref("Goal"))}),
    "Health": shape({"status": words("ok"), "version": TEXT}),
    "Readiness": shape(
        {
            "ready": FLAG,
            "parts": {
                "type": "object",
                "additionalProperties": shape({"ready": FLAG, "detail": TEXT}, {"pending": COUNT}),
            },
        }
    ),
    "Document": FREE,
    "Page": TEXT,
    **STORE_ANSWERS,
    **ARBITRATION_ANSWERS,
    **CONTRADICTION_ANSWERS,
}
