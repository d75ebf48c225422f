"""A clause with what was found out about it: what the rules of attributes, things and topics read."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from recollect.domain.claims import Claim, ClaimKind
from recollect.domain.clauses import Clause, Token
from recollect.domain.cue_rules import CueRules
from recollect.domain.cue_values import content_stems, plain_value
from recollect.domain.modality import Modality
from recollect.domain.predicates import Predicate

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
