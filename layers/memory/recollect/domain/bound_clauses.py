"""Which bound of a keyed value's text binds it, by the clause that it stands in (P-24).

It binds nothing where that clause tells what is over ("I lived there until March"), what has lasted so far ("I've
worked there for three years"), what happened within it ("I joined Bosch this week"), what is done as a rule ("for an
hour before bed"), how long something takes ("the lease runs for two years") or by when something is due.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from recollect.domain.bound_patterns import BoundKind
from recollect.domain.bounds import Bound
from recollect.domain.clauses import Clause, Sentence, read_sentences
from recollect.domain.cue_rules import CueRules, default_cue_rules
from recollect.domain.modality import Modality, Mood, read_modality
from recollect.domain.predicates import Predicate
from recollect.domain.subjects import read_predicate

_NO_VALUES = re.compile(
    r"\bthis (?:year|quarter|spring|summer|fall|autumn|winter|semester|term)\b|\bover the (?:summer|winter|year)\b",
    re.IGNORECASE,
)
_HABIT = re.compile(
    r"\b(?:every|each|daily|nightly|weekly|monthly|yearly|always|usually|normally|typically|per|at a time"
    r"|(?:a|an) (?:night|day|week|month|year)(?! (?:or|and)\b)|most (?:days|nights|mornings|evenings)"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)days|weekends|weekdays"
    r"|(?:before|after) (?:bed|breakfast|lunch|dinner|work|school))\b",
    re.IGNORECASE,
)
_TRIP = (
    r"\b(?:going|goes?|flying|travell?ing|heading|driving|off)(?: back| away| down| up)? to (?:[\w'-]+ ){1,4}"
    r"(?:[\w'-]+ )?(?:on |out |from )?\Z"
)
_TAKES = re.compile(
    r"\b(?:runs?|lasts?|goes on|takes?|took|(?:am|is|are|'s|'re|stays?) (?:still )?(?:valid|good|kept|stored|retained"
    rf"|guaranteed|insured|covered|locked|fixed|cached|archived|on|booked|planned))\s*\Z|{_TRIP}",
    re.IGNORECASE,
)
_SO_FAR = re.compile(r",? (?:now|already|so far|straight|running|in a row|total)\b", re.IGNORECASE)
_GOT = re.compile(
    r"\bgot (?:married|engaged|divorced|promoted|fired|hired|laid|accepted|admitted|into|rid|diagnosed|a new|my|our"
    r"|the (?:job|keys))\b",
    re.IGNORECASE,
)
_MOVES = re.compile(
    r"\b(?:resched|mov|postpon|shift|chang|push|switch|went|grow|grew|increas|decreas|rais|rose|drop)\w*\b"
)
_LATER_ON = re.compile(
    r"\b(?:in|next|from|starting|beginning) (?:early |mid |late )?(?:(?:the )?(?:spring|summer|autumn|fall|winter"
    r"|year|month)"
    r"|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)",
    re.IGNORECASE,
)
_OF_HOURS = re.compile(r"\bhours?\b|\bhalf an\b", re.IGNORECASE)
_FROM = re.compile(r"from|between|\d|[a-z]{3,9} \d", re.IGNORECASE)
_ON_A_TRIP = re.compile(_TRIP, re.IGNORECASE)
_DUE = re.compile(r"\b(?:due(?! back)|deadline|no later than|expected)\b[^.;!?]{0,30}\Z", re.IGNORECASE)
_LASTED = re.compile(r"\b(?:been|have|has|had|'ve)\s+(?:\w+\s+){0,2}\w{2,}(?:ed|en|wn|pt|ft|ld|ght)\b|\bbeen\b", re.I)
_BEGINNING = frozenset(
    ["start", "begin", "move", "join", "leave", "quit", "launch", "retire", "marry", "become", "buy", "sell"]
)
_KEEPING = frozenset(["keep", "store", "retain", "last", "archive"])
_GIVING_UP = frozenset(["stop", "pause", "rent", "cut", "drop"])
_CHANGING = _GIVING_UP | frozenset(
    {"move", "switch", "put", "swap", "borrow", "hire", "lend", "change", "cancel", "suspend", "ban", "close", "shut"}
    | {"set", "lock", "fail", "redirect", "transfer", "assign"}
)
"""What holds for as long as is said behind it; that one has given something up for so long is said of what lasted."""
_LASTING = frozenset(
    {"be", "live", "work", "stay", "have", "use", "sleep", "drive", "eat", "smoke", "play", "study", "keep", "do"}
    | {"go", "run", "wear", "drink", "teach", "belong", "rent", "own", "like", "love", "hate", "want", "know", "need"}
    | {"train", "walk", "cycle", "commute", "read", "watch", "see", "date", "speak", "cook", "practise", "practice"}
    | {"last", "share", "attend", "serve", "volunteer", "weigh", "earn", "cost", "pay", "sit", "stand", "lie", "hold"}
)
"""What is over where it is said to have gone on until then."""
_ASKING = frozenset({"any", "anything", "anyone", "anybody"})
_PASSING_VERBS = frozenset(["be", "have"])


def first_that_binds(text: str, bounds: Iterable[Bound]) -> Bound | None:
    """The first of the text's bounds until which its value holds; None where it is open-ended."""
    rules = default_cue_rules()
    sentences = tuple(read_sentences(text, rules.joints))
    for bound in bounds:
        sentence = next((one for one in sentences if _has(one, bound)), None)
        if sentence is None or (bound.kind is BoundKind.HOUR and len(sentences) > 1):
            continue
        if _Place.of(text, sentence, bound, rules).binds:
            return bound
    return None


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a bound is said: its words, the sentence's before and behind it, the clause and its predicate."""

    bound: Bound
    words: str
    before: str
    behind: str
    clause: str
    asked: bool
    said: Predicate | None
    how: Modality | None

    @classmethod
    def of(cls, text: str, sentence: Sentence, bound: Bound, rules: CueRules) -> "_Place":
        clause, said = _clause_at(sentence, bound, rules)
        start, end = bound.span
        return cls(
            bound=bound,
            words=text[start:end].lower(),
            before=text[sentence.start : start],
            behind=text[end : sentence.end],
            clause=text[clause.start : clause.end] if clause is not None else "",
            asked=clause is not None and _is_asked(sentence, clause, rules),
            said=said,
            how=read_modality(sentence, said, rules.words) if said is not None else None,
        )

    @property
    def binds(self) -> bool:
        """Whether what is said here holds until then, and no longer."""
        if self.asked or _NO_VALUES.search(self.words) or _DUE.search(self.before):
            return False
        if _FROM.match(self.words) and (_ON_A_TRIP.search(self.before) or _MOVES.search(self.before)):
            return False
        return _OF_KIND[self.bound.kind](self)

    @property
    def is_over(self) -> bool:
        """Whether it is told of the past, or as it has been so far."""
        return self.how is not None and (self.how.mood is Mood.PAST or self.how.so_far)

    @property
    def is_unreal(self) -> bool:
        """Whether it would, could or might be so."""
        return self.how is not None and self.how.mood is Mood.UNREAL

    @property
    def goes_on(self) -> bool:
        """Whether it is said of what is going on: "I'm sleeping"."""
        return self.said is not None and self.said.form.endswith("ing")

    def does(self, verbs: frozenset[str]) -> bool:
        """Whether its verb is one of these."""
        return self.said is not None and self.said.verb in verbs


def _is_until(place: _Place) -> bool:
    """They moved me to Leeds until June; not: I lived there until March."""
    lived = place.how is not None and place.is_over and not place.how.so_far and place.does(_LASTING)
    return not (lived or place.is_unreal)


def _is_ahead(place: _Place) -> bool:
    return not place.is_unreal


def _is_within(place: _Place) -> bool:
    """I'm on the sofa this week; not: I joined Bosch this week, we're moving this week."""
    happens = place.is_over or place.does(_BEGINNING) or _GOT.search(place.clause) is not None
    return not (happens or place.is_unreal)


def _is_for_so_long(place: _Place) -> bool:
    """In Munich for two weeks; not: for two weeks now, for an hour before bed, the lease runs for two years."""
    of_hours = _OF_HOURS.search(place.words) is not None
    done = f"{place.before} {place.behind}" if of_hours else place.behind
    if _LATER_ON.search(place.before) or _LATER_ON.match(place.behind.lstrip()):
        return False
    if _SO_FAR.match(place.behind) or _HABIT.search(done) or _TAKES.search(place.before) or place.is_unreal:
        return False
    if place.said is None:
        return _LASTED.search(place.before) is None
    if place.is_over:
        so_far = place.how is not None and place.how.so_far
        return place.does(_CHANGING - _GIVING_UP if so_far else _CHANGING)
    if of_hours:
        return place.goes_on or place.does(_PASSING_VERBS)
    return place.goes_on or not place.does(_KEEPING)


def _is_of_today(place: _Place) -> bool:
    """I'm at the library until six; not: it's open until six, I sleep until ten."""
    if place.is_over or place.is_unreal or _HABIT.search(f"{place.before} {place.behind}"):
        return False
    if place.said is None:
        return place.words.startswith("to")
    am = place.does(_PASSING_VERBS) and place.said.clause.words[:1] in (["i"], ["we"])
    return place.goes_on or am


_OF_KIND: Mapping[BoundKind, Callable[[_Place], bool]] = {
    BoundKind.END: _is_until,
    BoundKind.AHEAD: _is_ahead,
    BoundKind.SPAN: _is_within,
    BoundKind.LENGTH: _is_for_so_long,
    BoundKind.HOUR: _is_of_today,
}


def _is_asked(sentence: Sentence, clause: Clause, rules: CueRules) -> bool:
    """Whether it is a question, not one that is only added ("I'm here until Friday, is that ok?"), or a condition."""
    conditions = rules.words.lists["conditions"]
    if any(conditions & {*one.words[:1], *one.joined.split()} for one in sentence.clauses[: clause.index + 1]):
        return True
    asking = rules.words.lists["question_verbs"] | rules.words.lists["question_words"] | _ASKING
    return sentence.asks and sentence.clauses[0].words[0] in asking


def _has(part: Sentence | Clause, bound: Bound) -> bool:
    return part.start <= bound.span[0] < part.end


def _clause_at(sentence: Sentence, bound: Bound, rules: CueRules) -> tuple[Clause | None, Predicate | None]:
    """The clause that the bound stands in, with its predicate, whose subject a clause before it may tell."""
    before: Predicate | None = None
    for clause in sentence.clauses:
        said = read_predicate(clause, rules.words, before)
        if _has(clause, bound):
            return clause, said
        before = said or before
    return None, None
