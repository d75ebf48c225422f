"""Decisions between memories: what was decided, by what, and what is still open (`docs/decisions.md`).

| collection     | key               | value                                                                       |
|----------------|-------------------|-----------------------------------------------------------------------------|
| `arbitrations` | `{winner}.{loser}`| the decision; one a pair, so that a redelivery makes no second one          |
| `won`          | loser             | nothing; under the winner's id: what it ended                               |
| `conflicts`    | `{newer}.{older}` | what is open or was settled, with the arbiter's proposal                    |

Ids and versions, no content: both outlive what they tell of. A decision that was reverted stays, and is not made again.

What becomes of a memory by what newer texts do to it: a fold, the same in whatever order they come (P-24).

Of several that supersede it the first in event time counts, as with the values of a key. A retraction goes before
them: what was never true was superseded by nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from recollect.contradictions.judge import Relation, RelationKind, TimeBound
from recollect.core.errors import StoredDataError
from recollect.core.items import Due, ItemKey, ItemPath, ItemWrite, document_of, reading
from recollect.core.time import from_iso
from recollect.memories.memory import Lapse, Memory, MemoryStatus, Origin
from recollect.text.omission import left_of, outside, says_something

FORMAT_VERSION = 1
ARBITRATIONS = ItemPath("arbitrations")
CONFLICTS = ItemPath("conflicts")
TO_ASK = "conflicts"
"""The queue of those that a language model is asked about."""


class Step(StrEnum):
    """What decided: the key, the judge, a language model asked about what the judge left open, the arbiter, or a person
    (P-24).

    CUE stands in decisions of before 2026-12: rules of English words made them, and they stay as decided.
    """

    KEY = "key"
    JUDGE = "judge"
    MODEL = "model"
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

    `confidence` is the judge's or the arbiter's, within 0 and 1; a key is sure.
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


def decision_about(
    loser: Memory, winner: str, at: datetime, step: Step, rule: str, outcome: Outcome, reason: str
) -> Decision:
    """A decision that makes the loser's next version."""
    return Decision(
        winner=winner,
        loser=loser.id,
        at=at,
        step=step,
        rule=rule,
        outcome=outcome,
        reason=reason,
        before=loser.version,
        after=loser.version + 1,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenConflict:
    """Two memories of which nobody knows which counts: both stay.

    `signals` are the detector's, `proposal` the arbiter's. `step` says who could not decide: the judge, which was not
    sure enough, or the arbiter, whose verdicts are proposals by default (P-24). `winner` is what a person or a language
    model said; of a settled one without a winner one of them said that both hold. `asked` counts how often a model was.
    `confidence` is the judge's that the newer one changes the older; None of the arbiter's, whose is in its proposal.
    `ended` are the spans of the older one's words that would end by it, where the judge could tell: to be quoted.
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
    asked: int = 0
    confidence: float | None = None
    ended: tuple[tuple[int, int], ...] = ()

    @property
    def id(self) -> str:
        """One a pair."""
        return pair_id(self.newer, self.older)


def has_passed(conflict: OpenConflict, older: Memory) -> bool:
    """Whether the words in doubt have ended since by something else: nobody need say any more which counts."""
    left = places_in_doubt(conflict, older.content, ended_for_good(older))
    return bool(conflict.ended) and not left and older.origin is not Origin.MERGED


def ended_for_good(memory: Memory) -> list[tuple[int, int]]:
    """The places of the words that others ended: not for a while, and not on a day that was announced."""
    lapses = (one for one in memory.lapses if one.until is None and not one.announced and one.by != memory.id)
    return [(one.start, one.end) for one in lapses]


def places_in_doubt(
    conflict: OpenConflict, said: str, ended: Sequence[tuple[int, int]] = ()
) -> tuple[tuple[int, int], ...]:
    """The places of the older one's words that would end and have not; `said` are all of them, as they were judged."""
    parts = [part for span in conflict.ended for part in outside(span, ended)]
    return tuple(one for one in parts if says_something(said, [one]))


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
    return {"format": FORMAT_VERSION, **document_of(decision)}


def decision_write(decision: Decision, expected: int | None = None) -> ItemWrite:
    """The write that stores it; `expected` as in `ItemWrite`."""
    return ItemWrite(decision_key(decision.id), decision_document(decision), expected)


def conflict_write(conflict: OpenConflict, expected: int | None = None, ask_at: datetime | None = None) -> ItemWrite:
    """The write that stores it; `expected` as in `ItemWrite`. A language model is asked about it from `ask_at` on."""
    due = None if ask_at is None else Due(TO_ASK, ask_at)
    return ItemWrite(conflict_key(conflict.id), conflict_document(conflict), expected, due)


def conflict_document(conflict: OpenConflict) -> dict[str, Any]:
    """The stored form; what is None is left out."""
    return {"format": FORMAT_VERSION, **document_of(conflict)}


@reading("a decision")
def decision_in(document: Mapping[str, Any]) -> Decision:
    """Reads the stored form. Raises StoredDataError where it cannot."""
    kinds = {"step": Step, "outcome": Outcome, "status": DecisionStatus, "at": from_iso, "until": from_iso}
    return Decision(**_fields(document, kinds))


@reading("a conflict")
def conflict_in(document: Mapping[str, Any]) -> OpenConflict:
    """Reads the stored form. Raises StoredDataError where it cannot."""
    kinds = {"step": Step, "status": ConflictStatus, "at": from_iso, "signals": tuple, "ended": _spans}
    return OpenConflict(**_fields(document, kinds))


def _spans(value: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    return tuple((int(start), int(end)) for start, end in value)


def _fields(document: Mapping[str, Any], kinds: Mapping[str, Any]) -> dict[str, Any]:
    fields = {name: value for name, value in document.items() if name != "format"}
    if document["format"] > FORMAT_VERSION:
        raise StoredDataError("a decision of a newer format")
    return fields | {name: kind(fields[name]) for name, kind in kinds.items() if name in fields}


BY_KEY = "key"
_SETTLED = (MemoryStatus.EXPIRED, MemoryStatus.REJECTED)
_ENDED = (MemoryStatus.SUPERSEDED, MemoryStatus.MERGED)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one newer record does to a memory: its id, its time, and how the two are related."""

    by: str
    at: datetime
    relation: Relation

    @property
    def kind(self) -> RelationKind:
        """What it does."""
        return self.relation.kind

    @property
    def order(self) -> tuple[datetime, str]:
        """Of equal instants the one that arrived first."""
        return self.at, self.by


def settled(memory: Memory, verdicts: Iterable[Verdict]) -> Memory:
    """The memory after them all; the same object where none changes it. Its version stays."""
    for verdict in sorted(verdicts, key=lambda one: one.order):
        memory = _after(memory, verdict)
    return memory


def bounded(memory: Memory, bounds: Iterable[TimeBound]) -> Memory:
    """The memory with the bounds that its own words set ("until Friday"): as a whole, or the clause that has one."""
    for bound in bounds:
        if bound.until <= memory.valid_from:
            continue
        if left_of(memory.content, [bound.span]) is None:
            memory = memory if memory.valid_to is not None else replace(memory, valid_to=bound.until)
        else:
            memory = _lapsed(memory, memory.id, [bound.span], bound.until, None, bound.rule)
    return memory


def reopened(memory: Memory, by: str) -> Memory:
    """The memory without what one record did to it: that was withdrawn."""
    lapses = tuple(lapse for lapse in memory.lapses if lapse.by != by)
    if memory.superseded_by != by:
        return memory if lapses == memory.lapses else replace(memory, lapses=lapses)
    return replace(
        memory, status=MemoryStatus.ACTIVE, superseded_by=None, valid_to=None, settled_by=None, lapses=lapses
    )


def _after(memory: Memory, verdict: Verdict) -> Memory:
    relation = verdict.relation
    if memory.status in _SETTLED or verdict.kind is RelationKind.UNDECIDED:
        return memory
    whole = left_of(memory.content, relation.ended) is None
    if verdict.kind is RelationKind.OVERRIDES:
        spans = [(0, len(memory.content))] if whole else relation.ended
        return _lapsed(memory, verdict.by, spans, verdict.at, relation.until, relation.rule)
    if verdict.kind is RelationKind.CHANGES_PART:
        return _superseded(memory, verdict, MemoryStatus.MERGED)
    retracts = verdict.kind is RelationKind.RETRACTS
    if relation.since is not None and relation.since > verdict.at:
        return _ending_on(memory, verdict, relation.since)
    if not whole:
        since = memory.valid_from if retracts else verdict.at
        return _lapsed(memory, verdict.by, relation.ended, since, None, relation.rule)
    return _retracted(memory, verdict) if retracts else _superseded(memory, verdict, MemoryStatus.SUPERSEDED)


def _ending_on(memory: Memory, verdict: Verdict, day: datetime) -> Memory:
    """What was announced for a day: until then the memory holds."""
    relation, whole = verdict.relation, left_of(memory.content, verdict.relation.ended) is None
    if memory.status is not MemoryStatus.ACTIVE:
        return memory
    spans = [(0, len(memory.content))] if whole else relation.ended
    return _lapsed(memory, verdict.by, spans, day, None, relation.rule, announced=True)


def _retracted(memory: Memory, verdict: Verdict) -> Memory:
    """Of several that take it back the one that arrived first is named."""
    if memory.status is MemoryStatus.RETRACTED and (memory.superseded_by or "") <= verdict.by:
        return memory
    named = replace(memory, superseded_by=verdict.by, settled_by=verdict.relation.rule)
    return replace(named, status=MemoryStatus.RETRACTED, valid_to=memory.valid_from)


def _superseded(memory: Memory, verdict: Verdict, status: MemoryStatus) -> Memory:
    if memory.status is MemoryStatus.RETRACTED or _ended_by(memory, verdict.at) or _earlier_end_counts(memory, verdict):
        return memory
    ends = verdict.at if memory.valid_to is None or memory.status in _ENDED else min(memory.valid_to, verdict.at)
    rule = verdict.relation.rule
    return replace(memory, status=status, superseded_by=verdict.by, valid_to=ends, settled_by=rule)


def _ended_by(memory: Memory, moment: datetime) -> bool:
    """Whether its own bound had ended it by then: what comes after that ends nothing."""
    return memory.status is MemoryStatus.ACTIVE and memory.valid_to is not None and memory.valid_to <= moment


def _earlier_end_counts(memory: Memory, verdict: Verdict) -> bool:
    """Whether what ended it before stays; a newer value of its key may keep a part of it all the same."""
    if memory.status not in _ENDED:
        return False
    if memory.settled_by is None or (memory.settled_by == BY_KEY and memory.superseded_by == verdict.by):
        return verdict.relation.kind is not RelationKind.CHANGES_PART or memory.superseded_by != verdict.by
    return memory.valid_to is None or (memory.valid_to, memory.superseded_by or "") <= verdict.order


def _lapsed(
    memory: Memory,
    by: str,
    spans: Iterable[tuple[int, int]],
    since: datetime,
    until: datetime | None,
    rule: str,
    *,
    announced: bool = False,
) -> Memory:
    made = [Lapse(by=by, start=a, end=b, since=since, until=until, rule=rule, announced=announced) for a, b in spans]
    fresh = {one for one in made if one not in memory.lapses}
    if not fresh:
        return memory
    lapses = sorted({*memory.lapses, *fresh}, key=lambda one: (one.start, one.end, one.since, one.by))
    return replace(memory, lapses=tuple(lapses))
