"""Updates of a number said in passing: "my increased budget of $650", "the commits, which have now reached 165" (P-24).

What is presupposed holds in a question and a plan as well, so that neither mood nor subject is asked for; the noun, its
class of value and another word of what both are about must be the same.
"""

import re
from collections.abc import Iterator

from recollect.domain.claims import Claim, Said
from recollect.domain.clause_owners import is_of_others
from recollect.domain.clauses import blanked, read_words
from recollect.domain.cue_rules import CueRules
from recollect.domain.cue_values import WHEN, Sort, Value, content_stems, typed_values
from recollect.domain.told_words import noted, weak_claims

_ATTRIBUTE = re.compile(
    r"\b(?:my|our|the|with) (?:recently |newly )?(?:increased|raised|reduced|lowered|updated|revised|extended|new)"
    r"(?P<noun>(?: [a-z][\w'-]{1,30}){1,4}?) (?:of|at|to|is|from) (?=[$\u20ac\u00a3\w])",
    re.IGNORECASE,
)
_REACHED = re.compile(
    r"\b(?:has|have) (?:now |recently ){0,2}"
    r"(?:reached|grown to|risen to|improved to|dropped to|increased to|extended to|gone up to) (?=[$\u20ac\u00a3\d])",
    re.IGNORECASE,
)
_UNREAL = re.compile(r"\b(?:if|suppose|imagine|would|were|could)\b", re.IGNORECASE)
_WINDOW = 60
_HEAD_WITHIN = 30
_LEAST_SHARED = 2
_MOST_HEADS = 4
_MOST_CHARACTERS = 6000


def updated_in_passing(older: Said, newer: Said, rules: CueRules) -> Iterator[tuple[Claim, Claim]]:
    """The older clause with another value of the noun that the newer text calls increased, new, or of by now."""
    if not noted(newer, "in passing", None, lambda: _may_update(newer.text[:_MOST_CHARACTERS])):
        return
    plain = blanked(newer.text[:_MOST_CHARACTERS])
    for cue in (*_ATTRIBUTE.finditer(plain), *_REACHED.finditer(plain)):
        fresh, new = _value_at(plain, cue.end()), _claim_at(newer, cue.end() - 1)
        if fresh is None or new is None or _UNREAL.search(plain[max(0, cue.start() - _WINDOW) : cue.end()]):
            continue
        if not is_of_others(older, newer, new, rules):
            yield from ((old, new) for old in _others_of(older, plain, cue, fresh, rules))


def _may_update(text: str) -> bool:
    return _ATTRIBUTE.search(text) is not None or _REACHED.search(text) is not None


def _others_of(older: Said, plain: str, cue: re.Match[str], fresh: Value, rules: CueRules) -> Iterator[Claim]:
    """The older text's clauses that give the noun another value of the class, and share a word more with the newer."""
    noun = cue["noun"] if "noun" in cue.re.groupindex else plain[max(0, cue.start() - _WINDOW) : cue.start()]
    heads = content_stems(read_words(noun), rules.words)[-_MOST_HEADS:]
    about = _stems_of(plain, cue.start(), fresh, rules, _WINDOW)
    text = blanked(older.text[:_MOST_CHARACTERS])
    for value in typed_values(text):
        old = _claim_at(older, value.span[0])
        if old is None or _class(value) != _class(fresh) or value.text == fresh.text or value.text in plain:
            continue
        named = set(heads) & set(_around(text, value.span[0], value, rules, _HEAD_WITHIN))
        shared = about & _stems_of(text, value.span[0], value, rules, _WINDOW)
        if named and len(shared | named) >= _LEAST_SHARED:
            yield old


def _value_at(text: str, start: int) -> Value | None:
    """The value that begins behind the cue."""
    found = typed_values(text[start : start + _WINDOW])
    first = found[0] if found and found[0].span[0] <= 1 else None
    return Value(first.sort, first.text, (first.span[0] + start, first.span[1] + start)) if first else None


def _class(value: Value) -> str:
    if value.sort in (Sort.AMOUNT, Sort.NUMBER):
        return "".join(letter for letter in value.text if not letter.isdigit()).strip(" .")
    return "when" if value.sort in WHEN else str(value.sort)


def _stems_of(text: str, start: int, value: Value, rules: CueRules, window: int) -> set[str]:
    """What stands around a value, but for what says little; a unit behind a number counts."""
    skipped = rules.idle_stems | rules.time_stems | rules.moving_stems | rules.verb_stems
    return {one for one in _around(text, start, value, rules, window) if one.isalpha() and one not in skipped}


def _around(text: str, start: int, value: Value, rules: CueRules, window: int) -> tuple[str, ...]:
    return content_stems(read_words(text[max(0, start - window) : value.span[1] + window]), rules.words)


def _claim_at(said: Said, place: int) -> Claim | None:
    return next((one for one in weak_claims(said) if one.span[0] <= place < one.span[1]), None)
