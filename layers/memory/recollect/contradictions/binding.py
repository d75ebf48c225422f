"""Which of the bounds that a text names its value holds until: "until Friday" binds, "due on Friday" does not (P-24).

Read from the words around the bound, up to the clause's and the sentence's end. These are English: in other languages a
word for "until" before a day is a bound, and the model alone says whether what is said lasts.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from recollect.contradictions.bounds import Bound, BoundKind, read_bounds
from recollect.text.sentences import is_question, split_sentences

_WITHIN = 400
"""Characters of a text in which its bound is looked for: further on it belongs to something else that is said."""
_CACHED = 512

_I = re.IGNORECASE
_CLAUSE_START = re.compile(r"[,;:.!?]\s|\s(?:and|but|so|because)\s", _I)
_COMMA = re.compile(r"[,;:]\s+")
_WORD = re.compile(r"\w")
_CONDITION = re.compile(r"\b(?:if|unless|suppose|supposing|whether|whenever)\b", _I)
_UNREAL = re.compile(r"\b(?:would|could|might|should|wish|'d (?:love|like)|hoping|maybe|perhaps)\b", _I)
_NO_VALUES = re.compile(
    r"\bthis (?:year|quarter|spring|summer|fall|autumn|winter|semester|term)\b|\bover the (?:summer|winter|year)\b", _I
)
_DUE = re.compile(r"\b(?:due(?! back)|deadline|no later than|expected)\b[^.;!?]{0,30}\Z", _I)
_LASTED = re.compile(
    r"\b(?:was|were|had|did|lived|worked|stayed|slept|drove|ate|smoked|played|studied|kept|went|ran|wore|drank|taught"
    r"|rented|owned|liked|loved|hated|wanted|knew|needed|trained|walked|cycled|commuted|read|watched|saw|dated|spoke"
    r"|cooked|practised|shared|attended|served|volunteered|weighed|earned|paid|sat|stood|held)\b",
    _I,
)
_SO_FAR_BEFORE = re.compile(r"\b(?:have|has|had|'ve)\s+(?:\w+\s+){0,2}\w+(?:ed|en|wn|pt|ft|ld|ght)\b|\bbeen\b", _I)
_HAPPENED = re.compile(
    r"\b(?:start|begin|began|mov|join|leav|left|quit|launch|retir|marr|becom|became|buy|bought|sell|sold|since"
    r"|got (?:married|engaged|divorced|promoted|fired|hired|diagnosed|a new|my|our|the (?:job|keys)))",
    _I,
)
_GIVEN = re.compile(
    r"\b(?:moved|switched|put|swapped|borrowed|hired|lent|changed|cancelled|suspended|banned|closed|shut|set|locked"
    r"|redirected|transferred|assigned) (?:me|us|my|our|the)\b",
    _I,
)
_HABIT = re.compile(
    r"\b(?:every|each|daily|nightly|weekly|monthly|yearly|always|usually|normally|typically|per|at a time"
    r"|(?:a|an) (?:night|day|week|month|year)(?! (?:or|and)\b)|most (?:days|nights|mornings|evenings)"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)days|weekends|weekdays"
    r"|(?:before|after) (?:bed|breakfast|lunch|dinner|work|school))\b",
    _I,
)
_TRIP = (
    r"\b(?:going|goes?|flying|travell?ing|heading|driving|off)(?: back| away| down| up)? to (?:[\w'-]+ ){1,4}"
    r"(?:[\w'-]+ )?(?:on |out |from )?\Z"
)
_TAKES = re.compile(
    r"\b(?:runs?|lasts?|goes on|takes?|took|(?:am|is|are|'s|'re|stays?) (?:still )?(?:valid|good|kept|stored|retained"
    rf"|guaranteed|insured|covered|locked|fixed|cached|archived|on|booked|planned))\s*\Z|{_TRIP}",
    _I,
)
_SO_FAR = re.compile(r",? (?:now|already|so far|straight|running|in a row|total)\b", _I)
_OF_HOURS = re.compile(r"\bhours?\b|\bhalf an\b", _I)
_GOES_ON = re.compile(r"\b(?:am|is|are|'m|'s|'re) (?:not |still |only |just )?\w+ing\b", _I)
_IS_SO = re.compile(r"\b(?:am|is|are|no|not)\b|(?:'m|'s|'re|n't)\b|\A\s*\w+ing\b", _I)
"""What is so or not so, or goes on, for a day; any other clause tells what happens on it."""
_AM = re.compile(r"\b(?:i'm|i am|we're|we are)\b", _I)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a bound is said: its words, the sentence before and behind it, and of what is before the clause."""

    kind: BoundKind
    words: str
    leading: str
    before: str
    behind: str

    @classmethod
    def of(cls, text: str, sentence: tuple[int, int], bound: Bound) -> "_Place":
        start, end = bound.span
        leading = text[sentence[0] : start]
        return cls(bound.kind, text[start:end], leading, _CLAUSE_START.split(leading)[-1], text[end : sentence[1]])

    @property
    def binds(self) -> bool:
        """Whether what is said here holds until then, and no longer."""
        if (
            _NO_VALUES.search(self.words)
            or _DUE.search(self.before)
            or _UNREAL.search(self.before)
            or _CONDITION.search(self.leading)
        ):
            return False
        return _OF_KIND[self.kind](self)


def _is_until(place: _Place) -> bool:
    """They moved me to Leeds until June; not: I lived there until March."""
    return _LASTED.search(place.before) is None


def _is_ahead(_: _Place) -> bool:
    return True


def _is_within(place: _Place) -> bool:
    """I'm on the sofa this week; not: I joined Bosch this week."""
    return _HAPPENED.search(place.before) is None and _LASTED.search(place.before) is None


def _is_for_so_long(place: _Place) -> bool:
    """In Munich for two weeks; not: for two weeks now, for an hour before bed, the lease runs for two years."""
    of_hours = _OF_HOURS.search(place.words) is not None
    around = f"{place.before} {place.behind}" if of_hours else place.behind
    if _SO_FAR.match(place.behind) or _HABIT.search(around) or _TAKES.search(place.before):
        return False
    if _LASTED.search(place.before) or _SO_FAR_BEFORE.search(place.before):
        return _GIVEN.search(place.before) is not None
    return not of_hours or _GOES_ON.search(place.before) is not None


def _is_of_today(place: _Place) -> bool:
    """I'm at the library until six, no football today; not: it's open until six, season 3 tonight, I told her today."""
    over = _LASTED.search(place.before) or _HAPPENED.search(place.before)
    if over or _HABIT.search(f"{place.before} {place.behind}"):
        return False
    if place.words.lower().startswith("to"):
        return _IS_SO.search(place.before) is not None
    return _AM.search(place.before) is not None


_OF_KIND: Mapping[BoundKind, Callable[[_Place], bool]] = {
    BoundKind.END: _is_until,
    BoundKind.AHEAD: _is_ahead,
    BoundKind.SPAN: _is_within,
    BoundKind.LENGTH: _is_for_so_long,
    BoundKind.HOUR: _is_of_today,
    BoundKind.NOW: _is_ahead,
}


def holds_until(text: str, at: datetime) -> datetime | None:
    """The exclusive end, as the words say it at that instant; None without one, or if a model had to say."""
    bound = binding_bound(text, at)
    return None if bound is None else bound.until_by_words


@lru_cache(_CACHED)
def binding_bound(text: str, at: datetime) -> Bound | None:
    """The first of the text's bounds until which its value holds; None where it is open-ended, or says nothing else."""
    read = text[:_WITHIN]
    spans = sentence_spans(read)
    for bound in read_bounds(read, at):
        span = next((one for one in spans if one[0] <= bound.span[0] < one[1]), None)
        if span is None or is_question(read[slice(*span)]) or (bound.kind is BoundKind.HOUR and len(spans) > 1):
            continue
        alone = not _WORD.search(text[: bound.span[0]] + text[bound.span[1] :])
        if not alone and _Place.of(read, span, bound).binds:
            return bound
    return None


def clause_around(text: str, bound: Bound) -> tuple[int, int]:
    """Where the clause in which a bound is said begins and ends: between commas, within its sentence.

    What the sentence begins with is the bound of all of it: "til Friday I'm at Horsforth, not Headingley", "this week I
    take Leo to school, Yannick is away". So is an end that is a clause by itself: "I'm in Porto, back on the 24th". An
    end that the text begins with is that of what follows its first sentence too, where that is shorter: it says nothing
    by itself ("you park round the back there").
    """
    start, end = next((one for one in sentence_spans(text) if one[0] <= bound.span[0] < one[1]), (0, len(text)))
    begins = not text[start : bound.span[0]].strip()
    if begins and bound.names_end and not text[:start].strip() and len(text[end:].strip()) < end - start:
        return start, len(text)
    commas = [match.end() for match in _COMMA.finditer(text, start, bound.span[0])]
    after = _COMMA.search(text, bound.span[1], end)
    clause = (commas[-1] if commas else start, after.start() if after is not None else end)
    alone = bound.names_end and not _WORD.search(text[clause[0] : bound.span[0]] + text[bound.span[1] : clause[1]])
    return (start, end) if begins or alone else clause


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Where each sentence begins and ends."""
    spans, at = [], 0
    for sentence in split_sentences(text):
        start = text.index(sentence, at)
        at = start + len(sentence)
        spans.append((start, at))
    return spans
