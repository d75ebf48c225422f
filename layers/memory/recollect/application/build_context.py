"""Context: what the next model call should see (K-15 to K-37, P-1, P-2, P-5, P-23). It stores nothing."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from recollect.application.context_sources import ContextQuestion, ContextSources, Gathered
from recollect.application.keep_rules import GivenRules, settled
from recollect.application.look_up import LookedUp, LookUp
from recollect.application.recalled import Recalled
from recollect.domain.budget import FittedMessages, FittedPrompt, check_input, fit_messages, fit_prompt
from recollect.domain.event import Event
from recollect.domain.goals import Goal
from recollect.domain.knowledge import KnowledgeEntry
from recollect.domain.memory import Memory, Origin
from recollect.domain.messages import ContextParts, Fence
from recollect.domain.ranking import Ranked
from recollect.domain.relevant_memories import MEMORY_TOKENS, Setting, choose_relevant, lines_wanted
from recollect.domain.rendering import goal_line
from recollect.domain.representation import represented
from recollect.domain.rules import Rules
from recollect.domain.scope import Scope
from recollect.domain.selection import ContextItem, LeftOut, Selected, ShownIn, by_importance, reach_of, select
from recollect.domain.summary import Summary
from recollect.ports import WebSearch


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextRequest:
    """A question, the limits of this request where they differ from the rules (as in `ContextRules`), the budget.

    `memory_tokens` bounds the memories of the messages. `web_search` is auto, always or never; `fence` carries this
    request's nonce; `tools` tells a model how to call them.
    """

    question: ContextQuestion
    fence: Fence
    limits: Mapping[str, int] | None = None
    token_budget: int | None = None
    memory_tokens: int = MEMORY_TOKENS
    web_search: str = "auto"
    tools: str | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """How search saw an item: its place (from 1) and signals."""

    place: int
    ranked: Ranked


@dataclass(frozen=True, slots=True)
class ShownItem:
    """An item of a context with what chose it, and the places in which it is shown, one at least."""

    selected: Selected
    shown_in: tuple[ShownIn, ...]


@dataclass(frozen=True, slots=True)
class ContextAnswer:
    """Prompt and messages, each inside the budget, and the receipt of what stands in them and what does not.

    `seconds`: how long it took, reads and web search included.
    """

    prompt: FittedPrompt
    messages: FittedMessages
    left_out: tuple[LeftOut, ...]
    found: Mapping[str, Found]
    gathered: Gathered
    web_search: LookedUp
    rules_version: str
    seconds: float = 0.0

    @property
    def tokens(self) -> int:
        """The larger of the two counts."""
        return max(self.prompt.tokens, self.messages.tokens)

    @property
    def items(self) -> tuple[ShownItem, ...]:
        """What stands in the prompt or among the memories of the messages, oldest first, each once.

        What the raw window shows is shown in the messages too.
        """
        parts = self.messages.parts
        chosen = {one.item.identity: one for one in (*parts.memories, *self.prompt.memories)}
        in_prompt = {one.item.identity for one in self.prompt.memories}
        in_messages = {*(one.item.identity for one in parts.memories), *(item.identity for item in parts.raw_window)}
        ordered = sorted(chosen.items(), key=lambda pair: (pair[1].item.timestamp, pair[1].item.id))
        places = ((ShownIn.PROMPT, in_prompt), (ShownIn.MESSAGES, in_messages))
        return tuple(
            ShownItem(selected, tuple(place for place, identities in places if identity in identities))
            for identity, selected in ordered
        )

    @property
    def missing(self) -> tuple[str, ...]:
        """The parts that did not answer, so that the context had to do without them."""
        web = ("web_search",) if self.web_search.failed else ()
        return (*self.gathered.recalled.missing, *self.gathered.background.missing, *web)

    @property
    def summary(self) -> Summary | None:
        """The summary that stands in the messages."""
        return self.gathered.background.summary if self.messages.parts.summary else None

    @property
    def goals(self) -> tuple[Goal, ...]:
        """The goals that stand in the messages: the last ones give way first."""
        return self.gathered.background.goals[: len(self.messages.parts.goals)]

    @property
    def knowledge(self) -> tuple[KnowledgeEntry, ...]:
        """The entries behind the knowledge that stands in the messages."""
        section = self.gathered.background.knowledge
        return section.entries if section and self.messages.parts.knowledge else ()


class BuildContext:
    """The use case behind `POST /v1/context`. Without `web_search` the web is not searched, and the answer says so."""

    def __init__(self, sources: ContextSources, web_search: WebSearch | None) -> None:
        self._sources = sources
        self._web_search = web_search

    def __call__(self, scope: Scope, request: ContextRequest, given_rules: GivenRules) -> ContextAnswer:
        """Selects, renders, fits. Raises InvalidInput where the input alone exceeds the budget.

        The rules may still be under way: they are waited for when the first wave of reads has begun. Then the web is
        searched, where they ask for it, beside the rest of the reads.
        """
        began = time.perf_counter()
        check_input(request.question.text, request.token_budget)
        looking = LookUp(self._web_search, request.question.text, request.web_search)

        def rules_read() -> Rules:
            rules = settled(given_rules)
            looking.begin(rules)
            return _effective(rules, request)

        gathered = self._sources(scope, request.question, rules_read, lines_wanted(request.memory_tokens))
        answer = assemble(gathered, looking.result(), request, settled(given_rules))
        return replace(answer, seconds=time.perf_counter() - began)


def assemble(gathered: Gathered, web_search: LookedUp, request: ContextRequest, rules: Rules) -> ContextAnswer:
    """Chooses from what was read, renders it and fits it into the budget; reads nothing."""
    question, limits = request.question, _effective(rules, request).context
    recalled, found, reach = gathered.recalled, _found(gathered), reach_of(limits)
    memories = recalled.memories
    shown = [represented(event, memories.get(event.id)) for event in gathered.important]
    weighty = by_importance(shown, limits.decay_half_life_days, question.now)
    by_search = _noted(
        [_item(recalled.events[i], memories.get(i), one.ranked.score) for i, one in found.items()], recalled
    )
    own = frozenset([gathered.input_event.id]) if gathered.input_event else frozenset[str]()
    selection = select(
        _noted(_items(gathered.recent[: reach.recent], memories), recalled),
        by_search,
        _noted(_items(weighty[: reach.important], memories), recalled),
        limits,
        question.now,
        own,
    )
    parts = _parts(request, gathered, web_search.results)
    prompt = fit_prompt(replace(parts, memories=selection.chosen), question.now, request.token_budget)
    relevant = choose_relevant(by_search, _setting(parts, own), request.memory_tokens, question.now)
    messages = fit_messages(replace(parts, memories=relevant), request.fence, question.now, request.token_budget)
    seen = {memories[i].id if i in memories else i: one for i, one in found.items()}
    shown_elsewhere = {selected.item.id for selected in messages.parts.memories}
    left_out = tuple(one for one in (*selection.left_out, *prompt.left_out) if one.id not in shown_elsewhere)
    return ContextAnswer(prompt, messages, left_out, seen, gathered, web_search, rules.version)


def _setting(parts: ContextParts, own: frozenset[str]) -> Setting:
    return Setting(parts.user_input, frozenset(item.identity for item in parts.raw_window), own)


def _parts(request: ContextRequest, gathered: Gathered, web_results: tuple[str, ...]) -> ContextParts:
    """All but the memories, which prompt and messages choose each for itself."""
    behind = gathered.background
    return ContextParts(
        user_input=request.question.text,
        raw_window=tuple(_said(event, gathered.recalled.kept.get(event.id)) for event in gathered.raw_window),
        summary=behind.summary.text if behind.summary else None,
        goals=tuple(goal_line(goal.tracked) for goal in behind.goals),
        knowledge=behind.knowledge.text if behind.knowledge else None,
        web_results=web_results,
        tools=request.tools,
    )


def _said(event: Event, memory: Memory | None) -> ContextItem:
    """A message of the raw window, in the words that a person put in the place of its own where they edited it."""
    if memory is None or memory.origin is Origin.MERGED or memory.content.strip() == event.content.strip():
        return _item(event, None)
    return _item(replace(event, content=memory.content), None)


def _effective(given: GivenRules, request: ContextRequest) -> Rules:
    rules = settled(given)
    return replace(rules, context=replace(rules.context, **request.limits)) if request.limits else rules


def _found(gathered: Gathered) -> dict[str, Found]:
    return {
        ranked.candidate.ref.id: Found(place, ranked) for place, ranked in enumerate(gathered.recalled.ranked, start=1)
    }


def _items(events: Sequence[Event], memories: Mapping[str, Memory]) -> list[ContextItem]:
    return [_item(event, memories.get(event.id)) for event in events]


def _noted(items: Sequence[ContextItem], recalled: Recalled) -> list[ContextItem]:
    """With what they replaced, where a search came upon that."""
    return [replace(item, replaces=recalled.replaces.get(item.id, ())) for item in items]


def _item(event: Event, memory: Memory | None, score: float | None = None) -> ContextItem:
    """A record is one item with the memory made from it (P-1); a directly saved memory has no source but itself."""
    shown = represented(event, memory)
    return ContextItem(
        id=memory.id if memory else event.id,
        content=shown.content,
        timestamp=event.timestamp,
        importance=shown.importance,
        role=event.role,
        content_type=event.content_type,
        source_event_ids=memory.source_event_ids if memory else (event.id,),
        score=score,
        speaker=event.speaker,
    )
