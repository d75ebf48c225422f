"""Until which day something holds: "bis Freitag", "hasta el domingo 8", 12月5日まで, or "diese Woche", 今日だけ (P-24).

The words for "until", before the day or behind it, are one short list for all languages (`date_words.json`); the days
are those of `coming_dates`, and what goes on now ("this week") is of the same tables. English, where more words set an
end, has its own reader (contradictions/bounds).
"""

import re
from calendar import monthrange
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import MAXYEAR, MINYEAR, UTC, date, datetime, time, timedelta
from types import MappingProxyType
from typing import Final

from recollect.text.coming_dates import (
    BEGINNING,
    COMING_PHRASES,
    DAY_PATTERNS,
    NAME,
    SINCE,
    WEEKDAYS,
    is_weekday,
    numbers,
)
from recollect.text.dates import DATE_WORDS, MONTHS, RELATIVE_PHRASES, SPACE, YEAR
from recollect.text.phrases import CJK_CLASS, fold

_WORDS: Final = DATE_WORDS["until"]
_UNSPACED: Final = re.compile(rf"[{CJK_CLASS}]")
_CASES: Final = MappingProxyType(
    {word: {name: day for day, names in enumerate(days) for name in names} for word, days in _WORDS["weekdays"].items()}
)
_CASES_ALONE: Final = frozenset(("do", "až do", "aż do"))
"""In other languages a word of its own: "we do Friday", "o salário do 15"."""


def _any_of(words: Iterable[str]) -> str:
    return "|".join(map(re.escape, sorted(words, key=len, reverse=True)))


_SPACED_WORDS = _any_of(word for word in _WORDS["before"] if not _UNSPACED.match(word))
_UNSPACED_WORDS = _any_of(word for word in _WORDS["before"] if _UNSPACED.match(word))
_ARTICLE = (
    r"(?:zum|dem|den|der|el|le|la|il|lo|l|al|alla|au|ao|à|a|o|ce|este|esta|dia|día|nächsten|kommenden|diesen|einschließlich"
    r"|próximo|próxima|questo|questa|prossimo|aankomende|komende)"
)
_BEFORE = re.compile(
    rf"(?<!\w)(?P<word>{_SPACED_WORDS})(?:{SPACE}|(?<='))(?P<article>(?:{_ARTICLE}(?:{SPACE}|')){{0,3}})"
    rf"|(?P<unspaced>{_UNSPACED_WORDS})\s?",
    re.IGNORECASE,
)
_BEHIND = re.compile(rf"\s{{0,2}}(?P<word>{_any_of(_WORDS['behind'])})(?!に)", re.IGNORECASE)
_OF_MONTH = rf"(?P<end>(?:{_any_of(_WORDS['the end of'])}){SPACE}(?:de{SPACE}|d')?)?(?P<month>{NAME})"
_MONTH = re.compile(rf"{_OF_MONTH}(?:{SPACE}(?:de{SPACE})?{YEAR}|(?!{SPACE}[0-9]))(?!\w)", re.IGNORECASE)
_UNSPACED_MONTH = re.compile(
    rf"(?:{YEAR}\s?[年년]\s?)?(?P<month>[0-9]{{1,2}})\s?[月월]\s?(?P<end>末|底|말)?(?!\s?[0-9])"
)
_NAMED = re.compile(rf"(?P<name>{NAME})(?!\w)")
_IN_WEEK = re.compile(
    r"(?P<next>下个?|下個|来週の?|來週|다음\s?주\s?)?"
    r"(?:(?:周|週|星期|礼拜|禮拜)(?P<zh>[一二三四五六日天])|(?P<ja>[月火水木金土日])曜日?|(?P<ko>[월화수목금토일])요일)"
)
_ROWS = ("一二三四五六日", "月火水木金土日", "월화수목금토일")
_PLACES = MappingProxyType({character: place for row in _ROWS for place, character in enumerate(row)} | {"天": 6})
_NUMBER = re.compile(r"(?P<day>[0-9]{1,2})(?P<dot>[.º°]|er|e)?(?=\s{0,3}(?:\Z|[,;!?)]|\.(?!\d))|\s[^\W\dA-Z_])")
_UNSPACED_NUMBER = re.compile(r"(?P<day>[0-9]{1,2})\s?[日号號일]")
_COMMA = re.compile(rf",?{SPACE}(?:{_ARTICLE}{SPACE}){{0,2}}", re.IGNORECASE)
_NOT = re.compile(
    rf"(?<!\w)(?:nicht|erst|pas|niet|ikke|inte|не|nie|ne|tengo|tenemos|tienes|tiene|j'ai|avons|ho|abbiamo|tenho|temos|tem)"
    rf"{SPACE}\Z",
    re.IGNORECASE,
)
"""Right before: "nicht bis Freitag" is when something begins, "tengo hasta el viernes" a time that one is given."""
_DENIED = MappingProxyType({"hasta": "no", "fins": "no", "fino": "non", "sino": "non", "até": "não"})
"""With it in the clause before, something may begin then: "no empiezo hasta el lunes"."""
_DUE = re.compile(
    r"(?<!\w)(?:muss|müssen|musst|soll|sollen|spätestens|debo|debemos|hay que|tengo que|faut|dois|doit|devo|deve"
    r"|dobbiamo|tenho que|moet|moeten|muszę|musimy|musím|надо|нужно|должен|должна)(?!\w)|必须|必須",
    re.IGNORECASE,
)
"""In languages whose "until" is "by" as well, that is when something is due."""
_PAST = re.compile(rf"{SPACE}(?:pasado|pasada|passado|passada|scorso|scorsa|dernier|dernière)(?!\w)", re.IGNORECASE)
_CLAUSE_BEFORE = re.compile(r"[^,;:.!?\n。、，！？]*\Z")
_CLAUSE_BEHIND = re.compile(r"[^,;:.!?\n。、，！？]*")
_MOVED = re.compile(r"[改挪调調换換约約推延排提补補移迟遲后後前升涨漲降減减搬转轉]\Z")
"""Before 到 it is where something goes: 改到周五."""
_RANGE = re.compile(rf"(?P<name>{NAME}){SPACE}\Z")
_UNSPACED_RANGE = re.compile(
    r"(?:[周週拜期][一二三四五六日天]|曜日?|요일|[月火水木金]|[0-9][日号號일.])(?:から|부터)?\s*\Z"
)
_SO_MANY = "週周月年每毎第"
"""Before days that are counted: 週3日まで."""
_FAR = 24
_CLAUSE = 80
_ONE_DAY = timedelta(days=1)
_WEEK, _MONTHS = 7, 12


@dataclass(frozen=True, slots=True)
class LastDay:
    """The exclusive end of what holds until a day, and where the text says so, half-open."""

    until: datetime
    span: tuple[int, int]


def last_days(text: str, at: datetime) -> Iterator[LastDay]:
    """Each end that the text sets beside a word for "until", seen from `at` (with a zone); those ahead alone.

    None in the first and the last year of the calendar.
    """
    now, text = at.astimezone(UTC), text.replace("\u2019", "'")
    if not MINYEAR < now.year < MAXYEAR:
        return
    for (start, end), day in (*_before(text, now.date()), *_behind(text, now.date())):
        until = _end_of(min(day, date.max - _ONE_DAY))
        if until > now and _ends_there(text, start, end):
            yield LastDay(until, (start, end))


def days_now(text: str, at: datetime) -> Iterator[LastDay]:
    """Each of today, this week and this month that the text names, with its last day: what it says may hold so long.

    Not where something begins then: "seit dieser Woche", 从这个月起.
    """
    now, text = at.astimezone(UTC), text.replace("\u2019", "'")
    if not MINYEAR < now.year < MAXYEAR:
        return
    for match in _NOW.finditer(text):
        if not (_goes_on(text, match.end()) or _begins_then(text, *match.span())):
            day = _last_of(_CURRENT[fold(match.group())], now.date())
            yield LastDay(_end_of(day), match.span())


def _end_of(day: date) -> datetime:
    return datetime.combine(day, time.min, UTC) + _ONE_DAY


def _begins_then(text: str, start: int, end: int) -> bool:
    return _BEGINS_BEFORE.search(text[max(0, start - _FAR) : start]) is not None or bool(
        _BEGINS_BEHIND.match(text, end)
    )


def _ends_there(text: str, start: int, end: int) -> bool:
    """Not "nicht bis Freitag", "lunes hasta viernes", "muss bis Freitag", nor "3. bis 17. August", which is a span."""
    near, clause = text[max(0, start - _FAR) : start], _CLAUSE_BEFORE.search(text[max(0, start - _CLAUSE) : start])
    behind = _CLAUSE_BEHIND.match(text[end : end + _CLAUSE])
    before = clause.group() if clause is not None else ""
    due = _DUE.search(f"{before} {behind.group() if behind is not None else ''}")
    denial = _DENIED.get(fold(text[start:end]).split(" ", 1)[0])
    denied = denial is not None and denial in fold(before).split()
    return not (due or denied or _PAST.match(text, end) or _NOT.search(near) or _of_a_range(near))


def _of_a_range(before: str) -> bool:
    range_of = _RANGE.search(before)
    name = fold(range_of["name"]) if range_of is not None else ""
    of_days = is_weekday(name) or any(name in cases for cases in _CASES.values())
    return of_days or _UNSPACED_RANGE.search(before) is not None


_Found = tuple[tuple[int, int], date]


def _before(text: str, today: date) -> Iterator[_Found]:
    for match in _BEFORE.finditer(text):
        if match["unspaced"] and _MOVED.search(text[: match.start()]):
            continue
        word = fold(match["word"] or match["unspaced"])
        found = _day_at(text, match.end(), today, word, numbered=bool(match["article"]))
        if found is not None:
            yield (match.start(), found[0]), found[1]


def _day_at(text: str, place: int, today: date, word: str, *, numbered: bool) -> tuple[int, date] | None:
    """Where the day that is named there ends, and the day."""
    if word in _CASES_ALONE:
        return _weekday(text, place, today, word)
    for read in (_calendar_day, _weekday, _unspaced_number, _month, _phrase):
        found = read(text, place, today, word)
        if found is not None:
            return found
    return _number(text, place, today, article=numbered or word in _WITH_ITS_ARTICLE)


_WITH_ITS_ARTICLE = frozenset(word for word in _WORDS["before"] if word.endswith((" al", "au", "alla")))


def _calendar_day(text: str, place: int, today: date, _: str) -> tuple[int, date] | None:
    for pattern in DAY_PATTERNS:
        match = pattern.match(text, place)
        found = numbers(match) if match is not None else None
        day = _next(*found, today) if found is not None else None
        if match is not None and day is not None:
            return match.end(), day
    return None


def _weekday(text: str, place: int, today: date, word: str) -> tuple[int, date] | None:
    """A weekday, today too; with a date or a number behind it that day."""
    unspaced = _IN_WEEK.match(text, place)
    if unspaced is not None:
        return unspaced.end(), _in_week(unspaced, today)
    match = _NAMED.match(text, place)
    name = fold(match["name"]) if match is not None else ""
    of_the_week = _CASES.get(word, {}).get(name, None if word in _CASES_ALONE else WEEKDAYS.get(name))
    if match is None or of_the_week is None:
        return None
    comma = _COMMA.match(text, match.end())
    dated = None
    if comma is not None and word not in _CASES_ALONE:
        dated = _calendar_day(text, comma.end(), today, word) or _number(text, comma.end(), today, article=True)
    return dated or (match.end(), _ahead(of_the_week, today))


def _in_week(match: re.Match[str], today: date) -> date:
    place = _PLACES[match["zh"] or match["ja"] or match["ko"]]
    if match["next"]:
        return today + timedelta(days=place - today.weekday() + _WEEK)
    return _ahead(place, today)


def _ahead(place: int, today: date) -> date:
    return today + timedelta(days=(place - today.weekday()) % _WEEK)


def _month(text: str, place: int, today: date, word: str) -> tuple[int, date] | None:
    """Until March stops where March begins, as in English; the end of March takes it in, and so does 3月まで."""
    match = _UNSPACED_MONTH.match(text, place) or _MONTH.match(text, place)
    if match is None:
        return None
    number = int(match["month"]) if match["month"].isdecimal() else MONTHS.get(fold(match["month"]), 0)
    through, fits = bool(match["end"]) or word in _WORDS["behind"], 1 <= number <= _MONTHS
    return (match.end(), _of_month(number, match["year"], through, today)) if fits else None


def _of_month(number: int, year: str | None, through: bool, today: date) -> date:
    of = int(year) if year and int(year) else today.year + (number < today.month)
    first = date(of, number, 1)
    inclusive = through or first <= today
    return first.replace(day=monthrange(of, number)[1]) if inclusive else first - timedelta(days=1)


def _unspaced_number(text: str, place: int, today: date, _: str) -> tuple[int, date] | None:
    match = _UNSPACED_NUMBER.match(text, place) if text[place - 1 : place] not in tuple(_SO_MANY) else None
    return _of_number(match, today) if match is not None else None


def _number(text: str, place: int, today: date, *, article: bool) -> tuple[int, date] | None:
    """The 15th: behind an article, or written with a dot."""
    match = _NUMBER.match(text, place)
    if match is None or not (article or match["dot"]):
        return None
    return _of_number(match, today)


def _of_number(match: re.Match[str], today: date) -> tuple[int, date] | None:
    number = int(match["day"])
    month = today.month + (number < today.day)
    day = _day(today.year + (month > _MONTHS), (month - 1) % _MONTHS + 1, number)
    return (match.end(), day) if day is not None else None


def _phrase(text: str, place: int, today: date, _: str) -> tuple[int, date] | None:
    """This week, next month: through its last day."""
    for length in _LENGTHS:
        end = place + length
        meaning = _PHRASES.get(fold(text[place:end])) if end <= len(text) else None
        if meaning is not None and not _goes_on(text, end):
            return end, _last_of(meaning, today)
    return None


def _goes_on(text: str, end: int) -> bool:
    following = text[end : end + 1]
    return following.isdecimal() or (
        following in "一二三四五六七八九十天的" if _UNSPACED.match(following) else following.isalnum()
    )


_CURRENT = {one: said for one, said in RELATIVE_PHRASES.items() if said == "today" or said.startswith("this ")}
_OF_NOW = [phrase for phrase, said in _CURRENT.items() if said != "this year"]
_NOW = re.compile(
    rf"(?<!\w)(?:{_any_of(one for one in _OF_NOW if not _UNSPACED.match(one))})(?!\w)"
    rf"|{_any_of(one for one in _OF_NOW if _UNSPACED.match(one))}",
    re.IGNORECASE,
)
_BEGINS_BEFORE = re.compile(rf"{BEGINNING}\Z|{SINCE.pattern}|[从從自]\Z", re.IGNORECASE)
_BEGINS_BEHIND = re.compile(r"\s?(?:から|より|起|开始|開始|부터)")
_PHRASES = MappingProxyType(_CURRENT | dict(COMING_PHRASES))
_LAST = frozenset(phrase[-1] for phrase in _PHRASES) | frozenset("月월末底말曜日号號일") | frozenset(_PLACES)
_LENGTHS = sorted({len(phrase) for phrase in _PHRASES}, reverse=True)


def _last_of(meaning: str, today: date) -> date:
    following, unit = meaning.startswith("next"), meaning.rpartition(" ")[2]
    if unit == "week":
        return today + timedelta(days=6 - today.weekday() + _WEEK * following)
    if unit == "month":
        first = (today.replace(day=1) + timedelta(days=32 * following)).replace(day=1)
        return first.replace(day=monthrange(first.year, first.month)[1])
    return date(min(today.year + following, date.max.year), 12, 31) if unit == "year" else today


def _behind(text: str, today: date) -> Iterator[_Found]:
    for match in _BEHIND.finditer(text):
        found = _day_that_ends(text, match.start(), today, fold(match["word"]))
        if found is not None:
            yield (found[0], match.end()), found[1]


def _day_that_ends(text: str, end: int, today: date, word: str) -> tuple[int, date] | None:
    """Where the day that ends there begins, the longest, and the day."""
    if _UNSPACED.match(text, end - 1) and text[end - 1] not in _LAST:
        return None
    for start in range(max(0, end - _FAR), end):
        if _within_a_word(text, start):
            continue
        for read in (_calendar_day, _weekday, _unspaced_number, _month, _phrase):
            found = read(text[:end], start, today, word)
            if found is not None and found[0] == end:
                return start, found[1]
    return None


def _within_a_word(text: str, place: int) -> bool:
    before, after = text[place - 1 : place] if place else " ", text[place]
    return before.isalnum() and after.isalnum() and not (_UNSPACED.match(before) or _UNSPACED.match(after))


def _next(year: int | None, month: int, day: int, today: date) -> date | None:
    """That day of the year, or of this one or where it is past of the next."""
    return _day(year or today.year + ((month, day) < (today.month, today.day)), month, day)


def _day(year: int, month: int, day: int) -> date | None:
    fits = 1 <= year <= date.max.year and day >= 1 and day <= monthrange(year, month)[1]
    return date(year, month, day) if fits else None
