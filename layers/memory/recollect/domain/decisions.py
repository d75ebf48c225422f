"""The ledger of contradictions: what was decided, by what, and what is still open (api.md, *Arbitration*).

| collection     | key               | value                                                                       |
|----------------|-------------------|-----------------------------------------------------------------------------|
| `arbitrations` | `{winner}.{loser}`| the decision; one a pair, so that a redelivery makes no second one          |
| `won`          | loser             | nothing; under the winner's id: what it ended                               |
| `conflicts`    | `{newer}.{older}` | what is open or was settled, with the arbiter's proposal                    |

Ids and versions, no content: both outlive what they tell of. A decision that was reverted stays, and is not made again.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from recollect.domain.errors import StoredDataError
from recollect.domain.instants import from_iso, iso
from recollect.domain.items import ItemKey, ItemPath

FORMAT_VERSION = 1
ARBITRATIONS = ItemPath("arbitrations")
CONFLICTS = ItemPath("conflicts")


class Step(StrEnum):
    """What decided: the key, a cue rule, the arbiter, or a person (P-24)."""

    KEY = "key"
    CUE = "cue"
    ARBITER = "arbiter"
    USER = "user"


class Outcome(StrEnum):
    """What the decision did to the loser."""

    SUPERSEDED = "superseded"
    RETRACTED = "retracted"
    OVERRIDDEN = "overridden"
    MERGED = "merged"
    REJECTED = "rejected"


class DecisionStatus(StrEnum):
    """Whether it holds: it was taken back by a person, or fell because its winner was retracted."""

    APPLIED = "applied"
    REVERTED = "reverted"
    WITHDRAWN = "withdrawn"


class ConflictStatus(StrEnum):
    """Whether somebody still has to say which of two counts."""

    OPEN = "open"
    SETTLED = "settled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """One decision. `before` and `after` are the loser's versions; `until` is the bound of an overridden value.

    `confidence` is the arbiter's, within 0 and 1; a key and a cue rule are sure.
    """

    winner: str
    loser: str
    at: datetime
    step: Step
    rule: str
    outcome: Outcome
    reason: str
    before: int
    after: int
    confidence: float = 1.0
    until: datetime | None = None
    status: DecisionStatus = DecisionStatus.APPLIED

    @property
    def id(self) -> str:
        """One a pair."""
        return pair_id(self.winner, self.loser)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenConflict:
    """Two memories of which nobody knows which counts: both stay.

    `signals` are the detector's, `proposal` the arbiter's. `step` says who could not decide: a cue rule that saw the
    same subject, or the arbiter, whose verdicts are proposals by default (P-24). `winner` is what a person said.
    """

    newer: str
    older: str
    at: datetime
    step: Step
    rule: str
    signals: tuple[Mapping[str, Any], ...] = ()
    severity: float = 0.0
    proposal: Mapping[str, Any] | None = None
    status: ConflictStatus = ConflictStatus.OPEN
    winner: str | None = None

    @property
    def id(self) -> str:
        """One a pair."""
        return pair_id(self.newer, self.older)


def pair_id(one: str, other: str) -> str:
    """The id of what is decided between two records, by the first of them."""
    return f"{one}.{other}"


def decision_key(decision_id: str) -> ItemKey:
    """Where a decision is."""
    return ItemKey(ARBITRATIONS, decision_id)


def won_path(winner: str) -> ItemPath:
    """Under which a winner's losers are listed, by their ids."""
    return ItemPath("won", (winner,))


def conflict_key(conflict_id: str) -> ItemKey:
    """Where a conflict is."""
    return ItemKey(CONFLICTS, conflict_id)


def decision_document(decision: Decision) -> dict[str, Any]:
    """The stored form; what is None is left out."""
    return _document(decision, Decision.__slots__)


def conflict_document(conflict: OpenConflict) -> dict[str, Any]:
    """The stored form; what is None is left out."""
    document = _document(conflict, OpenConflict.__slots__)
    return document | {"signals": [dict(signal) for signal in conflict.signals]}


def decision_in(document: Mapping[str, Any]) -> Decision:
    """Reads the stored form. Raises StoredDataError where it cannot."""
    kinds = {"step": Step, "outcome": Outcome, "status": DecisionStatus, "at": from_iso, "until": from_iso}
    return Decision(**_fields(document, kinds))


def conflict_in(document: Mapping[str, Any]) -> OpenConflict:
    """Reads the stored form. Raises StoredDataError where it cannot."""
    kinds = {"step": Step, "status": ConflictStatus, "at": from_iso, "signals": tuple}
    return OpenConflict(**_fields(document, kinds))


def _document(value: Any, names: tuple[str, ...]) -> dict[str, Any]:
    values = {name: getattr(value, name) for name in names}
    plain = {name: iso(one) if isinstance(one, datetime) else one for name, one in values.items() if one is not None}
    return {"format": FORMAT_VERSION, **plain}


def _fields(document: Mapping[str, Any], kinds: Mapping[str, Any]) -> dict[str, Any]:
    try:
        fields = dict(document)
        if fields.pop("format") > FORMAT_VERSION:
            raise StoredDataError("a decision of a newer format")
        return fields | {name: kind(fields[name]) for name, kind in kinds.items() if name in fields}
    except (KeyError, TypeError, ValueError) as error:
        raise StoredDataError(f"a decision cannot be read: {type(error).__name__}") from error
