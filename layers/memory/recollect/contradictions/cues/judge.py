"""The first `RelationJudge`: how a newer text relates to an older one, by what both claim (P-24)."""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import pairwise

from recollect.contradictions.bounds import Bound
from recollect.contradictions.cues.changes import item_changed, slot_changed, swapped, updated_in_passing
from recollect.contradictions.cues.claims import (
    DENIAL,
    DENIED,
    HELD,
    NEVER,
    OTHERS_OWN,
    PAST,
    TOPIC,
    Claim,
    ClaimKind,
    Hit,
    Parsed,
    all_stems,
    all_words,
    brings_in,
    clause_text,
    covered,
    has_stem,
    is_of_another_group,
    is_plain,
    is_short,
    known_words,
    may_end_plainly,
    noted,
    span_words,
    weak_claims,
    word_stems,
)
from recollect.contradictions.cues.clauses import (
    Sort,
    Value,
    alike,
    content_stems,
    read_words,
    same_value,
    typed_values,
)
from recollect.contradictions.cues.documents import CueRules, default_cue_rules
from recollect.contradictions.cues.endings import (
    denied,
    departed,
    ended,
    held_over,
    named_as_not,
    put_in_place,
    said_anew,
    stood_in,
    taken_back,
)
from recollect.contradictions.cues.others import tells_of_another
from recollect.contradictions.cues.plain import changed_plainly, denies_of_others, taken_back_plainly, takes_back
from recollect.contradictions.cues.predicates import is_remote
from recollect.contradictions.cues.reading import first_that_binds, read_claims
from recollect.contradictions.cues.vetoes import is_another_part, leaves_alone, tells_of_before
from recollect.contradictions.judge import Profile, Relation, RelationKind, Said, TimeBound
from recollect.text.terms import stem

Span = tuple[int, int]
_NEWS = frozenset({ClaimKind.CHANGE, ClaimKind.END})
_DENIALS = frozenset({"weak", DENIED})
_MOST_DISTANCE = 120
_LEAST_EVIDENCE = 2
_LEAST_SAID = 4
_SHORT = 14
_NOT = frozenset({"not", "n't", "never", "if", "would", "might"})
_HAD = frozenset({"had", "got", "have", "get"})
_WORD = re.compile(r"[A-Za-z]+")
_LONGEST = 400
_SHORT_TEXT = 140


def changed_part(older: Parsed, newer: Parsed, rules: CueRules) -> Relation | None:
    """CHANGES_PART with the merged text, or UNDECIDED where no rule can tell the part; None where none is changed.

    The newer text keeps something and changes something near to it; that both are of the older text is told by words
    in common, or by a value of a sort that the older text has once.
    """
    for kept in newer.claims:
        if kept.kind is not ClaimKind.PARTIAL:
            continue
        news = [claim for claim in newer.claims if _is_news(claim, kept, older, newer, rules)]
        merged = _merged(older, newer, news) if news else None
        if not news or not (_is_known(older, kept, rules) or _is_a_part(older, newer, kept, rules, merged is not None)):
            continue
        if _is_about(older, newer, kept, news, rules, merged is not None):
            if merged is None and max(len(older.text), len(newer.text)) > _LONGEST:
                return None
            kind = RelationKind.CHANGES_PART if merged is not None else RelationKind.UNDECIDED
            return Relation(kind=kind, rule=kept.rule, merged=merged)
    return None


def recoloured(older: Parsed, newer: Parsed, rules: CueRules) -> Relation | None:
    """CHANGES_PART of a thing that got another colour: "I had the Fiesta resprayed, it's red now"."""
    told = [word.lower() for word in all_words(newer)]
    if not _is_coloured(told, rules) or any(word in _NOT for word in told):
        return None
    if not is_plain(older) or not is_short(newer, rules):
        return None
    if "?" in newer.text or tells_of_before(newer.text) or is_remote(f" {' '.join(told)} ", rules.words):
        return None
    olds, news = (_colours(said, rules) for said in (older, newer))
    shared = any(alike(one, two, rules.related) for one in _stems_of(older, rules) for two in _stems_of(newer, rules))
    if len(olds) != 1 or len(news) != 1 or not shared or OTHERS_OWN & set(told) or _has_plan(newer, rules):
        return None
    (was,), (new,) = olds, news
    merged = _with_article(older.text[: was[0]], newer.text[slice(*new)]) + older.text[was[1] :]
    return Relation(kind=RelationKind.CHANGES_PART, rule="part.colour", merged=merged)


def _is_coloured(told: Sequence[str], rules: CueRules) -> bool:
    """Resprayed; painted, where somebody had it painted: else it may be a picture."""
    if not rules.words.lists["colouring_verbs"].isdisjoint(told):
        return True
    return not _HAD.isdisjoint(told) and not rules.words.lists["had_coloured"].isdisjoint(told)


def _has_plan(newer: Parsed, rules: CueRules) -> bool:
    """Whether a clause of it is only meant."""
    return any(one.attribute == "meant" or one.subject in rules.words.persons for one in weak_claims(newer))


def _colours(said: Parsed, rules: CueRules) -> list[Span]:
    found = _WORD.finditer(said.text)
    return [one.span() for one in found if one[0].lower() in rules.words.lists["colours"]]


def _stems_of(said: Parsed, rules: CueRules) -> list[str]:
    """The stems of what it speaks of: of no colour."""
    skipped = (
        rules.idle_stems
        | rules.time_stems
        | {
            stem(rules.words.lemma(word))
            for name in ("colours", "colouring_verbs", "had_coloured")
            for word in rules.words.lists[name]
        }
    )
    return [one for one in all_stems(said, rules) if one not in skipped]


def changed_value(older: Parsed, newer: Parsed, pairs: Sequence[tuple[Claim, Claim]], rules: CueRules) -> str | None:
    """The older text with the one number, sum, day or hour that the newer says otherwise; None where it is its whole.

    Of both that state something, and with more in the older one than that value: "40 lengths at Leith on Wednesdays".
    """
    if max(len(older.text), len(newer.text)) > _SHORT_TEXT:
        return None
    news = [new for old, new in pairs if old.kind in HELD and new.kind in HELD]
    spans = _of_one_sort(older, newer, news)
    said = [one for old, _ in pairs for one in old.value.split() if one not in rules.idle_stems]
    return _merged(older, newer, news) if len(spans) == 1 and len(said) >= _LEAST_SAID else None


def _is_known(older: Parsed, kept: Claim, rules: CueRules) -> bool:
    """Whether the older text speaks of whom or what the kept part is about, where that is not the speaker."""
    if kept.subject in ("", "it", "that"):
        return True
    if kept.subject.startswith("the ") and kept.rule == "part.same":
        return True
    return all(
        _evidence(older, (one,), rules)
        for one in content_stems(kept.subject.split(), rules.words)
        if one not in rules.vague_stems
    )


def _is_a_part(older: Parsed, newer: Parsed, kept: Claim, rules: CueRules, mergeable: bool) -> bool:
    """The price is still 15, the term is unchanged: a side of it that the older text has no word for.

    Never of somebody: what another person keeps is their own.
    """
    if max(len(older.text), len(newer.text)) > _SHORT_TEXT:
        return False
    words = set(kept.subject.split())
    somebody = any(word.endswith("'s") for word in words) or words & rules.words.persons
    if somebody or not kept.subject.startswith("the ") or OTHERS_OWN & _lowered(newer):
        return False
    stems = set(content_stems(kept.subject.split(), rules.words))
    return mergeable or _evidence(older, (o for o in kept.value.split() if o not in stems), rules) >= _LEAST_EVIDENCE


def _lowered(said: Parsed) -> set[str]:
    return {word.lower() for word in all_words(said)}


def _is_news(claim: Claim, kept: Claim, older: Parsed, newer: Parsed, rules: CueRules) -> bool:
    if _tells(older, newer, claim, kept, rules):
        return True
    if claim.kind not in _NEWS or claim.attribute in PAST or (claim.rule in _DENIALS and claim.kind is ClaimKind.END):
        return False
    near = abs(claim.span[0] - kept.span[1]) <= _MOST_DISTANCE and abs(kept.span[0] - claim.span[1]) <= _MOST_DISTANCE
    if not near or (
        (claim.kind is ClaimKind.END or claim.attribute == "topic") and not _evidence(older, claim.value.split(), rules)
    ):
        return False
    known = _evidence(older, content_stems(claim.subject.split(), rules.words), rules) > 0
    about_it = bool({"it", "them"} & {word.lower() for word in span_words(newer, claim.span)})
    return (
        claim.subject in ("", kept.subject, "you") or known or (about_it and claim.subject not in rules.words.persons)
    )


def _tells(older: Parsed, newer: Parsed, claim: Claim, kept: Claim, rules: CueRules) -> bool:
    """Any other clause beside what is kept: "they've put me in goal", "the clinic cleared me for eggs"."""
    told = claim.rule == "weak" and claim.kind in (ClaimKind.STATE, ClaimKind.CHANGE) and claim.attribute != "meant"
    near = abs(claim.span[0] - kept.span[1]) <= _MOST_DISTANCE and abs(kept.span[0] - claim.span[1]) <= _MOST_DISTANCE
    if max(len(older.text), len(newer.text)) > _SHORT_TEXT:
        return False
    named = claim.subject in ("", "they", kept.subject) or bool(
        _evidence(older, content_stems(claim.subject.split(), rules.words), rules)
    )
    if not (told and near and named) or claim.span == kept.span:
        return False
    if any(one.kind is ClaimKind.END or brings_in(older, newer, one, rules) for one in weak_claims(newer)):
        return False
    return not _is_of_another(older, newer, claim, rules)


def _is_of_another(older: Parsed, newer: Parsed, claim: Claim, rules: CueRules) -> bool:
    """My photos in the cloud: something of the speaker's of which the older text does not speak."""
    words, stems = span_words(newer, claim.span), word_stems(newer, claim.span, rules)
    owned = (stem for word, stem in zip(words, stems[1:], strict=False) if word.lower() in ("my", "our"))
    return any(one and not _evidence(older, (one,), rules) for one in owned)


def _is_about(
    older: Parsed, newer: Parsed, kept: Claim, news: Sequence[Claim], rules: CueRules, mergeable: bool
) -> bool:
    stems = [one for one in kept.value.split() if one not in rules.vague_stems]
    stays = _evidence(older, stems, rules)
    if len(stems) > 2 and 2 * sum(1 for one in stems if _evidence(older, (one,), rules)) <= len(stems):
        return False
    texts = dict.fromkeys(newer.text[slice(*claim.span)] for claim in news if claim.span != kept.span)
    changed = _evidence(older, content_stems(read_words(" ".join(texts)), rules.words), rules)
    same = kept.rule == "part.same"
    short = len(newer.text.split()) <= _SHORT and (stays > 0 or same)
    return stays + changed + mergeable >= _LEAST_EVIDENCE - short and (
        stays > 0 or mergeable or same or (changed >= _LEAST_EVIDENCE and len(newer.text) <= _SHORT_TEXT)
    )


def _evidence(older: Parsed, stems: Iterable[str], rules: CueRules) -> int:
    """How many of the stems the older text has: a name or a number counts twice, as does what an attribute is about."""
    words = all_words(older)
    known = word_stems(older, (0, len(older.text)), rules)
    attributes = {claim.attribute for claim in older.claims if claim.rule != "weak"}
    total = 0
    for one in stems:
        if one in rules.vague_stems:
            continue
        found = [word for word, other in zip(words, known, strict=True) if alike(one, other, rules.related)]
        marked = any(word[:1].isdigit() or (word[:1].isupper() and words.index(word)) for word in found)
        about = bool(rules.about.get(one, frozenset()) & attributes)
        total += 2 if marked or about else bool(found)
    return total


def _merged(older: Parsed, newer: Parsed, news: Sequence[Claim]) -> str | None:
    """The older text with the one value that the newer text gives another for: of one sort, or of one attribute."""
    spans = _of_one_sort(older, newer, news) or _of_one_attribute(older, news)
    if len(spans) != 1:
        return None
    ((old, new),) = spans
    return _with_article(older.text[: old[0]], newer.text[slice(*new)]) + older.text[old[1] :]


def _of_one_sort(older: Parsed, newer: Parsed, news: Sequence[Claim]) -> set[tuple[Span, Span]]:
    olds = _typed(older)
    known = {old.text for old in olds}
    fresh = [new for new in _typed(newer) if new.text not in known and _within(new, news)]
    if len(fresh) != 1:
        return set()
    new = fresh[0]
    return {(old.span, new.span) for old in olds if old.sort is new.sort and _stands_alike(older, old, newer, new)}


def _stands_alike(older: Parsed, old: Value, newer: Parsed, new: Value) -> bool:
    """A plain number beside a name is part of the name: of "iPhone 12" no "Pixel 8" makes "iPhone 8"."""
    if old.sort is not Sort.NUMBER and not older.text[slice(*old.span)].isdigit():
        return True
    one, other = _neighbours(older, old.span), _neighbours(newer, new.span)
    return not any(word != word.lower() and word not in other for word in one)


def _typed(said: Parsed) -> list[Value]:
    return noted(said, "typed", None, lambda: typed_values(said.text))


def _neighbours(said: Parsed, span: Span) -> list[str]:
    text = said.text
    make = lambda: [*read_words(text[: span[0]])[-1:], *read_words(text[span[1] :])[:1]]  # noqa: E731
    return noted(said, ("neighbours", span), None, make)


def _of_one_attribute(older: Parsed, news: Sequence[Claim]) -> set[tuple[Span, Span]]:
    return {
        (old.value_span, new.value_span)
        for new in news
        for old in older.claims
        if new.exclusive
        and new.rule != "verb.frame"
        and old.attribute == new.attribute
        and not same_value(old.value, new.value)
        if old.value_span is not None and new.value_span is not None
    }


def _with_article(before: str, value: str) -> str:
    """An engineer, a manager."""
    wanted = "an " if value[:1].lower() in "aeiou" else "a "
    for article in (" an ", " a "):
        if before.endswith(article) and value[:1].isalpha():
            return before.removesuffix(article[1:]) + wanted + value
    return before + value


def _within(value: Value, news: Sequence[Claim]) -> bool:
    return any(claim.span[0] <= value.span[0] and value.span[1] <= claim.span[1] for claim in news)


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


def relate(older: Parsed, newer: Parsed, rules: CueRules) -> Relation | None:
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


def _is_theirs(older: Parsed, newer: Parsed, new: Claim, rules: CueRules) -> bool:
    """Their joint account, no chocolate for our priest: of somebody of whom the older text does not speak."""
    known = known_words(older)
    if new.kind is not ClaimKind.END or known & rules.words.persons:
        return False
    whom = _for_whom(older, newer, new)
    return bool(whom or _THEIRS & {word.lower() for word in span_words(newer, new.span)} - known)


def _is_for_others(older: Parsed, newer: Parsed, new: Claim, rules: CueRules) -> bool:
    """No lifting for him, 79 kilos for my husband: whatever the clause says, it says it of them."""
    if known_words(older) & rules.words.persons:
        return False
    theirs = _FOR_THEM.search(clause_text(newer, new)) is not None
    return theirs or bool(rules.words.persons.intersection(_for_whom(older, newer, new)))


def _for_whom(older: Parsed, newer: Parsed, new: Claim) -> list[str]:
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


def _names_another(older: Parsed, newer: Parsed, claim: Claim) -> bool:
    """I never ran a marathon in Bergen: takes nothing back of one in Oslo."""
    known = known_words(older)
    words = span_words(newer, claim.span)[1:]
    placed = (name for before, name in pairwise(words) if before in ("in", "at", "with", "for", "to", "from"))
    return any(name[:1].isupper() and name != "I" and name.lower() not in known for name in placed)


def _by_frame(older: Parsed, newer: Parsed, rules: CueRules) -> Iterator[tuple[Claim, Claim]]:
    """What a clause says again with another value, or as over: of attributes that no rule knows."""
    for found in (slot_changed, put_in_place, ended, stood_in, updated_in_passing, swapped, *_OVER):
        yield from found(older, newer, rules)


def _over(new: Claim) -> RelationKind:
    return RelationKind.SUPERSEDES if new.until is None else RelationKind.OVERRIDES


def _relation(older: Parsed, old: Claim, newer: Parsed, new: Claim, rules: CueRules) -> RelationKind | None:
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


def _is_done_to_speaker(newer: Parsed, new: Claim, rules: CueRules) -> bool:
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
    (one, _, mine), (other, _, yours) = _merged_relation(old.attribute), _merged_relation(new.attribute)
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


def _merged_relation(attribute: str) -> tuple[str, str, str]:
    """A thing's attribute and what tells it apart; sums may be said as numbers, places as names."""
    for sort, other in ((":money", ":number"), (":name", ":where")):
        attribute = attribute.replace(sort, other)
    return attribute.partition(" of ")


def _ends(older: Parsed, old: Claim, new: Claim, rules: CueRules) -> bool:
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


def _possessed(older: Parsed, old: Claim, new: Claim, rules: CueRules) -> bool:
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


def _plain(said: Parsed) -> str:
    return " ".join(said.text.lower().split())


BY_KEY = "key.retraction"
_CACHED = 512
_CACHED_CLAIMS = 2048
_LONGEST_CACHED = 2048
"""Characters; longer texts are parsed anew each time: so many of them would take too much memory."""


class CueJudge:
    """Parses each text once while it is among the last 512: a text is compared with many others."""

    def profile(self, said: Said) -> Profile:
        """What the claims of the text come to."""
        parsed = parse(said)
        return Profile(
            states=bool(parsed.claims),
            may_end=any(map(_ends_something, parsed.claims)) or _may_end_plainly(parsed),
            retracts=any(one.kind is ClaimKind.RETRACTION for one in parsed.claims),
            recognised=any(one.strong for one in parsed.claims),
            bounds=tuple(TimeBound(one.span, one.until, one.rule) for one in parsed.claims if one.until is not None),
        )

    def judge(self, newer: Said, older: Sequence[Said]) -> list[Relation | None]:
        """Of each older one: what both claim decides; else a retraction of the key's value before."""
        parsed = parse(newer)
        return [self._relation(parse(one), parsed, newer.follows) for one in older]

    def holds_until(self, text: str, at: datetime, bounds: Sequence[Bound]) -> datetime | None:
        """The end of the bound that the whole text has, of `bounds` that it names; without any what "then" means."""
        if bounds:
            binding = first_that_binds(text, bounds)
            return binding.until if binding is not None else None
        claims = read_claims(text, at, default_cue_rules())
        return max((claim.until for claim in claims if claim.until is not None), default=None)

    def _relation(self, older: Parsed, newer: Parsed, follows: str | None) -> Relation | None:
        rules = default_cue_rules()
        found = relate(older, newer, rules)
        if found is not None and found.kind is RelationKind.RETRACTS:
            return found
        if older.id == follows and takes_back(older.text, newer, rules.words):
            return Relation(kind=RelationKind.RETRACTS, rule=BY_KEY, ended=((0, len(older.text)),))
        return found


def parse(said: Said) -> Parsed:
    """The text with its claims; the same object again while it is among the last 512, with what was found in it."""
    if len(said.text) > _LONGEST_CACHED:
        return Parsed(said.id, said.text, said.at, said.speaker, _claims(said.text, said.at))
    return _parsed(said.id, said.text, said.at, said.speaker)


@lru_cache(maxsize=_CACHED)
def _parsed(record_id: str, text: str, at: datetime, speaker: str) -> Parsed:
    return Parsed(record_id, text, at, speaker, _claims_once(text, at))


def _claims(text: str, at: datetime) -> tuple[Claim, ...]:
    return read_claims(text, at, default_cue_rules())


_claims_once = lru_cache(maxsize=_CACHED_CLAIMS)(_claims)


def _ends_something(claim: Claim) -> bool:
    return claim.kind is not ClaimKind.STATE or claim.exclusive or claim.until is not None


def _may_end_plainly(parsed: Parsed) -> bool:
    """Whether it may end a plain statement that no rule knows; a text without a verb or a cue ends nothing."""
    stating = any(claim.attribute != "bit" for claim in parsed.claims)
    return stating and may_end_plainly(parsed, default_cue_rules())
