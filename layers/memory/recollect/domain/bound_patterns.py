"""What says a bound in time, as patterns over lower-case text with plain apostrophes (P-24).

A row is a whole bound with the reader of its end, or a frame ("until", "back on") behind which a day stands, or a day.
They are compiled when the first text is read.
"""

import re
from enum import StrEnum
from functools import cache

from recollect.domain.bound_days import (
    Reader,
    feast,
    hour,
    iso_day,
    length,
    month_day,
    numbered_day,
    ordinal,
    quarter,
    today,
    unit,
    week_of_month,
    weekday,
    whole_month,
)
from recollect.domain.bound_words import (
    BEHIND_UNIT,
    CLAUSE_END,
    DAY,
    END_OF,
    FEAST,
    HOUR,
    JUST,
    LENGTH,
    LENGTH_UNIT,
    MONTH,
    NO_BEGINNING,
    NO_VERB_OF_BEING,
    ORDINAL,
    PART,
    TIME,
    UNIT,
    UNTIL,
    WEEKDAY,
    YEAR,
)


class BoundKind(StrEnum):
    """What a bound says: until when, for how long from now, for how long, through which span, until what hour."""

    END = "end"
    AHEAD = "ahead"
    LENGTH = "length"
    SPAN = "span"
    HOUR = "hour"


_END, _AHEAD, _LENGTH, _SPAN, _HOUR = BoundKind
_END_OF_DAY = r"(?:(?:the )?end of )?"
_NUMBERED = (
    r"of|weeks?|weekend|day|time|half|quarter|\w{3,6}day|floor|grade|year|round|chapter|page|edition|place|century"
    r"|level"
    r"|class|form|row|gate|door|house|hole|street|avenue|birthday|anniversary"
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
_FRAMES: tuple[tuple[str, BoundKind], ...] = (
    (rf"{UNTIL} (?:around |about |after |at least |well,? |say )?(?:the )?", _END),
    (rf"{UNTIL} (?:around |about )?{TIME},? (?:on |by |at )?(?:the )?", _END),
    (
        rf"(?:{_TILL}|pending) {_WORDS}(?:on |by |so |so till |\(|which (?:is|should be|will be) |that's )(?:the )?",
        _END,
    ),
    (rf"{_TILL} {_WORDS}{_RETURNS} (?:on |this |next )?(?:the )?", _END),
    (rf"{_TILL} (?:[\w'-]{{1,20}} ){{2,6}}?(?=(?:this |next )?(?:\w{{3,6}}day|tomorrow)\b)", _END),
    (
        rf"{_TILL} (?:[\w'.&-]{{1,30}} ){{0,6}}[\w'.&-]{{1,30}}, (?:hopefully |probably |likely |i think )?"
        r"(?:on )?(?:the )?",
        _END,
    ),
    (r"(?:(?:fly|head|travel|drive)|(?:i|we) (?:come|get|go)) (?:home|back)(?: again)? (?:on )?(?:the )?", _END),
    (r"(?:re-?opens?|resumes?|(?:opens?|open) again|back open) (?:on |again )?(?:the )?", _END),
    (r"(?<=[,(;] )(?:ends?|expires?|expiring|ending|runs? out|finishes|due back) (?:on |at )?(?:the )?", _END),
    (
        r"(?<!'m )(?<!'re )(?<! am )(?<! are )(?:(?:coming|heading|flying|driving|going) (?:back|home)|leaving"
        r"|(?:moving"
        r"|checking) out)(?: again)? (?:on )?(?:the )?",
        _END,
    ),
    (
        r"\d{1,2}(?:st|nd|rd|th)(?: of)?(?: [a-z]{3,9})? ?(?:to|until|till|through|-|\u2013) ?(?:the )?",
        _SPAN,
    ),
    (
        r"(?:\bnot|n't|\bno|\bnever)\b[^.;!?\n]{1,60}? before (?:the )?",
        _END,
    ),
    (
        r"(?<!go )(?<!going )(?<!get )(?<!come )(?<!coming )(?<!moved )(?<!move )(?<!moving )(?<!call )(?<!write )"
        r"(?<!went )(?<!came )(?<!got )(?<!was )(?<!were )(?:back|home again|returning)"
        r"(?: (?:home|to normal|to usual|(?:in|at|to|with|from)(?: [\w'-]{1,20}){1,3}?))?,?"
        r" (?:on |by |from |again )?(?:the )?",
        _END,
    ),
    (rf"{_FROM}(?:on )?(?:the )?", _SPAN),
    (r"(?:from|between) [a-z]{3,9} (?:and|to|until|till|through) (?=\w{3,9} (?:of )?next week)", _SPAN),
    (
        r"(?:that|which|it|he|she|they|this|who|all)(?: only| just| all|'s|'re| is| are)? (?:done|finished|through"
        r"|sorted"
        r"|fixed|ends?|finish(?:es)?|expires?|runs? out|stops?|goes back|comes? back|gets? back|go back|returns?"
        r"|leaves?"
        r"|(?:goes|go|flies|fly) home|moves? out|checks? out|over|up|due back) (?:again )?(?:on |by |at )?(?:the )?",
        _END,
    ),
)
_FIRST = r"(?:\A|(?<=[.!?;:,] ))"
_WHOLE = r"the (?:whole|entirety|entire|rest|remainder|duration) of"
_NEXT = r"(?:next |coming |following )"
_ABOUT = r"(?:the |about |around |roughly |at least |up to |maybe |just |only |a good )?"
_WHOLE_BOUNDS: tuple[tuple[str, Reader, BoundKind], ...] = (
    (
        rf"(?P<how>{UNTIL}) (?P<end>{END_OF})?(?:about |around )?(?:(?P<part>early|mid|late|next|after)[ -])?{MONTH}"
        r"(?: (?P<year>\d{4}))?(?! \d)",
        whole_month,
        _END,
    ),
    (
        rf"(?P<how>the rest of|all of|throughout|during|{_WHOLE}|all(?! ma[ry])|dry)(?P<end>) {MONTH}"
        r"(?: (?P<year>\d{4}))?(?! \d)",
        whole_month,
        _SPAN,
    ),
    (
        rf"(?P<how>for (?:{_WHOLE}|all of|all|the month of))(?P<end>) {MONTH}(?: (?P<year>\d{{4}}))?(?! \d)",
        whole_month,
        _AHEAD,
    ),
    (rf"for {_WHOLE} (?:the |this )?{UNIT}", unit, _AHEAD),
    (
        rf"{UNTIL} {_WORDS}(?P<how>in)(?P<end>) {MONTH}(?: (?P<year>\d{{4}}))?(?! \d)",
        whole_month,
        _END,
    ),
    (rf"{_FIRST}(?:from )?{MONTH} \d{{1,2}}(?:st|nd|rd|th)? ?(?:-|\u2013|to|until|through) ?{DAY}", month_day, _SPAN),
    (
        rf"{_FIRST}\d{{1,2}}(?:st|nd|rd|th)? ?(?:-|\u2013|to|until|through) ?{DAY}(?: of)? {MONTH}{YEAR}",
        month_day,
        _SPAN,
    ),
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
        r"|whole )?)"
        rf"{UNIT}(?: only)?(?={BEHIND_UNIT})",
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
    return tuple((re.compile(rf"(?<!\w)(?:{row})"), kind) for row, kind in _FRAMES)


@cache
def named_days() -> tuple[tuple[re.Pattern[str], Reader], ...]:
    """A day, with the reader of its end; the first that matches counts."""
    return tuple((re.compile(rf"(?:{row})(?!\w)"), reader) for row, reader in _DAYS)
