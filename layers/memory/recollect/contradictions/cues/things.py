"""Claims of things, people and whatever else a clause speaks of (P-24).

The attribute of a thing is the rules' own for its noun, else one made of its words and the sort of the value. What
distinguishes two things of one noun follows " of ".
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from recollect.contradictions.cues.attributes import fits, slot_tokens
from recollect.contradictions.cues.claims import Claim, ClaimKind, Reading, cut_topic, tail_stems
from recollect.contradictions.cues.clauses import (
    WHEN,
    Clause,
    Sort,
    Token,
    content_stems,
    is_name,
    singular,
    trimmed,
    typed_values,
)
from recollect.contradictions.cues.documents import CueRules
from recollect.contradictions.cues.predicates import Modality, Mood, Predicate, is_remote
from recollect.text.terms import stem

FAVOURITE = frozenset({"favourite", "favorite"})
_PLACED = frozenset({"at", "in", "on"})
_OF_FACET = {
    "where": ("where", "name", "words"),
    "when": ("when", "number"),
    "money": ("money", "number"),
    "name": ("name", "words"),
}


def attribute_of(thing: tuple[str, ...], facet: str, rules: CueRules, bare: bool) -> tuple[str, bool]:
    """The attribute of a thing, and whether it has one value at a time; `bare`: the value is an adjective."""
    if FAVOURITE & set(thing):
        kept = [word for word in thing if word not in FAVOURITE]
        return _with("favourite " + (kept[-1] if kept else "thing"), kept[:-1]), True
    known = rules.noun_of(thing)
    head, others = thing[-1], list(thing[:-1])
    if (
        known is not None
        and rules.attributes[known].personal
        and set(thing[:-1]) - rules.words.lists["personal_modifiers"]
    ):
        known = known if rules.noun_of(thing) != rules.noun_of(thing[-1:]) else None
    if known is not None and facet == "where" and rules.attributes[known].named and not rules.attributes[known].placed:
        known = None
    if known is not None and not (bare and rules.attributes[known].named):
        one = rules.attributes[known]
        return (known if one.personal else _with(known, others)), one.exclusive
    facets = rules.facets
    if head in facets and facet in _OF_FACET[facets[head]]:
        return _with(f"the {others[-1] if others else ''}:{facets[head]}", others[:-1]), True
    return _with(f"the {head}:{facet}", others), True


def _with(attribute: str, others: Sequence[str]) -> str:
    return f"{attribute} of {' '.join(sorted(stem(one) for one in others))}" if others else attribute


def facet_of(written: str, kept: Sequence[Token], value: Sequence[Token]) -> str:
    """The sort of a value by which it can stand in another's place: times of every form are one."""
    sorts = [one.sort for one in typed_values(written)]
    if any(sort in WHEN for sort in sorts):
        return "when"
    inner = kept[1:] if kept[0].word in _PLACED else kept
    named = any(token.is_capital for token in inner) or (len(value) > 1 and value[1].word in ("the", "my", "our"))
    placed = value[0].word in _PLACED and bool(inner) and named
    if placed:
        return "where"
    if sorts:
        return "number" if sorts[0] in (Sort.AMOUNT, Sort.NUMBER) else str(sorts[0])
    capital = kept[1:] if kept[0].word in ("with", "by", "from", "called", "named") else kept
    return str(Sort.NAME if is_name(capital) else Sort.WORDS)


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


def placed_claims(reading: Reading, said: Predicate, how: Modality, rules: CueRules) -> Iterator[Claim]:
    """I fly with KLM now; I'm parking in garage C: of one verb and preposition, what comes behind."""
    lists = rules.words.lists
    if how.mood is not Mood.PRESENT or how.negated or how.ended or said.thing:
        return
    places = [at for at, word in enumerate(said.words[:6]) if word in lists["placing"] and at + 1 < len(said.rest)]
    for place in places[:2]:
        if not (said.words[place] == "to" and rules.words.is_verb(said.words[place + 1])):
            yield from _placed_at(reading, said, how, place, rules)


def _placed_at(reading: Reading, said: Predicate, how: Modality, place: int, rules: CueRules) -> Iterator[Claim]:
    behind = [token for token in said.rest[place + 1 :] if not reading.in_bound(token)]
    following = (at for at, token in enumerate(behind) if at and token.word in rules.words.lists["placing"])
    value = trimmed(behind[: next(following, len(behind))], rules.words)
    if not value or not content_stems((token.word for token in value), rules.words):
        return
    object_stems = content_stems(said.words[:place], rules.words)
    idle = said.verb in rules.words.lists["unplaced_verbs"] and not object_stems
    now = how.announced or (how.now and not idle)
    changes = now or (reading.until is not None and not idle)
    kind = ClaimKind.CHANGE if now else ClaimKind.STATE
    attribute = " ".join((said.verb, *object_stems, said.words[place]))
    yield reading.claim(attribute, value, kind, "verb.placed", exclusive=changes, strong=changes)


def frame_claims(reading: Reading, said: Predicate, how: Modality, rules: CueRules) -> Iterator[Claim]:
    """I work day shifts now; we're on the Pro plan: of one verb and noun, what is told by the word before the noun."""
    moves = said.verb in rules.words.lists["switch_verbs"] and said.words[:1] == ("to",)
    if (
        (how.mood is not Mood.PRESENT and not (moves and how.mood is Mood.PAST))
        or how.negated
        or how.ended
        or said.thing
    ):
        return
    if said.verb == "be" and said.words[:1] not in (("on",), ("in",), ("at",)):
        return
    phrase = cut_topic(trimmed([token for token in said.rest if token.word not in _FRAME_SKIPS], rules.words), rules)
    if not 2 <= len(phrase) <= 3 or not phrase[-1].word.isalpha():
        return
    if said.verb in rules.words.lists["idle_verbs"]:
        return
    head = singular(phrase[-1].word)
    if (
        head in rules.words.lists["empty"] | rules.words.lists["no_heads"]
        or phrase[0].word in rules.words.lists["no_modifiers"]
    ):
        return
    kind = ClaimKind.CHANGE if how.now or moves else ClaimKind.STATE
    changes = how.now or moves or reading.until is not None
    verb = "the" if said.verb in rules.words.lists["frame_verbs"] else said.verb
    yield reading.claim(f"{verb} {head}", phrase[:-1], kind, "verb.frame", exclusive=changes, strong=changes)


_FRAME_SKIPS = frozenset(["a", "an", "the", "my", "our", "on", "in", "at", "with", "to"])


def kept_claims(reading: Reading, rules: CueRules) -> Iterator[Claim]:
    """Same job; still at Zalando; checking stays with ING: what stays, and behind "but" in the same clause what not."""
    words = [token.word for token in reading.clause.tokens if token.is_word]
    how, lists = reading.modality, rules.words.lists
    if (
        not (_keeps(words, rules) or _is_what_remains(reading, words))
        or (how is not None and not _holds(how, reading.predicate))
        or is_remote(f" {' '.join(words)} ", rules.words)
    ):
        return
    only = _is_what_remains(reading, words)
    cut = next((place for place, word in enumerate(words) if place and word in lists["kept_ends"]), len(words))
    cut = len(words) if only else cut
    kept = content_stems((word for word in words[:cut] if word not in lists["kept_words"]), rules.words)
    subject = reading.predicate.subject if reading.predicate is not None else reading.context
    named = next((token.word for token in reading.clause.tokens[1:2] if token.is_capital and words[0] == "the"), "")
    thing = reading.predicate.thing if reading.predicate is not None else ()
    rule = "part.same" if "same" in words[:2] else "part.kept"
    about = subject or named or " ".join(("the", *thing) if thing else ())
    if kept or not only:
        yield reading.claim("kept", (), ClaimKind.PARTIAL, rule, subject=about, value=" ".join(kept), strong=False)
    rest = content_stems(words if only else words[cut:], rules.words)
    if rest or only or len(words[cut + 1 :]) > 1:
        yield reading.claim("part", (), ClaimKind.CHANGE, "part.changed", value=" ".join(rest), strong=False)


def _is_what_remains(reading: Reading, words: list[str]) -> bool:
    """I only play guitar now: of what was said before the rest is over."""
    how = reading.modality
    if reading.until is not None:
        return False
    alone = {("only", "me"), ("just", "me"), ("only", "us"), ("just", "us"), ("by", "myself"), ("on", "own")}
    if alone & set(pairwise(word for word in words if word != "my")):
        return True
    return how is not None and how.now and words[:2] in (["i", "only"], ["we", "only"])


def _holds(how: Modality, said: Predicate | None) -> bool:
    lasting = how.mood is Mood.PRESENT or (said is not None and said.verb in ("keep", "change", "stay"))
    lasting = lasting or (said is not None and said.elided and "still" in said.clause.words[:1])
    return lasting and not (how.negated or how.ended or how.remote or how.mood in (Mood.PLAN, Mood.UNREAL))


def _keeps(words: list[str], rules: CueRules) -> bool:
    plain = rules.words.lists["kept_words"] | rules.words.adverbs | {"otherwise"}
    owned = any(one.endswith("'s") and two not in plain for one, two in pairwise(words[:5]))
    if words[0] == "the" and owned:
        return False
    text = f" {' '.join(words)} "
    if rules.words.has("not_kept_phrases", text):
        return False
    if rules.words.has("kept_phrases", text):
        return True
    if "same" in words[:3]:
        after = words[words.index("same") + 1 :][:1]
        return bool(after) and after[0] not in rules.words.lists["not_kept"]
    return bool(rules.words.lists["kept_words"] & set(words) - {"same"})


def weak_claim(reading: Reading, rules: CueRules) -> Iterator[Claim]:
    """All that a clause says, so that a topic can end it; of the past ("was"), or asked, planned and
    supposed ("meant"), only for a retraction. "said" is of a person, "of" of a thing, "bit" has no verb."""
    how = reading.modality
    words = [token.word for token in reading.clause.tokens if token.is_word and not reading.in_bound(token)]
    stems = content_stems(words, rules.words)
    text = f" {' '.join(reading.clause.words)} "
    if how is None:
        meant, past = (
            reading.unreal,
            is_remote(text, rules.words) or rules.words.has("remote_future", text.replace(" the next ", " ")),
        )
        past = (
            past or reading.clause.words[:2] == ["for", "my"] or bool({"was", "were"} & set(reading.clause.words[:3]))
        )
        negated = bool({"no", "not", "never", "nothing"} & set(reading.clause.words)) and not _is_new(
            reading.clause, rules
        )
    else:
        meant = reading.unreal or how.mood in (Mood.PLAN, Mood.UNREAL)
        past = how.mood is not Mood.PRESENT or how.remote
        negated = how.negated or how.ended
    kind = ClaimKind.END if negated else ClaimKind.STATE
    past = past or meant
    if not past and not negated and _is_new(reading.clause, rules):
        kind = ClaimKind.CHANGE
    bare = reading.predicate is None and len(stems) < 2 and reading.until is None
    if not stems or (bare and kind is not ClaimKind.CHANGE):
        return
    said = reading.predicate
    mine = {"my", "our", "me", "i", "we"} & set(reading.clause.words)
    inverted = said is not None and said.verb == "be"
    given = said is not None and said.words[:1] == ("me",)
    own = bool(mine) and (said is None or given or (inverted and said.subject not in rules.words.persons))
    moved = said is not None and how is not None and how.mood is Mood.PAST and _moves(said, rules)
    remote = how is not None and how.remote
    if moved and not (negated or remote or meant) and _is_new(reading.clause, rules):
        kind, past = ClaimKind.CHANGE, False
    kept = "bit" if said is None else "of" if said.thing else "said"
    yield reading.claim(
        "meant" if meant else "was" if past else kept,
        (),
        kind,
        "weak",
        subject="" if own else None,
        value=" ".join(dict.fromkeys((*content_stems(said.thing[-1:] if said else (), rules.words), *stems)))[:300],
        strong=False,
    )


def _moves(said: Predicate, rules: CueRules) -> bool:
    return said.verb in rules.words.lists["transfer_verbs"] | rules.words.lists["switch_verbs"]


def _is_new(clause: Clause, rules: CueRules) -> bool:
    """Whether it says so: "now", "new title", or "but …", "except …" before it."""
    words, openers = clause.words, rules.words.lists["part_openers"]
    joined = clause.joined.split()
    return (
        bool({"now", "instead", "nowadays"} & set(words))
        or words[0] in openers | {"new"}
        or bool(openers & set(joined))
    )
