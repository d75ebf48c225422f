"""Claims: what one clause says of one attribute, and the words of a text, worked out once (P-24).

What cue rules make of a text: the values of attributes that it asserts, ends or takes back (P-24).

A text is read without any other: how two of them stand to each other is decided by what both claim.

A clause with what was found out about it: what the rules of attributes, things and topics read.

The words of a text and of its clauses, worked out once for each text however many others it is held against.

A clause of a newer text that seems to bear on one of an older: what the last look at a relation is given (P-24).
"""

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, TypeVar

from recollect.contradictions.cues.clauses import Clause, Token, alike, content_stems, plain_value, read_words
from recollect.contradictions.cues.documents import CueRules
from recollect.contradictions.cues.predicates import Modality, Predicate
from recollect.contradictions.relation import RelationKind


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
