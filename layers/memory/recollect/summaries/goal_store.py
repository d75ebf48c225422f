"""Goals as persons and models see and change them (H-03, H-24)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, NoReturn

from recollect.core.errors import Conflict, NotFound, VersionMismatch
from recollect.core.event import Source
from recollect.core.idempotency import retry_on_conflict
from recollect.core.ids import IdSource
from recollect.core.items import pages
from recollect.core.scope import Scope
from recollect.deletion.suppression import SuppressionList
from recollect.memories.audit import Action, Actor, ActorKind, AuditEntry, audit_write, content_hash
from recollect.memories.audit_log import AuditRefusedWrite, RefusedWrite
from recollect.ports import Items
from recollect.summaries.goals import (
    MOST_GOALS,
    CheckIn,
    Goal,
    GoalSources,
    GoalStatus,
    NamedGoal,
    TrackedGoal,
    find_goal,
    in_the_same_words,
    merge_goals,
)
from recollect.summaries.storage import GOALS, goal_in, goal_key, goal_write

VIA = "goals"
TOOL = "track_goal"
_PAGE = 200


@dataclass(frozen=True, slots=True)
class AddedGoal:
    """The goal that a person named, and whether it is a new one."""

    goal: Goal
    created: bool


class GoalStore:
    """Goals of a user and a persona; a scope without a persona means the default one, unless said otherwise.

    Each change, and each refusal of a rejected value, has its entry in the audit.
    """

    def __init__(self, items: Items, ids: IdSource) -> None:
        self._items = items
        self._ids = ids
        self._gate = SuppressionList(items)
        self._refused = AuditRefusedWrite(items, ids)

    def listed(self, scope: Scope, *, every_persona: bool = False) -> list[Goal]:
        """The goals in the order they were made."""
        read = pages(lambda after: self._items.page(scope.user, GOALS, _PAGE, after))
        found = [goal_in(item) for page in read for item in page.items]
        return [goal for goal in found if every_persona or goal.persona_id == scope.persona_id]

    def one(self, scope: Scope, goal_id: str) -> Goal:
        """A goal by its id; a persona in the scope narrows. Raises NotFound."""
        key = goal_key(goal_id)
        item = self._items.get(scope.user, [key]).get(key)
        goal = goal_in(item) if item else None
        if goal is None or scope.persona_id not in (None, goal.persona_id):
            raise NotFound("no such goal")
        return goal

    def add(self, scope: Scope, own: Goal, now: datetime) -> AddedGoal:
        """A person names a goal (`own_goal`): the stored one of the same words is active again, else `own` is stored.

        One that has its id already is left as it is by now, and counts as created: an earlier try stored it.

        Raises Conflict where there are 100 goals already, and for a rejected value.
        """
        if not self._gate.load(scope).admits_goal(own):
            self._refuse(scope, _person(scope), own.goal, [], now)

        def attempt() -> AddedGoal:
            stored = self.listed(scope)
            made = next((one for one in stored if one.id == own.id), None)
            return self._named(scope, stored, own, now) if made is None else AddedGoal(made, created=True)

        return retry_on_conflict(attempt, "a goal")

    def _named(self, scope: Scope, stored: Sequence[Goal], own: Goal, now: datetime) -> AddedGoal:
        before = in_the_same_words(stored, own.goal)
        if before is None and len(stored) >= MOST_GOALS:
            raise Conflict(f"there are {MOST_GOALS} goals already")
        after = own if before is None else before.said_again(own.check_in_frequency)
        return AddedGoal(self._write(scope, before, after, _person(scope), now), created=before is None)

    def patch(
        self, scope: Scope, goal_id: str, changes: Mapping[str, Any], accepts: Callable[[int], bool], now: datetime
    ) -> Goal:
        """A person changes any of goal, status, check_in_frequency.

        Raises NotFound, VersionMismatch where `accepts` refuses the goal's version, and Conflict for a rejected value.
        """
        rejections = self._gate.load(scope)

        def attempt() -> Goal | None:
            goal = self.one(scope, goal_id)
            if not accepts(goal.version):
                return None
            patched = goal.patched(changes)
            if not rejections.admits_goal(patched):
                self._refuse(scope, _person(scope), patched.goal, [goal.id], now)
            return self._write(scope, goal, patched, _person(scope), now)

        written = retry_on_conflict(attempt, "the goal")
        if written is None:
            raise VersionMismatch("the goal has changed since it was read")
        return written

    def check_in(self, scope: Scope, goal_id: str, entry: CheckIn, now: datetime) -> Goal:
        """Records an occasion; a second entry on the same date replaces the first. Raises NotFound."""

        def attempt() -> Goal:
            goal = self.one(scope, goal_id)
            return self._write(scope, goal, goal.checked_in([entry]), _person(scope), now)

        return retry_on_conflict(attempt, "the goal")

    def track(
        self,
        scope: Scope,
        goal: str,
        status: GoalStatus,
        check_in_frequency: str | None,
        now: datetime,
        source_event_ids: Sequence[str] = (),
    ) -> Goal:
        """A model names a goal: the stored one that it means is changed as far as a model may, or a new one is made.

        A new goal has source `inferred`.

        Raises Conflict where there are 100 goals already, and for a rejected value.
        """
        model = Actor(ActorKind.MODEL, TOOL)
        if self._gate.load(scope).redact_for(goal, scope.persona_id) != goal:
            self._refuse(scope, model, goal, [], now)
        tracked = TrackedGoal(goal, status, check_in_frequency)

        def attempt() -> Goal:
            stored = self.listed(scope)
            before = find_goal(stored, goal)
            wording, sources = before.goal if before else goal, GoalSources(tuple(source_event_ids))
            named = NamedGoal(goal=tracked, wording=wording, sources=sources, source=Source.INFERRED)
            new_id = self._ids.fresh()
            merged = {one.id: one for one in merge_goals(stored, [named], [new_id], scope.persona_id)}
            meant = merged.get(before.id if before else new_id)
            if meant is None:
                raise Conflict(f"there are {MOST_GOALS} goals already")
            return self._write(scope, before, meant, model, now)

        return retry_on_conflict(attempt, "a goal")

    def _write(self, scope: Scope, before: Goal | None, after: Goal, actor: Actor, now: datetime) -> Goal:
        if after == before:
            return after
        written = replace(after, version=after.version + 1)
        entry = AuditEntry(
            id=self._ids.fresh(),
            at=now,
            actor=actor,
            action=Action.PATCH if before else Action.CREATE,
            target_ids=(after.id,),
            via=VIA,
            before=_trace(scope, before) if before else None,
            after=_trace(scope, written),
        )
        item, _ = self._items.write(scope.user, [goal_write(after), audit_write(entry)], now)
        assert item is not None  # only a deletion leaves none
        return goal_in(item)

    def _refuse(self, scope: Scope, actor: Actor, value: str, goal_ids: Sequence[str], now: datetime) -> NoReturn:
        self._refused.record(scope, RefusedWrite(actor=actor, via=VIA, now=now, target_ids=goal_ids, content=value))
        raise Conflict("the value was rejected")


def _person(scope: Scope) -> Actor:
    return Actor(ActorKind.USER, scope.user_id)


def _trace(scope: Scope, goal: Goal) -> dict[str, Any]:
    """The audit names a goal by its id, its version and a keyed hash of its words."""
    return {"id": goal.id, "version": goal.version, "hash": content_hash(scope.tenant, scope.user_id, goal.goal)}
