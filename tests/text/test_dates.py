"""Dates as a text hints at them, and as people are shown them."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.text.dates import DateHint, date_hints, time_ago


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What did Anna do on 8 May 2023?", [(2023, 5, 8), (2023, 5, None)]),
        ("on May 8th, 2023, or so", [(2023, 5, 8), (2023, 5, None)]),
        ("the 20th of June", [(None, 6, 20), (None, 6, None)]),
        ("since 2023-05-08", [(2023, 5, 8), (2023, 5, None)]),
        ("2022年5月20日", [(2022, 5, 20), (2022, 5, None)]),
        ("他5月去了哪里", [(None, 5, None)]),
        ("2021年发生了什么", [(2021, None, None)]),
        ("in August 2023 and in 2021", [(2023, 8, None), (2021, None, None)]),
        ("in May?", [(None, 5, None)]),
        ("early March", [(None, 3, None)]),
        ("May I ask? March on!", []),
        ("at 12:30 in May", [(None, 5, None)]),
        ("version 2.2023 of the 13-month plan", []),
        ("2023-13-45", []),
        ("31 x 12", []),
        ("", []),
    ],
)
def test_what_is_named_is_found(text: str, expected: list[tuple[int | None, ...]]) -> None:
    assert date_hints(text) == tuple(DateHint(*one) for one in expected)


def test_a_hint_holds_what_lies_in_it() -> None:
    moment = datetime(2023, 5, 8, 23, tzinfo=UTC)
    assert all(hint.holds(moment) for hint in (DateHint(2023, 5, 8), DateHint(None, 5), DateHint(2023)))
    assert not any(hint.holds(moment) for hint in (DateHint(2023, 5, 9), DateHint(2022, 5)))


@given(st.text(max_size=200))
def test_any_text_has_only_dates_that_can_be(text: str) -> None:
    for hint in date_hints(text):
        assert hint.month is None or 1 <= hint.month <= 12
        assert hint.day is None or 1 <= hint.day <= 31
        assert hint.weight in (0.25, 0.5, 1.0)


NOW = datetime(2024, 1, 10, 12, 0, tzinfo=UTC)
TICK = timedelta(microseconds=1)


@pytest.mark.spec("K-54", "K-55", "K-56", "K-57", "K-58")
@pytest.mark.parametrize(
    ("elapsed", "expected"),
    [
        (timedelta(0), "just now"),
        (timedelta(minutes=1) - TICK, "just now"),
        (timedelta(days=-400), "just now"),
        (timedelta(minutes=1), "1 minutes ago"),
        (timedelta(minutes=15, seconds=59), "15 minutes ago"),
        (timedelta(hours=1) - TICK, "59 minutes ago"),
        (timedelta(hours=1), "1 hours ago"),
        (timedelta(days=1) - TICK, "23 hours ago"),
        (timedelta(days=1), "1 days ago"),
        (timedelta(days=7) - TICK, "6 days ago"),
        (timedelta(days=7), "Jan 3"),
        (timedelta(days=26), "Dec 15"),
        (timedelta(days=26 + 366), "Dec 14"),
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
