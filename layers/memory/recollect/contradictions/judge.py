"""The door behind which contradictions are judged, and the values that a judge takes and gives (P-24).

`trained` judges by a model of pairs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol


class RelationKind(StrEnum):
    """What a newer statement does to an older one."""

    SUPERSEDES = "supersedes"
    RETRACTS = "retracts"
    """Says that it never was so."""
    OVERRIDES = "overrides"
    """Holds instead of it until an instant, after which the older one is current again."""
    CHANGES_PART = "changes_part"
    UNDECIDED = "undecided"
    """About the same thing, and nobody can tell which counts: both stay, a conflict is open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A statement: who said it ("" for the user), when, in the record with this id."""

    id: str
    text: str
    at: datetime
    speaker: str = ""

    @property
    def order(self) -> tuple[datetime, str]:
        """Of two statements the newer counts; of equal instants the one that arrived later."""
        return self.at, self.id


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """What a newer statement does to an older one, the rule or model that says so, and how sure it is.

    `ended` are the spans of the older text that no longer hold (of SUPERSEDES, RETRACTS and OVERRIDES), half-open.
    `until` is the instant at which OVERRIDES ends, exclusive. `since` is the instant from which SUPERSEDES holds, where
    the newer statement announces it for a day ahead. `merged` is the older text with the changed part replaced
    (of CHANGES_PART). `confidence` is calibrated, within 0 and 1.
    """

    kind: RelationKind
    rule: str
    ended: tuple[tuple[int, int], ...] = ()
    until: datetime | None = None
    since: datetime | None = None
    merged: str | None = None
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class TimeBound:
    """A part of a text that holds until an instant, exclusive, by its own words; `rule` says so.

    `sure`: they name that instant ("until Friday"), not how long or within what ("this week"), and a model finds that
    it holds for a while.
    """

    span: tuple[int, int]
    until: datetime
    rule: str
    sure: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What a judge finds in one statement by itself, before it is compared with any other.

    `states`: it claims something, so that something newer may end it. `may_end`: it may end something older, so that
    its candidates are worth a search. `bounds` are the parts that hold for a while only.
    """

    states: bool = False
    may_end: bool = False
    bounds: tuple[TimeBound, ...] = ()

    def __or__(self, other: "Profile") -> "Profile":
        """What two texts of one record give together; the bounds are those of the first."""
        return Profile(
            states=self.states or other.states,
            may_end=self.may_end or other.may_end,
            bounds=self.bounds,
        )


class RelationJudge(Protocol):
    """Judges statements by their words alone: it reads no store, and equal statements are judged alike.

    Raises nothing of its own. Who calls it compares only statements of one speaker and scope, which it may take for
    granted.
    """

    def profile(self, said: Said) -> Profile:
        """What the statement says by itself: whether it is worth a comparison, and until when parts of it hold."""

    def states(self, said: Said) -> bool:
        """Whether it claims something, so that something newer may end it: of `profile` what costs nothing."""

    def holds_until(self, said: Said) -> datetime | None:
        """The exclusive end until which all of it holds, by its own words; None where it holds for good."""

    def judge(self, newer: Said, older: Sequence[Said], least: float = 0.0) -> list[Relation | None]:
        """What the newer statement does to each of the older ones, in their order; None where it does nothing.

        The nearest to it come first: how sure one change is depends on the others.
        Of one with less than the `least` confidence only kind and confidence count: nobody asks what of the older ends.
        """
