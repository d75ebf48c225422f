"""Sentences and clauses of a text with their places, as cue rules read them (P-24).

Quoted speech, code and quoted lines are blanked first, so that nobody else's words are read as the speaker's. Every
repetition is bounded and no two share characters: linear, whatever the text.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from recollect.knowledge.resolution import plain_quotes

MOST_SENTENCES = 200
MOST_TOKENS_OF_SENTENCE = 120
_MOST_CHARACTERS = 64 * 1024

_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]{1,200}`", re.DOTALL)
_QUOTED_LINE = re.compile(r"(?m)^[ \t]{0,3}(?:>|\|).*$")
_SHARED = re.compile(r"\[(?:shared|image|photo|link)[^\]\n]{0,400}\]", re.IGNORECASE)
_DOUBLE = re.compile(r'"([^"\n]{1,600})"')
_SINGLE = re.compile(r"(?<!\w)'((?:[^'\n]|(?<=\w)'(?=\w)){1,600})'(?!\w)")
_OPEN = re.compile(r'(?:(?<=\s)|(?<![\s\S]))"(?=\w)[^"\n]*(?=\n|\Z)')
_SENTENCE_END = re.compile(r"[.!?…]+[\"')\]]*(?=\s|\Z)|[\r\n]+|(?<=[a-z\d)])\.(?=[A-Z][a-z])")
_ABBREVIATED = re.compile(
    r"(?:\b(?:mr|mrs|ms|dr|prof|st|vs|etc|approx|jr|sr|no|inc|ltd|a\.m|p\.m)|\b[B-HJ-Z])\.$", re.I
)
_TOKEN = re.compile(
    r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}"
    r"|[$€£¥]\d[\d,.]{0,30}[kmKM]?\b|\d[\d,.:/-]{0,40}(?:(?<=\d)%|(?<![,:])[A-Za-z]{1,20}\b)|\d[\d,.:/-]{0,40}(?<=\d)"
    r"|[^\W\d_][\w.&+#/-]{0,60}(?<=[\w+#])(?:'[a-zA-Z]{1,2}\b|(?<=s)'(?= [a-z]))?|[^\w\s]|\w"
)
_CONTRACTED = re.compile(r"(?i)^(.+?)(n't|'(?:m|re|ve|ll|d|s))$")
_WHOLE = {"'m": "am", "'re": "are", "'ve": "have", "'ll": "will", "'d": "would", "n't": "not", "'s": "is"}
_IRREGULAR = {"won't": "will", "can't": "can", "shan't": "shall", "ain't": "am"}
_BARE = {
    **{
        f"{verb}nt": verb
        for verb in [
            "do",
            "does",
            "did",
            "is",
            "are",
            "was",
            "were",
            "have",
            "has",
            "had",
            "would",
            "could",
            "should",
            "wo",
            "ca",
        ]
    },
    "im": "i",
    "ive": "i",
}
_BARE_ENDS = {"im": "am", "ive": "have", "wont": "not", "cant": "not"}
_WITH_IS = frozenset(
    ["it", "he", "she", "that", "there", "this", "what", "who", "where", "here", "how", "everything", "one", "let"]
)
_BREAKS = frozenset(",;:()[]—–…*•")
_MERGED_CAPS = re.compile(r"^\d{4}$")


@dataclass(frozen=True)
class Token:
    """A word or a mark: as written, lower-cased with contractions undone, and where it stands."""

    text: str
    word: str
    start: int
    end: int

    @cached_property
    def is_word(self) -> bool:
        """Whether it is no mark."""
        return self.word[:1].isalnum() or self.word[:1] in "$€£¥"

    @property
    def is_capital(self) -> bool:
        """Whether it begins with a capital letter."""
        return self.text[:1].isupper()


@dataclass(frozen=True)
class Clause:
    """A part of a sentence between its marks and conjunctions.

    `joined` is the word or mark before it; `index` counts within the sentence. `first_of_sentence` clauses may begin
    with a capital letter that means nothing.
    """

    tokens: tuple[Token, ...]
    joined: str
    index: int

    @cached_property
    def words(self) -> list[str]:
        """The words without marks."""
        return [token.word for token in self.tokens if token.is_word]

    @property
    def start(self) -> int:
        """Where it begins."""
        return self.tokens[0].start

    @property
    def end(self) -> int:
        """Where it ends, exclusive."""
        return self.tokens[-1].end


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence: its clauses, its words, and whether it ends as a question."""

    clauses: tuple[Clause, ...]
    tokens: tuple[Token, ...]
    asks: bool
    start: int
    end: int


def blanked(text: str) -> str:
    """The text with plain quotes, and blanks in place of code, quoted lines and quoted speech of three words."""
    plain = _blank(_CODE, text[:_MOST_CHARACTERS])
    plain = plain_quotes(_blank(_SHARED, _blank(_QUOTED_LINE, plain)))
    for pattern in (_DOUBLE, _SINGLE):
        plain = pattern.sub(_without_speech, plain)
    return _blank(_OPEN, plain)


def read_words(text: str) -> list[str]:
    """The words of a text as written, marks as words of their own."""
    plain = plain_quotes(text)
    return [token.text for token in _tokens(plain, 0, len(plain))]


@dataclass(frozen=True, slots=True)
class Joints:
    """What parts clauses: a conjunction before one of its openers, a subordinator before a subject."""

    conjunctions: frozenset[str]
    openers: frozenset[str]
    subordinators: frozenset[str]
    subjects: frozenset[str]

    def parts(self, word: str, next_word: str, after: str) -> bool:
        """Whether a new clause begins behind the word; `after` is the next word behind a comma too."""
        if word in self.conjunctions:
            return after in self.openers
        return word in self.subordinators and next_word in self.subjects


def read_sentences(text: str, joints: Joints) -> tuple[Sentence, ...]:
    """The first 200 sentences."""
    plain = blanked(text)
    found: list[Sentence] = []
    for start, end in _sentence_spans(plain):
        tokens = tuple(islice(_tokens(plain, start, end), MOST_TOKENS_OF_SENTENCE))
        if not any(token.is_word for token in tokens):
            continue
        clauses = tuple(_clauses(tokens, joints))
        ending = plain[max(start, end - 4) : end]
        asks = "?" in ending and not (("??" in ending or "?!" in ending) and _declares(tokens))
        found.append(Sentence(clauses, tokens, asks, tokens[0].start, tokens[-1].end))
        if len(found) == MOST_SENTENCES:
            break
    return tuple(found)


def _declares(tokens: tuple[Token, ...]) -> bool:
    """Amazement about oneself: "turns out I love olives now??"."""
    return any(token.word in ("i", "we", "my", "our") for token in tokens[:6])


def _blank(pattern: re.Pattern[str], text: str) -> str:
    return pattern.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)


def _without_speech(match: re.Match[str]) -> str:
    inner: str = match[1]
    whole: str = match.group()
    return " " * len(whole) if len(inner.split()) > 2 else " " + inner + " "


def _sentence_spans(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for end in _SENTENCE_END.finditer(text):
        if end.group()[:1] == "." and _ABBREVIATED.search(text[max(start, end.end() - 8) : end.end()]):
            continue
        yield start, end.end()
        start = end.end()
    if start < len(text):
        yield start, len(text)


def _tokens(text: str, start: int, end: int) -> Iterator[Token]:
    for match in _TOKEN.finditer(text, start, end):
        yield from _undone(match.group(), match.start(), match.end())


def _undone(word: str, start: int, end: int) -> Iterator[Token]:
    """The word, or the two words of a contraction; a genitive keeps its form."""
    word = word.rstrip(".,:/-") if len(word) > 1 else word
    end = start + len(word)
    if word.lower() in _BARE:
        first = {"wo": "will", "ca": "can"}.get(_BARE[word.lower()], _BARE[word.lower()])
        cut = end - (3 if word.lower() == "ive" else 2 if word.lower() != "im" else 1)
        yield Token(word[: cut - start], first, start, cut)
        yield Token(word[cut - start :], _BARE_ENDS.get(word.lower(), "not"), cut, end)
        return
    if word.endswith("s'"):
        yield Token(word, word.lower() + "s", start, end)
        return
    found = _CONTRACTED.match(word) if "'" in word else None
    base = found[1].lower() if found else ""
    if found is None or (found[2].lower() == "'s" and base not in _WITH_IS):
        yield Token(word, word.lower(), start, end)
        return
    cut = start + len(found[1])
    yield Token(found[1], _IRREGULAR.get(word.lower(), base), start, cut)
    yield Token(found[2], "us" if base == "let" else _WHOLE[found[2].lower()], cut, end)


def _clauses(tokens: tuple[Token, ...], joints: Joints) -> Iterator[Clause]:
    begin, joined, count = 0, "", 0
    for place, token in enumerate(tokens):
        held = token.word == "then" and place and tokens[place - 1].word in ("till", "until", "by", "since", "back")
        if token.is_word and (held or not _parts(tokens, place, joints)):
            continue
        if not token.is_word and not _breaks(tokens, place):
            continue
        inner = [one for one in tokens[begin:place] if one.is_word]
        if token.word == "and" and _is_joint_subject(inner, tokens, place):
            continue
        if inner:
            yield Clause(tokens[begin:place], joined, count)
            joined, count = "", count + 1
        joined, begin = (joined + " " + token.word).strip(), place + 1
    if any(one.is_word for one in tokens[begin:]):
        yield Clause(tokens[begin:], joined, count)


def _breaks(tokens: tuple[Token, ...], place: int) -> bool:
    if tokens[place].word == "-":
        return True
    if tokens[place].word not in _BREAKS:
        return False
    after = tokens[place + 1].text if place + 1 < len(tokens) else ""
    if tokens[place].word == ":" and (after[:1].isdigit() or after[:1] in "$€£¥" or "@" in after):
        return not after
    return not (tokens[place].word == "," and _MERGED_CAPS.match(after))


def _is_joint_subject(before: list[Token], tokens: tuple[Token, ...], place: int) -> bool:
    """Jonas and I: no new clause."""
    after = tokens[place + 1].word if place + 1 < len(tokens) else ""
    return after in ("i", "me") and 0 < len(before) <= 4 and before[-1].is_capital and before[-1].word != "i"


def _parts(tokens: tuple[Token, ...], place: int, joints: Joints) -> bool:
    next_word = tokens[place + 1].word if place + 1 < len(tokens) else ""
    return joints.parts(tokens[place].word, next_word, _word_after(tokens, place + 1))


def _word_after(tokens: tuple[Token, ...], place: int) -> str:
    while place < len(tokens) and tokens[place].word == ",":
        place += 1
    return tokens[place].word if place < len(tokens) else ""
