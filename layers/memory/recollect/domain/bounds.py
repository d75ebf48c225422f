"""Until when a value holds, as a clause says it: "until Friday", "for the next two weeks", "just for today" (P-24).

Days are UTC days. A named day or date means through its end; the instant is exclusive. "this week" ends on Sunday.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from types import MappingProxyType

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_COUNTED = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NUMBERS = MappingProxyType(
    {word: place for place, word in enumerate(_COUNTED)} | {"a": 1, "an": 1, "couple": 2, "few": 3}
)
_N = r"(?P<n>\d{1,3}|a|an|one|two|three|four|five|six|seven|eight|nine|ten|(?:a )?couple(?: of)?|(?:a )?few)"
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_UNTIL = r"(?:up to and including|until|till|til|'til|through|thru|up to|up until|ending|ends)"
_WEEKDAY = (
    r"(?P<weekday>mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:rs(?:day)?)?|fri(?:day)?|sat(?:urday)?|"
    r"sun(?:day)?)"
)  # fmt: skip
_END_OF = r"(?:the )?(?:very )?end of (?:the |this )?"
_PART = r"(?: ?(?:morning|noon|afternoon|evening|night|at noon|at midnight))?"
_BEHIND_UNIT = (
    r"\s{0,3}(?:\Z|[^\w\s]|(?:and|so|but|because|while|since|as|i|we|i'm|we're|my|our|the|he|she|it|they|there|only|at|in"
    r"|from|with|on|for|instead|please|to|too|due|until|though|thanks|no|not|or|then|just|by|off)\b)"
)
_JUST = r"(?:just |only |but only )?"


@dataclass(frozen=True, slots=True)
class Bound:
    """The exclusive end, and where in the text it is said; `names_end`: it says until when, not for how long."""

    until: datetime
    span: tuple[int, int]
    names_end: bool = True


def read_bound(text: str, at: datetime) -> Bound | None:
    """The first bound that a clause names, seen from `at` (with a zone); None without one, or for one that is past."""
    lowered, now = text.lower(), at.astimezone(UTC)
    found = [
        Bound(end, match.span(), re.match(_UNTIL, match.group()) is not None)
        for pattern, read in _PATTERNS
        for match in pattern.finditer(lowered)
        if (end := read(match, now)) is not None and end > now
    ]
    return min(found, key=lambda bound: (not bound.names_end, bound.span[0], -bound.span[1]), default=None)


def _through(day: date) -> datetime:
    return (
        datetime.combine(day + timedelta(days=1), time.min, UTC) if day < date.max else datetime.max.replace(tzinfo=UTC)
    )


def _weekday(match: re.Match[str], now: datetime) -> datetime:
    ahead = (_WEEKDAYS.index(match["weekday"][:3]) - now.weekday()) % 7
    if match.groupdict().get("next") and ahead + now.weekday() < 7:
        ahead += 7
    return _through(now.date() + timedelta(days=ahead))


def _month_end(year: int, month: int) -> datetime:
    return datetime(year + month // 12, month % 12 + 1, 1, tzinfo=UTC)


def _month_day(match: re.Match[str], now: datetime) -> datetime | None:
    month = _MONTHS.index(match["month"][:3]) + 1
    year = int(match["year"]) if match.groupdict().get("year") else now.year
    if not match.groupdict().get("year") and (month, int(match["day"])) < (now.month, now.day):
        year += 1
    return _day(year, month, int(match["day"]))


def _iso(match: re.Match[str], now: datetime) -> datetime | None:
    del now
    return _day(int(match["year"]), int(match["m"]), int(match["day"]))


def _ordinal(match: re.Match[str], now: datetime) -> datetime | None:
    wanted = int(match["day"])
    month = now.month + (wanted < now.day)
    return _day(now.year + (month > 12), (month - 1) % 12 + 1, wanted)


def _day(year: int, month: int, day: int) -> datetime | None:
    try:
        return _through(date(year, month, day))
    except ValueError:
        return None


def _month(match: re.Match[str], now: datetime) -> datetime:
    month = _MONTHS.index(match["month"][:3]) + 1
    year = int(match["year"]) if match.groupdict().get("year") else now.year + (month < now.month)
    # "until March" stops where March begins; "through March" and "the end of March" take it in.
    if match["how"] not in ("until", "till", "til") or match["end"]:
        return _month_end(year, month)
    start = datetime(year, month, 1, tzinfo=UTC)
    return start if start > now else _month_end(year, month)


def _unit(match: re.Match[str], now: datetime) -> datetime | None:
    unit = match["unit"]
    if unit in ("week", "weekend", "workweek"):
        sunday = now.date() + timedelta(days=6 - now.weekday())
        return _through(sunday + timedelta(days=7 * bool(match.groupdict().get("next"))))
    month = now.month + bool(match.groupdict().get("next")) if unit == "month" else _LAST_MONTHS[unit](now.month)
    year = now.year + (month > 12) + (unit == "year" and bool(match.groupdict().get("next")))
    return _month_end(year, (month - 1) % 12 + 1)


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


def _length(match: re.Match[str], now: datetime) -> datetime | None:
    count = match["n"].removeprefix("a ").removesuffix(" of")
    number = int(count) if count.isdigit() else _NUMBERS.get(count, 1)
    days = {"day": 1, "week": 7, "fortnight": 14, "month": 30.44, "year": 365.25}.get(match["unit"])
    if days is None:
        return now + timedelta(hours=number)
    if match["unit"] == "month":
        month = now.month - 1 + number
        return _day(now.year + month // 12, month % 12 + 1, min(now.day, 28))
    return now + timedelta(days=number * days)


def _event_day(match: re.Match[str], now: datetime) -> datetime | None:
    """Until payday on the 25th."""
    if match["ordinal"]:
        month = now.month + (int(match["ordinal"]) < now.day)
        return _day(now.year + (month > 12), (month - 1) % 12 + 1, int(match["ordinal"]))
    month = _MONTHS.index((match["month"] or match["month_"])[:3]) + 1
    day = int(match["day"] or match["day_"])
    return _day(now.year + ((month, day) < (now.month, now.day)), month, day)


def _feast(match: re.Match[str], now: datetime) -> datetime | None:
    def of(year: int) -> date:
        if match["feast"].startswith("easter"):
            return _easter(year)
        return date(year, 12, 25) if match["feast"] in ("christmas", "xmas") else date(year, 12, 31)

    this = of(now.year)
    return _through(this if this >= now.date() else of(now.year + 1))


def _easter(year: int) -> date:
    """Western Easter Sunday (the anonymous Gregorian computus)."""
    a, b, c = year % 19, year // 100, year % 100
    h = (19 * a + b - b // 4 - (b - (b + 8) // 25 + 1) // 3 + 15) % 30
    i = (32 + 2 * (b % 4) + 2 * (c // 4) - h - c % 4) % 7
    m = (a + 11 * h + 22 * i) // 451
    month, day = divmod(h + i - 7 * m + 114, 31)
    return date(year, month, day + 1)


def _today(match: re.Match[str], now: datetime) -> datetime:
    return _through(now.date() + timedelta(days="tomorrow" in match.group()))


_PATTERNS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], datetime], datetime | None]], ...] = tuple(
    (re.compile(rf"(?<!\w)(?:{pattern})(?!\w)"), read)
    for pattern, read in (
        (
            rf"{_UNTIL} (?:the end of )?(?:this |on |(?P<next>next )|this coming |the coming )?{_WEEKDAY}{_PART}",
            _weekday,
        ),
        (rf"{_UNTIL} (?:the end of )?(?:the )?{_MONTH} (?:the )?{_DAY}(?:,? (?P<year>\d{{4}}))?", _month_day),
        (rf"{_UNTIL} (?:the end of )?(?:the )?{_DAY}(?: of)? {_MONTH}(?:,? (?P<year>\d{{4}}))?", _month_day),
        (rf"{_UNTIL} (?P<year>\d{{4}})-(?P<m>\d{{2}})-(?P<day>\d{{2}})", _iso),
        (rf"{_UNTIL} the (?P<day>\d{{1,2}})(?:st|nd|rd|th)", _ordinal),
        (
            r"(?P<how>until|till|til|through|thru|the rest of|all of|throughout|during) "
            rf"(?P<end>{_END_OF})?(?:(?:early|mid|late|next)[ -])?"
            rf"{_MONTH}(?: (?P<year>\d{{4}}))?",
            _month,
        ),
        (
            rf"(?:(?:{_UNTIL} )?{_END_OF}(?P<next>next )?|{_UNTIL} "
            r"|for the rest of (?:the |this )?|the rest of (?:the |this )?"
            r"|(?:just |only )?for this |(?:just |only )?this |(?:just )?for the (?:remainder of the )?)"
            r"(?P<unit>week|weekend|workweek|month|year|quarter|spring|summer|fall|autumn|winter|semester|term)"
            rf"(?={_BEHIND_UNIT})",
            _unit,
        ),
        (rf"{_UNTIL} {_END_OF}(?P<next>next )?(?P<unit>week|weekend|month|year|quarter)", _unit),
        (rf"(?:{_UNTIL} )(?:(?P<next>next) )(?P<unit>week|month|year)", _unit),
        (
            rf"{_JUST}(?:for (?:the |about )?(?:next |coming |following |another )?"
            rf"|(?:over|during|within) the (?:next |coming |following )){_N} "
            r"(?:more )?(?P<unit>hour|day|week|fortnight|month|year)s?",
            _length,
        ),
        (r"(?:for|over|during) the next (?P<unit>week|fortnight|month|year)(?P<n>)", _length),
        (rf"(?:the )?next {_N} (?P<unit>hour|day|week|fortnight|month|year)s?", _length),
        (rf"{_UNTIL} (?:the end of )?(?:today|tonight|tomorrow|the day)(?: night| evening)?", _today),
        (
            rf"{_UNTIL} (?:\S{{1,30}} ){{1,7}}?on (?:the )?(?:{_DAY}(?: of)? {_MONTH}"
            rf"|{_MONTH.replace('month>', 'month_>')} "
            rf"(?:the )?{_DAY.replace('day>', 'day_>')}|(?P<ordinal>\d{{1,2}})(?:st|nd|rd|th))",
            _event_day,
        ),
        (rf"{_UNTIL} (?:after )?(?P<feast>easter|christmas|new year(?:'?s)?(?: day| eve)?|xmas)", _feast),
        (r"(?<!from )(?<!as of )(?<!since )(?<!starting )(?:today|tonight)(?=[.!?\s]{0,3}\Z)", _today),
        (r"(?:just |only |for )?(?:today|tonight) (?:and|&) tomorrow(?: night)?", _today),
        (r"(?:just|only) (?:for )?(?:today|tonight)|for today(?: only)?|today only|for the day", _today),
    )
)
