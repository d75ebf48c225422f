"""How far summaries have come: hints, leases, pauses, and when somebody must look."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.core.errors import StoredDataError
from recollect.core.event import EventRef
from recollect.rules.groups import SummaryRules
from recollect.summaries.storage import LONGEST_LEASE, LastSummary, Lease, SummaryState, state_document, state_from
from recollect.summaries.summary import Reason, Summary

NOW = datetime(2024, 6, 1, 12, tzinfo=UTC)
RULES = SummaryRules()


def ref(minute: int, event_id: str = "e") -> EventRef:
    """A place so many minutes after NOW."""
    return EventRef(event_id, NOW + timedelta(minutes=minute))


@pytest.mark.spec("H-08")
def test_only_what_is_newer_than_anything_seen_counts_ties_by_id() -> None:
    state = SummaryState(seen=ref(5, "e5"))
    noted = state.noted([ref(4), ref(5, "e4"), ref(5, "e5"), ref(5, "e6"), ref(6)])
    assert noted.hint == 2
    assert noted.first_message_at == ref(5).timestamp
    assert state.noted([ref(1)]) is state


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
    made = Summary(
        id="s1",
        text="",
        sentences=(),
        tracked_goals=(),
        message_count=1,
        covered_from=NOW,
        covered_until=NOW,
        covered_until_id="e8",
        created_at=NOW + timedelta(minutes=2),
        reason=Reason.MESSAGES,
        model="scripted",
    )
    assert FULL.summarized(made, "k1", EventRef("e9", NOW), before) == SummaryState(
        persona_id="p",
        seen=EventRef("e9", NOW),
        covered=EventRef("e8", NOW),
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


REFS = st.builds(
    EventRef, st.text(min_size=1, max_size=20), st.datetimes(datetime(1900, 1, 1), datetime(2199, 1, 1)).map(
        lambda moment: moment.replace(tzinfo=UTC)
    )
)  # fmt: skip


@given(seen=REFS, covered=REFS, hint=st.integers(0, 10**6), failures=st.integers(0, 20))
def test_a_state_is_read_as_it_was_written(seen: EventRef, covered: EventRef, hint: int, failures: int) -> None:
    state = SummaryState(
        persona_id="p",
        seen=seen,
        covered=covered,
        first_message_at=NOW,
        last=LastSummary("s", "k", NOW),
        hint=hint,
        lease=Lease("h", NOW),
        failures=failures,
        retry_at=NOW,
    )
    assert state_from(state_document(state)) == state
    bare = replace(SummaryState(), hint=hint)
    assert state_from(state_document(bare)) == bare


@pytest.mark.parametrize("document", [{}, {"hint": 1, "seen": {"id": "e"}}, {"hint": 1, "lease": {"holder": 1}}])
def test_a_broken_state_is_said_to_be_one(document: dict[str, object]) -> None:
    with pytest.raises(StoredDataError):
        state_from(document)
