"""The things that a clause names with an article or as the speaker's own, and what tells them from others (P-24)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from recollect.domain.claims import Said
from recollect.domain.cue_rules import CueRules
from recollect.domain.told_words import noted, span_words, word_stems
from recollect.text.terms import stem

OWN = frozenset({"my", "our"})
DETERMINERS = OWN | {"the", "a", "an", "this", "that", "another"}
PLACED = frozenset(
    {"in", "at", "on", "to", "with", "from", "for", "by", "after", "before", "since", "of", "until", "till", "into"}
)
_NO_OBJECT = PLACED | {"is", "was", "are", "were", "be", "am", "'m", "'s", "as"}
_DEFINITE = OWN | {"the"}
_LONGEST = 5
_FAR = 3
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class NounPhrase:
    """The stem of its noun, and those of the words that tell it from others: "the budget review".

    `told_in`: those behind "in" or "of", which may as well be a value: a degree in physics. `is_topic`: something is
    said of it, or done to it; it is no place and no value. `opens`: the clause begins with it. `is_group`: that are
    people.
    """

    noun: str
    told_by: tuple[str, ...]
    told_in: tuple[str, ...]
    is_topic: bool
    opens: bool
    is_group: bool


def noun_phrases(said: Said, span: Span, rules: CueRules) -> tuple[NounPhrase, ...]:
    """Those in a part of the text, in its order."""
    return noted(said, ("noun phrases", span), rules, lambda: tuple(_read(said, span, rules)))


def _read(said: Said, span: Span, rules: CueRules) -> Iterator[NounPhrase]:
    words = [word.lower() for word in span_words(said, span)]
    stems = word_stems(said, span, rules)
    for place, word in enumerate(words):
        places = _places(words, stems, place + 1, rules) if word in DETERMINERS else []
        if not places:
            continue
        before = tuple(stems[one] for one in places[:-1] if stems[one] and not _is_plain(words[one], rules))
        opens = word in _DEFINITE and rules.words.lead_in_size([*words[:place], ""]) == place
        yield NounPhrase(
            noun=stems[places[-1]] or stem(words[places[-1]]),
            told_by=_told_behind(words, stems, places[-1] + 1, rules, "for") or before,
            told_in=_told_behind(words, stems, places[-1] + 1, rules, "in", "of"),
            is_topic=opens or (word in _DEFINITE and words[max(0, place - 1)] not in _NO_OBJECT),
            opens=opens,
            is_group=opens and word == "the" and words[places[-1]] in rules.words.lists["groups"],
        )


def _told_behind(
    words: Sequence[str], stems: Sequence[str], place: int, rules: CueRules, *prepositions: str
) -> tuple[str, ...]:
    """My budget for books is the book budget."""
    if words[place : place + 1] not in [[one] for one in prepositions]:
        return ()
    start = place + 2 if words[place + 1 : place + 2] and words[place + 1] in DETERMINERS else place + 1
    behind = takewhile(str.isalpha, stems[start : start + _FAR])
    return tuple(one for one in behind if one not in rules.time_stems)


def _places(words: Sequence[str], stems: Sequence[str], start: int, rules: CueRules) -> list[int]:
    """Where its words stand, up to the first that cannot be of it."""
    found: list[int] = []
    for place in range(start, min(len(words), start + _LONGEST)):
        if not _may_belong(words[place], stems[place], rules) or (found and _is_verb(words[place], rules)):
            break
        found.append(place)
    while found and _is_plain(words[found[-1]], rules):
        found.pop()
    return found


def _may_belong(word: str, one: str, rules: CueRules) -> bool:
    vague = word in rules.words.lists["vague_heads"]
    return word[:1].isalpha() and (bool(one) or vague or _is_plain(word, rules))


def _is_verb(word: str, rules: CueRules) -> bool:
    return rules.words.is_finite(word) and word not in rules.words.things


def _is_plain(word: str, rules: CueRules) -> bool:
    """Whether it tells no thing from another: new, weekly."""
    return word in rules.words.lists["modifiers"] or word in rules.words.adverbs
