"""What a model would be shown of a conversation, by whom it is chosen and within how many tokens.

Each reads once for a question, and is then fitted into one budget after the other: `fits(…)[name](budget)`. All sizes
are with the question, in the tokens of `count_tokens`; a budget of None is no budget.

- The last 20 messages, and as many of the newest as fit: texts as they are, the oldest giving way first.
- The date filter ("Stage 4": the newest 20 of a window) and retrieval by intent: their records as the memories of our
  prompt, whole, the oldest and the weakest giving way first. Their window is the product's: the days that the question
  names, else the last 14; or all days, which for retrieval by intent the question still narrows (P-15).
- A context as `POST /v1/context` answers it: its prompt or its messages, with the limits of the request.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from bench_data import Question, Turn
from bench_ours import TENANT, OurMemory

from recollect.context.budget import fit_prompt
from recollect.context.build import ContextAnswer, ContextRequest, assemble
from recollect.context.rendering import ContextParts, fence_for
from recollect.context.selection import ContextItem, Section, Selected
from recollect.context.sources import ContextQuestion
from recollect.core.event import Event
from recollect.core.scope import Scope
from recollect.core.time import EARLIEST
from recollect.intent.retrieve import IntentQuestion
from recollect.intent.scoring import MOST_RECORDS, date_window
from recollect.retrieval.filters import SearchFilters, TimeWindow
from recollect.text.dates import named_dates
from recollect.text.sentences import count_tokens
from recollect.timeline.timeline import WindowQuery

LAST = 20
LAST_MESSAGES = "last 20 messages"
STAGE_4, STAGE_4_OF_ALL = "date filter, 14 days", "date filter, all days"
INTENT, INTENT_OF_ALL = "search by intent, 14 days", "search by intent, all days"
PROMPT, MESSAGES = "prompt", "messages"
PROMPT_OF_50, MESSAGES_OF_50, PROMPT_OF_HITS = "prompt, 50 places", "messages, 50 places", "prompt, 50 search hits"
RAISED = {"total": 50, "semantic": 45}
HITS_ALONE = {"total": 50, "recent": 0, "semantic": 50, "important": 0}
"""Limits of a request that a caller may give (at most 50 each, api.md *Context*)."""
_FENCE = fence_for("0123456789abcdef")
_ALL_DAYS = TimeWindow(EARLIEST)


@dataclass(frozen=True, slots=True)
class Shown:
    """The turns in view, and the size of all of it with the question."""

    turn_ids: frozenset[str]
    tokens: int


Fit = Callable[[int | None], Shown]
_Answered = Callable[[int | None], ContextAnswer]


def fits(memory: OurMemory, turns: Sequence[Turn], question: Question) -> dict[str, Fit]:
    """Every way to choose, by its name; the baselines first."""
    by_default, raised, hits = (_answered(memory, limits, question) for limits in (None, RAISED, HITS_ALONE))
    own = [turn for turn in turns if turn.conversation == question.conversation]
    return {
        LAST_MESSAGES: _newest(own[-LAST:], question),
        "newest messages that fit": _newest(own, question),
        STAGE_4: _by_date(memory, _window_of(question), question),
        STAGE_4_OF_ALL: _by_date(memory, _ALL_DAYS, question),
        INTENT: _by_intent(memory, TimeWindow(), question),
        INTENT_OF_ALL: _by_intent(memory, _ALL_DAYS, question),
        PROMPT: _in_prompt(memory, by_default),
        PROMPT_OF_50: _in_prompt(memory, raised),
        PROMPT_OF_HITS: _in_prompt(memory, hits),
        MESSAGES: _in_messages(memory, by_default),
        MESSAGES_OF_50: _in_messages(memory, raised),
    }


def context_request(
    question: Question, limits: Mapping[str, int] | None = None, budget: int | None = None
) -> ContextRequest:
    """As a caller asks who names the conversation."""
    filters = SearchFilters(now=question.asked_at)
    asked = ContextQuestion(text=question.text, filters=filters, conversation_id=question.conversation)
    return ContextRequest(question=asked, fence=_FENCE, limits=limits, token_budget=budget)


def context_of(memory: OurMemory, request: ContextRequest, conversation: str) -> ContextAnswer:
    """The use case behind `POST /v1/context`."""
    return memory.app.context.build(Scope(TENANT, conversation), request, memory.app.begin_rules(TENANT))


def _newest(turns: Sequence[Turn], question: Question) -> Fit:
    """The newest messages in one piece: the first that does not fit ends it."""

    def fit(budget: int | None) -> Shown:
        kept, tokens = list[str](), count_tokens(question.text)
        for turn in reversed(turns):
            size = count_tokens(turn.text)
            if budget is not None and tokens + size > budget:
                break
            kept.append(turn.turn_id)
            tokens += size
        return Shown(frozenset(kept), tokens)

    return fit


def _window_of(question: Question) -> TimeWindow:
    """As retrieval by intent reads the question's days."""
    named = [one.range for one in named_dates(question.text, question.asked_at)]
    return date_window(TimeWindow(), named, question.asked_at)


def _by_date(memory: OurMemory, window: TimeWindow, question: Question) -> Fit:
    """One page of the timeline."""
    now = question.asked_at
    query = WindowQuery(now=now, window=TimeWindow(window.start, window.end or now), limit=MOST_RECORDS)
    events = memory.app.timeline.listing.window(Scope(TENANT, question.conversation), query).events
    return _as_memories(memory, question, [Selected(_item(event), Section.RECENT, "") for event in events])


def _by_intent(memory: OurMemory, window: TimeWindow, question: Question) -> Fit:
    filters = SearchFilters(now=question.asked_at, window=window)
    asked = IntentQuestion(text=question.text, filters=filters)
    scope = Scope(TENANT, question.conversation)
    answer = memory.app.intent(scope, asked, memory.app.begin_rules(TENANT))
    places = ((_item(one.event, one.ranked.score), Section.SEMANTIC, "") for one in answer.results)
    return _as_memories(memory, question, [Selected(*place) for place in places])


def _item(event: Event, score: float | None = None) -> ContextItem:
    return ContextItem(
        id=event.id,
        content=event.content,
        timestamp=event.timestamp,
        importance=event.importance,
        role=event.role,
        content_type=event.content_type,
        source_event_ids=(event.id,),
        score=score,
    )


def _as_memories(memory: OurMemory, question: Question, chosen: Iterable[Selected]) -> Fit:
    """The prompt of a context with these as its memories."""
    oldest_first = sorted(chosen, key=lambda one: (one.item.timestamp, one.item.id))
    parts = ContextParts(user_input=question.text, memories=tuple(oldest_first))

    def fit(budget: int | None) -> Shown:
        fitted = fit_prompt(parts, question.asked_at, budget)
        return Shown(_turn_ids(memory, (one.item for one in fitted.memories)), fitted.tokens)

    return fit


def _in_prompt(memory: OurMemory, answered: _Answered) -> Fit:
    def fit(budget: int | None) -> Shown:
        prompt = answered(budget).prompt
        return Shown(_turn_ids(memory, (one.item for one in prompt.memories)), prompt.tokens)

    return fit


def _in_messages(memory: OurMemory, answered: _Answered) -> Fit:
    def fit(budget: int | None) -> Shown:
        messages = answered(budget).messages
        items = [*(one.item for one in messages.parts.memories), *messages.parts.raw_window]
        return Shown(_turn_ids(memory, items), messages.tokens)

    return fit


def _answered(memory: OurMemory, limits: Mapping[str, int] | None, question: Question) -> _Answered:
    """One call without a budget; of what it read, the same call's answer within one. Nothing read depends on it."""
    whole = context_of(memory, context_request(question, limits), question.conversation)
    rules = memory.app.rules.resolved(TENANT)

    @cache
    def within(budget: int | None) -> ContextAnswer:
        if budget is None:
            return whole
        return assemble(whole.gathered, whole.web_search, context_request(question, limits, budget), rules)

    return within


def _turn_ids(memory: OurMemory, items: Iterable[ContextItem]) -> frozenset[str]:
    return frozenset(memory.turn_id(event_id) for item in items for event_id in item.source_event_ids)
