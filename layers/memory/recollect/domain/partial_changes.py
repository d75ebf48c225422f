"""Changes of a part: "same job, new title: staff engineer" keeps the rest of what was said before (P-24)."""

import re
from collections.abc import Iterable, Sequence

from recollect.domain.claims import HELD, Claim, ClaimKind, Relation, RelationKind, Said
from recollect.domain.clause_owners import brings_in
from recollect.domain.clause_reading import DENIED, PAST
from recollect.domain.clauses import read_words
from recollect.domain.cue_rules import CueRules
from recollect.domain.cue_values import Sort, Value, alike, content_stems, same_value, typed_values
from recollect.domain.modality import is_remote
from recollect.domain.passing_mentions import tells_of_before
from recollect.domain.plain_statements import is_plain, is_short
from recollect.domain.told_words import OTHERS_OWN, all_stems, all_words, noted, span_words, weak_claims, word_stems
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


def changed_part(older: Said, newer: Said, rules: CueRules) -> Relation | None:
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


def recoloured(older: Said, newer: Said, rules: CueRules) -> Relation | None:
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


def _has_plan(newer: Said, rules: CueRules) -> bool:
    """Whether a clause of it is only meant."""
    return any(one.attribute == "meant" or one.subject in rules.words.persons for one in weak_claims(newer))


def _colours(said: Said, rules: CueRules) -> list[Span]:
    found = _WORD.finditer(said.text)
    return [one.span() for one in found if one[0].lower() in rules.words.lists["colours"]]


def _stems_of(said: Said, rules: CueRules) -> list[str]:
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


def changed_value(older: Said, newer: Said, pairs: Sequence[tuple[Claim, Claim]], rules: CueRules) -> str | None:
    """The older text with the one number, sum, day or hour that the newer says otherwise; None where it is its whole.

    Of both that state something, and with more in the older one than that value: "40 lengths at Leith on Wednesdays".
    """
    if max(len(older.text), len(newer.text)) > _SHORT_TEXT:
        return None
    news = [new for old, new in pairs if old.kind in HELD and new.kind in HELD]
    spans = _of_one_sort(older, newer, news)
    said = [one for old, _ in pairs for one in old.value.split() if one not in rules.idle_stems]
    return _merged(older, newer, news) if len(spans) == 1 and len(said) >= _LEAST_SAID else None


def _is_known(older: Said, kept: Claim, rules: CueRules) -> bool:
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


def _is_a_part(older: Said, newer: Said, kept: Claim, rules: CueRules, mergeable: bool) -> bool:
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


def _lowered(said: Said) -> set[str]:
    return {word.lower() for word in all_words(said)}


def _is_news(claim: Claim, kept: Claim, older: Said, newer: Said, rules: CueRules) -> bool:
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


def _tells(older: Said, newer: Said, claim: Claim, kept: Claim, rules: CueRules) -> bool:
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


def _is_of_another(older: Said, newer: Said, claim: Claim, rules: CueRules) -> bool:
    """My photos in the cloud: something of the speaker's of which the older text does not speak."""
    words, stems = span_words(newer, claim.span), word_stems(newer, claim.span, rules)
    owned = (stem for word, stem in zip(words, stems[1:], strict=False) if word.lower() in ("my", "our"))
    return any(one and not _evidence(older, (one,), rules) for one in owned)


def _is_about(older: Said, newer: Said, kept: Claim, news: Sequence[Claim], rules: CueRules, mergeable: bool) -> bool:
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


def _evidence(older: Said, stems: Iterable[str], rules: CueRules) -> int:
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


def _merged(older: Said, newer: Said, news: Sequence[Claim]) -> str | None:
    """The older text with the one value that the newer text gives another for: of one sort, or of one attribute."""
    spans = _of_one_sort(older, newer, news) or _of_one_attribute(older, news)
    if len(spans) != 1:
        return None
    ((old, new),) = spans
    return _with_article(older.text[: old[0]], newer.text[slice(*new)]) + older.text[old[1] :]


def _of_one_sort(older: Said, newer: Said, news: Sequence[Claim]) -> set[tuple[Span, Span]]:
    olds = _typed(older)
    known = {old.text for old in olds}
    fresh = [new for new in _typed(newer) if new.text not in known and _within(new, news)]
    if len(fresh) != 1:
        return set()
    new = fresh[0]
    return {(old.span, new.span) for old in olds if old.sort is new.sort and _stands_alike(older, old, newer, new)}


def _stands_alike(older: Said, old: Value, newer: Said, new: Value) -> bool:
    """A plain number beside a name is part of the name: of "iPhone 12" no "Pixel 8" makes "iPhone 8"."""
    if old.sort is not Sort.NUMBER and not older.text[slice(*old.span)].isdigit():
        return True
    one, other = _neighbours(older, old.span), _neighbours(newer, new.span)
    return not any(word != word.lower() and word not in other for word in one)


def _typed(said: Said) -> list[Value]:
    return noted(said, "typed", None, lambda: typed_values(said.text))


def _neighbours(said: Said, span: Span) -> list[str]:
    text = said.text
    make = lambda: [*read_words(text[: span[0]])[-1:], *read_words(text[span[1] :])[:1]]  # noqa: E731
    return noted(said, ("neighbours", span), None, make)


def _of_one_attribute(older: Said, news: Sequence[Claim]) -> set[tuple[Span, Span]]:
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
