"""Classes of characters that several rules share: what makes a word, and which scripts write without spaces."""

import re
import unicodedata

CJK_CLASS = (
    "\u1100-\u11ff\u2e80-\u2fdf\u3000-\u30ff\u3100-\u31ff\u3200-\u4dbf\u4e00-\ua4cf\ua960-\ua97f"
    "\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef\U0001aff0-\U0001b16f\U00020000-\U0003ffff"
)
"""Inside of a regular-expression class: Han, kana, Hangul, Yi, their punctuation and the full-width forms."""

_SOUTH_EAST_ASIAN = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_UNSPACED = re.compile(f"[{CJK_CLASS}{_SOUTH_EAST_ASIAN}]")


def is_word_character(character: str) -> bool:
    """Whether the character belongs to a word: a letter, a digit or a combining mark, of any script (R-12).

    What only dresses up a symbol (the variation selectors of emoji, the enclosing keycap) belongs to none (R-64).
    """
    category = unicodedata.category(character)
    if category in ("Mn", "Mc"):
        return not "\ufe00" <= character <= "\ufe0f"
    return category[0] in "LN"


def is_unspaced(character: str) -> bool:
    """Whether the character's script runs words together, so that a neighbour says nothing about where a word ends."""
    return _UNSPACED.match(character) is not None
