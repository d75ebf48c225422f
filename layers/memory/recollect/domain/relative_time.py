"""How long ago, and on which day, as a person would say it (K-54 to K-58)."""

from datetime import UTC, datetime, timedelta

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MINUTE = timedelta(minutes=1)
_HOUR = timedelta(hours=1)
_DAY = timedelta(days=1)
_WEEK = timedelta(days=7)


def time_ago(then: datetime, now: datetime) -> str:
    """`just now`, `{n} minutes ago`, `{n} hours ago`, `{n} days ago`, and from seven days on `MMM d` in UTC.

    Both times carry a zone. Numbers are truncated and the plural is fixed ("1 minutes ago"); a time to come is
    `just now`. Presentation only: nothing is ranked or chosen by it (K-101).
    """
    elapsed = now - then
    if elapsed < _MINUTE:
        return "just now"
    if elapsed < _HOUR:
        return f"{elapsed // _MINUTE} minutes ago"
    if elapsed < _DAY:
        return f"{elapsed // _HOUR} hours ago"
    if elapsed < _WEEK:
        return f"{elapsed // _DAY} days ago"
    return _month_and_day(then.astimezone(UTC))


def day_of(then: datetime, now: datetime) -> str:
    """`Mon May 6`, in UTC; with the year, `Mon May 6, 2024`, where it is not the year of `now`."""
    day, today = then.astimezone(UTC), now.astimezone(UTC)
    year = "" if day.year == today.year else f", {day.year}"
    return f"{_WEEKDAYS[day.weekday()]} {_month_and_day(day)}{year}"


def minute_of(then: datetime, now: datetime) -> str:
    """`day_of` with the time of day: `Mon May 6, 09:30`."""
    return f"{day_of(then, now)}, {then.astimezone(UTC):%H:%M}"


def instant_of(now: datetime) -> str:
    """An instant in full, as a model is told what time it is: `Mon May 6, 2024, 09:30 UTC`."""
    day = now.astimezone(UTC)
    return f"{_WEEKDAYS[day.weekday()]} {_month_and_day(day)}, {day.year}, {day:%H:%M} UTC"


def _month_and_day(day: datetime) -> str:
    # strftime would follow the locale, and has no portable day without padding.
    return f"{_MONTHS[day.month - 1]} {day.day}"
