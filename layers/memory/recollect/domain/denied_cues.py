"""Clauses that deny a change, an end or a mistake: what was said before stands (P-24).

"I haven't given up my insulin pump", "don't ignore the deadline", "it's not true that I left the choir".
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from recollect.domain.claims import Claim, ClaimKind, RelationKind, Said
from recollect.domain.clauses import read_words
from recollect.domain.cue_rules import CueRules
from recollect.domain.cue_values import content_stems
from recollect.domain.hits import Hit
from recollect.domain.noun_phrases import DETERMINERS
from recollect.domain.plain_statements import has_part, told
from recollect.domain.told_words import all_stems, has_stem, noted, span_words, weak_claims
from recollect.text.terms import stem

_NOT = frozenset({"not", "n't", "never", "dont", "didnt", "havent", "hasnt", "isnt", "wont", "wasnt", "no"})
_BETWEEN = frozenset(
    {
        "be", "been", "being", "have", "had", "to", "going", "gonna", "about", "planning", "plans", "plan", "intention",
        "intend", "of", "want", "wanting", "need", "thinking", "yet", "even", "ever", "really", "actually", "just",
        "ask", "asked", "me", "you", "them", "completely", "quite", "all",
    }
)  # fmt: skip
_NOT_TRUE = re.compile(
    r"(?:(?:not|n't) (?:true|right|correct|the case|as if|as though|say)|never (?:said|claimed|told you|wrote)"
    r"|(?:false|wrong|a lie|nonsense|a rumou?r|untrue) that)"
    r" (?:that )?(?=(?:i|we|my|our|the|he|she|they|it|(?-i:[A-Z])\w+)\b)([^.,;!?\n]+)",
    re.IGNORECASE,
)
_NOT_WRONG = re.compile(r" (?:not|n't) (?:get|have|read|say|tell|write) [^,.;]{0,50} (?:wrong|incorrectly) ")
_EXPLAINS = re.compile(r"(?:it|that|this)(?:'s| is| was)\b", re.IGNORECASE)
_NOUN_FOLLOWS = DETERMINERS | {"any"}
_INTO = frozenset({"to", "into", "onto"})
_EXCHANGED = frozenset({"replace", "swap", "exchange", "trade"})
_FOR = frozenset({"with", "for", "by"})
_BEHIND = 5


def denies_its_cue(hit: Hit) -> bool:
    """Whether the clause denies a change or an end of which the older text does not speak."""
    return _denies_cue(hit.older, hit.newer, hit.new, hit.rules)


def explains_what_is_denied(hit: Hit) -> bool:
    """The budget wasn't cut, it's only a rumour: a clause that says what it was instead."""
    if _EXPLAINS.match(hit.newer.text[slice(*hit.new.span)].lstrip(" ,;")) is None:
        return False
    return any(_denies_cue(hit.older, hit.newer, one, hit.rules) for one in weak_claims(hit.newer))


def denies_as_well(hit: Hit) -> bool:
    """No dog here, where there were no animals: two denials do not contradict each other."""
    if hit.new.kind is not ClaimKind.END or hit.kind is RelationKind.RETRACTS:
        return False
    return any(one.kind is ClaimKind.END and one.span == hit.old.span for one in weak_claims(hit.older))


def denies_something_else(hit: Hit) -> bool:
    """Whether it calls untrue what the older text does not say: "it's not true that I left the choir"."""
    untrue = noted(hit.newer, "untrue", hit.rules, lambda: list(_untrue(hit.newer, hit.rules)))
    known = all_stems(hit.older, hit.rules)
    denied = hit.old.kind is ClaimKind.END
    return any(over or denied or not all(has_part(known, one, hit.rules) for one in stems) for over, stems in untrue)


def denies_a_mistake(newer: Said, rules: CueRules) -> bool:
    """Whether the text says that it takes nothing back: "I wasn't kidding", "don't forget about the deadline"."""
    return noted(newer, "denied mistakes", rules, lambda: _denies_a_mistake(newer, rules))


def _denies_a_mistake(newer: Said, rules: CueRules) -> bool:
    return rules.words.has("denied_mistakes", told(newer)) or _NOT_WRONG.search(told(newer)) is not None


def _denies_cue(older: Said, newer: Said, claim: Claim, rules: CueRules) -> bool:
    found = noted(newer, ("denied cues", claim.span), rules, lambda: list(_denied(newer, claim, rules)))
    return any(_is_left(older, verb, behind, rules) for verb, behind in found)


def _untrue(newer: Said, rules: CueRules) -> Iterator[tuple[bool, tuple[str, ...]]]:
    """What it calls untrue: whether that is an end, and the stems of what it says."""
    for found in _NOT_TRUE.finditer(newer.text):
        words = read_words(found[1])
        text = f" {' '.join(word.lower() for word in words)} "
        stems = (one for one in content_stems(words, rules.words) if one not in rules.vague_stems)
        yield rules.words.has("end_markers", text) or rules.words.has("lost_words", text), tuple(stems)


def _is_left(older: Said, verb: str, behind: Sequence[str], rules: CueRules) -> bool:
    """Not where the older text says that it was done, or names where to: "I never moved to Lyon"."""
    one = next(iter(content_stems((verb,), rules.words)), verb)
    if has_stem(all_stems(older, rules), one, rules):
        return False
    joined = _INTO | _FOR if rules.words.lemma(verb) in _EXCHANGED else _INTO
    place = next((place for place, word in enumerate(behind) if word in joined), len(behind))
    named = content_stems(behind[place + 1 : place + 4], rules.words)
    return not named or not all(has_stem(all_stems(older, rules), one, rules) for one in named)


def _denied(newer: Said, claim: Claim, rules: CueRules) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each verb of change that the clause denies, with the words behind it."""
    words = [word.lower() for word in span_words(newer, claim.span)]
    for place in range(1, len(words)):
        if _is_cue(words, place, rules) and _is_denied(words, place):
            yield words[place], tuple(words[place + 1 : place + 1 + _BEHIND])


def _is_denied(words: Sequence[str], place: int) -> bool:
    """Whether a negation stands before it, with nothing but auxiliaries between."""
    for before in reversed(words[:place]):
        if before in _NOT:
            return True
        if before not in _BETWEEN and not before.endswith("ly"):
            return False
    return False


def _is_cue(words: Sequence[str], place: int, rules: CueRules) -> bool:
    """A verb of change or of ending; "give" and "take" only with what they are said with."""
    if words[place - 1] in _NOUN_FOLLOWS:
        return False
    verb, cues = rules.words.lemma(words[place]), rules.words.lists["denied_cues"]
    known = verb in cues or stem(words[place]) in _stems(cues)
    return known or any(f"{verb} {one}" in cues for one in words[place + 1 : place + 5])


@lru_cache(maxsize=8)
def _stems(cues: frozenset[str]) -> frozenset[str]:
    return frozenset(stem(one) for one in cues if " " not in one)
