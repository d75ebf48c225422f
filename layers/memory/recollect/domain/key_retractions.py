"""Whether a newer value of a key says that the value before it was never so, without a word of what (P-24).

The key tells what is taken back; the words only need to say that something is. Three ways of saying so count: that it
never was ("it never was shellfish", "44 was a mistake"), how it came to be said ("that was my sister on my phone"),
and, beside a denial, any word that admits an error. What has changed since was so before, and an apology for being late
takes nothing back.
"""

import re
from functools import cache

from recollect.domain.claims import Claim, ClaimKind, Said
from recollect.domain.clause_reading import HINT
from recollect.domain.clauses import blanked, read_words
from recollect.domain.cue_values import content_stems
from recollect.domain.cue_words import CueWords
from recollect.domain.key_retraction_words import (
    ADMITS,
    CALLED_UNTRUE,
    DENIES,
    EXPLAINED,
    NEEDS_DENIAL,
    NEVER_DONE,
    OVER,
    SAYS_SO,
    STANDS_FOR_IT,
    WAS_NOT,
)
from recollect.domain.told_words import noted

_WITHIN = 2000
"""Characters of a value that are read: further on it says something else."""
_NEAR = (20, 30)
"""Characters before and behind a word that may take something back, in which its explanation is looked for."""
_PRONOUNS = frozenset(["that", "it", "this", "which"])


def takes_back(older: str, newer: Said, words: CueWords) -> bool:
    """Whether its words take back the older value of its key, whatever that was; `words` are the tenant's."""
    if not noted(newer, "may take back", None, lambda: _may_take_back(newer)):
        return False
    text = blanked(newer.text[:_WITHIN])
    told = _pattern(EXPLAINED).sub(" ", text)
    if _has(SAYS_SO, told) or _says_it_was_not(older, text, words):
        return True
    return (_denies(older, text, words) and _admits(told, words)) or _has_cue(newer, text)


def _may_take_back(newer: Said) -> bool:
    """Whether anything in it is a sign at all: so that most texts are read once, whatever they are held against."""
    text = blanked(newer.text[:_WITHIN])
    if text.rstrip().endswith("?"):
        return False
    signs = (NEVER_DONE, WAS_NOT, DENIES)
    told = _pattern(EXPLAINED).sub(" ", text)
    called = _has(CALLED_UNTRUE, newer.text) or _has(CALLED_UNTRUE, text.replace("'s ", " is "))
    return called or _has(SAYS_SO, told) or any(_has(sign, text) for sign in signs) or _has_cue(newer, text)


def _says_it_was_not(older: str, newer: str, words: CueWords) -> bool:
    """ "It wasn't a first", "44 was a mistake": what the older value says, denied of the past, and not as over."""
    known = _stems(older, words)
    never = _pattern(NEVER_DONE).search(newer)
    if never is not None and not known.isdisjoint(_stems(never["verb"], words)):
        return True
    if _has(OVER, newer):
        return False
    if _has(WAS_NOT, newer) and not known.isdisjoint(_stems(newer, words)):
        return True
    called = _pattern(CALLED_UNTRUE).search(newer.replace("'s ", " is "))
    what = called["what"].lower() if called is not None else ""
    return bool(_PRONOUNS & set(what.split()[-1:])) or not known.isdisjoint(_stems(what, words))


def _denies(older: str, newer: str, words: CueWords) -> bool:
    """Whether something is denied, not as over, in words of the older value or in a pronoun for it."""
    if not _has(DENIES, newer) or _has(OVER, newer):
        return False
    return _has(STANDS_FOR_IT, newer) or not _stems(older, words).isdisjoint(_stems(newer, words))


def _admits(told: str, words: CueWords) -> bool:
    """Whether it tells how what was not so came to be said: "I lied", "that was for the other chat"."""
    plain = " ".join(read_words(told)).lower()
    return _has(ADMITS, told) or words.has("retraction_cues", f" {plain} ")


def _has_cue(newer: Said, text: str) -> bool:
    """Whether a cue rule says so; a word that only hints at it counts where nothing has changed."""
    cues = [one for one in newer.claims if one.kind is ClaimKind.RETRACTION and not (one.value or one.subject)]
    changed = any(one.kind is ClaimKind.CHANGE and one.strong for one in newer.claims)
    return any(one.attribute != HINT or (not changed and _means_it(one, text)) for one in cues)


def _means_it(hint: Claim, text: str) -> bool:
    """Whether the word that may take something back does: nothing else explains it; what one admits is a denial."""
    near = text[max(0, hint.span[0] - _NEAR[0]) : hint.span[1] + _NEAR[1]]
    if _has(EXPLAINED, near):
        return False
    return not _has(NEEDS_DENIAL, near) or _has(DENIES, text)


def _stems(text: str, words: CueWords) -> frozenset[str]:
    return frozenset(content_stems((word.lower() for word in read_words(text[:_WITHIN])), words))


def _has(alternatives: tuple[str, ...], text: str) -> bool:
    return _pattern(alternatives).search(text) is not None


@cache
def _pattern(alternatives: tuple[str, ...]) -> re.Pattern[str]:
    """Compiled when the first text is read."""
    return re.compile("|".join(alternatives), re.IGNORECASE)
