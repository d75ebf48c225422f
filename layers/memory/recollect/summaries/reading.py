"""Reads the messages that no summary covers yet, and stored summaries (H-14); redacts summaries and goals.

What a deleted event said is deleted from summaries and goals too, by the ids of their sources (P-5, P-22). What
holds no more is quoted by no summary, and ends the goals that rest on it (P-24).
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from typing import TypeAlias

from recollect.core.event import Event, EventRef
from recollect.core.idempotency import retry_on_conflict
from recollect.core.ids import IdSource
from recollect.core.items import Document, Item, ItemKey, ItemPath, ItemWrite, pages
from recollect.core.scope import Scope
from recollect.deletion.suppression import Rejections
from recollect.memories.audit import Action, Actor, ActorKind, AuditEntry, audit_write
from recollect.memories.reading import ReadMemories
from recollect.memories.representation import represented, seen
from recollect.ports import Items, Timeline
from recollect.retrieval.filters import SearchFilters, TimeWindow
from recollect.summaries.goals import Goal, goal_document
from recollect.summaries.late import covered_marks, mark_of
from recollect.summaries.storage import (
    GOALS,
    SUMMARIES,
    SUMMARY_LIST,
    SUMMARY_STATES,
    SummaryState,
    covered_path,
    goal_in,
    summaries_path,
    summary_key,
)
from recollect.summaries.summary import Backlog, Summary, summary_document, summary_from
from recollect.timeline.timeline import WindowQuery

_PAGE = 500
_SUMMARIES_PAGE = 50
_MOST_IN_MEMORY = 1_000
_BATCH = 100
Changed: TypeAlias = Callable[[Item], Document | None]
Noted: TypeAlias = Callable[[Item], list[ItemWrite]]
"""What is written together with the change of an item."""


@dataclass(frozen=True, slots=True)
class Found:
    """The backlog, and the oldest 1,000 of its messages by id, which need not be read twice."""

    backlog: Backlog
    events: Mapping[str, Event]


class ReadBacklog:
    """Reads messages of one persona over all conversations, without private and expired ones (P-21)."""

    def __init__(self, timeline: Timeline, items: Items) -> None:
        self._timeline = timeline
        self._items = items
        self._memories = ReadMemories(items)

    def read(self, scope: Scope, state: SummaryState, now: datetime) -> Found:
        """All that lies strictly after the covered place (H-08), and what came late before it.

        At most 1,000 messages stay in memory.
        """
        oldest: deque[Event] = deque(maxlen=_MOST_IN_MEMORY)
        refs = _oldest_first(self._uncovered(scope, state, now), oldest)
        late = _oldest_first(self._late(scope, state, now), oldest)
        first = refs[0].timestamp if refs else None
        since = state.last.created_at if state.last else first
        new = sum(1 for ref in refs if state.is_new(ref))
        return Found(Backlog(refs, new + len(late), since, late), {event.id: event for event in oldest})

    def messages(
        self, scope: Scope, refs: Sequence[EventRef], known: Mapping[str, Event], now: datetime
    ) -> Iterator[Event]:
        """The messages at these places that may be quoted, in order, in the words that hold.

        Not deleted or superseded ones, and none that will expire: a summary would outlive it.
        """
        rest = iter(refs)
        while batch := list(islice(rest, _BATCH)):
            missing = [ref for ref in batch if ref.id not in known]
            read = self._timeline.read(scope, missing) if missing else {}
            found = (known.get(ref.id) or read.get(ref.id) for ref in batch)
            holding = self._holding(scope, [event for event in found if event is not None], now)
            quotable = (event for event in holding if event.superseded_by is None)
            yield from (event for event in quotable if event.expires_at is None)

    def _holding(self, scope: Scope, events: Sequence[Event], now: datetime) -> Iterator[Event]:
        """The events as their memories are now, without those of which nothing holds."""
        filters = SearchFilters(now=now)
        memories = self._memories.read(scope, [event.id for event in events])
        for event in events:
            memory = memories.get(event.id)
            held = seen(memory, filters) if memory is not None else None
            if memory is None or held is not None:
                yield represented(event, held)

    def _uncovered(self, scope: Scope, state: SummaryState, now: datetime) -> Iterator[Event]:
        window = TimeWindow(state.covered.timestamp if state.covered else None)
        return (event for event in self._messages_in(scope, window, now) if state.is_uncovered(event.ref))

    def _late(self, scope: Scope, state: SummaryState, now: datetime) -> Iterator[Event]:
        """Those that no summary covers; of what was recorded before lists were kept, none."""
        if state.late is None:
            return
        covered = covered_marks(self._items, scope, covered_path(scope.persona_id))
        for event in self._messages_in(scope, TimeWindow(state.late.since, state.late.until), now):
            listed = state.unlisted_until is None or event.recorded_at > state.unlisted_until
            if listed and not state.is_uncovered(event.ref) and mark_of(event.id) not in covered:
                yield event

    def _messages_in(self, scope: Scope, window: TimeWindow, now: datetime) -> Iterator[Event]:
        """Newest first."""
        after: EventRef | None = None
        while True:
            page = self._timeline.window(scope, WindowQuery(now=now, window=window, limit=_PAGE, after=after))
            yield from (e for e in page.events if e.is_summarized and e.persona_id == scope.persona_id)
            after = page.more
            if after is None:
                return


def _oldest_first(newest_first: Iterable[Event], oldest: deque[Event]) -> tuple[EventRef, ...]:
    """Their places; `oldest` keeps the events, as many as it takes."""
    refs: list[EventRef] = []
    for event in newest_first:
        refs.append(event.ref)
        oldest.append(event)
    return tuple(reversed(refs))


@dataclass(frozen=True, slots=True)
class SummaryPage:
    """Summaries, newest first; `more` is where the next page begins."""

    summaries: tuple[Summary, ...]
    more: str | None


class ReadSummaries:
    def __init__(self, items: Items) -> None:
        self._items = items

    def latest(self, scope: Scope) -> Summary | None:
        """The newest summary of the persona, without one of the default persona; one read."""
        page = self._items.page(scope.user, summaries_path(scope.persona_id), 1, None, descending=True)
        return summary_from(page.items[0].value) if page.items else None

    def page(self, scope: Scope, limit: int, after: str | None) -> SummaryPage:
        """A page of at most `limit` ≥ 1; without a persona those of every persona. Raises InvalidInput for `after`."""
        if scope.persona_id is None:
            return self._of_all(scope, limit, after)
        page = self._items.page(scope.user, summaries_path(scope.persona_id), limit, after, descending=True)
        return SummaryPage(tuple(summary_from(item.value) for item in page.items), page.more)

    def one(self, scope: Scope, key: str) -> Summary | None:
        """The summary of that key and persona, without one of the default persona."""
        where = summary_key(scope.persona_id, key)
        item = self._items.get(scope.user, [where]).get(where)
        return summary_from(item.value) if item else None

    def _of_all(self, scope: Scope, limit: int, after: str | None) -> SummaryPage:
        listed = self._items.page(scope.user, SUMMARY_LIST, limit, after, descending=True)
        keys: list[ItemKey] = [summary_key(item.value.get("persona_id"), item.key.key) for item in listed.items]
        found = self._items.get(scope.user, keys) if keys else {}
        return SummaryPage(tuple(summary_from(found[key].value) for key in keys if key in found), listed.more)


@dataclass(frozen=True, slots=True)
class Redacted:
    """How many summaries lost sentences or goals, and how many goals lost a source or were deleted."""

    summaries: int
    goals: int


class RedactSummaries:
    """Runs after the events are deleted from the timeline, or their memories have ended; idempotent."""

    def __init__(self, items: Items, ids: IdSource) -> None:
        self._items = items
        self._ids = ids

    def redact(self, scope: Scope, refs: Sequence[EventRef], now: datetime) -> Redacted:
        """Deletes every sentence, and every goal, that comes from one of these events, for every persona.

        A goal that several events hold, each by itself, loses the source alone. A goal of unknown sources is deleted
        with any event that a summary of its persona covers. A summary in the making is made to check again: the state
        with its lease is written here. Raises Conflict where an item changes all the time.
        """
        ids = frozenset(ref.id for ref in refs)
        goals = [goal_in(item) for item in self._all(scope, GOALS)]
        guessed = any(not goal.supported for goal in goals)
        covering = self._covering(scope, refs) if guessed else frozenset()

        def left(goal: Goal) -> Goal | None:
            return None if not goal.supported and goal.persona_id in covering else goal.without_sources(ids)

        lost = frozenset((goal.persona_id, goal.goal) for goal in goals if left(goal) is None)

        def redacted(item: Item) -> Document:
            summary = summary_from(item.value).without(ids, refs)
            tracked = tuple(goal for goal in summary.tracked_goals if (summary.persona_id, goal.goal) not in lost)
            return summary_document(replace(summary, tracked_goals=tracked))

        def unsourced(item: Item) -> Document | None:
            goal = left(goal_in(item))
            return goal_document(goal) if goal else None

        return self._change_all(scope, redacted, unsourced, now)

    def end(self, scope: Scope, refs: Sequence[EventRef], now: datetime) -> Redacted:
        """Deletes every sentence that comes from one of these events, which hold no more, as `redact` does.

        A goal that rests on them is abandoned, unless a person set its status; one of unknown sources stays.
        """
        ids = frozenset(ref.id for ref in refs)

        def quoted(item: Item) -> Document:
            return summary_document(summary_from(item.value).without(ids, refs))

        def followed(item: Item) -> Document:
            return goal_document(goal_in(item).when_ended(ids))

        return self._change_all(scope, quoted, followed, now, lambda item: self._noted(goal_in(item), ids, now))

    def _noted(self, goal: Goal, ended: frozenset[str], now: datetime) -> list[ItemWrite]:
        if goal.when_ended(ended).status is goal.status:
            return []
        actor = Actor(ActorKind.JOB, "project")
        entry = AuditEntry(
            id=self._ids.fresh(), at=now, actor=actor, action=Action.PATCH, target_ids=(goal.id,), via="goals"
        )
        return [audit_write(replace(entry, reason="superseded"))]

    def rejected(self, scope: Scope, rejections: Rejections, now: datetime) -> Redacted:
        """Deletes what the user rejected, whatever its sources: sentences of summaries, and goals (P-22)."""

        def said(item: Item) -> Document:
            summary = summary_from(item.value)
            kept = rejections.summary(summary)
            return item.value if kept == summary else summary_document(kept)

        def wanted(item: Item) -> Document | None:
            goal = goal_in(item)
            return item.value if rejections.admits_goal(goal) else None

        return self._change_all(scope, said, wanted, now)

    def _covering(self, scope: Scope, refs: Sequence[EventRef]) -> frozenset[str | None]:
        summaries = (summary_from(item.value) for item in self._all(scope, SUMMARIES))
        return frozenset(one.persona_id for one in summaries if any(one.covers(ref) for ref in refs))

    def _change_all(
        self, scope: Scope, summary: Changed, goal: Changed, now: datetime, noted: Noted | None = None
    ) -> Redacted:
        """Whoever makes a summary just now finds its state changed."""
        for item in self._all(scope, SUMMARY_STATES):
            if "lease" in item.value:
                self._change(scope, item, lambda state: {**state.value}, now, always=True)
        summaries = sum(self._change(scope, item, summary, now) for item in self._all(scope, SUMMARIES))
        goals = sum(self._change(scope, item, goal, now, noted) for item in self._all(scope, GOALS))
        return Redacted(summaries, goals)

    def _all(self, scope: Scope, path: ItemPath) -> Iterator[Item]:
        for page in pages(lambda after: self._items.page(scope.user, path, _SUMMARIES_PAGE, after)):
            yield from page.items

    def _change(
        self,
        scope: Scope,
        item: Item,
        changed: Changed,
        now: datetime,
        noted: Noted | None = None,
        *,
        always: bool = False,
    ) -> bool:
        first = [item]

        def attempt() -> bool:
            current = first.pop() if first else self._items.get(scope.user, [item.key]).get(item.key)
            if current is None:
                return False
            value = changed(current)
            if value == current.value and not always:
                return False
            also = noted(current) if noted is not None else []
            self._items.write(scope.user, [ItemWrite(item.key, value, current.version, current.due), *also], now)
            return True

        return retry_on_conflict(attempt, "an item to redact")
