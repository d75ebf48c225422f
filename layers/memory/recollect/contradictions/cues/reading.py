"""From a text to its claims, and until when a value holds by its own words (P-24).

A bound binds nothing where its clause says what is over ("I lived there until March"), what has lasted so far, what
happened within it, what is done as a rule, how long something takes or by when something is due.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from recollect.contradictions.bounds import Bound, BoundKind, read_bound
from recollect.contradictions.cues.attributes import (
    attribute_claims,
    excluded_claims,
    is_done_to_speaker,
    raw_claims,
    retraction_cues,
    topic_claims,
    value_claims,
)
from recollect.contradictions.cues.claims import DENIED, HINT, NEVER, TOPIC, Claim, ClaimKind, Reading
from recollect.contradictions.cues.clauses import Clause, CueWords, Sentence, Sort, read_sentences, typed_values
from recollect.contradictions.cues.documents import CueRules, default_cue_rules
from recollect.contradictions.cues.predicates import (
    OTHERS,
    Modality,
    Mood,
    Predicate,
    is_unreal,
    read_modality,
    read_predicate,
)
from recollect.contradictions.cues.things import (
    frame_claims,
    kept_claims,
    name_claims,
    placed_claims,
    replaced_claims,
    thing_claims,
    weak_claim,
)


def claims_of(reading: Reading, rules: CueRules) -> Iterator[Claim]:
    """What the clause asserts, ends or takes back, and a weak claim of all it says."""
    yield from raw_claims(reading, rules)
    yield from retraction_cues(reading, rules)
    if not reading.unreal:
        yield from _predicate_claims(reading, rules)
        yield from kept_claims(reading, rules)
    yield from weak_claim(reading, rules)


def _predicate_claims(reading: Reading, rules: CueRules) -> Iterator[Claim]:
    said, how = reading.predicate, reading.modality
    if said is None or how is None or how.mood is Mood.UNREAL or how.remote:
        return
    if said.subject in OTHERS:
        if said.subject == "they":
            yield from thing_claims(reading, said, how, rules)
            yield from topic_claims(reading, said, how, rules) if is_done_to_speaker(said) else ()
        return
    if how.mood is Mood.PLAN and not (said.thing or reading.until is not None):
        return
    own = tuple(attribute_claims(reading, said, how, rules))
    things = () if own and said.thing else tuple(thing_claims(reading, said, how, rules))
    found = (*things, *(() if things else own))
    yield from found
    yield from excluded_claims(found, rules)
    known = {claim.attribute for claim in found}
    yield from (claim for claim in value_claims(reading, said, how, rules) if claim.attribute not in known)
    yield from placed_claims(reading, said, how, rules)
    yield from frame_claims(reading, said, how, rules)
    yield from replaced_claims(reading, said, how, rules)
    yield from name_claims(reading, said, rules)
    yield from topic_claims(reading, said, how, rules)


MOST_CLAIMS = 20
MOST_WEAK_CLAIMS = 12
_DENIALS = ("deny", "state", "supposed")
_NEAR = 200


def read_claims(text: str, at: datetime, rules: CueRules) -> tuple[Claim, ...]:
    """The claims of a user's text, in its order: at most 20, of which at most 12 weak; strong ones go first.

    `at` carries a zone: bounds are seen from it. Raises nothing, whatever the text; time grows with its length at most.
    """
    found = list(dict.fromkeys(_taken_back(tuple(_claims(text, at, rules)), text, rules.words)))
    strong = [claim for claim in found if claim.strong][:MOST_CLAIMS]
    spare = min(MOST_WEAK_CLAIMS, MOST_CLAIMS - len(strong))
    rest = sorted((claim for claim in found if not claim.strong), key=lambda claim: claim.rule != "weak")
    weak = rest[:spare]
    return tuple(sorted((*strong, *weak), key=lambda claim: (claim.span, claim.attribute, claim.value)))


def _claims(text: str, at: datetime, rules: CueRules) -> Iterator[Claim]:
    words = rules.words
    said: Bound | None = None
    for sentence in read_sentences(text, rules.joints):
        bound = _bound_of(text, sentence, at) or (said if _till_then(text, sentence) else None)
        said = bound or _day_of(text, sentence, at) or said
        if bound is None and _till_then(text, sentence):
            continue
        before: Predicate | None = None
        for clause in sentence.clauses:
            predicate = read_predicate(_without_bound(clause, bound), words, before)
            unreal = is_unreal(sentence, clause, words) or _of_others(clause, before, rules)
            how = read_modality(sentence, predicate, words) if predicate is not None else None
            reading = Reading(
                text=text,
                clause=clause,
                span=_span(sentence, clause, rules),
                bound_span=bound.span if bound is not None else (0, 0),
                predicate=predicate,
                modality=how,
                until=_until(bound, how, predicate, words)
                if not unreal and _reaches(sentence, clause, bound, rules)
                else None,
                unreal=unreal,
                context=before.subject if before is not None else "",
            )
            yield from claims_of(reading, rules)
            before = predicate or before


def _taken_back(claims: tuple[Claim, ...], text: str, words: CueWords) -> Iterator[Claim]:
    """Near to words that take something back, what is denied was never so."""
    cues = [claim.span for claim in claims if claim.kind is ClaimKind.RETRACTION and claim.attribute in (TOPIC, HINT)]
    for claim in claims:
        taken = any(claim.span[0] - end <= _NEAR and start - claim.span[1] <= _NEAR for start, end in cues)
        denies = claim.kind is ClaimKind.END and claim.rule != "weak" and claim.rule.endswith(_DENIALS)
        denies = denies and not words.has("end_markers", f" {text[slice(*claim.span)].lower()} ")
        if taken and claim.rule == NEVER:
            yield replace(claim, rule=DENIED)
        elif taken and denies:
            yield replace(claim, kind=ClaimKind.RETRACTION, value=claim.value or claim.attribute, strong=True)
        elif not claim.rule.endswith("supposed"):
            yield claim


def _bound_of(text: str, sentence: Sentence, at: datetime) -> Bound | None:
    bound = read_bound(text[sentence.start : min(sentence.end, sentence.start + 600)], at)
    if bound is None:
        return None
    return replace(bound, span=(bound.span[0] + sentence.start, bound.span[1] + sentence.start))


def _without_bound(clause: Clause, bound: Bound | None) -> Clause:
    """The clause behind a bound that it begins with: "for 48 hours the password is …"."""
    words = [token for token in clause.tokens if token.is_word]
    first = next((token for token in words[:3] if bound is not None and token.start >= bound.span[0]), None)
    if bound is None or first is None or not bound.span[0] <= first.start < bound.span[1]:
        return clause
    behind = tuple(token for token in clause.tokens if token.start >= bound.span[1])
    return replace(clause, tokens=behind) if sum(token.is_word for token in behind) > 1 else clause


def _until(bound: Bound | None, how: Modality | None, said: Predicate | None, words: CueWords) -> datetime | None:
    """The bound; "I joined them this week" has none, nor has "I quit today"."""
    over = how is not None and (how.mood is Mood.PAST or how.so_far or _may_be_past(said, words))
    over = over and not (said is not None and said.verb in words.lists["lending_verbs"])
    if bound is None or (over and not bound.names_end):
        return None
    return bound.until


def _may_be_past(said: Predicate | None, words: CueWords) -> bool:
    """I quit, I split up: of leaving, and the same in the past."""
    if said is None or said.verb not in words.lists["departing_verbs"]:
        return False
    return said.form == said.verb and said.verb in words.irregular.get(said.verb, ())


def _of_others(clause: Clause, before: Predicate | None, rules: CueRules) -> bool:
    """My sister is in the same flat, but the rent is 950 now: the rent of hers."""
    words = [word for word in clause.words if word not in rules.words.adverbs][:1]
    return (
        words == ["the"]
        and before is not None
        and before.subject.split()[-1:] != []
        and (before.subject.split()[-1] in rules.words.persons)
    )


def _reaches(sentence: Sentence, clause: Clause, bound: Bound | None, rules: CueRules) -> bool:
    """Whether the bound is said in the clause, or beside it with no other verb between."""
    if bound is None:
        return False
    start = bound.span[0]
    place = next((one.index for one in sentence.clauses if one.start <= start < one.end), None)
    if place is None or place == clause.index or {"meanwhile", "meantime"} & set(clause.words):
        return True
    between = sentence.clauses[min(place, clause.index) : max(place, clause.index) + 1]
    return all(one is clause or read_predicate(one, rules.words, None) is None for one in between)


def _till_then(text: str, sentence: Sentence) -> bool:
    words = text[sentence.start : sentence.end].lower()
    return "until then" in words or "till then" in words or "til then" in words


def _day_of(text: str, sentence: Sentence, at: datetime) -> Bound | None:
    """The first day that the sentence names, as "until then" takes it up."""
    said = text[sentence.start : sentence.end]
    days = (said[slice(*value.span)] for value in typed_values(said) if value.sort in (Sort.DATE, Sort.DAY))
    return next((bound for day in days if (bound := read_bound(f"until {day}", at))), None)


def _span(sentence: Sentence, clause: Clause, rules: CueRules) -> tuple[int, int]:
    """The clause, with the parts behind it that have no verb, up to the next one that has."""
    for after in sentence.clauses[clause.index + 1 :]:
        if after.joined.strip() != "," or read_predicate(after, rules.words, None) is not None:
            return clause.start, after.start
    return clause.start, sentence.end


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
