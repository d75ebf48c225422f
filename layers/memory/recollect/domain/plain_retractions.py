"""What a short text takes back of a plain statement that it names by a word or a number (P-24).

"My extension is 3317" and "3317 is the fax, gave you the wrong one": a word of error or of telling beside the value.
"""

import re
from collections.abc import Iterator, Sequence

from recollect.domain.claims import Claim, ClaimKind, Said
from recollect.domain.clause_reading import HINT, TOPIC
from recollect.domain.cue_rules import CueRules
from recollect.domain.key_retractions import takes_back
from recollect.domain.plain_statements import has_part, is_plain, is_short, may_share, told
from recollect.domain.told_words import (
    SPEAKER,
    all_stems,
    all_words,
    clause_text,
    known_words,
    noted,
    span_words,
    weak_claims,
    word_stems,
)

_NOBODYS = frozenset({"it", "that", "this", "there", "nobody", "everything", "nothing", "one", "none", "you", "what"})
_OTHERS = frozenset({"he", "she", "his", "her", "their", "hers", "theirs", "him", "its"})
_PLANNED = re.compile(
    r" (?:going to|gonna|i'll|we'll|will|not that|not like|need to correct|about to|(?:was|is) (?:n't|not) wrong"
    r"|(?:i'd|we'd|i 'd|we 'd|had) (?:never|not) \w+|what (?:the|my|our) \w+ said) "
)
_QUOTED = re.compile(r"(?:^|\s)['\u2018][^'\u2019]{2,60}\w*['\u2019](?=[\s.,]|$).*['\u2019](?=[\s.,]|$)")
_CUES = ("retraction_cues", "retraction_hints")
_LONG_NUMBER = 2
_MOST_FRESH = 3
_LONG = 120
_Pairs = Iterator[tuple[Claim, Claim]]


def taken_back_plainly(older: Said, newer: Said, rules: CueRules) -> _Pairs:
    """The plain clauses that have a word of the newer text, which says that something was told wrongly."""
    if not (is_plain(older) and is_short(newer, rules) and may_share(older, newer, rules)) or _ends(newer, rules):
        return
    for old in weak_claims(older):
        named = [one for one in old.value.split() if _is_named(one, newer, rules)]
        new = _clause_with(named, older, newer, rules) if named else None
        if new is not None and _are_verbs(named, old, rules) and not _is_all_of_it(older, newer, new, rules):
            continue
        if new is not None and _takes_back(older, newer, rules) and not _is_of_more(older, newer, new, rules):
            yield old, new


def _are_verbs(named: Sequence[str], old: Claim, rules: CueRules) -> bool:
    """Whether it names no more than a verb of what has more to it: to marry."""
    return rules.verb_stems.issuperset(named) and not rules.verb_stems.issuperset(old.value.split())


def _is_all_of_it(older: Said, newer: Said, new: Claim, rules: CueRules) -> bool:
    """Whether the clause denies no more than that, or is the one that takes it back: not "I can't play the harp"."""
    known, text = all_stems(older, rules), clause_text(newer, new)
    fresh = (one for one in word_stems(newer, new.span, rules) if one and not has_part(known, one, rules))
    if any(one not in rules.slight_stems | rules.retraction_stems for one in fresh):
        return False
    return new.kind is ClaimKind.END or any(rules.words.has(cues, text) for cues in _CUES)


def _is_of_more(older: Said, newer: Said, new: Claim, rules: CueRules) -> bool:
    """I've never placed an online sneaker order: a denial alone takes back no more than what it names."""
    if _is_cued(newer, rules) or _hints(newer, rules):
        return False
    known = all_stems(older, rules)
    fresh = [one for one in new.value.split() if one not in rules.verb_stems and not has_part(known, one, rules)]
    return len(fresh) > 1 or (bool(fresh) and len(newer.text) > _LONG)


def _takes_back(older: Said, newer: Said, rules: CueRules) -> bool:
    if not _is_own(older, newer, rules):
        return False
    return _is_sure(older, newer, rules) or bool(_denies(newer) and _hints(newer, rules))


def _is_own(older: Said, newer: Said, rules: CueRules) -> bool:
    """Whether it is the speaker's own, and of nobody of whom the older text does not speak."""
    known = known_words(older)
    words = {word.lower() for word in all_words(newer)}
    if (_OTHERS & words) - known or _PLANNED.search(told(newer)) or _QUOTED.search(newer.text):
        return False
    return not denies_of_others(older, newer, rules)


def denies_of_others(older: Said, newer: Said, rules: CueRules) -> bool:
    """Whether a clause that denies something has a subject of which the older text does not speak."""
    denials = noted(newer, "denials", None, lambda: [one for one in weak_claims(newer) if one.kind is ClaimKind.END])
    known = known_words(older) | _NOBODYS if denials else _NOBODYS
    for one in denials:
        if not set(one.subject.split()) <= known:
            return True
        things = one.value.split() if one.attribute == "of" else []
        if things and not has_part(all_stems(older, rules), things[0], rules):
            return True
    return False


def _is_sure(older: Said, newer: Said, rules: CueRules) -> bool:
    """Whether it says of what was told that it is wrong."""
    return noted(newer, "cued", rules, lambda: _is_cued(newer, rules)) or takes_back(older.text, newer, rules.words)


def _is_cued(newer: Said, rules: CueRules) -> bool:
    cued = any(one.kind is ClaimKind.RETRACTION and one.attribute == TOPIC for one in newer.claims)
    return cued or rules.words.has("retraction_cues", told(newer)) or _hints(newer, rules) > 1


def _hints(newer: Said, rules: CueRules) -> int:
    """How many words of error or of telling it has."""
    phrases = rules.words.lists["retraction_hints"] | rules.words.lists["telling_words"]
    return noted(newer, "hints", rules, lambda: sum(f" {phrase} " in told(newer) for phrase in phrases))


def _denies(newer: Said) -> bool:
    denials = (ClaimKind.END, ClaimKind.RETRACTION)
    return any(one.kind in denials and one.attribute not in (TOPIC, HINT) for one in newer.claims)


def _ends(newer: Said, rules: CueRules) -> bool:
    return noted(newer, "ends", rules, lambda: _says_end(newer, rules))


def _says_end(newer: Said, rules: CueRules) -> bool:
    if any(one.until is not None for one in newer.claims):
        return True
    return rules.words.has("end_markers", told(newer)) or rules.words.has("instead_markers", told(newer))


def _is_named(stem: str, newer: Said, rules: CueRules) -> bool:
    plain = stem not in rules.slight_stems
    long = not stem.isdigit() or len(stem) >= _LONG_NUMBER
    return plain and long and has_part(all_stems(newer, rules), stem, rules)


def _clause_with(named: Sequence[str], older: Said, newer: Said, rules: CueRules) -> Claim | None:
    """The clause that names it and little else, and nobody of whom the older text does not speak."""
    others = rules.words.persons - known_words(older)
    for new in weak_claims(newer):
        stems = [one for one in word_stems(newer, new.span, rules) if one]
        fresh = [one for one in stems if not has_part(named, one, rules) and one not in rules.verb_stems]
        if len(fresh) < len(stems) and len(fresh) <= _MOST_FRESH:
            words = {word.lower().removesuffix("'s") for word in span_words(newer, new.span)}
            denied = new.kind is ClaimKind.END and bool(SPEAKER & words)
            return None if others & words and not denied else new
    return None
