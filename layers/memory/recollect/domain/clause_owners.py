"""Whether what a clause says is of somebody else than the older text speaks of (P-24)."""

import re
from collections.abc import Sequence, Set

from recollect.domain.claims import Claim, Said
from recollect.domain.cue_rules import CueRules
from recollect.domain.cue_words import singular
from recollect.domain.modality import is_remote
from recollect.domain.predicates import AUXILIARIES
from recollect.domain.told_words import MINE, SPEAKER, all_words, known_words, noted, span_words

_FOREIGN = frozenset(
    {
        "his",
        "her",
        "their",
        "he",
        "she",
        "your",
        "you",
        "someone",
        "somebody",
        "people",
        "others",
        "hers",
        "theirs",
        "yours",
    }
)
_SPEAKER = MINE | SPEAKER | {"mine", "ours"}
_SOMEBODY = frozenset({"his", "her", "he", "she", "hers", "theirs"})
_OF = frozenset({"with", "at", "to", "by", "from", "for", "of", "in", "on", "as", "near"})
_KEEPS = frozenset({"same", "still", "stays", "unchanged", "remains"})
_SENTENCE_END = re.compile(r"[.!?\n](?=\s)")
_NEAR = 160
_FIRST = 6


def _said_before(said: Said, claim: Claim) -> list[str]:
    """The words of the sentence up to the end of the clause, lower-cased, without marks."""
    start = max(0, claim.span[0] - _NEAR)
    ends = [end.end() for end in _SENTENCE_END.finditer(said.text, start, claim.span[0])]
    words = span_words(said, (max([start, *ends]), claim.span[1]))
    return [word.lower() for word in words if word[:1].isalnum()]


def is_of_others(
    older: Said, newer: Said, claim: Claim, rules: CueRules, also_known: frozenset[str] = frozenset()
) -> bool:
    """Whether somebody comes in of whom the older text does not speak, or the sentence is of the past, or keeps."""
    words = noted(newer, ("before", claim.span), None, lambda: _said_before(newer, claim))
    return bool(_KEEPS & set(words)) or brings_in(older, newer, claim, rules, also_known)


def brings_in(
    older: Said, newer: Said, claim: Claim, rules: CueRules, also_known: frozenset[str] = frozenset()
) -> bool:
    """Whether somebody comes in of whom the older text does not speak, or the sentence is of the past.

    `also_known` are words for somebody of whom it does speak.
    """
    words = noted(newer, ("before", claim.span), None, lambda: _said_before(newer, claim))
    known = known_words(older) | also_known
    if noted(newer, ("over", claim.span), rules, lambda: is_remote(f" {' '.join(words)} ", rules.words)):
        return True
    if _FOREIGN & (set(words) - known):
        return True
    return any(_comes_in(words, place, known, rules) for place in range(min(_FIRST, len(words))))


def is_only_of_others(older: Said, newer: Said, rules: CueRules) -> bool:
    """Little Marco did two lengths: a text without a word of the speaker, of somebody whom the older does not name.

    Where the older text is of the speaker; who walks the dog may be another one by now.
    """
    return has_speaker(older) and not has_speaker(newer) and _names_another(older, newer, rules)


def has_speaker(said: Said) -> bool:
    """Whether the speaker comes in: I, we, my."""
    return noted(said, "speaker", None, lambda: any(word.lower() in _SPEAKER for word in all_words(said)))


def _names_another(older: Said, newer: Said, rules: CueRules) -> bool:
    known, words = known_words(older), all_words(newer)
    if any(word.lower() in _SOMEBODY and word.lower() not in known for word in words):
        return True
    for before, word, after in zip(["", *words], words, [*words[1:], ""], strict=False):
        base = word.lower().removesuffix("'s")
        if not before or not word[:1].isupper() or base in known or base in rules.words.lists["date_words"]:
            continue
        owner = word.endswith("'s") and after.lower() not in rules.words.after_is
        if owner or rules.words.is_finite(after.lower()) or after.lower() in AUXILIARIES:
            return True
    return False


def is_of_another_group(older: Said, newer: Said, claim: Claim, rules: CueRules) -> bool:
    """The design guild's sync; over on the data team: of people of whom the older text does not speak."""
    named = noted(newer, ("groups", claim.span), rules, lambda: _groups_of(newer, claim, rules))
    return not named <= known_words(older) if named else False


def _groups_of(newer: Said, claim: Claim, rules: CueRules) -> frozenset[str]:
    """The groups that its first words name."""
    words = noted(newer, ("before", claim.span), None, lambda: _said_before(newer, claim))
    places = range(1, min(_FIRST, len(words)))
    return frozenset(_base(words[place]) for place in places if _is_group(words, place, rules))


def _base(word: str) -> str:
    return word.removesuffix("'s").removesuffix("'")


def _is_group(words: Sequence[str], place: int, rules: CueRules) -> bool:
    if _base(words[place]) not in rules.words.lists["groups"] or _SPEAKER & set(words[:place]):
        return False
    return bool({"the", "a", "another", "other", "some", "that"} & set(words[max(0, place - 3) : place]))


def _comes_in(words: Sequence[str], place: int, known: Set[str], rules: CueRules) -> bool:
    """Whether it is a person or an owner as the subject; one who does something to the speaker's is none."""
    word, behind = words[place], words[place + 1 :]
    base = _base(word)
    if base not in known and _is_group(words, place, rules):
        return True
    if base in known or _OF & set(words[max(0, place - 2) : place]):
        return False
    if word.endswith("'s") or word.endswith("s'"):
        return bool(behind) and behind[0] not in rules.words.after_is and behind[0] not in rules.words.adverbs
    after = behind[0] if behind else ""
    modifies = words[max(0, place - 1)] == "the" and after.isalpha() and not _may_follow(after, rules)
    return _is_person(words, place, rules) and not MINE & set(behind) and not modifies


def _is_person(words: Sequence[str], place: int, rules: CueRules) -> bool:
    """By relation, or by what they do: our designer."""
    base = _base(words[place])
    if base in rules.words.persons or singular(base) in rules.words.persons:
        return True
    return base in rules.words.lists["titles"] and bool({"my", "our"} & set(words[max(0, place - 2) : place]))


def _may_follow(word: str, rules: CueRules) -> bool:
    """Whether it is no noun of which the one before only says the sort: "the guest list"."""
    return word in AUXILIARIES or rules.words.is_finite(word) or word in rules.words.adverbs | rules.words.after_is
