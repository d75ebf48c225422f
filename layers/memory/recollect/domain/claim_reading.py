"""What a text claims by the cue rules: values stated, changed, ended, taken back (P-24)."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from recollect.domain.bounds import Bound, read_bound
from recollect.domain.claims import Claim, ClaimKind
from recollect.domain.clause_claims import claims_of
from recollect.domain.clause_reading import DENIED, HINT, NEVER, TOPIC, Reading
from recollect.domain.clauses import Clause, Sentence, read_sentences
from recollect.domain.cue_rules import CueRules
from recollect.domain.cue_values import Sort, typed_values
from recollect.domain.cue_words import CueWords
from recollect.domain.modality import Modality, Mood, is_unreal, read_modality
from recollect.domain.predicates import Predicate
from recollect.domain.subjects import read_predicate

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
