"""WhatsApp's dates, which follow the phone's language: which number is the day is decided by the whole file."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from itertools import pairwise

HEADER = re.compile(
    r"""^[\u200e\u200f\ufeff]*(?P<bracket>\[)?
    (?P<first>\d{1,4})(?P<separator>[./-])\s?(?P<second>\d{1,2})[./-]\s?(?P<third>\d{2,4})\.?,?\s+
    (?P<hour>\d{1,2})[:.](?P<minute>\d{2})(?:[:.](?P<second_of_minute>\d{2}))?
    (?:\s?(?P<half>[aApP])\.?\s?[mM]\.?)?
    (?(bracket)\]\s?|\s[-\u2013]\s)""",
    re.VERBOSE,
)
"""The beginning of a message: `[date, time] ` on an iPhone, `date, time - ` on Android."""

_CENTURY = 2000


class DateOrder(StrEnum):
    """Which of the three numbers is the year, month and day."""

    DAY_FIRST = "dmy"
    MONTH_FIRST = "mdy"
    YEAR_FIRST = "ymd"


@dataclass(frozen=True, slots=True)
class Stamp:
    """A date and time as written: three numbers whose order is yet to be known, and the time of day."""

    numbers: tuple[int, int, int]
    long_first: bool
    separator: str
    half: str | None
    time: tuple[int, int, int]

    @classmethod
    def of(cls, match: re.Match[str]) -> "Stamp":
        """What a header says."""
        hour, half = int(match["hour"]), match["half"]
        if half:
            hour = hour % 12 + (12 if half.lower() == "p" else 0)
        time = (hour, int(match["minute"]), int(match["second_of_minute"] or 0))
        numbers = (int(match["first"]), int(match["second"]), int(match["third"]))
        return cls(numbers, len(match["first"]) > 2, match["separator"], half, time)

    def instant(self, order: DateOrder) -> datetime:
        """The instant, taken as UTC. Raises ValueError where there is no such day or time."""
        a, b, c = self.numbers
        year, month, day = {
            DateOrder.DAY_FIRST: (c, b, a),
            DateOrder.MONTH_FIRST: (c, a, b),
            DateOrder.YEAR_FIRST: (a, b, c),
        }[order]
        return datetime(year + (_CENTURY if year < 100 else 0), month, day, *self.time, tzinfo=UTC)


def date_order(stamps: Iterable[Stamp]) -> DateOrder:
    """The order under which every date exists; of several, the one under which time goes back least often.

    Where even that leaves a choice (all days up to the 12th, in either order), a 12-hour clock with slashes is
    American, and everything else has the day first.
    """
    known = list(stamps)
    if any(stamp.long_first for stamp in known):
        return DateOrder.YEAR_FIRST
    american = bool(known) and known[0].separator == "/" and any(stamp.half for stamp in known)
    preferred = [DateOrder.DAY_FIRST, DateOrder.MONTH_FIRST]
    if american:
        preferred.reverse()
    return min([*preferred, DateOrder.YEAR_FIRST], key=lambda order: _oddities(known, order))


def _oddities(stamps: Sequence[Stamp], order: DateOrder) -> tuple[int, int]:
    """How many dates do not exist in that order, and how often the next message is earlier than the one before."""
    instants = [_instant_or_none(stamp, order) for stamp in stamps]
    real = [instant for instant in instants if instant is not None]
    backwards = sum(1 for before, after in pairwise(real) if after < before)
    return len(instants) - len(real), backwards


def _instant_or_none(stamp: Stamp, order: DateOrder) -> datetime | None:
    try:
        return stamp.instant(order)
    except ValueError:
        return None
