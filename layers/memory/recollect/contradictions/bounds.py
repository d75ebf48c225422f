"""Bounds in time that a text sets: "until Friday", "for the next two weeks", "just for today" (P-24).

Days are UTC days. A named day means through its end; an end is exclusive. "this week" ends on Sunday. Patterns are of
lower-case text with plain apostrophes, and compiled when the first text is read.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import MAXYEAR, MINYEAR, UTC, date, datetime, time, timedelta
from enum import StrEnum
from functools import cache
from types import MappingProxyType

from recollect.text.until_dates import days_now, last_days

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_COUNTED = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_PLACES = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_ONE_TO_TWELVE = "|".join(_COUNTED[1:])
_COUNT = rf"\d{{1,3}}|a|an|{_ONE_TO_TWELVE}"
N = (
    rf"(?:(?:{_COUNT}) ?(?:-|\u2013|to|or) ?)?(?P<n>{_COUNT}|(?:a )?couple(?: of)?|(?:a )?few|several|half an?)"
    r"(?: more| further| additional| whole| full| solid| or so)?"
)
LENGTH_UNIT = r"(?P<unit>hour|hr(?=s)|h|day|night|week|wk|weekend|fortnight|month|mth|year|yr)s?(?![\w/])"
LENGTH = rf"{N}(?: |(?<=\d)){LENGTH_UNIT}(?P<more_or_less> or two)?(?P<half> and a half)?"
MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
DAY = rf"(?P<day>\d{{1,2}}(?=st|nd|rd|th|\b)|{'|'.join(_PLACES)})(?:st|nd|rd|th)?"
ORDINAL = r"(?P<day>\d{1,2})(?:st|nd|rd|th)"
YEAR = r"(?:,? (?P<year>\d{4}))?"
UNTIL = (
    r"(?:(?:up to|up till|up until|until|till|to) and including|until|till|til|'til|through|thru|up to|up until|up till"
    r"|ending|ends)"
)
WEEKDAY = (
    r"(?P<weekday>mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:rs(?:day)?)?|fri(?:day)?|sat(?:urday)?|"
    r"sun(?:day)?)"
)  # fmt: skip
END_OF = r"(?:the )?(?:very |back )?(?:end|close|last day|last week) of (?:the |this )?"
UNIT = r"(?P<unit>week|weekend|workweek|month|year|quarter|spring|summer|fall|autumn|winter|semester|term)"
FEAST = (
    r"(?P<feast>easter(?: sunday| monday)?|christmas(?: eve| day)?|new year(?:'?s)?(?: day| eve)?|xmas|halloween"
    r"|boxing day|thanksgiving|valentine'?s(?: day)?|st patrick'?s(?: day)?)"
)
TIME = (
    r"(?:\d{1,2}(?:[:.]\d\d)? ?(?:[ap]\.?m\.?)?|noon|midday|midnight|lunch(?:time)?|dinner(?:time)?|sunset|dawn"
    r"|close of (?:business|play)|end of (?:business|play|day)|cob|eob|eod|first thing|late|early|some ?time"
    r"|(?:the )?(?:morning|afternoon|evening|night)(?: of)?|at least|well into|the end of)"
)
HOUR = (
    r"(?:(?:half|quarter|ten|twenty|five)(?: past| to)? )?(?:\d{1,2}(?:[:.]\d\d)? ?(?:[ap]\.?m\.?|o'clock)?"
    rf"|{_ONE_TO_TWELVE}|noon|midday|midnight|lunch(?:time)?|dinner(?:time)?|bedtime)"
)
PART = r"(?: ?(?:morning|lunchtime|noon|midday|afternoon|evening|night|at noon|at midnight))?"
BEHIND_UNIT = (
    r"\s{0,3}(?:\Z|[^\w\s]|(?:and|so|but|because|while|since|as|i|we|i'm|we're|my|our|the|he|she|it|they|there|only"
    r"|at|in|from|with|on|for|instead|please|to|too|due|until|though|thanks|no|not|or|then|just|by|off|is out|is over"
    r"|is up|is done|ends|not|after|when|where|again|comes|you|your|his|her)\b)"
)
CLAUSE_END = r"\s{0,3}(?:\Z|[.,;:!?)\u2013\u2014-]|(?:and|so|but|because|while|since|as|then|until|though|thanks)\b)"
JUST = r"(?:just |only |but only )?"
NO_BEGINNING = (
    r"(?<!since )(?<!from )(?<!as of )(?<!starting )(?<!beginning )(?<!by )(?<!before )(?<!after )(?<!of )(?<!due )"
    r"(?<!later )(?<!earlier )"
)
"""Before a span that is named: there it begins, or something else than a value is meant."""
NO_VERB_OF_BEING = r"(?<! is )(?<!'s )(?<! are )(?<!'re )(?<! was )(?<! be )"
"""Before a day at the end of a sentence: "the concert is tonight" says when, and bounds nothing."""


Reader = Callable[[re.Match[str], datetime], datetime | None]

_NUMBERS = MappingProxyType(
    {word: place for place, word in enumerate(_COUNTED)}
    | {"a": 1, "an": 1, "couple": 2, "few": 3, "several": 5, "half a": 0.5, "half an": 0.5}
)
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
    month, number, year = _month(match), _place(match["day"]), match.groupdict().get("year")
    return _day(int(year), month, number) if year else _next_day(now, month, number)


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
    return _next_day(now, month, number)


def ordinal(match: re.Match[str], now: datetime) -> datetime | None:
    """The 3rd, of this month or the next."""
    number = _place(match["day"])
    month = now.month + bool(match.groupdict().get("in_next") or number < now.day)
    return _day(now.year + (month > 12), (month - 1) % 12 + 1, number)


def whole_month(match: re.Match[str], now: datetime) -> datetime | None:
    """Until March stops where March begins; through March, and the end of March, take it in."""
    month, said = _month(match), match.groupdict(default="")
    year = int(match["year"]) if said.get("year") else now.year + (month < now.month)
    part = said.get("part", "")
    if part in _PARTS:
        return _day(year, month, _PARTS[part])
    if match["how"] not in ("until", "till", "til", "'til") or match["end"] or part == "late":
        return month_end(year, month)
    start = _first(year, month)
    return start if start is not None and start > now else month_end(year, month)


_PARTS = MappingProxyType({"early": 10, "mid": 15})


def week_of_month(match: re.Match[str], now: datetime) -> datetime | None:
    """The second week of June."""
    return _next_day(now, _month(match), min(_LENGTH_OF_WEEK * _place(match["day"]), _LAST_SAFE_DAY))


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
    r"|(?P<shift>(?:half|quarter)(?: past| to)? )?(?P<hour>\d{1,2}"
    rf"|{_ONE_TO_TWELVE})"
    r"(?:[:.](?P<minute>\d\d))?(?: ?(?P<half>[ap])\.?m\b| ?o'clock|(?=,? on\b)|(?<=:\d\d)|\Z))"
)
_NAMED_HOURS = {"noon": 12, "midday": 12, "lunch": 14, "lunchtime": 14, "dinner": 20, "dinnertime": 20, "bedtime": 23}
_NAMED_HOURS["midnight"] = 24
_SHIFTS = {"half": 0.5, "half past": 0.5, "quarter past": 0.25, "quarter to": -0.25}


def _month(match: re.Match[str]) -> int:
    return MONTHS.index(match["month"][:3]) + 1


def _next_day(now: datetime, month: int, day: int) -> datetime | None:
    """That day of this year, or where it is past of the next."""
    return _day(now.year + ((month, day) < (now.month, now.day)), month, day)


def _place(words: str) -> int:
    return int(words) if words.isdigit() else _PLACES.index(words) + 1


def _day(year: int, month: int, day: int) -> datetime | None:
    try:
        return through(date(year, month, day))
    except ValueError:
        return None


class BoundKind(StrEnum):
    """What a bound says: until when, for how long from now, for how long, through which span, until what hour.

    `NOW` names today, this week or this month in another language than English: the model alone says whether it bounds.
    """

    END = "end"
    AHEAD = "ahead"
    LENGTH = "length"
    SPAN = "span"
    HOUR = "hour"
    NOW = "now"


_END, _AHEAD, _LENGTH, _SPAN, _HOUR, _ = BoundKind
_END_OF_DAY = r"(?:(?:the )?end of )?"
_NUMBERED = (
    r"of|weeks?|weekend|day|time|half|quarter|\w{3,6}day|floor|grade|year|round|chapter|page|edition|place|century"
    r"|level|class|form|row|gate|door|house|hole|street|avenue|birthday|anniversary"
)
_DAYS: tuple[tuple[str, Reader], ...] = (
    (rf"{_END_OF_DAY}(?:{WEEKDAY},? )?(?:the )?{MONTH} (?:the )?{DAY}(?![:/.]\d){YEAR}", month_day),
    (rf"{_END_OF_DAY}(?:{WEEKDAY},? )?(?:the )?{DAY}(?: of)? {MONTH}{YEAR}", month_day),
    (rf"a (?P<week_on>week) (?:on|from) {WEEKDAY}", weekday),
    (r"(?P<year>\d{4})-(?P<m>\d{2})-(?P<day>\d{2})", iso_day),
    (r"(?P<one>\d{1,2})(?P<dot>/)(?P<two>\d{1,2})(?:/(?P<year>\d{4}|\d{2}))?", numbered_day),
    (r"(?P<one>\d{1,2})(?P<dot>\.)(?P<two>\d{1,2})\.(?P<year>\d{4}|\d{2})?", numbered_day),
    (rf"(?:the )?{ORDINAL} of (?P<in_next>next month)", ordinal),
    (rf"(?:{WEEKDAY},? )?(?:the )?{ORDINAL}(?! (?:{_NUMBERED})\b)", ordinal),
    (rf"(?:the )?(?P<day>first)(?={CLAUSE_END})", ordinal),
    (
        rf"{_END_OF_DAY}(?:this |on |(?P<next>next )|this coming |the coming |coming |the )?{WEEKDAY}{PART}"
        r"(?: (?:of )?(?P<in_next>next week)| (?P<week_on>week))?(?! (?:nights|mornings|evenings|afternoons)\b)",
        weekday,
    ),
    (r"(?:the day after )?(?:today|tonight|tomorrow)(?: night| evening| morning| afternoon)?", today),
    (FEAST, feast),
    (rf"{END_OF}(?P<next>next )?{UNIT}", unit),
    (rf"(?P<next>next ){UNIT}", unit),
    (r"(?:the |this )(?P<unit>weekend)", unit),
)
_WORDS = r"(?:[\w'.&-]{1,30},? ){1,7}?"
_RETURNS = r"(?:arrives?|comes?|ends?|opens?|closes?|returns?|starts?|begins?|leaves?|finish(?:es)?|is|are|back|lands?)"
_FROM = (
    r"(?:between|from) (?:now|today|tonight|tomorrow|the \w{3,8}|\d{1,2}(?:st|nd|rd|th)?(?: of)?(?: [a-z]{3,9})?"
    r"|[a-z]{3,9} \d{1,2}(?:st|nd|rd|th)?)(?: [a-z]{3,9})? ?(?:and|to|until|till|til|through|thru|up to|-|\u2013) ?"
)
_TILL = r"(?:until|till|til|'til|(?<!leading )up to|through(?= the end))"
_FRAMES: Mapping[BoundKind, tuple[str, ...]] = {
    _END: (
        rf"{UNTIL} (?:around |about |after |at least |well,? |say )?(?:the )?",
        rf"{UNTIL} (?:around |about )?{TIME},? (?:on |by |at )?(?:the )?",
        rf"(?:{_TILL}|pending) {_WORDS}(?:on |by |so |so till |\(|which (?:is|should be|will be) |that's )(?:the )?",
        rf"{_TILL} {_WORDS}{_RETURNS} (?:on |this |next )?(?:the )?",
        rf"{_TILL} (?:[\w'-]{{1,20}} ){{2,6}}?(?=(?:this |next )?(?:\w{{3,6}}day|tomorrow)\b)",
        rf"{_TILL} (?:[\w'.&-]{{1,30}} ){{0,6}}[\w'.&-]{{1,30}}, (?:hopefully |probably |likely |i think )?"
        r"(?:on )?(?:the )?",
        r"(?:(?:fly|head|travel|drive)|(?:i|we) (?:come|get|go)) (?:home|back)(?: again)? (?:on )?(?:the )?",
        r"(?:re-?opens?|resumes?|(?:opens?|open) again|back open) (?:on |again )?(?:the )?",
        r"(?<=[,(;] )(?:ends?|expires?|expiring|ending|runs? out|finishes|due back) (?:on |at )?(?:the )?",
        r"(?<!'m )(?<!'re )(?<! am )(?<! are )(?:(?:coming|heading|flying|driving|going) (?:back|home)|leaving"
        r"|(?:moving|checking) out)(?: again)? (?:on )?(?:the )?",
        r"(?:\bnot|n't|\bno|\bnever)\b[^.;!?\n]{1,60}? before (?:the )?",
        r"(?<!go )(?<!going )(?<!get )(?<!come )(?<!coming )(?<!moved )(?<!move )(?<!moving )(?<!call )(?<!write )"
        r"(?<!went )(?<!came )(?<!got )(?<!was )(?<!were )(?:back|home again|returning)"
        r"(?: (?:home|to normal|to usual|(?:in|at|to|with|from)(?: [\w'-]{1,20}){1,3}?))?,?"
        r" (?:on |by |from |again )?(?:the )?",
        r"(?:that|which|it|he|she|they|this|who|all)(?: only| just| all|'s|'re| is| are)? (?:done|finished|through"
        r"|sorted|fixed|ends?|finish(?:es)?|expires?|runs? out|stops?|goes back|comes? back|gets? back|go back"
        r"|returns?|leaves?|(?:goes|go|flies|fly) home|moves? out|checks? out|over|up|due back)"
        r" (?:again )?(?:on |by |at )?(?:the )?",
    ),
    _SPAN: (
        r"\d{1,2}(?:st|nd|rd|th)(?: of)?(?: [a-z]{3,9})? ?(?:to|until|till|through|-|\u2013) ?(?:the )?",
        rf"{_FROM}(?:on )?(?:the )?",
        r"(?:from|between) [a-z]{3,9} (?:and|to|until|till|through) (?=\w{3,9} (?:of )?next week)",
    ),
}
_FIRST = r"(?:\A|(?<=[.!?;:,] ))"
_WHOLE = r"the (?:whole|entirety|entire|rest|remainder|duration) of"
_NEXT = r"(?:next |coming |following )"
_ABOUT = r"(?:the |about |around |roughly |at least |up to |maybe |just |only |a good )?"
_MONTH = rf"{MONTH}(?: (?P<year>\d{{4}}))?(?! \d)"
_TO_DAY = rf"\d{{1,2}}(?:st|nd|rd|th)? ?(?:-|\u2013|to|until|through) ?{DAY}"
_WHOLE_BOUNDS: tuple[tuple[str, Reader, BoundKind], ...] = (
    (
        rf"(?P<how>{UNTIL}) (?P<end>{END_OF})?(?:about |around )?(?:(?P<part>early|mid|late|next|after)[ -])?{_MONTH}",
        whole_month,
        _END,
    ),
    (
        rf"(?P<how>the rest of|all of|throughout|during|{_WHOLE}|all(?! ma[ry])|dry)(?P<end>) {_MONTH}",
        whole_month,
        _SPAN,
    ),
    (rf"(?P<how>for (?:{_WHOLE}|all of|all|the month of))(?P<end>) {_MONTH}", whole_month, _AHEAD),
    (rf"for {_WHOLE} (?:the |this )?{UNIT}", unit, _AHEAD),
    (rf"{UNTIL} {_WORDS}(?P<how>in)(?P<end>) {_MONTH}", whole_month, _END),
    (rf"{_FIRST}(?:from )?{MONTH} {_TO_DAY}", month_day, _SPAN),
    (rf"{_FIRST}{_TO_DAY}(?: of)? {MONTH}{YEAR}", month_day, _SPAN),
    (
        rf"\w{{3,9}} ?(?:-|\u2013|to|till|until|through) ?{WEEKDAY} (?:of )?(?:this week|(?P<in_next>next week))",
        weekday,
        _SPAN,
    ),
    (rf"these (?:next )?{LENGTH}", length, _SPAN),
    (rf"for (?:a|the) (?:\w+ )?(?:period|stretch|spell|run|total|trial) of {LENGTH}", length, _LENGTH),
    (
        rf"{UNTIL} (?:the )?(?P<day>first|second|third|fourth) (?:week|weekend|\w{{3,6}}day) (?:of|in) {MONTH}",
        week_of_month,
        _END,
    ),
    (rf"{UNTIL} (?:{END_OF})?(?:the )?q(?P<quarter>[1-4])", quarter, _END),
    (r"(?:the rest of|all of|throughout) q(?P<quarter>[1-4])", quarter, _SPAN),
    (rf"{UNTIL} (?:{END_OF}(?P<next>next )?|the |this )?{UNIT}(?={BEHIND_UNIT}|'s)", unit, _END),
    (rf"{_WHOLE} (?:the |this )?{UNIT}", unit, _SPAN),
    (
        rf"{NO_BEGINNING}(?:(?:just |only )?(?:for )?this (?:long |whole |coming )?|(?:just )?over the (?:long "
        rf"|whole )?){UNIT}(?: only)?(?={BEHIND_UNIT})",
        unit,
        _SPAN,
    ),
    (
        r"(?:just )?for the (?:long |bank holiday |whole |entire |coming |summer |spring |autumn "
        rf"|winter )?{UNIT}(?: only)?(?={BEHIND_UNIT})",
        unit,
        _LENGTH,
    ),
    (rf"{NO_BEGINNING}(?:the|this) (?:whole|entire) {UNIT}(?={BEHIND_UNIT})", unit, _SPAN),
    (rf"{NO_BEGINNING}this (?P<unit>fortnight)(?P<n>)", length, _SPAN),
    (rf"(?P<how>for)(?P<end>) {MONTH}(?!-)(?={CLAUSE_END})", whole_month, _SPAN),
    (rf"{UNTIL} {_WORDS}in {LENGTH}", length, _END),
    (r"this (?P<unit>week) and (?:the )?(?P<next>next)(?: week| one)?", unit, _SPAN),
    (r"this and (?P<next>next) (?P<unit>week|month)", unit, _SPAN),
    (rf"{NO_BEGINNING}all (?:of )?(?:this )?(?P<unit>week|weekend|month|summer|winter)", unit, _SPAN),
    (rf"{NO_BEGINNING}all (?:of )?(?P<next>next )(?P<unit>week|weekend|month)", unit, _SPAN),
    (rf"{UNTIL} {LENGTH} from (?:now|today|tomorrow)", length, _END),
    (rf"{JUST}for {_ABOUT}{_NEXT}{LENGTH}", length, _AHEAD),
    (rf"(?:over|during|within) the {_NEXT}{LENGTH}", length, _AHEAD),
    (r"(?:for|over|during) the next (?P<unit>hour|week|fortnight|month|year|quarter)(?P<n>)", length, _AHEAD),
    (rf"(?:the )?next {LENGTH}", length, _AHEAD),
    (rf"for {_ABOUT}another {LENGTH}", length, _AHEAD),
    (rf"another {LENGTH}(?={CLAUSE_END})", length, _AHEAD),
    (
        rf"(?:for )?(?P<n>one|two|three|four|five|six|seven|eight|nine|ten|\d{{1,3}}|a couple|a few) more {LENGTH_UNIT}"
        rf"(?={CLAUSE_END})",
        length,
        _AHEAD,
    ),
    (rf"{JUST}for {_ABOUT}{LENGTH}", length, _LENGTH),
    (rf"{UNTIL} (?:eod|cob|eob|close of (?:business|play)|end of (?:business|play)|the day)", today, _END),
    (rf"{NO_BEGINNING}{NO_VERB_OF_BEING}(?:today|tonight|tomorrow)(?=[.!?\s]{{0,3}}\Z)", today, _SPAN),
    (r"(?:\A|(?<=[.!?;:] ))(?:today|tonight|tomorrow)(?=,? (?:i|i'm|we|we're|my|our|the|it's)\b)", today, _SPAN),
    (rf"(?:\A|(?<=[.!?;:] ))this {WEEKDAY}(?=,? (?:i'm|we're|my|our|the)\b)", weekday, _SPAN),
    (rf"this \w{{3,6}}day (?:and|&) {WEEKDAY}", weekday, _SPAN),
    (rf"{UNTIL} (?:about |around )?{HOUR}(?={CLAUSE_END})", hour, _HOUR),
    (rf"{NO_BEGINNING}{NO_VERB_OF_BEING}(?:today|tonight)(?={CLAUSE_END})", today, _HOUR),
    (r"(?:just |only |for )?(?:today|tonight) (?:and|&|or) tomorrow(?: night)?", today, _SPAN),
    (rf"(?:just |only |for )?(?:today|tomorrow) (?:and|&) {WEEKDAY}", weekday, _SPAN),
    (rf"(?:just|only) (?:for |this |for this ){WEEKDAY}", weekday, _SPAN),
    (rf"(?:for )?this {WEEKDAY} only", weekday, _SPAN),
    (
        r"(?:just|only) (?:for )?(?:today|tonight|tomorrow)|for (?:today|tonight|tomorrow)(?: only)?"
        r"|(?:today|tonight|tomorrow) only|for the (?:day|night|evening)",
        today,
        _SPAN,
    ),
    (rf"{NO_BEGINNING}(?:just |only |for )?this (?:morning|afternoon|evening)", today, _SPAN),
)


@cache
def whole_bounds() -> tuple[tuple[re.Pattern[str], Reader, BoundKind], ...]:
    """Each pattern of a whole bound, the reader of its end, and its kind."""
    return tuple((re.compile(rf"(?<!\w)(?:{row})(?!\w)"), reader, kind) for row, reader, kind in _WHOLE_BOUNDS)


@cache
def frames() -> tuple[tuple[re.Pattern[str], BoundKind], ...]:
    """What stands right before a day that is a bound."""
    return tuple((re.compile(rf"(?<!\w)(?:{row})"), kind) for kind, rows in _FRAMES.items() for row in rows)


@cache
def named_days() -> tuple[tuple[re.Pattern[str], Reader], ...]:
    """A day, with the reader of its end; the first that matches counts."""
    return tuple((re.compile(rf"(?:{row})(?!\w)"), reader) for row, reader in _DAYS)


_NEAR = 80


@dataclass(frozen=True, slots=True)
class Bound:
    """The exclusive end, where in the text it is said, and how; `names_end`: it says until when, not for how long."""

    until: datetime
    span: tuple[int, int]
    kind: BoundKind = BoundKind.END

    @property
    def until_by_words(self) -> datetime | None:
        """The end; None where a model has to say whether it bounds."""
        return None if self.kind is BoundKind.NOW else self.until

    @property
    def names_end(self) -> bool:
        """Whether it says until when."""
        return self.kind is BoundKind.END


def read_bound(text: str, at: datetime) -> Bound | None:
    """The first bound that a clause names, seen from `at` (with a zone); None without one, or for one that is past.

    Until what hour something goes on says nothing of the day: "open until ten".
    """
    return next((bound for bound in read_bounds(text, at) if bound.kind is not BoundKind.HOUR), None)


def read_bounds(text: str, at: datetime) -> list[Bound]:
    """All that a text names, those that say until when first, in its order; of those that begin alike the longest."""
    found = [*_in_english(text, at.astimezone(UTC)), *(Bound(one.until, one.span) for one in last_days(text, at))]
    found += (Bound(one.until, one.span, BoundKind.NOW) for one in days_now(text, at))
    return sorted(found, key=lambda one: (not one.names_end, one.span[0], -one.span[1]))


def _in_english(text: str, now: datetime) -> Iterator["Bound"]:
    lowered = text.lower().replace("\u2019", "'")
    if _hint().search(lowered) is not None:
        read = (*_whole(lowered, now), *_framed(lowered, now))
        yield from (one for one in read if one.until > now and _bounds(lowered, one))


def _bounds(text: str, bound: Bound) -> bool:
    """Not "Monday through Friday", as a rule, and not "I don't start until Monday", when something begins."""
    before = text[max(0, bound.span[0] - _NEAR) : bound.span[0]]
    return not (bound.names_end and _no_bound_behind().search(before))


def _whole(text: str, now: datetime) -> Iterator[Bound]:
    for pattern, reader, kind in whole_bounds():
        for match in pattern.finditer(text):
            end = reader(match, now)
            if end is not None:
                yield Bound(end, match.span(), kind)


def _framed(text: str, now: datetime) -> Iterator[Bound]:
    """A frame, and right behind it a day."""
    for frame, kind in frames():
        for match in frame.finditer(text):
            found = _day_at(text, match.end(), now)
            if found is not None:
                end = at_hour(text[match.start() : found[1]], found[0])
                yield Bound(end, (match.start(), found[1]), kind)


def _day_at(text: str, place: int, now: datetime) -> tuple[datetime, int] | None:
    for pattern, reader in named_days():
        match = pattern.match(text, place)
        end = reader(match, now) if match is not None else None
        if match is not None and end is not None:
            return end, match.end()
    return None


@cache
def _hint() -> re.Pattern[str]:
    """Without one of these no pattern matches."""
    return re.compile(
        r"\b(?:un)?til|\bthr(?:u|ough)\b|\bup to\b|\bend(?:s|ing)?\b|\bruns? out\b|\bto(?:day|night|morrow)\b"
        r"|\b(?:for|next|this|all|over|during|within|throughout|between|from|before|back|return|another|more|whole"
        r"|entire|rest of|these|expire|done|finish|sorted|fixed|reopen|resume|goes|gets|comes|pending|dry)"
        r"|\b(?:home|out|leaving)\b|\d(?:st|nd|rd|th)\b|\d ?[-\u2013] ?\d"
    )


@cache
def _no_bound_behind() -> re.Pattern[str]:
    """Up to where a bound is said: from when something is done as a rule, a beginning that is denied or put off."""
    begins = (
        "start|begin|arrive|move|open|leave|come|get|return|land|receive|know|find out|hear|join|finish|launch|reopen"
        "|resume|happen|be back"
    )
    denied = r"(?:n't|\bnot|\bnever|\bcannot|\bdont|\bwont)"
    put_off = r"wait|postpon|delay|defer|hold(?:ing)? off|put(?:ting)? \w+ off|push\w* \w+ back|reschedul"
    return re.compile(
        rf"\b(?:{WEEKDAY}|{MONTH}) \Z|{denied} (?:\w+ ){{0,2}}?(?:{begins})\b[^.;!?,]{{0,60}}\Z|\bnot \Z"
        rf"|\b(?:{put_off})[^.;!?,]{{0,40}}\Z|\b(?:have|has|had|got|'ve|leading|looking forward) \Z"
    )
