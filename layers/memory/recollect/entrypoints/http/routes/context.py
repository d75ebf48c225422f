"""`POST /v1/context`: what the next model call should see, with the reason for each line."""

import secrets
from collections import Counter
from typing import Annotated, Any, Self

from pydantic import Field

from recollect.app import App
from recollect.context.build import ContextAnswer, ContextRequest, ShownItem
from recollect.context.formats import MessageFormat, formatted
from recollect.context.relevance import MEMORY_TOKENS, MOST_MEMORY_TOKENS
from recollect.context.rendering import Fence, MessageRole, fence_for
from recollect.context.selection import ContextItem as Item
from recollect.context.selection import LeftOut, Section, ShownIn
from recollect.context.sources import ContextQuestion
from recollect.core.time import iso
from recollect.entrypoints.http.messages import Reply, Request
from recollect.entrypoints.http.models import (
    LARGEST_WHOLE,
    AnswerModel,
    Content,
    Count,
    Free,
    Identifier,
    Maybe,
    OneOf,
    RequestModel,
    Share,
    Shows,
    Time,
)
from recollect.entrypoints.http.representations import (
    Because,
    Dropped,
    Filters,
    GivenTimes,
    MinSimilarity,
    Question,
    RoleName,
    Why,
    filters_of,
    goal_json,
    knowledge_json,
)
from recollect.entrypoints.http.routing import Routes
from recollect.memories.representation import replacement_note
from recollect.retrieval.ranking import Ranked
from recollect.rules.groups import MOST_PLACES
from recollect.summaries.summary import Summary

_Places = Annotated[int, Field(ge=0, le=MOST_PLACES)]
_SectionName = Annotated[str, OneOf(*Section)]
TokenBudget = Annotated[int, Field(ge=1, le=LARGEST_WHOLE)]
MemoryTokens = Annotated[int, Field(ge=0, le=MOST_MEMORY_TOKENS)]
WebSearchMode = Annotated[str, OneOf("auto", "always", "never")]


class ContextLimits(RequestModel):
    total: Maybe[_Places] = None
    recent: Maybe[_Places] = None
    semantic: Maybe[_Places] = None
    important: Maybe[_Places] = None


class Contextual(RequestModel):
    """What a context and a turn are asked in common."""

    token_budget: Maybe[TokenBudget] = Field(None, description="Of prompt and messages each by itself.")
    memory_tokens: MemoryTokens = Field(
        MEMORY_TOKENS, description="How many tokens the memories of `messages` may take."
    )
    limits: Maybe[ContextLimits] = Field(None, description="Of `prompt`, where they differ from the rules.")
    web_search: WebSearchMode = "auto"
    store: Maybe[Identifier] = Field(None, description="Whose vocabulary and rules are meant.")
    rerank: bool = Field(
        True, description="A second stage reads the best hits for `messages`, where the deployment has one."
    )


class ContextBody(Question, Contextual, title="ContextRequest"):
    conversation_id: Maybe[Identifier] = Field(
        None, description="The recent section and the raw window are that conversation's."
    )
    input: Content = Field(description="What the user says now.")
    input_event_id: Maybe[Identifier] = Field(None, description="The input's own event, where it is stored already.")
    min_similarity: MinSimilarity = Field(
        None, description="Of the memories that a search finds, inclusive; 0.7 is related. Absent: none."
    )
    format: Annotated[str, OneOf(*MessageFormat)] = Field(
        MessageFormat.OPENAI.value,
        description="Of `messages`: `anthropic` and `converse` (Amazon Bedrock) have the system prompt in `system`.",
    )
    time_window: Maybe[GivenTimes] = Field(None, description="When memories were said; the raw window is not bounded.")
    filters: Maybe[Filters] = Field(None, description="What memories must have; the raw window need not.")


class ContextItem(AnswerModel):
    id: str
    content: str
    timestamp: Time
    section: _SectionName
    shown_in: list[Annotated[str, OneOf(*ShownIn)]]
    reason: str
    importance: Share
    role: RoleName
    speaker: Maybe[str] = None
    source_event_ids: list[str]
    score: Maybe[float] = None
    note: Maybe[str] = None
    because: Because = None
    why: Maybe[Why] = None

    @classmethod
    def of(cls, answer: ContextAnswer, one: ShownItem, explain: bool) -> Self:
        """An item with what chose it and where it is shown; `explain` adds a sentence, and how search saw it."""
        item, found = one.selected.item, answer.found.get(one.selected.item.id)
        return cls.made_of(
            item,
            one.selected,
            one,
            speaker=item.speaker or None,
            score=None if found is None else round(found.ranked.score, 6),
            note=replacement_note(item.replaces),
            because=answer.because(one) if explain else None,
            why=Why.of(found.ranked, found.place, item.replaces) if explain and found is not None else None,
        )


class NearMiss(AnswerModel):
    id: str
    content: str
    timestamp: Time
    role: RoleName
    speaker: Maybe[str] = None
    source_event_ids: list[str]
    score: float
    because: Because = None


class TextBlock(AnswerModel):
    text: str


class Message(AnswerModel):
    role: Annotated[str, OneOf(*MessageRole)]
    content: str | list[TextBlock]


class WebSearch(AnswerModel):
    triggered: bool
    keywords: list[str]
    skipped: Maybe[str] = None
    results: Maybe[list[str]] = None
    failed: Maybe[bool] = None


class FenceAnswer(AnswerModel):
    open: str
    close: str


class LeftOutAnswer(AnswerModel):
    id: str
    section: _SectionName
    reason: str
    because: Because = None
    content: Maybe[str] = Field(None, description="With `explain`: its first 300 characters.")
    timestamp: Maybe[Time] = None
    role: Maybe[RoleName] = None
    speaker: Maybe[str] = None

    @classmethod
    def of(cls, one: LeftOut, explain: bool) -> Self:
        """With `explain` what it says, and why in a sentence."""
        if not explain:
            return cls.made_of(one, because=None)
        return cls.made_of(one, one.item, content=one.item.content[:_BEGINNING], speaker=one.item.speaker or None)


class CutAnswer(AnswerModel):
    part: str
    key: str


class ContextDiagnostics(AnswerModel):
    left_out: list[LeftOutAnswer]
    cut_from_messages: list[CutAnswer]
    missing: list[str]
    dropped: Dropped
    tail_cut: bool
    pending: Count
    prompt_tokens: Count
    messages_tokens: Count
    rules_version: str
    duration_ms: float
    fallback: Maybe[Annotated[str, OneOf("timeline", "lexical")]] = None
    input_event_id: Maybe[str] = None


class ContextShown(AnswerModel, title="ContextAnswer"):
    prompt: str
    system: Maybe[str | list[TextBlock]] = Field(None, description="The system prompt, where `format` has it apart.")
    messages: list[Message]
    items: list[ContextItem]
    nothing_relevant: bool = Field(description="Nothing that is remembered is relevant to the input.")
    goals: list[Free]
    knowledge: list[Free]
    web_search: WebSearch
    fence: FenceAnswer
    tokens: Count
    diagnostics: ContextDiagnostics
    near_misses: Maybe[list[NearMiss]] = Field(
        None, description="With `explain`: what a search finds and nothing of this shows, best first, at most ten."
    )
    summary: Annotated[Free | None, Shows({"type": ["object", "null"], "additionalProperties": True})] = None


NEAR_MISSES = 10
_BEGINNING = 300
routes = Routes()


@routes.post("/v1/context", answer=ContextShown)
def build_context(app: App, request: Request, body: ContextBody) -> Reply:
    """What the next model call should see, with the reason for each line.

    It selects, renders, fits into the budget, and stores nothing.
    """
    scope = request.scope(body)
    rules = app.begin_rules(scope.tenant)
    fence = fence_for(secrets.token_hex(16))
    filters = filters_of(body, request.now, body.time_window, body.filters)
    question = ContextQuestion(
        text=body.input,
        filters=filters,
        conversation_id=body.conversation_id,
        input_event_id=body.input_event_id,
        store=body.store,
        min_similarity=body.min_similarity,
        near_misses=NEAR_MISSES if body.explain else 0,
    )
    answer = app.context.model_call.build(scope, context_request(body, question, fence), rules)
    shown = context_shown(answer, fence, bool(body.explain), MessageFormat(body.format))
    return Reply(200, shown, log=context_log(answer))


def context_request(asked: Contextual, question: ContextQuestion, fence: Fence) -> ContextRequest:
    """The question with the limits and the budget of the request."""
    return ContextRequest(
        question=question,
        fence=fence,
        limits=asked.limits.given() if asked.limits else None,
        token_budget=asked.token_budget,
        memory_tokens=asked.memory_tokens,
        web_search=asked.web_search,
        rerank=asked.rerank,
    )


def context_log(answer: ContextAnswer) -> dict[str, Any]:
    """Counts and decisions for the log line: no text."""
    return {
        "items": len(answer.items),
        "tokens": answer.tokens,
        "missing": list(answer.missing),
        "searched_web": answer.web_search.searched,
        "rules_version": answer.rules_version,
    }


def context_shown(
    answer: ContextAnswer, fence: Fence, explain: bool, form: MessageFormat = MessageFormat.OPENAI
) -> ContextShown:
    """The answer; summary, goals and knowledge are those that stand in the messages."""
    given = formatted(answer.messages.messages, form)
    return ContextShown.made_of(
        answer,
        prompt=answer.prompt.text,
        system=given.system,
        messages=given.messages,
        items=[ContextItem.of(answer, one, explain) for one in answer.items],
        summary=context_summary_json(answer.summary) if answer.summary else None,
        goals=[goal_json(goal) for goal in answer.goals],
        knowledge=[knowledge_json(entry) for entry in answer.knowledge],
        web_search=_web_search(answer),
        fence=fence,
        diagnostics=_diagnostics(answer, explain),
        near_misses=_near(answer) if explain else None,
    )


def _near(answer: ContextAnswer) -> list[NearMiss]:
    """Those that come next, each with the sentence on why it was found."""

    def shown(item: Item, one: Ranked) -> NearMiss:
        because = answer.because_found(item, one)
        return NearMiss.made_of(item, speaker=item.speaker or None, score=round(one.score, 6), because=because)

    return [shown(*pair) for pair in answer.near_misses[:NEAR_MISSES]]


def context_summary_json(summary: Summary) -> dict[str, Any]:
    """What a context says of the summary in it."""
    return {
        "id": summary.id,
        "summary": summary.text,
        "covered_until": iso(summary.covered_until),
        "source_event_ids": list(summary.source_event_ids),
    }


def _web_search(answer: ContextAnswer) -> WebSearch:
    web = answer.web_search
    results = answer.prompt.web_results if web.searched else None
    return WebSearch.made_of(web, skipped=web.skipped or None, results=results, failed=web.failed or None)


def _diagnostics(answer: ContextAnswer, explain: bool) -> ContextDiagnostics:
    recalled = answer.gathered.recalled
    own = answer.gathered.input_event
    return ContextDiagnostics.made_of(
        answer,
        recalled,
        left_out=[LeftOutAnswer.of(one, explain) for one in answer.left_out],
        cut_from_messages=answer.messages.cuts,
        dropped=Counter(recalled.dropped.values()),
        prompt_tokens=answer.prompt.tokens,
        messages_tokens=answer.messages.tokens,
        duration_ms=round(answer.seconds * 1000, 1),
        fallback=recalled.fallback or None,
        input_event_id=own.id if own else None,
    )
