"""Instants from outside and their fixed-width forms."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.core.errors import InvalidInput
from recollect.core.time import (
    EARLIEST,
    LATEST,
    from_iso,
    from_microseconds,
    iso,
    microseconds,
    parse_instant,
    sortable,
)


@pytest.fixture(autouse=True)
def own_zone_again() -> Iterator[None]:
    """After each test the machine's own zone holds again."""
    yield
    time.tzset()


MOMENTS = st.datetimes(datetime(1900, 1, 1), datetime(2199, 12, 31), timezones=st.just(UTC))


@pytest.mark.parametrize(
    ("given_value", "expected"),
    [
        ("2024-05-01T12:00:00Z", datetime(2024, 5, 1, 12, tzinfo=UTC)),
        ("2024-05-01T12:00:00", datetime(2024, 5, 1, 12, tzinfo=UTC)),
        ("2024-05-01", datetime(2024, 5, 1, tzinfo=UTC)),
        ("2024-05-01T14:00:00+02:00", datetime(2024, 5, 1, 12, tzinfo=UTC)),
        (1_700_000_000, datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)),
        (1_700_000_000_000, datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)),
        (0, datetime(1970, 1, 1, tzinfo=UTC)),
        (-86_400, datetime(1969, 12, 31, tzinfo=UTC)),
        ("1700000000", datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)),
        (99_999_999_999, None),
        (10**11, datetime(1973, 3, 3, 9, 46, 40, tzinfo=UTC)),
        (-(10**11), datetime(1966, 10, 31, 14, 13, 20, tzinfo=UTC)),
        ("-86400", datetime(1969, 12, 31, tzinfo=UTC)),
        ("1700000000.5", datetime(2023, 11, 14, 22, 13, 20, 500_000, tzinfo=UTC)),
        (1_700_000_000.25, datetime(2023, 11, 14, 22, 13, 20, 250_000, tzinfo=UTC)),
        (" 1700000000\n", datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)),
        ("20240501", datetime(2024, 5, 1, tzinfo=UTC)),
        ("123456789", datetime(1973, 11, 29, 21, 33, 9, tzinfo=UTC)),
        ("1900-01-01", datetime(1900, 1, 1, tzinfo=UTC)),
        ("2199-12-31T23:59:59.999999Z", datetime(2199, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)),
    ],
)
def test_a_time_is_read_in_every_form(
    given_value: object, expected: datetime | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Where the machine stands makes no difference.
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    if expected is None:
        with pytest.raises(InvalidInput):
            parse_instant(given_value)
    else:
        assert parse_instant(given_value) == expected
        assert parse_instant(given_value).tzinfo is UTC


@pytest.mark.parametrize(
    "value",
    [
        "", "yesterday", "2024-13-01", "1899-12-31T23:59:59Z", "2200-01-01", True, None, [],
        float("nan"), float("inf"), 10**30, "9" * 400, "1.2.3", "5-", "--5-",
    ],
)  # fmt: skip
def test_what_is_no_time_is_invalid(value: object) -> None:
    with pytest.raises(InvalidInput):
        parse_instant(value)


@given(MOMENTS, MOMENTS)
def test_fixed_width_forms_sort_as_time_does_and_come_back(one: datetime, other: datetime) -> None:
    assert (one < other) == (sortable(one) < sortable(other)) == (iso(one) < iso(other))
    assert from_microseconds(microseconds(one)) == from_iso(iso(one)) == one
    assert len(sortable(one)) == 16


def test_the_ends_of_time_have_the_same_width() -> None:
    assert len(sortable(EARLIEST)) == len(sortable(LATEST - timedelta(microseconds=1))) == 16


def test_iso_is_utc_whatever_the_zone() -> None:
    moment = datetime(2024, 5, 1, 14, tzinfo=timezone(timedelta(hours=2)))
    assert iso(moment) == "2024-05-01T12:00:00.000000Z"
