"""What one clause says of one attribute, and the words of a text, worked out once (P-24).

A text is read without any other: how two of them are related is decided by what both claim.
"""

import re
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from itertools import takewhile
from typing import Any, TypeVar

from recollect.contradictions.cues.clauses import Clause, Token, alike, content_stems, plain_value, read_words, singular
from recollect.contradictions.cues.documents import CueRules
from recollect.contradictions.cues.predicates import AUXILIARIES, Modality, Predicate, is_remote
from recollect.contradictions.judge import RelationKind
from recollect.text.terms import stem


class ClaimKind(StrEnum):
    """What a clause does with the value of an attribute."""

    STATE = "state"
    """Asserts it: "I live in Paris"."""
    CHANGE = "change"
    """Asserts it as new: "I moved to Lyon"."""
    END = "end"
    """Ends it, with nothing in its place: "I no longer eat meat"."""
    RETRACTION = "retraction"
    """Says that it never was so: "I misspoke, I have no sister"."""
    PARTIAL = "partial"
    """Changes a part of it and keeps the rest: "same job, new title"."""


HELD = frozenset({ClaimKind.STATE, ClaimKind.CHANGE})
"""What a clause asserts."""
PRESENT = frozenset({"said", "of", "bit"})
"""Attributes of weak claims that are so when they are said, and not only meant or past."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What one clause says of one attribute of one subject.

    `subject` is "" for who speaks, else a normalised name or relation ("sister"). `attribute` is the rule's name of it
    ("home") or one made of the clause's own words ("eat:meat", "deadline"). `value` is normalised; "" where the clause
    names none. `exclusive`: one value at a time, so that a newer one replaces an older. `until` ends a bounded value,
    exclusive. `strong`: a rule recognises the value of an attribute or its end, so that it is worth a memory whatever
    its score (P-19); a weak claim only stands to be ended. `span` is the clause in the text, `value_span` the value in
    it, both half-open. `rule` names the cue rule.
    """

    subject: str = ""
    attribute: str
    value: str = ""
    kind: ClaimKind = ClaimKind.STATE
    exclusive: bool = False
    strong: bool = True
    until: datetime | None = None
    span: tuple[int, int] = (0, 0)
    value_span: tuple[int, int] | None = None
    rule: str = ""


@dataclass(frozen=True, slots=True)
class Parsed:
    """A text with what it claims: who said it ("" for the user), when, under which id.

    `notes` is what the rules have worked out of the text so far, so that it is not read anew for every other one.
    """

    id: str
    text: str
    at: datetime
    speaker: str
    claims: tuple[Claim, ...]
    notes: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def order(self) -> tuple[datetime, str]:
        """Of two the newer counts; of equal instants the one that arrived later."""
        return self.at, self.id


TOPIC = "topic"
HINT = "hint"
DENIED = "topic.deny"
NEVER = "topic.never"
DENIAL = ".denied"
"""At the end of a rule's name: its value was read from the denial of the other one."""

PAST_DENIED = "topic.past.supposed"
PAST = frozenset({"was", "meant"})
MOST_TOPIC_WORDS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A clause; `predicate` None where none could be read; `unreal` where it asserts nothing.

    `until` is its bound, said in `bound_span`; `context` the subject of the clause before it in the sentence.
    """

    text: str
    clause: Clause
    span: tuple[int, int]
    predicate: Predicate | None
    modality: Modality | None
    until: datetime | None
    unreal: bool
    bound_span: tuple[int, int] = (0, 0)
    context: str = ""

    def claim(
        self,
        attribute: str,
        tokens: Sequence[Token],
        kind: ClaimKind,
        rule: str,
        *,
        subject: str | None = None,
        value: str | None = None,
        exclusive: bool = False,
        strong: bool = True,
    ) -> Claim:
        """A claim of this clause whose value is these tokens, or `value`."""
        span = (tokens[0].start, tokens[-1].end) if tokens else None
        own = self.predicate.subject if self.predicate is not None else ""
        return Claim(
            subject=own if subject is None else subject,
            attribute=attribute,
            value=value if value is not None else (plain_value(self.text[slice(*span)]) if span else ""),
            kind=kind,
            exclusive=exclusive,
            strong=strong,
            until=self.until,
            span=self.span,
            value_span=span,
            rule=rule,
        )

    def in_bound(self, token: Token) -> bool:
        """Whether the token belongs to the bound."""
        return self.bound_span[0] <= token.start < self.bound_span[1]

    def written(self, tokens: Sequence[Token]) -> str:
        """The tokens as they stand in the text."""
        return self.text[tokens[0].start : tokens[-1].end] if tokens else ""


def tail_stems(tokens: Sequence[Token], value: Sequence[Token], rules: CueRules) -> tuple[str, ...]:
    """What a value is for: "5,000 for licences", "May 15 to finish my will"."""
    behind = [token for token in tokens if value and token.start >= value[-1].end][:9]
    start = next((place for place, token in enumerate(behind[:4]) if token.word in ("for", "to")), None)
    if start is None:
        return ()
    words = cut_topic(behind[start + 1 : start + 6], rules)
    stems = content_stems((token.word for token in words if not token.word[:1].isdigit()), rules.words)
    return tuple(one for one in stems if one not in rules.vague_stems)[:4]


def cut_topic(tokens: Sequence[Token], rules: CueRules) -> tuple[Token, ...]:
    """A topic's tokens up to the first word behind which something else is said."""
    kept: list[Token] = []
    for token in tokens:
        if token.word in rules.words.lists["topic_stops"] and (kept or token.word in ("for", "until", "till", "since")):
            break
        kept.append(token)
    return tuple(kept)


_T = TypeVar("_T")
SPEAKER = frozenset({"i", "we", "i'm", "we're", "i've", "we've", "i'd", "we'd", "im", "ive"})
"""The words by which somebody speaks of themselves as who does it."""
MINE = frozenset({"my", "our", "me", "us"})
"""Those by which they speak of what is theirs, or done to them."""
OTHERS_OWN = frozenset({"his", "her", "their", "your", "hers", "theirs", "yours"})
"""Those for what is somebody else's."""


def noted(said: Parsed, name: Hashable, rules: CueRules | None, make: Callable[[], _T]) -> _T:
    """What `make` gives for this text under these rules; it is kept with the text and dies with it."""
    key = (name, id(rules))
    known = said.notes.get(key)
    if known is None:
        known = said.notes[key] = (rules, make())
    found: _T = known[1]
    return found


def weak_claims(said: Parsed) -> Iterator[Claim]:
    """What each clause says, in its own words."""
    return (one for one in said.claims if one.rule == "weak")


def all_words(said: Parsed) -> tuple[str, ...]:
    """The words of the text as written."""
    return noted(said, "words", None, lambda: tuple(read_words(said.text)))


def known_words(said: Parsed) -> frozenset[str]:
    """The words of the text, lower-cased; those in the genitive without it too."""
    return noted(said, "known", None, lambda: _known(all_words(said)))


def _known(words: tuple[str, ...]) -> frozenset[str]:
    lowered = [word.lower() for word in words]
    return frozenset((*lowered, *(word.removesuffix("'s") for word in lowered)))


def all_stems(said: Parsed, rules: CueRules) -> frozenset[str]:
    """The stems of the text."""
    return noted(said, "stems", rules, lambda: frozenset(content_stems(all_words(said), rules.words)))


def span_words(said: Parsed, span: tuple[int, int]) -> tuple[str, ...]:
    """The words as written in a part of the text."""
    return noted(said, ("words", span), None, lambda: tuple(read_words(said.text[slice(*span)])))


def clause_text(said: Parsed, claim: Claim) -> str:
    """The words of the claim's clause in lower case, with a space before and behind each."""
    span = claim.span
    make = lambda: f" {' '.join(word.lower() for word in span_words(said, span))} "  # noqa: E731
    return noted(said, ("text", span), None, make)


def word_stems(said: Parsed, span: tuple[int, int], rules: CueRules) -> tuple[str, ...]:
    """For each word in a part of the text its stem, or nothing for one without content."""
    return noted(said, ("each", span), rules, lambda: stems_of_each(span_words(said, span), rules))


def stems_of_each(words: tuple[str, ...], rules: CueRules) -> tuple[str, ...]:
    """For each word its stem, or nothing for one without content."""
    return tuple((content_stems((word,), rules.words) or ("",))[0] for word in words)


def has_stem(stems: Iterable[str], one: str, rules: CueRules) -> bool:
    """Whether a stem, or one that means the same, is among these."""
    return any(alike(one, other, rules.related) for other in stems)


def has_stems(stems: Collection[str], wanted: Iterable[str], rules: CueRules) -> bool:
    """Whether all of these stems are."""
    return all(has_stem(stems, one, rules) for one in wanted)


@dataclass(frozen=True, slots=True)
class Hit:
    """Two texts, a clause of each, what the newer clause would do to the older one, and the rules it is read by."""

    kind: RelationKind
    older: Parsed
    old: Claim
    newer: Parsed
    new: Claim
    rules: CueRules

    @property
    def is_weak(self) -> bool:
        """Whether no rule knows the attribute: the clauses only have words in common."""
        return self.new.rule == "weak"


_FOREIGN = frozenset(
    {
        "his",
        "her",
        "their",
        "he",
        "she",
        "your",
        "you",
        "someone",
        "somebody",
        "people",
        "others",
        "hers",
        "theirs",
        "yours",
    }
)
_SPEAKER = MINE | SPEAKER | {"mine", "ours"}
_SOMEBODY = frozenset({"his", "her", "he", "she", "hers", "theirs"})
_OF = frozenset({"with", "at", "to", "by", "from", "for", "of", "in", "on", "as", "near"})
_KEEPS = frozenset({"same", "still", "stays", "unchanged", "remains"})
_SENTENCE_END = re.compile(r"[.!?\n](?=\s)")
_NEAR = 160
_FIRST = 6


def _said_before(said: Parsed, claim: Claim) -> list[str]:
    """The words of the sentence up to the end of the clause, lower-cased, without marks."""
    start = max(0, claim.span[0] - _NEAR)
    ends = [end.end() for end in _SENTENCE_END.finditer(said.text, start, claim.span[0])]
    words = span_words(said, (max([start, *ends]), claim.span[1]))
    return [word.lower() for word in words if word[:1].isalnum()]


def is_of_others(
    older: Parsed, newer: Parsed, claim: Claim, rules: CueRules, also_known: frozenset[str] = frozenset()
) -> bool:
    """Whether somebody comes in of whom the older text does not speak, or the sentence is of the past, or keeps."""
    words = noted(newer, ("before", claim.span), None, lambda: _said_before(newer, claim))
    return bool(_KEEPS & set(words)) or brings_in(older, newer, claim, rules, also_known)


def brings_in(
    older: Parsed, newer: Parsed, claim: Claim, rules: CueRules, also_known: frozenset[str] = frozenset()
) -> bool:
    """Whether somebody comes in of whom the older text does not speak, or the sentence is of the past.

    `also_known` are words for somebody of whom it does speak.
    """
    words = noted(newer, ("before", claim.span), None, lambda: _said_before(newer, claim))
    known = known_words(older) | also_known
    if noted(newer, ("over", claim.span), rules, lambda: is_remote(f" {' '.join(words)} ", rules.words)):
        return True
    if _FOREIGN & (set(words) - known):
        return True
    return any(_comes_in(words, place, known, rules) for place in range(min(_FIRST, len(words))))


def is_only_of_others(older: Parsed, newer: Parsed, rules: CueRules) -> bool:
    """Little Marco did two lengths: a text without a word of the speaker, of somebody whom the older does not name.

    Where the older text is of the speaker; who walks the dog may be another one by now.
    """
    return has_speaker(older) and not has_speaker(newer) and _names_another(older, newer, rules)


def has_speaker(said: Parsed) -> bool:
    """Whether the speaker comes in: I, we, my."""
    return noted(said, "speaker", None, lambda: any(word.lower() in _SPEAKER for word in all_words(said)))


def _names_another(older: Parsed, newer: Parsed, rules: CueRules) -> bool:
    known, words = known_words(older), all_words(newer)
    if any(word.lower() in _SOMEBODY and word.lower() not in known for word in words):
        return True
    for before, word, after in zip(["", *words], words, [*words[1:], ""], strict=False):
        base = word.lower().removesuffix("'s")
        if not before or not word[:1].isupper() or base in known or base in rules.words.lists["date_words"]:
            continue
        owner = word.endswith("'s") and after.lower() not in rules.words.after_is
        if owner or rules.words.is_finite(after.lower()) or after.lower() in AUXILIARIES:
            return True
    return False


def is_of_another_group(older: Parsed, newer: Parsed, claim: Claim, rules: CueRules) -> bool:
    """The design guild's sync; over on the data team: of people of whom the older text does not speak."""
    named = noted(newer, ("groups", claim.span), rules, lambda: _groups_of(newer, claim, rules))
    return not named <= known_words(older) if named else False


def _groups_of(newer: Parsed, claim: Claim, rules: CueRules) -> frozenset[str]:
    """The groups that its first words name."""
    words = noted(newer, ("before", claim.span), None, lambda: _said_before(newer, claim))
    places = range(1, min(_FIRST, len(words)))
    return frozenset(_base(words[place]) for place in places if _is_group(words, place, rules))


def _base(word: str) -> str:
    return word.removesuffix("'s").removesuffix("'")


def _is_group(words: Sequence[str], place: int, rules: CueRules) -> bool:
    if _base(words[place]) not in rules.words.lists["groups"] or _SPEAKER & set(words[:place]):
        return False
    return bool({"the", "a", "another", "other", "some", "that"} & set(words[max(0, place - 3) : place]))


def _comes_in(words: Sequence[str], place: int, known: Set[str], rules: CueRules) -> bool:
    """Whether it is a person or an owner as the subject; one who does something to the speaker's is none."""
    word, behind = words[place], words[place + 1 :]
    base = _base(word)
    if base not in known and _is_group(words, place, rules):
        return True
    if base in known or _OF & set(words[max(0, place - 2) : place]):
        return False
    if word.endswith("'s") or word.endswith("s'"):
        return bool(behind) and behind[0] not in rules.words.after_is and behind[0] not in rules.words.adverbs
    after = behind[0] if behind else ""
    modifies = words[max(0, place - 1)] == "the" and after.isalpha() and not _may_follow(after, rules)
    return _is_person(words, place, rules) and not MINE & set(behind) and not modifies


def _is_person(words: Sequence[str], place: int, rules: CueRules) -> bool:
    """By relation, or by what they do: our designer."""
    base = _base(words[place])
    if base in rules.words.persons or singular(base) in rules.words.persons:
        return True
    return base in rules.words.lists["titles"] and bool({"my", "our"} & set(words[max(0, place - 2) : place]))


def _may_follow(word: str, rules: CueRules) -> bool:
    """Whether it is no noun of which the one before only says the sort: "the guest list"."""
    return word in AUXILIARIES or rules.words.is_finite(word) or word in rules.words.adverbs | rules.words.after_is


def covered(older: Parsed, old: Claim, new: Claim, rules: CueRules) -> bool:
    """Whether the older clause holds every word of the newer claim's topic, or what such a word speaks of.

    "coffee" is not what "coffee machine" speaks of; a retraction takes that too.
    """
    topic = new.value.split()
    if not topic:
        return False
    words = span_words(older, old.span)
    stems = word_stems(older, old.span, rules)
    strict = new.kind is not ClaimKind.RETRACTION and old.attribute != new.attribute
    return all(_found(stem, words, stems, old, rules, strict and stem == topic[-1], topic) for stem in topic)


def _found(
    stem: str, words: Sequence[str], stems: Sequence[str], old: Claim, rules: CueRules, last: bool, topic: list[str]
) -> bool:
    places = [place for place, other in enumerate(stems) if other and alike(stem, other, rules.related)]
    if any(not (last and _modifies(place, words, stems, rules, topic)) for place in places):
        return True
    return not places and old.rule != "weak" and old.attribute in rules.about.get(stem, frozenset())


def _modifies(place: int, words: Sequence[str], stems: Sequence[str], rules: CueRules, topic: list[str]) -> bool:
    """Whether the word only says what sort of thing the next one is: coffee in "coffee machine"."""
    if place + 1 >= len(words) or not stems[place + 1]:
        return False
    after = words[place + 1]
    if stems[place + 1] in rules.shell_stems or stems[place + 1] in topic:
        return False
    if after[:1].isupper() or after.endswith("ly") or rules.words.is_verb(after) or rules.words.is_verb(words[place]):
        return False
    return after.isalpha() and after.lower() not in rules.words.lists["adverbs"]


OWN = frozenset({"my", "our"})
DETERMINERS = OWN | {"the", "a", "an", "this", "that", "another"}
PLACED = frozenset(
    {"in", "at", "on", "to", "with", "from", "for", "by", "after", "before", "since", "of", "until", "till", "into"}
)
_NO_OBJECT = PLACED | {"is", "was", "are", "were", "be", "am", "'m", "'s", "as"}
_DEFINITE = OWN | {"the"}
_LONGEST = 5
_FAR = 3
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class NounPhrase:
    """The stem of its noun, and those of the words that tell it from others: "the budget review".

    `told_in`: those behind "in" or "of", which may as well be a value: a degree in physics. `is_topic`: something is
    said of it, or done to it; it is no place and no value. `opens`: the clause begins with it. `is_group`: that are
    people.
    """

    noun: str
    told_by: tuple[str, ...]
    told_in: tuple[str, ...]
    is_topic: bool
    opens: bool
    is_group: bool


def noun_phrases(said: Parsed, span: Span, rules: CueRules) -> tuple[NounPhrase, ...]:
    """Those in a part of the text, in its order."""
    return noted(said, ("noun phrases", span), rules, lambda: tuple(_read(said, span, rules)))


def _read(said: Parsed, span: Span, rules: CueRules) -> Iterator[NounPhrase]:
    words = [word.lower() for word in span_words(said, span)]
    stems = word_stems(said, span, rules)
    for place, word in enumerate(words):
        places = _places(words, stems, place + 1, rules) if word in DETERMINERS else []
        if not places:
            continue
        before = tuple(stems[one] for one in places[:-1] if stems[one] and not _is_plain(words[one], rules))
        opens = word in _DEFINITE and rules.words.lead_in_size([*words[:place], ""]) == place
        yield NounPhrase(
            noun=stems[places[-1]] or stem(words[places[-1]]),
            told_by=_told_behind(words, stems, places[-1] + 1, rules, "for") or before,
            told_in=_told_behind(words, stems, places[-1] + 1, rules, "in", "of"),
            is_topic=opens or (word in _DEFINITE and words[max(0, place - 1)] not in _NO_OBJECT),
            opens=opens,
            is_group=opens and word == "the" and words[places[-1]] in rules.words.lists["groups"],
        )


def _told_behind(
    words: Sequence[str], stems: Sequence[str], place: int, rules: CueRules, *prepositions: str
) -> tuple[str, ...]:
    """My budget for books is the book budget."""
    if words[place : place + 1] not in [[one] for one in prepositions]:
        return ()
    start = place + 2 if words[place + 1 : place + 2] and words[place + 1] in DETERMINERS else place + 1
    behind = takewhile(str.isalpha, stems[start : start + _FAR])
    return tuple(one for one in behind if one not in rules.time_stems)


def _places(words: Sequence[str], stems: Sequence[str], start: int, rules: CueRules) -> list[int]:
    """Where its words stand, up to the first that cannot be of it."""
    found: list[int] = []
    for place in range(start, min(len(words), start + _LONGEST)):
        if not _may_belong(words[place], stems[place], rules) or (found and _is_verb(words[place], rules)):
            break
        found.append(place)
    while found and _is_plain(words[found[-1]], rules):
        found.pop()
    return found


def _may_belong(word: str, one: str, rules: CueRules) -> bool:
    vague = word in rules.words.lists["vague_heads"]
    return word[:1].isalpha() and (bool(one) or vague or _is_plain(word, rules))


def _is_verb(word: str, rules: CueRules) -> bool:
    return rules.words.is_finite(word) and word not in rules.words.things


def _is_plain(word: str, rules: CueRules) -> bool:
    """Whether it tells no thing from another: new, weekly."""
    return word in rules.words.lists["modifiers"] or word in rules.words.adverbs


FRAMES = ("verb.placed", "verb.frame")
_LONGEST_OLDER = 110
_LONGEST_NEWER = 170
_MOST_SENTENCES = 3
_LEAST_PART = 3
_SENTENCE_END_PLAIN = re.compile(r"(?<!\bDr)(?<!\bMr)(?<!\bMrs)(?<!\bMs)(?<!\bSt)[.!?\n]+(?=\s)")
_SAID_TO = frozenset({"you", "your", "you're", "yours"})
_TO_THE_ASSISTANT = re.compile(
    r"\byour (?:answer|repl|message|response|explanation|summar)|\bfrom you\b|\bto you\b|\byou (?:can|may|to)\b"
    r"|\b(?:call|remind|send|give|tell|talk to|speak to|write to) me\b",
    re.IGNORECASE,
)
_NAMELESS = frozenset({"it", "it's", "its", "them", "this"})
_TALK = frozenset(
    {
        "it", "it's", "that", "that's", "this", "yeah", "yes", "yep", "no", "wow", "thanks", "thank", "sure", "great",
        "ok", "okay", "hey", "hi", "hello", "sounds", "glad", "cool", "nice", "awesome", "true", "right", "definitely",
    }
)  # fmt: skip
_THIRD = frozenset({"he", "she", "him", "they", "them"})
_ANIMALS = frozenset({"dog", "cat", "horse", "pony", "rabbit", "puppy", "kitten", "hamster", "parrot", "tortoise"})
_WANTED = frozenset({"want", "wants", "wanna", "plan", "hope"})
_SUPPOSED = frozenset({"if", "would", "could", "might", "should", "wish", "unless", "whether", "suppose", "imagine"})
_OF_A_TIME = re.compile(
    r" (?:ago|when (?:i|we|my|he|she|they|the|that)|at age|one year|last year|years before|back then|growing up"
    r"|at the time|that year|those days|used to|as a (?:kid|child|boy|girl|student|teen)|the year|years back"
    r"|once(?! (?:a|an|every|i|we|the|more))|before (?:i|we|my|our)|at (?:school|our wedding)|in my \w+ days"
    r"|(?:in|at|on) (?:my|our) (?:last|old|previous|former|honeymoon)|in (?:[a-z]+ )?(?:19|20)\d\d|then) "
)
_NOT_TO_SAY = re.compile(r" should(?: n't| not|nt)? (?:have|'ve) (?:said|told|called|mentioned|written|claimed) ")
_INVERTED = (" had i ", " had we ", " were i ", " were we ")
_QUOTED = re.compile(r"[\"\u201c\u201d]")
_SPLIT = re.compile(r"[^a-z0-9]+")


def is_plain(older: Parsed) -> bool:
    """Whether it is one sentence that states something, of nobody it is said to, and of what it names itself."""
    return noted(older, "plain", None, lambda: _is_plain_plain(older))


def _is_plain_plain(older: Parsed) -> bool:
    text = older.text.strip()
    words = {word.lower() for word in all_words(older)}
    if {word.lower() for word in all_words(older)[:1]} & _TALK:
        return False
    if _NAMELESS & words:
        return False
    one = (
        len(text) <= _LONGEST_OLDER and not _SENTENCE_END_PLAIN.search(text) and not {"!", "?"} & set(text.rstrip("!"))
    )
    return one and (not _SAID_TO & words or _TO_THE_ASSISTANT.search(text) is not None)


def is_short(newer: Parsed, rules: CueRules) -> bool:
    """Whether it is short, with no question, condition, quotation or a time that is over."""
    return noted(newer, "short", rules, lambda: _is_short(newer, rules))


def _is_short(newer: Parsed, rules: CueRules) -> bool:
    if len(newer.text) > _LONGEST_NEWER or len(_SENTENCE_END_PLAIN.findall(newer.text)) >= _MOST_SENTENCES:
        return False
    if "?" in newer.text or _QUOTED.search(newer.text) or _OF_A_TIME.search(padded_words(newer)):
        return False
    if is_remote(padded_words(newer), rules.words) or padded_words(newer).startswith(_INVERTED):
        return False
    return not _SUPPOSED & set(_NOT_TO_SAY.sub(" ", padded_words(newer)).split())


def may_end_plainly(newer: Parsed, rules: CueRules) -> bool:
    """Whether it can end a plain statement in words that no other rule knows: short, and no mere reply."""
    if not is_short(newer, rules) or not any(weak_claims(newer)):
        return False
    words = [word.lower() for word in all_words(newer)]
    to_another = _SAID_TO & set(words) and _TO_THE_ASSISTANT.search(newer.text) is None
    return not (to_another or set(words[:1]) & _TALK)


def padded_words(said: Parsed) -> str:
    """The words of the text in lower case, with a space before and behind each."""
    return noted(said, "told", None, lambda: f" {' '.join(word.lower() for word in all_words(said))} ")


def asserts_all(newer: Parsed) -> bool:
    """Whether each of its clauses is asserted, or wanted."""
    return noted(newer, "asserts", None, lambda: _asserts_all(newer))


def _asserts_all(newer: Parsed) -> bool:
    return all(one.attribute != "meant" or is_wanted(newer, one) for one in weak_claims(newer))


def is_wanted(said: Parsed, one: Claim) -> bool:
    """Whether the clause says what somebody wants."""
    return bool(_WANTED & {word.lower() for word in span_words(said, one.span)})


def is_foreign(
    older: Parsed, newer: Parsed, new: Claim, rules: CueRules, also_known: frozenset[str] = frozenset()
) -> bool:
    """Whether the clause is of somebody else; somebody of whom the older text speaks is "he" in the newer."""
    return is_of_others(older, newer, new, rules, _spoken_of(older, rules) | also_known)


def _spoken_of(older: Parsed, rules: CueRules) -> frozenset[str]:
    return _THIRD if known_words(older) & (rules.words.persons | _ANIMALS) else frozenset()


def may_share(older: Parsed, newer: Parsed, rules: CueRules) -> bool:
    """False where no word, part of a word, field or frame of theirs can be in common: most pairs end here."""
    return not _marks(older, rules).isdisjoint(_marks(newer, rules))


def _marks(said: Parsed, rules: CueRules) -> frozenset[str]:
    return noted(said, "marks", rules, lambda: frozenset(_read_marks(said, rules)))


def _read_marks(said: Parsed, rules: CueRules) -> Iterator[str]:
    """Of each stem its beginning, its end and its parts, as `has_part` compares them; and its fields and frames."""
    stems = {one for claim in weak_claims(said) for one in claim.value.split()} | all_stems(said, rules)
    for one in stems:
        yield from (f"^{other[:_LEAST_PART]}" for other in (one, *rules.related.get(one, ())))
        yield from (f"{one[-_LEAST_PART:]}$", f"={one}")
        yield from (f"={part}" for part in _SPLIT.split(one) if part)
        yield from (f"field {name}" for name in rules.fields.get(one, ()))
    for framed in frames(said):
        yield "frame " + "|".join(framed)


def frames(said: Parsed) -> frozenset[tuple[str, str]]:
    """The frames of a text's clauses, each with its subject: work on, sing in."""
    return frozenset((one.subject, one.attribute) for one in said.claims if one.rule in FRAMES)


def has_part(stems: Collection[str], one: str, rules: CueRules) -> bool:
    """As `has_stem`, and parts of words too: bees in beekeeping, peak in off-peak."""
    return has_stem(stems, one, rules) or any(_is_part(one, other) or _is_part(other, one) for other in stems)


def _is_part(one: str, other: str) -> bool:
    if len(one) < _LEAST_PART or len(other) < len(one) + 2:
        return False
    return other.startswith(one) or other.endswith(one) or one in _SPLIT.split(other)
