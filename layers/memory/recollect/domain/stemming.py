"""The Porter stemmer (M. F. Porter, 1980), for ASCII words; other words are their own stem.

Our own because the domain imports no library, and because a stem is part of what indexes store: it must not
change under us with a release of somebody else's.
"""

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

_STEP_2: Mapping[str, str] = MappingProxyType(
    {
        "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "abli": "able",
        "alli": "al", "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize", "ation": "ate", "ator": "ate",
        "alism": "al", "iveness": "ive", "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive",
        "biliti": "ble",
    }
)  # fmt: skip
_STEP_3: Mapping[str, str] = MappingProxyType(
    {"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": ""}
)
_STEP_4: Sequence[str] = (
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous", "ive", "ize", "ion",
    "al", "er", "ic", "ou",
)  # fmt: skip


def stem(word: str) -> str:
    """The stem of a lower-case word: `running` and `runs` give `run`; three letters or fewer stay as they are."""
    if len(word) <= 2 or not word.isascii() or not word.isalpha():
        return word
    word = _step_1c(_step_1b(_step_1a(word)))
    word = _replaced(_replaced(word, _STEP_2), _STEP_3)
    return _step_5(_step_4(word))


def _shape(word: str) -> str:
    """One letter per letter: v for a vowel, c for a consonant; y is a vowel after a consonant."""
    shape = ""
    for letter in word:
        vowel = letter in "aeiou" or (letter == "y" and shape.endswith("c"))
        shape += "v" if vowel else "c"
    return shape


def _measure(word: str) -> int:
    return len(re.findall("v+c", _shape(word)))


def _has_vowel(word: str) -> bool:
    return "v" in _shape(word)


def _ends_double(word: str) -> bool:
    return len(word) > 1 and word[-1] == word[-2] and _shape(word)[-1] == "c"


def _ends_cvc(word: str) -> bool:
    return _shape(word)[-3:] == "cvc" and word[-1] not in "wxy"


def _step_1a(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _step_1b(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        base = word[: -len(suffix)]
        if word.endswith(suffix) and _has_vowel(base):
            return _restored(base)
    return word


def _restored(base: str) -> str:
    if base.endswith(("at", "bl", "iz")):
        return base + "e"
    if _ends_double(base) and base[-1] not in "lsz":
        return base[:-1]
    return base + "e" if _measure(base) == 1 and _ends_cvc(base) else base


def _step_1c(word: str) -> str:
    return word[:-1] + "i" if word.endswith("y") and _has_vowel(word[:-1]) else word


def _replaced(word: str, endings: Mapping[str, str]) -> str:
    for suffix in sorted(endings, key=len, reverse=True):
        if word.endswith(suffix):
            base = word[: -len(suffix)]
            return base + endings[suffix] if _measure(base) > 0 else word
    return word


def _step_4(word: str) -> str:
    for suffix in _STEP_4:
        if word.endswith(suffix):
            base = word[: -len(suffix)]
            fits = _measure(base) > 1 and (suffix != "ion" or base.endswith(("s", "t")))
            return base if fits else word
    return word


def _step_5(word: str) -> str:
    if word.endswith("e"):
        base = word[:-1]
        if _measure(base) > 1 or (_measure(base) == 1 and not _ends_cvc(base)):
            word = base
    return word[:-1] if word.endswith("ll") and _measure(word) > 1 else word
