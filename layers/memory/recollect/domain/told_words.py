"""The words of a text and of its clauses, worked out once for each text however many others it is held against."""

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from typing import TypeVar

from recollect.domain.claims import Claim, Said
from recollect.domain.clauses import read_words
from recollect.domain.cue_rules import CueRules
from recollect.domain.cue_values import alike, content_stems

_T = TypeVar("_T")
SPEAKER = frozenset({"i", "we", "i'm", "we're", "i've", "we've", "i'd", "we'd", "im", "ive"})
"""The words by which somebody speaks of themselves as who does it."""
MINE = frozenset({"my", "our", "me", "us"})
"""Those by which they speak of what is theirs, or done to them."""
OTHERS_OWN = frozenset({"his", "her", "their", "your", "hers", "theirs", "yours"})
"""Those for what is somebody else's."""


def noted(said: Said, name: Hashable, rules: CueRules | None, make: Callable[[], _T]) -> _T:
    """What `make` gives for this text under these rules; it is kept with the text and dies with it."""
    key = (name, id(rules))
    known = said.notes.get(key)
    if known is None:
        known = said.notes[key] = (rules, make())
    found: _T = known[1]
    return found


def weak_claims(said: Said) -> Iterator[Claim]:
    """What each clause says, in its own words."""
    return (one for one in said.claims if one.rule == "weak")


def all_words(said: Said) -> tuple[str, ...]:
    """The words of the text as written."""
    return noted(said, "words", None, lambda: tuple(read_words(said.text)))


def known_words(said: Said) -> frozenset[str]:
    """The words of the text, lower-cased; those in the genitive without it too."""
    return noted(said, "known", None, lambda: _known(all_words(said)))


def _known(words: tuple[str, ...]) -> frozenset[str]:
    lowered = [word.lower() for word in words]
    return frozenset((*lowered, *(word.removesuffix("'s") for word in lowered)))


def all_stems(said: Said, rules: CueRules) -> frozenset[str]:
    """The stems of the text."""
    return noted(said, "stems", rules, lambda: frozenset(content_stems(all_words(said), rules.words)))


def span_words(said: Said, span: tuple[int, int]) -> tuple[str, ...]:
    """The words as written in a part of the text."""
    return noted(said, ("words", span), None, lambda: tuple(read_words(said.text[slice(*span)])))


def clause_text(said: Said, claim: Claim) -> str:
    """The words of the claim's clause in lower case, with a space before and behind each."""
    span = claim.span
    make = lambda: f" {' '.join(word.lower() for word in span_words(said, span))} "  # noqa: E731
    return noted(said, ("text", span), None, make)


def word_stems(said: Said, span: tuple[int, int], rules: CueRules) -> tuple[str, ...]:
    """For each word in a part of the text its stem, or nothing for one without content."""
    return noted(said, ("each", span), rules, lambda: stems_of_each(span_words(said, span), rules))


def stems_of_each(words: tuple[str, ...], rules: CueRules) -> tuple[str, ...]:
    """For each word its stem, or nothing for one without content."""
    return tuple((content_stems((word,), rules.words) or ("",))[0] for word in words)


def has_stem(stems: Iterable[str], one: str, rules: CueRules) -> bool:
    """Whether a stem, or one that means the same, is among these."""
    return any(alike(one, other, rules.related) for other in stems)


def has_stems(stems: Collection[str], wanted: Iterable[str], rules: CueRules) -> bool:
    """Whether all of these stems are."""
    return all(has_stem(stems, one, rules) for one in wanted)
