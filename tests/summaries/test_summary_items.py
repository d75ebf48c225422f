"""Where summaries, states and goals are stored, and under which version they are written (P-21)."""

from datetime import UTC, datetime, timedelta

import pytest

from recollect.core.items import ABSENT, Due, Item, ItemKey, ItemPath
from recollect.core.time import sortable
from recollect.rules.groups import SummaryRules
from recollect.summaries.goals import Goal
from recollect.summaries.storage import (
    SummaryState,
    failures_key,
    failures_with,
    goal_in,
    goal_key,
    goal_write,
    key_of,
    state_document,
    state_in,
    state_key,
    state_write,
    summaries_path,
    summary_key,
    summary_writes,
)
from recollect.summaries.summary import Reason, Summary, SummarySentence, summary_document

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
BOTH = pytest.mark.parametrize(
    ("persona", "labels"), [(None, ("default",)), ("p1", ("persona", "p1")), ("default", ("persona", "default"))]
)


def summary(persona: str | None) -> Summary:
    return Summary(
        id="s1",
        text="All is well.",
        sentences=(SummarySentence("All is well.", ("e1",)),),
        tracked_goals=(),
        message_count=1,
        covered_from=NOON,
        covered_until=NOON,
        covered_until_id="e1",
        created_at=NOON,
        reason=Reason.FORCED,
        model="scripted",
        persona_id=persona,
    )


@BOTH
def test_each_persona_has_places_of_its_own(persona: str | None, labels: tuple[str, ...]) -> None:
    assert state_key(persona) == ItemKey(ItemPath("summary_states", labels), "state")
    assert failures_key(persona) == ItemKey(ItemPath("summary_failures", labels), "failures")
    assert summaries_path(persona) == ItemPath("summaries", labels)
    assert summary_key(persona, "k") == ItemKey(ItemPath("summaries", labels), "k")


@BOTH
def test_a_summary_is_written_once_and_listed_beside_it(persona: str | None, labels: tuple[str, ...]) -> None:
    made, listed = summary_writes(summary(persona))
    assert made.key == ItemKey(ItemPath("summaries", labels), f"{sortable(NOON)}.s1")
    assert (made.value, made.expected, made.due) == (summary_document(summary(persona)), ABSENT, None)
    assert listed.key == ItemKey(ItemPath("summary_list"), key_of(summary(persona)))
    assert (listed.value, listed.expected) == ({} if persona is None else {"persona_id": persona}, ABSENT)


@pytest.mark.spec("H-10")
@pytest.mark.parametrize(
    ("hint", "due"), [(0, None), (3, Due("summary", NOON + timedelta(days=21))), (50, Due("summary", NOON))]
)
def test_a_state_is_due_when_its_rules_say_so(hint: int, due: Due | None) -> None:
    state = SummaryState(persona_id="p1", hint=hint, first_message_at=NOON)
    write = state_write(state, SummaryRules(), NOON, 7)
    assert (write.key, write.value) == (state_key("p1"), state_document(state))
    assert (write.expected, write.due) == (7, due)


def test_a_state_that_was_never_written_is_a_new_one() -> None:
    assert state_in(None, "p1") == SummaryState(persona_id="p1")
    state = SummaryState(persona_id="p1", hint=4)
    assert state_in(Item(state_key("p1"), state_document(state), 2, NOON), "p1") == state


@pytest.mark.spec("H-03")
def test_a_goal_is_written_on_condition_of_its_version_and_read_with_it() -> None:
    goal = Goal(id="g1", goal="Run", version=3)
    write = goal_write(goal)
    assert (write.key, write.expected) == (ItemKey(ItemPath("goals"), "g1"), 3)
    assert write.key == goal_key("g1")
    assert write.value is not None
    assert goal_in(Item(write.key, write.value, 4, NOON)) == Goal(id="g1", goal="Run", version=4)


@pytest.mark.spec("H-31")
def test_failures_are_counted_by_kind_and_hold_no_text() -> None:
    once = failures_with({}, {"no_json": 2}, "t1")
    assert once == {"kinds": {"no_json": 2}, "total": 2, "last": {"at": "t1", "kinds": {"no_json": 2}}}
    twice = failures_with(once, {"no_json": 1, "too_long": 3}, "t2")
    assert (twice["kinds"], twice["total"]) == ({"no_json": 3, "too_long": 3}, 6)
    assert twice["last"] == {"at": "t2", "kinds": {"no_json": 1, "too_long": 3}}
    assert once["kinds"] == {"no_json": 2}
