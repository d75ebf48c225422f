"""What a deleted event said goes from summaries and goals too, by the ids of their sources (P-5, P-22)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeAlias

from recollect.application.value_gate import Rejections
from recollect.domain.errors import Conflict, VersionMismatch
from recollect.domain.event import EventRef
from recollect.domain.goals import Goal, goal_document
from recollect.domain.items import Document, Item, ItemPath, ItemWrite
from recollect.domain.scope import Scope
from recollect.domain.summary import summary_document, summary_from
from recollect.domain.summary_items import GOALS, SUMMARIES, SUMMARY_STATES, goal_in
from recollect.ports import Items

_PAGE = 50
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
            page = self._items.page(scope.user, path, _PAGE, after)
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
