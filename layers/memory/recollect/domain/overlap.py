"""Relations by what two clauses have in common, where no attribute of theirs is known (P-24).

Three fall-backs, each behind a cue that leaves little doubt: a bound in time ("I'm sleeping in the guest room until
tomorrow"), "now" with all but one word the same, and words that take something back ("I told you I have a work visa.
That was a mistake").
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from recollect.domain.claims import HELD, PRESENT, Claim, ClaimKind, Said
from recollect.domain.clause_owners import is_of_another_group, is_of_others
from recollect.domain.clause_reading import TOPIC
from recollect.domain.cue_rules import CueRules
from recollect.domain.cue_values import content_stems
from recollect.domain.predicates import OTHERS
from recollect.domain.told_words import (
    all_stems,
    clause_text,
    has_stem,
    has_stems,
    known_words,
    noted,
    span_words,
    weak_claims,
)

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


def held_over(older: Said, newer: Said, rules: CueRules) -> _Pairs:
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


def _is_done_for(old: Claim, new: Claim, older: Said, newer: Said, rules: CueRules) -> bool:
    """My mother-in-law is doing the school run this week: what the speaker does, all of it and nothing else."""
    if old.subject or not new.subject or {"i", "my", "our"}.isdisjoint(clause_text(older, old).split()[:4]):
        return False
    subject = content_stems(new.subject.split(), rules.words)
    told = [one for one in new.value.split() if one not in subject and one not in rules.time_stems]
    named = any(one not in rules.idle_stems and one not in rules.verb_stems for one in told)
    definite = " the " in clause_text(older, old) and (" the " in clause_text(newer, new))
    return definite and named and has_stems(old.value.split(), told, rules)


def _holds(old: Claim, new: Claim, older: Said, newer: Said, rules: CueRules) -> bool:
    own = old.subject == new.subject or not is_of_others(older, newer, new, rules)
    return own and _holds_over(old, new, rules)


def said_anew(older: Said, newer: Said, rules: CueRules) -> _Pairs:
    """We meet every Wednesday now; remind me at 7am instead: all but one word shared, and that of one sort."""
    for old, new in _weak_pairs(older, noted(newer, "anew", rules, lambda: list(_anew(newer, rules)))):
        if old.attribute != new.attribute:
            continue
        if (old.subject == new.subject and _differs_in_one(old, new, rules)) or (
            old.subject and _does_the_same(old, new, rules) and not is_of_others(older, newer, new, rules)
        ):
            yield old, new


def taken_back(older: Said, newer: Said, rules: CueRules) -> _Pairs:
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


def _of_another(older: Said, newer: Said, stems: Sequence[str], rules: CueRules) -> bool:
    """Priya doesn't have twins: what takes something back says it of somebody of whom the older text does not speak."""
    known = all_stems(older, rules)
    things = (one.value.split() for one in weak_claims(newer) if one.attribute == "of")
    return any(told[:1] and told[0] not in known and has_stems(told[1:], stems, rules) for told in things)


def denied(older: Said, newer: Said, rules: CueRules) -> _Pairs:
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


def _weak_pairs(older: Said, news: Sequence[Claim]) -> _Pairs:
    olds = [claim for claim in _told(older) if claim.kind in HELD] if news else []
    return ((old, new) for new in news for old in olds)


def _told(said: Said) -> Iterator[Claim]:
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


def _anew(newer: Said, rules: CueRules) -> Iterator[Claim]:
    """The clauses that say of something that it is so by now."""
    changes = (claim for claim in _told(newer) if claim.kind is ClaimKind.CHANGE)
    return (claim for claim in changes if rules.words.has("anew_markers", clause_text(newer, claim)))


def _differs_in_one(old: Claim, new: Claim, rules: CueRules) -> bool:
    found = _Compared.of(old, new, rules)
    if len(found.left) != 1 or len(found.fresh) != 1 or not found.shared or not found.same_first:
        return False
    timed = all(one[:1].isdigit() or one in rules.time_stems for one in (*found.left, *found.fresh))
    return timed or len(found.shared) >= _LEAST_SHARED
