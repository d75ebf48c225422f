"""What no summary covers yet, read from the timeline in pages; and the messages themselves, a step at a time.

Summaries as they are kept: the newest of a persona, and the list (H-14).

What a deleted event said goes from summaries and goals too, by the ids of their sources (P-5, P-22).
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from typing import TypeAlias

from recollect.core.errors import Conflict, VersionMismatch
from recollect.core.event import Event, EventRef
from recollect.core.items import Document, Item, ItemKey, ItemPath, ItemWrite
from recollect.core.scope import Scope
from recollect.deletion.suppression import Rejections
from recollect.ports import Items, Timeline
from recollect.retrieval.filters import TimeWindow
from recollect.summaries.goals import Goal, goal_document
from recollect.summaries.storage import (
    GOALS,
    SUMMARIES,
    SUMMARY_LIST,
    SUMMARY_STATES,
    SummaryState,
    goal_in,
    summaries_path,
    summary_key,
)
from recollect.summaries.summary import Backlog, Summary, place, summary_document, summary_from
from recollect.timeline.timeline import WindowQuery

_PAGE = 500
_KEPT = 1_000
_BATCH = 100


@dataclass(frozen=True, slots=True)
class Found:
    """The backlog, and the oldest 1,000 of its messages by id: so many need not be read twice."""

    backlog: Backlog
    events: Mapping[str, Event]


class ReadBacklog:
    """Reads messages of one persona over all conversations: private and expired ones are none (P-21)."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline

    def __call__(self, scope: Scope, state: SummaryState, now: datetime) -> Found:
        """All that lies strictly after what is covered (H-08); in memory a place for each, and 1,000 messages."""
        refs: list[EventRef] = []
        oldest: deque[Event] = deque(maxlen=_KEPT)
        for event in self._uncovered(scope, state, now):
            refs.append(event.ref)
            oldest.append(event)
        refs.reverse()
        since = state.last.created_at if state.last else _first(refs)
        backlog = Backlog(tuple(refs), sum(1 for ref in refs if state.is_new(ref)), since)
        return Found(backlog, {event.id: event for event in oldest})

    def messages(self, scope: Scope, refs: Sequence[EventRef], known: Mapping[str, Event]) -> Iterator[Event]:
        """The messages at these places that may be quoted, in order.

        Not what is gone or superseded by now, and not what will expire: a summary would outlive it.
        """
        rest = iter(refs)
        while batch := list(islice(rest, _BATCH)):
            missing = [ref for ref in batch if ref.id not in known]
            read = self._timeline.read(scope, missing) if missing else {}
            found = (known.get(ref.id) or read.get(ref.id) for ref in batch)
            yield from (event for event in found if event is not None and _may_be_quoted(event))

    def gone(self, scope: Scope, event_ids: Iterable[str], known: Mapping[str, EventRef]) -> frozenset[str]:
        """Which of these events, as far as their places are known, are in the timeline no longer."""
        refs = [known[event_id] for event_id in event_ids if event_id in known]
        there = self._timeline.read(scope, refs) if refs else {}
        return frozenset(ref.id for ref in refs) - there.keys()

    def _uncovered(self, scope: Scope, state: SummaryState, now: datetime) -> Iterator[Event]:
        """Newest first."""
        start = state.covered.timestamp if state.covered else None
        after: EventRef | None = None
        while True:
            query = WindowQuery(now=now, window=TimeWindow(start), limit=_PAGE, after=after)
            page = self._timeline.window(scope, query)
            yield from (event for event in page.events if _counts(event, scope, state))
            after = page.more
            if after is None:
                return


def _may_be_quoted(event: Event) -> bool:
    return event.superseded_by is None and event.expires_at is None


def _counts(event: Event, scope: Scope, state: SummaryState) -> bool:
    if event.is_private or event.persona_id != scope.persona_id:
        return False
    return state.covered is None or place(event.ref) > place(state.covered)


def _first(refs: Sequence[EventRef]) -> datetime | None:
    return refs[0].timestamp if refs else None


@dataclass(frozen=True, slots=True)
class SummaryPage:
    """Summaries, newest first; `more` where the next page goes on."""

    summaries: tuple[Summary, ...]
    more: str | None


class ReadSummaries:
    """Reads; makes nothing."""

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
        """The summary of that key, of the persona, without one of the default persona."""
        where = summary_key(scope.persona_id, key)
        item = self._items.get(scope.user, [where]).get(where)
        return summary_from(item.value) if item else None

    def _of_all(self, scope: Scope, limit: int, after: str | None) -> SummaryPage:
        listed = self._items.page(scope.user, SUMMARY_LIST, limit, after, descending=True)
        keys: list[ItemKey] = [summary_key(item.value.get("persona_id"), item.key.key) for item in listed.items]
        found = self._items.get(scope.user, keys) if keys else {}
        return SummaryPage(tuple(summary_from(found[key].value) for key in keys if key in found), listed.more)


_SUMMARIES_PAGE = 50
_TRIES = 8

Changed: TypeAlias = Callable[[Item], Document | None]


@dataclass(frozen=True, slots=True)
class Redacted:
    """How many summaries lost sentences or goals, and how many goals lost a source or went altogether."""

    summaries: int
    goals: int


class RedactSummaries:
    """To be called after the events are gone from the timeline; calling it again changes nothing more."""

    def __init__(self, items: Items) -> None:
        self._items = items

    def __call__(self, scope: Scope, refs: Sequence[EventRef], now: datetime) -> Redacted:
        """Takes out every sentence, and every goal, that comes from one of these events, for every persona.

        Of a goal that each of several events holds by itself, only the source goes. A goal of which it is not known
        where it comes from goes with any event that a summary of its persona covers. Who makes a summary just now
        looks again at what is there: the state with its lease is written here. Raises Conflict where an item changes
        all the time.
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

        self._look_again(scope, now)
        summaries = sum(self._change(scope, item, redacted, now) for item in self._all(scope, SUMMARIES))
        return Redacted(summaries, sum(self._change(scope, item, unsourced, now) for item in self._all(scope, GOALS)))

    def rejected(self, scope: Scope, rejections: Rejections, now: datetime) -> Redacted:
        """Takes out what was rejected, however it came there: sentences of summaries, and goals (P-22)."""

        def said(item: Item) -> Document:
            summary = summary_from(item.value)
            kept = rejections.summary(summary)
            return item.value if kept == summary else summary_document(kept)

        def wanted(item: Item) -> Document | None:
            goal = goal_in(item)
            return item.value if rejections.admits_goal(goal) else None

        self._look_again(scope, now)
        summaries = sum(self._change(scope, item, said, now) for item in self._all(scope, SUMMARIES))
        return Redacted(summaries, sum(self._change(scope, item, wanted, now) for item in self._all(scope, GOALS)))

    def _covering(self, scope: Scope, refs: Sequence[EventRef]) -> frozenset[str | None]:
        """The personas of which a summary covers one of these events."""
        summaries = (summary_from(item.value) for item in self._all(scope, SUMMARIES))
        return frozenset(one.persona_id for one in summaries if any(one.covers(ref) for ref in refs))

    def _look_again(self, scope: Scope, now: datetime) -> None:
        """Who makes a summary just now finds its state changed."""
        for item in self._all(scope, SUMMARY_STATES):
            if "lease" in item.value:
                self._change(scope, item, lambda state: {**state.value}, now, always=True)

    def _all(self, scope: Scope, path: ItemPath) -> Iterator[Item]:
        after: str | None = None
        while True:
            page = self._items.page(scope.user, path, _SUMMARIES_PAGE, after)
            yield from page.items
            after = page.more
            if after is None:
                return

    def _change(
        self, scope: Scope, item: Item | None, changed: Changed, now: datetime, *, always: bool = False
    ) -> bool:
        """Whether there was anything to change; conditional, so that nobody's change in between is lost."""
        for _ in range(_TRIES):
            if item is None:
                return False
            value = changed(item)
            if value == item.value and not always:
                return False
            if self._written(scope, ItemWrite(item.key, value, item.version, item.due), now):
                return True
            item = self._items.get(scope.user, [item.key]).get(item.key)
        raise Conflict("an item changes too fast to be redacted")

    def _written(self, scope: Scope, write: ItemWrite, now: datetime) -> bool:
        try:
            self._items.write(scope.user, [write], now)
        except VersionMismatch:
            return False
        return True
