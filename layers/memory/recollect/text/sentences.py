"""Sentences: where they end, which only ask, their length in words and model tokens, their numbers and names."""

import re
import unicodedata
from datetime import date

from recollect.text.dates import MONTHS
from recollect.text.phrases import CJK_CLASS, fold
from recollect.text.terms import terms

_CJK = re.compile(f"[{CJK_CLASS}]")
_CJK_MARKED = re.compile(rf"[{CJK_CLASS}][^\w\s]*")
_END = re.compile(r"(?<=[.!?。！？…])[\"'”’)\]]*\s+|(?<=[。！？])|[\r\n\x0b\x0c\x1c-\x1e\x85\u2028\u2029]+")
_SAID_BY = re.compile(r"[^()\n]{1,128} \((\d{1,2} [A-Z][a-z]{2,8} \d{4})\): ")
_ABBREVIATED = re.compile(
    r"(?:\b(?:mr|mrs|ms|dr|prof|st|vs|etc|e\.g|i\.e|approx|jr|sr|no|inc|ltd)|\b[A-Za-z]|^\W*\d{1,3})\.$", re.IGNORECASE
)

_ORDINAL = re.compile(r"(?:^|\W)\d{1,2}\.$")
_FIRST_LETTERS = re.compile(r"[^\W\d_]+")
_SHORTEST_MONTH = 4
_LONGEST_MONTH = 20

_MARKS = ("?", "？", "؟", "\u037e", "፧")
_CLOSING_MARKS = "\"'”’)»』」] "

_CJK_RUN = re.compile(f"[{CJK_CLASS}]+")
_CHARACTERS_PER_TOKEN = 4
_BARE_QUESTION_TOKENS = 18

_AROUND_WORDS = ".,;:!?…。、؟¡¿·()[]\"'“”„‘’‚«»‹›「」『』《》—–*_~\u200d\ufe0f"
_WORD = re.compile(r"\w")
_NUMBER = re.compile(r"\d+")
_NAME = re.compile(r"(?<![.!?:]\s)(?<!^)\b[A-Z]\w+", re.MULTILINE)
_FIRST_WORD = re.compile(r"\W*\w+")


def split_sentences(text: str) -> list[str]:
    """The trimmed sentences in order: they end at . ! ? and their CJK forms before white space, and at line ends.

    Not inside of 2.5, and not after an abbreviation, a lone letter, the number of a list, or an ordinal before a small
    letter or a month ("zum 30. November"). Linear; joined with spaces they have every word of the text.
    """
    pieces, start = [], 0
    for end in _END.finditer(text):
        piece = text[start : end.start()].strip()
        following = text[end.end() : end.end() + _LONGEST_MONTH]
        if end.group() and not _breaks_line(end.group()) and _goes_on(piece[-12:], following):
            continue
        pieces.append(text[start : end.end()].strip())
        start = end.end()
    return [piece for piece in (*pieces, text[start:].strip()) if piece]


def _goes_on(tail: str, following: str) -> bool:
    return bool(
        _ABBREVIATED.search(tail) or (_ORDINAL.search(tail) and (following[:1].islower() or _is_month(following)))
    )


def _is_month(following: str) -> bool:
    """Short names are other words too: "May I …?"."""
    word = _FIRST_LETTERS.match(following)
    return word is not None and len(word.group()) >= _SHORTEST_MONTH and fold(word.group()) in MONTHS


def count_words(text: str) -> int:
    """Words ≥ 0: pieces between spaces, and each CJK letter or digit by itself."""
    if text.isascii():
        return len(text.split())
    characters = sum(1 for character in _CJK.findall(text) if character.isalnum())
    return len(_CJK_MARKED.sub(" ", text).split()) + characters


def words_said(text: str) -> tuple[str, ...]:
    """Its words as they are said: without case, marks around them, and what is no word ("!!", "🙂").

    Marks within a word, before a number and of its kind stay: "C++", "-5", "1.5".
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    words = (word.strip(_AROUND_WORDS) for word in folded.split())
    return tuple(word for word in words if _WORD.search(word))


def first_words(text: str, most: int) -> str:
    """The beginning of a text, of at most so many words."""
    pieces: list[str] = []
    for piece in text.split():
        if most <= 0:
            break
        words = count_words(piece)
        # Of a run of CJK as many characters: it may be shorter than it could, never longer.
        pieces.append(piece if words <= most else piece[:most])
        most -= words
    return " ".join(pieces)


def split_said_by(sentence: str) -> tuple[str, str] | None:
    """Speaker and day before a quoted sentence (`Anna (8 May 2023): `), and the rest; None without them."""
    match = _SAID_BY.match(sentence)
    return (match.group(), sentence[match.end() :]) if match else None


def day_said(said_by: str) -> date | None:
    """The day in what `split_said_by` found; None where it names none."""
    match = _SAID_BY.match(said_by)
    if match is None:
        return None
    day, month, year = match.group(1).split()
    try:
        return date(int(year), MONTHS.get(fold(month), 0), int(day))
    except ValueError:
        return None


def _breaks_line(separator: str) -> bool:
    return any(character in separator for character in "\r\n\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029")


def is_question(sentence: str) -> bool:
    """Whether the sentence ends with a question mark of any script; quotes and brackets may follow it."""
    return sentence.rstrip(_CLOSING_MARKS).endswith(_MARKS)


def only_asks(text: str) -> bool:
    """Whether every sentence of the text is a question, and so states no fact; False for an empty text.

    A longer question tells something before it asks ("I moved to Leith last week, where do I register?"): of those with
    more than `_BARE_QUESTION_TOKENS` one in five is evidence of something in BEAM, of shorter ones next to none.
    """
    bare = count_tokens(text) <= _BARE_QUESTION_TOKENS
    return bare and is_question(text) and all(map(is_question, split_sentences(text)))


def count_tokens(text: str) -> int:
    """Model tokens ≥ 0, estimated without a tokenizer: one for each CJK character, and ceil(n / 4) for the n others."""
    others = len(text) if text.isascii() else len(_CJK_RUN.sub("", text))
    return len(text) - others + -(-others // _CHARACTERS_PER_TOKEN)


def numbers_in(text: str) -> frozenset[str]:
    """The runs of digits."""
    return frozenset(_NUMBER.findall(text))


def names_in(text: str) -> frozenset[str]:
    """The terms of capitalised words that begin neither a sentence nor a line."""
    return frozenset(term for name in _NAME.findall(text) for term in terms(name))


def first_word_in(text: str) -> frozenset[str]:
    """The terms of the first word, whose capital is no sign of a name; none for a stop word."""
    match = _FIRST_WORD.match(text)
    return frozenset(terms(match.group())) if match else frozenset()
