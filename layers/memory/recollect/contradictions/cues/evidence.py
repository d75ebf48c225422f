"""Weighed evidence that two plain statements are of one thing (P-24).

Relations of two short plain statements by evidence that adds up, where no other rule knows anything (P-24).

"Our home insurance is with Larkfield" and "We took our home insurance to Stonebridge": what both are about, what the
newer says anew and how it is said are each a piece of evidence with a weight; the weights are data of the rules. Only
one plain sentence can be replaced so: in a longer text a shared word says too little.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from recollect.contradictions.cues.claims import (
    HELD,
    MINE,
    OTHERS_OWN,
    SPEAKER,
    Claim,
    ClaimKind,
    Parsed,
    all_stems,
    all_words,
    clause_text,
    known_words,
    noted,
    span_words,
    weak_claims,
    word_stems,
)
from recollect.contradictions.cues.clauses import content_stems, singular
from recollect.contradictions.cues.documents import CueRules
from recollect.contradictions.cues.statements import (
    FRAMES,
    asserts_all,
    has_part,
    is_foreign,
    is_only_of_others,
    is_plain,
    is_short,
    may_share,
    told,
)
from recollect.contradictions.relation import RelationKind
from recollect.text.terms import stem

_MAY = stem("may")
_MOST_COUNTED = 4
_MOST_SHARED = 3
_REACH = 3
_SHORT = 70
_IS = frozenset({"is", "are", "was", "were", "am"})
_DONE_TO = frozenset({"me", "us"})
_NOBODYS = frozenset({"it", "that", "this", "there", "they", "nobody", "everything", "you"})
_ONCE = frozenset({"before", "until", "once", "first", "early", "age", "previous", "earlier", "had", "did"})
_TO = frozenset({"to", "onto", "for", "on", "with"})
_NOT = frozenset({"not", "no", "never", "don't", "isn't", "aren't", "doesn't", "dont", "isnt"})
_ALONE = frozenset({"only", "just"})
_LIST = re.compile(r",| and | & | plus | or ")
_Hit = tuple[RelationKind, Claim, Claim]


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two clauses with the stems of each that the other has, and what is left on either side."""

    old: Claim
    new: Claim
    shared: tuple[str, ...]
    fresh: tuple[str, ...]
    left: tuple[str, ...]
    nouns: tuple[str, ...]
    fields: frozenset[str]
    framed: bool


def changed_plainly(older: Parsed, newer: Parsed, rules: CueRules) -> Iterator[_Hit]:
    """The one plain clause of the older text, if there is evidence enough that the newer one says otherwise."""
    pair = closest(older, newer, rules)
    if pair is None or is_only_of_others(older, newer, rules):
        return
    found, new = evidence_of(pair, newer, rules), _bounded(pair.new, newer)
    if not _says_change(pair, older, newer, new, found, rules):
        return
    weights = rules.evidence["plain" if new.until is None else "bounded"]
    if weights and sum(weight * found[name] for name, weight in weights.items() if name in found) >= 0:
        yield _kind(pair, older, newer, found), pair.old, new


def _says_change(
    pair: _Pair, older: Parsed, newer: Parsed, new: Claim, found: Mapping[str, float], rules: CueRules
) -> bool:
    """Whether it denies the older one, or says that something has changed or for how long: more than another value."""
    text = told(newer)
    if found["opposed"] or new.until is not None or _turns(pair, older, newer, rules):
        return True
    if any(found[name] for name in ("ended", "no_longer", "negated", "not")) or rules.words.has("lost_words", text):
        return True
    if not pair.left or rules.words.has("too_markers", text) or " other " in text:
        return False
    cued = pair.new.kind is not ClaimKind.STATE or bool(found["moved"] or found["begun"])
    told_of = any(one.attribute == "was" for one in weak_claims(newer))
    return cued or told_of or rules.words.has("now_markers", text) or bool(_ALONE & set(text.split()))


def _turns(pair: _Pair, older: Parsed, newer: Parsed, rules: CueRules) -> bool:
    """Lovely, where it was hated; working, where it was broken."""
    return _valence(older, pair.old, rules) * _valence(newer, pair.new, rules) < 0


def _valence(said: Parsed, claim: Claim, rules: CueRules) -> int:
    """1 for a clause of something pleasant, -1 for the contrary, 0 for neither; a denial turns it round."""
    text = clause_text(said, claim)
    good, bad = rules.words.has("pleasant", text), rules.words.has("unpleasant", text)
    sign = int(good) - int(bad)
    return -1 if bad and good else sign if claim.kind in HELD or bad else -sign


def closest(older: Parsed, newer: Parsed, rules: CueRules) -> _Pair | None:
    """The two clauses that have the most in common; None where the texts are no plain statements of one speaker."""
    if not (is_plain(older) and is_short(newer, rules) and asserts_all(newer) and may_share(older, newer, rules)):
        return None
    pairs = [
        pair
        for new in weak_claims(newer)
        for old in weak_claims(older)
        if (pair := _compared(older, old, newer, new, rules)) is not None and _is_of_speaker(older, newer, new, rules)
    ]
    return max(pairs, key=_weight, default=None)


def _is_of_speaker(older: Parsed, newer: Parsed, new: Claim, rules: CueRules) -> bool:
    """Whether it is of the speaker, of what the older text speaks of, or done to either; and not of what once was."""
    words = {word.lower().removesuffix("'s") for word in span_words(newer, new.span)}
    known = known_words(older)
    own = bool((MINE | SPEAKER) & words)
    if not own and any(one.subject in rules.words.persons - known for one in weak_claims(newer)):
        return False
    if new.until is not None and _stands_in(older, newer, new, rules):
        return True
    if is_foreign(older, newer, new, rules, _groups(older, newer, new, rules)):
        return False
    if new.attribute == "was" and _ONCE & set(told(newer).split()):
        return False
    if {"keep", "leave"} & words - known or _is_done_by_another(older, newer, new, rules):
        return False
    if (rules.words.persons & words) - known and not _DONE_TO & words:
        return False
    if not set(new.subject.split()) <= known | _NOBODYS:
        return bool(MINE & words)
    if own or new.attribute not in ("of", "was") or new.subject:
        return True
    return has_part(all_stems(older, rules), new.value.split()[0], rules)


def _is_done_by_another(older: Parsed, newer: Parsed, new: Claim, rules: CueRules) -> bool:
    """My editor uses Twitter: somebody or something of the speaker's does it, of which the older text knows nothing."""
    words, stems = span_words(newer, new.span), word_stems(newer, new.span, rules)
    head = next((one for one in stems if one), "")
    opens = bool(words) and words[0].lower() in ("my", "our") and not has_part(all_stems(older, rules), head, rules)
    return opens and not any(_IS & {word.lower()} or word.lower().endswith("'s") for word in words)


def _stands_in(older: Parsed, newer: Parsed, new: Claim, rules: CueRules) -> bool:
    """Jan's watering my plants until Friday: whoever it is, what is done is the speaker's, or as was said."""
    words, known = [word.lower() for word in span_words(newer, new.span)], all_stems(older, rules)
    owned = any(one in MINE and two.endswith("'s") for one, two in pairwise(words[2:]))
    if owned or OTHERS_OWN & set(words) - known_words(older):
        return False
    who = content_stems(new.subject.split(), rules.words)
    done = [one for one in new.value.split()[1:] if one not in who and one not in rules.time_stems]
    named = any(one.subject for one in weak_claims(older)) or bool(rules.words.persons & set(new.subject.split()))
    again = named and len(done) > 1 and all(has_part(known, one, rules) for one in done)
    return again or any(_is_owned(one, two, rules) for one, two in pairwise(words[2:]))


def _is_owned(owner: str, thing: str, rules: CueRules) -> bool:
    """Whether the speaker has it, and it is nobody."""
    return owner in ("my", "our") and not {thing, singular(thing)} & rules.words.persons


def _groups(older: Parsed, newer: Parsed, new: Claim, rules: CueRules) -> frozenset[str]:
    """A club or a team is no owner where the clause begins with the speaker or with what the older text is about."""
    words = [word.lower() for word in span_words(newer, new.span) if word.lower() != "the"][:1]
    stems = word_stems(newer, new.span, rules)
    first = next((one for one in stems if one), "")
    own = bool((SPEAKER | MINE) & set(words)) or has_part(all_stems(older, rules), first, rules)
    begins = newer.text[: new.span[0]].rstrip()[-1:] in ("", ".", "!", ";")
    return rules.words.lists["groups"] if own and begins else frozenset()


def _weight(pair: _Pair) -> int:
    return 4 * len(pair.nouns) + 2 * len(pair.shared) + len(pair.fields) + pair.framed


def evidence_of(pair: _Pair, newer: Parsed, rules: CueRules) -> Mapping[str, float]:
    """Each piece of evidence with its value: 0 or 1, a share, a small count; `always` is where the sum begins."""
    old, new = pair.old, pair.new
    words = [word.lower() for word in span_words(newer, new.span)]
    text = told(newer)
    opposed = (old.kind in HELD) != (new.kind in HELD)
    stems, lists = word_stems(newer, new.span, rules), rules.words.lists
    moving = lists["switch_verbs"] | lists["transfer_verbs"]
    return {
        "always": 1.0,
        "older_covered": len(pair.shared) / max(1, len(pair.shared) + len(pair.left)),
        "newer_covered": len(pair.shared) / max(1, len(pair.shared) + len(pair.fresh)),
        "same_frame": pair.framed,
        "one_field": bool(pair.fields),
        "no_word": not pair.shared,
        "two_nouns": len(pair.nouns) > 1,
        "no_noun": not pair.nouns,
        "fresh": min(_MOST_COUNTED, len(pair.fresh)),
        "left": min(_MOST_COUNTED, len(pair.left)),
        "same_opening": old.value.split()[:1] == new.value.split()[:1],
        "same_subject": old.subject == new.subject,
        "to_another": any(word in _TO and _near(stems, place, pair.fresh) for place, word in enumerate(words)),
        "opposed": opposed,
        "denied": opposed and not pair.fresh,
        "negated": new.kind is ClaimKind.END,
        "not": bool(_NOT & set(text.split())),
        "no_longer": rules.words.has("end_markers", text),
        "moved": any(rules.words.lemma(word) in moving for word in words),
        "ended": _has_topic(newer, pair, ClaimKind.END, rules),
        "begun": _has_topic(newer, pair, ClaimKind.CHANGE, rules),
        "taken_back": _takes_back(newer),
        "amounts": _has_amount(pair.fresh) and _has_amount(pair.left),
        "short": len(newer.text) < _SHORT,
        "shared": min(_MOST_SHARED, sum(_names(one, rules) for one in pair.shared)),
        "fields": min(_MOST_SHARED, len(pair.fields)),
        "field_only": bool(pair.fields) and not pair.shared,
        "field_paused": bool(pair.fields) and not lists["pausing_words"].isdisjoint(words),
    }


def _compared(older: Parsed, old: Claim, newer: Parsed, new: Claim, rules: CueRules) -> _Pair | None:
    """The two with what they share; None without a word, a frame or a field in common."""
    if old.attribute == "was":
        return None
    ours, theirs = _told_stems(older, old, rules), _told_stems(newer, new, rules)
    shared = tuple(one for one in theirs if has_part(ours, one, rules))
    nouns = tuple(one for one in shared if one not in rules.no_noun_stems)
    fresh = tuple(one for one in theirs if one not in shared)
    left = tuple(one for one in ours if not has_part(theirs, one, rules))
    fields = _fields(left, rules) & _fields(fresh, rules)
    framed = bool(_frames(older, old) & _frames(newer, new))
    plain = any(one not in rules.time_stems and one != _MAY and not one.isdigit() for one in shared)
    return _Pair(old, new, shared, fresh, left, nouns, fields, framed) if plain or fields or framed else None


def _told_stems(said: Parsed, claim: Claim, rules: CueRules) -> tuple[str, ...]:
    return noted(said, ("plain stems", claim.value), rules, lambda: _without_idle(claim, rules))


def _without_idle(claim: Claim, rules: CueRules) -> tuple[str, ...]:
    return tuple(one for one in claim.value.split() if one not in rules.idle_stems)


def _fields(stems: Sequence[str], rules: CueRules) -> frozenset[str]:
    return frozenset(name for one in stems for name in rules.fields.get(one, ()))


def _frames(said: Parsed, claim: Claim) -> frozenset[tuple[str, str]]:
    """The frames of a clause: work on, sing in."""
    framed = (one for one in said.claims if one.rule in FRAMES and one.span == claim.span)
    return frozenset((one.subject, one.attribute) for one in framed)


def _near(stems: Sequence[str], place: int, wanted: Sequence[str]) -> bool:
    return any(one and one in wanted for one in stems[place + 1 : place + 1 + _REACH])


def _names(one: str, rules: CueRules) -> bool:
    return one not in rules.time_stems and not _has_amount((one,))


def _has_topic(newer: Parsed, pair: _Pair, kind: ClaimKind, rules: CueRules) -> bool:
    """Whether a rule of topics reads that something of the older clause ended, or begins."""
    topics = (one.value.split() for one in newer.claims if one.rule.startswith("topic.") and one.kind is kind)
    ours = pair.old.value.split()
    return any(has_part(ours, one, rules) for stems in topics for one in stems)


def _takes_back(newer: Parsed) -> bool:
    return any(one.kind is ClaimKind.RETRACTION for one in newer.claims)


def _has_amount(stems: Sequence[str]) -> bool:
    return any(letter.isdigit() for one in stems for letter in one)


def _kind(pair: _Pair, older: Parsed, newer: Parsed, found: Mapping[str, float]) -> RelationKind:
    if _bounded(pair.new, newer).until is not None:
        return RelationKind.OVERRIDES
    if found["taken_back"]:
        return RelationKind.RETRACTS
    words = {word.lower() for word in all_words(newer)}
    some = found["negated"] or found["ended"] or bool(_ALONE & words)
    if some and pair.left and _LIST.search(older.text):
        return RelationKind.UNDECIDED
    return RelationKind.SUPERSEDES


def _bounded(new: Claim, newer: Parsed) -> Claim:
    """The clause, or the one of the text that sets a bound."""
    if new.until is not None:
        return new
    return next((one for one in weak_claims(newer) if one.until is not None), new)
