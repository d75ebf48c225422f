"""The exact partial change: one value of a sort that stands in both statements, and differs (P-24).

"Rent is 850, all in" and "it went up to 920": the older statement with the new value in its place. Digits
are read, and days by the names of months and weekdays in many languages; whatever is less than certain is no splice.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from recollect.text.coming_dates import day_spans, weekday_spans

_CLOCK = r"\d{1,2}[:.h]\d{2}(?!\d)|\d{1,2} ?(?:(?:am|pm|uhr)\b|[時时点點시](?![間间]))"
_DATE = r"\d{4}-\d{2}-\d{2}|\d{1,2}[./]\d{1,2}[./]\d{2,4}"
_MONEY = r"[$€£¥₹₩]\s?\d[\d.,]*|\d[\d.,]*\s?[$€£¥₹₩元円원]"
_SHARE = r"\d+(?:[.,]\d+)?\s?%"
_MEASURE = r"\d+(?:[.,]\d+)?\s?(?:mg|kg|km|ml|cm|g|m|l|h)\b"
_NUMBER = r"\d+(?:[.,]\d{3})*(?:[.,]\d+)?"
_VALUE = re.compile(
    rf"(?<![A-Za-z\d.,])(?:(?P<date>{_DATE})|(?P<clock>{_CLOCK})|(?P<money>{_MONEY})|(?P<share>{_SHARE})"
    rf"|(?P<measure>{_MEASURE})|(?P<number>{_NUMBER}))(?![A-Za-z\d])",
    re.IGNORECASE,
)


def spliced(older: str, newer: str) -> str | None:
    """The older statement with the newer's value in the place of its own of that sort; None where that is unsure.

    An appointment may move as a whole ("3 December at 9:30", "moved to the 10th of December at 14:00"), or to another
    day at the same time; so may what is on a day of the week.
    """
    olds, news = _of_one_calendar(_values(older), _values(newer))
    if not news or not _is_of(set(news), set(olds)) or any(len(one) != 1 for one in (*olds.values(), *news.values())):
        return None
    pairs = [(olds[sort][0], news[sort][0]) for sort in news]
    if any(_unit(old.said) != _unit(new.said) for old, new in pairs if old.sort not in _OF_TIME):
        return None
    if all(old.said.casefold() == new.said.casefold() for old, new in pairs):
        return None
    return _replaced(older, pairs)


_DATE_SORT, _WEEKDAY_SORT, _CLOCK_SORT = "date", "weekday", "clock"
_OF_TIME = (_DATE_SORT, _WEEKDAY_SORT, _CLOCK_SORT)
_Values = dict[str, list["_Value"]]


@dataclass(frozen=True, slots=True)
class _Value:
    """A value as a text says it, its sort, and its place, half-open."""

    sort: str
    said: str
    span: tuple[int, int]


def _of_one_calendar(olds: _Values, news: _Values) -> tuple[_Values, _Values]:
    """With days of the week as dates where both name one, and without them where they stand or say since when.

    Nothing where the newer names one and the older another day or an hour.
    """
    if _WEEKDAY_SORT in news and _WEEKDAY_SORT in olds:
        mixed = any(_DATE_SORT in one for one in (olds, news))
        return ({}, {}) if mixed else (_as_dates(olds), _as_dates(news))
    moved = _WEEKDAY_SORT in news and any(sort in olds for sort in _OF_TIME)
    return ({}, {}) if moved else (_without_weekdays(olds), _without_weekdays(news))


def _as_dates(values: _Values) -> _Values:
    return {_DATE_SORT if sort == _WEEKDAY_SORT else sort: found for sort, found in values.items()}


def _without_weekdays(values: _Values) -> _Values:
    return {sort: found for sort, found in values.items() if sort != _WEEKDAY_SORT}


def _is_of(news: set[str], olds: set[str]) -> bool:
    """Whether the newer has values of the older's sorts: of the one there is, or of an appointment's day and time."""
    return news == olds if len(olds) == 1 else _DATE_SORT in news <= olds == {_DATE_SORT, _CLOCK_SORT}


def _replaced(text: str, pairs: Sequence[tuple[_Value, _Value]]) -> str:
    for old, new in sorted(pairs, key=lambda pair: pair[0].span, reverse=True):
        text = text[: old.span[0]] + new.said + text[old.span[1] :]
    return text


def _values(text: str) -> _Values:
    days = day_spans(text)
    named = {_DATE_SORT: days, _WEEKDAY_SORT: weekday_spans(text)}
    found = {sort: [_Value(sort, text[slice(*one)], one) for one in spans] for sort, spans in named.items() if spans}
    for match in _VALUE.finditer(text):
        if not any(start < match.end() and match.start() < end for start, end in days):
            value = _Value(str(match.lastgroup), match.group(), match.span())
            found.setdefault(value.sort, []).append(value)
    return found


def _unit(value: str) -> str:
    return re.sub(r"[\d.,:\s]", "", value).lower()
