"""The sources of a context, read in two waves: recent, semantic and important events, and the raw window.

Beside them the background of a conversation: a summary, the goals, a store's knowledge.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from recollect.core.errors import StoredDataError, Unavailable
from recollect.core.event import Event, EventRef, EventType, Role
from recollect.core.scope import Scope
from recollect.memories.representation import memory_drop_reason
from recollect.ports import Concurrency, Timeline
from recollect.retrieval.filters import SearchFilters, TimeWindow, drop_reason, fits
from recollect.retrieval.pipeline import OpenRecall, Recalled, RecallRequest, SearchPipeline
from recollect.retrieval.ranking import Mode
from recollect.rules.groups import MOST_PLACES, ContextRules, Rules
from recollect.summaries.goals import Goal, GoalStatus
from recollect.timeline.timeline import IMPORTANT_FROM, TAIL_EVENTS, WindowQuery

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.knowledge.entries import KnowledgeSection
    from recollect.knowledge.use_cases import KnowledgeStore
    from recollect.ports import Pending
    from recollect.summaries.goal_store import GoalStore
    from recollect.summaries.reading import ReadSummaries
    from recollect.summaries.summary import Summary

T = TypeVar("T")
MOST_GOALS = 20
_EARLIER_SUMMARIES = 20
_SLACK = 15
_MOST_OF_CONVERSATION = MOST_PLACES + _SLACK
_MOST_IMPORTANT = MOST_PLACES + _SLACK
_MOST_OF_THE_PAST = 1_000  # places read where the query asks of the past


@dataclass(frozen=True, slots=True)
class Background:
    """What was read; `missing` names the parts that could not be read. `goals` are the active ones."""

    summary: Summary | None = None
    goals: tuple[Goal, ...] = ()
    knowledge: KnowledgeSection | None = None
    missing: tuple[str, ...] = ()

    def covers(self, scope: Scope, event: Event) -> bool:
        """Whether the summary covers the event, so that it is in no raw window (P-5, H-15).

        A summary is of one persona, over all of its conversations (P-21).
        """
        return self.summary is not None and event.persona_id == scope.persona_id and self.summary.covers(event.ref)

    def marked(self, doubted: frozenset[str]) -> Background:
        """The same with a mark behind each sentence of the summary that one of these records is a source of."""
        return self if self.summary is None else replace(self, summary=self.summary.doubted(doubted).marked)


@dataclass(frozen=True, slots=True)
class OpenBackground:
    filters: SearchFilters
    summary: Pending[Summary | None]
    goals: Pending[Sequence[Goal]]
    knowledge: Pending[KnowledgeSection | None]

    def result(self) -> Background:
        """The results; a part that does not answer, or cannot be read, is named and left out."""
        missing: list[str] = []
        summary = _or_missing(self.summary, "summary", missing)
        goals = _or_missing(self.goals, "goals", missing) or ()
        knowledge = _or_missing(self.knowledge, "knowledge", missing)
        if self.filters.looks_back:
            goals = _as_summarised(goals, summary)
        active = [goal for goal in goals if goal.status is GoalStatus.ACTIVE]
        return Background(summary, tuple(active[:MOST_GOALS]), knowledge, tuple(missing))


class ReadBackground:
    """Begins the three reads of the first wave."""

    def __init__(
        self, summaries: ReadSummaries, goals: GoalStore, knowledge: KnowledgeStore, concurrency: Concurrency
    ) -> None:
        self._summaries = summaries
        self._goals = goals
        self._knowledge = knowledge
        self._concurrency = concurrency

    def begin(self, scope: Scope, store: str | None, filters: SearchFilters) -> OpenBackground:
        """Of the scope's persona, without one of the default persona (P-23); knowledge only for a store.

        Summaries and goals are of all that a user says: where an agent, an application or a namespace is asked for,
        there are none.
        """
        whole = not filters.labels
        submit = self._concurrency.submit
        return OpenBackground(
            filters,
            submit(lambda: self._summary(scope, filters) if whole else None),
            submit(lambda: self._goals.listed(scope) if whole else ()),
            submit(lambda: self._knowledge.section(scope.tenant, store) if store is not None else None),
        )

    def _summary(self, scope: Scope, filters: SearchFilters) -> Summary | None:
        """The newest (H-14); of a past instant the newest one known then, among the newest twenty."""
        if not filters.looks_back:
            return self._summaries.latest(scope)
        page = self._summaries.page(scope, _EARLIER_SUMMARIES, None)
        own = (one for one in page.summaries if one.persona_id == scope.persona_id)
        return next((one for one in own if filters.known_then(one.covered_until, one.created_at)), None)


def _as_summarised(goals: Sequence[Goal], summary: Summary | None) -> list[Goal]:
    """Goals as of a summary; a goal that it does not name was not known then."""
    then = {tracked.goal: tracked for tracked in summary.tracked_goals} if summary else {}
    return [
        replace(goal, status=known.status, check_in_frequency=known.check_in_frequency, history=known.history)
        for goal in goals
        if (known := then.get(goal.goal)) is not None
    ]


def _or_missing(pending: Pending[T], part: str, missing: list[str]) -> T | None:
    try:
        return pending.result()
    except (Unavailable, StoredDataError):
        missing.append(part)
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextQuestion:
    """What a context is built for: the input, its conversation, its instant.

    `store` names whose vocabulary and rules are meant; without one no knowledge is read. Filters and `min_similarity`
    are of the memories: the raw window is the conversation's, whatever they are, of the agent, application and
    namespace asked for. `near_misses` is how many hits just behind those that are weighed are read too.
    """

    text: str
    filters: SearchFilters
    conversation_id: str | None = None
    input_event_id: str | None = None
    store: str | None = None
    min_similarity: float | None = None
    near_misses: int = 0

    @property
    def now(self) -> datetime:
        """What windows, recency and relative times count from: `as_of`, else now."""
        return self.filters.as_of or self.filters.now


@dataclass(frozen=True, slots=True)
class Gathered:
    """Events that may be shown: newest first, by search, by importance; the raw window, oldest first.

    `wishes` say how the user wants to be answered, the surest first. `input_event` is the input's own event, which is
    in none of them (P-2).
    """

    recent: tuple[Event, ...]
    recalled: Recalled
    important: tuple[Event, ...]
    raw_window: tuple[Event, ...]
    input_event: Event | None
    background: Background
    wishes: tuple[Event, ...] = ()


class ContextSources:
    """Begins every read of the first wave together, and reads back events in the second."""

    def __init__(
        self, timeline: Timeline, pipeline: SearchPipeline, background: ReadBackground, concurrency: Concurrency
    ) -> None:
        self._timeline = timeline
        self._pipeline = pipeline
        self._background = background
        self._concurrency = concurrency

    def read(
        self, scope: Scope, question: ContextQuestion, read_rules: Callable[[], Rules], hits_wanted: int
    ) -> Gathered:
        """K-20 chooses among events of importance 0.6 and more and the newest 100, in every adapter.

        `hits_wanted` is the least number of search hits. `read_rules` may still wait for the tenant's own: the first
        wave does not depend on them.
        """
        request = RecallRequest(
            text=question.text,
            vector=None,
            mode=Mode.HYBRID,
            filters=question.filters,
            wanted=hits_wanted,
            min_similarity=question.min_similarity,
            newest_memories=TAIL_EVENTS,
            near_misses=question.near_misses,
            wishes=True,
        )
        asked = self._pipeline.ask(scope, request)
        newest = self._concurrency.submit(lambda: self._newest(scope, question))
        important = self._concurrency.submit(lambda: self._important(scope, question))
        conversation = self._concurrency.submit(lambda: self._of_conversation(scope, question, _MOST_OF_CONVERSATION))
        background = self._background.begin(scope, question.store, question.filters)
        opened = self._pipeline.nominate(asked)
        rules = read_rules()
        limits = rules.context
        recent_count = max(limits.recent_fill, rules.summary.raw_window) + _SLACK
        opened.request = replace(opened.request, wanted=max(limits.semantic + limits.recent, hits_wanted))
        first_wave = _FirstWave(scope, question, rules, opened, background, newest.result())
        spoken = conversation.result()[:recent_count]
        also = [*spoken, *(event.ref for event in _shown_first(first_wave.newest, recent_count))]
        weighty = important.result()[: limits.important + 3 * _SLACK]
        places = _places_taken(limits, first_wave, spoken)
        read: Mapping[str, Event] = {}
        for wanted, most in _weighty_bounds(limits, places, len(weighty)):
            some = _Also(also, weighty, wanted, most)
            gathered = self._read_back(first_wave, some, read)
            if some.taken == len(weighty) or not _lacks_weighty(gathered, weighty[: some.taken], limits):
                break
            read = gathered.recalled.events
        return gathered

    def _read_back(self, wave: _FirstWave, also: _Also, read: Mapping[str, Event]) -> Gathered:
        """The second wave; what was `read` before is not read again."""
        newest = {event.id: event for event in wave.newest}
        recalled = self._pipeline.conclude(wave.opened, also.chosen, {**read, **newest})
        events = {**recalled.events, **{event.id: event for event in recalled.tail_events}}
        chosen = [*newest, *(event.id for event in recalled.tail_events)]
        found = _Read(recalled, events, [*chosen, *(ref.id for ref in also.refs)], wave.background.result())
        return _gathered(wave.scope, wave.question, wave.rules, found)

    def _newest(self, scope: Scope, question: ContextQuestion) -> list[Event]:
        if not question.filters.looks_back:
            return self._timeline.newest(scope, TAIL_EVENTS)
        window = TimeWindow(None, question.filters.moment)
        page = self._timeline.window(scope, WindowQuery(now=question.filters.now, window=window, limit=TAIL_EVENTS))
        return list(page.events)

    def _of_conversation(self, scope: Scope, question: ContextQuestion, limit: int) -> list[EventRef]:
        if question.conversation_id is None:
            return []
        most = _MOST_OF_THE_PAST if question.filters.looks_back else limit
        return _up_to(question, self._timeline.of_conversation(scope, question.conversation_id, most))

    def _important(self, scope: Scope, question: ContextQuestion) -> list[EventRef]:
        most = _MOST_OF_THE_PAST if question.filters.looks_back else _MOST_IMPORTANT
        return _up_to(question, self._timeline.important(scope, most))


def _up_to(question: ContextQuestion, refs: list[EventRef]) -> list[EventRef]:
    filters = question.filters
    return [ref for ref in refs if ref.timestamp <= filters.moment] if filters.looks_back else refs


def _weighty_wanted(limits: ContextRules, taken: int) -> int:
    """How many of the most important ones without a place can get one: into a free one, and one instead of a hit."""
    return min(limits.important, max(limits.total - taken, 0) + 1)


def _places_taken(limits: ContextRules, wave: _FirstWave, spoken: Sequence[EventRef]) -> int | None:
    """How many places the newest and the hits will take.

    None of the past, and with a half-life: the order of the important ones is then another one than the store's.
    """
    question = wave.question
    if question.filters.looks_back or limits.decay_half_life_days:
        return None
    recent = {e.id for e in wave.newest if question.conversation_id in (None, e.conversation_id)}
    recent |= {ref.id for ref in spoken}
    return min(limits.recent, len(recent - {question.input_event_id})) + limits.semantic


def _weighty_bounds(limits: ContextRules, places: int | None, there: int) -> list[tuple[int, int]]:
    """How many of the most important ones to read that nothing else reads, and how many at most: try by try.

    At first as many as can get a place, at most as many and those that have one anyway; then some more; then all.
    """
    if places is None:
        return [(there, there)]
    wanted = _weighty_wanted(limits, places)
    return [(wanted, wanted + places), (limits.important + limits.total, there), (there, there)]


def _lacks_weighty(gathered: Gathered, read: Iterable[EventRef], limits: ContextRules) -> bool:
    """Whether so many of those that were read are hidden, or stand there anyway, that others may get a place."""
    recent = {event.id for event in gathered.recent[: limits.recent]}
    hits = [one.id for one in gathered.recalled.ranked if one.id not in recent][: limits.semantic]
    free = {event.id for event in gathered.important} - recent - set(hits)
    return sum(1 for ref in read if ref.id in free) < _weighty_wanted(limits, len(recent) + len(hits))


def _shown_first(newest: Iterable[Event], recent_count: int) -> list[Event]:
    return [e for place, e in enumerate(newest) if place < recent_count or e.importance >= IMPORTANT_FROM]


@dataclass(frozen=True, slots=True)
class _FirstWave:
    """What does not depend on the hits; `newest` are the newest events, read consistently."""

    scope: Scope
    question: ContextQuestion
    rules: Rules
    opened: OpenRecall
    background: OpenBackground
    newest: Sequence[Event]


@dataclass(slots=True)
class _Also:
    """What a context reads beside the hits: `others`, and the most important ones, best first.

    Of these until so many as are `wanted` are among them that nothing else reads, and at most `most`. `taken` counts
    them.
    """

    others: Sequence[EventRef]
    weighty: Sequence[EventRef]
    wanted: int
    most: int
    taken: int = 0

    @property
    def refs(self) -> list[EventRef]:
        """What was chosen."""
        return [*self.weighty[: self.taken], *self.others]

    def chosen(self, known: Collection[str]) -> list[EventRef]:
        """What to read; `known` are the ids of what is read anyway."""
        there = {*known, *(ref.id for ref in self.others)}
        alone = [place for place, ref in enumerate(self.weighty) if ref.id not in there]
        self.taken = min([len(self.weighty), self.most, *alone[self.wanted : self.wanted + 1]])
        return self.refs


@dataclass(frozen=True, slots=True)
class _Read:
    recalled: Recalled
    events: Mapping[str, Event]
    ids: Iterable[str]
    background: Background


def _gathered(scope: Scope, question: ContextQuestion, rules: Rules, read: _Read) -> Gathered:
    found = {event_id: read.events[event_id] for event_id in read.ids if event_id in read.events}
    visible = _newest_first(_visible(scope, question, found.values()))
    shown = _that_hold(question, read.recalled, visible)
    wishes = [read.events[event_id] for event_id in read.recalled.wishes if event_id in read.events]
    wished = _that_hold(question, read.recalled, _visible(scope, question, wishes))
    own = _own_event(question, visible)
    conversation = [e for e in shown if question.conversation_id in (None, e.conversation_id)]
    raw_candidates = (e for e in visible if _in_raw_window(scope, question, e) and e is not own)
    raw = (e for e in raw_candidates if not read.background.covers(scope, e))
    return Gathered(
        recent=tuple(e for e in conversation if e is not own and e.event_type is not EventType.MEMORY),
        recalled=read.recalled,
        important=tuple(e for e in shown if e is not own and not e.derives_nothing),
        raw_window=tuple(reversed(list(islice(raw, rules.summary.raw_window)))),
        input_event=own,
        background=read.background,
        wishes=tuple(e for e in wished if e is not own),
    )


def _visible(scope: Scope, question: ContextQuestion, events: Iterable[Event]) -> list[Event]:
    """What this reader may see, superseded or not."""
    filters = _with_superseded(question.filters)
    return [event for event in events if drop_reason(scope, event, filters) is None]


def _that_hold(question: ContextQuestion, recalled: Recalled, visible: Sequence[Event]) -> list[Event]:
    """Of these what nothing superseded and the question's filters admit."""
    filters = question.filters
    superseded = set() if filters.include_superseded else recalled.slots.superseded(visible)
    return [
        event
        for event in visible
        if event.id not in superseded
        and filters.window.contains(event.timestamp)
        and fits(event, filters)
        and memory_drop_reason(recalled.memories.get(event.id), filters) is None
    ]


def _with_superseded(filters: SearchFilters) -> SearchFilters:
    return SearchFilters(
        now=filters.now,
        as_of=filters.as_of,
        recorded_as_of=filters.recorded_as_of,
        include_superseded=True,
        agent_id=filters.agent_id,
        app_id=filters.app_id,
        namespace=filters.namespace,
        namespace_prefix=filters.namespace_prefix,
    )


def _own_event(question: ContextQuestion, newest_first: Sequence[Event]) -> Event | None:
    """The event named, else the conversation's newest user event of equal trimmed content (P-2)."""
    if question.input_event_id is not None:
        return next((event for event in newest_first if event.id == question.input_event_id), None)
    said = question.text.strip()
    same = (event for event in newest_first if event.content.strip() == said)
    own = (event for event in same if event.role is Role.USER and not event.is_carrier)
    return next((event for event in own if question.conversation_id in (None, event.conversation_id)), None)


def _in_raw_window(scope: Scope, question: ContextQuestion, event: Event) -> bool:
    """The conversation's own events; without a conversation those of the persona asked for (P-21, P-23)."""
    if question.conversation_id is None:
        return not event.is_carrier and event.persona_id == scope.persona_id
    return not event.is_carrier and event.conversation_id == question.conversation_id


def _newest_first(events: Iterable[Event]) -> list[Event]:
    return sorted(events, key=lambda event: (event.timestamp, event.id), reverse=True)
