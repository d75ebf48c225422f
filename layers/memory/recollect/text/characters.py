"""Characters: what makes a word, which scripts write without spaces, and which characters look alike (P-22).

`folded` maps letters of other scripts that look Latin, and the marks that keyboards and editors exchange. It folds
nothing within ASCII (`O` and `0`, `l` and `1` stay different, since codes and names differ in nothing else) and keeps
accents. NFKC covers full-width, mathematical and circled forms.
"""

import re
import unicodedata
from functools import lru_cache

CJK_CLASS = (
    "\u1100-\u11ff\u2e80-\u2fdf\u3000-\u30ff\u3100-\u31ff\u3200-\u4dbf\u4e00-\ua4cf\ua960-\ua97f"
    "\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef\U0001aff0-\U0001b16f\U00020000-\U0003ffff"
)
"""For a regular-expression class: Han, kana, Hangul, Yi, their punctuation and the full-width forms."""

_SOUTH_EAST_ASIAN = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
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
