"""Days, months and years that a question names, as hints of when something was said: "in May 2023", "2022年5月20日".

A hint only lifts what fits it. Filters over named dates are intent mode's (`date_phrases`).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

_NAMES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?P<month>Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?"
    r"|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\.?(?!\w)"
)
_DAY = r"(?P<day>[0-9]{1,2})(?:st|nd|rd|th)?(?![\w:])"
_YEAR = r"(?P<year>(?:19|20)[0-9]{2})(?!\w)"
_GAP = r"[\s,]{1,3}"
_BEFORE_A_MONTH = r"(?<!\w)(?:in|of|on|by|since|until|before|after|during|early|late|mid|last|this|next)[\s-]{1,3}"
# The first pattern that fits a place takes it: the narrower ones stand first.
_PATTERNS = tuple(
    re.compile(pattern)
    for pattern in (
        r"(?<![\w-])(?P<year>[0-9]{4})-(?P<month>[0-9]{2})(?:-(?P<day>[0-9]{2}))?(?![0-9-])",
        r"(?:(?P<year>[0-9]{4})\s?年\s?)?(?P<month>[0-9]{1,2})\s?月(?:\s?(?P<day>[0-9]{1,2})\s?[日号號])?",
        rf"(?<![\w:.]){_DAY}\s{{1,3}}(?:of\s{{1,3}})?{_MONTH}(?:{_GAP}{_YEAR})?",
        rf"(?<!\w){_MONTH}\s{{1,3}}{_DAY}(?:{_GAP}{_YEAR})?",
        rf"(?<!\w){_MONTH}{_GAP}{_YEAR}",
        # A month alone, after a word that times follow: "May" and "March" begin sentences, too.
        rf"{_BEFORE_A_MONTH}{_MONTH}",
        rf"(?<![\w.-]){_YEAR}(?!-|\s?年)|(?P<other_year>[0-9]{{4}})\s?年",
    )
)


@dataclass(frozen=True, slots=True)
class DateHint:
    """A date as far as it was named; what is None was not. A month without a year is that month of any year."""

    year: int | None = None
    month: int | None = None
    day: int | None = None

    @property
    def weight(self) -> float:
        """How much it says: 1 for a day, 0.5 for a month, 0.25 for a year."""
        return 1.0 if self.day else 0.5 if self.month else 0.25

    def holds(self, moment: datetime) -> bool:
        """Whether the moment lies in it, by the UTC calendar."""
        named = ((self.year, moment.year), (self.month, moment.month), (self.day, moment.day))
        return all(own is None or own == other for own, other in named)


def date_hints(text: str) -> tuple[DateHint, ...]:
    """The dates of the text, and for each day its month besides, since what is told of a day is told about then."""
    found = dict.fromkeys(hint for hint in _named(text))
    months = dict.fromkeys(DateHint(hint.year, hint.month) for hint in found if hint.day)
    return tuple(found | months)


def _named(text: str) -> Iterator[DateHint]:
    for pattern in _PATTERNS:
        kept = []
        end = 0
        for match in pattern.finditer(text):
            hint = _hint(match.groupdict())
            if hint is not None:
                yield hint
                kept.append(text[end : match.start()])
                end = match.end()
        text = " ; ".join([*kept, text[end:]])


def _hint(parts: dict[str, str | None]) -> DateHint | None:
    year, month, day = parts.get("year") or parts.get("other_year"), parts.get("month"), parts.get("day")
    number = None if month is None else int(month) if month.isdecimal() else _NAMES.index(month[:3].lower()) + 1
    hint = DateHint(int(year) if year else None, number, int(day) if day else None)
    fits = (hint.month is None or 1 <= hint.month <= 12) and (hint.day is None or 1 <= hint.day <= 31)
    return hint if fits else None
