"""Words, clauses and typed values: a text as the cue rules see it, before anything is claimed (P-24).

Quoted speech, code and quoted lines are blanked first, so that nobody else's words are read as the speaker's. Every
repetition is bounded and no two share characters: linear, whatever the text.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from itertools import islice
from types import MappingProxyType

from recollect.knowledge.resolution import plain_quotes
from recollect.text.terms import ENGLISH_STOP_WORDS, stem

_DOUBLED = frozenset("bdgklmnprt")


@dataclass(frozen=True)
class CueWords:
    """`lists` are named word lists, `irregular` verbs' forms with no regular ending, `verbs` all base forms."""

    lists: Mapping[str, frozenset[str]]
    irregular: Mapping[str, tuple[str, ...]]
    verbs: frozenset[str]
    _lemmas: dict[str, str] = field(default_factory=dict, compare=False, repr=False)
    stems: dict[str, str] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def persons(self) -> frozenset[str]:
        """Words for a person by relation: sister, boss."""
        return self.lists["persons"]

    @cached_property
    def things(self) -> frozenset[str]:
        """Words for a thing that are said without an article: rent, dinner."""
        return self.lists["bare_things"]

    @cached_property
    def adverbs(self) -> frozenset[str]:
        """Words that may stand between subject and verb."""
        return self.lists["adverbs"]

    @cached_property
    def elided(self) -> frozenset[str]:
        """First words of a clause whose subject, the speaker, is left out."""
        return self.lists["elided"]

    @cached_property
    def after_is(self) -> frozenset[str]:
        """Words that show a 's before them to be "is"."""
        return self.lists["after_is"]

    @cached_property
    def plain(self) -> frozenset[str]:
        """Words that are no name though they begin a sentence."""
        return self.lists["modifiers"] | ENGLISH_STOP_WORDS

    @cached_property
    def _irregular_forms(self) -> Mapping[str, str]:
        return {form: verb for verb, forms in self.irregular.items() for form in forms}

    @cached_property
    def _participles(self) -> frozenset[str]:
        return frozenset(forms[-1] for forms in self.irregular.values() if forms)

    @cached_property
    def _lead_ins(self) -> Mapping[str, tuple[tuple[str, ...], ...]]:
        found: dict[str, list[tuple[str, ...]]] = {}
        for phrase in self.lists["lead_ins"]:
            parts = tuple(phrase.split())
            found.setdefault(parts[0], []).append(parts)
        return {first: tuple(sorted(phrases, key=len, reverse=True)) for first, phrases in found.items()}

    def lead_in_size(self, words: Sequence[str]) -> int:
        """How many of the first words are a lead-in; never all of them."""
        for phrase in self._lead_ins.get(words[0], ()) if words else ():
            if tuple(words[: len(phrase)]) == phrase and len(words) > len(phrase):
                return 0 if phrase == ("no",) and words[1] not in self.lists["behind_no"] else len(phrase)
        return 0

    @cached_property
    def _phrases(self) -> Mapping[str, tuple[frozenset[str], tuple[str, ...]]]:
        return {
            name: (frozenset(one for one in texts if " " not in one), tuple(f" {one} " for one in texts if " " in one))
            for name, texts in self.lists.items()
        }

    def has(self, name: str, text: str) -> bool:
        """Whether a text of words with a space before and behind each has one of a list's words or phrases."""
        singles, phrases = self._phrases[name]
        return not singles.isdisjoint(text.split()) or any(phrase in text for phrase in phrases)

    def starts(self, words: Sequence[str]) -> tuple[int, ...]:
        """Where a clause may begin: at its first word and behind each of its lead-ins."""
        found = [0]
        while len(found) < 5 and (size := self.lead_in_size(words[found[-1] : found[-1] + 7])):
            found.append(found[-1] + size)
        return tuple(found)

    def semi_modal_size(self, words: Sequence[str]) -> int:
        """How many of the first words are a "had to", "ended up": what follows did happen."""
        found = (
            len(phrase.split()) for phrase in self.lists["semi_modals"] if " ".join(words).startswith(phrase + " ")
        )
        return max(found, default=0)

    def enables(self, words: Sequence[str]) -> bool:
        """Whether it is "allowed to" and the like, behind which stands what is done."""
        return " ".join(words) in self.lists["enablers"]

    def is_between(self, word: str) -> bool:
        """Whether it may stand between subject and verb and is no verb itself."""
        return word in self.adverbs or (word.endswith("ly") and len(word) > 4 and not self.is_verb(word))

    def person_of(self, phrase: Sequence[str], named: Sequence[bool] = ()) -> str | None:
        """The person that a noun phrase names by relation; None for a thing. Adjectives before it do not count, nor
        does a name behind it (`named`: which words begin with a capital): a "dentist appointment" is a thing."""
        place = next((place for place, word in enumerate(phrase) if word in self.persons), None)
        if place is None or len(phrase) - place > 3 or any(word.endswith("'s") for word in phrase[: place + 1]):
            return None
        if named and not all(named[place + 1 : len(phrase)]):
            return None
        return " ".join(word for word in phrase[: place + 1] if word not in self.lists["modifiers"]) or None

    def thing_words(self, phrase: Sequence[str]) -> list[str]:
        """The words that tell one thing from another, in the singular, the head last: no articles, no "new"; what
        follows a preposition goes before it ("budget for Iceland" is the Iceland budget)."""
        cut = next(
            (place for place, word in enumerate(phrase) if place and word in self.lists["prepositions"]), len(phrase)
        )
        ordered = [*phrase[cut + 1 :], *phrase[:cut]]
        skipped = self.lists["modifiers"]
        if "other" in ordered:
            return ["other " + singular(phrase[cut - 1])]
        kept = [singular(word) for word in ordered if word not in skipped and word not in ENGLISH_STOP_WORDS]
        return kept or [singular(word) for word in phrase[cut - 1 : cut]]

    def is_verb(self, word: str) -> bool:
        """Whether it is a form of a known verb."""
        return bool(self.lemma(word)) and self.lemma(word) in self.verbs

    def is_finite(self, word: str) -> bool:
        """Whether it can be the verb behind a noun: a form in -s or -ed, or an irregular past."""
        return self.is_verb(word) and (word in self._irregular_forms or word.endswith(("s", "ed")))

    def is_participle(self, word: str) -> bool:
        """Whether it can stand behind "be" or "have"."""
        if word in self._participles or word.endswith("ed"):
            return True
        return self.lemma(word) == word and any(not form.endswith("ed") for form in self.irregular.get(word, ()))

    def lemma(self, word: str) -> str:
        """The base form of a known verb; of any other word the word itself."""
        known = self._lemmas.get(word)
        if known is None:
            known = self._irregular_forms.get(word) or next((b for b in _bases(word) if b in self.verbs), word)
            if len(self._lemmas) < 20_000:
                self._lemmas[word] = known
        return known


def _bases(word: str) -> Iterable[str]:
    yield word
    for ending in ("ing", "ed", "es", "s", "d"):
        base = word.removesuffix(ending)
        if base == word or len(base) < (2 if ending == "ing" else 3):
            continue
        yield base
        if ending in ("ing", "ed"):
            yield base + "e"
            if len(base) > 2 and base[-1] == base[-2] and base[-1] in _DOUBLED:
                yield base[:-1]
        if base.endswith("i"):
            yield base[:-1] + "y"


def singular(word: str) -> str:
    """A noun's singular, as far as its ending tells."""
    word = word.removesuffix("'s")
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("sses", "shes", "ches", "xes", "zes", "toes")):
        return word[:-2]
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


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


_WEEKDAYS = r"(?:mon|tues?|wednes|thurs?|fri|satur|sun)days?|weekdays?|weekends?|tomorrow|today|tonight"
_MONTHS = (
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december"
    r"|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)"
)
_NUMBER = r"\d{1,12}(?:[.,]\d{1,12}){0,4}"
_COUNTED = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
)
_WORD_NUMBERS = MappingProxyType(
    {word: str(place) for place, word in enumerate(_COUNTED.split(), 1)}
    | {"thirty": "30", "forty": "40", "fifty": "50", "once": "1", "twice": "2", "noon": "12pm", "midnight": "12am"}
)


class Sort(StrEnum):
    """What a value is, as far as its form tells."""

    EMAIL = "email"
    PHONE = "phone"
    MONEY = "money"
    DATE = "date"
    DAY = "day"
    MONTH = "month"
    CLOCK = "clock"
    AMOUNT = "amount"
    NUMBER = "number"
    NAME = "name"
    WORDS = "words"


_SORTS: tuple[tuple[Sort, str], ...] = (
    (Sort.EMAIL, r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}"),
    (
        Sort.MONEY,
        rf"[$€£¥] ?{_NUMBER} ?[kKmM]?\b|\b{_NUMBER} ?[kKmM]?(?: thousand| million)? ?"
        r"(?:dollars?|euros?|pounds?|bucks|usd|eur|gbp|chf|quid|€|\$|£)|\b\d{2,4}[kK]\b",
    ),
    (
        Sort.DATE,
        rf"\b(?:the )?\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTHS}\b|\b{_MONTHS} (?:the )?\d{{1,2}}(?:st|nd|rd|th)?\b"
        r"|\b\d{4}-\d\d-\d\d\b|\bthe \d{1,2}(?:st|nd|rd|th)\b",
    ),
    (Sort.PHONE, r"\+?\d(?:[\d() /-]{5,22})\d"),
    (Sort.CLOCK, r"\b\d{1,2}:\d\d(?: ?(?:am|pm)\b)?|\b\d{1,2} ?(?:am|pm|a\.m|p\.m|o'clock)\b|\b(?:noon|midnight)\b"),
    (Sort.DAY, rf"\b(?:{_WEEKDAYS})\b"),
    (Sort.MONTH, rf"\b(?!may\b){_MONTHS}\b"),
    (
        Sort.AMOUNT,
        rf"\b{_NUMBER} ?(?:%|percent|kg|kilos?|lbs?|pounds?|km|miles?|k\b|mg|micrograms?|mcg|gb|tb|mb|ms|cm|minutes?"
        r"|mins?|hours?|hrs?|days?|weeks?|months?|years?|people|persons?|requests?|reqs?|users?|times|square)\b|\b\d{1,3}%",
    ),
    (Sort.NUMBER, rf"\b{_NUMBER}\b|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|once|twice)\b"),
)
_PATTERNS = tuple((sort, re.compile(pattern, re.IGNORECASE)) for sort, pattern in _SORTS)
_BARE_CLOCK = re.compile(r"(?<=\bat )\d{1,2}\b(?![:\d.])")
_ORDINAL = re.compile(r"^(\d+)(?:st|nd|rd|th)$")
_MOST_STEMS_KEPT = 20_000
_NO_LETTERS = frozenset("aistmd")
WHEN = frozenset({Sort.DATE, Sort.DAY, Sort.CLOCK, Sort.MONTH})


@dataclass(frozen=True, slots=True)
class Value:
    """A value found in a text: its sort, its words without what makes no difference, its place."""

    sort: Sort
    text: str
    span: tuple[int, int]


def typed_values(text: str) -> list[Value]:
    """The values whose form tells their sort, in the text's order, none within another."""
    taken: list[Value] = []
    for sort, pattern in (*_PATTERNS[:5], (Sort.CLOCK, _BARE_CLOCK), *_PATTERNS[5:]):
        for match in pattern.finditer(text):
            if not any(match.start() < one.span[1] and one.span[0] < match.end() for one in taken):
                taken.append(Value(sort, plain_value(match.group()), match.span()))
    return sorted(taken, key=lambda value: value.span)


def plain_value(text: str) -> str:
    """Lower case, numbers in digits, no articles, single spaces: what two writings of one value share."""
    text = re.sub(r"(?<=\d) ?(am|pm|a\.m|p\.m)\b\.?", lambda match: match[1].replace(".", ""), text.lower())
    text = re.sub(r"(?<=\d)(?:st|nd|rd|th)\b|(?<=\d)[,'](?=\d{3})|:00\b", "", text)
    found = (_WORD_NUMBERS.get(word, word) for word in re.findall(r"[\w.@+:/$€£%#-]{1,80}", text))
    return " ".join(singular(word) for word in found if word not in ("the", "a", "an", "of", "on", "at", "in"))[:200]


def same_value(one: str, other: str) -> bool:
    """Whether two plain values may mean the same: equal, or the one's words among the other's; numbers must agree,
    but for a year."""
    first, second = set(one.split()), set(other.split())
    if not first or not second or not (first <= second or second <= first):
        return False
    return all(re.fullmatch(r"\d{4}", word) or not word[:1].isdigit() for word in first ^ second)


def trimmed(tokens: Sequence[Token], words: CueWords) -> tuple[Token, ...]:
    """A value's tokens without the adjuncts behind it: "now", "with my brother", "since May"."""
    kept: list[Token] = []
    for token in tokens:
        if kept and token.word in words.lists["value_stops"]:
            break
        kept.append(token)
    while kept and (kept[-1].word in words.lists["value_tails"] or kept[-1].word in words.adverbs):
        kept.pop()
    while kept and kept[0].word in words.lists["value_heads"]:
        kept.pop(0)
    return tuple(kept)


def is_name(tokens: Sequence[Token]) -> bool:
    """Whether a value is written as a name, after an article at most."""
    inner = [token for token in tokens if token.word not in ("the", "a", "an", "my", "our")]
    return bool(inner) and inner[0].text[:1].isupper()


def is_place(tokens: Sequence[Token], words: CueWords) -> bool:
    """A name, a word for a dwelling or a region; in a text without capitals any word that is no other thing."""
    inner = [token.word for token in tokens if token.word not in words.lists["place_skips"]]
    if any(token.is_capital for token in tokens) or tokens[-1].word.endswith("'s"):
        return True
    if not inner:
        return False
    if any(word in words.lists["place_nouns"] for word in inner[:4]):
        return True
    first = tokens[0].word
    return (
        len(inner) <= 3
        and first not in words.lists["no_places"]
        and first not in ENGLISH_STOP_WORDS
        and first.isalpha()
    )


def content_stems(words: Iterable[str], rules: CueWords) -> tuple[str, ...]:
    """The words that carry meaning, as stems, each once; the numbers among them in digits."""
    skipped = rules.lists["empty"] | rules.lists["hedges"]
    found = (_WORD_NUMBERS.get(word, word) for word in words)
    kept = (
        word.lower().removesuffix("'s")
        for word in found
        if word.lower() not in ENGLISH_STOP_WORDS and word.lower() not in skipped
    )
    return tuple(dict.fromkeys(_stem(word, rules) for word in kept if word[:1].isalnum() and word not in _NO_LETTERS))


def _stem(word: str, rules: CueWords) -> str:
    known = rules.stems.get(word)
    if known is None:
        plain = _ORDINAL.sub(r"\1", word)
        known = stem(rules.lemma(plain)) if rules.is_verb(plain) else stem(singular(plain))
        if len(rules.stems) < _MOST_STEMS_KEPT:
            rules.stems[word] = known
    return known


def alike(one: str, other: str, related: Mapping[str, frozenset[str]]) -> bool:
    """Equal stems, two forms of a long word, or words that the rules hold for related."""
    if one == other or other in related.get(one, frozenset()):
        return True
    size = min(len(one), len(other))
    if "-" in one[size:] + other[size:]:
        return False
    return size >= 5 and one[: max(5, size - 2)] == other[: max(5, size - 2)]
