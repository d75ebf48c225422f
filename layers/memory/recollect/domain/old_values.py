"""Relations of a newer text that names the older value as gone, beside what is so by now (P-24).

"I go by Eddie these days, not Spud" and "Dr Venn retired so I'm registered with Dr Abara" need no attribute: what the
older clause says is told to be over, and another clause of the same text tells what is so.
"""

import re
from collections.abc import Iterator

from recollect.domain.claims import HELD, PRESENT, Claim, Said
from recollect.domain.clause_owners import brings_in
from recollect.domain.clauses import read_words
from recollect.domain.cue_rules import CueRules
from recollect.domain.cue_values import content_stems
from recollect.domain.told_words import clause_text, has_stem, has_stems, noted, span_words, weak_claims, word_stems

_NOT = re.compile(
    r"(?:,|;|\u2014| -| and| but)\s{0,2}not (?P<old>(?!only\b|just\b|yet\b|sure\b|that\b|to\b|really\b)[^,.;!?]{2,40})",
    re.IGNORECASE,
)
_SO = re.compile(r"\b(?:so|now|instead|therefore|hence|these days|nowadays|since|because)\b", re.IGNORECASE)
_TOO = re.compile(r"(?:'s|\bis|\bwas|\bare|\bwere|\bgot) (?:way |just |far |a bit )?too \w")
_PERFECT = re.compile(r"^(?:i've|we've|i have|we have) ", re.IGNORECASE)
_PERFECT_OR_CHOICE = re.compile(
    r"\b(?:have|has|'ve|'s|went with|going with|settled on|chose|in the end|picked)\b", re.I
)
_NEAR = 60
_MOST_STEMS = 8
_MOST_TOLD = 6
_REACH = 4
_SHORT_TEXT = 160
_OWN = frozenset({"my", "our", "the"})
_SAME_PAST = frozenset({"quit", "cut", "shut", "split"})
_Pairs = Iterator[tuple[Claim, Claim]]


def named_as_not(older: Said, newer: Said, rules: CueRules) -> _Pairs:
    """We went with Pickle, not Biscuit: what the older clause says is denied behind what is so."""
    for cue in _NOT.finditer(newer.text) if len(older.text) <= _SHORT_TEXT else ():
        denied = content_stems(read_words(cue["old"]), rules.words)
        new = next((one for one in _told(newer) if one.span[0] < cue.start() <= one.span[1]), None)
        past = new is None or (new.attribute == "was" and not _PERFECT_OR_CHOICE.search(newer.text[slice(*new.span)]))
        if not denied or new is None or past or new.kind not in HELD or brings_in(older, newer, new, rules):
            continue
        for old in _told(older):
            if old.kind in HELD and old.attribute in PRESENT and has_stems(old.value.split(), denied, rules):
                yield old, new


def departed(older: Said, newer: Said, rules: CueRules) -> _Pairs:
    """Imogen went off to uni, so Farah babysits for us now: what the older clause names has gone, what came is so."""
    if max(len(older.text), len(newer.text)) > _SHORT_TEXT:
        return
    gone = noted(newer, "gone", rules, lambda: [one for one in _told(newer) if _departs(newer, one, rules)])
    come = [one for one in _told(newer) if one.kind in HELD and _is_so(newer, one)] if gone else []
    for old in _told(older) if come else ():
        if old.kind not in HELD or old.attribute not in PRESENT or len(old.value.split()) > _MOST_STEMS:
            continue
        for left in gone:
            new = next((one for one in come if one is not left and _stands_by(newer, left, one)), None)
            if new is not None and _is_gone(older, newer, old, left, rules) and _is_other(old, left, new, rules):
                yield old, new


def _told(said: Said) -> Iterator[Claim]:
    return (one for one in weak_claims(said) if one.attribute != "meant")


def _departs(newer: Said, one: Claim, rules: CueRules) -> bool:
    """Whether the clause says that something has gone: sold, left, retired, too dear."""
    return one.kind in HELD and (bool(_leaving(newer, one, rules)) or _TOO.search(clause_text(newer, one)) is not None)


def _leaving(newer: Said, one: Claim, rules: CueRules) -> list[int]:
    """The places of verbs of leaving, in a form of the past."""
    words = [word.lower() for word in span_words(newer, one.span)]
    return [
        place
        for place, word in enumerate(words)
        if rules.words.lemma(word) in rules.words.lists["departing_verbs"]
        and (rules.words.lemma(word) != word or word in _SAME_PAST)
    ]


def _is_so(newer: Said, one: Claim) -> bool:
    return one.attribute in PRESENT or _PERFECT.match(newer.text[slice(*one.span)]) is not None


def _stands_by(newer: Said, left: Claim, new: Claim) -> bool:
    """Whether both stand together, with "so" or "now" between or in the one that is so."""
    near = min(abs(new.span[0] - left.span[1]), abs(left.span[0] - new.span[1])) <= _NEAR
    start, end = (left.span[1], new.span[1]) if left.span < new.span else (new.span[0], left.span[1])
    return near and _SO.search(newer.text, max(0, start - 4), end) is not None


def _is_gone(older: Said, newer: Said, old: Claim, left: Claim, rules: CueRules) -> bool:
    """Whether what has gone is what the older clause names: as who or what went, or right behind the verb."""
    known = old.value.split()
    skipped = rules.idle_stems | rules.time_stems | rules.person_stems
    told = [one for one in left.value.split() if one not in skipped]
    if len(told) > _MOST_TOLD or brings_in(older, newer, left, rules):
        return False
    went = content_stems(left.subject.split(), rules.words) or (told[:1] if left.attribute == "of" else [])
    words, stems = span_words(newer, left.span), word_stems(newer, left.span, rules)
    for place in _leaving(newer, left, rules) if not went else ():
        opens = any(word.lower() in _OWN or word[:1].isupper() for word in words[place + 1 : place + 3])
        went = [one for one in stems[place + 1 : place + _REACH] if one and one in told] if opens else []
    nouns = [one for one in went if one not in rules.verb_stems or one in _names(older, old, rules)]
    return has_stems(known, nouns if left.subject else nouns[:1], rules) and bool(nouns)


def _names(older: Said, old: Claim, rules: CueRules) -> set[str]:
    words = older.text[slice(*old.span)]
    return set(content_stems([word for word in read_words(words)[1:] if word[:1].isupper()], rules.words))


def _is_other(old: Claim, left: Claim, new: Claim, rules: CueRules) -> bool:
    """Whether what is so is something else than what has gone."""
    known = [*old.value.split(), *left.value.split()]
    return any(not has_stem(known, one, rules) and one not in rules.time_stems for one in new.value.split())
