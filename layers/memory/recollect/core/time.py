"""Instants: UTC, microseconds, between the years 1900 and 2200; their text and their fixed-width form for keys."""

from datetime import UTC, datetime, timedelta
from typing import Final

from recollect.core.errors import InvalidInput

EARLIEST = datetime(1900, 1, 1, tzinfo=UTC)
LATEST = datetime(2200, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_MILLISECONDS_FROM = 10**11

MONTHS: Final = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


def utc_now() -> datetime:
    return datetime.now(UTC)


def parse_instant(value: object) -> datetime:
    """A client's time: ISO 8601, epoch seconds, or milliseconds from 10^11 up; without a zone it is UTC.

    Raises InvalidInput for any other value and outside of 1900 to 2199.
    """
    try:
        moment = _from_number(value) if isinstance(value, int | float) else _from_text(value)
        moment = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise InvalidInput("not a time: ISO 8601, epoch seconds or milliseconds") from error
    if not EARLIEST <= moment < LATEST:
        raise InvalidInput("a time must lie in the years 1900 to 2199")
    return moment


def _from_number(value: float) -> datetime:
    if isinstance(value, bool):
        raise ValueError("a truth value is no time")
    if abs(value) >= _MILLISECONDS_FROM:
        return datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=value)
    return datetime.fromtimestamp(0, UTC) + timedelta(seconds=value)


def _from_text(value: object) -> datetime:
    if not isinstance(value, str):
        raise ValueError("a time is text or a number")
    text = value.strip()
    if text.lstrip("-").replace(".", "", 1).isdecimal() and not (len(text) == 8 and text.isdecimal()):
        return _from_number(float(text))
    return datetime.fromisoformat(text)


def iso(moment: datetime) -> str:
    """The public form, `2024-05-01T12:00:00.000000Z`: of fixed width, so that text sorts as time does."""
    return f"{moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='microseconds')}Z"


def from_iso(text: str) -> datetime:
    return datetime.fromisoformat(text)


def microseconds(moment: datetime) -> int:
    """Microseconds since 1900: never negative, so that it sorts as a fixed-width number."""
    return (moment - EARLIEST) // _MICROSECOND


def from_microseconds(count: int) -> datetime:
    return EARLIEST + timedelta(microseconds=count)


def sortable(moment: datetime) -> str:
    """16 digits that sort as time does, for keys."""
    return f"{microseconds(moment):016d}"


def written_day(day: datetime) -> str:
    """`8 May 2023`, whatever the locale."""
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"
