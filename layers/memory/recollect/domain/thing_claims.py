"""Claims of the speaker's things: "the meeting is on Tuesday", "we moved it to Thursday", "my favourite is teal"."""

from collections.abc import Iterator, Sequence

from recollect.domain.attribute_claims import fits, slot_tokens
from recollect.domain.claims import Claim, ClaimKind
from recollect.domain.clause_reading import Reading, tail_stems
from recollect.domain.clauses import Token
from recollect.domain.cue_rules import CueRules
from recollect.domain.cue_values import Sort, is_name, trimmed, typed_values
from recollect.domain.modality import Modality, Mood
from recollect.domain.predicates import Predicate
from recollect.domain.role_claims import person_claims
from recollect.domain.thing_attributes import FAVOURITE, attribute_of, facet_of

_OWN = frozenset({"my", "our", "the", "this", "that"})


def thing_claims(reading: Reading, said: Predicate, how: Modality, rules: CueRules) -> Iterator[Claim]:
    """What the clause says of a thing that is its subject, its object, or what its subject is."""
    if how.negated or how.ended:
        return
    inverted = tuple(_inverted(reading, said, how, rules))
    yield from inverted
    if inverted:
        return
    moved = tuple(_moved(reading, said, how, rules))
    yield from moved
    if moved:
        return
    if said.thing:
        yield from _of_subject(reading, said, how, rules)
    elif said.subject:
        yield from person_claims(reading, said, how, rules)
    elif not said.subject:
        yield from _had(reading, said, how, rules)


def _of_subject(reading: Reading, said: Predicate, how: Modality, rules: CueRules) -> Iterator[Claim]:
    text = " " + said.text
    for template in rules.topics_by_verb.matching(said.verb, said.words):
        if template.kind not in ("thing", "thing_change"):
            continue
        match = template.match(text)
        if match is None:
            continue
        changes = template.kind == "thing_change"
        if how.mood is Mood.PAST and not changes:
            continue
        value = slot_tokens(match, said.rest, len(said.verb) + 1)
        if template.slot != "value" and not fits(template.slot, value, reading.written(value), rules):
            continue
        thing = said.thing
        if value[:1] and value[0].word == "due":
            thing, value = (*thing, "deadline"), value[1:]
        kind = ClaimKind.CHANGE if changes or how.now else ClaimKind.STATE
        yield from _claim(reading, thing, value, kind, template.rule, rules, how.mood is Mood.PLAN)
        return


def _moved(reading: Reading, said: Predicate, how: Modality, rules: CueRules) -> Iterator[Claim]:
    """We moved the meeting to Thursday; we upgraded prod to python 3.12."""
    if said.verb not in rules.words.lists["transfer_verbs"] or "to" not in said.words[1:10] or how.mood is Mood.PLAN:
        return
    start = 1 if said.words[:1] and said.words[0] in rules.words.lists["particles"] else 0
    own = (
        said.words[start] in _OWN if not said.subject or said.subject == "they" else said.words[start] in ("my", "our")
    )
    if not own and said.words[start] not in rules.words.things:
        return
    to = said.words.index("to", 1)
    if said.words[to + 1 : to + 2] and rules.words.is_verb(said.words[to + 1]):
        return
    cut = said.words.index("from") if "from" in said.words[:to] else to
    phrase = [word for word in said.words[start:cut] if word not in rules.words.lists["particles"]]
    thing = tuple(rules.words.thing_words(phrase))
    value = said.rest[to + 1 :]
    loose = said.verb in rules.words.lists["rename_verbs"]
    if not loose and not (typed_values(reading.written(value[:4])) or is_name(value[:2])):
        return
    yield from _claim(reading, thing, value, ClaimKind.CHANGE, "thing.moved", rules, False)


def _had(reading: Reading, said: Predicate, how: Modality, rules: CueRules) -> Iterator[Claim]:
    """I have a dentist appointment on Monday; we have three kids."""
    held = said.verb in ("do", "hold") and said.words[:1] and said.words[0] in rules.words.things
    if held and typed_values(reading.written(said.rest[1:])):
        kind = ClaimKind.CHANGE if how.now else ClaimKind.STATE
        yield from _claim(reading, (said.words[0],), said.rest[1:], kind, "thing.had", rules, False)
        return
    if said.verb != "have" or how.mood is not Mood.PRESENT or len(said.rest) < 2:
        return
    kind = ClaimKind.CHANGE if how.now else ClaimKind.STATE
    if said.words[0] in rules.words.lists["counts"] or said.words[0].isdigit():
        noun = trimmed(said.rest[1:3], rules.words)
        if noun and noun[-1].word.isalpha():
            counted = rules.words.thing_words([token.word for token in noun])
            yield reading.claim(f"number of {' '.join(counted)}", said.rest[:1], kind, "thing.count", exclusive=True)
        return
    new = said.words[1] == "new"
    if said.words[0] not in ("a", "an", "another", "my", "our", "the"):
        return
    cut = next((at for at, word in enumerate(said.words) if at > 1 and word in ("on", "at", "in", "for", "of")), None)
    if cut is not None and typed_values(reading.written(said.rest[cut:])):
        value = trimmed(said.rest[cut:], rules.words)
        thing = (*tail_stems(said.rest, value, rules), *rules.words.thing_words(list(said.words[1:cut])))
        yield from _claim(reading, thing, said.rest[cut:], kind, "thing.had", rules, False)
    elif new and (known := rules.noun_of(said.words[2:3])) is not None:
        yield reading.claim(known, said.rest[1:3], ClaimKind.CHANGE, "thing.new", exclusive=True)


def _inverted(reading: Reading, said: Predicate, how: Modality, rules: CueRules) -> Iterator[Claim]:
    """The Thai is our favourite place to eat; Dr. Feldmann is my GP."""
    if said.verb in ("stand", "act", "serve", "fill", "step", "cover") and "as" in said.words[:3]:
        place = said.words.index("as") + 1
        phrase = [token.word for token in trimmed(said.rest[place + 1 :], rules.words)]
        if said.words[place : place + 1] in (("my",), ("our",)) and phrase and said.subject:
            before = [
                one for one in reading.clause.tokens if one.is_word and said.first <= one.start < said.rest[0].start
            ]
            value = [one for one in before if one.word not in said.auxiliaries and one.word != said.form]
            thing = tuple(rules.words.thing_words(phrase))
            yield from _claim(reading, thing, tuple(value), ClaimKind.STATE, "thing.inverted", rules, False)
        return
    own = said.words[:1] and (said.words[0] in ("my", "our") or (said.words[0] == "the" and "most" in said.words))
    if said.verb != "be" or not own or how.mood is not Mood.PRESENT:
        return
    before = [token for token in reading.clause.tokens if token.is_word and token.start < said.rest[0].start]
    value = [token for token in before if token.start >= said.first and token.word not in said.auxiliaries]
    phrase = [token.word for token in trimmed(said.rest[1:], rules.words)]
    if "most" in said.words:
        phrase = ["favourite", *[word for word in phrase if word not in ("i", "we", "love", "like", "most", "enjoy")]]
    known = rules.noun_of(phrase)
    if any(word.endswith("'s") for word in phrase):
        return
    if value and phrase and (known is not None or FAVOURITE & set(phrase) or is_name(value)):
        kind = ClaimKind.CHANGE if how.now else ClaimKind.STATE
        thing = tuple(rules.words.thing_words(phrase))
        yield from _claim(reading, thing, tuple(value), kind, "thing.inverted", rules, False)


def _claim(
    reading: Reading,
    thing: tuple[str, ...],
    value: Sequence[Token],
    kind: ClaimKind,
    rule: str,
    rules: CueRules,
    planned: bool,
) -> Iterator[Claim]:
    said = reading.predicate
    subject = said.subject if said is not None and said.thing else ""
    kept = trimmed(value, rules.words)
    if not thing or not kept:
        return
    facet = facet_of(reading.written(kept), kept, value)
    if planned and facet not in ("when", "where"):
        return
    bare = facet == Sort.WORDS and value[0].word not in ("a", "an", "the", "my", "our")
    attribute, exclusive = attribute_of(thing, facet, rules, bare)
    strong = facet != Sort.WORDS or not attribute.startswith("the ")
    exclusive = exclusive and (rule != "thing.had" or kind is ClaimKind.CHANGE or reading.until is not None)
    yield reading.claim(attribute, kept, kind, rule, subject=subject, exclusive=exclusive, strong=strong)
