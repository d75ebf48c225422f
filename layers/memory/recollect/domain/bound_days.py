"""Instants at which a bound ends, by what a pattern of `bounds` found: a named day, a month, a unit, a length (P-24).

Days are UTC days. Each reader is given a match of named groups and the instant it is seen from, in UTC; it returns the
exclusive end, or None where there is no such day.
"""

import re
from collections.abc import Callable, Mapping
from datetime import MAXYEAR, MINYEAR, UTC, date, datetime, time, timedelta
from types import MappingProxyType

Reader = Callable[[re.Match[str], datetime], datetime | None]

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_COUNTED = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_NUMBERS = MappingProxyType(
    {word: place for place, word in enumerate(_COUNTED)}
    | {"a": 1, "an": 1, "couple": 2, "few": 3, "several": 5, "half a": 0.5, "half an": 0.5}
)
_PLACES = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_DAYS_OF = MappingProxyType(
    {"day": 1, "night": 1, "week": 7, "weekend": 7, "fortnight": 14, "month": 30.44, "quarter": 91, "year": 365.25}
)
_SHORT = MappingProxyType({"wk": "week", "mth": "month", "yr": "year"})
_SUNDAY = 6
_LAST_SAFE_DAY = 28
_LENGTH_OF_WEEK = 7


def through(day: date) -> datetime:
    """The end of that day."""
    return (
        datetime.combine(day + timedelta(days=1), time.min, UTC) if day < date.max else datetime.max.replace(tzinfo=UTC)
    )


def weekday(match: re.Match[str], now: datetime) -> datetime:
    """The next such day, today too; "next Friday" is of next week, "Friday week" a week on."""
    said, place = match.groupdict(), WEEKDAYS.index(match["weekday"][:3])
    ahead = (place - now.weekday()) % _LENGTH_OF_WEEK
    if said.get("in_next"):
        ahead = place - now.weekday() + _LENGTH_OF_WEEK
    elif said.get("week_on") or (said.get("next") and ahead + now.weekday() < _LENGTH_OF_WEEK):
        ahead += _LENGTH_OF_WEEK
    return through(now.date() + timedelta(days=ahead))


def month_end(year: int, month: int) -> datetime | None:
    """The end of a month; None where the calendar has none."""
    return _first(year + month // 12, month % 12 + 1)


def _first(year: int, month: int) -> datetime | None:
    return datetime(year, month, 1, tzinfo=UTC) if MINYEAR <= year <= MAXYEAR else None


def month_day(match: re.Match[str], now: datetime) -> datetime | None:
    """3 May, of this year or the next."""
    month, said = MONTHS.index(match["month"][:3]) + 1, match.groupdict().get("year")
    number = _place(match["day"])
    year = int(said) if said else now.year + ((month, number) < (now.month, now.day))
    return _day(year, month, number)


def iso_day(match: re.Match[str], now: datetime) -> datetime | None:
    """2026-05-03."""
    del now
    return _day(int(match["year"]), int(match["m"]), int(match["day"]))


def numbered_day(match: re.Match[str], now: datetime) -> datetime | None:
    """15/9 or 9/15; 1.9. is the first of September, and nobody can tell of 1/9."""
    one, two = int(match["one"]), int(match["two"])
    if match["dot"] == "/" and one <= len(MONTHS) and two <= len(MONTHS) and one != two:
        return None
    number, month = (two, one) if two > len(MONTHS) else (one, two)
    year = match["year"]
    if year:
        return _day(int(year) + (2000 if len(year) == 2 else 0), month, number)
    return _day(now.year + ((month, number) < (now.month, now.day)), month, number)


def ordinal(match: re.Match[str], now: datetime) -> datetime | None:
    """The 3rd, of this month or the next."""
    number = _place(match["day"])
    month = now.month + bool(match.groupdict().get("in_next") or number < now.day)
    return _day(now.year + (month > 12), (month - 1) % 12 + 1, number)


def whole_month(match: re.Match[str], now: datetime) -> datetime | None:
    """Until March stops where March begins; through March, and the end of March, take it in."""
    month = MONTHS.index(match["month"][:3]) + 1
    year = int(match["year"]) if match.groupdict().get("year") else now.year + (month < now.month)
    part = _PARTS.get(match.groupdict().get("part") or "")
    if part is not None:
        return _day(year, month, part)
    if match["how"] not in ("until", "till", "til", "'til") or match["end"] or match.groupdict().get("part") == "late":
        return month_end(year, month)
    start = _first(year, month)
    return start if start is not None and start > now else month_end(year, month)


_PARTS = MappingProxyType({"early": 10, "mid": 15})


def week_of_month(match: re.Match[str], now: datetime) -> datetime | None:
    """The second week of June."""
    month = MONTHS.index(match["month"][:3]) + 1
    number = min(_LENGTH_OF_WEEK * _place(match["day"]), _LAST_SAFE_DAY)
    return _day(now.year + ((month, number) < (now.month, now.day)), month, number)


def unit(match: re.Match[str], now: datetime) -> datetime | None:
    """The end of this week, month, summer, or of the next."""
    word, following = match["unit"], bool(match.groupdict().get("next"))
    if word in ("week", "weekend", "workweek"):
        sunday = now.date() + timedelta(days=_SUNDAY - now.weekday())
        return through(sunday + timedelta(days=_LENGTH_OF_WEEK * following))
    month = now.month + following if word == "month" else _LAST_MONTHS[word](now.month)
    year = now.year + (month > 12) + (word == "year" and following)
    return month_end(year, (month - 1) % 12 + 1)


_LAST_MONTHS: Mapping[str, Callable[[int], int]] = {
    "year": lambda _: 12,
    "quarter": lambda month: (month + 2) // 3 * 3,
    "spring": lambda _: 5,
    "summer": lambda _: 8,
    "fall": lambda _: 11,
    "autumn": lambda _: 11,
    "winter": lambda month: 2 if month <= 2 else 14,
    "semester": lambda month: 6 if month <= 6 else 12,
    "term": lambda month: 6 if month <= 6 else 12,
}


def quarter(match: re.Match[str], now: datetime) -> datetime | None:
    """The end of Q3."""
    month = 3 * int(match["quarter"])
    return month_end(now.year + (month < now.month), month)


def length(match: re.Match[str], now: datetime) -> datetime | None:
    """So many days, weeks, months from now; of "six to eight" the eight, of "a week or two" the two."""
    number, said = counted(match["n"]), match.groupdict()
    number += bool(said.get("more_or_less")) + (0.5 if said.get("half") else 0)
    word = _SHORT.get(match["unit"], match["unit"])
    if word == "month" and number >= 1:
        month = now.month - 1 + int(number)
        end = _day(now.year + month // 12, month % 12 + 1, min(now.day, _LAST_SAFE_DAY))
        return end and end + timedelta(days=15 * (number % 1 > 0))
    days = _DAYS_OF.get(word)
    return now + (timedelta(hours=number) if days is None else timedelta(days=number * days))


def counted(words: str) -> float:
    """The number that such words say; 1 for those that say none."""
    word = words.removeprefix("a ").removesuffix(" of") if "couple" in words or "few" in words else words
    return int(word) if word.isdigit() else _NUMBERS.get(word, 1)


def feast(match: re.Match[str], now: datetime) -> datetime | None:
    """Easter, Halloween: this year's, or where that is past the next one."""
    name = match["feast"].replace("'", "")
    this = _feast_day(name, now.year)
    return through(this if this >= now.date() else _feast_day(name, now.year + 1))


def _feast_day(name: str, year: int) -> date:
    if name.startswith("easter"):
        return _easter(year)
    if name == "thanksgiving":
        return date(year, 11, 22 + (3 - date(year, 11, 22).weekday()) % _LENGTH_OF_WEEK)
    return next((date(year, *day) for begins, day in _FEASTS.items() if name.startswith(begins)), date(year, 12, 31))


_FEASTS: Mapping[str, tuple[int, int]] = {
    "christmas eve": (12, 24),
    "christmas": (12, 25),
    "xmas": (12, 25),
    "boxing": (12, 26),
    "halloween": (10, 31),
    "valentine": (2, 14),
    "st patrick": (3, 17),
}


def _easter(year: int) -> date:
    """Western Easter Sunday (the anonymous Gregorian computus)."""
    a, b, c = year % 19, year // 100, year % 100
    h = (19 * a + b - b // 4 - (b - (b + 8) // 25 + 1) // 3 + 15) % 30
    i = (32 + 2 * (b % 4) + 2 * (c // 4) - h - c % 4) % 7
    m = (a + 11 * h + 22 * i) // 451
    month, day = divmod(h + i - 7 * m + 114, 31)
    return date(year, month, day + 1)


def today(match: re.Match[str], now: datetime) -> datetime:
    """The end of today, of tomorrow, of the day after."""
    words = match.group()
    return through(now.date() + timedelta(days=("tomorrow" in words) + ("day after" in words)))


def hour(match: re.Match[str], now: datetime) -> datetime | None:
    """Until half five, until 10pm: the next such hour."""
    said = _CLOCK.search(match.group())
    if said is None:
        return through(now.date())
    start = now.replace(hour=0, minute=0, second=0, microsecond=0)
    ends = [start + timedelta(hours=one) for one in _hours(said)]
    return min((end for end in (*ends, *(end + timedelta(days=1) for end in ends)) if end > now), default=None)


def at_hour(words: str, day_end: datetime) -> datetime:
    """The hour of that day, where the words say one that can only be meant once; else the end of the day."""
    said = _CLOCK.search(words)
    hours = _hours(said) if said is not None else []
    return day_end - timedelta(days=1) + timedelta(hours=hours[0]) if len(hours) == 1 else day_end


def _hours(said: re.Match[str]) -> list[float]:
    """The hours of a day that may be meant."""
    if said["named"]:
        return [_NAMED_HOURS[said["named"]]]
    number = counted(said["hour"]) + int(said["minute"] or 0) / 60 + _SHIFTS.get((said["shift"] or "").strip(), 0)
    if number > 24:
        return []
    if said["half"]:
        return [number % 12 + 12 * (said["half"] == "p")]
    return [number] if number >= 13 or (said["minute"] and said["hour"].startswith("0")) else [number, number + 12]


_CLOCK = re.compile(
    r"\b(?:(?P<named>noon|midday|lunch(?:time)?|dinner(?:time)?|bedtime|midnight)"
    r"|(?P<shift>(?:half|quarter)(?: past| to)? )?(?P<hour>\d{1,2}|one|two|three|four|five|six|seven|eight|nine|ten"
    r"|eleven|twelve)"
    r"(?:[:.](?P<minute>\d\d))?(?: ?(?P<half>[ap])\.?m\b| ?o'clock|(?=,? on\b)|(?<=:\d\d)|\Z))"
)
_NAMED_HOURS = {"noon": 12, "midday": 12, "lunch": 14, "lunchtime": 14, "dinner": 20, "dinnertime": 20, "bedtime": 23}
_NAMED_HOURS["midnight"] = 24
_SHIFTS = {"half": 0.5, "half past": 0.5, "quarter past": 0.25, "quarter to": -0.25}


def _place(words: str) -> int:
    return int(words) if words.isdigit() else _PLACES.index(words) + 1


def _day(year: int, month: int, day: int) -> datetime | None:
    try:
        return through(date(year, month, day))
    except ValueError:
        return None
