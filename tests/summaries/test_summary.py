"""Summaries, what is stored of them, how far they have come, and when the next one is due."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.contracts.examples import an_event
from recollect.core.errors import StoredDataError
from recollect.core.event import Event, EventRef
from recollect.core.items import ABSENT, MOST_BYTES, Due, Item, ItemKey, ItemPath
from recollect.core.time import EARLIEST, sortable
from recollect.rules.groups import SummaryRules
from recollect.summaries.goals import CheckIn, CheckInStatus, Goal, GoalStatus, TrackedGoal
from recollect.summaries.late import MOST_COVERED, LateSpan, covered_write, mark_of
from recollect.summaries.storage import (
    LONGEST_LEASE,
    LastSummary,
    Lease,
    SummaryState,
    failures_key,
    failures_with,
    goal_in,
    goal_key,
    goal_write,
    key_of,
    state_document,
    state_from,
    state_in,
    state_key,
    state_write,
    summaries_path,
    summary_key,
    summary_writes,
)
from recollect.summaries.summary import (
    Backlog,
    Reason,
    Summary,
    SummarySentence,
    summary_document,
    summary_from,
    trigger,
)

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
GOAL = TrackedGoal("Run", GoalStatus.ACTIVE, "daily", (CheckIn("2024-05-01", CheckInStatus.MISSED),))


def summary(*sentences: SummarySentence, **changes: Any) -> Summary:
    """A summary of these sentences, up to noon."""
    made = Summary(
        id="s1",
        text=" ".join(one.text for one in sentences),
        sentences=sentences,
        tracked_goals=(GOAL,),
        message_count=40,
        covered_from=NOON - timedelta(hours=1),
        covered_until=NOON,
        covered_until_id="e5",
        created_at=NOON + timedelta(hours=1),
        reason=Reason.MESSAGES,
        model="scripted",
    )
    return replace(made, **changes)


ONE = SummarySentence("Anna lives in Lyon.", ("e1", "e2"))
TWO = SummarySentence("She has a dog.", ("e3",))
GUESS = SummarySentence("All is well.", ("e4",), supported=False)


@pytest.mark.spec("H-02", "H-22", "H-23", "H-24", "H-25")
@pytest.mark.parametrize("changes", [{}, {"persona_id": "p", "conversation_id": "c"}, {"sentences": (), "text": ""}])
def test_a_summary_is_read_as_it_was_written(changes: dict[str, Any]) -> None:
    one = summary(ONE, GUESS, **changes)
    assert summary_from(summary_document(one)) == one


@pytest.mark.spec("H-24")
def test_tracked_goals_are_a_json_array_of_the_documents_form() -> None:
    assert summary_document(summary(ONE))["tracked_goals"] == [
        {
            "goal": "Run",
            "status": "active",
            "check_in_frequency": "daily",
            "history": [{"date": "2024-05-01", "status": "missed"}],
        }
    ]
    assert summary_document(summary(ONE, tracked_goals=()))["tracked_goals"] == []


@pytest.mark.parametrize("document", [{}, {"format": 2}, {"format": 1, "id": "s"}])
def test_a_broken_or_newer_summary_is_said_to_be_one(document: dict[str, Any]) -> None:
    with pytest.raises(StoredDataError):
        summary_from(document)


@pytest.mark.spec("H-08", "P-5")
def test_what_it_covers_ends_with_its_own_place_ties_by_id() -> None:
    one = summary(ONE)
    assert one.covers(EventRef("e5", NOON))
    assert one.covers(EventRef("e4", NOON))
    assert not one.covers(EventRef("e6", NOON))
    assert one.covers(EventRef("e9", NOON - timedelta(microseconds=1)))
    assert not one.covers(EventRef("e1", NOON + timedelta(microseconds=1)))


def test_sources_are_those_of_all_sentences_each_once() -> None:
    assert summary(ONE, TWO, ONE).source_event_ids == ("e1", "e2", "e3")


@pytest.mark.spec("P-22")
@pytest.mark.parametrize(
    ("gone", "places", "left"),
    [
        ({"e9"}, [], "Anna lives in Lyon. She has a dog. All is well."),
        ({"e2"}, [], "She has a dog."),
        ({"e3"}, [], "Anna lives in Lyon."),
        ({"e1", "e3"}, [], ""),
        # What no text supports goes with anything that the summary covers.
        ({"e9"}, [EventRef("e9", NOON - timedelta(days=9))], "Anna lives in Lyon. She has a dog."),
        ({"e9"}, [EventRef("e9", NOON + timedelta(days=9))], "Anna lives in Lyon. She has a dog. All is well."),
    ],
)
def test_a_deletion_takes_out_every_sentence_that_comes_from_it(
    gone: set[str], places: list[EventRef], left: str
) -> None:
    one = summary(ONE, TWO, GUESS)
    assert one.without(frozenset(gone), places).text == left


def test_what_is_left_never_becomes_another_persons_word() -> None:
    one = summary(
        SummarySentence("Anna (8 May 2023): I won.", ("e1",)),
        SummarySentence("Ben (9 May 2023): I lost.", ("e2",)),
        SummarySentence("I cried.", ("e3",)),
    )
    assert one.without(frozenset({"e2"})).text == "Anna (8 May 2023): I won. Ben (9 May 2023): I cried."


NOW = datetime(2024, 6, 1, 12, tzinfo=UTC)
RULES = SummaryRules()


def ref(minute: int, event_id: str = "e") -> EventRef:
    """A place so many minutes after NOW."""
    return EventRef(event_id, NOW + timedelta(minutes=minute))


@pytest.mark.spec("H-08")
def test_only_what_is_newer_than_anything_seen_counts_ties_by_id() -> None:
    state = SummaryState(seen=ref(5, "e5"), last=LastSummary("s", "k", NOW))
    long_ago = NOW - timedelta(days=7)
    messages = [said(one, long_ago) for one in (ref(4), ref(5, "e4"), ref(5, "e5"), ref(5, "e6"), ref(6))]
    noted = state.noted(messages, NOW)
    assert (noted.hint, noted.late) == (2, None)
    assert noted.first_message_at == ref(5).timestamp
    assert state.noted([said(ref(1), long_ago)], NOW) is state


@pytest.mark.spec("P-5")
def test_what_arrived_lately_with_an_earlier_time_may_be_late_and_what_an_import_brings_always() -> None:
    state = SummaryState(seen=ref(5), last=LastSummary("s", "k", NOW))
    noted = state.noted([said(ref(2), NOW), said(ref(4), NOW), said(ref(6), NOW)], NOW)
    assert (noted.hint, noted.late) == (3, LateSpan(ref(2).timestamp, ref(4).timestamp))
    assert noted.noted([said(ref(3), NOW)], NOW).late == noted.late
    old = said(ref(1), NOW - timedelta(days=900))
    assert state.noted([old, said(ref(6), NOW)], NOW, imported=True) == replace(
        state, hint=1, late=LateSpan(ref(1).timestamp, ref(1).timestamp)
    )
    # A clock that was years ahead when the last summary was made, and one that is behind now.
    for now, made in ((NOW, NOW + timedelta(days=900)), (NOW - timedelta(days=900), NOW)):
        recorded = min(now, made)
        assert replace(state, last=LastSummary("s", "k", made)).noted([said(ref(1), recorded)], now).late is not None


def test_what_is_noted_while_one_is_made_is_looked_for_again() -> None:
    state = SummaryState(seen=ref(5), lease=Lease("me", NOW), last=LastSummary("s", "k", NOW))
    noted = state.noted([said(ref(7), NOW)], NOW)
    assert (noted.hint, noted.late) == (1, LateSpan(ref(7).timestamp, ref(7).timestamp))


def said(where: EventRef, recorded_at: datetime) -> Event:
    """A message at that place, recorded then."""
    return an_event(id=where.id, timestamp=where.timestamp, recorded_at=recorded_at)


@pytest.mark.spec("H-05", "H-06", "H-10")
@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (SummaryState(), None),
        (SummaryState(hint=1, first_message_at=NOW), NOW + timedelta(days=21)),
        (SummaryState(hint=49, first_message_at=NOW), NOW + timedelta(days=21)),
        (SummaryState(hint=50, first_message_at=NOW), NOW),
        (SummaryState(hint=1, last=LastSummary("s", "k", NOW - timedelta(days=20))), NOW + timedelta(days=1)),
        (SummaryState(hint=50, retry_at=NOW + timedelta(hours=1)), NOW + timedelta(hours=1)),
        (SummaryState(hint=1, first_message_at=datetime(2199, 12, 31, tzinfo=UTC)), datetime(2200, 1, 1, tzinfo=UTC)),
    ],
)
def test_when_somebody_must_look(state: SummaryState, expected: datetime | None) -> None:
    assert state.due_at(RULES, NOW) == expected


def test_a_lease_bars_others_until_it_ends_and_not_from_the_far_future() -> None:
    assert Lease("me", NOW + timedelta(seconds=1)).holds(NOW)
    assert not Lease("me", NOW).holds(NOW)
    assert Lease("me", NOW + LONGEST_LEASE).holds(NOW)
    assert not Lease("me", NOW + LONGEST_LEASE + timedelta(seconds=1)).holds(NOW)


FULL = SummaryState(
    persona_id="p",
    seen=EventRef("e1", NOW),
    covered=EventRef("e0", NOW - timedelta(hours=1)),
    late=LateSpan(NOW - timedelta(days=2), NOW),
    unlisted_until=NOW - timedelta(days=9),
    first_message_at=NOW - timedelta(days=3),
    last=LastSummary("s0", "k0", NOW - timedelta(days=1)),
    hint=60,
    lease=Lease("me", NOW),
    failures=2,
    retry_at=NOW + timedelta(hours=1),
)


@pytest.mark.spec("H-08", "H-31")
@pytest.mark.parametrize(("before", "hint"), [(0, 60), (55, 5), (60, 0), (99, 0)])
def test_after_a_summary_only_what_was_noted_meanwhile_counts(before: int, hint: int) -> None:
    made = summary(covered_until=NOW, covered_until_id="e8", created_at=NOW + timedelta(minutes=2))
    assert FULL.summarized(made, "k1", EventRef("e9", NOW), before) == SummaryState(
        persona_id="p",
        seen=EventRef("e9", NOW),
        covered=EventRef("e8", NOW),
        late=FULL.late,
        unlisted_until=FULL.unlisted_until,
        first_message_at=FULL.first_message_at,
        last=LastSummary("s1", "k1", NOW + timedelta(minutes=2)),
        hint=hint,
    )


@pytest.mark.spec("H-31")
def test_after_failures_pauses_double_and_the_count_stays() -> None:
    state = SummaryState(hint=50, lease=Lease("me", NOW))
    pauses = []
    for _ in range(12):
        state = state.failed(NOW, due_by_itself=True)
        assert state.retry_at is not None
        pauses.append(state.retry_at - NOW)
    assert pauses[:3] == [timedelta(minutes=5), timedelta(minutes=10), timedelta(minutes=20)]
    assert pauses[-1] == timedelta(hours=6)
    assert (state.hint, state.lease) == (50, None)
    forced = SummaryState(hint=3, lease=Lease("me", NOW)).failed(NOW, due_by_itself=False)
    assert (forced.retry_at, forced.failures, forced.lease) == (None, 0, None)


INSTANTS = st.datetimes(datetime(1900, 1, 1), datetime(2199, 1, 1), timezones=st.just(UTC))
REFS = st.builds(EventRef, st.text(min_size=1, max_size=20), INSTANTS)


@given(seen=REFS, covered=REFS, hint=st.integers(0, 10**6), failures=st.integers(0, 20))
def test_a_state_is_read_as_it_was_written(seen: EventRef, covered: EventRef, hint: int, failures: int) -> None:
    full = replace(FULL, seen=seen, covered=covered, hint=hint, failures=failures)
    for state in (full, SummaryState(hint=hint)):
        assert state_from(state_document(state)) == state


def test_a_state_of_before_lists_looks_once_at_all_that_came_after_its_last_summary() -> None:
    before = {name: value for name, value in state_document(FULL).items() if name not in ("format", "late")}
    assert FULL.covered is not None
    assert FULL.last is not None
    read = state_from(before)
    assert (read.late, read.unlisted_until) == (LateSpan(EARLIEST, FULL.covered.timestamp), FULL.last.created_at)
    assert state_from(state_document(read)) == read
    assert state_from({"hint": 3}) == SummaryState(hint=3)


@pytest.mark.parametrize("document", [{}, {"hint": 1, "seen": {"id": "e"}}, {"hint": 1, "lease": {"holder": 1}}])
def test_a_broken_state_is_said_to_be_one(document: dict[str, object]) -> None:
    with pytest.raises(StoredDataError):
        state_from(document)


BOTH = pytest.mark.parametrize(
    ("persona", "labels"), [(None, ("default",)), ("p1", ("persona", "p1")), ("default", ("persona", "default"))]
)


@BOTH
def test_each_persona_has_places_of_its_own(persona: str | None, labels: tuple[str, ...]) -> None:
    assert state_key(persona) == ItemKey(ItemPath("summary_states", labels), "state")
    assert failures_key(persona) == ItemKey(ItemPath("summary_failures", labels), "failures")
    assert summaries_path(persona) == ItemPath("summaries", labels)
    assert summary_key(persona, "k") == ItemKey(ItemPath("summaries", labels), "k")


@BOTH
def test_a_summary_is_written_once_and_listed_beside_it(persona: str | None, labels: tuple[str, ...]) -> None:
    made, listed, covered = summary_writes(summary(ONE, persona_id=persona), [ref(1), ref(2, "é")])
    assert made.key == ItemKey(ItemPath("summaries", labels), f"{sortable(NOON + timedelta(hours=1))}.s1")
    assert (made.value, made.expected, made.due) == (summary_document(summary(ONE, persona_id=persona)), ABSENT, None)
    assert listed.key == ItemKey(ItemPath("summary_list"), key_of(summary(ONE, persona_id=persona)))
    assert (listed.value, listed.expected) == ({} if persona is None else {"persona_id": persona}, ABSENT)
    assert covered.key == ItemKey(ItemPath("summary_covered", labels), listed.key.key)
    assert (covered.value, covered.expected) == ({"messages": mark_of("e") + mark_of("é")}, ABSENT)


def test_what_the_most_messages_leave_behind_fits_into_an_item() -> None:
    write = covered_write(ItemPath("summary_covered"), "k", [ref(n, str(n)) for n in range(MOST_COVERED)])
    assert len(json.dumps(write.value)) < MOST_BYTES


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
    assert state_in(Item(state_key("p"), state_document(FULL), 2, NOON), "p") == FULL


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


def refs(count: int) -> tuple[EventRef, ...]:
    """So many places, a minute apart."""
    return tuple(EventRef(f"e{n:04}", NOW - timedelta(minutes=count - n)) for n in range(count))


def backlog(uncovered: int, since: int | None = None, days: float = 0.0) -> Backlog:
    """A backlog; `since` counts the messages that are new to the trigger."""
    return Backlog(refs(uncovered), uncovered if since is None else since, NOW - timedelta(days=days))


@pytest.mark.spec("H-04", "H-05", "H-06", "H-07", "H-09", "P-5")
@pytest.mark.parametrize(
    ("found", "force", "reason", "covered"),
    [
        (backlog(49), False, None, 0),
        (backlog(50), False, Reason.MESSAGES, 40),
        (backlog(51), False, Reason.MESSAGES, 41),
        # A quiet stretch of 50 after a summary that left ten raw: these count to what is covered, not to the trigger.
        (backlog(59, since=49), False, None, 0),
        (backlog(60, since=50), False, Reason.MESSAGES, 50),
        (backlog(1, days=20.999999), False, None, 0),
        (backlog(1, days=21), False, Reason.AGE, 1),
        (backlog(10, days=21), False, Reason.AGE, 10),
        (backlog(11, days=21), False, Reason.AGE, 1),
        (backlog(10, since=0, days=90), False, None, 0),
        (backlog(0, days=90), False, None, 0),
        (backlog(50, days=21), False, Reason.MESSAGES, 40),
        (backlog(3), True, Reason.FORCED, 3),
        (backlog(10, since=0), True, Reason.FORCED, 10),
        (backlog(12), True, Reason.FORCED, 2),
        (backlog(0), True, None, 0),
        (backlog(50), True, Reason.MESSAGES, 40),
    ],
)
def test_the_table_of_triggers(found: Backlog, force: bool, reason: Reason | None, covered: int) -> None:
    due = trigger(found, RULES, NOW, force=force)
    assert (due.reason if due else None) == reason
    assert (due.covers if due else ()) == found.uncovered[:covered]


@pytest.mark.spec("H-11")
@pytest.mark.parametrize(
    ("found", "rules", "covered"),
    [
        (backlog(4), SummaryRules(messages=5, days=2, raw_window=3), 0),
        (backlog(5), SummaryRules(messages=5, days=2, raw_window=3), 2),
        (backlog(1, days=2), SummaryRules(messages=5, days=2, raw_window=3), 1),
        (backlog(50), SummaryRules(raw_window=0), 50),
        (backlog(8), SummaryRules(messages=5, raw_window=8), 0),
        (backlog(9), SummaryRules(messages=5, raw_window=8), 1),
        (backlog(8, days=21), SummaryRules(messages=5, raw_window=8), 8),
    ],
)
def test_every_threshold_is_a_rule(found: Backlog, rules: SummaryRules, covered: int) -> None:
    due = trigger(found, rules, NOW)
    assert (len(due.covers) if due else 0) == covered


@pytest.mark.spec("H-15", "P-5")
@given(
    count=st.integers(0, 90),
    since=st.integers(0, 90),
    days=st.floats(0, 40),
    force=st.booleans(),
    messages=st.integers(1, 60),
    raw=st.integers(0, 30),
)
def test_what_is_covered_is_the_oldest_and_never_nothing(
    count: int, since: int, days: float, force: bool, messages: int, raw: int
) -> None:
    found = backlog(count, min(since, count), days)
    due = trigger(found, SummaryRules(messages=messages, raw_window=raw), NOW, force=force)
    if due is None:
        assert not (force and count)
        return
    assert due.covers
    assert due.covers == found.uncovered[: len(due.covers)]
    left = count - len(due.covers)
    assert left == min(raw, count) or (left == 0 and due.reason is not Reason.MESSAGES)


@pytest.mark.spec("H-07")
def test_days_are_of_24_hours_and_never_negative() -> None:
    assert backlog(1, days=1.5).days_since(NOW) == pytest.approx(1.5)
    assert backlog(1, days=-3).days_since(NOW) == 0.0
    assert Backlog((), 0, None).days_since(NOW) == 0.0
