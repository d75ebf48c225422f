"""Dates named in a query, as ranges of time (R-19): relative phrases and written dates, in many languages."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from recollect.domain.date_words import MONTHS, RELATIVE_PHRASES
from recollect.domain.instants import iso
from recollect.domain.phrases import fold, whole_word_positions

_SPACE = r"\s{1,8}"
_RELATIVE = re.compile(
    rf"(?<!\w)(?:(?P<day>today|yesterday)|(?P<which>last|this){_SPACE}(?P<unit>week|month)"
    rf"|(?:last|past){_SPACE}(?P<days>[0-9]{{1,4}}){_SPACE}days?)(?!\w)",
    re.IGNORECASE,
)
_MONTH = r"(?P<month>[^\W\d_]{3,12})\.?"  # which word is a month the table says: it would be long as an expression
_DAY = r"(?P<day>[0-9]{1,2})(?:st|nd|rd|th|\.|º|er)?"
_WRITTEN = (
    re.compile(r"(?<![\w-])(?P<year>[0-9]{4})-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})(?![0-9-])"),
    re.compile(rf"(?<!\w){_MONTH}{_SPACE}{_DAY},?{_SPACE}(?P<year>[0-9]{{4}})(?!\w)", re.IGNORECASE),
    re.compile(
        rf"(?<!\w){_DAY}{_SPACE}(?:(?:of|de){_SPACE})?{_MONTH},?{_SPACE}(?:de{_SPACE})?(?P<year>[0-9]{{4}})(?!\w)",
        re.IGNORECASE,
    ),
    re.compile(r"(?<![\w.])(?P<day>[0-9]{1,2})\.(?P<month>[0-9]{1,2})\.(?P<year>[0-9]{4})(?![\w])"),
    re.compile(r"(?P<year>[0-9]{4})年(?P<month>[0-9]{1,2})月(?P<day>[0-9]{1,2})日"),
)
_DAYS_OF_LAST = {"week": 7, "month": 30}


@dataclass(frozen=True, slots=True)
class TimeRange:
    """Two instants in UTC, both inclusive."""

    start: datetime
    end: datetime

    def __str__(self) -> str:
        """`from/to` in ISO 8601, such as 2023-05-07T00:00:00.000000Z/2023-05-07T23:59:59.999999Z."""
        return f"{iso(self.start)}/{iso(self.end)}"


@dataclass(frozen=True, slots=True)
class NamedDate:
    """A date as the text names it, and the time that it means."""

    text: str
    range: TimeRange


def named_dates(text: str, now: datetime) -> tuple[NamedDate, ...]:
    """The dates that the text names, in its order. `now` carries a zone; days are UTC days.

    "last week" is the last 7 days to the instant (R-84), "last month" likewise 30; "this week" runs from Monday to
    Sunday, "this month" over the calendar month. A date that does not exist is none.
    """
    found = sorted(_matches(text, now.astimezone(UTC)), key=lambda match: match[0])
    return tuple(named for _, named in found)


def _matches(text: str, now: datetime) -> Iterator[tuple[int, NamedDate]]:
    for match in _RELATIVE.finditer(text):
        yield match.start(), NamedDate(match.group(), _relative_range(match, now))
    yield from _said_elsewhere(text, now)
    for pattern in _WRITTEN:
        for match in pattern.finditer(text):
            day = _written_day(match)
            if day is not None:
                yield match.start(), NamedDate(match.group(), _days(day, day))


def _said_elsewhere(text: str, now: datetime) -> Iterator[tuple[int, NamedDate]]:
    """Relative phrases of other languages mean what their English ones do."""
    folded = fold(text)
    for phrase, meaning in RELATIVE_PHRASES.items():
        for start in whole_word_positions(folded, phrase):
            said = text[start : start + len(phrase)] if len(folded) == len(text) else phrase
            match = _RELATIVE.fullmatch(meaning)
            if match is not None:
                yield start, NamedDate(said, _relative_range(match, now))


def _relative_range(match: re.Match[str], now: datetime) -> TimeRange:
    if match["day"]:
        day = now.date() - timedelta(days=match["day"].lower() == "yesterday")
        return _days(day, day)
    if match["days"]:
        return TimeRange(now - timedelta(days=int(match["days"])), now)
    unit = match["unit"].lower()
    if match["which"].lower() == "last":
        return TimeRange(now - timedelta(days=_DAYS_OF_LAST[unit]), now)
    return _this_week(now.date()) if unit == "week" else _this_month(now.date())


def _this_week(today: date) -> TimeRange:
    monday = today - timedelta(days=today.weekday())
    return _days(monday, monday + timedelta(days=6))


def _this_month(today: date) -> TimeRange:
    first = today.replace(day=1)
    in_next_month = first + timedelta(days=31)
    return _days(first, in_next_month - timedelta(days=in_next_month.day))


def _written_day(match: re.Match[str]) -> date | None:
    month = match["month"].casefold()
    number = int(month) if month.isdigit() else MONTHS.get(month, 0)
    try:
        return date(int(match["year"]), number, int(match["day"]))
    except ValueError:
        return None


def _days(first: date, last: date) -> TimeRange:
    return TimeRange(datetime.combine(first, time.min, UTC), datetime.combine(last, time.max, UTC))
