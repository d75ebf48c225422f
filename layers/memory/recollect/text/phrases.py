"""Keywords and phrases in a text: one rule for tags, importance, search triggers and entities (P-3).

`found` looks for keywords one by one; `PhraseTree` finds many phrases as whole words in one pass over the text.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

from recollect.text.characters import is_unspaced, is_word_character

_TYPOGRAPHIC_APOSTROPHES = "\u2018\u2019\u201b\u02bc\uff07"

T = TypeVar("T")
_RUNS = re.compile("w+|s+|o", re.DOTALL)
_WORD, _SPACE, _OTHER = "w", "s", "o"


def fold(text: str) -> str:
    """The form in which texts are compared: casefolded, with plain apostrophes. Its length may differ."""
    folded = text.casefold()
    if not folded.isascii():
        for apostrophe in _TYPOGRAPHIC_APOSTROPHES:
            folded = folded.replace(apostrophe, "'")
    return folded


def found(text: str, keywords: Iterable[str], word_boundary: bool = False) -> tuple[str, ...]:
    """The keywords that occur in the text, in their order and spelling, each once (P-3).

    A keyword matches anywhere, also inside of words; with `word_boundary` only where no letter or digit adjoins it.
    A blank keyword matches nothing. Linear in the text.
    """
    folded = fold(text)
    hits = (keyword for keyword in keywords if _occurs(folded, fold(keyword), word_boundary))
    return tuple(dict.fromkeys(hits))


def whole_word_positions(folded: str, phrase: str) -> Iterator[int]:
    """Where the folded phrase stands as whole words in the folded text; a blank phrase nowhere."""
    start = folded.find(phrase) if phrase.strip() else -1
    while start >= 0:
        if _stands_alone(folded, start, start + len(phrase)):
            yield start
        start = folded.find(phrase, start + 1)


def _occurs(folded: str, phrase: str, word_boundary: bool) -> bool:
    if word_boundary:
        return next(whole_word_positions(folded, phrase), None) is not None
    return bool(phrase.strip()) and phrase in folded


def _stands_alone(text: str, start: int, end: int) -> bool:
    before = start > 0 and _joined(text[start - 1], text[start])
    after = end < len(text) and _joined(text[end - 1], text[end])
    return not before and not after


def _joined(left: str, right: str) -> bool:
    if is_unspaced(left) or is_unspaced(right):
        return False
    return is_word_character(left) and is_word_character(right)


class Token(NamedTuple):
    """A word, a run of separators, or one other character; `folded` is its form for comparison: one space for a run."""

    start: int
    end: int
    folded: str


@dataclass(slots=True)
class _Node(Generic[T]):
    value: T | None = None
    children: dict[str, "_Node[T]"] = field(default_factory=dict)


class PhraseTree(Generic[T]):
    """Phrases as sequences of folded tokens, each with a value; of two equal phrases the first one counts."""

    def __init__(self) -> None:
        self._root: _Node[T] = _Node()

    def enter(self, phrase: Sequence[Token], value: T) -> None:
        """Adds a phrase; one without tokens is never found."""
        node = self._root
        for token in phrase:
            node = node.children.setdefault(token.folded, _Node())
        if phrase and node.value is None:
            node.value = value

    def found_at(self, tokens: Sequence[Token], start: int) -> Iterator[tuple[int, T]]:
        """Every phrase that begins at that token, shorter ones first, with the position after its last token."""
        node: _Node[T] | None = self._root
        for position in range(start, len(tokens)):
            node = node.children.get(tokens[position].folded) if node else None
            if node is None:
                return
            if node.value is not None:
                yield position + 1, node.value


def tokens_of(text: str, separators: str = "") -> list[Token]:
    """The text in tokens, in one pass; white space and the characters of `separators` separate.

    A word is letters, digits, marks and `_`; in a script without spaces each character is a token.
    """
    classes = text.translate({ord(character): _class_of(character, separators) for character in set(text)})
    spans = [run.span() for run in _RUNS.finditer(classes)]
    return [Token(start, end, " " if classes[start] == _SPACE else fold(text[start:end])) for start, end in spans]


def phrase_tokens(phrase: str, separators: str = "") -> list[Token]:
    """The tokens of a phrase without the separators at its ends."""
    tokens = tokens_of(phrase, separators)
    while tokens and tokens[-1].folded == " ":
        tokens.pop()
    return tokens[1:] if tokens and tokens[0].folded == " " else tokens


def _class_of(character: str, separators: str) -> str:
    if character.isspace() or character in separators:
        return _SPACE
    spaced_word = character == "_" or (is_word_character(character) and not is_unspaced(character))
    return _WORD if spaced_word else _OTHER
