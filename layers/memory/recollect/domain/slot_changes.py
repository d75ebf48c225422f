"""Relations by one slot of a clause: another value in the same frame, of which no attribute rule knows anything (P-24).

"They've moved my desk up to the fifth floor" stands in the place of "My desk is on the third floor": what both are
about is the same, the values are of one sort and differ, and the newer clause says that something changed.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from recollect.domain.claims import HELD, PRESENT, Claim, Said
from recollect.domain.clause_owners import is_of_others
from recollect.domain.cue_rules import CueRules
from recollect.domain.cue_values import WHEN, Sort, Value, content_stems, typed_values
from recollect.domain.told_words import has_stem, noted, span_words, stems_of_each, weak_claims

_POSSESSIVES = frozenset({"my", "our", "me", "us", "the"})
_ORDINAL = re.compile(r"\b(?:second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth)\b", re.I)
_CODE = re.compile(r"\b(?:[A-Za-z]{1,4}\d{1,5}|\d{1,5}[A-Za-z])\b")
_PARTS = re.compile(r"\d{1,15}|[^\W\d]{1,40}")
_IS = frozenset({"is", "are", "'s"})
_ARTICLES = frozenset({"a", "an", "the", "my", "our"})
_PLACING = frozenset({"in", "on", "at", "with", "by", "from", "to"})
_DIRECTIONS = frozenset({"up", "down", "back", "forward", "over"})
_TAKES_UP = re.compile(r"\W*(?:(?:and|so|but|now) )?(?:it's|it is|mine's|mine is|that's|that is)\b(?! been)", re.I)
_AMOUNTS = frozenset({Sort.MONEY, Sort.AMOUNT, Sort.NUMBER})
_MOST_STEMS = 14
_MOST_SLOT = 3
_Pairs = Iterator[tuple[Claim, Claim]]


@dataclass(frozen=True, slots=True)
class _Side:
    """A clause: its words, the stems of what it is about, its typed values by class, and its claim."""

    claim: Claim
    words: tuple[str, ...]
    frame: tuple[str, ...]
    values: tuple[tuple[str, str], ...]
    changes: bool
    now: bool


def slot_changed(older: Said, newer: Said, rules: CueRules) -> _Pairs:
    """Clauses of which the newer puts another value into the older one's place, and says that it changed."""
    changed = noted(
        newer, "changed sides", rules, lambda: [side for side in _sides(newer, rules) if _says_change(side)]
    )
    news = [side for side in changed if not is_of_others(older, newer, side.claim, rules)]
    olds = [side for side in _sides(older, rules) if side.claim.attribute in PRESENT] if news else []
    for new in news:
        for old in olds:
            if _is_same_speaker(old, new, rules) and _fits(old, new, rules):
                yield old.claim, new.claim


def _says_change(side: _Side) -> bool:
    return side.changes or side.now or side.claim.until is not None


def _sides(said: Said, rules: CueRules) -> list[_Side]:
    return noted(said, "sides", rules, lambda: _read_sides(said, rules))


def _read_sides(said: Said, rules: CueRules) -> list[_Side]:
    """The clauses that assert something; "it's 9032 now" is read with the clause before it."""
    found: list[_Side] = []
    for claim in (one for one in weak_claims(said) if one.kind in HELD and one.attribute != "meant"):
        side = _side(said, claim, claim.span, claim.value, rules)
        if found and _TAKES_UP.match(said.text, claim.span[0]) and claim.span[0] - found[-1].claim.span[1] < _MOST_SLOT:
            before = found[-1].claim
            side = _side(said, claim, (before.span[0], claim.span[1]), f"{before.value} {claim.value}", rules)
        if side.now or side.changes or claim.attribute in PRESENT:
            found.append(side)
    return found


def _side(said: Said, claim: Claim, span: tuple[int, int], stems: str, rules: CueRules) -> _Side:
    text = said.text[slice(*span)]
    words = tuple(word.lower() for word in span_words(said, span))
    spaced = f" {' '.join(words)} "
    moving = rules.words.lists["moving_verbs"]
    turned = any(one in _DIRECTIONS and two == "to" for one, two in pairwise(words))
    changes = turned or any(rules.words.lemma(word) in moving for word in words)
    now = rules.words.has("anew_markers", spaced)
    values = tuple((_class(one), one.text) for one in _values(text) if _is_of(one, stems, rules))
    return _Side(claim, words, _frame(stems.split(), rules), values, changes, now)


def _values(text: str) -> list[Value]:
    typed = typed_values(text)
    found = (match for pattern in (_ORDINAL, _CODE) for match in pattern.finditer(text))
    fresh = (one for one in found if not any(one.start() < old.span[1] and old.span[0] < one.end() for old in typed))
    return [*typed, *(Value(Sort.NUMBER, one.group().lower(), one.span()) for one in fresh)]


def _class(value: Value) -> str:
    if value.sort in _AMOUNTS:
        return str(Sort.NUMBER)
    return str(Sort.CLOCK) if value.sort is Sort.CLOCK else "when" if value.sort in WHEN else str(value.sort)


def _is_of(value: Value, stems: str, rules: CueRules) -> bool:
    """Whether it belongs to the clause's own words, and not to its bound."""
    own = set(content_stems(_PARTS.findall(value.text), rules.words))
    return not own or bool(own & set(content_stems(_PARTS.findall(stems), rules.words)))


def _frame(stems: Sequence[str], rules: CueRules) -> tuple[str, ...]:
    """What a clause is about: its stems without values, times and words that say little."""
    skipped = _DIRECTIONS | rules.time_stems | rules.idle_stems | rules.moving_stems | rules.unit_stems
    kept = (one for one in stems if one not in skipped and not any(map(str.isdigit, one)))
    return tuple(dict.fromkeys(one for one in kept if not _ORDINAL.fullmatch(one)))


def _is_same_speaker(old: _Side, new: _Side, rules: CueRules) -> bool:
    """Whether another subject at most changes what is somebody's own."""
    stems = content_stems(new.claim.subject.split(), rules.words)
    own = new.claim.subject == old.claim.subject or all(has_stem(old.frame, one, rules) for one in stems)
    known = all(has_stem(old.frame, one, rules) or one in rules.verb_stems for one in new.frame)
    return own or (new.changes and bool(_POSSESSIVES & set(new.words))) or (new.claim.subject == "they" and known)


def _fits(old: _Side, new: _Side, rules: CueRules) -> bool:
    return _typed(old, new, rules) or _named(old, new, rules) or _moved_to(old, new, rules)


def _typed(old: _Side, new: _Side, rules: CueRules) -> bool:
    """One sort of value in both and another value of it; all else that the one is about the other is about too."""
    if len(new.frame) > _MOST_STEMS or not old.frame:
        return False
    if sum(_differs(old, new, name) for name in {name for name, _ in new.values}) != 1:
        return False
    things = [one for one in old.frame if one not in rules.verb_stems] or list(old.frame)
    shared = [one for one in new.frame if has_stem(old.frame, one, rules)]
    whole = all(has_stem(new.frame, one, rules) for one in things)
    part = all(has_stem(old.frame, one, rules) for one in new.frame)
    solid = any(one not in rules.verb_stems for one in shared) or len(shared) > 1
    return bool(shared) and solid and (whole or part) and not _told_apart(new, shared, rules)


def _differs(old: _Side, new: _Side, name: str) -> bool:
    """Whether both have values of a class, the newer one alone, and none in common."""
    mine = {text.lstrip("v") for sort, text in old.values if sort == name}
    yours = {text.lstrip("v") for sort, text in new.values if sort == name}
    return bool(mine) and not mine & yours and len(yours) == 1


def _told_apart(new: _Side, shared: Sequence[str], rules: CueRules) -> bool:
    """Whether a word before a common noun says that it is another one: the staging port."""
    stems = stems_of_each(new.words, rules)
    for place, one in enumerate(stems[1:], 1):
        before = stems[place - 1]
        apart = one and one in shared and before in new.frame and before not in shared
        if apart and before not in rules.verb_stems and new.words[place - 1] not in rules.words.lists["modifiers"]:
            return True
    return any(_is_modifier(one, after, new, shared, rules) for one, after in pairwise(stems))


def _is_modifier(one: str, after: str, new: _Side, shared: Sequence[str], rules: CueRules) -> bool:
    """Whether a common noun only says what sort of thing the next one is: the sync folder."""
    told = one in shared and after in new.frame and after not in shared
    return told and after not in rules.verb_stems and one not in rules.verb_stems


def _named(old: _Side, new: _Side, rules: CueRules) -> bool:
    """All but one run of words the same, "now" in the newer: "Choir's rehearsing in the old cinema these days"."""
    if not new.now or old.values != new.values:
        return False
    shared = [one for one in new.frame if has_stem(old.frame, one, rules)]
    fresh = [one for one in new.frame if one not in shared]
    left = [one for one in old.frame if not has_stem(new.frame, one, rules)]
    if _placed_anew(old, new, left, fresh, rules):
        return any(one not in rules.verb_stems or new.claim.attribute == "of" for one in shared)
    if not (shared and 0 < len(fresh) <= _MOST_SLOT and 0 < len(left) <= _MOST_SLOT):
        return False
    begins = old.frame[0] == new.frame[0] or (old.frame[0] in left and bool(_IS & set(old.words)))
    liking = rules.liking_stems & set(new.frame)
    nouns = [one for one in shared if one not in rules.verb_stems]
    return begins and not liking and bool(nouns) and len(shared) > 1 and _is_one_run(new, fresh, rules)


def _placed_anew(old: _Side, new: _Side, left: Sequence[str], fresh: Sequence[str], rules: CueRules) -> bool:
    """My notes live in Obsidian now, which I stored in Evernote: behind one preposition another name."""
    before, after = (_behind(side, stems, rules) for side, stems in ((old, left), (new, fresh)))
    return bool(before & after) and not rules.liking_stems & set(new.frame)


def _behind(side: _Side, stems: Sequence[str], rules: CueRules) -> set[str]:
    """The preposition that the whole of what is only of this clause stands behind, verbs apart."""
    own = [one for one in stems if one not in rules.verb_stems]
    words = [word for word in side.words if word not in _ARTICLES]
    places = [at for at, word in enumerate(words) if set(content_stems((word,), rules.words)) & set(own)]
    together = bool(places) and places[-1] - places[0] < _MOST_SLOT
    return {words[places[0] - 1]} & _PLACING if together and places[0] else set()


def _is_one_run(side: _Side, stems: Sequence[str], rules: CueRules) -> bool:
    """Whether the words stand together, with nothing of the frame between."""
    own = stems_of_each(side.words, rules)
    places = [own.index(one) for one in stems if one in own]
    between = own[min(places) : max(places) + 1] if places else []
    return bool(places) and all(not one or one in stems or one not in side.frame for one in between)


def _moved_to(old: _Side, new: _Side, rules: CueRules) -> bool:
    """I relocated my bees to the orchard; we changed our broadband provider to Zen: of what was in or with another."""
    if not new.changes or "to" not in new.words[2:] or old.values != new.values:
        return False
    cut = new.words.index("to", 2)
    stems = content_stems(new.words[:cut], rules.words)
    moved = [one for one in new.frame if one in stems]
    known = [one for one in moved if has_stem(old.frame, one, rules) and one not in rules.verb_stems]
    fresh = [one for one in new.frame if one not in stems and not has_stem(old.frame, one, rules)]
    left = [one for one in old.frame if not has_stem(new.frame, one, rules)]
    short = 0 < len(old.frame) <= _MOST_SLOT + 1
    thing = old.claim.attribute == "of" and short and has_stem(known, old.frame[0], rules)
    placed = thing and bool(_PLACING & set(old.words)) and len(left) <= _MOST_SLOT
    if new.words[cut + 1 : cut + 2] and rules.words.is_verb(new.words[cut + 1]):
        return False
    whole = bool(known and fresh and left) and len(moved) - len(known) <= 1
    return whole and placed and not _told_apart(new, known, rules)
