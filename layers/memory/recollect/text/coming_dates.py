"""Days ahead that a text names: "from 1 December", "ab Montag", "le mois prochain", 十二月一日 (P-24).

The names of months, weekdays and coming weeks are of many languages (`date_words.json`); what stands before a month, a
weekday or a number alone to make a day of it ("from", "ab", "dal") is a short list of prepositions.
"""

import re
from calendar import monthrange
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from types import MappingProxyType

from recollect.text.dates import DATE_WORDS, MONTH, MONTHS, OF, SPACE, YEAR
from recollect.text.phrases import fold, whole_word_positions

MOST_DAYS_AHEAD = 366
_BEFORE = 24
_NEAREST_DAYS = 120
"""A day without a year is the nearest one of its name, before or after."""

COMING_PHRASES = MappingProxyType(
    {phrase: said for said, phrases in DATE_WORDS["coming"].items() for phrase in phrases}
)
WEEKDAYS = MappingProxyType({name: place for place, names in enumerate(DATE_WORDS["weekdays"]) for name in names})
_FROM = (
    r"(?:from|as of|as from|starting|beginning|effective|come|on|ab|zum|vanaf|per|desde|a partir de|à partir de|dès"
    r"|dal|dalla|da|a partire da|från|fra|od|с|з|від|от)"
)
_ARTICLE = r"(?:(?:the|dem|den|el|le|la|il|de|del|da|do|du|next|this coming|nächsten|kommenden)\s{1,8})?"
BEGINNING = rf"(?<!\w){_FROM}l?{SPACE}{_ARTICLE}"
_CLAUSE_ENDS = r"(?=\s{0,3}(?:\Z|[,;:!?)]|\.(?!\d)))"
SINCE = re.compile(rf"(?<!\w)(?:since|seit|depuis|sinds){SPACE}{_ARTICLE}\Z", re.IGNORECASE)
_FIRST = ("first", "primo", "premier", "ersten", "primero")
_DAY = rf"(?P<day>[0-9]{{1,2}}|{'|'.join(_FIRST)})(?:st|nd|rd|th|\.|º|er)?"
NAME = r"[^\s\d.,;:!?()/_]{2,24}"
_NAMES = re.compile(NAME)
DAY_PATTERNS = (
    re.compile(rf"(?<![\w-]){YEAR}-(?P<month>[0-9]{{2}})-(?P<day>[0-9]{{2}})(?![0-9-])"),
    re.compile(rf"(?<!\w){_DAY}{SPACE}{OF}{MONTH}(?:,?{SPACE}{OF}{YEAR})?(?!\w)", re.IGNORECASE),
    re.compile(rf"(?<!\w){MONTH}{SPACE}{_DAY}(?:,?{SPACE}{YEAR})?(?![\w:])", re.IGNORECASE),
    re.compile(rf"(?<![\w.])(?P<day>[0-9]{{1,2}})\.(?P<month>[0-9]{{1,2}})\.{YEAR}?(?![\w])"),
    re.compile(rf"(?:{YEAR}[年년]\s?)?(?P<month>[0-9]{{1,2}})[月월]\s?(?P<day>[0-9]{{1,2}})[日号號일]"),
)
_OF_A_MONTH = (
    re.compile(rf"{BEGINNING}{MONTH}(?:{SPACE}{YEAR}|(?!{SPACE}[0-9]))(?!\w)", re.IGNORECASE),
    re.compile(rf"(?:{YEAR}[年년]\s?)?(?P<month>[0-9]{{1,2}})[月월]份?(?:から|より|起|开始|開始|부터)"),
)
_OPEN_ARTICLE = r"(?:(?:the|el|la|il|de|del|da|do)\s{1,8})?"
_OPEN = re.compile(rf"(?:on|desde|dal?|dalla|od|с|з|від|от)l?{SPACE}{_OPEN_ARTICLE}\S{{1,24}}", re.IGNORECASE)
"""What names a day that may as well be past: "on Saturday", "desde el lunes"."""
_FROM_THEN = re.compile(r"(?:から|より|起|开始|開始|부터)")
_OF_A_WEEKDAY = re.compile(rf"{BEGINNING}(?P<name>{NAME})(?!\w)", re.IGNORECASE)
UNSPACED_WEEKDAY = re.compile(
    r"(?P<name>(?:周|星期|礼拜)[一二三四五六日天]|[月火水木金土日]曜日?|[월화수목금토일]요일)"
)
_OF_A_NUMBER = re.compile(
    rf"{BEGINNING}(?P<day>[0-9]{{1,2}})(?:(?:st|nd|rd|th)(?!\w)|(?:er|º|\.)?{_CLAUSE_ENDS})", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class ComingDate:
    """A day ahead: its first instant in UTC, and where the text names it, half-open.

    `open`: it is the next of its name, and nothing beside it says that it is to come ("on Saturday").
    """

    begins: datetime
    span: tuple[int, int]
    open: bool = False


def coming_date(text: str, at: datetime) -> ComingDate | None:
    """The first that the text names within a year after `at` (with a zone); None without one."""
    return next(iter(coming_dates(text, at)), None)


def coming_dates(text: str, at: datetime) -> tuple[ComingDate, ...]:
    """All that it names, in its order. A week, month or year ahead begins with its first day."""
    now = at.astimezone(UTC)
    found = (
        ComingDate(datetime.combine(day, time.min, UTC), span, _is_open(text, span))
        for day, span in _days(text, now.date())
    )
    told = (one for one in found if SINCE.search(text[max(0, one.span[0] - _BEFORE) : one.span[0]]) is None)
    ahead = (one for one in told if now < one.begins <= now + timedelta(days=MOST_DAYS_AHEAD))
    return tuple(sorted(ahead, key=lambda one: one.span))


def _is_open(text: str, span: tuple[int, int]) -> bool:
    """Of a weekday or a day's number; a day of a month is the nearest, and lies where the calendar has it."""
    words = text[slice(*span)]
    if UNSPACED_WEEKDAY.fullmatch(words):
        return _FROM_THEN.match(text, span[1]) is None
    month = _OF_A_MONTH[0].fullmatch(words)
    return _OPEN.fullmatch(words) is not None and (month is None or numbers(month) is None)


def names_a_day(text: str) -> bool:
    """Whether the text names a day of the calendar or of the week."""
    return bool(day_spans(text) or weekday_spans(text))


def day_spans(text: str) -> tuple[tuple[int, int], ...]:
    """Where the text names days of the calendar, in its order, half-open; a month alone is none."""
    found = (match for pattern in DAY_PATTERNS for match in pattern.finditer(text))
    return tuple(sorted(match.span() for match in found if numbers(match)))


def weekday_spans(text: str) -> tuple[tuple[int, int], ...]:
    """Where it names days of the week, one ("Tuesday") or each of them ("Tuesdays"), in its order, half-open."""
    named = (match for match in _NAMES.finditer(text) if is_weekday(fold(match.group())))
    return tuple(sorted(match.span() for found in (named, UNSPACED_WEEKDAY.finditer(text)) for match in found))


def is_weekday(name: str) -> bool:
    """Whether a folded name is that of a weekday, one ("tuesday") or each of them ("tuesdays")."""
    return name in WEEKDAYS or name.removesuffix("s") in WEEKDAYS


def _days(text: str, today: date) -> Iterator[tuple[date, tuple[int, int]]]:
    for pattern in (*DAY_PATTERNS, *_OF_A_MONTH):
        for match in pattern.finditer(text):
            found = numbers(match)
            if found is not None and (day := _nearest(*found, today)) is not None:
                yield day, match.span()
    for pattern in (_OF_A_WEEKDAY, UNSPACED_WEEKDAY):
        for match in pattern.finditer(text):
            place = WEEKDAYS.get(fold(match["name"]))
            if place is not None:
                yield today + timedelta(days=(place - today.weekday() - 1) % 7 + 1), match.span()
    for match in _OF_A_NUMBER.finditer(text):
        if (day := _next_of_month(int(match["day"]), today)) is not None:
            yield day, match.span()
    yield from _coming(text, today)


def numbers(match: re.Match[str]) -> tuple[int | None, int, int] | None:
    """Year, month and day as they stand; the day is 1 where a month alone is named."""
    said = match.groupdict()
    month = int(said["month"]) if said["month"].isdecimal() else MONTHS.get(fold(said["month"]), 0)
    day, year = _day(said.get("day")), said.get("year")
    return (int(year) if year else None, month, day) if 1 <= month <= 12 and 1 <= day <= 31 else None


def _day(said: str | None) -> int:
    return int(said) if said is not None and said.isdecimal() else 1


def _nearest(year: int | None, month: int, day: int, today: date) -> date | None:
    years = [year] if year else [today.year - 1, today.year, today.year + 1]
    days = [date(one, month, day) for one in years if 1 <= one <= 9999 and day <= monthrange(one, month)[1]]
    found = min(days, key=lambda one: abs(one - today), default=None)
    return found if found is None or year or abs(found - today).days <= _NEAREST_DAYS else None


def _next_of_month(day: int, today: date) -> date | None:
    month, year = (
        (today.month, today.year) if day > today.day else (today.month % 12 + 1, today.year + today.month // 12)
    )
    return date(year, month, day) if 1 <= day <= monthrange(year, month)[1] else None


def _coming(text: str, today: date) -> Iterator[tuple[date, tuple[int, int]]]:
    folded = fold(text)
    said = [(start, phrase) for phrase in COMING_PHRASES for start in whole_word_positions(folded, phrase)]
    place = [at for at, character in enumerate(text) for _ in fold(character)] if said else []
    begins = {
        "next week": today + timedelta(days=7 - today.weekday()),
        "next month": (today.replace(day=1) + timedelta(days=32)).replace(day=1),
        "next year": date(min(today.year + 1, 9999), 1, 1),
    }
    for start, phrase in said:
        yield begins[COMING_PHRASES[phrase]], (place[start], place[start + len(phrase) - 1] + 1)
