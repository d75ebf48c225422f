"""What a newer text changes: slots, swapped values, numbers in passing, items of a list (P-24).

"They've moved my desk up to the fifth floor" takes the place of "My desk is on the third floor": both are about the
same thing, the values are of one sort and differ, and the newer clause says that something changed. Where one item of a
list changes, nobody can tell what the whole is now: both stay, with an open conflict.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from recollect.contradictions.cues.claims import (
    HELD,
    PRESENT,
    Claim,
    ClaimKind,
    Parsed,
    asserts_all,
    clause_text,
    has_part,
    has_stem,
    is_foreign,
    is_of_others,
    is_plain,
    is_short,
    noted,
    padded_words,
    span_words,
    stems_of_each,
    weak_claims,
    word_stems,
)
from recollect.contradictions.cues.clauses import WHEN, Sort, Value, blanked, content_stems, read_words, typed_values
from recollect.contradictions.cues.documents import CueRules

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


def slot_changed(older: Parsed, newer: Parsed, rules: CueRules) -> _Pairs:
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


def _sides(said: Parsed, rules: CueRules) -> list[_Side]:
    return noted(said, "sides", rules, lambda: _read_sides(said, rules))


def _read_sides(said: Parsed, rules: CueRules) -> list[_Side]:
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


def _side(said: Parsed, claim: Claim, span: tuple[int, int], stems: str, rules: CueRules) -> _Side:
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


_OWN = frozenset({"my", "our", "the"})
_TO = frozenset({"to", "onto", "into", "for"})
_REACH = 7
_PLACING_SWAP = frozenset({"in", "on", "at", "with", "by", "from", "to", "for", "onto", "into", "near"})
_MOST_STEMS_SWAP = 10
_MOST_FRESH = 6
_ENOUGH = 4
_LONG = 140


@dataclass(frozen=True, slots=True)
class _SideSwap:
    """A clause: its stems, which of them are names and the speaker's own nouns, and what stands behind prepositions."""

    claim: Claim
    stems: tuple[str, ...]
    heads: frozenset[str]
    names: frozenset[str]
    owned: frozenset[str]
    placed: frozenset[str]
    cue: int


def swapped(older: Parsed, newer: Parsed, rules: CueRules) -> Iterator[tuple[Claim, Claim]]:
    """Clauses of which the newer puts another value where the older one has its own."""
    cued = noted(newer, "cued sides", rules, lambda: [s for s in _sides_swap(newer, rules) if s.cue or _is_bounded(s)])
    news = [side for side in cued if not is_of_others(older, newer, side.claim, rules)]
    olds = [side for side in _sides_swap(older, rules) if side.claim.attribute in PRESENT] if news else []
    enough = _ENOUGH + (len(older.text) > _LONG and len(newer.text) > _LONG)
    for new in news:
        for old in olds:
            if old.claim.until is None and not _of_another_thing(old, new) and _weight(old, new, rules) >= enough:
                yield old.claim, new.claim


def _of_another_thing(old: _SideSwap, new: _SideSwap) -> bool:
    """The sync folder is not the sync: what the newer clause speaks of, the older one does not name."""
    both = old.claim.attribute == new.claim.attribute == "of"
    return both and new.stems[:1] != old.stems[:1] and not {*new.stems[:1]} <= {*old.stems}


def _is_bounded(side: _SideSwap) -> bool:
    return side.claim.until is not None and side.claim.attribute in PRESENT


def _sides_swap(said: Parsed, rules: CueRules) -> tuple[_SideSwap, ...]:
    return noted(said, "swaps", rules, lambda: tuple(_read(said, one, rules) for one in _weak(said)))


def _weak(said: Parsed) -> Iterator[Claim]:
    told = (one for one in weak_claims(said) if one.kind in HELD and not one.subject)
    return (one for one in told if one.attribute in PRESENT or one.attribute == "was")


def _read(said: Parsed, claim: Claim, rules: CueRules) -> _SideSwap:
    words, stems = span_words(said, claim.span), word_stems(said, claim.span, rules)
    own = set(claim.value.split())
    first = claim.span[0] == 0 or said.text[: claim.span[0]].rstrip()[-1:] in ("", ".", "!", "?")
    names = {
        stem
        for place, (word, stem) in enumerate(zip(words, stems, strict=True))
        if word[:1].isupper() and stem in own and stem not in rules.time_stems and (place or not first)
    }
    return _SideSwap(
        claim,
        tuple(one for one in claim.value.split() if one not in rules.time_stems),
        frozenset(_heads(words, stems, rules)),
        frozenset(names),
        frozenset(_behind_swap(words, stems, _OWN)),
        frozenset(_behind_swap(words, stems, _PLACING_SWAP)),
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


def _behind_swap(words: Sequence[str], stems: Sequence[str], openers: frozenset[str]) -> Iterator[str]:
    """The stems within three words behind one of the openers."""
    for place, stem in enumerate(stems):
        if stem and openers & {word.lower() for word in words[max(0, place - 3) : place]}:
            yield stem


def _cue(said: Parsed, claim: Claim, words: Sequence[str], rules: CueRules) -> int:
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


def _weight(old: _SideSwap, new: _SideSwap, rules: CueRules) -> int:
    """Cue, what is shared, and how the values stand against each other; 0 where any of the three is missing."""
    shared = [one for one in new.stems if has_stem(old.stems, one, rules) and one in new.heads]
    nouns = [one for one in shared if one not in rules.verb_stems | rules.person_stems]
    fresh = [one for one in new.stems if not has_stem(old.stems, one, rules)]
    left = [one for one in old.stems if not has_stem(new.stems, one, rules)]
    if not nouns or not fresh or not left or len(fresh) > _MOST_FRESH or len(old.stems) > _MOST_STEMS_SWAP:
        return 0
    if rules.liking_stems & {*new.stems, *old.stems}:
        return 0
    owned = any(has_stem(old.owned, one, rules) for one in nouns if one in new.owned)
    link = min(2, len(shared)) + owned
    bounded = _is_bounded(new)
    against = _against(old, new, left, fresh) or int(bounded)
    return max(new.cue, 2 * bounded) + link + against if against else 0


def _against(old: _SideSwap, new: _SideSwap, left: Sequence[str], fresh: Sequence[str]) -> int:
    if old.names & set(left) and new.names & set(fresh):
        return 2
    if old.placed & set(left) and new.placed & set(fresh):
        return 1
    return 0


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


def updated_in_passing(older: Parsed, newer: Parsed, rules: CueRules) -> Iterator[tuple[Claim, Claim]]:
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


def _others_of(older: Parsed, plain: str, cue: re.Match[str], fresh: Value, rules: CueRules) -> Iterator[Claim]:
    """The older text's clauses that give the noun another value of the class, and share a word more with the newer."""
    noun = cue["noun"] if "noun" in cue.re.groupindex else plain[max(0, cue.start() - _WINDOW) : cue.start()]
    heads = content_stems(read_words(noun), rules.words)[-_MOST_HEADS:]
    about = _stems_of(plain, cue.start(), fresh, rules, _WINDOW)
    text = blanked(older.text[:_MOST_CHARACTERS])
    for value in typed_values(text):
        old = _claim_at(older, value.span[0])
        if (
            old is None
            or _class_passing(value) != _class_passing(fresh)
            or value.text == fresh.text
            or value.text in plain
        ):
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


def _class_passing(value: Value) -> str:
    if value.sort in (Sort.AMOUNT, Sort.NUMBER):
        return "".join(letter for letter in value.text if not letter.isdigit()).strip(" .")
    return "when" if value.sort in WHEN else str(value.sort)


def _stems_of(text: str, start: int, value: Value, rules: CueRules, window: int) -> set[str]:
    """What stands around a value, but for what says little; a unit behind a number counts."""
    skipped = rules.idle_stems | rules.time_stems | rules.moving_stems | rules.verb_stems
    return {one for one in _around(text, start, value, rules, window) if one.isalpha() and one not in skipped}


def _around(text: str, start: int, value: Value, rules: CueRules, window: int) -> tuple[str, ...]:
    return content_stems(read_words(text[max(0, start - window) : value.span[1] + window]), rules.words)


def _claim_at(said: Parsed, place: int) -> Claim | None:
    return next((one for one in weak_claims(said) if one.span[0] <= place < one.span[1]), None)


_BETWEEN = re.compile(r",(?: and| or)? | and | & | plus | or ")
_JOINED = re.compile(r" and | & | plus | or ")
_LEAST_ITEMS = 2
_PairsListed = Iterator[tuple[Claim, Claim]]


def item_changed(older: Parsed, newer: Parsed, rules: CueRules, *, surely: bool = False) -> _PairsListed:
    """The clause that lists, and the one that says of some of it that it is no longer so.

    `surely`: another rule knows already that something has changed; of less than all of it, it is no whole then.
    """
    items = noted(older, "items", rules, lambda: _items(older, rules)) if is_plain(older) else ()
    if len(items) < _LEAST_ITEMS or not (is_short(newer, rules) and asserts_all(newer)):
        return
    for new in weak_claims(newer):
        stems = word_stems(newer, new.span, rules)
        named = [item for item in items if any(has_part(stems, one, rules) for one in item)]
        told_so = len(named) < len(items) if surely else _says_otherwise(newer, new, rules)
        if not named or not told_so or is_foreign(older, newer, new, rules):
            continue
        old = next(weak_claims(older), None)
        if old is not None:
            yield old, new


def _items(older: Parsed, rules: CueRules) -> tuple[tuple[str, ...], ...]:
    """The stems of each thing that is listed; of the first one those behind what all are about."""
    parts = [content_stems(read_words(part), rules.words) for part in _BETWEEN.split(older.text.strip(" ."))]
    single = sum(one.attribute in ("said", "of") for one in weak_claims(older)) < _LEAST_ITEMS
    listed = single and _JOINED.search(older.text) is not None
    return tuple(part[-2:] for part in parts if part) if listed and len(parts) > 1 else ()


def _says_otherwise(newer: Parsed, new: Claim, rules: CueRules) -> bool:
    words = [word.lower() for word in span_words(newer, new.span)]
    leaving = any(rules.words.lemma(word) in rules.words.lists["departing_verbs"] for word in words)
    marked = rules.words.has("lessening_words", padded_words(newer)) or rules.words.has(
        "end_markers", padded_words(newer)
    )
    denies = any(one.kind in (ClaimKind.END, ClaimKind.CHANGE) for one in newer.claims)
    return leaving or marked or denies
