"""Relative times (K-54 to K-58)."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.text.dates import time_ago

NOW = datetime(2024, 1, 10, 12, 0, tzinfo=UTC)
TICK = timedelta(microseconds=1)


@pytest.mark.parametrize(
    ("elapsed", "expected"),
    [
        pytest.param(timedelta(0), "just now", marks=pytest.mark.spec("K-54")),
        pytest.param(timedelta(minutes=1) - TICK, "just now", marks=pytest.mark.spec("K-54")),
        pytest.param(timedelta(days=-400), "just now", marks=pytest.mark.spec("K-54")),
        pytest.param(timedelta(minutes=1), "1 minutes ago", marks=pytest.mark.spec("K-55")),
        pytest.param(timedelta(minutes=15, seconds=59), "15 minutes ago", marks=pytest.mark.spec("K-55")),
        pytest.param(timedelta(hours=1) - TICK, "59 minutes ago", marks=pytest.mark.spec("K-55")),
        pytest.param(timedelta(hours=1), "1 hours ago", marks=pytest.mark.spec("K-56")),
        pytest.param(timedelta(days=1) - TICK, "23 hours ago", marks=pytest.mark.spec("K-56")),
        pytest.param(timedelta(days=1), "1 days ago", marks=pytest.mark.spec("K-57")),
        pytest.param(timedelta(days=7) - TICK, "6 days ago", marks=pytest.mark.spec("K-57")),
        pytest.param(timedelta(days=7), "Jan 3", marks=pytest.mark.spec("K-58")),
        pytest.param(timedelta(days=26), "Dec 15", marks=pytest.mark.spec("K-58")),
        pytest.param(timedelta(days=26 + 366), "Dec 14", marks=pytest.mark.spec("K-58")),
    ],
)
def test_time_ago(elapsed: timedelta, expected: str) -> None:
    assert time_ago(NOW - elapsed, NOW) == expected


@pytest.mark.spec("K-58")
def test_every_month_has_its_english_abbreviation() -> None:
    months = [time_ago(datetime(2020, month, 1, tzinfo=UTC), NOW).split()[0] for month in range(1, 13)]
    assert months == ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]


@pytest.mark.spec("K-58")
def test_the_day_is_a_utc_day() -> None:
    auckland = timezone(timedelta(hours=13))
    assert time_ago(datetime(2023, 12, 15, 9, 0, tzinfo=auckland), NOW) == "Dec 14"
    assert time_ago(datetime(2024, 1, 10, 14, 0, tzinfo=auckland), NOW.astimezone(auckland)) == "11 hours ago"


@pytest.mark.spec("K-101")
@given(st.datetimes(timezones=st.just(UTC)), st.datetimes(timezones=st.just(UTC)))
def test_any_two_times(then: datetime, now: datetime) -> None:
    assert time_ago(then, now)
