"""Keywords of a query, in any language: split, lower, keep (R-12 to R-18, P-6)."""

import re

from recollect.domain.characters import is_word_character
from recollect.domain.stop_words import STOP_WORDS

_ASCII_WORD = re.compile("[A-Za-z0-9]+")


def split_words(text: str) -> list[str]:
    """The words of the text as they are written: whatever is no letter, digit or combining mark splits (R-12).

    Linear, and raises on no text at all (R-P19).
    """
    if text.isascii():
        return _ASCII_WORD.findall(text)
    separators = {ord(character): " " for character in set(text) if not is_word_character(character)}
    return [piece for piece in text.translate(separators).split() if _has_letter_or_digit(piece)]


def extract_keywords(text: str) -> tuple[str, ...]:
    """Every word of the text in lower case, in order, repeats included; never capped.

    No stop word is removed and nothing is stemmed (R-14, R-15); only words shorter than 2 UTF-8 bytes go (P-6: "I"
    goes, the Russian "у" stays).
    """
    words = (word.lower() for word in split_words(text))
    return tuple(word for word in words if _is_long_enough(word))


def query_words(text: str) -> tuple[str, ...]:
    """The words of a raw query as it is counted: what stands between spaces and has a letter or a digit (R-P17)."""
    return tuple(word for word in text.split() if _has_letter_or_digit(word))


def is_stop_word(word: str) -> bool:
    """Whether the word says nothing by itself in some language (P-6: for fallback and match gate only)."""
    return word.lower() in STOP_WORDS


def _is_long_enough(word: str) -> bool:
    # Two UTF-8 bytes or more: only a single ASCII character has fewer.
    return len(word) > 1 or not word.isascii()


def _has_letter_or_digit(word: str) -> bool:
    return any(map(str.isalnum, word))
