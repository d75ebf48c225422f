"""Context: what the next model call should see (K-15 to K-37, P-1, P-2, P-5, P-23). It stores nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from recollect.application.context_sources import ContextQuestion, ContextSources, Gathered
from recollect.domain.budget import FittedMessages, FittedPrompt, fit_messages, fit_prompt
from recollect.domain.event import Event
from recollect.domain.messages import ContextParts, Fence
from recollect.domain.ranking import Ranked
from recollect.domain.rules import ContextRules, Rules
from recollect.domain.scope import Scope
from recollect.domain.selection import ContextItem, LeftOut, select
from recollect.domain.web_search import needs_web_search, web_search_keywords


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextRequest:
    """A question, the limits of this request where they differ from the rules, and the token budget.

    `web_search` is auto, always or never; `fence` carries this request's nonce.
    """

    question: ContextQuestion
    fence: Fence
    limits: ContextRules | None = None
    token_budget: int | None = None
    web_search: str = "auto"


@dataclass(frozen=True, slots=True)
class WebSearchDecision:
    """What the rule decided, and why nothing was searched all the same."""

    triggered: bool
    keywords: tuple[str, ...]
    skipped: str | None


@dataclass(frozen=True, slots=True)
class Found:
    """How search saw an item: its place (from 1) and signals."""

    place: int
    ranked: Ranked


@dataclass(frozen=True, slots=True)
class ContextAnswer:
    """Prompt and messages, each inside the budget, and the receipt of what stands in them and what does not."""

    prompt: FittedPrompt
    messages: FittedMessages
    left_out: tuple[LeftOut, ...]
    found: Mapping[str, Found]
    gathered: Gathered
    web_search: WebSearchDecision
    rules_version: str

    @property
    def tokens(self) -> int:
        """The larger of the two counts."""
        return max(self.prompt.tokens, self.messages.tokens)


class BuildContext:
    """The use case behind `POST /v1/context`."""

    def __init__(self, sources: ContextSources) -> None:
        self._sources = sources

    def __call__(self, scope: Scope, request: ContextRequest, rules: Rules) -> ContextAnswer:
        """Selects, renders, fits. Raises InvalidInput where the input alone exceeds the budget."""
        question = request.question
        effective = replace(rules, context=request.limits) if request.limits else rules
        gathered = self._sources(scope, question, effective)
        own = frozenset([gathered.input_event.id]) if gathered.input_event else frozenset()
        found = _found(gathered)
        selection = select(
            _items(gathered.recent),
            [_item(gathered.recalled.events[event_id], one.ranked.score) for event_id, one in found.items()],
            _items(gathered.important),
            effective.context,
            question.now,
            own,
        )
        parts = ContextParts(
            user_input=question.text, memories=selection.chosen, raw_window=tuple(_items(gathered.raw_window))
        )
        prompt = fit_prompt(parts, question.now, request.token_budget)
        messages = fit_messages(parts, request.fence, question.now, request.token_budget)
        left_out = (*selection.left_out, *prompt.left_out)
        decision = _web_search(question.text, request.web_search, rules)
        return ContextAnswer(prompt, messages, left_out, found, gathered, decision, rules.version)


def _found(gathered: Gathered) -> dict[str, Found]:
    return {
        ranked.candidate.ref.id: Found(place, ranked) for place, ranked in enumerate(gathered.recalled.ranked, start=1)
    }


def _items(events: Sequence[Event]) -> list[ContextItem]:
    return [_item(event) for event in events]


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


def _web_search(text: str, wish: str, rules: Rules) -> WebSearchDecision:
    """The rule's decision; no search provider stands behind it yet, so it is always skipped."""
    triggered = wish == "always" or (wish == "auto" and needs_web_search(text, rules))
    return WebSearchDecision(triggered, web_search_keywords(text, rules), "off" if triggered else None)
