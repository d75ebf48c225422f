"""Characters and phrases: what makes a word, which characters look alike (P-22), keywords in a text (P-3).

`folded` maps letters of other scripts that look Latin, and the marks that keyboards and editors exchange. It folds
nothing within ASCII (`O` and `0`, `l` and `1` stay different, since codes and names differ in nothing else) and keeps
accents. `found` looks for keywords one by one; `PhraseTree` finds many phrases as whole words in one pass.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Generic, NamedTuple, TypeVar

CJK_CLASS = (
    "\u1100-\u11ff\u2e80-\u2fdf\u3000-\u30ff\u3100-\u31ff\u3200-\u4dbf\u4e00-\ua4cf\ua960-\ua97f"
    "\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef\U0001aff0-\U0001b16f\U00020000-\U0003ffff"
)
"""For a regular-expression class: Han, kana, Hangul, Yi, their punctuation and the full-width forms."""

_SOUTH_EAST_ASIAN = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_LINE_BREAK = re.compile("\r\n|[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_UNSPACED = re.compile(f"[{CJK_CLASS}{_SOUTH_EAST_ASIAN}]")

# By lower case. No two letters of one script lead to the same letter, so that two words of that script stay two.
_CYRILLIC = dict(zip("авгезіјкмнопрстухѕѵԁԛԝүһӏ", "abre3ijkmhonpctyxsvdqwyhl", strict=True)) | {"ё": "ë", "ї": "ï"}
_GREEK = dict(zip("αβγεζηικμνορτυχω", "abyeznikmvoptuxw", strict=True)) | {"ϲ": "c", "ϳ": "j"}
_ARMENIAN = dict(zip("օսցզհո", "ougqhn", strict=True))
_LATIN = dict(zip("ıɑɡɩɪᴀʙᴄᴅᴇꜰɢʜᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢꞌ", "iagiiabcdefghjklmnoprstuvwyz'", strict=True))
_MARKS = {
    **dict.fromkeys("‘’‚‛ʹʻʼʽˈ′`´", "'"),
    **dict.fromkeys("“”„‟«»″〝〞", '"'),
    **dict.fromkeys("‐‑‒–—―−⁃﹘", "-"),
    "⁄": "/",
    "∕": "/",
    "∶": ":",
    "ꓽ": ":",
    "٫": ",",
}
_LOOK_ALIKES = str.maketrans({**_CYRILLIC, **_GREEK, **_ARMENIAN, **_LATIN, **_MARKS})

# Three Greek capitals look like another letter than their small ones do. That counts in a text with Latin letters, in
# words of nothing but look-alikes, so that a Greek word stays the same in capitals.
_CAPITALS = str.maketrans({"Υ": "Y", "Ν": "N", "Η": "H"})
_LATIN_LETTER = re.compile("[A-Za-z]")
_IMITATION = re.compile(r"\b[\w']*\b")
_LIKE_LATIN = re.compile(r"[A-Za-z0-9_'ΑΒΕΖΗΙΚΜΝΟΡΤΥΧοιανυρτκχ]*")

# Shown as nothing, whatever their category says: fillers of Hangul, vowels of Khmer that are none, selectors.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_ASCII = {code: None for code in (*range(0x20), 0x7F) if not chr(code).isspace()} | {ord("`"): "'"}
_BLANKS = "\u2800"  # a pattern of Braille without a dot
_DOT_ABOVE = "\u0307"


def one_line(text: str) -> str:
    """The text with every line break, of any kind, replaced by a space (P-23)."""
    # No line break is printable, and few texts have one: to see that takes a tenth of the time.
    return text if text.isprintable() else _LINE_BREAK.sub(" ", text)


def is_word_character(character: str) -> bool:
    """Whether the character belongs to a word: a letter, digit or combining mark of any script (R-12).

    Variation selectors of emoji and the enclosing keycap belong to none (R-64).
    """
    category = unicodedata.category(character)
    if category in ("Mn", "Mc"):
        return not "\ufe00" <= character <= "\ufe0f"
    return category[0] in "LN"


def is_unspaced(character: str) -> bool:
    """Whether the character's script writes words without spaces, so that its neighbours mark no end of a word."""
    return _UNSPACED.match(character) is not None


def visible(text: str) -> str:
    """The text without invisible characters, with every white space as a plain space."""
    return "".join(" " if c.isspace() or c in _BLANKS else c for c in text if not is_invisible(c))


def may_hide(text: str) -> bool:
    """Whether it may have an invisible character; False is certain."""
    return not text.isprintable() or _INVISIBLE.search(text) is not None


@lru_cache(maxsize=4096)
def is_invisible(character: str) -> bool:
    """Whether it shows nothing and is not white space: controls, joiners, marks of direction, fillers, tags."""
    if character.isspace():
        return False
    return _INVISIBLE.match(character) is not None or unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Cn")


def folded(text: str) -> str:
    """One form for texts that differ only in case, width, look-alikes, invisible characters and white space."""
    if text.isascii():
        return " ".join(text.translate(_ASCII).lower().split())
    plain = visible(unicodedata.normalize("NFKC", visible(text)))
    latin = _IMITATION.sub(_in_latin, plain) if _LATIN_LETTER.search(plain) else plain
    small = unicodedata.normalize("NFKC", latin.casefold()).replace("i" + _DOT_ABOVE, "i")
    alike = "".join(map(_digit, small.translate(_LOOK_ALIKES)))
    return " ".join(unicodedata.normalize("NFC", alike).split())


def _digit(character: str) -> str:
    return character if character.isascii() else str(unicodedata.decimal(character, character))


def _in_latin(word: re.Match[str]) -> str:
    return word.group().translate(_CAPITALS) if _LIKE_LATIN.fullmatch(word.group()) else word.group()


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
