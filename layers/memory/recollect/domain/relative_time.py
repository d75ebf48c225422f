"""How long ago, as a person would say it (K-54 to K-58)."""

from datetime import UTC, datetime, timedelta

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
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


def _month_and_day(day: datetime) -> str:
    # strftime would follow the locale, and has no portable day without padding.
    return f"{_MONTHS[day.month - 1]} {day.day}"
