"""Goals that a user follows: carried from summary to summary, with their check-ins (H-03, H-24)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from recollect.core.errors import StoredDataError
from recollect.core.event import Source
from recollect.text.sentences import names_in, numbers_in
from recollect.text.terms import terms
from recollect.timeline.record import value_fingerprint

LONGEST_GOAL = 500
LONGEST_FREQUENCY = 100
MOST_GOALS = 100
MOST_CHECK_INS = 400
MOST_SOURCES = 50

_FIELDS = ("goal", "status", "check_in_frequency")
_SHARED_OF_SHORTER = 0.75
_SHARED_OF_BOTH = 0.4
# Words in which wordings of one goal differ: who wants it, and that it is wanted.
_FRAME = frozenset(terms("user users goal goals want wants plan plans planning hope hopes aim aims try tries trying "
                         "would like intend intends going decided committed start started keep get"))  # fmt: skip


class GoalStatus(StrEnum):
    """Where a goal stands."""

    ACTIVE = "active"
    COMPLETED = "completed"
    ABANDONED = "abandoned"


class CheckInStatus(StrEnum):
    """The outcome of one occasion."""

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


@dataclass(frozen=True, slots=True)
class GoalSources:
    """The events that hold a goal's wording: each of them by itself, or, where `together`, only all of them.

    `supported` is False where no event holds enough of it: then the sources are unknown.
    """

    event_ids: tuple[str, ...] = ()
    together: bool = False
    supported: bool = True

    def without(self, event_ids: frozenset[str]) -> "GoalSources | None":
        """The sources without deleted events; None where none is left."""
        left = tuple(one for one in self.event_ids if one not in event_ids)
        if left == self.event_ids:
            return self
        return None if self.together or not left else replace(self, event_ids=left)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedGoal:
    """A goal that a summary named.

    `wording` is what `sources` were found for: the stored goal's words where it means one, with `stored_id`. `source`:
    a model's call, or words of the conversation itself.
    """

    goal: TrackedGoal
    wording: str
    sources: GoalSources = GoalSources()
    stored_id: str | None = None
    source: Source | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """A goal as stored; `version` is that of its item (0: not stored yet), `history` by date, one entry a date.

    `set_by_user` names the fields that a person set: no summary and no tool call changes those. `together` and
    `supported` as in `GoalSources`. `source` is None for goals that predate it.
    """

    id: str
    goal: str
    status: GoalStatus = GoalStatus.ACTIVE
    check_in_frequency: str | None = None
    history: tuple[CheckIn, ...] = ()
    source_event_ids: tuple[str, ...] = ()
    together: bool = False
    supported: bool = True
    source: Source | None = None
    set_by_user: frozenset[str] = frozenset()
    persona_id: str | None = None
    version: int = 0

    @property
    def sources(self) -> GoalSources:
        return GoalSources(self.source_event_ids, self.together, self.supported)

    @property
    def tracked(self) -> TrackedGoal:
        return TrackedGoal(self.goal, self.status, self.check_in_frequency, self.history)

    def patched(self, changes: Mapping[str, Any]) -> "Goal":
        """With the fields that a person sets: any of goal, status, check_in_frequency.

        A goal in a person's own words has source `user`; a status or a frequency leaves the source unchanged.
        """
        source = Source.USER if "goal" in changes else self.source
        return replace(self, **changes, source=source, set_by_user=self.set_by_user | changes.keys())

    def said_again(self, check_in_frequency: str | None) -> "Goal":
        """As a person who names it again has it: active, with that frequency where one is given."""
        changes: dict[str, Any] = {} if self.status is GoalStatus.ACTIVE else {"status": GoalStatus.ACTIVE}
        changes |= {} if check_in_frequency is None else {"check_in_frequency": check_in_frequency}
        return self.patched(changes)

    def checked_in(self, entries: Iterable[CheckIn]) -> "Goal":
        """With more check-ins: the last entry of a date replaces earlier ones; the newest 400 stay."""
        by_date = {one.date: one for one in (*self.history, *entries)}
        history = tuple(by_date[date] for date in sorted(by_date))[-MOST_CHECK_INS:]
        return replace(self, history=history)

    def updated_by(self, tracked: TrackedGoal) -> "Goal":
        """With a model's status, frequency and check-ins; the wording stays (P-5: goals are merged, never replaced).

        What a person set stays; a goal that is completed or abandoned is not resumed; a date that has an entry keeps
        it.
        """
        known = {one.date for one in self.history}
        merged = self.checked_in(one for one in tracked.history if one.date not in known)
        over = self.status is not GoalStatus.ACTIVE or "status" in self.set_by_user
        settled = "check_in_frequency" in self.set_by_user or tracked.check_in_frequency is None
        return replace(
            merged,
            status=self.status if over else tracked.status,
            check_in_frequency=self.check_in_frequency if settled else tracked.check_in_frequency,
        )

    def with_sources(self, sources: GoalSources) -> "Goal":
        """With more events that hold its wording, each by itself; they replace guessed sources.

        What a person named rests on no event, so that it goes with none.
        """
        own = self.source is Source.USER and not self.source_event_ids
        if own or not sources.event_ids or sources.together or not sources.supported:
            return self
        before = self.source_event_ids if self.supported and not self.together else ()
        return self._with(GoalSources(tuple(dict.fromkeys((*before, *sources.event_ids)))[:MOST_SOURCES]))

    def without_sources(self, event_ids: frozenset[str]) -> "Goal | None":
        """Without these sources; None where it had sources and too few are left."""
        left = self.sources.without(event_ids)
        if left is None:
            return None
        return self if left == self.sources else self._with(left)

    def when_ended(self, event_ids: frozenset[str]) -> "Goal":
        """As it is once these sources hold no more: abandoned where too few are left. What a person set stays."""
        left = self.sources.without(event_ids)
        if left is not None:
            return self if left == self.sources else self._with(left)
        over = self.status is not GoalStatus.ACTIVE or "status" in self.set_by_user
        return self if over else replace(self, status=GoalStatus.ABANDONED)

    def _with(self, sources: GoalSources) -> "Goal":
        return replace(self, source_event_ids=sources.event_ids, together=sources.together, supported=sources.supported)


def same_goal(one: str, other: str) -> bool:
    """Whether two wordings mean one goal: equal but for case and spaces, or made of much the same content words.

    Two goals differ where each has a number, or each a name, that the other lacks.
    """
    if value_fingerprint(one) == value_fingerprint(other):
        return True
    if _differ(numbers_in(one), numbers_in(other)) or _differ(names_in(one), names_in(other)):
        return False
    first, second = _content(one), _content(other)
    shared = len(first & second)
    return bool(shared) and (
        shared >= _SHARED_OF_SHORTER * min(len(first), len(second)) and shared >= _SHARED_OF_BOTH * len(first | second)
    )


def find_goal(goals: Iterable[Goal], text: str) -> Goal | None:
    """The goal that a wording means: an active one before one that is over."""
    meant = [goal for goal in goals if same_goal(goal.goal, text)]
    return next((goal for goal in meant if goal.status is GoalStatus.ACTIVE), meant[0] if meant else None)


def merge_goals(
    stored: Sequence[Goal], tracked: Sequence[NamedGoal], new_ids: Iterable[str], persona_id: str | None
) -> list[Goal]:
    """All goals after a summary named some: none is dropped for being left out (H-03).

    New ones come last, with ids of `new_ids` in order; beyond 100 goals no new one is added. A goal gains only sources
    that were found for its own wording.
    """
    goals = {goal.id: goal for goal in stored}
    fresh = iter(new_ids)
    for named in tracked:
        meant = find_goal(goals.values(), named.goal.goal)
        if meant is not None:
            updated = meant.updated_by(named.goal)
            goals[meant.id] = updated.with_sources(named.sources) if named.wording == meant.goal else updated
        elif len(goals) < MOST_GOALS:
            made = _made(named, next(fresh), persona_id)
            goals[made.id] = made
    return list(goals.values())


def _made(named: NamedGoal, goal_id: str, persona_id: str | None) -> Goal:
    sources = named.sources if named.wording == named.goal.goal else GoalSources(supported=False)
    bare = Goal(
        id=goal_id,
        goal=named.goal.goal,
        source_event_ids=sources.event_ids[:MOST_SOURCES],
        together=sources.together,
        supported=sources.supported,
        source=named.source,
        persona_id=persona_id,
    )
    return bare.updated_by(named.goal)


def own_goal(goal_id: str, goal: str, check_in_frequency: str | None, persona_id: str | None) -> Goal:
    """A goal that a person names: its words are theirs, a model may still say that it is reached.

    `goal` has 1 to 500 characters on one line, a frequency at most 100. Its source is `user`.
    """
    own = Goal(id=goal_id, goal="", persona_id=persona_id).patched({"goal": goal})
    return own if check_in_frequency is None else own.patched({"check_in_frequency": check_in_frequency})


def in_the_same_words(goals: Iterable[Goal], text: str) -> Goal | None:
    """The goal that has these words, but for case and spaces."""
    return next((one for one in goals if value_fingerprint(one.goal) == value_fingerprint(text)), None)


def goal_document(goal: Goal) -> dict[str, Any]:
    known: dict[str, Any] = {
        **tracked_document(goal.tracked),
        "id": goal.id,
        "sources": list(goal.source_event_ids),
        "together": goal.together or None,
        "supported": None if goal.supported else False,
        "source": goal.source.value if goal.source else None,
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
            together=document.get("together", False),
            supported=document.get("supported", True),
            source=Source(document["source"]) if "source" in document else None,
            set_by_user=frozenset(document["set_by_user"]) & frozenset(_FIELDS),
            persona_id=document.get("persona_id"),
            version=version,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise StoredDataError(f"a goal cannot be read: {type(error).__name__}") from error


def tracked_document(goal: TrackedGoal) -> dict[str, Any]:
    """As a summary tells it: `{goal, status, check_in_frequency?, history: [{date, status}]}` (H-24)."""
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


def _differ(one: frozenset[str], other: frozenset[str]) -> bool:
    return bool(one - other) and bool(other - one)


def _content(text: str) -> frozenset[str]:
    found = frozenset(terms(text))
    return found - _FRAME or found
