"""What stands in for a while, where the newer text says that the usual one is out of action (P-24)."""

from collections.abc import Iterator

from recollect.domain.claims import HELD, PRESENT, Claim, Said
from recollect.domain.clause_owners import is_of_others, is_only_of_others
from recollect.domain.cue_rules import CueRules
from recollect.domain.cue_values import content_stems
from recollect.domain.told_words import all_words, has_stem, noted, span_words, weak_claims

_NEAR = 160
_MOST_WORDS = 12


def stood_in(older: Said, newer: Said, rules: CueRules) -> Iterator[tuple[Claim, Claim]]:
    """The Golf's at the garage. I've got a Fiat on loan till Thursday: beside a bounded clause, why it is so."""
    bounded = noted(newer, "bounded", None, lambda: [one for one in _weak(newer) if one.until is not None])
    if not bounded or is_only_of_others(older, newer, rules):
        return
    for new in bounded:
        if is_of_others(older, newer, new, rules):
            continue
        reasons = [one for one in _weak(newer) if one is not new and _is_reason(newer, one, new, rules)]
        for old in _weak(older) if reasons else ():
            if old.until is None and any(_is_of(older, old, newer, new, reason, rules) for reason in reasons):
                yield old, new


def _weak(said: Said) -> Iterator[Claim]:
    return (one for one in weak_claims(said) if one.kind in HELD and one.attribute in (*PRESENT, "was"))


def _is_reason(newer: Said, one: Claim, new: Claim, rules: CueRules) -> bool:
    words = {word.lower() for word in span_words(newer, one.span)}
    near = abs(one.span[0] - new.span[1]) <= _NEAR and abs(new.span[0] - one.span[1]) <= _NEAR
    return near and bool(words & rules.words.lists["away_words"])


def _is_of(older: Said, old: Claim, newer: Said, new: Claim, reason: Claim, rules: CueRules) -> bool:
    """Whether the older clause speaks of what is out of action, and the newer puts something else there."""
    known = old.value.split()
    if old.attribute not in PRESENT or len(known) > _MOST_WORDS or is_of_others(older, newer, reason, rules):
        return False
    about = [one for one in reason.value.split() if one not in rules.idle_stems | rules.verb_stems | rules.time_stems]
    shared = [one for one in about if has_stem(known, one, rules)]
    fresh = [one for one in new.value.split() if one not in known and one not in rules.idle_stems]
    named = content_stems((word for word in all_words(older) if word[:1].isupper()), rules.words)
    return bool(fresh) and (len(shared) > 1 or any(one in named for one in shared))
