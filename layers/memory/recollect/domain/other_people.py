"""Whether what a newer clause says is of somebody of whom the older text does not speak (P-24).

"My accountant's new email address" is not the speaker's, a new dermatologist is no new dentist.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

from recollect.domain.claims import ClaimKind, RelationKind
from recollect.domain.clause_owners import is_only_of_others as tells_only_of_others
from recollect.domain.cue_rules import CueRules
from recollect.domain.cue_words import singular
from recollect.domain.hits import Hit
from recollect.domain.noun_phrases import DETERMINERS, OWN, PLACED
from recollect.domain.other_things import begins_with_another
from recollect.domain.told_words import (
    MINE,
    SPEAKER,
    all_stems,
    all_words,
    clause_text,
    known_words,
    span_words,
    weak_claims,
    word_stems,
)

_THEIRS = frozenset({"his", "her", "their", "its"})
_NOBODYS = frozenset({"it", "that", "this", "there", "they", "nobody", "everything", "you"})
_SAME = {"gp": "doctor", "gps": "doctor", "physio": "physiotherapist"}
_HEALERS = ("doctor", "ologist", "iatrist", "ician", "opath", "practor", "dentist", "therapist")
_SOME = re.compile(r"^ (?:half|some|most|many|part|none|two|three|one|both) of (?:my|our|the) ")
_TOGETHER = re.compile(r"([A-Z]\w+) and (?:I|me)\b")
_THEY_KIDDED = re.compile(r"(?:^|[.!?] )([A-Z][a-z]+) (?:was|is|were) (?:kidding|joking|lying|wrong|mistaken)\b")
_OF_ANYONE = (".values", ".held")
_OPENING = 4


def is_of_anothers(hit: Hit) -> bool:
    """My accountant's address: what the clause begins with belongs to somebody else."""
    words, known = _words(hit), known_words(hit.older)
    return any(_owns(words, place, known, hit.rules) for place in range(1, min(_OPENING, len(words) - 1)))


def _words(hit: Hit) -> list[str]:
    return [word.lower() for word in span_words(hit.newer, hit.new.span)]


def _owns(words: Sequence[str], place: int, known: frozenset[str], rules: CueRules) -> bool:
    owner, thing = words[place], words[place + 1]
    if not owner.endswith(("'s", "s'")) or words[place - 1] not in DETERMINERS | rules.words.plain:
        return False
    base = owner.removesuffix("'s").removesuffix("'")
    someone = rules.words.persons | rules.words.lists["titles"] | rules.words.lists["groups"]
    if {base, owner} & known or not {base, singular(base)} & someone:
        return False
    return _is_thing(thing, rules) and not thing.endswith("ing")


def _is_thing(word: str, rules: CueRules) -> bool:
    """Whether a word behind 's may be what somebody has, so that the 's is no "is"."""
    return word not in rules.words.after_is and word not in rules.words.adverbs


def is_only_of_others(hit: Hit) -> bool:
    """Jasmin is looking after a cat, so there's a cat in her flat: a text without a word of the speaker."""
    return hit.new.rule in ("topic.start", "topic.deny") and tells_only_of_others(hit.older, hit.newer, hit.rules)


def is_theirs(hit: Hit) -> bool:
    """His girlfriend, where the older text speaks of mine."""
    owned = {two for one, two in pairwise(clause_text(hit.newer, hit.new).split()) if one in _THEIRS}
    mine = {two for one, two in pairwise(word.lower() for word in all_words(hit.older)) if one in OWN}
    return bool(owned & mine) and not OWN & known_words(hit.newer)


def is_for_another(hit: Hit) -> bool:
    """No running for my training partner: whatever it is, it is so for them."""
    others, words = hit.rules.words.persons - known_words(hit.older), _words(hit)
    if SPEAKER.isdisjoint(known_words(hit.newer)):
        words = [word.lower() for word in all_words(hit.newer)]
    places = (place for place in range(len(words) - 2) if words[place] == "for" and words[place + 1] in DETERMINERS)
    return any(others & set(words[place + 2 : place + 4]) for place in places)


def is_done_together(hit: Hit) -> bool:
    """Noemi and I gave up our allotment: it says nothing of Noemi, unless that they part."""
    found = _TOGETHER.match(hit.newer.text[slice(*hit.new.span)].strip())
    parted = hit.rules.words.has("parting_words", clause_text(hit.newer, hit.new))
    return found is not None and found[1].lower() in known_words(hit.older) and _may_be_done(hit) and not parted


def _may_be_done(hit: Hit) -> bool:
    return hit.is_weak and hit.kind is not RelationKind.OVERRIDES


def is_taken_back_by_another(hit: Hit) -> bool:
    """Rosa was kidding: not the speaker."""
    found = _THEY_KIDDED.search(hit.newer.text)
    return found is not None and found[1].lower() not in known_words(hit.older) | hit.rules.words.plain


def is_of_some(hit: Hit) -> bool:
    """Half of my team: not the speaker."""
    return hit.is_weak and _SOME.search(clause_text(hit.newer, hit.new)) is not None


def is_told_to_another(hit: Hit) -> bool:
    """You can reach Sofie on that number, where the older text says how to reach me."""
    verbs = {one for one, two in pairwise(word.lower() for word in all_words(hit.older)) if two in ("me", "us")}
    known = known_words(hit.older)
    pairs = pairwise(span_words(hit.newer, hit.new.span))
    return any(one.lower() in verbs and two[:1].isupper() and two.lower() not in known | {"i"} for one, two in pairs)


def explains_another(hit: Hit) -> bool:
    """Mum has a new number, it's 07700 900456: "it" is of whom the clause before speaks."""
    words = [word for word in _words(hit) if word[:1].isalpha()]
    if words[:1] not in (["it"], ["that"], ["it's"]):
        return False
    others = hit.rules.words.persons - known_words(hit.older)
    before = [one for one in weak_claims(hit.newer) if one.span[0] < hit.new.span[0]]
    clauses = [replace(hit, new=one) for one in before]
    if any(others & set(one.new.subject.split()) for one in clauses):
        return True
    return any(is_of_anothers(one) or begins_with_another(replace(one, old=hit.old)) for one in clauses)


def is_of_another_owner(hit: Hit) -> bool:
    """My flatmate's favourite food, Karim's latte: what both texts name is somebody else's in the newer."""
    known = all_stems(hit.older, hit.rules)
    words, stems = span_words(hit.newer, hit.new.span), word_stems(hit.newer, hit.new.span, hit.rules)
    return any(
        _is_somebodys(words, place, hit) and stems[place + 1] in known and not words[place + 1].endswith("ing")
        for place in range(len(words) - 1)
    )


def _is_somebodys(words: Sequence[str], place: int, hit: Hit) -> bool:
    """Whether a word is the genitive of a person or a name that is new, and says no more than where or whither."""
    owner, known = words[place], known_words(hit.older)
    base = owner.removesuffix("'s").lower()
    if not owner.endswith("'s") or base in known | hit.rules.words.plain or not place:
        return False
    placed = {word.lower() for word in words[max(0, place - 2) : place]} & PLACED
    return (base in hit.rules.words.persons or owner[:1].isupper()) and not placed


def is_of_a_named_owner(hit: Hit) -> bool:
    """Ella's favourite band: of somebody by name."""
    known = known_words(hit.older) | hit.rules.words.plain
    pairs = pairwise(span_words(hit.newer, hit.new.span))
    return any(_is_name(owner, known) and _is_thing(thing.lower(), hit.rules) for owner, thing in pairs)


def _is_name(owner: str, known: frozenset[str]) -> bool:
    return owner.endswith("'s") and owner[:1].isupper() and owner.removesuffix("'s").lower() not in known


def is_done_to_another(hit: Hit) -> bool:
    """My doctor switched my son to another pill: what is done is done to somebody else; leaving a husband is not."""
    if hit.kind is RelationKind.RETRACTS:
        return False
    words, lists = _words(hit), hit.rules.words
    others = lists.persons - known_words(hit.older)
    return any(
        owner in OWN
        and whom in others
        and lists.is_finite(verb)
        and lists.lemma(verb) not in lists.lists["departing_verbs"]
        for verb, owner, whom in zip(words, words[1:], words[2:], strict=False)
    )


def is_denied_of_another(hit: Hit) -> bool:
    """My neighbour isn't walking the dog until Friday: then it is as it was."""
    denied = hit.new.kind is ClaimKind.END and hit.kind is RelationKind.OVERRIDES
    return denied and not set(hit.new.subject.split()) <= known_words(hit.older) | _NOBODYS


def is_by_another(hit: Hit) -> bool:
    """Our admin switched to KeePassXC: somebody else does it, and not for the speaker."""
    known_of = hit.rules.attributes.get(hit.new.attribute)
    of_anyone = hit.new.rule.endswith(_OF_ANYONE) or (known_of is not None and known_of.request)
    if hit.is_weak or hit.new.subject or not of_anyone:
        return False
    words, known = _words(hit), known_words(hit.older)
    if words[:1] == [] or words[0] not in OWN | {"the"} or (SPEAKER | MINE) & set(words[1:]):
        return False
    someone = hit.rules.words.persons | hit.rules.words.lists["titles"]
    return any({word, singular(word)} & someone and word not in known for word in words[1:_OPENING])


def has_another_role(hit: Hit) -> bool:
    """A new dermatologist is no new dentist: of both one has one."""
    ours = _roles(known_words(hit.older), hit.rules)
    theirs = _roles(known_words(hit.newer), hit.rules)
    return bool(ours and theirs) and not ours & theirs


def _roles(words: Iterable[str], rules: CueRules) -> frozenset[str]:
    unique = rules.words.lists["unique_persons"]
    named = (_SAME.get(word, singular(word)) for word in words)
    return frozenset(word for word in named if word in unique or word.endswith(_HEALERS))
