"""What a newer text ends: shared words, ended frames, old values, what stands in for something (P-24).

The older clause is said again as no longer so, or its value is named as gone beside the new one ("I go by Eddie these
days, not Spud"). Each rule needs a cue that leaves little doubt.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from recollect.contradictions.cues.claims import (
    HELD,
    PRESENT,
    TOPIC,
    Claim,
    ClaimKind,
    Parsed,
    all_stems,
    all_words,
    brings_in,
    clause_text,
    covered,
    has_stem,
    has_stems,
    is_of_another_group,
    is_of_others,
    is_only_of_others,
    known_words,
    noted,
    span_words,
    weak_claims,
    word_stems,
)
from recollect.contradictions.cues.clauses import content_stems, read_words
from recollect.contradictions.cues.documents import CueRules
from recollect.contradictions.cues.predicates import OTHERS

_LEAST_SHARED = 2
_MOST_STEMS = 12
_NEAR_CHARACTERS = 160
_OTHERS_OWN = frozenset({"his", "her", "their", "he", "she", "hers", "theirs"})
_Pairs = Iterator[tuple[Claim, Claim]]


@dataclass(frozen=True, slots=True)
class _Compared:
    """The stems of two clauses: those of both, and those of only the older or only the newer one."""

    shared: tuple[str, ...]
    left: tuple[str, ...]
    fresh: tuple[str, ...]
    same_first: str
    """The first stem of both, or nothing."""

    @classmethod
    def of(cls, old: Claim, new: Claim, rules: CueRules) -> "_Compared":
        ours, theirs = old.value.split(), new.value.split()
        shared = tuple(one for one in theirs if has_stem(ours, one, rules))
        left = tuple(one for one in ours if not has_stem(theirs, one, rules))
        fresh = tuple(one for one in theirs if one not in shared)
        return cls(shared, left, fresh, ours[0] if ours[:1] == theirs[:1] else "")

    @property
    def size(self) -> int:
        return len(self.shared) + max(len(self.left), len(self.fresh))


def held_over(older: Parsed, newer: Parsed, rules: CueRules) -> _Pairs:
    """Clauses of which the newer holds within a bound: one subject and verb or noun shared, or all but the subject."""
    for old, new in _weak_pairs(older, noted(newer, "bounding", None, lambda: [c for c in _told(newer) if c.until])):
        if old.until is not None or is_of_another_group(older, newer, new, rules):
            continue
        if (
            _is_done_for(old, new, older, newer, rules)
            or _holds(old, new, older, newer, rules)
            or (_does_the_same(old, new, rules) and not is_of_others(older, newer, new, rules))
        ):
            yield old, new


def _is_done_for(old: Claim, new: Claim, older: Parsed, newer: Parsed, rules: CueRules) -> bool:
    """My mother-in-law is doing the school run this week: what the speaker does, all of it and nothing else."""
    if old.subject or not new.subject or {"i", "my", "our"}.isdisjoint(clause_text(older, old).split()[:4]):
        return False
    subject = content_stems(new.subject.split(), rules.words)
    told = [one for one in new.value.split() if one not in subject and one not in rules.time_stems]
    named = any(one not in rules.idle_stems and one not in rules.verb_stems for one in told)
    definite = " the " in clause_text(older, old) and (" the " in clause_text(newer, new))
    return definite and named and has_stems(old.value.split(), told, rules)


def _holds(old: Claim, new: Claim, older: Parsed, newer: Parsed, rules: CueRules) -> bool:
    own = old.subject == new.subject or not is_of_others(older, newer, new, rules)
    return own and _holds_over(old, new, rules)


def said_anew(older: Parsed, newer: Parsed, rules: CueRules) -> _Pairs:
    """We meet every Wednesday now; remind me at 7am instead: all but one word shared, and that of one sort."""
    for old, new in _weak_pairs(older, noted(newer, "anew", rules, lambda: list(_anew(newer, rules)))):
        if old.attribute != new.attribute:
            continue
        if (old.subject == new.subject and _differs_in_one(old, new, rules)) or (
            old.subject and _does_the_same(old, new, rules) and not is_of_others(older, newer, new, rules)
        ):
            yield old, new


def taken_back(older: Parsed, newer: Parsed, rules: CueRules) -> _Pairs:
    """Clauses that a text with a cue of retraction says again as a whole: that they are not so."""
    cues = [claim for claim in newer.claims if claim.kind is ClaimKind.RETRACTION and claim.attribute == TOPIC]
    cue = min(cues, key=lambda claim: bool(claim.value), default=None)
    if cue is None or (cue.value and not has_stems(all_stems(older, rules), cue.value.split(), rules)):
        return
    near = span_words(newer, (max(0, cue.span[0] - _NEAR_CHARACTERS), cue.span[1] + _NEAR_CHARACTERS))
    if _OTHERS_OWN & {word.lower() for word in near} - known_words(older):
        return
    near_stems = content_stems((part for word in near for part in word.split("-")), rules.words)
    for old in older.claims:
        stems = [one for one in old.value.split() if one not in rules.vague_stems]
        told = old.rule == "weak" and old.attribute != "meant" and old.subject not in OTHERS
        if told and stems and has_stems(near_stems, stems, rules) and not _of_another(older, newer, stems, rules):
            yield old, cue


def _of_another(older: Parsed, newer: Parsed, stems: Sequence[str], rules: CueRules) -> bool:
    """Priya doesn't have twins: what takes something back says it of somebody of whom the older text does not speak."""
    known = all_stems(older, rules)
    things = (one.value.split() for one in weak_claims(newer) if one.attribute == "of")
    return any(told[:1] and told[0] not in known and has_stems(told[1:], stems, rules) for told in things)


def denied(older: Parsed, newer: Parsed, rules: CueRules) -> _Pairs:
    """That was wrong, my wife was never called Clara: with a cue of retraction, all of it said before, as so."""
    cues = [claim.span for claim in newer.claims if claim.kind is ClaimKind.RETRACTION]
    for new in newer.claims if cues else ():
        over = new.rule != "weak" or new.kind is not ClaimKind.END
        over = over or rules.words.has("end_markers", clause_text(newer, new))
        if over or min(abs(new.span[0] - start) for start, _ in cues) > _NEAR_CHARACTERS:
            continue
        told = [one for one in new.value.split() if one not in rules.idle_stems]
        for old in older.claims:
            asserted = old.rule == "weak" and old.kind in HELD and old.attribute in PRESENT
            missing = [one for one in told if not has_stem(old.value.split(), one, rules)] if asserted else told
            few = all(any(map(str.isdigit, one)) for one in missing) and len(told) - len(missing) >= _LEAST_SHARED
            if few and not is_of_others(older, newer, new, rules):
                yield old, new


def _weak_pairs(older: Parsed, news: Sequence[Claim]) -> _Pairs:
    olds = [claim for claim in _told(older) if claim.kind in HELD] if news else []
    return ((old, new) for new in news for old in olds)


def _told(said: Parsed) -> Iterator[Claim]:
    return (claim for claim in weak_claims(said) if claim.attribute in PRESENT)


def _holds_over(old: Claim, new: Claim, rules: CueRules) -> bool:
    found = _Compared.of(old, new, rules)
    named = any(one not in rules.idle_stems and not one.isdigit() for one in found.shared)
    if not found.fresh or found.size > _MOST_STEMS or not _is_of_one(old, new, rules):
        return False
    if not named:
        return bool(found.shared) and _only_amounts(found, rules, verbs_too=False)
    if _only_amounts(found, rules, verbs_too=old.attribute != new.attribute):
        return True
    if (old.attribute != new.attribute and not found.same_first) or new.value.split()[0] in rules.idle_verb_stems:
        return False
    timed = all(one in rules.time_stems for one in found.fresh)
    return not timed and _shares_a_frame(new, found, rules)


def _only_amounts(found: _Compared, rules: CueRules, *, verbs_too: bool) -> bool:
    """At 8 and at 9, on Wednesdays and on Saturdays; "desk 3-041" and "sitting at desk 5-110" but for the verb."""
    fresh = [one for one in found.fresh if not (verbs_too and one in rules.verb_stems)]
    times = any(one in rules.time_stems or any(map(str.isdigit, one)) for one in found.left)
    both = (*found.left, *fresh)
    return bool(fresh) and times and all(one in rules.time_stems or any(map(str.isdigit, one)) for one in both)


def _shares_a_frame(new: Claim, found: _Compared, rules: CueRules) -> bool:
    verbs = [one for one in found.shared if one in rules.verb_stems or one == found.same_first]
    verb = new.kind is not ClaimKind.END and any(one not in rules.idle_stems for one in verbs)
    return (verb or len(found.shared) >= _LEAST_SHARED) and (new.attribute == "said" or bool(found.same_first))


def _is_of_one(old: Claim, new: Claim, rules: CueRules) -> bool:
    """The same subject; "deploys" is of "we deploy"."""
    subject = content_stems(new.subject.split(), rules.words)
    of_verb = not old.subject and bool(subject) and all(one in rules.verb_stems for one in subject)
    return old.subject == new.subject or (of_verb and all(has_stem(old.value.split(), one, rules) for one in subject))


def _does_the_same(old: Claim, new: Claim, rules: CueRules) -> bool:
    """Carla walks my dog, Ben is walking my dog: all is shared but who."""
    found = _Compared.of(old, new, rules)
    few = len(found.left) <= 1 and len(found.fresh) == 1
    named = any(one not in rules.idle_stems and not one.isdigit() for one in found.shared)
    shared = named and few and len(found.shared) >= _LEAST_SHARED
    return old.attribute == new.attribute and old.subject != new.subject and shared


def _anew(newer: Parsed, rules: CueRules) -> Iterator[Claim]:
    """The clauses that say of something that it is so by now."""
    changes = (claim for claim in _told(newer) if claim.kind is ClaimKind.CHANGE)
    return (claim for claim in changes if rules.words.has("anew_markers", clause_text(newer, claim)))


def _differs_in_one(old: Claim, new: Claim, rules: CueRules) -> bool:
    found = _Compared.of(old, new, rules)
    if len(found.left) != 1 or len(found.fresh) != 1 or not found.shared or not found.same_first:
        return False
    timed = all(one[:1].isdigit() or one in rules.time_stems for one in (*found.left, *found.fresh))
    return timed or len(found.shared) >= _LEAST_SHARED


_INSTEAD = re.compile(
    r"\b(?:instead of|rather than|in place of|replac(?:es|ed|ing)"
    r"|(?:took|takes|taken|taking|handed|passed) over\b[^.!?;]{0,30}? ?from"
    r"|(?:handed|passed|moved|switched|changed|gone|went|migrated|swapped)\b[^.!?;]{0,40}? from|from being) ",
    re.IGNORECASE,
)
_HANDED = re.compile(r"\b(?:handed|passed)\b[^.!?;]{0,40}\bto\b", re.IGNORECASE)
_END = re.compile(r"[,.;!?]|\b(?:to|as|now|because|since|for|and|but|with|at|in|on|last|this)\b", re.I)
_NOT_SINCE = re.compile(r" (?:have|has|haven't|hasn't|havent|hasnt)(?: not)? .{1,60} (?:in|for|since) ")
_LONGEST = 60
_MOST_WORDS = 12
_PairsFrame = Iterator[tuple[Claim, Claim]]


def ended(older: Parsed, newer: Parsed, rules: CueRules) -> _PairsFrame:
    """The VPN isn't needed for staging any more: all of it said before, as so; and the reverse, as so by now."""
    for new, over in noted(newer, "ended", rules, lambda: list(_turning(newer, rules))):
        anew = not over
        for old in _weak(older) if not is_of_others(older, newer, new, rules) else ():
            opposite = old.kind in HELD if over else old.kind is ClaimKind.END
            again = opposite and _is_about_one(old, new) and _says_again(old, new, rules, whole=anew)
            if again and _is_head(older, old, new, rules):
                yield old, new


def _turning(newer: Parsed, rules: CueRules) -> Iterator[tuple[Claim, bool]]:
    """The clauses that say of something that it is over, True, or so by now."""
    for new in _weak(newer, was=True):
        text = clause_text(newer, new)
        over = new.kind is ClaimKind.END and _is_over(new, text, rules)
        if over or (new.kind in HELD and new.attribute in PRESENT and rules.words.has("anew_markers", text)):
            yield new, over


def _is_over(new: Claim, text: str, rules: CueRules) -> bool:
    """Not any more, not these days, not until Friday; haven't for two months."""
    if new.attribute == "was":
        return _NOT_SINCE.search(text) is not None
    if text.startswith(" no ") and " since " in text:
        return True
    marked = rules.words.has("end_markers", text) or rules.words.has("anew_markers", text)
    return marked or new.until is not None


def put_in_place(older: Parsed, newer: Parsed, rules: CueRules) -> _PairsFrame:
    """Ella's at St Anne's now instead of Oakfield; Ines took over from Tomas as captain: the old value is named."""
    for new, named in noted(newer, "in place", rules, lambda: list(_replaced(newer, rules))):
        for old in _weak(older) if not is_of_others(older, newer, new, rules) else ():
            if old.kind in HELD and _stands_in(old, new, named, rules):
                yield old, new


def _replaced(newer: Parsed, rules: CueRules) -> Iterator[tuple[Claim, tuple[str, ...]]]:
    """The clauses that name what was before, with its stems."""
    for new in _weak(newer, was=True):
        text = newer.text[slice(*new.span)]
        cue, handed = _INSTEAD.search(text), _HANDED.search(text) if new.subject else None
        if (cue is None and handed is None) or new.kind not in HELD:
            continue
        behind = text[cue.end() : cue.end() + _LONGEST] if cue else ""
        named = _value_behind(behind, rules) if cue else content_stems(new.subject.split(), rules.words)
        if named:
            yield new, named


def _weak(said: Parsed, *, was: bool = False) -> Iterator[Claim]:
    names = PRESENT | {"was"} if was else PRESENT
    return (claim for claim in weak_claims(said) if claim.attribute in names)


def _value_behind(text: str, rules: CueRules) -> tuple[str, ...]:
    end = _END.search(text)
    return content_stems(read_words(text[: end.start()] if end else text), rules.words)


def _stands_in(old: Claim, new: Claim, named: Sequence[str], rules: CueRules) -> bool:
    """The old clause has the named value, and something else that the newer one has too."""
    known = old.value.split()
    if not all(has_stem(known, one, rules) for one in named):
        return False
    rest = [one for one in new.value.split() if one not in named and one not in rules.idle_stems]
    return any(has_stem(known, one, rules) for one in rest)


def _is_about_one(old: Claim, new: Claim) -> bool:
    return old.subject == new.subject or "" in (old.subject, new.subject)


def _says_again(old: Claim, new: Claim, rules: CueRules, *, whole: bool) -> bool:
    known = old.value.split()
    told = [
        _whole(one, known, rules)
        for one in new.value.split()
        if one not in rules.idle_stems | rules.time_stems and not one.isdigit()
    ]
    nouns = [one for one in told if one not in rules.verb_stems and has_stem(known, one, rules)]
    missing = [one for one in told if not has_stem(known, one, rules)]
    loose = not whole and nouns and all(one in rules.verb_stems for one in missing)
    if not told or len(known) > _MOST_WORDS or (missing and not loose) or not (nouns or not (whole or missing)):
        return False
    left = [one for one in known if one not in rules.idle_stems and not has_stem(told, one, rules)]
    return not (whole and left)


def _whole(one: str, known: Sequence[str], rules: CueRules) -> str:
    """The verb of "pick-ups", where the older clause has it."""
    first = one.partition("-")[0]
    return first if first != one and has_stem(known, first, rules) else one


def _is_head(older: Parsed, old: Claim, new: Claim, rules: CueRules) -> bool:
    """Whether what both name is more than a modifier in the older one: "coffee" is not in "coffee machine"."""
    known = old.value.split()
    shared = [one for one in new.value.split() if one not in rules.verb_stems and has_stem(known, one, rules)]
    if not shared or all(has_stem(known, one, rules) for one in new.value.split()):
        return True
    return any(covered(older, old, replace(new, value=one, attribute=TOPIC), rules) for one in shared)


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
_MOST_STEMS_OLD = 8
_MOST_TOLD = 6
_REACH = 4
_SHORT_TEXT = 160
_OWN = frozenset({"my", "our", "the"})
_SAME_PAST = frozenset({"quit", "cut", "shut", "split"})
_PairsOld = Iterator[tuple[Claim, Claim]]


def named_as_not(older: Parsed, newer: Parsed, rules: CueRules) -> _PairsOld:
    """We went with Pickle, not Biscuit: what the older clause says is denied behind what is so."""
    for cue in _NOT.finditer(newer.text) if len(older.text) <= _SHORT_TEXT else ():
        denied = content_stems(read_words(cue["old"]), rules.words)
        new = next((one for one in _told_old(newer) if one.span[0] < cue.start() <= one.span[1]), None)
        past = new is None or (new.attribute == "was" and not _PERFECT_OR_CHOICE.search(newer.text[slice(*new.span)]))
        if not denied or new is None or past or new.kind not in HELD or brings_in(older, newer, new, rules):
            continue
        for old in _told_old(older):
            if old.kind in HELD and old.attribute in PRESENT and has_stems(old.value.split(), denied, rules):
                yield old, new


def departed(older: Parsed, newer: Parsed, rules: CueRules) -> _PairsOld:
    """Imogen went off to uni, so Farah babysits for us now: what the older clause names has gone, what came is so."""
    if max(len(older.text), len(newer.text)) > _SHORT_TEXT:
        return
    gone = noted(newer, "gone", rules, lambda: [one for one in _told_old(newer) if _departs(newer, one, rules)])
    come = [one for one in _told_old(newer) if one.kind in HELD and _is_so(newer, one)] if gone else []
    for old in _told_old(older) if come else ():
        if old.kind not in HELD or old.attribute not in PRESENT or len(old.value.split()) > _MOST_STEMS_OLD:
            continue
        for left in gone:
            new = next((one for one in come if one is not left and _stands_by(newer, left, one)), None)
            if new is not None and _is_gone(older, newer, old, left, rules) and _is_other(old, left, new, rules):
                yield old, new


def _told_old(said: Parsed) -> Iterator[Claim]:
    return (one for one in weak_claims(said) if one.attribute != "meant")


def _departs(newer: Parsed, one: Claim, rules: CueRules) -> bool:
    """Whether the clause says that something has gone: sold, left, retired, too dear."""
    return one.kind in HELD and (bool(_leaving(newer, one, rules)) or _TOO.search(clause_text(newer, one)) is not None)


def _leaving(newer: Parsed, one: Claim, rules: CueRules) -> list[int]:
    """The places of verbs of leaving, in a form of the past."""
    words = [word.lower() for word in span_words(newer, one.span)]
    return [
        place
        for place, word in enumerate(words)
        if rules.words.lemma(word) in rules.words.lists["departing_verbs"]
        and (rules.words.lemma(word) != word or word in _SAME_PAST)
    ]


def _is_so(newer: Parsed, one: Claim) -> bool:
    return one.attribute in PRESENT or _PERFECT.match(newer.text[slice(*one.span)]) is not None


def _stands_by(newer: Parsed, left: Claim, new: Claim) -> bool:
    """Whether both stand together, with "so" or "now" between or in the one that is so."""
    near = min(abs(new.span[0] - left.span[1]), abs(left.span[0] - new.span[1])) <= _NEAR
    start, end = (left.span[1], new.span[1]) if left.span < new.span else (new.span[0], left.span[1])
    return near and _SO.search(newer.text, max(0, start - 4), end) is not None


def _is_gone(older: Parsed, newer: Parsed, old: Claim, left: Claim, rules: CueRules) -> bool:
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


def _names(older: Parsed, old: Claim, rules: CueRules) -> set[str]:
    words = older.text[slice(*old.span)]
    return set(content_stems([word for word in read_words(words)[1:] if word[:1].isupper()], rules.words))


def _is_other(old: Claim, left: Claim, new: Claim, rules: CueRules) -> bool:
    """Whether what is so is something else than what has gone."""
    known = [*old.value.split(), *left.value.split()]
    return any(not has_stem(known, one, rules) and one not in rules.time_stems for one in new.value.split())


_NEAR_STAND_IN = 160
_MOST_WORDS_STAND_IN = 12


def stood_in(older: Parsed, newer: Parsed, rules: CueRules) -> Iterator[tuple[Claim, Claim]]:
    """The Golf's at the garage. I've got a Fiat on loan till Thursday: beside a bounded clause, why it is so."""
    bounded = noted(newer, "bounded", None, lambda: [one for one in _weak_stand_in(newer) if one.until is not None])
    if not bounded or is_only_of_others(older, newer, rules):
        return
    for new in bounded:
        if is_of_others(older, newer, new, rules):
            continue
        reasons = [one for one in _weak_stand_in(newer) if one is not new and _is_reason(newer, one, new, rules)]
        for old in _weak_stand_in(older) if reasons else ():
            if old.until is None and any(_is_of(older, old, newer, new, reason, rules) for reason in reasons):
                yield old, new


def _weak_stand_in(said: Parsed) -> Iterator[Claim]:
    return (one for one in weak_claims(said) if one.kind in HELD and one.attribute in (*PRESENT, "was"))


def _is_reason(newer: Parsed, one: Claim, new: Claim, rules: CueRules) -> bool:
    words = {word.lower() for word in span_words(newer, one.span)}
    near = abs(one.span[0] - new.span[1]) <= _NEAR_STAND_IN and abs(new.span[0] - one.span[1]) <= _NEAR_STAND_IN
    return near and bool(words & rules.words.lists["away_words"])


def _is_of(older: Parsed, old: Claim, newer: Parsed, new: Claim, reason: Claim, rules: CueRules) -> bool:
    """Whether the older clause speaks of what is out of action, and the newer puts something else there."""
    known = old.value.split()
    if old.attribute not in PRESENT or len(known) > _MOST_WORDS_STAND_IN or is_of_others(older, newer, reason, rules):
        return False
    about = [one for one in reason.value.split() if one not in rules.idle_stems | rules.verb_stems | rules.time_stems]
    shared = [one for one in about if has_stem(known, one, rules)]
    fresh = [one for one in new.value.split() if one not in known and one not in rules.idle_stems]
    named = content_stems((word for word in all_words(older) if word[:1].isupper()), rules.words)
    return bool(fresh) and (len(shared) > 1 or any(one in named for one in shared))
