"""What cue rules make of a text: the values of attributes that it asserts, ends or takes back (P-24).

A text is read without any other: how two of them stand to each other is decided by what both claim.
"""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any


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
class Said:
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


class RelationKind(StrEnum):
    """How a newer text stands to an older one."""

    SUPERSEDES = "supersedes"
    RETRACTS = "retracts"
    OVERRIDES = "overrides"
    """Holds over it until an instant, after which the older one is current again."""
    CHANGES_PART = "changes_part"
    UNDECIDED = "undecided"
    """About the same thing, and no rule can tell which counts: both stay, a conflict is open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """What a newer text does to an older one, by which rule.

    `ended` are the spans of the older text that no longer hold (of SUPERSEDES, RETRACTS and OVERRIDES). `until` is the
    bound of OVERRIDES. `merged` is the text that holds both parts (of CHANGES_PART): the older one with the part
    replaced.
    """

    kind: RelationKind
    rule: str
    ended: tuple[tuple[int, int], ...] = ()
    until: datetime | None = None
    merged: str | None = None
