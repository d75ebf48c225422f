"""Relations by evidence that adds up: a cue of change, something in common, and values that stand against each other.

For clauses that no rule of attributes or frames knows (P-24): "We feed the cat Whiskerly" and "We've put the cat on
Purrina instead" have the cat in common, say "instead", and each has a name where the other has another.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from recollect.domain.claims import HELD, PRESENT, Claim, Said
from recollect.domain.clause_owners import is_of_others
from recollect.domain.cue_rules import CueRules
from recollect.domain.cue_values import typed_values
from recollect.domain.told_words import clause_text, has_stem, noted, span_words, weak_claims, word_stems

_OWN = frozenset({"my", "our", "the"})
_TO = frozenset({"to", "onto", "into", "for"})
_REACH = 7
_PLACING = frozenset({"in", "on", "at", "with", "by", "from", "to", "for", "onto", "into", "near"})
_MOST_STEMS = 10
_MOST_FRESH = 6
_ENOUGH = 4
_LONG = 140


@dataclass(frozen=True, slots=True)
class _Side:
    """A clause: its stems, which of them are names and the speaker's own nouns, and what stands behind prepositions."""

    claim: Claim
    stems: tuple[str, ...]
    heads: frozenset[str]
    names: frozenset[str]
    owned: frozenset[str]
    placed: frozenset[str]
    sorts: frozenset[str]
    cue: int


def swapped(older: Said, newer: Said, rules: CueRules) -> Iterator[tuple[Claim, Claim]]:
    """Clauses of which the newer puts another value where the older one has its own."""
    cued = noted(newer, "cued sides", rules, lambda: [s for s in _sides(newer, rules) if s.cue or _is_bounded(s)])
    news = [side for side in cued if not is_of_others(older, newer, side.claim, rules)]
    olds = [side for side in _sides(older, rules) if side.claim.attribute in PRESENT] if news else []
    enough = _ENOUGH + (len(older.text) > _LONG and len(newer.text) > _LONG)
    for new in news:
        for old in olds:
            if old.claim.until is None and not _of_another_thing(old, new) and _weight(old, new, rules) >= enough:
                yield old.claim, new.claim


def _of_another_thing(old: _Side, new: _Side) -> bool:
    """The sync folder is not the sync: what the newer clause speaks of, the older one does not name."""
    both = old.claim.attribute == new.claim.attribute == "of"
    return both and new.stems[:1] != old.stems[:1] and not {*new.stems[:1]} <= {*old.stems}


def _is_bounded(side: _Side) -> bool:
    return side.claim.until is not None and side.claim.attribute in PRESENT


def _sides(said: Said, rules: CueRules) -> tuple[_Side, ...]:
    return noted(said, "swaps", rules, lambda: tuple(_read(said, one, rules) for one in _weak(said)))


def _weak(said: Said) -> Iterator[Claim]:
    told = (one for one in weak_claims(said) if one.kind in HELD and not one.subject)
    return (one for one in told if one.attribute in PRESENT or one.attribute == "was")


def _read(said: Said, claim: Claim, rules: CueRules) -> _Side:
    words, stems = span_words(said, claim.span), word_stems(said, claim.span, rules)
    own = set(claim.value.split())
    first = claim.span[0] == 0 or said.text[: claim.span[0]].rstrip()[-1:] in ("", ".", "!", "?")
    names = {
        stem
        for place, (word, stem) in enumerate(zip(words, stems, strict=True))
        if word[:1].isupper() and stem in own and stem not in rules.time_stems and (place or not first)
    }
    return _Side(
        claim,
        tuple(one for one in claim.value.split() if one not in rules.time_stems),
        frozenset(_heads(words, stems, rules)),
        frozenset(names),
        frozenset(_behind(words, stems, _OWN)),
        frozenset(_behind(words, stems, _PLACING)),
        frozenset(value.sort for value in typed_values(said.text[slice(*claim.span)])),
        _cue(said, claim, words, rules),
    )


def _heads(words: Sequence[str], stems: Sequence[str], rules: CueRules) -> Iterator[str]:
    """What the clause has in common with another by more than a modifier: not the "sync" of "sync folder"."""
    skipped = rules.idle_stems | rules.unit_stems
    for place, stem in enumerate(stems):
        plain = bool(stem) and stem not in skipped and not stem[:1].isdigit()
        after = stems[place + 1] if place + 1 < len(stems) else ""
        modifies = after and words[place + 1].islower() and words[place].islower() and after not in rules.verb_stems
        if plain and not modifies:
            yield stem


def _behind(words: Sequence[str], stems: Sequence[str], openers: frozenset[str]) -> Iterator[str]:
    """The stems within three words behind one of the openers."""
    for place, stem in enumerate(stems):
        if stem and openers & {word.lower() for word in words[max(0, place - 3) : place]}:
            yield stem


def _cue(said: Said, claim: Claim, words: Sequence[str], rules: CueRules) -> int:
    """How surely the clause says that something has changed: 2 for "instead" and "switched to", 1 for "now"."""
    text = clause_text(said, claim)
    if rules.words.has("too_markers", text):
        return 0
    if rules.words.has("instead_markers", text) or _moves([word.lower() for word in words], rules):
        return 2
    return int(claim.attribute in PRESENT and rules.words.has("anew_markers", text))


def _moves(words: Sequence[str], rules: CueRules) -> bool:
    """Whether it says "moved … to", "gone over to"."""
    for place, word in enumerate(words):
        behind, lemma = words[place + 1 : place + _REACH], rules.words.lemma(word)
        moved = (
            lemma in rules.words.lists["switch_verbs"] and lemma not in ("go", "come", word) and not word.endswith("s")
        )
        went = lemma == "go" and behind[:1] == ["over"]
        if (moved or went) and any(_puts(one, two, rules) for one, two in pairwise(behind)):
            return True
    return False


def _puts(one: str, two: str, rules: CueRules) -> bool:
    """Whether behind the preposition stands what it is now, not what one is brought to do."""
    return one in _TO and not (one == "to" and rules.words.is_verb(two))


def _weight(old: _Side, new: _Side, rules: CueRules) -> int:
    """Cue, what is shared, and how the values stand against each other; 0 where any of the three is missing."""
    shared = [one for one in new.stems if has_stem(old.stems, one, rules) and one in new.heads]
    nouns = [one for one in shared if one not in rules.verb_stems | rules.person_stems]
    fresh = [one for one in new.stems if not has_stem(old.stems, one, rules)]
    left = [one for one in old.stems if not has_stem(new.stems, one, rules)]
    if not nouns or not fresh or not left or len(fresh) > _MOST_FRESH or len(old.stems) > _MOST_STEMS:
        return 0
    if rules.liking_stems & {*new.stems, *old.stems}:
        return 0
    owned = any(has_stem(old.owned, one, rules) for one in nouns if one in new.owned)
    link = min(2, len(shared)) + owned
    bounded = _is_bounded(new)
    against = _against(old, new, left, fresh) or int(bounded)
    return max(new.cue, 2 * bounded) + link + against if against else 0


def _against(old: _Side, new: _Side, left: Sequence[str], fresh: Sequence[str]) -> int:
    if old.names & set(left) and new.names & set(fresh):
        return 2
    if old.placed & set(left) and new.placed & set(fresh):
        return 1
    return 0
