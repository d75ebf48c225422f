"""Dates in texts: those that a query names (R-19), hints of when something was said, and the form shown (K-54 to K-58).

`date_words.json` has the words of many languages, made of dateparser's tables (`make docs`) without words that have
another meaning in another language at least as often. `_MORE_PHRASES` adds forms that the tables lack: other cases of a
noun, and shorter ones. English relative phrases have a pattern of their own, since they take numbers.
"""

import json
import re
from calendar import monthrange
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any

from recollect.core.time import iso
from recollect.text.phrases import fold, whole_word_positions

DATE_WORDS: Mapping[str, Any] = json.loads(Path(__file__).with_name("date_words.json").read_text(encoding="utf-8"))
_MORE_PHRASES = {
    "last week": """
        letzter woche | vergangene woche | semana pasada | última semana | semaine dernière | semaine passée
        | scorsa settimana | прошлой неделе | прошлую неделю | прошлая неделя | 上週 | 上星期 | 지난 주
        | पिछले हफ्ते | पिछले सप्ताह
    """,
    "last month": """
        letzter monat | vergangenen monat | mes pasado | último mes | mois dernier | mois passé | scorso mese
        | прошлом месяце | прошлый месяц | 上個月 | 지난 달 | पिछले महीने
    """,
    "last year": """
        letzten jahr | vergangenes jahr | año pasado | año anterior | année dernière | an dernier | scorso anno
        | прошлом году | прошлый год | 지난해 | 지난 해 | 上一年
    """,
    "this week": "dieser woche | этой неделе | эту неделю | 本週 | 这周 | 這週 | 이번주 | इस हफ्ते",
    "this month": "diesem monat | ce mois | этом месяце | этот месяц | 这个月 | 這個月 | 이번달 | इस महीने",
    "this year": "diesem jahr | этом году | этот год | 本年 | 이번 해",
}

MONTHS: Mapping[str, int] = MappingProxyType(
    {name: number for number, names in enumerate(DATE_WORDS["months"], start=1) for name in names}
)
"""Folded names of months, each with its number, 1 to 12."""

SPACE = r"\s{1,8}"
_RELATIVE = re.compile(
    rf"(?<!\w)(?:(?:the{SPACE})?(?P<before>day{SPACE}before{SPACE}yesterday)|(?P<day>today|yesterday)"
    rf"|(?P<which>last|this){SPACE}(?P<unit>week|month|year)|(?:last|past){SPACE}(?P<days>[0-9]{{1,4}}){SPACE}days?)"
    r"(?!\w)",
    re.IGNORECASE,
)
# `MONTHS` decides which word is a month: an expression of all of them would be long. Vowel signs are no `\w`.
MONTH = r"(?P<month>[^\s\d.,;:!?()/_-]{2,20})\.?"
DAY = r"(?P<day>[0-9]{1,2})(?:st|nd|rd|th|\.|º|er)?"
YEAR = r"(?P<year>[0-9]{4})"
OF = rf"(?:(?:of|de|del){SPACE}|d['’])?"
_WRITTEN = (
    re.compile(rf"(?<![\w-]){YEAR}-(?P<month>[0-9]{{2}})-(?P<day>[0-9]{{2}})(?![0-9-])"),
    re.compile(rf"(?<!\w){MONTH}{SPACE}{DAY},?{SPACE}{YEAR}(?!\w)", re.IGNORECASE),
    re.compile(rf"(?<!\w){DAY}{SPACE}{OF}{MONTH},?{SPACE}{OF}{YEAR}(?!\w)", re.IGNORECASE),
    re.compile(rf"(?<!\w){YEAR}\.?{SPACE}{MONTH}{SPACE}{DAY}(?!\w)", re.IGNORECASE),
    re.compile(rf"(?<![\w.])(?P<day>[0-9]{{1,2}})\.(?P<month>[0-9]{{1,2}})\.{YEAR}(?![\w])"),
    re.compile(rf"{YEAR}[年년]\s?(?P<month>[0-9]{{1,2}})[月월]\s?(?P<day>[0-9]{{1,2}})[日일]"),
)
_DAYS_OF_LAST = {"week": 7, "month": 30, "year": 365}

_HINTED_MONTH = (
    r"(?P<month>Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?"
    r"|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\.?(?!\w)"
)
_HINTED_DAY = r"(?P<day>[0-9]{1,2})(?:st|nd|rd|th)?(?![\w:])"
_HINTED_YEAR = r"(?P<year>(?:19|20)[0-9]{2})(?!\w)"
_GAP = r"[\s,]{1,3}"
_BEFORE_A_MONTH = r"(?<!\w)(?:in|of|on|by|since|until|before|after|during|early|late|mid|last|this|next)[\s-]{1,3}"
# The first pattern that fits a place takes it: the narrower ones stand first.
_PATTERNS = tuple(
    re.compile(pattern)
    for pattern in (
        r"(?<![\w-])(?P<year>[0-9]{4})-(?P<month>[0-9]{2})(?:-(?P<day>[0-9]{2}))?(?![0-9-])",
        r"(?:(?P<year>[0-9]{4})\s?年\s?)?(?P<month>[0-9]{1,2})\s?月(?:\s?(?P<day>[0-9]{1,2})\s?[日号號])?",
        rf"(?<![\w:.]){_HINTED_DAY}\s{{1,3}}(?:of\s{{1,3}})?{_HINTED_MONTH}(?:{_GAP}{_HINTED_YEAR})?",
        rf"(?<!\w){_HINTED_MONTH}\s{{1,3}}{_HINTED_DAY}(?:{_GAP}{_HINTED_YEAR})?",
        rf"(?<!\w){_HINTED_MONTH}{_GAP}{_HINTED_YEAR}",
        # A month alone, after a word that times follow: "May" and "March" begin sentences, too.
        rf"{_BEFORE_A_MONTH}{_HINTED_MONTH}",
        rf"(?<![\w.-]){_HINTED_YEAR}(?!-|\s?年)|(?P<other_year>[0-9]{{4}})\s?年",
    )
)

_SHORT_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MINUTE = timedelta(minutes=1)
_HOUR = timedelta(hours=1)
_ONE_DAY = timedelta(days=1)
_WEEK = timedelta(days=7)


def _relative() -> Iterator[tuple[str, str]]:
    for meaning, phrases in DATE_WORDS["relative"].items():
        yield from ((phrase, meaning) for phrase in phrases)
    for meaning, text in _MORE_PHRASES.items():
        yield from ((" ".join(phrase.split()), meaning) for phrase in text.split("|"))


RELATIVE_PHRASES: Mapping[str, str] = MappingProxyType(dict(_relative()))
"""Folded phrases (`phrases.fold`), each with the English one of the same meaning."""


@dataclass(frozen=True, slots=True)
class TimeRange:
    """Two instants in UTC, both inclusive."""

    start: datetime
    end: datetime

    def __str__(self) -> str:
        """`from/to` in ISO 8601: 2023-05-07T00:00:00.000000Z/2023-05-07T23:59:59.999999Z."""
        return f"{iso(self.start)}/{iso(self.end)}"


@dataclass(frozen=True, slots=True)
class NamedDate:
    """A date as the text names it, and the range of time that it means."""

    text: str
    range: TimeRange


def named_dates(text: str, now: datetime) -> tuple[NamedDate, ...]:
    """The dates that the text names, in its order. `now` carries a zone; days are UTC days.

    "last week" is the last 7 days to the instant (R-84), "last month" likewise 30 and "last year" 365; "this week" runs
    from Monday to Sunday, "this month" and "this year" as in the calendar. Impossible dates and dates inside of a
    longer one do not count. Nor does a month of a year: people report in June what happened in May, and a window of the
    month would hide that.
    """
    found = sorted(_matches(text, now.astimezone(UTC)), key=lambda match: (match[0], -match[1]))
    named: list[NamedDate] = []
    reached = -1
    for start, end, meant in found:
        if end > reached:
            named.append(NamedDate(text[start:end], meant))
            reached = end
    return tuple(named)


def _matches(text: str, now: datetime) -> Iterator[tuple[int, int, TimeRange]]:
    """Where each match begins and ends, and what it means."""
    for match in _RELATIVE.finditer(text):
        yield *match.span(), _relative_range(match, now)
    yield from _in_other_languages(text, now)
    for match in chain.from_iterable(pattern.finditer(text) for pattern in _WRITTEN):
        day = _written_day(match)
        if day is not None:
            yield *match.span(), _days(day, day)


def _in_other_languages(text: str, now: datetime) -> Iterator[tuple[int, int, TimeRange]]:
    folded = fold(text)
    said = [(start, phrase) for phrase in RELATIVE_PHRASES for start in whole_word_positions(folded, phrase)]
    place = [place for place, character in enumerate(text) for _ in fold(character)] if said else []
    for start, phrase in said:
        match = _RELATIVE.fullmatch(RELATIVE_PHRASES[phrase])
        if match is not None:
            yield place[start], place[start + len(phrase) - 1] + 1, _relative_range(match, now)


def _relative_range(match: re.Match[str], now: datetime) -> TimeRange:
    if match["before"] or match["day"]:
        day = now.date() - timedelta(days=2 if match["before"] else match["day"].lower() == "yesterday")
        return _days(day, day)
    if match["days"]:
        return TimeRange(now - timedelta(days=int(match["days"])), now)
    unit = match["unit"].lower()
    if match["which"].lower() == "last":
        return TimeRange(now - timedelta(days=_DAYS_OF_LAST[unit]), now)
    return _of_calendar(unit, now.date())


def _of_calendar(unit: str, today: date) -> TimeRange:
    if unit == "week":
        monday = today - timedelta(days=today.weekday())
        return _days(monday, monday + timedelta(days=6))
    if unit == "month":
        return _days(today.replace(day=1), today.replace(day=monthrange(today.year, today.month)[1]))
    return _days(today.replace(month=1, day=1), today.replace(month=12, day=31))


def _written_day(match: re.Match[str]) -> date | None:
    month = fold(match["month"])
    number = int(month) if month.isdecimal() else MONTHS.get(month, 0)
    try:
        return date(int(match["year"]), number, int(match["day"]))
    except ValueError:
        return None


def _days(first: date, last: date) -> TimeRange:
    return TimeRange(datetime.combine(first, time.min, UTC), datetime.combine(last, time.max, UTC))


@dataclass(frozen=True, slots=True)
class DateHint:
    """A date as far as the text names it; the rest is None. A month without a year is that month of any year."""

    year: int | None = None
    month: int | None = None
    day: int | None = None

    @property
    def weight(self) -> float:
        """How precise it is: 1 for a day, 0.5 for a month, 0.25 for a year."""
        return 1.0 if self.day else 0.5 if self.month else 0.25

    def holds(self, moment: datetime) -> bool:
        """Whether the moment lies in it, by the UTC calendar."""
        named = ((self.year, moment.year), (self.month, moment.month), (self.day, moment.day))
        return all(own is None or own == other for own, other in named)


def date_hints(text: str) -> tuple[DateHint, ...]:
    """The dates of the text as hints, which only lift what fits them; filters over dates are `named_dates`.

    Each day adds its month: people report a day's events around that day.
    """
    found = dict.fromkeys(hint for hint in _named(text))
    months = dict.fromkeys(DateHint(hint.year, hint.month) for hint in found if hint.day)
    return tuple(found | months)


def _named(text: str) -> Iterator[DateHint]:
    for pattern in _PATTERNS:
        rest = []
        end = 0
        for match in pattern.finditer(text):
            hint = _hint(match.groupdict())
            if hint is not None:
                yield hint
                rest.append(text[end : match.start()])
                end = match.end()
        text = " ; ".join([*rest, text[end:]])


def _hint(parts: dict[str, str | None]) -> DateHint | None:
    year, month, day = parts.get("year") or parts.get("other_year"), parts.get("month"), parts.get("day")
    number = None if month is None else int(month) if month.isdecimal() else _SHORT_MONTHS.index(month[:3]) + 1
    hint = DateHint(int(year) if year else None, number, int(day) if day else None)
    fits = (hint.month is None or 1 <= hint.month <= 12) and (hint.day is None or 1 <= hint.day <= 31)
    return hint if fits else None


def time_ago(then: datetime, now: datetime) -> str:
    """`just now`, `{n} minutes ago`, `{n} hours ago`, `{n} days ago`; from seven days on `MMM d` in UTC.

    Both times carry a zone. Numbers are truncated and the plural is fixed ("1 minutes ago"); a future time is
    `just now`. For presentation only: no ranking or choice uses it (K-101).
    """
    elapsed = now - then
    if elapsed < _MINUTE:
        return "just now"
    if elapsed < _HOUR:
        return f"{elapsed // _MINUTE} minutes ago"
    if elapsed < _ONE_DAY:
        return f"{elapsed // _HOUR} hours ago"
    if elapsed < _WEEK:
        return f"{elapsed // _ONE_DAY} days ago"
    return _month_and_day(then.astimezone(UTC))


def day_of(then: datetime, now: datetime) -> str:
    """`Mon May 6`, in UTC; `Mon May 6, 2024` in another year than that of `now`."""
    day, today = then.astimezone(UTC), now.astimezone(UTC)
    year = "" if day.year == today.year else f", {day.year}"
    return f"{_WEEKDAYS[day.weekday()]} {_month_and_day(day)}{year}"


def minute_of(then: datetime, now: datetime) -> str:
    """`day_of` with the time of day: `Mon May 6, 09:30`."""
    return f"{day_of(then, now)}, {then.astimezone(UTC):%H:%M}"


def instant_of(now: datetime) -> str:
    """An instant in full, for a model's prompt: `Mon May 6, 2024, 09:30 UTC`."""
    day = now.astimezone(UTC)
    return f"{_WEEKDAYS[day.weekday()]} {_month_and_day(day)}, {day.year}, {day:%H:%M} UTC"


def _month_and_day(day: datetime) -> str:
    # strftime would follow the locale, and has no portable day without padding.
    return f"{_SHORT_MONTHS[day.month - 1]} {day.day}"
