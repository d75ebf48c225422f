"""Keyword and phrase matching, one way for tags, importance, search triggers and entities (P-3)."""

from collections.abc import Iterable, Iterator

from recollect.domain.characters import is_unspaced, is_word_character

_TYPOGRAPHIC_APOSTROPHES = "\u2018\u2019\u201b\u02bc\uff07"


def fold(text: str) -> str:
    """The text as it is compared: without case, every apostrophe a plain one. Its length may differ from the text's."""
    folded = text.casefold()
    if not folded.isascii():
        for apostrophe in _TYPOGRAPHIC_APOSTROPHES:
            folded = folded.replace(apostrophe, "'")
    return folded


def found(text: str, keywords: Iterable[str], word_boundary: bool = False) -> tuple[str, ...]:
    """The keywords that occur in the text, as they are spelt in `keywords`, in that order, each once (P-3).

    A keyword matches anywhere, inside words too; with `word_boundary` only where no letter or digit adjoins it.
    A blank keyword matches nothing. Raises nothing; the text is folded once, and the work is linear in it.
    """
    folded = fold(text)
    hits = (keyword for keyword in keywords if _occurs(folded, fold(keyword), word_boundary))
    return tuple(dict.fromkeys(hits))


def whole_word_positions(folded: str, phrase: str) -> Iterator[int]:
    """Where the folded phrase stands as whole words in the folded text. A blank phrase stands nowhere."""
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
