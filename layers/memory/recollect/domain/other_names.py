"""Whether what a newer clause ends or denies has another name than what the older one speaks of (P-24).

"I never ran the London marathon" takes nothing back of Berlin's, "I don't pay with Klarna any more" ends no PayPal.
"""

from collections.abc import Iterator, Sequence

from recollect.domain.claims import ClaimKind, Said
from recollect.domain.cue_rules import CueRules
from recollect.domain.hits import Hit
from recollect.domain.noun_phrases import PLACED, Span
from recollect.domain.told_words import clause_text, known_words, noted, span_words

_PARTS = frozenset({"and", "or", "but", "i", "we", "my", "our"})
_DENIALS = ("topic.no_longer", "topic.deny")


def ends_another_name(hit: Hit) -> bool:
    """Whether the clause denies or ends something by a name that the older does not have, which has one of its own."""
    return _ends(hit) and _differ(hit, placed=False)


def denies_of_another_name(hit: Hit) -> bool:
    """The same wherever the name stands, of what is plainly denied: with Klarna."""
    denied = hit.new.rule in _DENIALS or (hit.is_weak and hit.new.kind is ClaimKind.END)
    return denied and _differ(hit, placed=True)


def _differ(hit: Hit, *, placed: bool) -> bool:
    ours = _names(hit.older, hit.old.span, hit.rules, placed=True)
    theirs = _names(hit.newer, hit.new.span, hit.rules, placed=placed)
    return bool(ours and theirs) and not (ours & known_words(hit.newer) or theirs & known_words(hit.older))


def _ends(hit: Hit) -> bool:
    if hit.new.kind in (ClaimKind.END, ClaimKind.RETRACTION):
        return True
    if hit.new.exclusive or hit.new.until is not None:
        return False
    leaving = hit.rules.words.lists["departing_verbs"]
    return any(hit.rules.words.lemma(word) in leaving for word in clause_text(hit.newer, hit.new).split())


def _names(said: Said, span: Span, rules: CueRules, *, placed: bool) -> frozenset[str]:
    """The names in a clause; without `placed` none that says where, when, to or with whom."""
    skipped: frozenset[str] = frozenset() if placed else PLACED
    return noted(said, ("names", span, placed), rules, lambda: frozenset(_read(span_words(said, span), skipped, rules)))


def _read(words: Sequence[str], skipped: frozenset[str], rules: CueRules) -> Iterator[str]:
    behind_preposition = False
    for place, word in enumerate(words):
        low = word.lower()
        if low in skipped:
            behind_preposition = True
        elif word[:1].isupper() and place and low not in rules.words.plain and low[:2] != "i'":
            if not behind_preposition and low not in rules.words.lists["date_words"]:
                yield low.removesuffix("'s")
        elif low in _PARTS or rules.words.is_finite(low):
            behind_preposition = False
