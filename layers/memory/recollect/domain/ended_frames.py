"""Relations by a clause said again as no longer so, as so by now, or with the old value named beside the new (P-24)."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from recollect.domain.claims import HELD, PRESENT, Claim, ClaimKind, Said
from recollect.domain.clause_owners import is_of_others
from recollect.domain.clause_reading import TOPIC
from recollect.domain.clauses import read_words
from recollect.domain.cue_rules import CueRules
from recollect.domain.cue_values import content_stems
from recollect.domain.told_words import clause_text, has_stem, noted, weak_claims
from recollect.domain.topic_cover import covered

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
_Pairs = Iterator[tuple[Claim, Claim]]


def ended(older: Said, newer: Said, rules: CueRules) -> _Pairs:
    """The VPN isn't needed for staging any more: all of it said before, as so; and the reverse, as so by now."""
    for new, over in noted(newer, "ended", rules, lambda: list(_turning(newer, rules))):
        anew = not over
        for old in _weak(older) if not is_of_others(older, newer, new, rules) else ():
            opposite = old.kind in HELD if over else old.kind is ClaimKind.END
            again = opposite and _is_about_one(old, new) and _says_again(old, new, rules, whole=anew)
            if again and _is_head(older, old, new, rules):
                yield old, new


def _turning(newer: Said, rules: CueRules) -> Iterator[tuple[Claim, bool]]:
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


def put_in_place(older: Said, newer: Said, rules: CueRules) -> _Pairs:
    """Ella's at St Anne's now instead of Oakfield; Ines took over from Tomas as captain: the old value is named."""
    for new, named in noted(newer, "in place", rules, lambda: list(_replaced(newer, rules))):
        for old in _weak(older) if not is_of_others(older, newer, new, rules) else ():
            if old.kind in HELD and _stands_in(old, new, named, rules):
                yield old, new


def _replaced(newer: Said, rules: CueRules) -> Iterator[tuple[Claim, tuple[str, ...]]]:
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


def _weak(said: Said, *, was: bool = False) -> Iterator[Claim]:
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


def _is_head(older: Said, old: Claim, new: Claim, rules: CueRules) -> bool:
    """Whether what both name is more than a modifier in the older one: "coffee" is not in "coffee machine"."""
    known = old.value.split()
    shared = [one for one in new.value.split() if one not in rules.verb_stems and has_stem(known, one, rules)]
    if not shared or all(has_stem(known, one, rules) for one in new.value.split()):
        return True
    return any(covered(older, old, replace(new, value=one, attribute=TOPIC), rules) for one in shared)
