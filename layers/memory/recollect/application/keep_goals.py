"""Goals as a person and a model see and change them (H-03, H-24)."""

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from recollect.application.value_gate import ValueGate
from recollect.domain.errors import Conflict, NotFound, VersionMismatch
from recollect.domain.goals import MOST_GOALS, CheckIn, Goal, GoalStatus, TrackedGoal, find_goal, merge_goals
from recollect.domain.ids import IdSource
from recollect.domain.scope import Scope
from recollect.domain.summary_items import GOALS, goal_in, goal_key, goal_write
from recollect.ports import Items

_PAGE = 200
_TRIES = 8


class KeepGoals:
    """Goals are of a user and a persona; a scope without a persona means the default one, unless said otherwise."""

    def __init__(self, items: Items, ids: IdSource) -> None:
        self._items = items
        self._ids = ids
        self._gate = ValueGate(items)

    def listed(self, scope: Scope, *, every_persona: bool = False) -> list[Goal]:
        """The goals in the order they were made."""
        found: list[Goal] = []
        after: str | None = None
        while True:
            page = self._items.page(scope.user, GOALS, _PAGE, after)
            found += [goal_in(item) for item in page.items]
            after = page.more
            if after is None:
                break
        return [goal for goal in found if every_persona or goal.persona_id == scope.persona_id]

    def one(self, scope: Scope, goal_id: str) -> Goal:
        """A goal by its id; a persona in the scope narrows. Raises NotFound."""
        key = goal_key(goal_id)
        item = self._items.get(scope.user, [key]).get(key)
        goal = goal_in(item) if item else None
        if goal is None or scope.persona_id not in (None, goal.persona_id):
            raise NotFound("no such goal")
        return goal

    def patch(
        self, scope: Scope, goal_id: str, changes: Mapping[str, Any], accepts: Callable[[int], bool], now: datetime
    ) -> Goal:
        """Changes any of goal, status, check_in_frequency, by a person's word.

        Raises NotFound, VersionMismatch where `accepts` refuses the goal's version, and Conflict for a rejected value.
        """
        rejections = self._gate.load(scope)

        def changed(goal: Goal) -> Goal:
            if not accepts(goal.version):
                raise VersionMismatch("the goal has changed since it was read")
            patched = goal.patched(changes)
            if not rejections.admits_goal(patched):
                raise Conflict("the value was rejected")
            return patched

        return self._change(scope, goal_id, changed, now)

    def check_in(self, scope: Scope, goal_id: str, entry: CheckIn, now: datetime) -> Goal:
        """Notes an occasion; a second word on the same date replaces the first. Raises NotFound."""
        return self._change(scope, goal_id, lambda goal: goal.checked_in([entry]), now)

    def track(
        self,
        scope: Scope,
        goal: str,
        status: GoalStatus,
        check_in_frequency: str | None,
        now: datetime,
        source_event_ids: Sequence[str] = (),
    ) -> Goal:
        """A goal as a model names it: the kept one that it means, changed as far as a model may, or a new one.

        Raises Conflict where there are 100 goals already, and for a rejected value.
        """
        if self._gate.load(scope).redact_for(goal, scope.persona_id) != goal:
            raise Conflict("the value was rejected")
        named = TrackedGoal(goal, status, check_in_frequency)
        for _ in range(_TRIES):
            kept = self.listed(scope)
            seed = self._ids.seed(time.time_ns() // 1_000_000)
            merged = merge_goals(kept, [(named, tuple(source_event_ids))], [seed.nth(0)], scope.persona_id)
            meant = find_goal(merged, goal)
            if meant is None:
                raise Conflict(f"there are {MOST_GOALS} goals already")
            written = meant if meant in kept else self._written(scope, meant, now)
            if written is not None:
                return written
        raise Conflict("the goals change too fast")

    def _change(self, scope: Scope, goal_id: str, changed: Callable[[Goal], Goal], now: datetime) -> Goal:
        for _ in range(_TRIES):
            written = self._written(scope, changed(self.one(scope, goal_id)), now)
            if written is not None:
                return written
        raise Conflict("the goal changes too fast")

    def _written(self, scope: Scope, goal: Goal, now: datetime) -> Goal | None:
        """The goal with its new version; None where it was changed since it was read."""
        try:
            (item,) = self._items.write(scope.user, [goal_write(goal)], now)
        except VersionMismatch:
            return None
        return goal_in(item) if item else None
