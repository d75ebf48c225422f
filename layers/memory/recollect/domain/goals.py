"""Goals that a user follows: carried from summary to summary, with their check-ins (H-03, H-24)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from recollect.domain.errors import StoredDataError
from recollect.domain.identity import value_fingerprint
from recollect.domain.lexical import terms

LONGEST_GOAL = 500
LONGEST_FREQUENCY = 100
MOST_GOALS = 100
MOST_CHECK_INS = 400
MOST_SOURCES = 50

_FIELDS = ("goal", "status", "check_in_frequency")
_SHARED_OF_SHORTER = 0.75
_SHARED_OF_BOTH = 0.4
# What wordings of one goal differ in: who wants it, and that it is wanted.
_FRAME = frozenset(terms("user users goal goals want wants plan plans planning hope hopes aim aims try tries trying "
                         "would like intend intends going decided committed start started keep get"))  # fmt: skip


class GoalStatus(StrEnum):
    """Where a goal stands."""

    ACTIVE = "active"
    COMPLETED = "completed"
    ABANDONED = "abandoned"


class CheckInStatus(StrEnum):
    """What became of one occasion."""

    COMPLETED = "completed"
    MISSED = "missed"


@dataclass(frozen=True, slots=True)
class CheckIn:
    """One occasion: `date` is `YYYY-MM-DD`."""

    date: str
    status: CheckInStatus


@dataclass(frozen=True, slots=True)
class TrackedGoal:
    """A goal as a model names it, and as a summary shows it."""

    goal: str
    status: GoalStatus = GoalStatus.ACTIVE
    check_in_frequency: str | None = None
    history: tuple[CheckIn, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """A goal as kept; `version` is that of its item (0: not stored yet), `history` by date, one entry a date.

    `set_by_user` names the fields that a person set: no summary and no tool call changes those.
    """

    id: str
    goal: str
    status: GoalStatus = GoalStatus.ACTIVE
    check_in_frequency: str | None = None
    history: tuple[CheckIn, ...] = ()
    source_event_ids: tuple[str, ...] = ()
    set_by_user: frozenset[str] = frozenset()
    persona_id: str | None = None
    version: int = 0

    @property
    def tracked(self) -> TrackedGoal:
        """As a summary shows it."""
        return TrackedGoal(self.goal, self.status, self.check_in_frequency, self.history)

    def patched(self, changes: Mapping[str, Any]) -> "Goal":
        """With the fields that a person sets: any of goal, status, check_in_frequency."""
        return replace(self, **changes, set_by_user=self.set_by_user | changes.keys())

    def checked_in(self, entries: Iterable[CheckIn]) -> "Goal":
        """With more check-ins: the last word on a date stands, and of very many the newest are kept."""
        by_date = {one.date: one for one in (*self.history, *entries)}
        history = tuple(by_date[date] for date in sorted(by_date))[-MOST_CHECK_INS:]
        return replace(self, history=history)

    def told(self, tracked: TrackedGoal, sources: Iterable[str] = ()) -> "Goal":
        """With what a model says of it; its wording stays.

        What a person set stands; a goal that is completed or abandoned is not taken up again; of a date that is
        known already the model's word does not count (P-5: goals are merged, never replaced).
        """
        known = {one.date for one in self.history}
        merged = self.checked_in(one for one in tracked.history if one.date not in known)
        over = self.status is not GoalStatus.ACTIVE or "status" in self.set_by_user
        settled = "check_in_frequency" in self.set_by_user or tracked.check_in_frequency is None
        return replace(
            merged,
            status=self.status if over else tracked.status,
            check_in_frequency=self.check_in_frequency if settled else tracked.check_in_frequency,
            source_event_ids=tuple(dict.fromkeys((*self.source_event_ids, *sources)))[:MOST_SOURCES],
        )

    def without_sources(self, event_ids: frozenset[str]) -> "Goal | None":
        """Without these sources; None where it had sources and none is left: then nothing speaks for it any more."""
        kept = tuple(source for source in self.source_event_ids if source not in event_ids)
        if len(kept) == len(self.source_event_ids):
            return self
        return replace(self, source_event_ids=kept) if kept else None


def same_goal(one: str, other: str) -> bool:
    """Whether two wordings mean one goal: equal but for case and spaces, or made of much the same content words."""
    if value_fingerprint(one) == value_fingerprint(other):
        return True
    first, second = _content(one), _content(other)
    shared = len(first & second)
    return bool(shared) and (
        shared >= _SHARED_OF_SHORTER * min(len(first), len(second)) and shared >= _SHARED_OF_BOTH * len(first | second)
    )


def find_goal(goals: Iterable[Goal], text: str) -> Goal | None:
    """The kept goal that a wording means: one still active before one that is over."""
    meant = [goal for goal in goals if same_goal(goal.goal, text)]
    return next((goal for goal in meant if goal.status is GoalStatus.ACTIVE), meant[0] if meant else None)


def merge_goals(
    kept: Sequence[Goal],
    tracked: Sequence[tuple[TrackedGoal, tuple[str, ...]]],
    new_ids: Iterable[str],
    persona_id: str | None,
) -> list[Goal]:
    """All goals after a summary named some, each with its sources: none goes by being left out (H-03).

    New ones come last, with ids of `new_ids` in order; beyond 100 goals no new one is taken in.
    """
    goals = {goal.id: goal for goal in kept}
    fresh = iter(new_ids)
    for named, sources in tracked:
        meant = find_goal(goals.values(), named.goal)
        if meant is not None:
            goals[meant.id] = meant.told(named, sources)
        elif len(goals) < MOST_GOALS:
            made = _made(named, sources, next(fresh), persona_id)
            goals[made.id] = made
    return list(goals.values())


def _made(named: TrackedGoal, sources: tuple[str, ...], goal_id: str, persona_id: str | None) -> Goal:
    bare = Goal(id=goal_id, goal=named.goal, source_event_ids=sources[:MOST_SOURCES], persona_id=persona_id)
    return bare.told(named)


def goal_document(goal: Goal) -> dict[str, Any]:
    """A goal as its item holds it."""
    known: dict[str, Any] = {
        **tracked_document(goal.tracked),
        "id": goal.id,
        "sources": list(goal.source_event_ids),
        "set_by_user": sorted(goal.set_by_user),
        "persona_id": goal.persona_id,
    }
    return {name: value for name, value in known.items() if value is not None}


def goal_from(document: Mapping[str, Any], version: int) -> Goal:
    """Reads what `goal_document` wrote. Raises StoredDataError where it cannot."""
    tracked = tracked_from(document)
    try:
        return Goal(
            id=document["id"],
            goal=tracked.goal,
            status=tracked.status,
            check_in_frequency=tracked.check_in_frequency,
            history=tracked.history,
            source_event_ids=tuple(document["sources"]),
            set_by_user=frozenset(document["set_by_user"]) & frozenset(_FIELDS),
            persona_id=document.get("persona_id"),
            version=version,
        )
    except (KeyError, TypeError) as error:
        raise StoredDataError(f"a goal cannot be read: {type(error).__name__}") from error


def tracked_document(goal: TrackedGoal) -> dict[str, Any]:
    """As api.md has it: `{goal, status, check_in_frequency?, history: [{date, status}]}` (H-24)."""
    known: dict[str, Any] = {"goal": goal.goal, "status": goal.status.value}
    if goal.check_in_frequency is not None:
        known["check_in_frequency"] = goal.check_in_frequency
    return {**known, "history": [{"date": one.date, "status": one.status.value} for one in goal.history]}


def tracked_from(document: Mapping[str, Any]) -> TrackedGoal:
    """Reads what `tracked_document` wrote. Raises StoredDataError where it cannot."""
    try:
        history = tuple(CheckIn(one["date"], CheckInStatus(one["status"])) for one in document["history"])
        status, frequency = GoalStatus(document["status"]), document.get("check_in_frequency")
        return TrackedGoal(document["goal"], status, frequency, history)
    except (KeyError, TypeError, ValueError) as error:
        raise StoredDataError(f"a goal cannot be read: {type(error).__name__}") from error


def _content(text: str) -> frozenset[str]:
    found = frozenset(terms(text))
    return found - _FRAME or found
