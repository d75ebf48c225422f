"""Whose fault a failure is, how long to wait after it, and what is noted."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.core.errors import (
    ConfigurationError,
    Conflict,
    CutAnswer,
    InFlight,
    InvalidInput,
    NotReady,
    OutOfTime,
    StoredDataError,
    Throttled,
    Unavailable,
    UpstreamFailed,
    VersionMismatch,
)
from recollect.core.event import EventRef
from recollect.core.items import Item, checked
from recollect.timeline.failed_projections import (
    NEVER,
    QUARANTINE,
    RETRIES,
    RETRY_POLICY,
    Fault,
    failed_in,
    failed_key,
    failed_write,
    fault_of,
    first_failure,
)

NOW = datetime(2024, 5, 1, 12, tzinfo=UTC)
REF = EventRef("018f3408-72c0-7000-8a36-f108bc16362d", NOW - timedelta(days=1))


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        *((kind("x"), Fault.OWN) for kind in (ValueError, KeyError, RecursionError, UnicodeError, InvalidInput)),
        (StoredDataError("x"), Fault.OWN),
        *((kind("x"), Fault.OUTAGE) for kind in (Unavailable, NotReady, Throttled, OutOfTime, Conflict, InFlight)),
        *((kind("x"), Fault.OUTAGE) for kind in (VersionMismatch, OSError, TimeoutError, MemoryError)),
        (ConfigurationError("RECOLLECT_X", "x"), Fault.OUTAGE),
        (UpstreamFailed("x"), Fault.UNSURE),
        (CutAnswer("x"), Fault.UNSURE),
    ],
)
def test_whose_fault_it_is(error: Exception, fault: Fault) -> None:
    assert fault_of(error) is fault


@pytest.mark.parametrize(("tries", "seconds"), [(1, 30), (2, 60), (7, 1920), (8, 3600), (1000, 3600)])
def test_pauses_double_up_to_the_longest(tries: int, seconds: int) -> None:
    assert RETRY_POLICY.pause(tries) == timedelta(seconds=seconds)


@given(removed=st.booleans(), moments=st.lists(st.integers(0, 10_000), max_size=30))
def test_what_is_noted_is_read_back_and_is_due_when_it_says(removed: bool, moments: list[int]) -> None:
    failed = first_failure(REF, NOW)
    for seconds in sorted(moments):
        failed = failed.again("ValueError", removed, NOW + timedelta(seconds=seconds))
    write = failed_write(failed)
    checked([write])
    assert write.value is not None
    assert failed_in(Item(write.key, write.value, 7, NOW)) == replace(failed, version=7)
    assert write.due is not None
    assert write.due.queue == (QUARANTINE if failed.quarantined else RETRIES)
    assert write.due.at == (failed.next_at or NEVER)
    assert failed.quarantined == (failed.tries >= RETRY_POLICY.most_tries)
    assert (failed.next_at is None) == (failed.quarantined and not removed)
    replayed = failed.replayed("job", NOW)
    assert (replayed.tries, replayed.waits(NOW), replayed.again("KeyError", removed, NOW).tries) == (0, False, 1)


@pytest.mark.parametrize("value", [{}, {"timestamp": "soon"}, {"timestamp": None}])
def test_a_note_that_cannot_be_read(value: dict[str, object]) -> None:
    with pytest.raises(StoredDataError):
        failed_in(Item(failed_key(REF.id), value, 1, NOW))
