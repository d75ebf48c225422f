"""How a newer text stands to an older one, by what both claim (P-24): newest wins, scores play no part."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from recollect.domain.claims import HELD, Claim, ClaimKind, Relation, RelationKind, Said
from recollect.domain.clause_owners import is_of_another_group
from recollect.domain.clause_reading import DENIAL, NEVER, PAST, TOPIC
from recollect.domain.cue_rules import CueRules
from recollect.domain.cue_values import alike, content_stems, same_value
from recollect.domain.ended_frames import ended, put_in_place
from recollect.domain.hits import Hit
from recollect.domain.left_alone import is_another_part, leaves_alone
from recollect.domain.listed_items import item_changed
from recollect.domain.old_values import departed, named_as_not
from recollect.domain.other_things import tells_of_another
from recollect.domain.overlap import denied, held_over, said_anew, taken_back
from recollect.domain.partial_changes import changed_part, changed_value, recoloured
from recollect.domain.passing_changes import updated_in_passing
from recollect.domain.plain_evidence import changed_plainly
from recollect.domain.plain_retractions import denies_of_others, taken_back_plainly
from recollect.domain.slot_changes import slot_changed
from recollect.domain.standing_in import stood_in
from recollect.domain.told_words import clause_text, has_stem, known_words, noted, span_words
from recollect.domain.topic_cover import covered
from recollect.domain.value_swaps import swapped
from recollect.text.terms import stem

_DENIES = frozenset({ClaimKind.END, ClaimKind.RETRACTION})
_FOR = re.compile(r" for (my|our|his|her|their|the) (\w+)")
_FOR_THEM = re.compile(r" (?:for|at) (?:him|her|them|theirs|hers) ")
_TIMES = frozenset({"next", "rest", "coming", "whole", "time", "week", "month", "year", "day", "moment", "foreseeable"})
_THEIRS = frozenset({"his", "her", "their", "them"})
_RANK = (RelationKind.RETRACTS, RelationKind.OVERRIDES, RelationKind.SUPERSEDES)
_SPARE_WORDS = 1
_LONG = 120
_LONG_CLAUSE = 24
_OVER = (named_as_not, departed)
_Hit = tuple[RelationKind, Claim, Claim]


def relate(older: Said, newer: Said, rules: CueRules) -> Relation | None:
    """What the newer text does to the older; None for nothing, and always for two speakers, equal texts, a wrong order.

    A part that changed goes before a value that was replaced, a retraction before an end.
    """
    if older.speaker != newer.speaker or older.order >= newer.order or _plain(older) == _plain(newer):
        return None
    part = changed_part(older, newer, rules) or recoloured(older, newer, rules)
    if part is not None and not is_another_part(older, newer, rules):
        return part
    deciding = noted(newer, "deciding", None, lambda: [claim for claim in newer.claims if _decides(claim)])
    news = [claim for claim in deciding if claim.rule != NEVER or not _names_another(older, newer, claim)]
    news = [claim for claim in news if not is_of_another_group(older, newer, claim, rules)]
    hits = [
        (kind, old, new) for new in news for old in older.claims if (kind := _relation(older, old, newer, new, rules))
    ]
    replaced = any(kind is RelationKind.SUPERSEDES and _has_value(new) for kind, _, new in hits)
    if not replaced:
        back = (*taken_back(older, newer, rules), *denied(older, newer, rules))
        back = back or tuple(taken_back_plainly(older, newer, rules))
        hits += [(RelationKind.RETRACTS, old, new) for old, new in back]
    hits = [hit for hit in hits if not _is_theirs(older, newer, hit[2], rules)]
    if denies_of_others(older, newer, rules):
        hits = [hit for hit in hits if hit[0] is not RelationKind.RETRACTS]
    hits = hits or [(RelationKind.SUPERSEDES, old, new) for old, new in said_anew(older, newer, rules)]
    hits = hits or [(RelationKind.OVERRIDES, old, new) for old, new in held_over(older, newer, rules)]
    hits = hits or [(_over(new), old, new) for old, new in _by_frame(older, newer, rules)]
    hits = hits or list(changed_plainly(older, newer, rules))
    hits = [hit for hit in hits if not _is_for_others(older, newer, hit[2], rules)]
    hits = [(kind, old, new) for kind, old, new in hits if not leaves_alone(Hit(kind, older, old, newer, new, rules))]
    merged = changed_value(older, newer, [hit[1:] for hit in hits], rules) if _are_weak(hits) else None
    if merged is not None and all(
        tells_of_another(Hit(kind, older, old, newer, new, rules)) for kind, old, new in hits
    ):
        return None
    if merged is not None:
        return Relation(kind=RelationKind.CHANGES_PART, rule="part.value", merged=merged)
    undecided = any(kind is RelationKind.UNDECIDED for kind, _, _ in hits)
    if not hits or undecided or all(_lessens(hit) for hit in hits):
        listed = next(item_changed(older, newer, rules, surely=bool(hits)), None)
        if listed is not None or undecided:
            return Relation(kind=RelationKind.UNDECIDED, rule="part.listed")
    return _settled(hits) if hits else None


def _has_value(new: Claim) -> bool:
    """Whether it tells another value, and does not only deny one."""
    return new.exclusive and new.kind in HELD and not new.rule.endswith(DENIAL)


def _decides(claim: Claim) -> bool:
    """Whether a rule may relate it by itself."""
    return claim.kind is ClaimKind.RETRACTION or (claim.kind is not ClaimKind.PARTIAL and claim.rule != "weak")


def _is_theirs(older: Said, newer: Said, new: Claim, rules: CueRules) -> bool:
    """Their joint account, no chocolate for our priest: of somebody of whom the older text does not speak."""
    known = known_words(older)
    if new.kind is not ClaimKind.END or known & rules.words.persons:
        return False
    whom = _for_whom(older, newer, new)
    return bool(whom or _THEIRS & {word.lower() for word in span_words(newer, new.span)} - known)


def _is_for_others(older: Said, newer: Said, new: Claim, rules: CueRules) -> bool:
    """No lifting for him, 79 kilos for my husband: whatever the clause says, it says it of them."""
    if known_words(older) & rules.words.persons:
        return False
    theirs = _FOR_THEM.search(clause_text(newer, new)) is not None
    return theirs or bool(rules.words.persons.intersection(_for_whom(older, newer, new)))


def _for_whom(older: Said, newer: Said, new: Claim) -> list[str]:
    known = known_words(older)
    return [one[1] for one in _FOR.findall(clause_text(newer, new)) if one[1] not in known and one[1] not in _TIMES]


def _lessens(hit: _Hit) -> bool:
    """Whether it only says that something is over, or is otherwise."""
    kind, _, new = hit
    return kind is RelationKind.SUPERSEDES and not new.exclusive


def _are_weak(hits: Sequence[_Hit]) -> bool:
    """Whether no rule knows the attribute of any of them, and each is replaced."""
    return bool(hits) and all(kind is RelationKind.SUPERSEDES and new.rule == "weak" for kind, _, new in hits)


def _settled(hits: Sequence[_Hit]) -> Relation:
    kind = min((found for found, _, _ in hits), key=_RANK.index)
    chosen = [(old, new) for found, old, new in hits if found is kind]
    until = max((new.until for _, new in chosen if new.until), default=None)
    spans = tuple(sorted({old.span for old, _ in chosen}))
    until = until if kind is RelationKind.OVERRIDES else None
    return Relation(kind=kind, rule=chosen[0][1].rule, ended=spans, until=until)


def _names_another(older: Said, newer: Said, claim: Claim) -> bool:
    """I never ran a marathon in Bergen: takes nothing back of one in Oslo."""
    known = known_words(older)
    words = span_words(newer, claim.span)[1:]
    placed = (name for before, name in pairwise(words) if before in ("in", "at", "with", "for", "to", "from"))
    return any(name[:1].isupper() and name != "I" and name.lower() not in known for name in placed)


def _by_frame(older: Said, newer: Said, rules: CueRules) -> Iterator[tuple[Claim, Claim]]:
    """What a clause says again with another value, or as over: of attributes that no rule knows."""
    for found in (slot_changed, put_in_place, ended, stood_in, updated_in_passing, swapped, *_OVER):
        yield from found(older, newer, rules)


def _over(new: Claim) -> RelationKind:
    return RelationKind.SUPERSEDES if new.until is None else RelationKind.OVERRIDES


def _relation(older: Said, old: Claim, newer: Said, new: Claim, rules: CueRules) -> RelationKind | None:
    if new.kind is ClaimKind.RETRACTION:
        if new.rule == NEVER and (old.attribute == "meant" or old.subject != new.subject):
            return None
        if new.subject and not set(new.subject.split()) <= known_words(older):
            return None
        held = old.kind in HELD and covered(older, old, new, rules)
        return RelationKind.RETRACTS if held else None
    if old.subject != new.subject and not (old.subject == "" and _is_done_to_speaker(newer, new, rules)):
        return None
    if not (_replaces(old, new, rules) or _ends(older, old, new, rules) or _revives(old, new, rules)):
        return None
    bounded = new.until is not None and (old.until is None or old.until != new.until)
    return RelationKind.OVERRIDES if bounded else RelationKind.SUPERSEDES


def _is_done_to_speaker(newer: Said, new: Claim, rules: CueRules) -> bool:
    """My doctor switched me from lisinopril: what such a one changes or ends is the speaker's."""
    if new.rule != "topic.end" or new.subject not in rules.words.lists["authorities"]:
        return False
    return not rules.words.persons & {word.lower() for word in span_words(newer, new.span)[2:]}


def _replaces(old: Claim, new: Claim, rules: CueRules) -> bool:
    """Another value of an attribute that has one at a time, or its end."""
    if not new.exclusive or old.kind not in HELD or old.rule == "weak" or not same_attribute(old, new, rules):
        return False
    if new.kind is ClaimKind.END:
        return not new.value or not old.value or same_value(old.value, new.value)
    if new.kind not in HELD:
        return False
    if ":words" in new.attribute and new.kind is not ClaimKind.CHANGE and new.until is None:
        return False
    if same_value(old.value, new.value):
        return new.kind is ClaimKind.CHANGE and set(old.value.split()) < set(new.value.split())
    return bool(old.value or new.value)


def same_attribute(old: Claim, new: Claim, rules: CueRules) -> bool:
    """The same name; of things of one noun the words that tell them apart may be left out on one side."""
    if old.attribute == new.attribute:
        return True
    (one, _, mine), (other, _, yours) = _merged(old.attribute), _merged(new.attribute)
    first, second = set(mine.split()), set(yours.split())
    if one.startswith("favourite ") and other.startswith("favourite "):
        same = stem(one[10:]) == stem(other[10:])
        return first == second if same else alike(stem(one[10:]), stem(other[10:]), rules.related)
    if one == other:
        head = one.removeprefix("the ").partition(":")[0]
        vague = head in rules.words.lists["vague_heads"]
        if vague:
            return first == second and (bool(first) or new.kind is ClaimKind.CHANGE)
        return first <= second or second <= first
    return other == "the :where" and one.startswith("the ") and one.endswith(":where")


def _merged(attribute: str) -> tuple[str, str, str]:
    """A thing's attribute and what tells it apart; sums may be said as numbers, places as names."""
    for sort, other in ((":money", ":number"), (":name", ":where")):
        attribute = attribute.replace(sort, other)
    return attribute.partition(" of ")


def _ends(older: Said, old: Claim, new: Claim, rules: CueRules) -> bool:
    """An end of what the older clause speaks of, all words of the topic in it."""
    if new.kind is not ClaimKind.END or new.exclusive or old.kind not in HELD or old.attribute in PAST:
        return False
    if new.rule == "topic.end" and " " not in new.value and len(older.text) > _LONG and len(old.value) > _LONG_CLAUSE:
        return False  # one word in passing
    if new.rule == "topic.deny" and new.attribute not in (TOPIC, old.attribute):
        names_verb = stem(new.attribute) in set(new.value.split()) - rules.idle_stems
        owned = new.attribute == "have" and _possessed(older, old, new, rules)
        return old.attribute in ("said", "of") and (owned or (names_verb and covered(older, old, new, rules)))
    return covered(older, old, new, rules)


def _possessed(older: Said, old: Claim, new: Claim, rules: CueRules) -> bool:
    """Whether the older clause calls it the speaker's own: "my dog"."""
    words = [word.lower() for word in span_words(older, old.span)]
    near = {word for place, word in enumerate(words) if {"my", "our"} & set(words[max(0, place - 3) : place])}
    last = new.value.split()[-1:]
    owned = any(alike(last[0], one, rules.related) for one in content_stems(near, rules.words)) if last else False
    return owned and covered(older, old, new, rules)


def _revives(old: Claim, new: Claim, rules: CueRules) -> bool:
    """The assertion of what the older one denies."""
    if new.kind not in HELD or new.exclusive or old.kind not in _DENIES or not old.value or not new.value:
        return False
    if old.rule == "weak" or (new.kind is ClaimKind.STATE and new.until is None and old.attribute != new.attribute):
        return False
    topic = [one for one in new.value.split() if one not in rules.verb_stems] or new.value.split()
    denied = old.value.split()
    alike_all = all(has_stem(denied, one, rules) for one in topic)
    return alike_all and len(denied) <= len(topic) + _SPARE_WORDS


def _plain(said: Said) -> str:
    return " ".join(said.text.lower().split())
