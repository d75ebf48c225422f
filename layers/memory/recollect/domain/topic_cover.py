"""Whether a clause speaks of a topic: all the topic's words are in it, the last of them as a noun of its own."""

from collections.abc import Sequence

from recollect.domain.claims import Claim, ClaimKind, Said
from recollect.domain.cue_rules import CueRules
from recollect.domain.cue_values import alike
from recollect.domain.told_words import span_words, word_stems


def covered(older: Said, old: Claim, new: Claim, rules: CueRules) -> bool:
    """Whether the older clause holds every word of the newer claim's topic, or what such a word speaks of.

    "coffee" is not what "coffee machine" speaks of; a retraction takes that too.
    """
    topic = new.value.split()
    if not topic:
        return False
    words = span_words(older, old.span)
    stems = word_stems(older, old.span, rules)
    strict = new.kind is not ClaimKind.RETRACTION and old.attribute != new.attribute
    return all(_found(stem, words, stems, old, rules, strict and stem == topic[-1], topic) for stem in topic)


def _found(
    stem: str, words: Sequence[str], stems: Sequence[str], old: Claim, rules: CueRules, last: bool, topic: list[str]
) -> bool:
    places = [place for place, other in enumerate(stems) if other and alike(stem, other, rules.related)]
    if any(not (last and _modifies(place, words, stems, rules, topic)) for place in places):
        return True
    return not places and old.rule != "weak" and old.attribute in rules.about.get(stem, frozenset())


def _modifies(place: int, words: Sequence[str], stems: Sequence[str], rules: CueRules, topic: list[str]) -> bool:
    """Whether the word only says what sort of thing the next one is: coffee in "coffee machine"."""
    if place + 1 >= len(words) or not stems[place + 1]:
        return False
    after = words[place + 1]
    if stems[place + 1] in rules.shell_stems or stems[place + 1] in topic:
        return False
    if after[:1].isupper() or after.endswith("ly") or rules.words.is_verb(after) or rules.words.is_verb(words[place]):
        return False
    return after.isalpha() and after.lower() not in rules.words.lists["adverbs"]
