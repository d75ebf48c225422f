"""What a clause says: its subject, its verb, and the words behind it; no grammar, but a known verb and its forms."""

from dataclasses import dataclass
from functools import cached_property

from recollect.domain.clauses import Clause, Token
from recollect.domain.cue_words import CueWords
from recollect.text.terms import stem

SPEAKER = frozenset({"i", "we"})
OTHERS = frozenset(
    {"he", "she", "they", "you", "someone", "everyone", "somebody", "everybody", "people", "who", "nobody"}
)
_BE = frozenset({"am", "is", "are", "was", "were", "be", "been", "being"})
_HAVE = frozenset({"have", "has", "had"})
_NOT_AUXILIARY = frozenset({"not", "never", "won"})
_WITH_BASE = frozenset(
    {"do", "does", "did", "will", "would", "shall", "should", "can", "could", "may", "might", "must"}
)
AUXILIARIES = _BE | _HAVE | _WITH_BASE | _NOT_AUXILIARY | {"gonna", "got"}


@dataclass(frozen=True)
class Predicate:
    """What a clause says: `subject` "" for the speaker, else normalised; `thing` the words of the noun phrase it is
    about, where the subject is one of the speaker's things.

    `verb` is the verb's base form and `form` as said; `rest` the words behind it. `auxiliaries` are the words between
    subject and verb.
    """

    clause: Clause
    subject: str
    thing: tuple[str, ...]
    verb: str
    form: str
    auxiliaries: tuple[str, ...]
    rest: tuple[Token, ...]
    first: int
    elided: bool = False

    @cached_property
    def text(self) -> str:
        """Verb and words behind it, as templates are matched against."""
        return " ".join((self.verb, *(token.word for token in self.rest)))

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words behind the verb."""
        return tuple(token.word for token in self.rest)


def verb_after(
    clause: Clause,
    tokens: list[Token],
    place: int,
    words: CueWords,
    subject: str,
    thing: tuple[str, ...],
    genitive: bool = False,
    elided: bool = False,
) -> Predicate | None:
    """The first word behind `place` that is no auxiliary or adverb, as the verb."""
    between: list[str] = ["is"] if genitive else []
    while place < len(tokens):
        token = tokens[place]
        size = words.semi_modal_size([one.word for one in tokens[place : place + 3]])
        if size:
            between.append("did")
            place += size
            continue
        if words.enables([one.word for one in tokens[place : place + 2]]):
            between = [one for one in between if one not in _BE]
            place += 2
            continue
        if not (token.word in AUXILIARIES or words.is_between(token.word)) or token.text == "May":
            break
        between.append(token.word)
        place += 1
    if between[-1:] == ["got"] and place < len(tokens) and tokens[place].word in words.lists["behind_got"]:
        rest = tuple(tokens[place:])
        return Predicate(clause, subject, thing, "get", "got", tuple(between[:-1]), rest, tokens[0].start, elided)
    at_verb = place < len(tokens) and _may_be_verb(tokens[place].word, between, words)
    first = tokens[0].start
    if at_verb:
        form = tokens[place].word
        verb = words.lemma(form) if words.is_verb(form) else stem(form)
        return Predicate(clause, subject, thing, verb, form, tuple(between), tuple(tokens[place + 1 :]), first, elided)
    if between[-1:] == ["got"] and place < len(tokens) and words.is_participle(tokens[place].word):
        between[-1] = "are"
    spoken = tokens[place - 1].word in SPEAKER or (between and tokens[0].word in SPEAKER)
    if spoken and place < len(tokens) and not set(between) & (AUXILIARIES - {"never"}) and tokens[place].word.isalpha():
        form = tokens[place].word
        return Predicate(
            clause, subject, thing, stem(form), form, tuple(between), tuple(tokens[place + 1 :]), first, elided
        )
    copula = next(
        (word for word in reversed(between) if word in _BE or word in ("have", "has", "had", "got", "do")), ""
    )
    if copula == "got" and not {"have", "has", "had"} & set(between):
        return Predicate(clause, subject, thing, "get", "got", tuple(between), tuple(tokens[place:]), first, elided)
    if not copula:
        return None
    verb = "be" if copula in _BE else ("have" if copula != "do" else "do")
    return Predicate(clause, subject, thing, verb, copula, tuple(between), tuple(tokens[place:]), first, elided)


def _may_be_verb(word: str, between: list[str], words: CueWords) -> bool:
    """Behind "be" only a participle is one ("my car is light"), behind "do" or "can" any word, known or not."""
    auxiliary = next((one for one in reversed(between) if one in AUXILIARIES and one not in _NOT_AUXILIARY), "")
    if auxiliary == "got":
        return False
    if auxiliary in _BE:
        return word.endswith("ing") and (
            words.is_verb(word) or (len(word) > 5 and word not in words.lists["ing_adjectives"])
        )
    if auxiliary in ("do", "does") and not {"not", "never"} & set(between):
        return words.is_verb(word)
    if auxiliary in _WITH_BASE:
        return word.isalpha()
    if auxiliary in ("have", "has", "had"):
        return (words.is_verb(word) and words.is_participle(word)) or (word.endswith("ed") and len(word) > 4)
    return words.is_verb(word)
