"""Claims of who is what to the speaker: "my manager is Helen", "we changed vets", "a different therapist" (P-24)."""

from collections.abc import Iterator

from recollect.domain.claims import Claim, ClaimKind
from recollect.domain.clause_reading import Reading
from recollect.domain.cue_rules import CueRules
from recollect.domain.cue_values import content_stems, is_name, trimmed
from recollect.domain.cue_words import singular
from recollect.domain.modality import Modality, Mood
from recollect.domain.predicates import Predicate
from recollect.domain.thing_attributes import attribute_of


def person_claims(reading: Reading, said: Predicate, how: Modality, rules: CueRules) -> Iterator[Claim]:
    """My manager is Helen; my girlfriend is called Sofia: who it is, as the speaker's own."""
    role = said.subject.split()
    if said.verb != "be" or how.mood is not Mood.PRESENT or not _own_role(reading, said, rules):
        return
    value = trimmed(said.rest[1:] if said.words[:1] in (("called",), ("named",)) else said.rest, rules.words)
    if not value or not is_name(value):
        return
    attribute, _ = attribute_of(tuple(role), "name", rules, False)
    kind = ClaimKind.CHANGE if how.now else ClaimKind.STATE
    sure = how.now or reading.until is not None or role[-1] in rules.words.lists["unique_persons"]
    yield reading.claim(attribute, value, kind, "thing.person", subject="", exclusive=sure)


def _own_role(reading: Reading, said: Predicate, rules: CueRules) -> bool:
    """Whether the subject is "my" or "our" somebody."""
    first = next((token.word for token in reading.clause.tokens if token.start >= said.first), "")
    return (
        first in ("my", "our") and said.subject.split()[-1:] != [] and said.subject.split()[-1] in rules.words.persons
    )


def replaced_claims(reading: Reading, said: Predicate, how: Modality, rules: CueRules) -> Iterator[Claim]:
    """We changed vets; I've started seeing a different therapist; my manager isn't Helen any longer."""
    if how.negated or how.ended:
        yield from _no_longer(reading, said, how, rules)
        return
    if how.mood is Mood.PLAN or said.thing:
        return
    changes = said.verb in ("change", "switch", "swap") and said.rest and "to" not in said.words
    places = [1] if changes and said.words[0] in ("my", "our", "the") else [0] if changes else []
    news = (at + 1 for at, word in enumerate(said.words[:6]) if word in ("new", "different"))
    for place in (*places, *news):
        noun = said.rest[place : place + 1]
        if not noun or _has_noun_behind(said, place, rules):
            continue
        name = singular(noun[0].word)
        known = rules.noun_of((name,)) is not None or name in rules.words.lists["unique_persons"]
        if not known and (place not in places or not name.isalpha()):
            continue
        attribute, _ = attribute_of((name,), "name", rules, False)
        yield reading.claim(
            attribute, said.rest[: place + 1], ClaimKind.CHANGE, "thing.replaced", value="", exclusive=True
        )
        return


def _has_noun_behind(said: Predicate, place: int, rules: CueRules) -> bool:
    """A new phone case is no new phone."""
    behind = said.rest[place + 1 : place + 2]
    if not behind or behind[0].is_capital or behind[0].start > said.rest[place].end + 1:
        return False
    word = behind[0].word
    return bool(content_stems((word,), rules.words)) and word not in rules.words.adverbs and not word.endswith("ly")


def _no_longer(reading: Reading, said: Predicate, how: Modality, rules: CueRules) -> Iterator[Claim]:
    role = said.subject.split()
    if said.verb != "be" or not how.ended or not _own_role(reading, said, rules):
        return
    value = trimmed([token for token in said.rest if token.word not in ("any", "longer", "anymore")], rules.words)
    if value and is_name(value):
        attribute, _ = attribute_of(tuple(role), "name", rules, False)
        yield reading.claim(attribute, value, ClaimKind.END, "thing.no_longer", subject="", exclusive=True)


def name_claims(reading: Reading, said: Predicate, rules: CueRules) -> Iterator[Claim]:
    """My girlfriend Emma works nights: who it is of whom there is one."""
    tokens = [token for token in reading.clause.tokens if token.is_word]
    if said.subject not in rules.words.lists["unique_persons"]:
        return
    place = next((place for place, token in enumerate(tokens[:-1]) if token.word == said.subject), None)
    if place is not None and tokens[place + 1].is_capital and not rules.words.is_verb(tokens[place + 1].word):
        attribute, _ = attribute_of((said.subject,), "name", rules, False)
        value = tokens[place + 1 : place + 2]
        yield reading.claim(attribute, value, ClaimKind.STATE, "thing.person", subject="", exclusive=True)
