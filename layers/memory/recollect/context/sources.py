"""What stands behind a conversation beside its events: a summary, the goals, a store's knowledge.

The sources of a context, gathered in two waves: recent, semantic, important, and the raw window.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Protocol, TypeVar

from recollect.core.errors import StoredDataError, Unavailable
from recollect.core.event import Event, EventRef, EventType, Role
from recollect.core.scope import Scope
from recollect.memories.representation import memory_drop_reason
from recollect.ports import Concurrency, Timeline
from recollect.retrieval.filters import SearchFilters, TimeWindow, drop_reason
from recollect.retrieval.pipeline import Recalled, RecallRequest, SearchPipeline
from recollect.retrieval.ranking import Mode
from recollect.rules.groups import MOST_PLACES, Rules
from recollect.summaries.goals import Goal, GoalStatus
from recollect.timeline.timeline import IMPORTANT_FROM, TAIL_EVENTS, WindowQuery

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.knowledge.entries import KnowledgeSection
    from recollect.ports import Pending
    from recollect.summaries.summary import Summary


T = TypeVar("T")

MOST_GOALS = 20
_EARLIER_SUMMARIES = 20


class SummaryPage(Protocol):
    """Summaries, the newest first."""

    @property
    def summaries(self) -> Sequence[Summary]: ...


class SummaryReader(Protocol):
    """Summaries of a user and persona."""

    def latest(self, scope: Scope) -> Summary | None:
        """The newest one."""

    def page(self, scope: Scope, limit: int, after: str | None) -> SummaryPage:
        """The newest first."""


class GoalReader(Protocol):
    """Goals of a user and persona."""

    def listed(self, scope: Scope) -> Sequence[Goal]:
        """All of them."""


class KnowledgeReader(Protocol):
    """A tenant's knowledge."""

    def section(self, tenant: str, store: str | None) -> KnowledgeSection:
        """What a prompt is told of it, and the entries behind that (S-31)."""


@dataclass(frozen=True, slots=True)
class Background:
    """What was read; `missing` names the parts that could not be. `goals` are the active ones."""

    summary: Summary | None = None
    goals: tuple[Goal, ...] = ()
    knowledge: KnowledgeSection | None = None
    missing: tuple[str, ...] = ()

    def covers(self, scope: Scope, event: Event) -> bool:
        """Whether the summary speaks for the event, so that it is in no raw window (P-5, H-15).

        A summary is of one persona, over all of its conversations (P-21).
        """
        return self.summary is not None and event.persona_id == scope.persona_id and self.summary.covers(event.ref)


@dataclass(frozen=True, slots=True)
class OpenBackground:
    """Reads that are under way."""

    filters: SearchFilters
    summary: Pending[Summary | None]
    goals: Pending[Sequence[Goal]]
    knowledge: Pending[KnowledgeSection | None]

    def result(self) -> Background:
        """What they give; a part that does not answer, or cannot be read, is named and left out."""
        missing: list[str] = []
        summary = _or_missing(self.summary, "summary", missing)
        goals = _or_missing(self.goals, "goals", missing) or ()
        knowledge = _or_missing(self.knowledge, "knowledge", missing)
        if _in_the_past(self.filters):
            goals = _as_summarised(goals, summary)
        active = [goal for goal in goals if goal.status is GoalStatus.ACTIVE]
        return Background(summary, tuple(active[:MOST_GOALS]), knowledge, tuple(missing))


class ReadBackground:
    """Begins the three reads of the first wave."""

    def __init__(
        self, summaries: SummaryReader, goals: GoalReader, knowledge: KnowledgeReader, concurrency: Concurrency
    ) -> None:
        self._summaries = summaries
        self._goals = goals
        self._knowledge = knowledge
        self._concurrency = concurrency

    def begin(self, scope: Scope, store: str | None, filters: SearchFilters) -> OpenBackground:
        """Of the scope's persona, where it names none of the default one (P-23); knowledge only for a store."""
        return OpenBackground(
            filters,
            self._begin(lambda: self._summary(scope, filters)),
            self._begin(lambda: self._goals.listed(scope)),
            self._begin(lambda: self._knowledge.section(scope.tenant, store) if store is not None else None),
        )

    def _begin(self, read: Callable[[], T]) -> Pending[T]:
        return self._concurrency.submit(read)

    def _summary(self, scope: Scope, filters: SearchFilters) -> Summary | None:
        """The newest (H-14); of a past instant the newest that could be known then, of the newest twenty."""
        if not _in_the_past(filters):
            return self._summaries.latest(scope)
        page = self._summaries.page(scope, _EARLIER_SUMMARIES, None)
        own = (one for one in page.summaries if one.persona_id == scope.persona_id)
        return next((one for one in own if _known_then(one, filters)), None)


def _in_the_past(filters: SearchFilters) -> bool:
    return filters.as_of is not None or filters.recorded_as_of is not None


def _known_then(summary: Summary, filters: SearchFilters) -> bool:
    said = filters.as_of is None or summary.covered_until <= filters.as_of
    return said and (filters.recorded_as_of is None or summary.created_at <= filters.recorded_as_of)


def _as_summarised(goals: Sequence[Goal], summary: Summary | None) -> list[Goal]:
    """The goals as they stood in a summary; one that it does not name was not known then."""
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


_SLACK = 15
_MOST_SPOKEN = MOST_PLACES + _SLACK
_MOST_WEIGHTY = MOST_PLACES + _SLACK
_MOST_PAST = 1_000  # looked through where the past is asked for: places without their events


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextQuestion:
    """What a context is asked for: the input, its conversation, the instant it is asked at.

    `store` names whose vocabulary and rules are meant; without one no knowledge is read.
    """

    text: str
    filters: SearchFilters
    conversation_id: str | None = None
    input_event_id: str | None = None
    store: str | None = None

    @property
    def now(self) -> datetime:
        """What windows, recency and relative times count from: `as_of`, else now."""
        return self.filters.as_of or self.filters.now


@dataclass(frozen=True, slots=True)
class Gathered:
    """Events that may be shown: newest first, by search, by importance; the raw window, oldest first.

    `input_event` is the current input's own event, which is in none of them (P-2).
    """

    recent: tuple[Event, ...]
    recalled: Recalled
    important: tuple[Event, ...]
    raw_window: tuple[Event, ...]
    input_event: Event | None
    background: Background


class ContextSources:
    """Begins every read of the first wave together, and reads back everything in the second."""

    def __init__(
        self, timeline: Timeline, recall: SearchPipeline, background: ReadBackground, concurrency: Concurrency
    ) -> None:
        self._timeline = timeline
        self._recall = recall
        self._background = background
        self._concurrency = concurrency

    def __call__(
        self, scope: Scope, question: ContextQuestion, read_rules: Callable[[], Rules], hits_wanted: int
    ) -> Gathered:
        """K-20 chooses among events of importance 0.6 and more and the newest 100, in every adapter.

        `hits_wanted` is how many hits of the search are wanted at least. `read_rules` may still be waiting for the
        tenant's own: the first wave does not depend on them.
        """
        opened = self._recall.begin(scope, _recall_request(question, hits_wanted))
        newest = self._concurrency.submit(lambda: self._newest(scope, question))
        weighty = self._concurrency.submit(lambda: self._weighty(scope, question))
        spoken = self._concurrency.submit(lambda: self._spoken(scope, question, _MOST_SPOKEN))
        behind = self._background.begin(scope, question.store, question.filters)
        rules = read_rules()
        limits = rules.context
        recent_count = max(limits.recent_fill, rules.summary.raw_window) + _SLACK
        opened.request = replace(opened.request, wanted=max(limits.semantic + recent_count, hits_wanted))
        known = {event.id: event for event in newest.result()}
        also = [*weighty.result()[: limits.important + 3 * _SLACK], *spoken.result()[:recent_count]]
        also += [event.ref for event in _shown_first(known.values(), recent_count)]
        recalled = self._recall.conclude(opened, also, known)
        everything = {**recalled.events, **{event.id: event for event in recalled.tail_events}}
        chosen = [*known, *(event.id for event in recalled.tail_events)]
        read = _Read(recalled, everything, [*chosen, *(ref.id for ref in also)], behind.result())
        return _sorted_out(scope, question, rules, read)

    def _newest(self, scope: Scope, question: ContextQuestion) -> list[Event]:
        if not question.filters.looks_back:
            return self._timeline.newest(scope, TAIL_EVENTS)
        window = TimeWindow(None, question.filters.moment)
        page = self._timeline.window(scope, WindowQuery(now=question.filters.now, window=window, limit=TAIL_EVENTS))
        return list(page.events)

    def _spoken(self, scope: Scope, question: ContextQuestion, limit: int) -> list[EventRef]:
        if question.conversation_id is None:
            return []
        most = _MOST_PAST if question.filters.looks_back else limit
        return _up_to(question, self._timeline.of_conversation(scope, question.conversation_id, most))

    def _weighty(self, scope: Scope, question: ContextQuestion) -> list[EventRef]:
        most = _MOST_PAST if question.filters.looks_back else _MOST_WEIGHTY
        return _up_to(question, self._timeline.important(scope, most))


def _up_to(question: ContextQuestion, refs: list[EventRef]) -> list[EventRef]:
    """Of a question of the past those that were there: what came later takes no places."""
    filters = question.filters
    return [ref for ref in refs if ref.timestamp <= filters.moment] if filters.looks_back else refs


def _shown_first(newest: Iterable[Event], recent_count: int) -> list[Event]:
    """Of the newest those that a context may show: the first, and the important ones. Their memories are looked up."""
    return [e for place, e in enumerate(newest) if place < recent_count or e.importance >= IMPORTANT_FROM]


def _recall_request(question: ContextQuestion, hits_wanted: int) -> RecallRequest:
    """The rules, which are known later, may want some more; the index nominates more than any rules want."""
    return RecallRequest(
        text=question.text,
        vector=None,
        mode=Mode.HYBRID,
        filters=question.filters,
        wanted=hits_wanted,
        newest_memories=TAIL_EVENTS,
    )


@dataclass(frozen=True, slots=True)
class _Read:
    """All that both waves brought: events by id, and the ids of those that any source offers."""

    recalled: Recalled
    everything: Mapping[str, Event]
    ids: Iterable[str]
    background: Background


def _sorted_out(scope: Scope, question: ContextQuestion, rules: Rules, read: _Read) -> Gathered:
    """Drops what may not be shown, takes the input's own event out, and puts the rest in order."""
    found = {event_id: read.everything[event_id] for event_id in read.ids if event_id in read.everything}
    lenient = _of_what_is_visible(question.filters)
    visible = [e for e in found.values() if drop_reason(scope, e, lenient) is None]
    over = set() if question.filters.include_superseded else read.recalled.slots.superseded(visible)
    current_ones = [e for e in visible if e.id not in over]
    memories = read.recalled.memories
    shown = [e for e in current_ones if memory_drop_reason(memories.get(e.id), question.filters) is None]
    own = _own_event(question, visible)
    spoken = [e for e in shown if question.conversation_id in (None, e.conversation_id)]
    spoken_raw = [e for e in visible if _in_raw_window(scope, question, e) and e is not own]
    raw = [e for e in spoken_raw if not read.background.covers(scope, e)]
    return Gathered(
        recent=tuple(e for e in _newest_first(spoken) if e is not own and e.event_type is not EventType.MEMORY),
        recalled=read.recalled,
        important=tuple(e for e in shown if e is not own and not e.is_quotation),
        raw_window=tuple(reversed(_newest_first(raw)[: rules.summary.raw_window])),
        input_event=own,
        background=read.background,
    )


def _of_what_is_visible(filters: SearchFilters) -> SearchFilters:
    """What the raw window admits too: older values of a slot."""
    return SearchFilters(
        now=filters.now,
        window=filters.window,
        as_of=filters.as_of,
        recorded_as_of=filters.recorded_as_of,
        include_superseded=True,
    )


def _own_event(question: ContextQuestion, events: Iterable[Event]) -> Event | None:
    """The event named, else the conversation's newest user event of equal trimmed content (P-2)."""
    if question.input_event_id is not None:
        return next((event for event in events if event.id == question.input_event_id), None)
    said = question.text.strip()
    return next(
        (
            event
            for event in _newest_first(events)
            if event.role is Role.USER
            and not event.is_carrier
            and question.conversation_id in (None, event.conversation_id)
            and event.content.strip() == said
        ),
        None,
    )


def _in_raw_window(scope: Scope, question: ContextQuestion, event: Event) -> bool:
    """The conversation's own events; without a conversation those of the persona asked for (P-21, P-23)."""
    if event.is_carrier:
        return False
    if question.conversation_id is not None:
        return event.conversation_id == question.conversation_id
    return event.persona_id == scope.persona_id


def _newest_first(events: Iterable[Event]) -> list[Event]:
    return sorted(events, key=lambda event: (event.timestamp, event.id), reverse=True)
