"""Dates named in a query, as ranges of time (R-19): relative phrases and written dates, in many languages."""

import re
from calendar import monthrange
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from recollect.domain.date_words import MONTHS, RELATIVE_PHRASES
from recollect.domain.instants import iso
from recollect.domain.phrases import fold, whole_word_positions

_SPACE = r"\s{1,8}"
_RELATIVE = re.compile(
    rf"(?<!\w)(?:(?:the{_SPACE})?(?P<before>day{_SPACE}before{_SPACE}yesterday)|(?P<day>today|yesterday)"
    rf"|(?P<which>last|this){_SPACE}(?P<unit>week|month|year)|(?:last|past){_SPACE}(?P<days>[0-9]{{1,4}}){_SPACE}days?)"
    r"(?!\w)",
    re.IGNORECASE,
)
# Which word is a month the table says: it would be long as an expression. Vowel signs are no `\w`.
_MONTH = r"(?P<month>[^\s\d.,;:!?()/_-]{2,20})\.?"
_DAY = r"(?P<day>[0-9]{1,2})(?:st|nd|rd|th|\.|º|er)?"
_YEAR = r"(?P<year>[0-9]{4})"
_OF = rf"(?:(?:of|de|del){_SPACE}|d['’])?"
_WRITTEN = (
    re.compile(rf"(?<![\w-]){_YEAR}-(?P<month>[0-9]{{2}})-(?P<day>[0-9]{{2}})(?![0-9-])"),
    re.compile(rf"(?<!\w){_MONTH}{_SPACE}{_DAY},?{_SPACE}{_YEAR}(?!\w)", re.IGNORECASE),
    re.compile(rf"(?<!\w){_DAY}{_SPACE}{_OF}{_MONTH},?{_SPACE}{_OF}{_YEAR}(?!\w)", re.IGNORECASE),
    re.compile(rf"(?<!\w){_YEAR}\.?{_SPACE}{_MONTH}{_SPACE}{_DAY}(?!\w)", re.IGNORECASE),
    re.compile(rf"(?<![\w.])(?P<day>[0-9]{{1,2}})\.(?P<month>[0-9]{{1,2}})\.{_YEAR}(?![\w])"),
    re.compile(rf"{_YEAR}[年년]\s?(?P<month>[0-9]{{1,2}})[月월]\s?(?P<day>[0-9]{{1,2}})[日일]"),
)
_DAYS_OF_LAST = {"week": 7, "month": 30, "year": 365}


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


@dataclass(frozen=True, slots=True)
class _Match:
    """A date and where the text names it, from and to."""

    start: int
    end: int
    range: TimeRange


def named_dates(text: str, now: datetime) -> tuple[NamedDate, ...]:
    """The dates that the text names, in its order. `now` carries a zone; days are UTC days.

    "last week" is the last 7 days to the instant (R-84), "last month" likewise 30 and "last year" 365; "this week" runs
    from Monday to Sunday, "this month" and "this year" as in the calendar. A date that does not exist is none, and what
    stands inside of a longer one is not named by itself. A month of a year is no date here: what happened in May is
    told in June, and a window of the month would hide it.
    """
    found = sorted(_matches(text, now.astimezone(UTC)), key=lambda match: (match.start, -match.end))
    named: list[NamedDate] = []
    reached = -1
    for match in found:
        if match.end > reached:
            named.append(NamedDate(text[match.start : match.end], match.range))
            reached = match.end
    return tuple(named)


def _matches(text: str, now: datetime) -> Iterator[_Match]:
    for match in _RELATIVE.finditer(text):
        yield _Match(match.start(), match.end(), _relative_range(match, now))
    yield from _said_elsewhere(text, now)
    for pattern in _WRITTEN:
        for match in pattern.finditer(text):
            day = _written_day(match)
            if day is not None:
                yield _Match(match.start(), match.end(), _days(day, day))


def _said_elsewhere(text: str, now: datetime) -> Iterator[_Match]:
    """Relative phrases of other languages mean what their English ones do."""
    folded = fold(text)
    said = [(start, phrase) for phrase in RELATIVE_PHRASES for start in whole_word_positions(folded, phrase)]
    place = [place for place, character in enumerate(text) for _ in fold(character)] if said else []
    for start, phrase in said:
        match = _RELATIVE.fullmatch(RELATIVE_PHRASES[phrase])
        if match is not None:
            yield _Match(place[start], place[start + len(phrase) - 1] + 1, _relative_range(match, now))


def _relative_range(match: re.Match[str], now: datetime) -> TimeRange:
    if match["before"]:
        day = now.date() - timedelta(days=2)
        return _days(day, day)
    if match["day"]:
        day = now.date() - timedelta(days=match["day"].lower() == "yesterday")
        return _days(day, day)
    if match["days"]:
        return TimeRange(now - timedelta(days=int(match["days"])), now)
    unit = match["unit"].lower()
    if match["which"].lower() == "last":
        return TimeRange(now - timedelta(days=_DAYS_OF_LAST[unit]), now)
    return _THIS[unit](now.date())


def _this_week(today: date) -> TimeRange:
    monday = today - timedelta(days=today.weekday())
    return _days(monday, monday + timedelta(days=6))


def _this_month(today: date) -> TimeRange:
    return _days(today.replace(day=1), today.replace(day=monthrange(today.year, today.month)[1]))


def _this_year(today: date) -> TimeRange:
    return _days(today.replace(month=1, day=1), today.replace(month=12, day=31))


_THIS = {"week": _this_week, "month": _this_month, "year": _this_year}


def _written_day(match: re.Match[str]) -> date | None:
    month = fold(match["month"])
    number = int(month) if month.isdecimal() else MONTHS.get(month, 0)
    try:
        return date(int(match["year"]), number, int(match["day"]))
    except ValueError:
        return None


def _days(first: date, last: date) -> TimeRange:
    return TimeRange(datetime.combine(first, time.min, UTC), datetime.combine(last, time.max, UTC))
