"""Sentences of a text, its length in words, and who said what when."""

import re

from recollect.domain.characters import CJK_CLASS

_CJK = re.compile(f"[{CJK_CLASS}]")
_CJK_MARKED = re.compile(rf"[{CJK_CLASS}][^\w\s]*")
_END = re.compile(r"(?<=[.!?。！？…])[\"'”’)\]]*\s+|(?<=[。！？])|[\r\n\x0b\x0c\x1c-\x1e\x85\u2028\u2029]+")
_SAID_BY = re.compile(r"[^()\n]{1,128} \(\d{1,2} [A-Z][a-z]{2,8} \d{4}\): ")
_ABBREVIATED = re.compile(
    r"(?:\b(?:mr|mrs|ms|dr|prof|st|vs|etc|e\.g|i\.e|approx|jr|sr|no|inc|ltd)|\b[A-Za-z]|^\W*\d{1,3})\.$", re.IGNORECASE
)


def split_sentences(text: str) -> list[str]:
    """The sentences in order, trimmed: they end at . ! ? and their CJK kin before white space, and at line ends.

    Not inside of 2.5, and not after an abbreviation, a lone letter or the number of a list. Linear; joined with
    spaces they have every word of the text.
    """
    pieces, start = [], 0
    for end in _END.finditer(text):
        piece = text[start : end.start()].strip()
        if end.group() and not _breaks_line(end.group()) and _ABBREVIATED.search(piece[-12:]):
            continue
        pieces.append(text[start : end.end()].strip())
        start = end.end()
    return [piece for piece in (*pieces, text[start:].strip()) if piece]


def count_words(text: str) -> int:
    """Words ≥ 0: what stands between spaces, and each CJK letter or digit by itself."""
    if text.isascii():
        return len(text.split())
    characters = sum(1 for character in _CJK.findall(text) if character.isalnum())
    return len(_CJK_MARKED.sub(" ", text).split()) + characters


def first_words(text: str, most: int) -> str:
    """The beginning of a text, of at most so many words."""
    kept: list[str] = []
    for piece in text.split():
        if most <= 0:
            break
        words = count_words(piece)
        kept.append(piece if words <= most else _beginning(piece, most))
        most -= words
    return " ".join(kept)


def _beginning(piece: str, most: int) -> str:
    """Of a run of CJK as many characters; it may be shorter than it could, never longer."""
    return piece[:most]


def split_said_by(sentence: str) -> tuple[str, str] | None:
    """Speaker and day as they stand before a quoted sentence (`Anna (8 May 2023): `), and the rest; None without."""
    match = _SAID_BY.match(sentence)
    return (match.group(), sentence[match.end() :]) if match else None


def _breaks_line(separator: str) -> bool:
    return any(character in separator for character in "\r\n\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029")
