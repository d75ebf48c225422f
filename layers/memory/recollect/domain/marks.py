"""What tells one statement from another that is worded alike: its numbers and its names."""

import re

from recollect.domain.lexical import terms

_NUMBER = re.compile(r"\d+")
_NAME = re.compile(r"(?<![.!?:]\s)(?<!^)\b[A-Z]\w+", re.MULTILINE)
_FIRST_WORD = re.compile(r"\W*\w+")


def numbers_in(text: str) -> frozenset[str]:
    """The runs of digits."""
    return frozenset(_NUMBER.findall(text))


def names_in(text: str) -> frozenset[str]:
    """The terms of words with a capital that begin neither a sentence nor a line."""
    return frozenset(term for name in _NAME.findall(text) for term in terms(name))


def first_word_in(text: str) -> frozenset[str]:
    """The terms of the first word, whose capital says nothing; none where it is a stop word."""
    match = _FIRST_WORD.match(text)
    return frozenset(terms(match.group())) if match else frozenset()
