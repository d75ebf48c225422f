"""Context: what the next model call should see (K-15 to K-37, P-1, P-2, P-5, P-23). It stores nothing.

Beside the reads runs the web search of the input, where the rules or the request ask for it (K-38 to K-42, K-76, K-83).
"""

import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import repeat

from recollect.context.budget import FittedMessages, FittedPrompt, check_input, fit_messages, fit_prompt
from recollect.context.disputes import Disputes, disputes
from recollect.context.relevance import (
    EVERY_HIT,
    MEMORY_TOKENS,
    RelevanceCut,
    Setting,
    beside_what_is_shown,
    lines_wanted,
    not_shown_yet,
    those_that_fit,
    wishes_besides,
    without_echoes,
    without_repeated_questions,
)
from recollect.context.rendering import ContextParts, Fence, goal_line
from recollect.context.selection import (
    ContextItem,
    LeftOut,
    Section,
    Selected,
    ShownIn,
    by_importance,
    reach_of,
    select,
)
from recollect.context.sources import ContextQuestion, ContextSources, Gathered
from recollect.contradictions.doubts import FindDoubts, NewestConflicts
from recollect.core.errors import Unavailable, UpstreamFailed
from recollect.core.event import Event, EventRef
from recollect.core.scope import Scope
from recollect.knowledge.entries import KnowledgeEntry
from recollect.memories.memory import Memory, Origin
from recollect.memories.representation import no_longer_holds, represented
from recollect.ports import Concurrency, WebSearch
from recollect.retrieval.filters import SearchFilters
from recollect.retrieval.nomination import rank_order
from recollect.retrieval.pipeline import Recalled
from recollect.retrieval.ranking import Ranked
from recollect.retrieval.reasons import because
from recollect.retrieval.second_stage import SecondStage
from recollect.rules.groups import Rules
from recollect.rules.importance import needs_web_search, web_search_keywords
from recollect.rules.use_cases import GivenRules, settled
from recollect.summaries.goals import Goal
from recollect.summaries.summary import Summary
from recollect.text.phrases import one_line
from recollect.usage import Counted, uncounted

SECONDS = 2.0
MOST_RESULTS = 5
LONGEST_RESULT = 1000
LONGEST_QUERY = 400
_MAY_CHANGE = "has changed another line, or may have"
_HOW_TO_ANSWER = "says how you want to be answered"


@dataclass(frozen=True, slots=True, kw_only=True)
class LookedUp:
    """Whether the web search was triggered, by which words; why it was skipped all the same; its results.

    `failed`: the search failed or was too slow; then there are no results.
    """

    triggered: bool
    keywords: tuple[str, ...] = ()
    skipped: str | None = None
    results: tuple[str, ...] = ()
    failed: bool = False

    @property
    def searched(self) -> bool:
        """Whether the text left the machine."""
        return self.triggered and self.skipped is None


class LookUp:
    """Decides, searches and waits. `wish` is auto (the rule decides), always or never.

    The search has a thread of its own: a wave's threads must not wait for a foreign server.
    """

    def __init__(self, web_search: WebSearch | None, text: str, wish: str, seconds: float = SECONDS) -> None:
        self._web_search = web_search
        self._text = text
        self._wish = wish
        self._seconds = seconds
        self._decided = LookedUp(triggered=False)
        self._found: tuple[str, ...] | None = None
        self._thread: threading.Thread | None = None
        self._deadline = 0.0

    def begin(self, rules: Rules) -> None:
        """Decides, and begins the search where there is a provider."""
        triggered = self._wish == "always" or (self._wish == "auto" and needs_web_search(self._text, rules))
        off = triggered and self._web_search is None
        keywords = web_search_keywords(self._text, rules)
        self._decided = LookedUp(triggered=triggered, keywords=keywords, skipped="off" if off else None)
        if triggered and self._web_search is not None:
            self._deadline = time.monotonic() + self._seconds
            run = partial(self._run, self._web_search)
            self._thread = threading.Thread(target=run, name="recollect-web-search", daemon=True)
            self._thread.start()

    def _run(self, web_search: WebSearch) -> None:
        # Whatever a foreign server causes, the turn goes on without it (K-77).
        with suppress(Exception):
            self._found = _bounded_results(web_search.search(_line(self._text, LONGEST_QUERY), self._seconds))

    def result(self) -> LookedUp:
        """The decision, with the results that came in time."""
        if self._thread is None:
            return self._decided
        self._thread.join(max(0.0, self._deadline - time.monotonic()))
        found = self._found
        return replace(self._decided, results=found or (), failed=found is None)


def _bounded_results(results: tuple[str, ...]) -> tuple[str, ...]:
    lines = [_line(text, LONGEST_RESULT) for text in results]
    return tuple(line for line in lines if line)[:MOST_RESULTS]


def _line(text: str, longest: int) -> str:
    return one_line(text[:longest]).strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextRequest:
    """A question, limits of this request that override the rules' (as in `ContextRules`), the budget.

    `memory_tokens` bounds the memories of the messages. `rerank`: a second stage reads the best hits for them, where
    the deployment has one. `web_search` is auto, always or never; `fence` carries this request's nonce; `tools` says to
    a model how to call them.
    """

    question: ContextQuestion
    fence: Fence
    limits: Mapping[str, int] | None = None
    token_budget: int | None = None
    memory_tokens: int = MEMORY_TOKENS
    rerank: bool = True
    web_search: str = "auto"
    tools: str | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """An item's place (from 1) among what the search found, by the scores that it has at last, and its signals."""

    place: int
    ranked: Ranked


@dataclass(frozen=True, slots=True)
class ShownItem:
    """An item of a context with what chose it, and the forms that show it, one at least."""

    selected: Selected
    shown_in: tuple[ShownIn, ...]


@dataclass(frozen=True, slots=True)
class ContextAnswer:
    """Prompt and messages, each within the budget, and the receipt of what stands in them and what does not.

    `nothing_relevant`: nothing that is remembered is relevant to the input, not in the raw window either. `seconds`:
    how long it took, reads and web search included. `disputes`: what stands against the best hits, and
    what has ended of them.
    """

    prompt: FittedPrompt
    messages: FittedMessages
    left_out: tuple[LeftOut, ...]
    found: Mapping[str, Found]
    gathered: Gathered
    web_search: LookedUp
    rules_version: str
    nothing_relevant: bool
    disputes: Disputes
    seconds: float = 0.0

    @property
    def tokens(self) -> int:
        """The larger of the two counts."""
        return max(self.prompt.tokens, self.messages.tokens)

    @property
    def items(self) -> tuple[ShownItem, ...]:
        """What stands in prompt or messages as a memory, oldest first, each once, with the forms that show it."""
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
    def near_misses(self) -> tuple[tuple[ContextItem, Ranked], ...]:
        """Hits that stand nowhere in it, best first, and how search saw them."""
        recalled, question = self.gathered.recalled, self.gathered.input_event
        raw_window = self.messages.parts.raw_window
        shown = {*(one.selected.item.identity for one in self.items), *(item.identity for item in raw_window)}
        shown |= {question.id} if question else set()
        behind = {one.id: one for one in (*recalled.ranked, *recalled.near_misses)}
        items = _items([recalled.events[i] for i in behind], recalled)
        return tuple(pair for pair in zip(items, behind.values(), strict=True) if pair[0].identity not in shown)

    def because(self, one: ShownItem) -> str:
        """Why an item is there, in a sentence: by the search where it is relevant, and by what else chose it."""
        item, found = one.selected.item, self.found.get(one.selected.item.id)
        by_search = ShownIn.MESSAGES in one.shown_in or one.selected.section is Section.SEMANTIC
        also = [one.selected.because] if one.selected.because else []
        newer = (self.gathered.recalled.identity(each) for those in self.disputes.newer.values() for each in those)
        also += [_MAY_CHANGE] if item.identity in newer else []
        also += [_HOW_TO_ANSWER] if item.identity in self._wished else []
        return self.because_found(item, found.ranked if found and by_search else None, also)

    @property
    def _wished(self) -> frozenset[str]:
        """What the messages show though no search found it."""
        return frozenset(one.item.identity for one in self.messages.parts.memories if one.item.score is None)

    def because_found(self, item: ContextItem, ranked: Ranked | None, also: Sequence[str] = ()) -> str:
        """Why a search found it."""
        asked, replaces, found = self.gathered.recalled.query.text, bool(item.replaces), self.found.get(item.id)
        place = found.place if found else None
        return because(ranked, asked, item.content, speaker=item.speaker, replaces=replaces, also=also, place=place)

    @property
    def missing(self) -> tuple[str, ...]:
        """The parts that did not answer."""
        web = ("web_search",) if self.web_search.failed else ()
        return (*self.gathered.recalled.missing, *self.gathered.background.missing, *web)

    @property
    def summary(self) -> Summary | None:
        """The summary that stands in the messages."""
        return self.gathered.background.summary if self.messages.parts.summary else None

    @property
    def goals(self) -> tuple[Goal, ...]:
        """The goals that stand in the messages: the last ones are cut first."""
        return self.gathered.background.goals[: len(self.messages.parts.goals)]

    @property
    def knowledge(self) -> tuple[KnowledgeEntry, ...]:
        """The entries behind the knowledge that stands in the messages."""
        section = self.gathered.background.knowledge
        return section.entries if section and self.messages.parts.knowledge else ()


@dataclass(frozen=True, slots=True)
class RelevantHits:
    """The hits for the messages, best first, and what open conflicts say of them."""

    ranked: tuple[Ranked, ...]
    disputes: Disputes

    def items(self, recalled: Recalled) -> list[ContextItem]:
        """They as items, in their order."""
        items = _items([recalled.events[one.id] for one in self.ranked], recalled, [one.score for one in self.ranked])
        return [self._in_doubt(item, recalled.identity(one)) for item, one in zip(items, self.ranked, strict=True)]

    def _in_doubt(self, item: ContextItem, identity: str) -> ContextItem:
        """With marks as long as any that it may get."""
        against = next(iter(self.disputes.against(identity)), None)
        ended, said = self.disputes.ended.get(identity, ()), self.disputes.said.get(identity)
        if not (against or ended or said):
            return item
        doubted = self.disputes.in_doubt.get(identity, ())
        return replace(item, against=against, ended=ended, said=said, in_doubt=doubted)


class BuildContext:
    """The use case behind `POST /v1/context`. Without `web_search` the answer says that the web search is off."""

    def __init__(
        self,
        sources: ContextSources,
        second_stage: SecondStage,
        doubts: FindDoubts,
        concurrency: Concurrency,
        web_search: WebSearch | None,
        counted: Counted = uncounted,
    ) -> None:
        self._sources = sources
        self._second_stage = second_stage
        self._doubts = doubts
        self._concurrency = concurrency
        self._web_search = web_search
        self._counted = counted

    def build(self, scope: Scope, request: ContextRequest, given_rules: GivenRules) -> ContextAnswer:
        """Selects, renders, fits. Raises InvalidInput where the input alone exceeds the budget.

        The rules may still be loading: they are awaited once the first wave of reads has begun. Then the web search
        begins, where they ask for it, beside the rest of the reads.
        """
        began = time.perf_counter()
        check_input(request.question.text, request.token_budget)
        web_lookup = LookUp(self._web_search, request.question.text, request.web_search)

        def rules_read() -> Rules:
            rules = settled(given_rules)
            web_lookup.begin(rules)
            return _effective(rules, request)

        conflicts = self._concurrency.submit(lambda: self._doubts.newest(scope))
        gathered = self._sources.read(scope, request.question, rules_read, lines_wanted(request.memory_tokens))
        read = self._read_together(gathered.recalled, request)
        gathered = replace(gathered, recalled=replace(gathered.recalled, missing=read.missing))
        hits = self._relevant(scope, read, request.question.filters, conflicts.result())
        if not request.question.filters.looks_back:
            gathered = replace(gathered, background=gathered.background.marked(hits.disputes.doubted))
        answer = assemble(gathered, hits, web_lookup.result(), request, settled(given_rules))
        self._counted(scope.tenant, 1)
        return replace(answer, seconds=time.perf_counter() - began)

    def _read_together(self, recalled: Recalled, request: ContextRequest) -> Recalled:
        """Ordered by the second stage as well, where it is wanted and there is one; where it is away, that is said."""
        if not request.rerank:
            return recalled
        try:
            ordered = self._second_stage.ordered(recalled.query, recalled.ranked, recalled.text)
        except (Unavailable, UpstreamFailed):
            return replace(recalled, missing=(*recalled.missing, "rerank"))
        return replace(recalled, ranked=ordered)

    def _relevant(
        self, scope: Scope, recalled: Recalled, filters: SearchFilters, conflicts: NewestConflicts
    ) -> RelevantHits:
        """The hits for the messages, best first; what may have changed one of the first stands behind it.

        Of questions that are nearly equal only the best; an assistant's restatement is one with what it restates.
        """
        found = disputes(self._doubts, scope, recalled, filters, conflicts)
        chosen: dict[str, Ranked] = {}
        for one in without_echoes(without_repeated_questions(recalled.ranked)):
            newer = [_as_good(each, one) for each in found.newer.get(recalled.identity(one), ())]
            chosen |= {each.id: each for each in (one, *newer) if each.id not in chosen}
        return RelevantHits(tuple(chosen.values()), found)


def _as_good(newer: Ranked, doubted: Ranked) -> Ranked:
    """What may have changed a hit is needed as much as the hit."""
    return replace(newer, score=max(newer.score, doubted.score))


def assemble(
    gathered: Gathered, hits: RelevantHits, web_search: LookedUp, request: ContextRequest, rules: Rules
) -> ContextAnswer:
    """Chooses from what was read, renders it and fits it into the budget; reads nothing."""
    question, limits = request.question, _effective(rules, request).context
    recalled, reach = gathered.recalled, reach_of(limits)
    memories = recalled.memories
    found = {ranked.id: Found(place, ranked) for place, ranked in enumerate(recalled.ranked, start=1)}
    shown = [represented(event, memories.get(event.id)) for event in gathered.important]
    important = by_importance(shown, limits.decay_half_life_days, question.now)
    by_search = _items([recalled.events[i] for i in found], recalled, [one.ranked.score for one in found.values()])
    own = frozenset([gathered.input_event.id]) if gathered.input_event else frozenset[str]()
    newest = _items(gathered.recent[: reach.recent], recalled)
    weighty = _items(important[: reach.important], recalled)
    selection = select(newest, by_search, weighty, limits, question.now, own)
    parts = _parts(request, gathered, web_search.results)
    prompt = fit_prompt(replace(parts, memories=selection.chosen), question.now, request.token_budget)
    setting = Setting(parts.user_input, frozenset(item.identity for item in parts.raw_window), own)
    cut = RelevanceCut() if recalled.fallback is None else EVERY_HIT
    by_relevance = hits.items(recalled)
    needed = cut.of(not_shown_yet(by_relevance, setting))
    everywhere = replace(setting, raw_window=frozenset())
    nothing_relevant = not needed and not cut.of(not_shown_yet(by_relevance, everywhere))
    wishes = wishes_besides(_items(gathered.wishes, recalled), needed, setting)
    fitting = those_that_fit(needed, request.memory_tokens, question.now, wishes)
    relevant = beside_what_is_shown(fitting, setting, hits.disputes)
    messages = fit_messages(replace(parts, memories=relevant), request.fence, question.now, request.token_budget)
    read_together = {one.id: one for one in hits.ranked}
    seen = _in_order(recalled, [read_together.get(i, f.ranked) for i, f in found.items()])
    shown_elsewhere = {selected.item.id for selected in messages.parts.memories}
    left_out = tuple(one for one in (*selection.left_out, *prompt.left_out) if one.id not in shown_elsewhere)
    told, version = hits.disputes, rules.version
    return ContextAnswer(prompt, messages, left_out, seen, gathered, web_search, version, nothing_relevant, told)


def _in_order(recalled: Recalled, found: Iterable[Ranked]) -> dict[str, Found]:
    """By their ids, each with its place by its score."""
    ordered = sorted(found, key=lambda one: rank_order(one.candidate, one.score), reverse=True)
    return {recalled.identity(one): Found(place, one) for place, one in enumerate(ordered, start=1)}


def _parts(request: ContextRequest, gathered: Gathered, web_results: tuple[str, ...]) -> ContextParts:
    background = gathered.background
    return ContextParts(
        user_input=request.question.text,
        raw_window=tuple(
            _raw_item(event, gathered.recalled.stored, request.question.filters) for event in gathered.raw_window
        ),
        summary=background.summary.text if background.summary else None,
        goals=tuple(goal_line(goal.tracked) for goal in background.goals),
        knowledge=background.knowledge.text if background.knowledge else None,
        web_results=web_results,
        tools=request.tools,
    )


def _raw_item(event: Event, stored: Mapping[str, Memory], filters: SearchFilters) -> ContextItem:
    """A message of the raw window, in the words of a person's edit where there is one, with what no longer holds."""
    memory = stored.get(event.id)
    own = memory if memory is not None and memory.origin is not Origin.MERGED else None
    edited = own is not None and own.content.strip() != event.content.strip()
    said = replace(event, content=own.content) if own is not None and edited else event
    merged = stored.get(own.superseded_by) if own is not None and own.superseded_by else None
    ended = no_longer_holds(event, own, filters, merged)
    item = _item(said, None, None, {})
    return replace(item, ended=ended) if ended else item


def _effective(given: GivenRules, request: ContextRequest) -> Rules:
    rules = settled(given)
    return replace(rules, context=replace(rules.context, **request.limits)) if request.limits else rules


def _items(
    events: Iterable[Event], recalled: Recalled, scores: Iterable[float | None] = repeat(None)
) -> list[ContextItem]:
    memories, replaces = recalled.memories, recalled.replaces
    both = zip(events, scores, strict=False)
    return [_item(event, memories.get(event.id), score, replaces) for event, score in both]


def _item(
    event: Event, memory: Memory | None, score: float | None, replaces: Mapping[str, tuple[EventRef, ...]]
) -> ContextItem:
    """A record is one item with its memory (P-1); a directly saved memory has no source but itself."""
    shown = represented(event, memory)
    item_id = memory.id if memory else event.id
    return ContextItem(
        id=item_id,
        content=shown.content,
        timestamp=event.timestamp,
        importance=shown.importance,
        role=event.role,
        content_type=event.content_type,
        source_event_ids=memory.source_event_ids if memory else (event.id,),
        score=score,
        speaker=event.speaker,
        replaces=replaces.get(item_id, ()),
    )
