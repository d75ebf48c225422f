"""Until when a value holds, as a clause says it: "until Friday", "for the next two weeks", "just for today" (P-24).

Days are UTC days. A named day or date means through its end; the instant is exclusive. "this week" ends on Sunday.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache

from recollect.domain.bound_days import at_hour
from recollect.domain.bound_patterns import BoundKind, frames, named_days, whole_bounds
from recollect.domain.bound_words import MONTH, WEEKDAY

_NEAR = 80


@dataclass(frozen=True, slots=True)
class Bound:
    """The exclusive end, where in the text it is said, and how; `names_end`: it says until when, not for how long."""

    until: datetime
    span: tuple[int, int]
    kind: BoundKind = BoundKind.END

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
    lowered, now = text.lower().replace("\u2019", "'"), at.astimezone(UTC)
    if _hint().search(lowered) is None:
        return []
    found = [
        one for one in (*_whole(lowered, now), *_framed(lowered, now)) if one.until > now and _bounds(lowered, one)
    ]
    return sorted(found, key=lambda one: (not one.names_end, one.span[0], -one.span[1]))


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
