"""Goals over their use case: listed, changed by a person, checked in, tracked by a model."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import pytest

from embedded.setting import ANNA, NOON, Memory, with_parts
from recollect.core.errors import Conflict, NotFound, VersionMismatch
from recollect.core.items import Item, ItemWrite
from recollect.core.scope import Scope
from recollect.summaries.goals import MOST_GOALS, CheckIn, CheckInStatus, Goal, GoalStatus

COACH = Scope("acme", "anna", "coach")
ACTIVE = GoalStatus.ACTIVE


def track(memory: Memory, text: str, scope: Scope = ANNA, **more: Any) -> Goal:
    """A model names a goal."""
    return memory.app.summaries.goals.track(
        scope, text, more.pop("status", ACTIVE), more.pop("often", None), NOON, **more
    )


def test_goals_are_of_a_user_and_a_persona(memory: Memory) -> None:
    run, paint, read = track(memory, "Run"), track(memory, "Paint", COACH), track(memory, "Read")
    goals = memory.app.summaries.goals
    assert goals.listed(ANNA) == [run, read]
    assert goals.listed(COACH) == [paint]
    assert goals.listed(ANNA, every_persona=True) == [run, paint, read]
    assert goals.listed(Scope("acme", "ben")) == []
    assert goals.listed(Scope("other", "anna")) == []
    assert goals.one(ANNA, paint.id) == paint
    for scope in (Scope("acme", "anna", "other"), Scope("acme", "ben"), Scope("other", "anna")):
        with pytest.raises(NotFound):
            goals.one(scope, paint.id)


@pytest.mark.spec("H-03")
def test_naming_a_goal_again_changes_it_and_makes_no_second(memory: Memory) -> None:
    first = track(memory, "Run a marathon", source_event_ids=["e1"])
    assert (first.version, first.status, first.source_event_ids) == (1, "active", ("e1",))
    again = track(memory, "User plans to run a marathon", often="weekly", source_event_ids=["e2"])
    assert (again.id, again.version, again.goal) == (first.id, 2, "Run a marathon")
    assert (again.check_in_frequency, again.source_event_ids) == ("weekly", ("e1", "e2"))
    assert track(memory, "Run a marathon", often="weekly").version == 2
    assert track(memory, "run a marathon", status=GoalStatus.COMPLETED).status == "completed"
    assert len(memory.app.summaries.goals.listed(ANNA)) == 1


def test_a_patch_is_of_one_version_and_no_model_undoes_it(memory: Memory) -> None:
    goal = track(memory, "Run a marathon")
    goals = memory.app.summaries.goals
    patched = goals.patch(ANNA, goal.id, {"status": GoalStatus.ABANDONED}, lambda version: version == 1, NOON)
    assert (patched.status, patched.version) == ("abandoned", 2)
    with pytest.raises(VersionMismatch):
        goals.patch(ANNA, goal.id, {"status": ACTIVE}, lambda version: version == 1, NOON)
    assert track(memory, "Run a marathon", status=ACTIVE).status == "abandoned"
    with pytest.raises(NotFound):
        goals.patch(ANNA, "none", {}, lambda _: True, NOON)


def test_check_ins_are_by_date(memory: Memory) -> None:
    goal = track(memory, "Run")
    for status in (CheckInStatus.MISSED, CheckInStatus.COMPLETED):
        goal = memory.app.summaries.goals.check_in(ANNA, goal.id, CheckIn("2024-05-01", status), NOON)
    assert goal.history == (CheckIn("2024-05-01", CheckInStatus.COMPLETED),)
    assert goal.version == 3


def test_a_hundred_goals_are_enough(memory: Memory) -> None:
    for n in range(MOST_GOALS):
        track(memory, f"Visit city{n}")
    with pytest.raises(Conflict):
        track(memory, "Learn Spanish")
    assert track(memory, "Visit city7", status=GoalStatus.COMPLETED).version == 2


class Contended:
    """Somebody else is faster, so many times."""

    def __init__(self, items: Any, times: int) -> None:
        self._items, self._times = items, times

    def __getattr__(self, name: str) -> Any:
        return getattr(self._items, name)

    def write(self, owner: Scope, writes: Sequence[ItemWrite], now: datetime) -> list[Item | None]:
        """Fails first."""
        self._times -= 1
        if self._times >= 0:
            raise VersionMismatch("somebody else was faster")
        return list(self._items.write(owner, writes, now))


@pytest.mark.parametrize(("times", "written"), [(0, True), (3, True), (100, False)])
def test_who_is_not_the_fastest_tries_again(memory: Memory, times: int, written: bool) -> None:
    goal = track(memory, "Run")
    contended = with_parts(memory, items=Contended(memory.app.parts.items, times))
    entry = CheckIn("2024-05-01", CheckInStatus.COMPLETED)
    if written:
        assert contended.app.summaries.goals.check_in(ANNA, goal.id, entry, NOON).version == 2
    else:
        with pytest.raises(Conflict):
            contended.app.summaries.goals.check_in(ANNA, goal.id, entry, NOON)
        with pytest.raises(Conflict):
            track(contended, "Swim")
