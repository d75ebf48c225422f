"""`POST /v1/context`: what the next model call should see, with the reason for each line."""

import secrets
from collections import Counter
from collections.abc import Mapping
from typing import Any

from recollect.app import App
from recollect.context.build import ContextAnswer, ContextRequest, Found, ShownItem
from recollect.context.rendering import MEMORY_TOKENS, MOST_MEMORY_TOKENS, Fence, fence_for
from recollect.context.selection import LeftOut
from recollect.context.sources import ContextQuestion
from recollect.core.time import iso
from recollect.entrypoints.http.fields import Shape, choice, identifier, nested, text, whole
from recollect.entrypoints.http.messages import Reply, Request
from recollect.entrypoints.http.questions import TALK, TEXT_BYTES, WHEN, WHOSE, filters_of
from recollect.entrypoints.http.representations import knowledge_json, why_json
from recollect.entrypoints.http.routing import COMMON_STATUSES, Route
from recollect.entrypoints.http.summary_json import goal_json
from recollect.memories.representation import replacement_note
from recollect.rules.groups import MOST_PLACES
from recollect.summaries.summary import Summary

LIMITS = Shape(
    "ContextLimits",
    {
        "total": whole(0, MOST_PLACES),
        "recent": whole(0, MOST_PLACES),
        "semantic": whole(0, MOST_PLACES),
        "important": whole(0, MOST_PLACES),
    },
)
CONTEXT_BODY = Shape(
    "ContextRequest",
    {
        **WHOSE,
        "conversation_id": identifier().described("The recent section and the raw window are that conversation's."),
        "input": text(max_bytes=TEXT_BYTES, blank=False).needed().described("What the user says now."),
        "input_event_id": identifier().described("The input's own event, where it is stored already."),
        "token_budget": whole(1).described("Of prompt and messages each by itself."),
        "memory_tokens": whole(0, MOST_MEMORY_TOKENS, default=MEMORY_TOKENS).described(
            "How many tokens the memories of `messages` may take."
        ),
        "limits": nested(LIMITS).described("Of `prompt`, where they differ from the rules."),
        "web_search": choice("auto", "always", "never", default="auto"),
        "store": identifier().described("Whose vocabulary and rules are meant."),
        "active_space_id": TALK["active_space_id"],
        **WHEN,
    },
)


def build_context(app: App, request: Request) -> Reply:
    """Selects, renders, fits into the budget; stores nothing."""
    values = request.values
    scope = request.scope(values)
    rules = app.begin_rules(scope.tenant)
    fence = fence_for(secrets.token_hex(16))
    answer = app.context.build(scope, _context_request(values, request, fence), rules)
    return Reply(200, context_json(answer, fence, values.get("explain", False)), log=context_log(answer))


def context_log(answer: ContextAnswer) -> dict[str, Any]:
    """Counts and decisions for the log line: no text."""
    web = answer.web_search
    return {
        "items": len(answer.items),
        "tokens": answer.tokens,
        "missing": list(answer.missing),
        "searched_web": web.searched,
        "rules_version": answer.rules_version,
    }


def _context_request(values: Mapping[str, Any], request: Request, fence: Fence) -> ContextRequest:
    return ContextRequest(
        question=ContextQuestion(
            text=values["input"],
            filters=filters_of(values, request.now),
            conversation_id=values.get("conversation_id"),
            input_event_id=values.get("input_event_id"),
            store=values.get("store"),
        ),
        fence=fence,
        limits=values.get("limits"),
        token_budget=values.get("token_budget"),
        memory_tokens=values["memory_tokens"],
        web_search=values["web_search"],
    )


def context_json(answer: ContextAnswer, fence: Fence, explain: bool) -> dict[str, Any]:
    """The answer; summary, goals and knowledge are those that stand in the messages."""
    messages = [{"role": message.role.value, "content": message.content} for message in answer.messages.messages]
    return {
        "prompt": answer.prompt.text,
        "messages": messages,
        "items": [item_json(one, answer.found.get(one.selected.item.id), explain) for one in answer.items],
        "summary": context_summary_json(answer.summary) if answer.summary else None,
        "goals": [goal_json(goal) for goal in answer.goals],
        "knowledge": [knowledge_json(entry) for entry in answer.knowledge],
        "web_search": _web_search_json(answer),
        "fence": {"open": fence.open, "close": fence.close},
        "tokens": answer.tokens,
        "diagnostics": _diagnostics_json(answer),
    }


def item_json(one: ShownItem, found: Found | None, explain: bool) -> dict[str, Any]:
    """An item with what chose it and where it is shown; `explain` adds how search saw it."""
    selected, item = one.selected, one.selected.item
    shown: dict[str, Any] = {
        "id": item.id,
        "content": item.content,
        "timestamp": iso(item.timestamp),
        "section": selected.section.value,
        "shown_in": [place.value for place in one.shown_in],
        "reason": selected.reason,
        "importance": item.importance,
        "role": item.role,
        **({"speaker": item.speaker} if item.speaker else {}),
        "source_event_ids": list(item.source_event_ids),
    }
    if found is not None:
        shown["score"] = round(found.ranked.score, 6)
    note = replacement_note(item.replaces)
    shown |= {"note": note} if note is not None else {}
    why = {"why": why_json(found.ranked, found.place, item.replaces)} if explain and found is not None else {}
    return {**shown, **why}


def context_summary_json(summary: Summary) -> dict[str, Any]:
    """What a context says of the summary in it (api.md, *Shapes*)."""
    return {
        "id": summary.id,
        "summary": summary.text,
        "covered_until": iso(summary.covered_until),
        "source_event_ids": list(summary.source_event_ids),
    }


def _web_search_json(answer: ContextAnswer) -> dict[str, Any]:
    web = answer.web_search
    shown: dict[str, Any] = {"triggered": web.triggered, "keywords": list(web.keywords)}
    if web.skipped:
        shown["skipped"] = web.skipped
    if web.searched:
        shown["results"] = list(answer.prompt.web_results)
    return {**shown, "failed": True} if web.failed else shown


def _diagnostics_json(answer: ContextAnswer) -> dict[str, Any]:
    recalled = answer.gathered.recalled
    own = answer.gathered.input_event
    diagnostics: dict[str, Any] = {
        "left_out": [_left_out_json(one) for one in answer.left_out],
        "cut_from_messages": [{"part": cut.part.value, "key": cut.key} for cut in answer.messages.cuts],
        "missing": list(answer.missing),
        "dropped": {str(reason): count for reason, count in Counter(recalled.dropped.values()).items()},
        "tail_cut": recalled.tail_cut,
        "pending": recalled.pending,
        "prompt_tokens": answer.prompt.tokens,
        "messages_tokens": answer.messages.tokens,
        "rules_version": answer.rules_version,
        "duration_ms": round(answer.seconds * 1000, 1),
    }
    if recalled.fallback:
        diagnostics["fallback"] = recalled.fallback
    return {**diagnostics, "input_event_id": own.id} if own else diagnostics


def _left_out_json(one: LeftOut) -> dict[str, str]:
    return {"id": one.id, "section": one.section.value, "reason": one.reason}


ROUTES = (
    Route(
        method="POST",
        path="/v1/context",
        operation="buildContext",
        summary="What the next model call should see, with the reason for each line",
        handle=build_context,
        body=CONTEXT_BODY,
        answer="ContextAnswer",
        statuses=(200, *COMMON_STATUSES),
    ),
)
