"""Goals: carried on, distinguished, never lost by being left out; listed, changed by a person, tracked by a model."""

from dataclasses import replace
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from embedded.setting import ANNA, NOON, Away, Memory, with_parts
from recollect.core.errors import Conflict, NotFound, StoredDataError, VersionMismatch
from recollect.core.event import Source
from recollect.core.scope import Scope
from recollect.summaries.goals import (
    MOST_CHECK_INS,
    MOST_GOALS,
    CheckIn,
    CheckInStatus,
    Goal,
    GoalSources,
    GoalStatus,
    NamedGoal,
    TrackedGoal,
    find_goal,
    goal_document,
    goal_from,
    merge_goals,
    own_goal,
    same_goal,
    tracked_document,
    tracked_from,
)

KEPT, MISSED = CheckInStatus.COMPLETED, CheckInStatus.MISSED
ACTIVE, COMPLETED, ABANDONED = GoalStatus.ACTIVE, GoalStatus.COMPLETED, GoalStatus.ABANDONED


def goal(text: str = "Run a marathon", **changes: object) -> Goal:
    """A stored goal."""
    return replace(Goal(id=f"id of {text}", goal=text, version=1), **changes)  # type: ignore[arg-type]


def merged(kept: list[Goal], *tracked: TrackedGoal) -> list[Goal]:
    """The goals after a summary named these."""
    ids = (f"new{n}" for n in count(len(kept)))
    return merge_goals(kept, [named(kept, one) for one in tracked], ids, None)


def named(kept: list[Goal], tracked: TrackedGoal, *event_ids: str, **more: object) -> NamedGoal:
    """A goal of a summary, whose wording these events hold, else `e1`."""
    meant = find_goal(kept, tracked.goal)
    wording, sources = meant.goal if meant else tracked.goal, GoalSources(event_ids or ("e1",))
    return replace(NamedGoal(goal=tracked, wording=wording, sources=sources), **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Meditate daily", "meditate  DAILY", True),
        ("User plans to meditate daily", "Meditate daily", True),
        ("Meditate every day", "meditating every day", True),
        ("Run a marathon", "Run every morning", False),
        ("Learn Spanish", "Learn French", False),
        ("Save money", "Save money for a house", True),
        ("Run", "Run a marathon in Berlin", False),
        ("Read 20 books", "Read 30 books", False),
        ("Save 500 euros for a new bike", "Save 900 euros for a new bike", False),
        ("Save euros for a new bike", "Save 900 euros for a new bike", True),
        ("Run the Lyon city marathon in spring", "Run the Oslo city marathon in spring", False),
        ("User plans to run the Lyon Marathon", "Run the Lyon marathon", True),
        ("每天冥想", "每天冥想", True),
        ("每天冥想十分钟", "学习西班牙语", False),
        ("🏃", "🏃", True),
        ("🏃", "🧘", False),
        ("", "", True),
    ],
)
def test_wordings_of_one_goal_differ_from_other_goals(one: str, other: str, same: bool) -> None:
    assert same_goal(one, other) is same
    assert same_goal(other, one) is same


@pytest.mark.spec("H-03", "P-5")
def test_a_goal_that_is_not_named_again_stays_as_it_was() -> None:
    kept = [goal(history=(CheckIn("2024-05-01", KEPT),))]
    assert merged(kept) == kept
    both = merged(kept, TrackedGoal("Learn Spanish"))
    assert both[0] == kept[0]
    assert (both[1].id, both[1].goal, both[1].source_event_ids) == ("new1", "Learn Spanish", ("e1",))


@pytest.mark.spec("H-03", "H-24")
def test_a_goal_named_in_other_words_goes_on_with_its_history() -> None:
    kept = [goal(history=(CheckIn("2024-05-01", KEPT),), source_event_ids=("e0",))]
    history = (CheckIn("2024-05-01", MISSED), CheckIn("2024-05-08", KEPT))
    told = TrackedGoal("User plans to run a marathon", COMPLETED, "weekly", history)
    (after,) = merged(kept, told)
    assert (after.id, after.goal, after.status, after.check_in_frequency) == (
        kept[0].id, "Run a marathon", COMPLETED, "weekly",
    )  # fmt: skip
    assert after.history == (CheckIn("2024-05-01", KEPT), CheckIn("2024-05-08", KEPT))
    assert after.source_event_ids == ("e0", "e1")


@pytest.mark.parametrize("over", [COMPLETED, ABANDONED])
def test_a_model_takes_up_no_goal_that_is_over(over: GoalStatus) -> None:
    (after,) = merged([goal(status=over)], TrackedGoal("Run a marathon", ACTIVE))
    assert after.status is over


def test_what_a_person_set_no_model_changes() -> None:
    mine = goal().patched({"status": ACTIVE, "check_in_frequency": "daily"})
    (after,) = merged([mine], TrackedGoal("Run a marathon", ABANDONED, "never"))
    assert (after.status, after.check_in_frequency) == (ACTIVE, "daily")
    assert mine.patched({"goal": "Walk"}).set_by_user == {"status", "check_in_frequency", "goal"}


def test_an_active_goal_is_meant_before_one_that_is_over() -> None:
    over, active = goal(id="over", status=COMPLETED), goal(id="active")
    assert find_goal([over, active], "run a marathon") == active
    assert find_goal([over], "run a marathon") == over
    assert find_goal([over, active], "learn Spanish") is None


def test_beyond_the_most_goals_no_new_one_is_taken_in() -> None:
    kept = [goal(f"Visit city number{n}") for n in range(MOST_GOALS)]
    after = merged(kept, TrackedGoal("Learn Spanish"), TrackedGoal("Visit city number7", COMPLETED))
    assert len(after) == MOST_GOALS
    assert after[7].status is COMPLETED


def test_two_names_of_one_new_goal_make_one() -> None:
    assert len(merged([], TrackedGoal("Meditate daily"), TrackedGoal("User wants to meditate daily"))) == 1


def test_the_last_entry_of_a_date_counts_and_dates_are_in_order() -> None:
    after = goal().checked_in([CheckIn("2024-05-02", KEPT), CheckIn("2024-05-01", KEPT), CheckIn("2024-05-02", MISSED)])
    assert after.history == (CheckIn("2024-05-01", KEPT), CheckIn("2024-05-02", MISSED))


def test_of_very_many_check_ins_the_newest_stay() -> None:
    dates = [f"{year}-{month:02}-{day:02}" for year in (2023, 2024) for month in range(1, 13) for day in range(1, 29)]
    after = goal().checked_in(CheckIn(date, KEPT) for date in dates)
    assert [one.date for one in after.history] == dates[-MOST_CHECK_INS:]


def test_a_goal_goes_with_its_last_source_and_not_before() -> None:
    known = goal(source_event_ids=("e1", "e2"))
    assert known.without_sources(frozenset({"e9"})) == known
    one = known.without_sources(frozenset({"e1"}))
    assert one is not None
    assert one.source_event_ids == ("e2",)
    assert known.without_sources(frozenset({"e1", "e2"})) is None
    assert goal().without_sources(frozenset({"e1"})) == goal()


@pytest.mark.spec("P-22")
def test_a_goal_put_together_of_several_events_goes_with_the_first_of_them() -> None:
    known = goal(source_event_ids=("e1", "e2"), together=True)
    assert known.without_sources(frozenset({"e9"})) == known
    assert known.without_sources(frozenset({"e2"})) is None


@pytest.mark.spec("P-22")
@pytest.mark.parametrize(
    ("kept", "found", "after"),
    [
        (GoalSources(("e1",)), GoalSources(("e2",)), GoalSources(("e1", "e2"))),
        (GoalSources(("e1",)), GoalSources(("e2", "e3"), together=True), GoalSources(("e1",))),
        (GoalSources(("e1",)), GoalSources(supported=False), GoalSources(("e1",))),
        (GoalSources(("e1", "e2"), together=True), GoalSources(("e3",)), GoalSources(("e3",))),
        (GoalSources(supported=False), GoalSources(("e3",)), GoalSources(("e3",))),
        (GoalSources(supported=False), GoalSources(supported=False), GoalSources(supported=False)),
    ],
)
def test_a_goal_gains_only_events_that_hold_its_wording_by_themselves(
    kept: GoalSources, found: GoalSources, after: GoalSources
) -> None:
    known = goal(source_event_ids=kept.event_ids, together=kept.together, supported=kept.supported)
    (told,) = merge_goals([known], [named([known], TrackedGoal("run a marathon"), sources=found)], [], None)
    assert told.sources == after
    assert goal_from(goal_document(told), told.version) == told


def test_sources_of_another_wording_are_no_goals_sources() -> None:
    known = goal(source_event_ids=("e1",))
    other = named([known], TrackedGoal("Run a marathon"), "e2", wording="Run a marathon with Clara")
    (told,) = merge_goals([known], [other], [], None)
    assert told.source_event_ids == ("e1",)
    (made,) = merge_goals([], [other], ["new"], None)
    assert (made.source_event_ids, made.supported) == ((), False)


def test_a_goal_in_a_persons_words_is_theirs_and_a_status_leaves_the_source() -> None:
    known = goal(source=Source.INFERRED)
    assert known.patched({"status": COMPLETED}).source is Source.INFERRED
    assert known.patched({"goal": "Walk"}).source is Source.USER
    (told,) = merge_goals([goal(source=Source.USER)], [named([], TrackedGoal("Run a marathon"))], [], None)
    assert told.source is Source.USER


CHECK_INS = st.lists(
    st.builds(CheckIn, st.dates().map(lambda day: day.isoformat()), st.sampled_from(CheckInStatus)), max_size=5
).map(tuple)
TRACKED = st.builds(TrackedGoal, st.text(max_size=30), st.sampled_from(GoalStatus), st.none() | st.text(), CHECK_INS)


@pytest.mark.spec("H-24")
@given(TRACKED, st.lists(st.text()).map(tuple), st.integers(0, 9))
def test_goals_are_read_as_they_were_written(tracked: TrackedGoal, sources: tuple[str, ...], version: int) -> None:
    assert tracked_from(tracked_document(tracked)) == tracked
    kept = Goal(
        id="g", goal=tracked.goal, status=tracked.status, check_in_frequency=tracked.check_in_frequency,
        history=tracked.history, source_event_ids=sources, set_by_user=frozenset({"status"}), persona_id="p",
        version=version,
    )  # fmt: skip
    assert goal_from(goal_document(kept), version) == kept


@given(st.lists(TRACKED, max_size=4), st.lists(TRACKED, max_size=4))
def test_merging_loses_no_goal_and_no_check_in(first: list[TrackedGoal], second: list[TrackedGoal]) -> None:
    before = merged([], *first)
    after = {one.id: one for one in merged(before, *second)}
    for one in before:
        assert set(one.history) <= set(after[one.id].history)
        assert after[one.id].goal == one.goal


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"goal": "g", "status": "x", "history": []},
        {"goal": "g", "status": "active", "history": [1]},
        {"goal": "g", "status": "active", "history": []},
    ],
)
def test_a_broken_goal_is_said_to_be_one(document: dict[str, object]) -> None:
    with pytest.raises(StoredDataError):
        goal_from(document, 1)


COACH = Scope("acme", "anna", "coach")


def track(memory: Memory, text: str, scope: Scope = ANNA, **more: Any) -> Goal:
    """A model names a goal."""
    return memory.app.summaries.goals.track(
        scope, text, more.pop("status", ACTIVE), more.pop("often", None), NOON, **more
    )


def add(memory: Memory, text: str, scope: Scope = ANNA, often: str | None = None, goal_id: str | None = None) -> Any:
    """A person names a goal."""
    own = own_goal(goal_id or memory.app.ids.fresh(), text, often, scope.persona_id)
    return memory.app.summaries.goals.add(scope, own, NOON)


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


def test_what_a_person_names_is_theirs_and_a_model_may_say_that_it_is_reached(memory: Memory) -> None:
    goals = memory.app.summaries.goals
    added = add(memory, "Run a marathon", COACH, often="weekly")
    goal = added.goal
    assert (added.created, goal.source, goal.version, goal.persona_id) == (True, Source.USER, 1, "coach")
    assert goal.set_by_user == {"goal", "check_in_frequency"}
    told = track(
        memory, "User plans to run a marathon", COACH, status=COMPLETED, often="daily", source_event_ids=["e1"]
    )
    assert (told.id, told.status, told.check_in_frequency) == (goal.id, COMPLETED, "weekly")
    assert goals.listed(ANNA) == []
    assert goals.listed(COACH) == [told]


def test_what_a_person_names_rests_on_no_event_and_goes_with_none() -> None:
    own = own_goal("g", "Run a marathon", None, None)
    (told,) = merge_goals([own], [named([own], TrackedGoal("Run a marathon"), "e1")], [], None)
    assert told.source_event_ids == ()
    assert told.without_sources(frozenset({"e1"})) == told


def test_the_same_words_again_are_the_same_goal_which_is_active_again(memory: Memory) -> None:
    goals = memory.app.summaries.goals
    first = track(memory, "Run a marathon")
    known = add(memory, "run  a MARATHON")
    assert (known.created, known.goal) == (False, first)
    goals.patch(ANNA, first.id, {"status": ABANDONED}, lambda _: True, NOON)
    again = add(memory, "Run a marathon", often="weekly").goal
    assert (again.id, again.status, again.check_in_frequency) == (first.id, ACTIVE, "weekly")
    assert track(memory, "Run a marathon", status=COMPLETED).status == ACTIVE
    assert add(memory, "Run a marathon in May").created
    assert len(goals.listed(ANNA)) == 2


def test_what_an_earlier_try_stored_is_left_as_it_is_by_now(memory: Memory) -> None:
    goals, goal_id = memory.app.summaries.goals, memory.app.ids.fresh()
    first = add(memory, "Run a marathon", goal_id=goal_id)
    ended = goals.patch(ANNA, goal_id, {"goal": "Run two", "status": COMPLETED}, lambda _: True, NOON)
    again = add(memory, "Run a marathon", goal_id=goal_id)
    assert (first.created, again.created, again.goal) == (True, True, ended)
    assert goals.listed(ANNA) == [ended]


def test_a_hundred_goals_are_enough(memory: Memory) -> None:
    for n in range(MOST_GOALS):
        track(memory, f"Visit city{n}")
    with pytest.raises(Conflict):
        track(memory, "Learn Spanish")
    with pytest.raises(Conflict):
        add(memory, "Learn Spanish")
    assert not add(memory, "Visit city7").created
    assert track(memory, "Visit city7", status=GoalStatus.COMPLETED).version == 2


class Contended(Away):
    """Somebody else is faster, so many times."""

    def __init__(self, items: object, times: int) -> None:
        super().__init__(items, [])
        self._times = times

    def __getattr__(self, name: str) -> Any:
        if name == "write":
            self._times -= 1
            if self._times >= 0:
                raise VersionMismatch("somebody else was faster")
        return super().__getattr__(name)


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
